"""The plan file (`.tgrs`), byte by byte: the one field table.

`tools/generate.py` writes `runtime/include/tigris_format.h` and the tables of `docs/PLAN_FORMAT.md` from it.
Kernel ids and kernel parameters are not here: each operator's home in `ops/` declares them.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag

from tigris_codegen.plan.fields import Field, Struct

MAGIC = 0x53524754  # "TGRS", read as a little-endian word
FORMAT_VERSION = 1
ALIGNMENT = 16  # of sections, storage bases and constants, in bytes
ABSENT = 0xFFFF  # an operand, tensor or source that there is not
ABSENT_CONST = 0xFFFFFFFF  # a constant that an operator does not have
CONST_OFFSET_BITS = 28
MAX_ROWS = 0xFFFF
MAX_WINDOW = 0xFF
MAX_STEPS = 1 << 20  # records that a schedule executes, every pass of a REPEAT counted


class Section(IntEnum):
    """Sections in file order."""

    OPERATORS = 0
    OPERANDS = 1
    SCHEDULE = 2
    INTERFACE = 3
    PARAMS = 4
    CONSTANTS = 5
    NAMES = 6


class Space(IntEnum):
    """Where an operand lives."""

    FAST = 0
    SLOW = 1
    STATE = 2
    CONSTANTS = 3
    EXTERNAL = 4


class Kind(IntEnum):
    """What a record does; 0 is no kind. BRANCH, LOOP and FEED have their ids; no plan of version 1 uses them yet."""

    RUN = 1
    SHIFT = 2
    COPY = 3
    UNPACK = 4
    BRANCH = 5
    LOOP = 6
    FEED = 7
    REPEAT = 8


class Flag(IntFlag):
    """Flags of a RUN record."""

    PART = 1  # the rows are rows of input 0, folded into the accumulator
    FIRST = 2  # initialise the accumulator first
    LAST = 4  # write the output after the last row


class Backend(IntEnum):
    """Whose kernels a plan needs."""

    REFERENCE = 0


class DTypeId(IntEnum):
    """Element types of model inputs and outputs."""

    S8 = 1
    U8 = 2
    S16 = 3
    S32 = 4
    S64 = 5
    F32 = 6
    BOOL = 7


HEADER = Struct(
    "header",
    "The first bytes of a plan.",
    (
        Field("magic", "u32", "`TGRS`"),
        Field("version", "u16", "format version, 1"),
        Field("backend", "u16", "backend the plan was made for"),
        Field("file_bytes", "u32", "length of the whole file"),
        Field("crc32", "u32", "CRC-32 (IEEE) of the whole file, this field taken as zero"),
        Field("model_hash", "u8", "first 16 bytes of the SHA-256 of the model file", 16),
        Field("fast_bytes", "u32", "fast arena, scratch included"),
        Field("slow_bytes", "u32", "slow arena"),
        Field("state_bytes", "u32", "state that survives from run to run"),
        Field("scratch_bytes", "u32", "largest scratch of an operator (part of the fast arena)"),
        Field("inputs", "u16", "model inputs: the first entries of the interface section"),
        Field("outputs", "u16", "model outputs: the entries behind them"),
        Field("tolerance", "f32", "largest absolute difference of a float output behind libm functions; 0 = exact"),
        Field("sections", "u32", "offset and length in bytes of each section, in section order", 14),
    ),
)

OPERATOR = Struct(
    "operator",
    "One kernel with its parameters and operands.",
    (
        Field("kernel", "u16", "kernel id"),
        Field("source", "u16", "index of the operator in the model's file, 65535 for one that the compiler added"),
        Field("params", "u32", "offset of the parameter struct in the parameters section"),
        Field("output", "u16", "operand written"),
        Field("input", "u16", "operands read, 65535 where there is none", 3),
        Field("accumulator", "u16", "32-bit sums of a reduction in parts, 65535 where there is none"),
        Field("scratch", "u16", "working memory, 65535 where there is none"),
    ),
)

OPERAND = Struct(
    "operand",
    "A range of memory seen as rows. Row r is at offset + r * row_bytes; in a window, the record names the place.",
    (
        Field("location", "u32", "space in the top 4 bits, byte offset in the other 28"),
        Field("row_bytes", "u32", "bytes from one row to the next"),
        Field("rows", "u16", "rows of the tensor"),
        Field("window", "u16", "rows that the memory holds; 0 = all"),
        Field("tensor", "u16", "number of the tensor, for verifiers; 65535 = none (working memory, constants)"),
        Field("reserved", "u16", "0"),
    ),
)

RECORD = Struct(
    "record",
    "One step of the schedule (see the kinds for what each field means).",
    (
        Field("kind", "u8", "record kind"),
        Field("flags", "u8", "flags of a RUN record"),
        Field("target", "u16", "operator (RUN), operand (SHIFT, COPY), records in the body (REPEAT)"),
        Field("row", "u16", "first row (RUN, COPY), first row kept (SHIFT), passes (REPEAT)"),
        Field("rows", "u16", "number of rows"),
        Field("channel", "u16", "first output channel (RUN); operand copied from (COPY)"),
        Field("channels", "u16", "output channels (RUN); 0 = all"),
        Field("advance", "u8", "inside a REPEAT: what each pass adds to `row`"),
        Field("slot", "u8", "place in its window of the first row written (0), or read from input 0 and 1 (1, 2)", 3),
    ),
)

INTERFACE = Struct(
    "interface",
    "One model input or output.",
    (
        Field("name", "u32", "offset in the names section of a NUL-terminated UTF-8 string"),
        Field("operand", "u16", "where it lives"),
        Field("dtype", "u8", "element type"),
        Field("rank", "u8", "number of dimensions, 0 to 6"),
        Field("shape", "u32", "dimensions, unused ones 1", 6),
        Field("scale", "f32", "real = scale * (value - zero_point); 0 = not quantized"),
        Field("zero_point", "i32", "see scale"),
    ),
)

EXECUTOR = Struct(
    "executor",
    "The executor workspace: everything besides arenas and state that inference writes. Not part of the file.",
    (
        Field("record", "u32", "next record"),
        Field("body", "u32", "first record of the running REPEAT's body"),
        Field("body_end", "u32", "record behind that body; 0 outside a REPEAT"),
        Field("passes_done", "u32", "passes of the running REPEAT that are over"),
        Field("passes", "u32", "passes of the running REPEAT"),
    ),
)

STRUCTS = (HEADER, OPERATOR, OPERAND, RECORD, INTERFACE, EXECUTOR)
ENUMS = (Section, Space, Kind, Flag, Backend, DTypeId)
