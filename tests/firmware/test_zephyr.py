"""Zephyr applications without Zephyr: their C on doubles of its functions, their files as its tools read them.

What `tests/doubles/zephyr` says of Zephyr was looked up in its files (docs/TESTING.md). Nothing is built by Zephyr.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import kconfiglib
import pytest
import yaml

from tests.firmware import handmade
from tests.firmware.support import make_project
from tests.support import REPOSITORY
from tigris_codegen import resources
from tigris_codegen.boards import Board, list_boards, load_board
from tigris_codegen.codegen import TestVector
from tigris_codegen.codegen.frameworks import zephyr
from tigris_codegen.codegen.frameworks.framework import Request
from tigris_codegen.codegen.placement import Placement
from tigris_codegen.emulate import verify_project
from tigris_codegen.emulate.elf import read_image
from tigris_codegen.emulate.report import Report, parse_report
from tigris_codegen.errors import MissingError, TigrisError, UsageError

DOUBLES = REPOSITORY / "tests" / "doubles" / "zephyr"
MODULE = REPOSITORY / "runtime" / "zephyr"
BOARDS = [board for board in list_boards() if "zephyr" in board.frameworks]
STRICT = ("-Wall", "-Wextra", "-Wconversion", "-Werror", "-std=c99", "-ffp-contract=off", "-O2")

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="missing: gcc")


make = partial(make_project, framework="zephyr")


def run(*command: str | Path) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def sources(project: Path, selftest: bool) -> list[Path]:
    """The files that the project's CMakeLists.txt gives the target `app`."""
    text = (project / "CMakeLists.txt").read_text()
    always = [line.strip() for line in text.splitlines() if re.fullmatch(r" +generated/\S+\.c", line)]
    images = sorted(project.glob("app/*.c"))
    return [project / path for path in always] + ([project / "generated/platform/main.c"] if selftest else images)


def linker_script(build: Path, folder: Path, defines: Sequence[str], compiler: str = "gcc") -> Path:
    """The double's linker script with the arenas', preprocessed as Zephyr does it."""
    build.mkdir(exist_ok=True)
    script = build / "linker.ld"
    includes = [f"-I{DOUBLES / 'include'}", f"-I{folder}"]
    run(compiler, "-E", "-P", "-x", "assembler-with-cpp", "-D_LINKER", "-D_ASMLANGUAGE", *includes, *defines,
        DOUBLES / "linker.ld", "-o", script)  # fmt: skip
    return script


def host_program(project: Path, *defines: str, selftest: bool = True, module: bool = False) -> Path:
    """The project's self-test or application, built on the doubles, its runtime a copy or the module's."""
    build = project / "build"
    build.mkdir(exist_ok=True)
    common = ["-DCONFIG_THREAD_STACK_INFO=1", "-DCONFIG_TIGRIS_ARENA_GUARD=1024", "-DCONFIG_MAIN_STACK_SIZE=131072"]
    flags = [*common, *defines, f"-I{DOUBLES / 'include'}"]
    folders = ("core", "selftest", "platform", "runtime/include", "runtime/src")
    runtime = REPOSITORY / "runtime"
    folders_of_module = (runtime / "include", runtime / "src") if module else ()
    includes = [*(project / "generated" / folder for folder in folders), *folders_of_module]
    project_flags = [*flags, "-Dmain=zephyr_main", *(f"-I{folder}" for folder in includes)]
    of_module = [*(runtime / "src").glob("*.c"), *(runtime / "src/kernels").glob("*.c")] if module else []
    objects = []
    for source in [*sources(project, selftest), *of_module]:
        objects.append(build / f"{source.stem}.o")
        run("gcc", *STRICT, *project_flags, "-c", source, "-o", objects[-1])
    run("gcc", *STRICT, *flags, "-c", DOUBLES / "kernel.c", "-o", build / "kernel.o")
    # The program is the host's, also where it plays a board: its own linker script is the only one that it can have.
    script = linker_script(
        build, MODULE if module else project / "generated/zephyr", [*common, "-DCONFIG_ARCH_POSIX=1"]
    )
    link = (f"-Wl,-T,{script}", "-Wl,--fatal-warnings", "-Wl,-z,now", "-pthread", "-lm")
    run("gcc", *objects, build / "kernel.o", *link, "-o", build / "program")
    return build / "program"


