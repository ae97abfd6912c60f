"""ADD and MUL."""

from __future__ import annotations

from tigris_codegen.ops.spec import Kernel
from tigris_codegen.plan.fields import Field, Struct

BINARY_S8 = Struct(
    "binary_s8_params",
    "ADD and MUL, int8, operands broadcast.",
    (
        Field("dims", "u32", "output rows, then the dimensions inside a row, unused ones 1; rank 6 at most", 6),
        Field("repeat_a", "u8", "bit i: input a has one index along dims[i], used for all of them"),
        Field("repeat_b", "u8", "bit i: input b has one index along dims[i], used for all of them"),
        Field("act_min", "i8", "smallest output value"),
        Field("act_max", "i8", "largest output value"),
        Field("multiplier_a", "i32", "of input a (ADD)"),
        Field("multiplier_b", "i32", "of input b (ADD)"),
        Field("multiplier_out", "i32", "of the result"),
        Field("offset_a", "i16", "added to each value of a"),
        Field("offset_b", "i16", "added to each value of b"),
        Field("output_offset", "i16", "added to each output value"),
        Field("shift_a", "i8", "of input a (ADD)"),
        Field("shift_b", "i8", "of input b (ADD)"),
        Field("shift_out", "i8", "of the result"),
        Field("left_shift", "i8", "of both inputs first (ADD)"),
        Field("reserved", "u16", "0"),
    ),
)

BINARY_F32 = Struct(
    "binary_f32_params",
    "ADD and MUL, float, operands broadcast.",
    (
        Field("dims", "u32", "output rows, then the dimensions inside a row, unused ones 1; rank 6 at most", 6),
        Field("repeat_a", "u8", "bit i: input a has one index along dims[i], used for all of them"),
        Field("repeat_b", "u8", "bit i: input b has one index along dims[i], used for all of them"),
        Field("reserved", "u16", "0"),
        Field("act_min", "f32", "smallest output value"),
        Field("act_max", "f32", "largest output value"),
    ),
)

K_ADD_S8 = Kernel(11, "add_s8", BINARY_S8, "broadcast", "addition, int8")
K_ADD_F32 = Kernel(12, "add_f32", BINARY_F32, "broadcast", "addition, float")
K_MUL_S8 = Kernel(13, "mul_s8", BINARY_S8, "broadcast", "multiplication, int8")
K_MUL_F32 = Kernel(14, "mul_f32", BINARY_F32, "broadcast", "multiplication, float")
