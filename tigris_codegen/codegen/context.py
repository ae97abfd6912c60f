"""The project context: every value that a template prints, computed here so that templates only loop and branch."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from tigris_codegen.boards import Board, Framework, FrameworkName
from tigris_codegen.codegen.board_context import BoardContext, board_context
from tigris_codegen.codegen.placement import Placement
from tigris_codegen.codegen.vectors import TestVector
from tigris_codegen.errors import UsageError
from tigris_codegen.plan.layout import FORMAT_VERSION, DTypeId
from tigris_codegen.plan.plan import DTYPE_NAMES, Plan, Port

C_TYPES = {
    DTypeId.S8: "int8_t",
    DTypeId.U8: "uint8_t",
    DTypeId.S16: "int16_t",
    DTypeId.S32: "int32_t",
    DTypeId.S64: "int64_t",
    DTypeId.F32: "float",
    DTypeId.BOOL: "uint8_t",
}
#: Types that quantized values have -> their limits in C.
LIMITS = {
    DTypeId.S8: ("INT8_MIN", "INT8_MAX"),
    DTypeId.U8: ("0", "UINT8_MAX"),
    DTypeId.S16: ("INT16_MIN", "INT16_MAX"),
    DTypeId.S32: ("INT32_MIN", "INT32_MAX"),
}
#: Names whose header would hide one of C's or of the project's, or whose build target exists already.
_C_HEADERS = (
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdarg stdbool stddef "
    "stdint stdio stdlib string tgmath time wchar wctype"
)
_PROJECT_NAMES = "board console device platform selftest vectors all clean firmware help install m package test"
#: Size of a core's handles (see the core's C template) where pointers have 32 and 64 bits; the C files assert it.
HANDLE_BYTES, HANDLE_BYTES_64 = 72, 144
RESERVED = frozenset(f"{_C_HEADERS} {_PROJECT_NAMES}".split(" "))


@dataclass(frozen=True)
class PortContext:
    """A model input or output. Texts are C, `label` is safe inside comments and Markdown."""

    index: int
    kind: str
    label: str
    string: str
    c_type: str
    dtype: str
    dtype_id: str
    is_float: bool
    bytes: int
    elements: int
    rank: int
    dims: str
    shape: str
    quantized: bool
    scale: str
    scale_text: str
    zero_point: int
    minimum: str
    maximum: str


@dataclass(frozen=True)
class KernelContext:
    """A linked kernel and the macro of its id."""

    name: str
    id: str


@dataclass(frozen=True)
class SurroundingsContext:
    """What a core finds around it: linker sections of the arenas and the plan, and what its stack figure means."""

    fast_section: str
    slow_section: str
    plan_section: str
    stack_note: str


#: Any linker script takes these sections with its other variables and constants, and may place each by its name.
IN_FIRMWARE = SurroundingsContext(
    ".bss.tigris_fast",
    ".bss.tigris_slow",
    ".rodata.tigris_plan",
    "The stack that an inference takes at most on Cortex-M (GCC, -O2 or -Os), above that of its caller.",
)
#: What a stack figure means where the project reserves the stack.
PROJECT_STACK_NOTE = "The stack that the project reserves, interrupts and the application included."
#: Stack of the deepest kernel and the executor, with room for the C library below; tests measure it.
CORE_STACK_BYTES = 1024


@dataclass(frozen=True)
class CoreContext:
    """The model. Sizes in bytes."""

    name: str
    upper: str
    fast_bytes: int
    slow_bytes: int
    state_bytes: int
    workspace_bytes: int
    scratch_bytes: int
    ram_bytes: int
    handle_bytes: int
    handle_bytes_64: int
    stack_bytes: int
    surroundings: SurroundingsContext
    plan_format: int
    plan_bytes: int
    plan_lines: tuple[str, ...]
    model_hash: str
    tolerance: str
    exact: bool
    kernels: tuple[KernelContext, ...]
    inputs: tuple[PortContext, ...]
    outputs: tuple[PortContext, ...]


@dataclass(frozen=True)
class BlockContext:
    """Bytes as lines of a C initialiser."""

    name: str
    bytes: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class VectorContext:
    """A test vector: the arrays that hold it."""

    inputs: tuple[BlockContext, ...]
    outputs: tuple[BlockContext, ...]


@dataclass(frozen=True)
class ProjectContext:
    """Everything that a template may use; the keys are those of its cookiecutter.json.

    `framework` is what the board file says of the framework, `details` what the framework's own module makes of it.
    """

    project: str
    version: str
    backend: str
    core: CoreContext
    board: BoardContext
    placement: Placement
    framework: Framework
    details: Mapping[str, object]
    vectors: tuple[VectorContext, ...]
    runtime_sources: tuple[str, ...]


def check_core_name(name: str) -> None:
    """UsageError unless `name` can be the prefix of C functions and macros."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise UsageError(f"{name!r} cannot name the core: it is no C identifier.", f"try {core_name_for(name)}")
    if _is_reserved(name):
        raise UsageError(f"{name!r} cannot name the core: the name is taken.", f"try {core_name_for(name)}")


