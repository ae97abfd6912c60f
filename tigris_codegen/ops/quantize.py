"""QUANTIZE and DEQUANTIZE."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tigris_codegen.ir.graph import DType, Graph, Op, Tensor
from tigris_codegen.numerics import requantize_table
from tigris_codegen.ops import rules as common
from tigris_codegen.ops.activation import K_LOOKUP_S8, NoAttributes, lookup_params
from tigris_codegen.ops.geometry import elementwise_work, input_tensor, output_tensor
from tigris_codegen.ops.spec import Constant, Kernel, OpSpec, Work, hint
from tigris_codegen.plan.fields import Field, Struct, Value

QUANTIZE_F32_S8 = Struct(
    "quantize_f32_s8_params",
    "QUANTIZE, float to int8.",
    (
        Field("elements", "u32", "elements of the tensor"),
        Field("scale", "f32", "real value of one step"),
        Field("zero_point", "i32", "quantized value of 0"),
    ),
)

DEQUANTIZE_S8_F32 = Struct(
    "dequantize_s8_f32_params",
    "DEQUANTIZE, int8 to float.",
    (
        Field("elements", "u32", "elements of the tensor"),
        Field("scale", "f32", "real value of one step"),
        Field("zero_point", "i32", "quantized value of 0"),
    ),
)

K_QUANTIZE_F32_S8 = Kernel(20, "quantize_f32_s8", QUANTIZE_F32_S8, "elementwise", "float to int8")
K_DEQUANTIZE_S8_F32 = Kernel(21, "dequantize_s8_f32", DEQUANTIZE_S8_F32, "elementwise", "int8 to float")


#: What QUANTIZE converts from and to.
QUANTIZE_TYPES = {
    (DType.F32, DType.S8),
    (DType.S8, DType.S8),
    (DType.U8, DType.S8),
    (DType.S8, DType.U8),
}


def quantize_types(graph: Graph, op: Op) -> str | None:
    """types other than float32 to int8, int8 to int8, uint8 to int8 and int8 to uint8"""
    data, output = input_tensor(graph, op, 0).dtype, output_tensor(graph, op).dtype
    return None if (data, output) in QUANTIZE_TYPES else f": {data.value} to {output.value}"


@hint("convert the model to full int8 or to float32")
def dequantize_types(graph: Graph, op: Op) -> str | None:
    """types other than int8 to float32"""
    data, output = input_tensor(graph, op, 0).dtype, output_tensor(graph, op).dtype
    return None if (data, output) == (DType.S8, DType.F32) else f": {data.value} to {output.value}"


class Quantize(OpSpec):
    kind = "QUANTIZE"
    doc = "float32 to int8, and between 8-bit quantizations (uint8 at the model's inputs and outputs)."
    kernels = (K_LOOKUP_S8, K_QUANTIZE_F32_S8)
    attributes = NoAttributes
    requirements = (quantize_types, common.quantized_streams)
    rules = (common.scale_ratio, common.same_shape)

    def read_attributes(self, options: Any, inputs: Sequence[Tensor | None]) -> NoAttributes:
        return NoAttributes()

    def lower(self, graph: Graph, op: Op) -> tuple[Work, ...]:
        data, output = input_tensor(graph, op, 0), output_tensor(graph, op)
        q = output.quantization
        assert q
        if data.dtype is DType.F32:
            params = _scale_params(output, q.scale, q.zero_point)
            return (elementwise_work(graph, op, K_QUANTIZE_F32_S8, params),)
        assert data.quantization
        signed, result_signed = data.dtype is DType.S8, output.dtype is DType.S8
        source = data.quantization
        table = requantize_table(source.scale, source.zero_point, signed, q.scale, q.zero_point, result_signed)
        return (elementwise_work(graph, op, K_LOOKUP_S8, lookup_params(graph, op, table)),)


class Dequantize(OpSpec):
    kind = "DEQUANTIZE"
    doc = "int8 to float32; a constant (int8 or float16) is converted by the compiler."
    kernels = (K_DEQUANTIZE_S8_F32,)
    attributes = NoAttributes
    requirements = (dequantize_types, common.quantized_streams)
    rules = (common.same_shape,)

    def read_attributes(self, options: Any, inputs: Sequence[Tensor | None]) -> NoAttributes:
        return NoAttributes()

    def constant(self, graph: Graph, op: Op) -> bytes | None:
        """float16 constants are read as float32, so that nothing is left to do for them."""
        data, output = input_tensor(graph, op, 0), output_tensor(graph, op)
        if data.data is None or output.dtype is not DType.F32 or data.shape != output.shape:
            return None
        if data.dtype is DType.F32:
            return data.data
        if data.dtype is not DType.S8 or common.quantized_streams(graph, op) is not None:
            return None
        assert data.quantization
        values = data.array().astype(np.float64) - data.quantization.zero_point
        return (values * data.quantization.scale).astype("<f4").tobytes()

    def lower(self, graph: Graph, op: Op) -> tuple[Work, ...]:
        data, output = input_tensor(graph, op, 0), output_tensor(graph, op)
        assert data.quantization
        params = _scale_params(output, data.quantization.scale, data.quantization.zero_point)
        return (elementwise_work(graph, op, K_DEQUANTIZE_S8_F32, params),)


def _scale_params(output: Tensor, scale: float, zero_point: int) -> dict[str, Value | Constant | None]:
    return {"elements": output.elements, "scale": scale, "zero_point": zero_point}
