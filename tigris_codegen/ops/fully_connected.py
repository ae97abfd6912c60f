"""FULLY_CONNECTED."""

from __future__ import annotations

from tigris_codegen.ops.spec import Kernel
from tigris_codegen.plan.fields import Field, Struct

FULLY_CONNECTED_S8 = Struct(
    "fully_connected_s8_params",
    "FULLY_CONNECTED, int8: weights [out_features, in_features]; the bias holds the input zero point already.",
    (
        Field("positions", "u32", "vectors multiplied (batch and leading dimensions)"),
        Field("in_features", "u32", "elements of an input vector"),
        Field("out_features", "u32", "elements of an output vector"),
        Field("weights", "const", "int8 weights"),
        Field("bias", "const", "int32 per output feature; absent = 0"),
        Field("quantization", "const", "multipliers, then shifts: int32, one per channel or one each"),
        Field("output_offset", "i16", "added to each output value"),
        Field("act_min", "i8", "smallest output value"),
        Field("act_max", "i8", "largest output value"),
        Field("per_channel", "u16", "1: out_features multipliers and shifts, 0: one of each"),
        Field("reserved", "u16", "0"),
    ),
)

FULLY_CONNECTED_F32 = Struct(
    "fully_connected_f32_params",
    "FULLY_CONNECTED, float: weights [out_features, in_features].",
    (
        Field("positions", "u32", "vectors multiplied (batch and leading dimensions)"),
        Field("in_features", "u32", "elements of an input vector"),
        Field("out_features", "u32", "elements of an output vector"),
        Field("weights", "const", "float weights"),
        Field("bias", "const", "float per output channel; absent = 0"),
        Field("act_min", "f32", "smallest output value"),
        Field("act_max", "f32", "largest output value"),
    ),
)

K_FULLY_CONNECTED_S8 = Kernel(5, "fully_connected_s8", FULLY_CONNECTED_S8, "matrix", "matrix product, int8")
K_FULLY_CONNECTED_F32 = Kernel(6, "fully_connected_f32", FULLY_CONNECTED_F32, "matrix", "matrix product, float")
