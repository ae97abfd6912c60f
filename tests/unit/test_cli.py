"""Every command's answer where all is well, as text and as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

from tests.support import REPOSITORY
from tests.unit.cli_support import CHAIN, CORPUS, DIGITS, SMALL, Tigris, assert_shape, relu_model
from tigris_codegen.boards import list_boards
from tigris_codegen.cli import cli
from tigris_codegen.plan.codec import decode
from tigris_codegen.session import Session

PORT = {"name": str, "dtype": str, "shape": [int], "bytes": int, "scale": float, "zero_point": int}
KERNEL = {
    "index": (int, None),
    "name": str,
    "kernel": str,
    "bands": int,
    "band_axis": (int, None),
    "why_whole": (str, None),
}
PLAN = {
    "ram": {
        "total_bytes": int,
        "fast_bytes": int,
        "slow_bytes": int,
        "state_bytes": int,
        "workspace_bytes": int,
        "scratch_bytes": int,
    },
    "flash": {"plan_bytes": int, "weight_bytes": int},
    "traffic": {"slow_read_bytes": int, "slow_written_bytes": int},
    "records": int,
    "calls": int,
    "inputs": [PORT],
    "outputs": [PORT],
    "operators": [KERNEL],
}
REFUSAL = {"operator": (int, None), "name": (str, None), "code": str, "reason": str, "hint": (str, None)}
ANALYSIS = {
    **PLAN,
    "model": str,
    "fits": bool,
    "board": (str, None),
    "pool_bytes": (int, None),
    "slow_pool_bytes": (int, None),
    "refusals": [REFUSAL],
    "stack_bytes": (int, None),
    "smallest_single_pool_bytes": int,
    "frontier": [{"ram_bytes": int, "calls": int, "records": int}],
}
OUTPUTS = {"outputs": [{"name": str, "crc32": int}]}


@pytest.fixture
def tigris(capsys: pytest.CaptureFixture[str]) -> Tigris:
    return Tigris(capsys)


@pytest.mark.parametrize("name", [None, *sorted(cli.commands)])
def test_every_help_shows_an_example(tigris: Tigris, name: str | None) -> None:
    result = tigris(*filter(None, (name, "--help")))
    assert (result.code, result.err) == (0, "")
    examples = [line.strip() for line in result.out.split("Example:")[1].splitlines()[1:3]]
    assert any("tigris " + (name or "") in line for line in examples)
    assert max(map(len, result.out.splitlines())) <= 100


def test_without_a_command_the_help_is_printed(tigris: Tigris) -> None:
    assert tigris().out == tigris("--help").out
    assert tigris("--version").out.startswith("tigris ")


# analyze


def test_analyze_answers_in_json(tigris: Tigris) -> None:
    result = tigris("analyze", DIGITS, "--board", "mps2-an500", "-m", "16K", "--json")
    assert (result.code, result.err) == (0, "")
    answer = result.json
    assert_shape(answer, ANALYSIS)
    assert answer["fits"]
    ram = answer["ram"]
    assert ram["total_bytes"] <= 16384 == answer["pool_bytes"]
    parts = ("fast_bytes", "slow_bytes", "state_bytes", "workspace_bytes")
    assert ram["total_bytes"] == sum(ram[part] for part in parts)
    assert answer["smallest_single_pool_bytes"] <= ram["total_bytes"]
    assert answer["stack_bytes"] > 0
    assert answer["traffic"] == {"slow_read_bytes": 0, "slow_written_bytes": 0}
    assert [op["index"] for op in answer["operators"]] == list(range(15))
    first, last = answer["operators"][0], answer["operators"][-1]
    assert (first["name"], first["kernel"], first["band_axis"], first["why_whole"]) == (
        "CONV_2D",
        "conv_2d_s8",
        1,
        None,
    )
    assert first["bands"] > 1
    assert (last["name"], last["bands"], last["band_axis"], last["why_whole"]) == ("SOFTMAX", 1, None, "one row")
    assert answer["calls"] == sum(op["bands"] for op in answer["operators"])


def test_analyze_without_a_memory_describes_whole_operators(tigris: Tigris) -> None:
    answer = tigris("analyze", SMALL, "--json").json
    assert (answer["fits"], answer["pool_bytes"], answer["stack_bytes"], answer["described"]) == (
        True,
        None,
        None,
        "whole",
    )
    assert all(op["bands"] == 1 and op["why_whole"] for op in answer["operators"])


def test_analyze_of_two_pools_states_the_traffic(tigris: Tigris) -> None:
    fast = tigris("analyze", CHAIN, "--json").json["smallest_single_pool_bytes"] * 3 // 4
    answer = tigris("analyze", CHAIN, "-m", f"{fast}+64K", "--json").json
    assert answer["fits"]
    assert (answer["pool_bytes"], answer["slow_pool_bytes"]) == (fast, 65536)
    assert answer["ram"]["fast_bytes"] + answer["ram"]["workspace_bytes"] <= fast
    assert 0 < answer["ram"]["slow_bytes"] <= 65536
    assert answer["traffic"]["slow_written_bytes"] >= answer["ram"]["slow_bytes"] // 2
    assert answer["traffic"]["slow_read_bytes"] >= answer["traffic"]["slow_written_bytes"]


def test_analyze_says_on_which_region_of_a_board_a_model_fits(tigris: Tigris) -> None:
    result = tigris("analyze", SMALL, "--board", "mps2-an500")
    assert result.code == 0
    assert f"{SMALL.name} fits on mps2-an500, in ram." in result.out


# compile, inspect


def test_compile_writes_the_plan_beside_the_model_or_where_it_is_told(tigris: Tigris, tmp_path: Path) -> None:
    model = tmp_path / "add.tflite"
    model.write_bytes(SMALL.read_bytes())
    assert tigris("compile", model).code == 0
    result = tigris("compile", model, "-o", tmp_path / "other.tgrs", "--json")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["add.tflite", "add.tgrs", "other.tgrs"]
    assert (tmp_path / "add.tgrs").read_bytes() == (tmp_path / "other.tgrs").read_bytes()
    assert_shape(result.json, {"plan": str, **PLAN})
    plan = decode((tmp_path / "add.tgrs").read_bytes())
    assert result.json["ram"]["total_bytes"] == plan.ram_bytes
    assert result.json["flash"]["plan_bytes"] == (tmp_path / "add.tgrs").stat().st_size


def test_compile_takes_a_boards_memory(tigris: Tigris, tmp_path: Path) -> None:
    plan = tmp_path / "d.tgrs"
    assert tigris("compile", SMALL, "--board", "mps2-an386", "-o", plan).code == 0
    assert decode(plan.read_bytes()).outputs


def test_keep_inputs_takes_more_memory(tigris: Tigris, tmp_path: Path) -> None:
    consumed = tigris("analyze", CHAIN, "--json").json["smallest_single_pool_bytes"]
    kept = tigris("analyze", CHAIN, "--keep-inputs", "--json").json["smallest_single_pool_bytes"]
    assert kept > consumed
    options = ("-m", str(consumed), "-o", tmp_path / "x.tgrs")
    assert tigris("compile", CHAIN, *options).code == 0
    assert tigris("compile", CHAIN, *options, "--keep-inputs").code == 3


def test_inspect_of_a_plan(tigris: Tigris, tmp_path: Path) -> None:
    plan = tmp_path / "digits.tgrs"
    tigris("compile", DIGITS, "-m", "16K", "-o", plan)
    result = tigris("inspect", plan, "--json")
    assert_shape(result.json, {"file": str, **PLAN, "schedule": [{"kind": str, "target": int, "flags": [str]}]})
    assert len(result.json["schedule"]) == result.json["records"] == len(decode(plan.read_bytes()).records)
    text = tigris("inspect", plan).out
    wordy = tigris("inspect", plan, "-v").out
    assert wordy.startswith(text.rstrip())
    records = wordy[len(text.rstrip()) :].splitlines()
    numbers = [line.split()[0] for line in records if line[:6].strip().isdigit()]
    assert numbers == [str(i) for i in range(result.json["records"])]


def test_inspect_of_a_model_lists_every_operator(tigris: Tigris) -> None:
    result = tigris("inspect", DIGITS, "--json")
    operators = result.json["operators"]
    tensor = {"name": str, "dtype": str, "shape": [int]}
    shape = {"index": int, "name": str, "converts": bool, "status": str, "inputs": [tensor], "outputs": [tensor]}
    assert_shape(operators, [shape | {"refusals": [REFUSAL], "kernels": [str]}])
    assert [op["index"] for op in operators] == list(range(15))
    assert all(op["converts"] and op["status"] == "converts" and op["kernels"] for op in operators)
    text = tigris("inspect", DIGITS).out
    assert all(op["name"] in text for op in operators)


def test_inspect_says_which_operators_cost_nothing(tigris: Tigris) -> None:
    """A RESHAPE between others is the same memory under another shape."""
    views = [p for p in sorted(CORPUS.glob("chain_*.tflite")) if b"reshape" in p.read_bytes().lower()]
    found = [op for p in views[:3] for op in tigris("inspect", p, "--json").json["operators"]]
    reshapes = [op for op in found if op["name"] == "RESHAPE"]
    assert reshapes
    assert {(op["status"], op["converts"], tuple(op["kernels"])) for op in reshapes} == {("no kernel", True, ())}


# run


def test_run_gives_the_sessions_outputs(tigris: Tigris, tmp_path: Path) -> None:
    plan, inputs, output = (tmp_path / n for n in ("d.tgrs", "x.npy", "y.npy"))
    tigris("compile", DIGITS, "-m", "16K", "-o", plan)
    image = np.load(REPOSITORY / "examples/digits/test_digits.npz")["inputs"][:1]
    np.save(inputs, image)
    result = tigris("run", plan, "--input", inputs, "--output", output, "--json")
    assert result.code == 0
    assert_shape(result.json, OUTPUTS)
    with Session.open(plan) as session:
        (expected,) = session.run({name: image for name in session.inputs}).values()
    assert np.array_equal(np.load(output), expected)
    assert [row["crc32"] for row in result.json["outputs"]] == [zlib.crc32(expected.tobytes())]
    by_name = tigris("run", DIGITS, "--input", f"{session_input(plan)}={inputs}", "--json")
    assert by_name.json == result.json
    assert f"{zlib.crc32(expected.tobytes()):08x}" in tigris("run", plan, "--input", inputs).out


def session_input(plan: Path) -> str:
    return decode(plan.read_bytes()).inputs[0].name


def test_run_writes_many_outputs_under_any_name(tigris: Tigris, tmp_path: Path) -> None:
    """Also names that numpy.savez takes for its own arguments."""
    model = tmp_path / "m.tflite"
    model.write_bytes(relu_model(("a/b=c", "file"), ports=2))
    for name in ("0", "1"):
        np.save(tmp_path / f"{name}.npy", np.full((1, 4, 4, 3), int(name) - 0.5, np.float32))
    result = tigris(
        "run",
        model,
        "--input",
        tmp_path / "0.npy",
        "--input",
        f"a/b=c1={tmp_path / '1.npy'}",
        "--output",
        tmp_path / "y.npz",
    )
    assert result.code == 0
    with np.load(tmp_path / "y.npz") as outputs:
        assert sorted(outputs) == ["file0", "file1"]
        assert (outputs["file0"] == 0).all() and (outputs["file1"] == 0.5).all()


def test_a_model_without_inputs_runs(tigris: Tigris, tmp_path: Path) -> None:
    model = tmp_path / "m.tflite"
    model.write_bytes(relu_model(inputs=False))
    assert tigris("run", model).code == 0
    assert "no inputs" in tigris("inspect", model).out


# boards, doctor, completion


def test_boards_lists_every_board_and_shows_one(tigris: Tigris) -> None:
    names = [board.name for board in list_boards()]
    assert [b["name"] for b in tigris("boards", "--json").json["boards"]] == names
    assert tigris("boards").out == tigris("boards", "list").out
    assert all(name in tigris("boards").out for name in names)
    for arguments in (("show", "mps2-an500"), ("mps2-an500",)):
        text = tigris("boards", *arguments)
        assert text.code == 0
        assert "0x20000000" in text.out
    (shown,) = tigris("boards", "show", "mps2-an500", "--json").json["boards"]
    assert_shape(shown, {"core": str, "memory": [{"name": str, "base": int, "size": int, "kind": str}]})
    assert shown["available_bytes"]["baremetal"]["ram"] < next(m["size"] for m in shown["memory"] if m["name"] == "ram")


def test_doctor_says_how_to_install_what_is_missing(tigris: Tigris, monkeypatch: pytest.MonkeyPatch) -> None:
    result = tigris("doctor", "--json")
    tool = {"name": str, "needed": bool, "found": bool, "use": str, "install": str, "version": (str, None)}
    assert_shape(result.json, {"ok": bool, "tools": [tool]})
    assert result.code == (0 if result.json["ok"] else 4)
    tools = {t["name"]: t for t in result.json["tools"]}
    expected = {"cc", "clang", "cmake", "ninja", "arm-none-eabi-gcc", "newlib", "qemu-system-arm", "unicorn", "node"}
    assert expected | {"npm", "CMSIS-Core", "host library", "tflite-micro"} <= set(tools)
    assert tools["host library"]["found"]

    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CMSIS_CORE_ROOT", "/nowhere")
    nothing = tigris("doctor")
    assert nothing.code == 4
    for name in ("cmake", "arm-none-eabi-gcc", "qemu-system-arm", "CMSIS-Core"):
        assert name in nothing.err
        assert tools[name]["install"].split()[0] in nothing.out
    assert "host library" not in nothing.err
    answer = tigris("doctor", "--json").json
    assert answer["ok"] is False
    assert answer["error"]["exit_code"] == 4


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(tigris: Tigris, shell: str) -> None:
    result = tigris("completion", shell)
    assert result.code == 0
    assert "_TIGRIS_COMPLETE" in result.out


def test_completion_completes_boards_and_the_module_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tigris_codegen"],
        env={"PATH": "", "COMP_WORDS": "tigris analyze --board mps2-an5", "COMP_CWORD": "3"}
        | {"_TIGRIS_COMPLETE": "bash_complete", "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == [f"plain,{b.name}" for b in list_boards() if b.name.startswith("mps2-an5")]


# codegen


def test_codegen_writes_a_project_or_a_core(tigris: Tigris, tmp_path: Path) -> None:
    plan = tmp_path / "add.tgrs"
    tigris("compile", SMALL, "-o", plan)
    project = tigris("codegen", SMALL, "--board", "mps2-an500", "-o", tmp_path / "p", "--json")
    shape = {"project": str, "created": bool, "files": [str], "placement": dict, "ram_bytes": int, "plan_bytes": int}
    assert_shape(project.json, shape)
    assert project.json["created"]
    assert json.loads((tmp_path / "p" / "tigris.lock").read_text())["board"] == "mps2-an500"
    again = tigris("codegen", plan, "--name", "add", "--board", "mps2-an500", "-o", tmp_path / "p")
    assert again.code == 0
    assert "updated" in again.out
    core = tigris("codegen", plan, "--format", "core", "-o", tmp_path / "models", "--json")
    assert_shape(core.json, {"core": str, "runtime": str, "created": bool, "files": [str]})
    assert (tmp_path / "models" / "add" / "add.h").is_file()


def test_reserved_memory_moves_the_arena_to_the_next_region(tigris: Tigris, tmp_path: Path) -> None:
    plan = tmp_path / "add.tgrs"
    tigris("compile", SMALL, "-o", plan)
    for source in (SMALL, plan):
        options = ("--board", "mps2-an386", "--name", "add", "-o", tmp_path / "p", "--json")
        assert tigris("codegen", source, *options).json["placement"]["fast"] == "ram"
        assert tigris("codegen", source, *options, "--reserve", "4M").json["placement"]["fast"] == "psram"


# Backends.


@pytest.mark.parametrize(
    ("backend", "board", "said"),
    [
        ("cmsis-nn", "nucleo-h7", "the backend 'cmsis-nn' has no kernels yet"),
        ("esp-nn", "esp32s3-devkitc", "the backend 'esp-nn' has no kernels yet"),
        ("esp-nn", "nucleo-h7", "esp-nn is for chips of the ESP32 family, nucleo-h7 has a cortex-m7 (stm32h743xi)"),
        ("cmsis-nn", "qemu-riscv32", "cmsis-nn is for Cortex-M, qemu-riscv32 has a riscv32 (qemu-virt-rv32)"),
        ("cmsis-nn", "esp32s3-devkitc", "cmsis-nn is for Cortex-M, esp32s3-devkitc has a xtensa-lx7 (esp32s3)"),
        ("cmsis-nn", "posix", "cmsis-nn is for Cortex-M, posix has a host (host)"),
        ("cmsis", "nucleo-h7", "there is no backend 'cmsis'"),
    ],
)
def test_a_backend_is_refused_by_name(tigris: Tigris, tmp_path: Path, backend: str, board: str, said: str) -> None:
    options = ("--backend", backend, "--board", board)
    for command in (
        ("codegen", SMALL, "-o", tmp_path / "p"),
        ("compile", SMALL, "-o", tmp_path / "m.tgrs"),
        ("analyze", SMALL),
    ):
        result = tigris(*command, *options)
        assert result.code == 2
        assert said in result.err
    assert not any(tmp_path.iterdir())
