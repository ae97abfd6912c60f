"""Models that are damaged, malicious or just odd: each converts correctly or is refused in one clear sentence."""

from __future__ import annotations

import random
import sys
import tracemalloc

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.corpus import expectations, oracle
from tests.hostile.cases import ALONE, CONVERTS, EITHER, GROUPS, dense, elementwise, group, numbers
from tests.hostile.child import in_child
from tests.hostile.judge import judge
from tests.hostile.raw import Outside, RawTensor
from tests.support import assert_equal
from tigris_codegen.errors import ModelError
from tigris_codegen.frontend import read_model, survey
from tigris_codegen.frontend.read import MAX_ALIVE_BYTES
from tigris_codegen.pipeline import Compiled, Model
from tigris_codegen.session import Session

#: An int8 convolution with one scale per channel and a bias, and a chain of several operators.
CUT = ("conv_2d_2x2_same_s8", "chain_conv_global_mean_s8")

#: Small models of every family; each takes its share of the flips.
VICTIMS = (
    "conv_2d_2x2_same_s8",
    "add_rank2_f32",
    "add_rank1_s8",
    "average_pool_2d_column_s8",
    "chain_pad_average_pool_f32",
    "chain_pad_max_pool_s8",
    "concatenation_channels_s8",
    "concatenation_twice_height_f32",
    "depthwise_conv_2d_one_element_s8",
    "dequantize_s8_f32_one_element",
    "fully_connected_one_element_s8",
    "logistic_vector_s8",
    "mean_height_s8",
    "mul_column_row_f32",
    "pad_height_s8",
    "quantize_s8_u8_boundary",
    "relu_vector_s8",
    "reshape_inferred_s8",
    "softmax_rank1_f32",
    "softmax_rank1_s8",
)
FLIPPED = 100_000
#: Of each victim's models that convert after all, so many are also run.
RUN_EACH = 6

#: Bytes that the compiler may take for any hostile model.
MOST_BYTES = 200 << 20
#: And for the largest that is accepted: the proof of a plan labels each byte of memory with eight, and copies labels.
BYTES_OF_THE_LARGEST = 24 * MAX_ALIVE_BYTES

#: Answers of `_same_as_interpreter`.
SAME, NOT_RUN = 0, 3


def corpus(name: str) -> bytes:
    return (expectations.DATA / f"{name}.tflite").read_bytes()


def values(compiled: Compiled) -> list[NDArray[np.generic]]:
    """Random inputs."""
    stream = np.random.RandomState(7)
    with Session(compiled.plan_bytes) as session:
        return [
            stream.uniform(-3, 3, port.shape).astype(port.dtype)
            if port.dtype.startswith("float")
            else stream.randint(np.iinfo(port.dtype).min, np.iinfo(port.dtype).max + 1, port.shape).astype(port.dtype)
            for port in session.inputs.values()
        ]


def outputs(compiled: Compiled, inputs: list[NDArray[np.generic]]) -> list[NDArray[np.generic]]:
    with Session(compiled.plan_bytes) as session:
        return list(session.run(dict(zip(session.inputs, inputs, strict=True)), poison=0xAA).values())


def _same_as_interpreter(data: bytes, compiled: Compiled) -> int:
    inputs = values(compiled)
    found = outputs(compiled, inputs)
    try:
        wanted = oracle.run(data, inputs, len(found))
    except Exception:
        return NOT_RUN
    for ours, theirs in zip(found, wanted, strict=True):
        assert_equal(ours, theirs, compiled.plan.tolerance)
    return SAME


# Damage.


@pytest.mark.parametrize("name", CUT)
def test_every_truncation(name: str) -> None:
    data = corpus(name)
    whole = read_model(data, name)
    refused = 0
    for length in range(len(data)):
        found = judge(data[:length])
        if isinstance(found, Compiled):
            assert read_model(data[:length], name) == whole  # what is missing was padding
        else:
            assert set(found) <= {"file.empty", "file.identifier", "file.damaged"}
            refused += 1
    assert refused > len(data) - 16


