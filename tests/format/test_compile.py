"""What the runtime promises of itself: warning-free, no allocator, no mutable globals, no recursion, little stack."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.format import native

#: What the runtime may take from the C library: memory and mathematics.
ALLOWED = {
    *("memcpy", "memmove", "memset", "memcmp"),
    *("expf", "logf", "powf", "roundf", "rintf", "lrintf", "sqrtf", "tanhf", "erff", "floorf", "ceilf", "fabsf"),
    *(
        "sinf",
        "cosf",
        "fmodf",
        "exp",
        "log",
        "sqrt",
        "round",
        "floor",
        "ceil",
        "tanh",
        "pow",
        "rint",
        "hypotf",
        "atan2f",
    ),
    "__stack_chk_fail",
    "_GLOBAL_OFFSET_TABLE_",
}
CORES = {
    "cortex-m4": ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"),
    "cortex-m7": ("-mcpu=cortex-m7", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"),
}
#: Bytes of stack that any one function may take.
LARGEST_FRAME = 1024


def test_warning_free_with_gcc(gcc_build: Path) -> None:
    assert (gcc_build / "libtigris_runtime.a").is_file()


def test_warning_free_with_clang(clang_build: Path) -> None:
    assert (clang_build / "libtigris_runtime.a").is_file()


@pytest.mark.parametrize("core", CORES)
def test_warning_free_for_arm(core: str, tmp_path: Path) -> None:
    gcc = native.tool("arm-none-eabi-gcc")
    flags = (*native.STRICT, *CORES[core], "-O1", "-c", *native.INCLUDES)
    native.run([gcc, *flags, *native.SOURCES], cwd=tmp_path)
    assert len(list(tmp_path.glob("*.o"))) == len(native.SOURCES)


def test_every_source_is_strict_alone(tmp_path: Path) -> None:
    """A file that CMake forgot would not be seen by the builds above."""
    gcc = native.tool("gcc")
    sources = [*native.SOURCES, *native.HOST_SOURCES, *native.RUNTIME.glob("fuzz/*.c")]
    native.run([gcc, *native.STRICT, "-fsyntax-only", *native.INCLUDES, *sources], cwd=tmp_path)


def test_no_allocator_and_no_mutable_globals(gcc_build: Path) -> None:
    library = gcc_build / "libtigris_runtime.a"
    symbols = native.run([native.tool("nm"), library])
    defined = set(re.findall(r"^[0-9a-f]+ [A-Za-tv-z] (\S+)$", symbols, re.MULTILINE))
    undefined = set(re.findall(r"^ +U (\S+)$", symbols, re.MULTILINE))
    assert "tigris_plan_load" in defined and "memcpy" in undefined
    assert undefined - defined <= ALLOWED
    # Objects in a writable section; tables of addresses (.data.rel.ro) are only written by the dynamic linker.
    writable = re.compile(r"\sO (\*COM\*|\.t?(data|bss)(\.(?!rel\.ro)\S*)?)\s")
    objects = [line for line in native.run([native.tool("objdump"), "-t", library]).splitlines() if " O " in line]
    assert objects
    assert not [line for line in objects if writable.search(line)]


def test_no_recursion_and_bounded_frames(tmp_path: Path) -> None:
    gcc = native.tool("gcc")
    flags = (*native.STRICT, "-O1", "-c", "-fcallgraph-info", "-fstack-usage", *native.INCLUDES)
    native.run([gcc, *flags, *native.SOURCES], cwd=tmp_path)
    calls: dict[str, set[str]] = {}
    for graph in tmp_path.glob("*.ci"):
        for caller, callee in re.findall(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"', graph.read_text()):
            calls.setdefault(caller, set()).add(callee)
    assert any(name.endswith("tigris_plan_load") for name in calls)
    left = {name: called & calls.keys() for name, called in calls.items()}
    while left:
        leaves = {name for name, called in left.items() if not called & left.keys()}
        assert leaves, f"recursion among {sorted(left)}"
        left = {name: called for name, called in left.items() if name not in leaves}
    frames = [line.split("\t") for usage in tmp_path.glob("*.su") for line in usage.read_text().splitlines()]
    assert len(frames) > len(native.SOURCES)
    for where, size, kind in frames:
        assert kind == "static", f"{where}: a frame whose size depends on data"
        assert int(size) <= LARGEST_FRAME, f"{where}: {size} bytes"
