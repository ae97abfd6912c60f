"""RELU, RELU6 and LOGISTIC: functions of one element."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tigris_codegen.ir.graph import DType, Graph, Op, Quantization, Tensor
from tigris_codegen.numerics import INT32_MAX, logistic_real_factor, logistic_table, relu6_table, relu_table
from tigris_codegen.ops import rules as common
from tigris_codegen.ops.geometry import elementwise_work, input_tensor, output_tensor
from tigris_codegen.ops.spec import Constant, Kernel, OpSpec, Rule, Work
from tigris_codegen.plan.fields import Field, Struct, Value

LOOKUP_S8 = Struct(
    "lookup_s8_params",
    "A function of one byte: RELU, RELU6, LOGISTIC and QUANTIZE between 8-bit types.",
    (
        Field("elements", "u32", "elements of the tensor"),
        Field("table", "const", "256 bytes, indexed by the input byte read as unsigned"),
    ),
)

CLAMP_F32 = Struct(
    "clamp_f32_params",
    "RELU and RELU6, float.",
    (
        Field("elements", "u32", "elements of the tensor"),
        Field("act_min", "f32", "smallest output value"),
        Field("act_max", "f32", "largest output value"),
    ),
)

LOGISTIC_F32 = Struct(
    "logistic_f32_params",
    "LOGISTIC, float.",
    (Field("elements", "u32", "elements of the tensor"),),
)

K_LOOKUP_S8 = Kernel(17, "lookup_s8", LOOKUP_S8, "elementwise", "any function of one byte, by table")
K_CLAMP_F32 = Kernel(18, "clamp_f32", CLAMP_F32, "elementwise", "values limited to a range, float")
K_LOGISTIC_F32 = Kernel(19, "logistic_f32", LOGISTIC_F32, "elementwise", "logistic function, float")


@dataclass(frozen=True)
class NoAttributes:
    """The operator has none."""


def lookup_params(graph: Graph, op: Op, table: NDArray[np.uint8]) -> dict[str, Value | Constant | None]:
    """Parameters of `lookup_s8`."""
    return {"elements": output_tensor(graph, op).elements, "table": Constant(table.tobytes())}


def sigmoid_quantization(graph: Graph, op: Op) -> str | None:
    """an int8 output with a scale other than 1/256 or a zero point other than -128"""
    output = output_tensor(graph, op)
    q = output.quantization
    if output.dtype is not DType.S8 or q is None or (q.scale, q.zero_point) == (1 / 256, -128):
        return None
    return f": {q.scale:g} and {q.zero_point}"


def logistic_scale(graph: Graph, op: Op) -> str | None:
    """an int8 input scale below 2^-28"""
    data = input_tensor(graph, op, 0)
    if data.dtype is not DType.S8 or data.quantization is None or logistic_real_factor(data.quantization.scale) >= 0.5:
        return None
    return f": {data.quantization.scale:g}"


def six(graph: Graph, op: Op) -> str | None:
    """an int8 input scale so small that 6 takes more than 32 bits"""
    data = input_tensor(graph, op, 0)
    if data.dtype is not DType.S8 or data.quantization is None or 6.0 / data.quantization.scale < INT32_MAX:
        return None
    return f": {data.quantization.scale:g}"


class _Elementwise(OpSpec):
    """What the functions of one element share."""

    attributes = NoAttributes
    requirements = (common.activation_type, common.same_type, common.quantized_streams)
    rules: ClassVar[tuple[Rule, ...]] = (common.same_shape,)

    def read_attributes(self, options: Any, inputs: Sequence[Tensor | None]) -> NoAttributes:
        return NoAttributes()

    @abstractmethod
    def table(self, data: Quantization, output: Quantization) -> NDArray[np.uint8]:
        """The int8 function: outputs by input byte."""

    def float_params(self) -> dict[str, float]:
        """What the float kernel takes besides the number of elements."""
        return {}

    def lower(self, graph: Graph, op: Op) -> tuple[Work, ...]:
        data, output = input_tensor(graph, op, 0), output_tensor(graph, op)
        if data.dtype is DType.S8:
            assert data.quantization and output.quantization
            params = lookup_params(graph, op, self.table(data.quantization, output.quantization))
            return (elementwise_work(graph, op, self.kernels[0], params),)
        float_params: dict[str, Value | Constant | None] = {"elements": output.elements, **self.float_params()}
        return (elementwise_work(graph, op, self.kernels[1], float_params),)


class Relu(_Elementwise):
    kind = "RELU"
    doc = "The larger of 0 and each value; int8 may change the scale."
    kernels = (K_LOOKUP_S8, K_CLAMP_F32)
    rules = (*_Elementwise.rules, common.scale_ratio)

    def table(self, data: Quantization, output: Quantization) -> NDArray[np.uint8]:
        return relu_table(data.scale, data.zero_point, output.scale, output.zero_point)

    def float_params(self) -> dict[str, float]:
        return {"act_min": 0.0, "act_max": float("inf")}


class Relu6(_Elementwise):
    kind = "RELU6"
    doc = "Each value limited to 0 to 6; int8 in the quantization of the input, as TensorFlow Lite Micro."
    kernels = (K_LOOKUP_S8, K_CLAMP_F32)
    rules = (*_Elementwise.rules, six)

    def table(self, data: Quantization, output: Quantization) -> NDArray[np.uint8]:
        return relu6_table(data.scale, data.zero_point)

    def float_params(self) -> dict[str, float]:
        return {"act_min": 0.0, "act_max": 6.0}


#: The float kernel calls expf, whose last bits differ between C libraries; outputs are 0 to 1.
LOGISTIC_TOLERANCE = 2.0**-20


class Logistic(_Elementwise):
    kind = "LOGISTIC"
    doc = "The logistic function; int8 by a table of TensorFlow Lite Micro's integer results."
    kernels = (K_LOOKUP_S8, K_LOGISTIC_F32)
    rules = (*_Elementwise.rules, sigmoid_quantization, logistic_scale)

    def table(self, data: Quantization, output: Quantization) -> NDArray[np.uint8]:
        return logistic_table(data.scale, data.zero_point)

    def lower(self, graph: Graph, op: Op) -> tuple[Work, ...]:
        if input_tensor(graph, op, 0).dtype is DType.S8:
            return super().lower(graph, op)
        params: dict[str, Value | Constant | None] = {"elements": output_tensor(graph, op).elements}
        return (elementwise_work(graph, op, K_LOGISTIC_F32, params, LOGISTIC_TOLERANCE),)
