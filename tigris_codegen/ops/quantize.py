"""QUANTIZE and DEQUANTIZE."""

from __future__ import annotations

from tigris_codegen.ops.spec import Kernel
from tigris_codegen.plan.fields import Field, Struct

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
