"""Hostile models that once hung the compiler, exhausted memory, broke the plan or differed from the interpreter."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.hostile.cases import RELU, changed, elementwise, group, optioned, real, relu
from tests.hostile.judge import judge
from tests.hostile.raw import RawCode, RawOp, RawTensor, builtin
from tigris_codegen.errors import ModelError
from tigris_codegen.frontend import read_model
from tigris_codegen.pipeline import Compiled
from tigris_codegen.plan.codec import decode

X, Y = RELU.tensors


def test_a_view_of_itself() -> None:
    """Following views to the tensor whose memory they are never ended."""
    model = relu(ops=(RawOp((1,), (1,)),), codes=(builtin("RESHAPE"),))
    assert judge(model) == ("operator.order",)


def test_zero_point_beyond_the_plans_field() -> None:
    """Behind a RESHAPE no rule looks at it; encoding the plan raised."""
    assert judge(elementwise(X, replace(Y, zero_points=(1 << 40,)), "RESHAPE")) == ("tensor.quantization",)


def test_quantization_of_a_float_tensor_means_nothing() -> None:
    odd = replace(real(), quantized=True, scales=(float("nan"),), zero_points=(1 << 40,))
    found = judge(elementwise(odd, odd))
    assert isinstance(found, Compiled)
    assert [(port.scale, port.zero_point) for port in found.plan.outputs] == [(0.0, 0)]


def test_tensors_beyond_any_board() -> None:
    """150 MB of input in a file of 500 bytes took the proof gigabytes and many seconds."""
    shape = (1, 13_107_206, 4, 3)
    assert judge(elementwise(RawTensor(shape), RawTensor(shape))) == ("operator.memory",)


def test_a_name_that_ends_in_the_middle() -> None:
    """Names in the plan end with a NUL: the next port was named by the rest."""
    found = judge(relu(tensors=(replace(X, name=b"a\0b"), replace(Y, name=b"c"))))
    assert isinstance(found, Compiled)
    plan = decode(found.plan_bytes)
    assert [port.name for port in (*plan.inputs, *plan.outputs)] == ["a\\0b", "c"]


def test_a_custom_operator_named_over_two_lines() -> None:
    with pytest.raises(ModelError) as caught:
        read_model(relu(codes=(RawCode(32, 32, b"two\nlines\x1b[2J"),)), "m")
    assert str(caught.value) == "operator 0 CUSTOM:two\\nlines\\x1b[2J: a custom operator, not supported"


def test_buffers_that_are_all_the_same_bytes_outside() -> None:
    """500 slices of the same 200 kB were 100 MB."""
    (data,) = (model for name, (model, _) in group(5).items() if name.startswith("500 buffers"))
    with pytest.raises(ModelError, match="more data than it can hold"):
        read_model(data, "m")


@pytest.mark.parametrize("option", ["DilationHFactor", "DilationWFactor"])
@pytest.mark.parametrize("kind", ["CONV_2D", "DEPTHWISE_CONV_2D"])
def test_dilations_that_the_interpreter_wraps(kind: str, option: str) -> None:
    assert judge(optioned(kind, **{option: 0x8000})) == (f"{kind.lower()}.size",)
    assert isinstance(judge(optioned(kind, **{option: 0x2000})), Compiled)


def test_relu6_of_a_scale_that_lets_6_overflow() -> None:
    """The interpreter converts infinity to an integer there."""
    tiny = replace(RELU, tensors=(replace(X, scales=(1e-45,)), Y), codes=(builtin("RELU6"),))
    assert judge(tiny.bytes()) == ("relu6.six",)


def test_a_matrix_product_without_dimensions() -> None:
    """The interpreter takes the last of them."""
    assert judge(changed("FULLY_CONNECTED", 3, shape=())) == ("fully_connected.output_shape",)
