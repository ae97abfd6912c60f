"""SOFTMAX."""

from __future__ import annotations

from tigris_codegen.ops.spec import Kernel
from tigris_codegen.plan.fields import Field, Struct

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
