"""RELU, RELU6 and LOGISTIC: functions of one element."""

from __future__ import annotations

from tigris_codegen.ops.spec import Kernel
from tigris_codegen.plan.fields import Field, Struct

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