def report_of(program: Path) -> Report:
    return parse_report(run(program), "double", "host", None)


AS_BOARD: tuple[str, ...] = ()
AS_NATIVE_SIM = ("-DCONFIG_ARCH_POSIX=1",)


@pytest.mark.parametrize("board", BOARDS, ids=[b.name for b in BOARDS])
def test_the_self_test_of_every_board_passes_on_the_doubles(board: Board, tmp_path: Path) -> None:
    plan, vectors = handmade.lookup_plan(), handmade.lookup_vectors()
    project = make(tmp_path / "p", board, plan, vectors)
    report = report_of(host_program(project, *AS_BOARD))
    assert report.passed
    assert report.outputs == tuple(v.outputs for v in vectors)
    assert report.peak_bytes == report.stated_ram_bytes == plan.ram_bytes
    assert 0 < report.stack_bytes < 4096
    assert report.ticks == 1000


@pytest.mark.parametrize("defines", [AS_BOARD, AS_NATIVE_SIM], ids=["board", "native_sim"])
@pytest.mark.parametrize("counter", [(), ("-DCONFIG_TIMER_HAS_64BIT_CYCLE_COUNTER=1",)], ids=["32", "64"])
def test_both_stacks_and_both_counters(tmp_path: Path, defines: tuple[str, ...], counter: tuple[str, ...]) -> None:
    project = make(tmp_path / "p", load_board("nucleo-h7"), handmade.lookup_plan(slow=True), handmade.lookup_vectors())
    report = report_of(host_program(project, *defines, *counter))
    assert report.passed
    assert report.peak_bytes == report.stated_ram_bytes
    assert report.ticks == 1000


def test_a_deeper_stack_is_seen(tmp_path: Path) -> None:
    project = make(tmp_path / "p", load_board("nucleo-h7"), handmade.lookup_plan(), handmade.lookup_vectors(1))
    before = report_of(host_program(project)).stack_bytes
    kernel = project / "generated/runtime/src/kernels/lookup_s8.c"
    text = kernel.read_text()
    body = text.index("tigris_status_t tigris_k_lookup_s8(")
    deep = "volatile uint8_t deep[3000];\n    deep[0] = 1u;\n    deep[2999] = deep[0];\n    return TIGRIS_OK;"
    kernel.write_text(text[:body] + text[body:].replace("return TIGRIS_OK;", deep, 1))
    assert before + 2900 < report_of(host_program(project)).stack_bytes < before + 3100


def test_a_write_behind_the_arena_is_seen(tmp_path: Path) -> None:
    plan = handmade.lookup_plan()
    project = make(tmp_path / "p", load_board("nucleo-h7"), plan, handmade.lookup_vectors(1))
    kernel = project / "generated/runtime/src/kernels/lookup_s8.c"
    text = kernel.read_text()
    body = text.index("tigris_status_t tigris_k_lookup_s8(")
    stray = f"*((volatile uint8_t *)call->input[0].data + {plan.fast_bytes} + 99) = 0xA5u;\n    return TIGRIS_OK;"
    kernel.write_text(text[:body] + text[body:].replace("return TIGRIS_OK;", stray, 1))
    assert report_of(host_program(project)).peak_bytes == plan.ram_bytes + 100


def test_a_wrong_expectation_fails(tmp_path: Path) -> None:
    vector = handmade.lookup_vectors(1)[0]
    wrong = TestVector(vector.inputs, (bytes([vector.outputs[0][0] ^ 1]) + vector.outputs[0][1:],))
    project = make(tmp_path / "p", load_board("nucleo-h7"), handmade.lookup_plan(), [wrong])
    program = host_program(project, *AS_NATIVE_SIM)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert not parse_report(done.stdout, "double", "host", None).passed


def test_the_application_passes_as_generated(tmp_path: Path) -> None:
    project = make(tmp_path / "p", load_board("nucleo-h7"), handmade.lookup_plan(), handmade.lookup_vectors())
    assert report_of(host_program(project, selftest=False)).passed


# Files as Zephyr's tools read them.


