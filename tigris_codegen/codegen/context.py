"""The project context: every value that a template prints, computed here so that templates only loop and branch."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from tigris_codegen.boards import Board, Framework, FrameworkName
from tigris_codegen.codegen.board_context import BoardContext, board_context
from tigris_codegen.codegen.models import CoreModel, need_together, project_name
from tigris_codegen.codegen.placement import Placement
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
#: Size of a core's handles (see the core's C template) where pointers have 32 and 64 bits; the C files assert it.
HANDLE_BYTES, HANDLE_BYTES_64 = 72, 144


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
    """What a core finds around it: linker sections of the arenas and the plan, and what its stack figure means.

    With `hooks` the project finds the plan and is called before each step of an inference; see the core's `_plan.h`.
    """

    fast_section: str
    slow_section: str
    plan_section: str
    stack_note: str
    hooks: bool = False


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
class ArenaContext:
    """An arena that several cores share: one of them at a time has it. Sizes in bytes; `users` are the cores' names."""

    name: str
    upper: str
    users: tuple[str, ...]
    fast_bytes: int
    slow_bytes: int
    ram_bytes: int
    surroundings: SurroundingsContext


@dataclass(frozen=True)
class CoreContext:
    """The model. Sizes in bytes.

    `arena` is the shared one, None where the core has its own; `number` is the core's there, from 1 on. `busy` and
    `fast`, `slow` are C: the flag that a run is under way, the arenas. `own_state` says that the core brings a buffer
    for its state, `run` is the C of an inference with it.
    """

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
    number: int
    arena: ArenaContext | None
    busy: str
    fast: str
    slow: str
    own_state: bool
    run: str
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
    """A test vector of a core: the arrays that hold it."""

    core: str
    inputs: tuple[BlockContext, ...]
    outputs: tuple[BlockContext, ...]


@dataclass(frozen=True)
class RunContext:
    """A run of the self-test: which core's vector, and whether over painted arenas or what the run before left."""

    core: int
    vector: int
    painted: bool


@dataclass(frozen=True)
class SelftestContext:
    """What the self-test does. `ram` and `beside_arenas` are C: the stated RAM, and what of it is in no arena."""

    runs: tuple[RunContext, ...]
    ram: str
    beside_arenas: str
    compares_bytes: bool
    compares_floats: bool


@dataclass(frozen=True)
class MemoryContext:
    """What all cores need together, in bytes; what is the caller's or reserved once is the largest of them."""

    fast_bytes: int
    slow_bytes: int
    state_bytes: int
    workspace_bytes: int
    scratch_bytes: int
    ram_bytes: int
    handle_bytes: int
    handle_bytes_64: int
    stack_bytes: int
    plan_bytes: int


@dataclass(frozen=True)
class ProjectContext:
    """Everything that a template may use; the keys are those of its cookiecutter.json.

    `project` is the name of the project: that of its core, of several cores their names together; `core` is the first
    of `cores`. `framework` is what the board file says of the framework, `details` what the framework's own module
    makes of it. `core_sources` are the C files of the cores and of the arena they share, by path in the project.
    """

    project: str
    version: str
    backend: str
    runtime: str
    core: CoreContext
    cores: tuple[CoreContext, ...]
    arena: ArenaContext | None
    memory: MemoryContext
    selftest: SelftestContext
    core_sources: tuple[str, ...]
    board: BoardContext
    placement: Placement
    framework: Framework
    details: Mapping[str, object]
    vectors: tuple[VectorContext, ...]
    runtime_sources: tuple[str, ...]


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


def arena_context(models: Sequence[CoreModel], surroundings: SurroundingsContext) -> ArenaContext:
    """The arena that these models' cores share."""
    name = f"{project_name(models)}_arena"
    need = need_together(models, share_arena=True)
    return ArenaContext(
        name=name,
        upper=name.upper(),
        users=tuple(model.name for model in models),
        fast_bytes=need.fast,
        slow_bytes=need.slow,
        ram_bytes=need.ram,
        surroundings=surroundings,
    )


def core_context(
    model: CoreModel,
    surroundings: SurroundingsContext,
    stack_bytes: int,
    *,
    arena: ArenaContext | None = None,
    own_state: bool = False,
) -> CoreContext:
    """What the core's C files print; `own_state` has it bring a buffer for its state."""
    plan, name = model.plan, model.name
    with_state = f"{name}_run_with_state({name}_state(), {name.upper()}_STATE_BYTES)"
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
        plan_bytes=len(model.data),
        plan_lines=hex_lines(model.data),
        model_hash=plan.model_hash[:16].hex(),
        tolerance=float_literal(plan.tolerance),
        exact=plan.tolerance == 0,
        number=arena.users.index(name) + 1 if arena else 0,
        arena=arena,
        busy=f"{arena.name}.busy" if arena else "handles.busy",
        fast=f"{arena.name}_fast" if arena else "fast_arena",
        slow=f"{arena.name}_slow" if arena else "slow_arena",
        own_state=own_state,
        run=with_state if plan.state_bytes else f"{name}_run()",
        kernels=tuple(KernelContext(k, f"TIGRIS_KERNEL_{k.upper()}") for k in plan.kernels),
        inputs=tuple(_port("input", i, p) for i, p in enumerate(plan.inputs)),
        outputs=tuple(_port("output", i, p) for i, p in enumerate(plan.outputs)),
    )