@pytest.mark.parametrize("name", VICTIMS)
def test_flipped_bytes(name: str) -> None:
    data, stream = corpus(name), random.Random(name)
    converted = 0
    for number in range(FLIPPED // len(VICTIMS)):
        damaged = bytearray(data)
        for _ in range(stream.randint(1, 4)):
            damaged[stream.randrange(len(data))] ^= stream.choice((1 << stream.randrange(8), stream.randrange(1, 256)))
        found = judge(bytes(damaged), smallest=number % 10 == 0)
        if isinstance(found, Compiled):
            converted += 1
            if converted <= RUN_EACH:
                # The interpreter follows what offsets it is given: it may refuse the model or crash where we do not.
                code = in_child(lambda model=bytes(damaged), plan=found: _same_as_interpreter(model, plan))
                assert code < 0 or code in (SAME, NOT_RUN)
    assert RUN_EACH < converted < FLIPPED // len(VICTIMS) // 2


# Models by hand.


@pytest.mark.parametrize("number", range(len(GROUPS)), ids=[g.__name__.strip("_") for g in GROUPS])
def test_models_by_hand(number: int) -> None:
    wrong = []
    for name, (data, wanted) in group(number).items():
        found = judge(data)
        if isinstance(found, Compiled):
            right = wanted in (CONVERTS, ALONE, EITHER)
        else:
            right = wanted == EITHER or wanted in found
        if not right:
            wrong.append(f"{name}: {wanted}, not {'converts' if isinstance(found, Compiled) else found}")
        elif wanted == CONVERTS:
            assert isinstance(found, Compiled)
            assert _same_as_interpreter(data, found) == SAME, name
    assert not wrong


@pytest.mark.parametrize("number", range(len(GROUPS)), ids=[g.__name__.strip("_") for g in GROUPS])
def test_survey_says_what_the_reader_says(number: int) -> None:
    for data, _ in group(number).values():
        found = survey(data, "hostile.tflite")
        said = {*found.refusals, *(r for op in found.operators for r in op.refusals)}
        try:
            read_model(data, "hostile.tflite")
            refusals = set()
        except ModelError as error:
            refusals = set(error.refusals)
        assert said >= refusals
        assert bool(said) == bool(refusals)


def test_data_outside_are_the_same_as_inside() -> None:
    w, v = bytes([1, 2, 253, 4]), numbers(-7)
    inside = read_model(dense((b"", w, v)), "m")
    assert inside.tensors[1].data == w
    behind = [Outside(0, 4, behind=True), Outside(4, 4, behind=True)]
    assert read_model(dense((b"", *behind), appended=w + v), "m") == inside


@pytest.mark.skipif(sys.platform != "linux", reason="the address space is read from /proc")
@pytest.mark.parametrize("number", range(len(GROUPS)), ids=[g.__name__.strip("_") for g in GROUPS])
def test_memory_is_bounded(number: int) -> None:
    cases = group(number)

    def all_of_them() -> int:
        for data, _ in cases.values():
            judge(data)
        return 0

    assert in_child(all_of_them, MOST_BYTES) == 0


def large(size: int) -> bytes:
    """RELU of so many bytes."""
    shape = (1, 64, 1024, size >> 16)
    return elementwise(RawTensor(shape, name=b"x"), RawTensor(shape, name=b"y"))


@pytest.mark.skipif(sys.platform != "linux", reason="the address space is read from /proc")
def test_the_largest_that_is_accepted() -> None:
    def convert() -> int:
        compiled = Model(large(MAX_ALIVE_BYTES // 2), "m").roomy()
        assert compiled.plan.fast_bytes <= MAX_ALIVE_BYTES
        return 0

    assert in_child(convert, BYTES_OF_THE_LARGEST) == 0
    assert judge(large(MAX_ALIVE_BYTES // 2 + (1 << 16))) == ("operator.memory",)


def test_data_of_tensors_that_share_a_buffer_are_held_once() -> None:
    data = dense((b"", Outside(0, 4, behind=True), numbers(1)), appended=bytes(4 << 20))
    tracemalloc.start()
    read_model(data, "m")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20