@pytest.mark.parametrize("board", BOARDS, ids=[b.name for b in BOARDS])
def test_files_of_every_board(board: Board, tmp_path: Path) -> None:
    project = make(tmp_path / "p", board, handmade.lookup_plan(), handmade.lookup_vectors())
    identity = board.frameworks["zephyr"].id
    check_west(yaml.safe_load((project / "west.yml").read_text()), board)
    check_sample(yaml.safe_load((project / "sample.yaml").read_text()), project, identity)
    check_settings(project, board)
    overlay = project / "boards" / f"{identity.replace('/', '_')}.overlay"
    assert [p.name for p in (project / "boards").iterdir()] == [overlay.name]
    check_overlay(overlay.read_text())


def check_west(manifest: Any, board: Board) -> None:
    assert manifest.keys() == {"manifest"}
    manifest = manifest["manifest"]
    (project,) = manifest["projects"]
    assert project["name"] == "zephyr"
    assert re.fullmatch(r"v\d+\.\d+\.\d+", project["revision"])
    assert project["remote"] in [remote["name"] for remote in manifest["remotes"]]
    assert ("cmsis-nn" in project["import"]["name-allowlist"]) == board.soc.core.startswith("cortex-m")
    assert manifest["self"] == {"path": "digits"}


def check_sample(sample: Any, project: Path, identity: str) -> None:
    assert sample["sample"]["name"] == "digits"
    ((name, test),) = sample["tests"].items()
    assert re.fullmatch(r"[a-z0-9_.]+", name)
    assert test["platform_allow"] == test["integration_platforms"] == [identity]
    assert test["extra_configs"] == ["CONFIG_TIGRIS_SELFTEST=y"]
    assert test["harness"] == "console"
    assert test["harness_config"]["type"] == "one_line"
    (pattern,) = test["harness_config"]["regex"]
    last = run(host_program(project)).splitlines()[-1]
    assert re.search(pattern, last)
    assert not re.search(pattern, last.replace("PASS", "FAIL"))


def settings_of(project: Path) -> dict[str, str]:
    lines = [line for line in (project / "prj.conf").read_text().splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r'CONFIG_[A-Z0-9_]+=(y|n|\d+|0x[0-9a-f]+|".*")', line) for line in lines)
    settings = dict(line.split("=", 1) for line in lines)
    assert len(settings) == len(lines)
    return settings


def check_settings(project: Path, board: Board) -> None:
    settings = settings_of(project)
    assert settings["CONFIG_TIGRIS"] == "y"
    assert int(settings["CONFIG_MAIN_STACK_SIZE"]) == board.frameworks["zephyr"].stack


def check_overlay(text: str) -> None:
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    depth = 0
    for character in text:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0
    assert text.count("{") == len(re.findall(r"\};", text))
    for statement in re.findall(r"[^{};]+(?=;)", text):
        assert re.fullmatch(r'\s*([\w,-]+ = (&\w+|<[^<>]*>|"[^"]*"(, "[^"]*")*))?\s*', statement), statement


def test_arenas_are_chosen_in_the_overlay(tmp_path: Path) -> None:
    board = load_board("nucleo-h7")
    plan, vectors = handmade.lookup_plan(slow=True), handmade.lookup_vectors(1)
    names = board.frameworks["zephyr"].regions

    def overlay(folder: str, **regions: str) -> str:
        return (make(tmp_path / folder, board, plan, vectors, **regions) / "boards/nucleo_h743zi.overlay").read_text()

    both = overlay("a", fast_region="dtcm", slow_region="sram4")
    assert f"tigris,fast-arena = &{names['dtcm']};" in both
    assert f"tigris,slow-arena = &{names['sram4']};" in both
    own = overlay("b", fast_region="axi_sram", slow_region="axi_sram")
    assert "-arena = " not in own


def test_a_region_that_zephyr_does_not_know_becomes_a_node(tmp_path: Path) -> None:
    board = load_board("mps2-an386")
    project = make(
        tmp_path / "p", board, handmade.lookup_plan(slow=True), handmade.lookup_vectors(1), slow_region="psram"
    )
    text = (project / "boards/mps2_an386.overlay").read_text()
    region = board.region("psram")
    assert f"tigris_psram: psram@{region.base:x} {{" in text
    assert f"reg = <0x{region.base:x} 0x{region.size:x}>;" in text
    assert 'compatible = "zephyr,memory-region"' in text
    assert "tigris,slow-arena = &tigris_psram;" in text
    check_overlay(text)


