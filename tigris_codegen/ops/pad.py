"""PAD."""

from __future__ import annotations

from tigris_codegen.ops.spec import Kernel
from tigris_codegen.plan.fields import Field, Struct

PAD_S8 = Struct(
    "pad_s8_params",
    "PAD, int8.",
    (
        Field("in_dims", "u16", "input as [images, band axis, inner, innermost]", 4),
        Field("out_dims", "u16", "output likewise", 4),
        Field("before", "u16", "elements added in front of each axis", 4),
        Field("value", "i32", "value of the added elements"),
    ),
)

PAD_F32 = Struct(
    "pad_f32_params",
    "PAD, float.",
    (
        Field("in_dims", "u16", "input as [images, band axis, inner, innermost]", 4),
        Field("out_dims", "u16", "output likewise", 4),
        Field("before", "u16", "elements added in front of each axis", 4),
        Field("value", "f32", "value of the added elements"),
    ),
)

K_PAD_S8 = Kernel(22, "pad_s8", PAD_S8, "pad", "padding, int8")
K_PAD_F32 = Kernel(23, "pad_f32", PAD_F32, "pad", "padding, float")