def _is_reserved(name: str) -> bool:
    return name.lower() in RESERVED or name.lower().startswith("tigris")


def core_name_for(text: str) -> str:
    """A core name made from a file name: `KWS-int8.v2` -> `kws_int8_v2`."""
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    if not name or name[0].isdigit() or _is_reserved(name):
        name = f"model_{name}".rstrip("_")
    return name


def hex_lines(data: bytes) -> tuple[str, ...]:
    """A C initialiser of the bytes, 16 to a line."""
    rows = (data[at : at + 16] for at in range(0, len(data), 16))
    return tuple(", ".join(f"0x{byte:02x}" for byte in row) + "," for row in rows)


def float_literal(value: float) -> str:
    """A C float literal that reads back as exactly this float32."""
    rounded = struct.unpack("<f", struct.pack("<f", value))[0]
    text = f"{rounded:.9g}"
    return (text if any(c in text for c in ".e") else text + ".0") + "f"


def _label(name: str) -> str:
    """A tensor's name where only plain text may stand. The name is the model's, so it may hold anything."""
    plain = "".join(c if c.isascii() and c.isprintable() and c not in "*`\\|<>{}" else "?" for c in name)
    return plain or "?"


def _c_string(name: str) -> str:
    """A C string literal. Every byte that is not a plain character is an octal escape, which ends by itself."""
    plain = set(range(0x20, 0x7F)) - set(b'"\\?')
    return '"' + "".join(chr(b) if b in plain else f"\\{b:03o}" for b in name.encode()) + '"'


def _port(kind: str, index: int, port: Port) -> PortContext:
    minimum, maximum = LIMITS.get(port.dtype, ("", ""))
    return PortContext(
        index=index,
        kind=kind,
        label=_label(port.name),
        string=_c_string(port.name),
        c_type=C_TYPES[port.dtype],
        dtype=DTYPE_NAMES[port.dtype],
        dtype_id=f"TIGRIS_DTYPE_{port.dtype.name}",
        is_float=port.dtype is DTypeId.F32,
        bytes=port.bytes,
        elements=prod(port.shape),
        rank=len(port.shape),
        dims=", ".join(f"{d}u" for d in port.shape) or "1u",
        shape=" x ".join(str(d) for d in port.shape) or "scalar",
        quantized=port.scale != 0 and port.dtype in LIMITS,
        scale=float_literal(port.scale),
        scale_text=float_literal(port.scale).removesuffix("f"),
        zero_point=port.zero_point,
        minimum=minimum,
        maximum=maximum,
    )


def core_context(
    plan: Plan, plan_bytes: bytes, name: str, surroundings: SurroundingsContext, stack_bytes: int
) -> CoreContext:
    """What the core's C files print."""
    return CoreContext(
        name=name,
        upper=name.upper(),
        fast_bytes=plan.fast_bytes,
        slow_bytes=plan.slow_bytes,
        state_bytes=plan.state_bytes,
        workspace_bytes=plan.workspace_bytes,
        scratch_bytes=plan.scratch_bytes,
        ram_bytes=plan.ram_bytes,
        handle_bytes=HANDLE_BYTES,
        handle_bytes_64=HANDLE_BYTES_64,
        stack_bytes=stack_bytes,
        surroundings=surroundings,
        plan_format=FORMAT_VERSION,
        plan_bytes=len(plan_bytes),
        plan_lines=hex_lines(plan_bytes),
        model_hash=plan.model_hash[:16].hex(),
        tolerance=float_literal(plan.tolerance),
        exact=plan.tolerance == 0,
        kernels=tuple(KernelContext(k, f"TIGRIS_KERNEL_{k.upper()}") for k in plan.kernels),
        inputs=tuple(_port("input", i, p) for i, p in enumerate(plan.inputs)),
        outputs=tuple(_port("output", i, p) for i, p in enumerate(plan.outputs)),
    )


def plan_backend(plan: Plan) -> str:
    """The name of the backend that a plan was made for."""
    return plan.backend.name.lower().replace("_", "-")


def _blocks(number: int, kind: str, blocks: Iterable[bytes]) -> tuple[BlockContext, ...]:
    return tuple(
        BlockContext(f"vector_{number}_{kind}_{i}", len(data), hex_lines(data)) for i, data in enumerate(blocks)
    )


def project_context(
    plan: Plan,
    plan_bytes: bytes,
    board: Board,
    framework: FrameworkName,
    placement: Placement,
    vectors: Sequence[TestVector],
    runtime_sources: tuple[str, ...],
    *,
    core_name: str,
    version: str,
    surroundings: SurroundingsContext,
    details: Mapping[str, object],
) -> ProjectContext:
    """All that the templates print."""
    return ProjectContext(
        project=core_name,
        version=version,
        backend=plan_backend(plan),
        core=core_context(plan, plan_bytes, core_name, surroundings, board.frameworks[framework].stack),
        board=board_context(board),
        placement=placement,
        framework=board.frameworks[framework],
        details=details,
        vectors=tuple(
            VectorContext(_blocks(n, "input", v.inputs), _blocks(n, "output", v.outputs)) for n, v in enumerate(vectors)
        ),
        runtime_sources=runtime_sources,
    )