def test_a_soc_whose_modules_are_unknown_gets_all_of_them(tmp_path: Path) -> None:
    known = load_board("nucleo-h7")
    board = replace(known, soc=known.soc.model_copy(update={"name": "mine"}))
    project = make(tmp_path / "p", board, handmade.lookup_plan(), handmade.lookup_vectors(1))
    (entry,) = yaml.safe_load((project / "west.yml").read_text())["manifest"]["projects"]
    assert entry["import"] is True


def test_the_users_files_are_kept(tmp_path: Path) -> None:
    board, vectors = load_board("nucleo-h7"), handmade.lookup_vectors(1)
    project = make(tmp_path / "p", board, handmade.lookup_plan(), vectors)
    for name in ("app.conf", "app.overlay", "main.c"):
        (project / "app" / name).write_text("mine\n")
    make(project, board, handmade.lookup_plan(), vectors)
    assert {path.read_text() for path in (project / "app").iterdir()} == {"mine\n"}


# Kconfig, read by the library that Zephyr's own tool is made of.


def kconfig(folder: Path, top: str, monkeypatch: pytest.MonkeyPatch, configuration: Path | None = None) -> Any:
    monkeypatch.setenv("srctree", str(folder))
    found = kconfiglib.Kconfig(top, warn_to_stderr=False)
    if configuration is not None:
        found.load_config(str(configuration))
    return found


#: The symbols of Zephyr that ours name, with the kinds that they have there.
ZEPHYR_SYMBOLS = """
config CPU_CORTEX_M
	def_bool y
config CPU_HAS_FPU
	def_bool y
config FPU
	bool "FPU"
	depends on CPU_HAS_FPU
config THREAD_STACK_INFO
	bool "Thread stack info"
config PRINTK
	bool "printk"
config MAIN_STACK_SIZE
	int "Main stack"
	default 1024
config SPEED_OPTIMIZATIONS
	bool "Speed"
config ZEPHYR_CMSIS_NN_MODULE
	bool "for the test"
menuconfig CMSIS_NN
	bool "CMSIS-NN Library Support"
	depends on CPU_CORTEX_M
if CMSIS_NN
{parts}
endif
"""
PARTS = ("ACTIVATION", "BASICMATH", "CONVOLUTION", "FULLYCONNECTED", "NNSUPPORT", "POOLING", "SOFTMAX")


def write_zephyr_symbols(folder: Path) -> None:
    parts = "".join(f'config CMSIS_NN_{part}\n\tbool "{part}"\n' for part in PARTS)
    (folder / "Kconfig.zephyr").write_text(ZEPHYR_SYMBOLS.format(parts=parts))


