"""`--test-input`: files become the vectors of the self-test, by the model's inputs; what does not fit is said."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.unit.cli_support import CORPUS, DIGITS, Result, Tigris, relu_model
from tigris_codegen.codegen import read_lock
from tigris_codegen.pipeline import compile_model
from tigris_codegen.plan.plan import Plan
from tigris_codegen.session import Session

TWO_INPUTS = CORPUS / "add_column_row_f32.tflite"


@pytest.fixture
def tigris(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tigris:
    monkeypatch.chdir(tmp_path)
    return Tigris(capsys)


def codegen(tigris: Tigris, model: Path, *inputs: str) -> Result:
    options = [option for text in inputs for option in ("--test-input", text)]
    return tigris("codegen", model, "-m", "64K", "--board", "posix", "-o", "fw", "--name", "model", *options)


def expected(folder: Path) -> list[list[str]]:
    vectors = json.loads((folder / "fw/generated/selftest/expected.json").read_text())["cores"][0]["vectors"]
    assert isinstance(vectors, list)
    return vectors


def two_inputs() -> tuple[Plan, bytes, list[dict[str, np.ndarray]]]:
    """The model of two inputs, and three sets of them."""
    compiled = compile_model(TWO_INPUTS.read_bytes(), "m", 65536)
    rng = np.random.default_rng(5)
    ports = compiled.plan.inputs
    sets = [{p.name: rng.uniform(-1, 1, p.shape).astype(np.float32) for p in ports} for _ in range(3)]
    return compiled.plan, compiled.plan_bytes, sets


def answers(plan_bytes: bytes, sets: list[dict[str, np.ndarray]]) -> list[list[str]]:
    with Session(plan_bytes) as session:
        return [[array.tobytes().hex() for array in session.run(arrays).values()] for arrays in sets]


def test_files_for_each_input_in_order_by_name_or_together(tigris: Tigris, tmp_path: Path) -> None:
    plan, plan_bytes, sets = two_inputs()
    first, second = (port.name for port in plan.inputs)
    batches = {name: np.stack([arrays[name] for arrays in sets]) for name in (first, second)}
    np.save("a.npy", batches[first])
    np.save("b.npy", batches[second])
    np.savez("both.npz", **batches)
    np.savez("positional.npz", batches[first], batches[second])
    np.savez("only.npz", **{first: batches[first]})
    wanted = answers(plan_bytes, sets)
    forms = (
        ("a.npy", "b.npy"),
        (f"{second}=b.npy", "a.npy"),
        (f"{second}=b.npy", f"model:{first}=a.npy"),
        ("both.npz",),
        ("positional.npz",),
        ("only.npz", f"{second}=b.npy"),
    )
    for form in forms:
        result = codegen(tigris, TWO_INPUTS, *form)
        assert result.code == 0, result.err
        assert expected(tmp_path) == wanted
    assert read_lock(tmp_path / "fw").options["test_input"] == ("only.npz", f"{second}=b.npy")


def test_one_input_takes_more_vectors_from_each_file(tigris: Tigris, tmp_path: Path) -> None:
    with np.load(DIGITS.parent / "test_digits.npz") as digits:
        images, scores = (digits[name][:3] for name in ("inputs", "outputs"))
    images = images.reshape(3, 1, 32, 32, 1)
    np.save("one.npy", images[0])
    np.save("batch.npy", images[1:, 0])
    np.savez("more.npz", images)
    assert codegen(tigris, DIGITS, "one.npy", "batch.npy", "more.npz").code == 0
    vectors = expected(tmp_path)
    assert len(vectors) == 6
    assert vectors == [[row.tobytes().hex()] for row in (*scores, *scores)]


def test_what_does_not_fit(tigris: Tigris, tmp_path: Path) -> None:
    plan, _, sets = two_inputs()
    first, second = (port.name for port in plan.inputs)
    np.save("a.npy", sets[0][first])
    np.save("b.npy", np.stack([arrays[second] for arrays in sets]))
    np.save("wide.npy", sets[0][first].astype(np.float64))
    np.save("flat.npy", sets[0][first].reshape(-1))
    np.savez("odd.npz", **{"absent": sets[0][first]})
    np.savez("three.npz", *[sets[0][first]] * 3)
    (tmp_path / "no.npy").write_text("no array")
    for form, said in (
        (("a.npy",), f"--test-input for input {second!r} is missing"),
        (("a.npy", "b.npy"), f"different numbers of vectors: 1 for {first!r}, 3 for {second!r}"),
        (("wide.npy", "b.npy"), f"wide.npy is float64, the input {first!r} wants float32"),
        (("flat.npy", "b.npy"), f"the input {first!r} wants {list(plan.inputs[0].shape)} or a batch of it"),
        (("absent=a.npy",), "no input is called 'absent'"),
        (("odd.npz",), "no input is called 'absent'"),
        (("three.npz",), "more arrays than the model has inputs (2)"),
        (("a.npy", "b.npy", "a.npy"), "more arrays than the model has inputs (2)"),
        ((f"{first}=three.npz",), "holds 3 arrays for the input"),
        (("no.npy",), "no.npy is no .npy or .npz file"),
        (("gone.npy",), "gone.npy: no such file"),
    ):
        result = codegen(tigris, TWO_INPUTS, *form)
        assert result.code == 2, (form, result.out)
        assert said in result.err, (form, result.err)
    assert not (tmp_path / "fw").exists()


def test_a_model_without_inputs_takes_none(tigris: Tigris, tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(relu_model(inputs=False))
    np.save("a.npy", np.zeros(3, np.float32))
    result = codegen(tigris, tmp_path / "m.tflite", "a.npy")
    assert result.code != 0
    assert "the model has no inputs" in result.err


def test_a_file_whose_name_has_an_equals_sign(tigris: Tigris, tmp_path: Path) -> None:
    np.save("x=1.npy", np.zeros((1, 32, 32, 1), np.int8))
    assert codegen(tigris, DIGITS, "x=1.npy").code == 0
