"""AVERAGE_POOL_2D and MAX_POOL_2D."""

from __future__ import annotations

from tigris_codegen.ops.spec import Kernel
from tigris_codegen.plan.fields import Field, Struct

POOL_2D_S8 = Struct(
    "pool_2d_s8_params",
    "AVERAGE_POOL_2D and MAX_POOL_2D, int8.",
    (
        Field("in_h", "u16", "input height (the band axis)"),
        Field("in_w", "u16", "input width"),
        Field("channels", "u16", "channels"),
        Field("out_h", "u16", "output height"),
        Field("out_w", "u16", "output width"),
        Field("kernel_h", "u16", "window height"),
        Field("kernel_w", "u16", "window width"),
        Field("stride_h", "u16", "vertical stride"),
        Field("stride_w", "u16", "horizontal stride"),
        Field("pad_top", "u16", "implicit rows above the input"),
        Field("pad_left", "u16", "implicit columns left of the input"),
        Field("act_min", "i8", "smallest output value"),
        Field("act_max", "i8", "largest output value"),
    ),
)

POOL_2D_F32 = Struct(
    "pool_2d_f32_params",
    "AVERAGE_POOL_2D and MAX_POOL_2D, float.",
    (
        Field("in_h", "u16", "input height (the band axis)"),
        Field("in_w", "u16", "input width"),
        Field("channels", "u16", "channels"),
        Field("out_h", "u16", "output height"),
        Field("out_w", "u16", "output width"),
        Field("kernel_h", "u16", "window height"),
        Field("kernel_w", "u16", "window width"),
        Field("stride_h", "u16", "vertical stride"),
        Field("stride_w", "u16", "horizontal stride"),
        Field("pad_top", "u16", "implicit rows above the input"),
        Field("pad_left", "u16", "implicit columns left of the input"),
        Field("reserved", "u16", "0"),
        Field("act_min", "f32", "smallest output value"),
        Field("act_max", "f32", "largest output value"),
    ),
)

K_AVERAGE_POOL_2D_S8 = Kernel(7, "average_pool_2d_s8", POOL_2D_S8, "pool", "average pooling, int8")
K_AVERAGE_POOL_2D_F32 = Kernel(8, "average_pool_2d_f32", POOL_2D_F32, "pool", "average pooling, float")
K_MAX_POOL_2D_S8 = Kernel(9, "max_pool_2d_s8", POOL_2D_S8, "pool", "maximum pooling, int8")
K_MAX_POOL_2D_F32 = Kernel(10, "max_pool_2d_f32", POOL_2D_F32, "pool", "maximum pooling, float")
