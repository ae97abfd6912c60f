"""CONCATENATION: one piece of work per input."""

from __future__ import annotations

from tigris_codegen.ops.spec import Kernel
from tigris_codegen.plan.fields import Field, Struct

CONCATENATION = Struct(
    "concatenation_params",
    "One input of CONCATENATION, copied to its place in the output.",
    (
        Field("in_rows", "u32", "rows of the input in one image"),
        Field("out_rows", "u32", "rows of the output in one image"),
        Field("first_row", "u32", "row of the output's image where the input's first row goes"),
        Field("blocks", "u32", "blocks in a row"),
        Field("in_block", "u32", "bytes of the input's block"),
        Field("out_block", "u32", "bytes from one block of the output to the next"),
        Field("offset", "u32", "bytes in front of the input's data in the output's block"),
    ),
)

K_CONCATENATION_S8 = Kernel(26, "concatenation_s8", CONCATENATION, "place", "one input of a concatenation, int8")
K_CONCATENATION_F32 = Kernel(27, "concatenation_f32", CONCATENATION, "place", "one input of a concatenation, float")
