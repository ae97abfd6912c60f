"""MEAN."""

from __future__ import annotations

from tigris_codegen.ops.spec import Kernel
from tigris_codegen.plan.fields import Field, Struct

MEAN_S8 = Struct(
    "mean_s8_params",
    "MEAN, int8: sum, then one multiplication that also divides by the count.",
    (
        Field("dims", "u32", "input as [kept, reduced, kept, reduced, kept], unused ones 1", 5),
        Field("multiplier", "i32", "of the sum"),
        Field("shift", "i32", "of the sum"),
        Field("input_zero_point", "i16", "times the count, subtracted from the sum"),
        Field("output_offset", "i16", "added to each output value"),
    ),
)

MEAN_F32 = Struct(
    "mean_f32_params",
    "MEAN, float.",
    (Field("dims", "u32", "input as [kept, reduced, kept, reduced, kept], unused ones 1", 5),),
)

K_MEAN_S8 = Kernel(24, "mean_s8", MEAN_S8, "mean", "mean, int8")
K_MEAN_F32 = Kernel(25, "mean_f32", MEAN_F32, "mean", "mean, float")
