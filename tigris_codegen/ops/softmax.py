"""SOFTMAX."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tigris_codegen.ir.graph import DType, Graph, Op, Tensor
from tigris_codegen.ir.rows import Rows, rows_of
from tigris_codegen.numerics import softmax_real_factor, softmax_table
from tigris_codegen.ops import rules as common
from tigris_codegen.ops.activation import sigmoid_quantization
from tigris_codegen.ops.geometry import MAX_U16, input_tensor, int32_constant, operand, output_tensor, same_rows
from tigris_codegen.ops.spec import Constant, Kernel, OpSpec, Work
from tigris_codegen.plan.fields import Field, Struct, Value

SOFTMAX_S8 = Struct(
    "softmax_s8_params",
    "SOFTMAX over the last axis, int8.",
    (
        Field("vectors", "u32", "vectors in the tensor"),
        Field("depth", "u32", "elements of a vector"),
        Field(
            "table", "const", "int32 exp(-d * scale * beta) in Q0.31 for d = 0 to 255, 0 where TFLite Micro cuts off"
        ),
    ),
)

SOFTMAX_F32 = Struct(
    "softmax_f32_params",
    "SOFTMAX over the last axis, float.",
    (
        Field("vectors", "u32", "vectors in the tensor"),
        Field("depth", "u32", "elements of a vector"),
        Field("beta", "f32", "factor of the exponent"),
    ),
)

K_SOFTMAX_S8 = Kernel(15, "softmax_s8", SOFTMAX_S8, "vectors", "softmax, int8")
K_SOFTMAX_F32 = Kernel(16, "softmax_f32", SOFTMAX_F32, "vectors", "softmax, float")


@dataclass(frozen=True)
class SoftmaxAttributes:
    """`beta` is the factor of the exponent."""

    beta: float


def rank(graph: Graph, op: Op) -> str | None:
    """a scalar"""
    return None if input_tensor(graph, op, 0).shape else ""


def input_scale(graph: Graph, op: Op) -> str | None:
    """an int8 input whose scale times beta is 2^-26 or less"""
    data = input_tensor(graph, op, 0)
    if data.dtype is not DType.S8 or data.quantization is None:
        return None
    factor = softmax_real_factor(data.quantization.scale, op.attributes.beta)
    return None if factor > 1 else f": {data.quantization.scale:g} * {op.attributes.beta:g}"


def vector_count(graph: Graph, op: Op) -> str | None:
    """more than 65535 vectors"""
    shape = input_tensor(graph, op, 0).shape
    count = input_tensor(graph, op, 0).elements // shape[-1]
    return None if count <= MAX_U16 else f": {count}"


#: The float kernel calls expf, whose last bits differ between C libraries; outputs are 0 to 1.
TOLERANCE = 2.0**-20


class Softmax(OpSpec):
    kind = "SOFTMAX"
    doc = "Softmax over the last axis."
    kernels = (K_SOFTMAX_S8, K_SOFTMAX_F32)
    options = "SoftmaxOptions"
    attributes = SoftmaxAttributes
    requirements = (common.activation_type, common.same_type, rank, common.same_shape, common.quantized_streams)
    rules = (sigmoid_quantization, input_scale, vector_count)

    def read_attributes(self, options: Any, inputs: Sequence[Tensor | None]) -> SoftmaxAttributes:
        return SoftmaxAttributes(options.Beta())

    def lower(self, graph: Graph, op: Op) -> tuple[Work, ...]:
        data, output = input_tensor(graph, op, 0), output_tensor(graph, op)
        depth = data.shape[-1]
        vectors = data.elements // depth
        beta: float = op.attributes.beta
        params: dict[str, Value | Constant | None] = {"vectors": vectors, "depth": depth}
        quantized = data.dtype is DType.S8
        if quantized:
            assert data.quantization
            params["table"] = int32_constant(softmax_table(data.quantization.scale, beta))
        else:
            params["beta"] = beta
        vector_bytes = depth * data.dtype.bytes
        rows = rows_of(output)
        if rows.bytes % vector_bytes:
            rows = Rows(vectors, vector_bytes, 1)
        return (
            Work(
                kernel=K_SOFTMAX_S8 if quantized else K_SOFTMAX_F32,
                params=params,
                output=operand(graph, op.outputs[0], rows),
                inputs=(operand(graph, op.inputs[0], rows),),
                maps=(same_rows(rows.count),),
                source=op.source,
                first_row=0,
                row_count=rows.count,
                tolerance=0.0 if quantized else TOLERANCE,
            ),
        )