@pytest.mark.parametrize("board", BOARDS, ids=[b.name for b in BOARDS])
def test_the_settings_are_symbols_that_take_them(board: Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make(tmp_path / "p", board, handmade.lookup_plan(), handmade.lookup_vectors(1))
    write_zephyr_symbols(project)
    found = kconfig(project, "Kconfig", monkeypatch, project / "prj.conf")
    own = set(board.frameworks["zephyr"].settings)
    for name, value in settings_of(project).items():
        if f"{name}={value}" not in own:
            assert found.syms[name.removeprefix("CONFIG_")].str_value == value
    assert found.syms["TIGRIS_ARENA_GUARD"].str_value == "0"
    assert found.syms["FPU"].str_value == "y"
    found.syms["TIGRIS_SELFTEST"].set_value(2)
    assert found.syms["TIGRIS_ARENA_GUARD"].str_value == "1024"
    assert found.syms["THREAD_STACK_INFO"].str_value == "y"


def test_cmsis_nn_is_offered_where_its_module_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make(tmp_path / "p", load_board("nucleo-h7"), handmade.lookup_plan(), handmade.lookup_vectors(1))
    write_zephyr_symbols(project)
    found = kconfig(project, "Kconfig", monkeypatch, project / "prj.conf")
    symbol = found.syms["TIGRIS_BACKEND_CMSIS_NN"]
    symbol.set_value(2)
    assert (symbol.str_value, found.syms["TIGRIS_BACKEND_REFERENCE"].str_value) == ("n", "y")
    found.syms["ZEPHYR_CMSIS_NN_MODULE"].set_value(2)
    assert (symbol.str_value, found.syms["TIGRIS_BACKEND_REFERENCE"].str_value) == ("y", "n")
    assert all(found.syms[f"CMSIS_NN_{part}"].str_value == "y" for part in PARTS)


def test_the_backend_decides_settings_and_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    board = load_board("nucleo-h7")
    # No plan names this backend yet.
    monkeypatch.setattr(zephyr, "plan_backend", lambda _: "cmsis-nn")
    details: Any = zephyr.FRAMEWORK.details(request_for(board))
    assert "CONFIG_TIGRIS_BACKEND_CMSIS_NN=y" in details["settings"]
    assert {"cmsis-nn", "cmsis-dsp"} <= set(details["modules"])


def placement_of(board: Board) -> Placement:
    use = board.frameworks["zephyr"]
    return Placement(use.program, use.data, use.data, None)


def request_for(board: Board) -> Request:
    data = handmade.lookup_bytes()
    return Request("digits", handmade.lookup_plan(), data, len(data), board, placement_of(board))


# The module.


def test_the_module_file_names_what_is_there() -> None:
    module = yaml.safe_load((MODULE / "module.yml").read_text())
    assert module["name"] == "tigris"
    root = MODULE.parent
    assert (root / module["build"]["cmake"] / "CMakeLists.txt").is_file()
    assert (root / module["build"]["kconfig"]).is_file()


def test_the_module_and_a_copied_runtime_are_one(tmp_path: Path) -> None:
    project = make(tmp_path / "p", load_board("nucleo-h7"), handmade.lookup_plan(), handmade.lookup_vectors(1))
    for name in ("Kconfig", "arenas.ld"):
        assert (project / "generated/zephyr" / name).read_bytes() == (MODULE / name).read_bytes()


#: Zephyr's CMake functions as the module calls them: they build a library of the host and record linker scripts.
CMAKE_DOUBLE = """cmake_minimum_required(VERSION 3.20)
project(double C)
function(zephyr_include_directories)
    include_directories(${{ARGN}})
endfunction()
macro(zephyr_library_named name)
    set(current ${{name}})
    add_library(${{name}} STATIC)
endmacro()
function(zephyr_library_sources)
    target_sources(${{current}} PRIVATE ${{ARGN}})
endfunction()
function(zephyr_library_include_directories)
    target_include_directories(${{current}} PRIVATE ${{ARGN}})
endfunction()
function(zephyr_library_compile_options)
    target_compile_options(${{current}} PRIVATE ${{ARGN}})
endfunction()
function(zephyr_linker_sources location)
    file(APPEND ${{CMAKE_BINARY_DIR}}/linker.txt "${{location}} ${{ARGN}}\\n")
endfunction()
add_subdirectory({module} module)
"""


@pytest.mark.skipif(shutil.which("cmake") is None, reason="missing: cmake")
def test_the_modules_cmake_file(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(CMAKE_DOUBLE.format(module=MODULE))

    def configure(build: str, *options: str) -> subprocess.CompletedProcess[str]:
        command = ["cmake", "-S", tmp_path, "-B", tmp_path / build, *options]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert configure("on", "-DCONFIG_TIGRIS=y").returncode == 0
    assert (tmp_path / "on/linker.txt").read_text() == f"RAM_SECTIONS {MODULE}/arenas.ld\n"
    assert configure("off").returncode == 0
    assert not (tmp_path / "off/linker.txt").exists()
    refused = configure("nn", "-DCONFIG_TIGRIS=y", "-DCONFIG_TIGRIS_BACKEND_CMSIS_NN=y")
    kernels = (REPOSITORY / "runtime/src/backends/cmsis_nn").is_dir()
    assert (refused.returncode == 0) == kernels
    assert kernels or "no kernels for CMSIS-NN" in re.sub(r"\s+", " ", refused.stderr)


def test_a_project_for_the_module_has_no_copy(tmp_path: Path) -> None:
    board, plan, vectors = load_board("nucleo-h7"), handmade.lookup_plan(), handmade.lookup_vectors(2)
    copied = make(tmp_path / "copy", board, plan, vectors)
    project = make(tmp_path / "p", board, plan, vectors, runtime="module")
    for folder in ("runtime", "zephyr"):
        assert (copied / "generated" / folder).is_dir() and not (project / "generated" / folder).exists()
    cmake = (project / "CMakeLists.txt").read_text()
    assert "generated/runtime" not in cmake and "arenas.ld" not in cmake and "ZEPHYR_EXTRA_MODULES" in cmake
    assert "generated/zephyr" not in (project / "Kconfig").read_text()
    assert (project / "prj.conf").read_bytes() == (copied / "prj.conf").read_bytes()
    report = report_of(host_program(project, module=True))
    assert report.passed and report.outputs == tuple(v.outputs for v in vectors)


def test_verify_names_the_module_that_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, vectors = handmade.lookup_plan(), handmade.lookup_vectors()
    project = make(tmp_path / "p", load_board("nucleo-h7"), plan, vectors, runtime="module")
    program = host_program(project, *AS_NATIVE_SIM, module=True)
    build, log = project / "build/native_sim", tmp_path / "west.log"
    with_west(monkeypatch, tmp_path, WEST.format(log=log, folder=build, program=program))
    monkeypatch.setenv("ZEPHYR_BASE", str(tmp_path))
    assert verify_project(project).ok
    assert f"-DZEPHYR_EXTRA_MODULES={resources.runtime_dir()}" in log.read_text().splitlines()


# verify: a west that writes down how it is called and brings the program that the doubles make.

WEST = """#!/bin/sh
printf '%s\\n' "$@" > "{log}"
mkdir -p "{folder}/zephyr" && cp "{program}" "{folder}/zephyr/zephyr.exe"
"""


def with_west(monkeypatch: pytest.MonkeyPatch, folder: Path, text: str) -> None:
    tools = folder / "tools"
    tools.mkdir()
    west = tools / "west"
    west.write_text(text)
    west.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")


def test_verify_builds_for_native_sim_and_compares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, vectors = handmade.lookup_plan(), handmade.lookup_vectors()
    project = make(tmp_path / "p", load_board("nucleo-h7"), plan, vectors)
    program = host_program(project, *AS_NATIVE_SIM)
    folder, log = project / "build/native_sim", tmp_path / "west.txt"
    with_west(monkeypatch, tmp_path, WEST.format(log=log, folder=folder, program=program))
    monkeypatch.setenv("ZEPHYR_BASE", str(tmp_path))
    result = verify_project(project)
    result.check()
    assert (result.report.emulator, result.report.outputs) == ("native_sim", tuple(v.outputs for v in vectors))
    assert log.read_text().splitlines() == [
        *("build", "-b", "native_sim/native/64", "-d", str(folder), "--no-sysbuild"),
        *(str(project), "--", "-DCONFIG_TIGRIS_SELFTEST=y"),
    ]
    with pytest.raises(UsageError, match="unicorn cannot run a project for zephyr"):
        verify_project(project, "unicorn")


def test_verify_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make(tmp_path / "p", load_board("nucleo-h7"), handmade.lookup_plan(), handmade.lookup_vectors(1))
    monkeypatch.delenv("ZEPHYR_BASE", raising=False)
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingError, match="west is missing") as error:
        verify_project(project)
    assert (error.value.exit_code, "pip install west" in str(error.value.hint)) == (4, True)
    monkeypatch.setenv("PATH", path)
    with_west(monkeypatch, tmp_path, "#!/bin/sh\necho no board for you\nexit 1\n")
    with pytest.raises(MissingError, match="Zephyr is missing") as error:
        verify_project(project)
    assert "west init -l ." in str(error.value.hint)
    (tmp_path / ".west").mkdir()
    with pytest.raises(TigrisError, match="no board for you"):
        verify_project(project)


@pytest.mark.parametrize("name", ["zephyr", "renode"])
def test_the_workflow_names_boards_as_their_files_do(name: str) -> None:
    workflow = yaml.safe_load((REPOSITORY / ".github" / "workflows" / f"{name}.yml").read_text())
    (job,) = workflow["jobs"].values()
    for entry in job["strategy"]["matrix"]["include"]:
        board = load_board(entry["board"])
        if name == "zephyr":
            assert board.frameworks["zephyr"].id == entry["zephyr"]
        else:
            suite = (REPOSITORY / "renode" / f"{entry['suite']}.robot").read_text()
            assert f"Self Test Of {board.name}\n" in suite


# The arenas' linker script, with Arm's linker.

NODES = {
    "ram": ["-DDT_CHOSEN_zephyr_sram=RAM_NODE", "-DRAM_NODE_ORD=3", "-DRAM_NODE_COMPAT_MATCHES_zephyr_memory_region=0"],
    "dtcm": [
        "-DDTCM_NODE_ORD=4",
        "-DDTCM_NODE_COMPAT_MATCHES_zephyr_memory_region=1",
        "-DDTCM_NODE_P_zephyr_memory_region_STRING_TOKEN=DTCM",
    ],
}
OBJECT = """
__attribute__((section(".tigris_fast"), aligned(16))) static unsigned char fast[1000];
__attribute__((section(".tigris_slow"), aligned(16))) static unsigned char slow[500];
static int data = 3, bss;
volatile unsigned char *addresses(void) { data += bss; return data ? fast : slow; }
"""


def link_for_arm(folder: Path, *defines: str, dtcm: int = 0x1000, guard: int = 1024) -> dict[str, int]:
    """The symbols of an image with two arenas."""
    (folder / "x.c").write_text(OBJECT)
    sizes = [f"-DDTCM_LENGTH={dtcm}", f"-DCONFIG_TIGRIS_ARENA_GUARD={guard}"]
    script = linker_script(folder, MODULE, [*NODES["ram"], *NODES["dtcm"], *sizes, *defines], "arm-none-eabi-gcc")
    run("arm-none-eabi-gcc", "-mcpu=cortex-m7", "-mthumb", "-nostdlib", "-O1", "-fdata-sections", folder / "x.c",
        f"-Wl,-T,{script}", "-Wl,--entry=addresses", "-Wl,--orphan-handling=warn", "-o", folder / "x.elf")  # fmt: skip
    return dict(read_image(folder / "x.elf").symbols)


@pytest.mark.skipif(shutil.which("arm-none-eabi-gcc") is None, reason="missing: arm-none-eabi-gcc")
def test_arenas_lie_where_the_devicetree_says(tmp_path: Path) -> None:
    def check(symbols: dict[str, int], fast: int, slow: int) -> None:
        assert symbols["__tigris_fast_start"] & 0xFF000000 == fast
        assert symbols["__tigris_slow_start"] & 0xFF000000 == slow
        assert symbols["__tigris_fast_end"] - symbols["__tigris_fast_start"] == 1000
        assert symbols["__tigris_slow_end"] - symbols["__tigris_slow_start"] == 500
        assert symbols["__tigris_fast_start"] % 16 == symbols["__tigris_slow_start"] % 16 == 0

    ram, region = 0x24000000, 0x20000000
    fast, slow = "-DDT_CHOSEN_tigris_fast_arena=DTCM_NODE", "-DDT_CHOSEN_tigris_slow_arena=DTCM_NODE"
    for defines, places in (
        ((), (ram, ram)),
        ((fast,), (region, ram)),
        ((slow,), (ram, region)),
        ((fast, slow), (region, region)),
    ):
        symbols = link_for_arm(tmp_path, *defines)
        check(symbols, *places)
        assert symbols["__tigris_fast_guard_end"] - symbols["__tigris_fast_end"] == 1024
    # The chosen RAM itself, also where its node is a region.
    both = ("-DDT_CHOSEN_tigris_fast_arena=DTCM_NODE", "-UDT_CHOSEN_zephyr_sram", "-DDT_CHOSEN_zephyr_sram=DTCM_NODE")
    check(link_for_arm(tmp_path, *both), ram, ram)


@pytest.mark.skipif(shutil.which("arm-none-eabi-gcc") is None, reason="missing: arm-none-eabi-gcc")
def test_the_guard_is_what_a_full_region_has_left(tmp_path: Path) -> None:
    fast = "-DDT_CHOSEN_tigris_fast_arena=DTCM_NODE"
    for room, guard in ((1000, 0), (1008, 8), (4096, 1024)):
        symbols = link_for_arm(tmp_path, fast, dtcm=room)
        assert symbols["__tigris_fast_guard_end"] - symbols["__tigris_fast_end"] == guard
    symbols = link_for_arm(tmp_path, fast, guard=0)
    assert symbols["__tigris_fast_guard_end"] == symbols["__tigris_fast_end"]
