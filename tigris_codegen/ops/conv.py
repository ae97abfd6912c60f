"""CONV_2D and DEPTHWISE_CONV_2D."""

from __future__ import annotations

from tigris_codegen.ops.spec import Kernel
from tigris_codegen.plan.fields import Field, Struct

CONV_2D_S8 = Struct(
    "conv_2d_s8_params",
    "CONV_2D, int8: weights [out_c, kernel_h, kernel_w, in_c].",
    (
        Field("in_h", "u16", "input height (the band axis)"),
        Field("in_w", "u16", "input width"),
        Field("in_c", "u16", "input channels"),
        Field("out_h", "u16", "output height"),
        Field("out_w", "u16", "output width"),
        Field("out_c", "u16", "output channels"),
        Field("kernel_h", "u16", "filter height"),
        Field("kernel_w", "u16", "filter width"),
        Field("stride_h", "u16", "vertical stride"),
        Field("stride_w", "u16", "horizontal stride"),
        Field("dilation_h", "u16", "vertical dilation"),
        Field("dilation_w", "u16", "horizontal dilation"),
        Field("pad_top", "u16", "implicit rows above the input"),
        Field("pad_left", "u16", "implicit columns left of the input"),
        Field("weights", "const", "int8 weights"),
        Field("bias", "const", "int32 per output channel; absent = 0"),
        Field("quantization", "const", "out_c int32 multipliers, then out_c int32 shifts"),
        Field("input_offset", "i16", "added to each input value; 0 where it is folded into the bias"),
        Field("output_offset", "i16", "added to each output value"),
        Field("act_min", "i8", "smallest output value"),
        Field("act_max", "i8", "largest output value"),
        Field("reserved", "u16", "0"),
    ),
)

CONV_2D_F32 = Struct(
    "conv_2d_f32_params",
    "CONV_2D, float: weights [out_c, kernel_h, kernel_w, in_c].",
    (
        Field("in_h", "u16", "input height (the band axis)"),
        Field("in_w", "u16", "input width"),
        Field("in_c", "u16", "input channels"),
        Field("out_h", "u16", "output height"),
        Field("out_w", "u16", "output width"),
        Field("out_c", "u16", "output channels"),
        Field("kernel_h", "u16", "filter height"),
        Field("kernel_w", "u16", "filter width"),
        Field("stride_h", "u16", "vertical stride"),
        Field("stride_w", "u16", "horizontal stride"),
        Field("dilation_h", "u16", "vertical dilation"),
        Field("dilation_w", "u16", "horizontal dilation"),
        Field("pad_top", "u16", "implicit rows above the input"),
        Field("pad_left", "u16", "implicit columns left of the input"),
        Field("weights", "const", "float weights"),
        Field("bias", "const", "float per output channel; absent = 0"),
        Field("act_min", "f32", "smallest output value"),
        Field("act_max", "f32", "largest output value"),
    ),
)

DEPTHWISE_CONV_2D_S8 = Struct(
    "depthwise_conv_2d_s8_params",
    "DEPTHWISE_CONV_2D, int8: weights [kernel_h, kernel_w, out_c]; out_c is a multiple of in_c.",
    (
        Field("in_h", "u16", "input height (the band axis)"),
        Field("in_w", "u16", "input width"),
        Field("in_c", "u16", "input channels"),
        Field("out_h", "u16", "output height"),
        Field("out_w", "u16", "output width"),
        Field("out_c", "u16", "output channels"),
        Field("kernel_h", "u16", "filter height"),
        Field("kernel_w", "u16", "filter width"),
        Field("stride_h", "u16", "vertical stride"),
        Field("stride_w", "u16", "horizontal stride"),
        Field("dilation_h", "u16", "vertical dilation"),
        Field("dilation_w", "u16", "horizontal dilation"),
        Field("pad_top", "u16", "implicit rows above the input"),
        Field("pad_left", "u16", "implicit columns left of the input"),
        Field("weights", "const", "int8 weights"),
        Field("bias", "const", "int32 per output channel; absent = 0"),
        Field("quantization", "const", "out_c int32 multipliers, then out_c int32 shifts"),
        Field("input_offset", "i16", "added to each input value; 0 where it is folded into the bias"),
        Field("output_offset", "i16", "added to each output value"),
        Field("act_min", "i8", "smallest output value"),
        Field("act_max", "i8", "largest output value"),
        Field("reserved", "u16", "0"),
    ),
)

DEPTHWISE_CONV_2D_F32 = Struct(
    "depthwise_conv_2d_f32_params",
    "DEPTHWISE_CONV_2D, float: weights [kernel_h, kernel_w, out_c]; out_c is a multiple of in_c.",
    (
        Field("in_h", "u16", "input height (the band axis)"),
        Field("in_w", "u16", "input width"),
        Field("in_c", "u16", "input channels"),
        Field("out_h", "u16", "output height"),
        Field("out_w", "u16", "output width"),
        Field("out_c", "u16", "output channels"),
        Field("kernel_h", "u16", "filter height"),
        Field("kernel_w", "u16", "filter width"),
        Field("stride_h", "u16", "vertical stride"),
        Field("stride_w", "u16", "horizontal stride"),
        Field("dilation_h", "u16", "vertical dilation"),
        Field("dilation_w", "u16", "horizontal dilation"),
        Field("pad_top", "u16", "implicit rows above the input"),
        Field("pad_left", "u16", "implicit columns left of the input"),
        Field("weights", "const", "float weights"),
        Field("bias", "const", "float per output channel; absent = 0"),
        Field("act_min", "f32", "smallest output value"),
        Field("act_max", "f32", "largest output value"),
    ),
)

K_CONV_2D_S8 = Kernel(1, "conv_2d_s8", CONV_2D_S8, "window", "2-D convolution, int8")
K_CONV_2D_F32 = Kernel(2, "conv_2d_f32", CONV_2D_F32, "window", "2-D convolution, float")
K_DEPTHWISE_CONV_2D_S8 = Kernel(
    3, "depthwise_conv_2d_s8", DEPTHWISE_CONV_2D_S8, "window", "depthwise 2-D convolution, int8"
)
K_DEPTHWISE_CONV_2D_F32 = Kernel(
    4, "depthwise_conv_2d_f32", DEPTHWISE_CONV_2D_F32, "window", "depthwise 2-D convolution, float"
)