def plan_backend(plan: Plan) -> str:
    """The name of the backend that a plan was made for."""
    return plan.backend.name.lower().replace("_", "-")


def _blocks(number: int, kind: str, core: str, blocks: Iterable[bytes]) -> tuple[BlockContext, ...]:
    return tuple(
        BlockContext(f"{core}_{number}_{kind}_{i}", len(data), hex_lines(data)) for i, data in enumerate(blocks)
    )


def _vectors(model: CoreModel) -> Iterable[VectorContext]:
    for number, vector in enumerate(model.vectors):
        inputs = _blocks(number, "input", model.name, vector.inputs)
        yield VectorContext(model.name, inputs, _blocks(number, "output", model.name, vector.outputs))


def selftest_runs(vectors: Sequence[int]) -> tuple[RunContext, ...]:
    """The runs of a self-test of cores with so many vectors each.

    Each core's vectors one after the other; then, of several cores, the first vector of each up and down the list
    (A, B, C, B, A), every run in what the one before has left of the memory.
    """
    alone = [RunContext(core, vector, True) for core, count in enumerate(vectors) for vector in range(count)]
    if len(vectors) == 1:
        return tuple(alone)
    order = (*range(len(vectors)), *reversed(range(len(vectors) - 1)))
    return (*alone, *(RunContext(core, 0, False) for core in order))


def _selftest(cores: Sequence[CoreContext], models: Sequence[CoreModel], memory: MemoryContext) -> SelftestContext:
    exact = [port.is_float and not core.exact for core in cores for port in core.outputs]
    return SelftestContext(
        runs=selftest_runs([len(model.vectors) for model in models]),
        ram=f"{cores[0].upper}_RAM_BYTES" if len(cores) == 1 else f"{memory.ram_bytes}u",
        beside_arenas=" + ".join(f"{core.upper}_{what}_BYTES" for core in cores for what in ("STATE", "WORKSPACE")),
        compares_bytes=not all(exact),
        compares_floats=any(exact),
    )


def _memory(models: Sequence[CoreModel], share_arena: bool, stack_bytes: int) -> MemoryContext:
    need = need_together(models, share_arena)
    return MemoryContext(
        fast_bytes=need.fast,
        slow_bytes=need.slow,
        state_bytes=sum(model.plan.state_bytes for model in models),
        workspace_bytes=sum(model.plan.workspace_bytes for model in models),
        scratch_bytes=max(model.plan.scratch_bytes for model in models),
        ram_bytes=need.ram,
        handle_bytes=HANDLE_BYTES * len(models),
        handle_bytes_64=HANDLE_BYTES_64 * len(models),
        stack_bytes=stack_bytes,
        plan_bytes=need.program,
    )


def core_sources(cores: Sequence[CoreContext], arena: ArenaContext | None) -> tuple[str, ...]:
    """The C files of the cores and of the arena that they share."""
    files = [f"{core.name}{part}.c" for core in cores for part in ("", "_plan")]
    return tuple([*files, f"{arena.name}.c"] if arena else files)


def project_context(
    models: Sequence[CoreModel],
    board: Board,
    framework: FrameworkName,
    placement: Placement,
    runtime_sources: tuple[str, ...],
    *,
    version: str,
    surroundings: SurroundingsContext,
    details: Mapping[str, object],
    share_arena: bool = False,
    runtime: str = "copy",
) -> ProjectContext:
    """All that the templates print."""
    stack_bytes = board.frameworks[framework].stack
    arena = arena_context(models, surroundings) if share_arena else None
    cores = tuple(core_context(m, surroundings, stack_bytes, arena=arena, own_state=True) for m in models)
    memory = _memory(models, share_arena, stack_bytes)
    return ProjectContext(
        project=project_name(models),
        version=version,
        backend=plan_backend(models[0].plan),
        runtime=runtime,
        core=cores[0],
        cores=cores,
        arena=arena,
        memory=memory,
        selftest=_selftest(cores, models, memory),
        core_sources=tuple(f"generated/core/{name}" for name in core_sources(cores, arena)),
        board=board_context(board),
        placement=placement,
        framework=board.frameworks[framework],
        details=details,
        vectors=tuple(vector for model in models for vector in _vectors(model)),
        runtime_sources=runtime_sources,
    )
