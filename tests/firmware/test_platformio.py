"""PlatformIO projects, built by PlatformIO itself on stand-ins for what it would download; their images run.

`tests/doubles/platformio` has a development platform, Arduino and Unity of ours. What they say of the vendors' was
looked up in their files (docs/TESTING.md).
"""

from __future__ import annotations

import configparser
import importlib
import importlib.util
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import yaml
from elftools.elf.elffile import ELFFile

from tests.firmware import handmade
from tests.firmware.support import make_project, missing_for
from tests.support import REPOSITORY
from tigris_codegen.boards import Board, Memory, list_boards, load_board
from tigris_codegen.codegen import TestVector
from tigris_codegen.codegen.frameworks import platformio
from tigris_codegen.codegen.placement import place
from tigris_codegen.codegen.sources import runtime_files, runtime_version
from tigris_codegen.emulate import UnicornEmulator, verify_project
from tigris_codegen.emulate.elf import read_image
from tigris_codegen.emulate.report import Report, parse_report
from tigris_codegen.errors import TigrisError, UsageError
from tigris_codegen.plan.codec import encode
from tigris_codegen.plan.plan import Plan

DOUBLES = REPOSITORY / "tests" / "doubles" / "platformio"
ESP_IDF = REPOSITORY / "tests" / "doubles" / "esp-idf"
RUNTIME = REPOSITORY / "runtime"
BOARDS = [board for board in list_boards() if "platformio" in board.frameworks]
WARN = "-Wall -Wextra -Wconversion"
#: One board of each core with Arduino, and of ESP-IDF.
BUILT = ("microbit", "pico", "nucleo-f446re", "nucleo-h7", "nucleo-u5")
IDF_BUILT = "esp32s3-devkitc-psram"


def missing() -> list[str]:
    modules = [name for name in ("platformio", "SCons") if importlib.util.find_spec(name) is None]
    return [*modules, *(p for p in ("arm-none-eabi-gcc", "arm-none-eabi-g++", "gcc", "g++") if shutil.which(p) is None)]


needs_platformio = pytest.mark.skipif(bool(missing()), reason=f"missing: {', '.join(missing())}")


make = partial(make_project, framework="platformio")


# A core folder in which nothing is missing.


def write_package(folder: Path, kind: str, name: str, version: str, spec: Mapping[str, str | None]) -> None:
    """The note by which PlatformIO knows what is installed in a folder."""
    known = {"owner": None, "id": None, "name": name, "requirements": None, "uri": None, **spec}
    folder.mkdir(parents=True, exist_ok=True)
    note = {"type": kind, "name": name, "version": version, "spec": known}
    (folder / ".piopm").write_text(json.dumps(note))


def machine_flags(board: Board) -> str:
    """As Arduino's cores have them: single precision where there is an FPU."""
    core = f"-mcpu={board.soc.core}"
    return core if board.soc.fpu == "none" else f"{core} -mfloat-abi=hard -mfpu=fpv4-sp-d16"


def board_manifest(board: Board) -> dict[str, object]:
    """The board's file as the stand-in platform reads it, made of ours."""
    use = board.frameworks["platformio"]
    program, data = board.region(use.program), board.region(use.data)
    build: dict[str, object] = {"mcu": board.soc.name, "prefix": ""}
    if use.sdk == platformio.ARDUINO:
        console = board.console_uart
        memory = {
            "FLASH_BASE": program.base,
            "FLASH_SIZE": program.size,
            "RAM_BASE": data.base,
            "RAM_SIZE": data.size,
            "STACK_SIZE": use.stack,
        }
        build |= {
            "prefix": "arm-none-eabi-",
            "flags": machine_flags(board),
            "memory": memory,
            "console": console.transmit.address if console else data.base,
        }
    return {
        "name": board.title,
        "vendor": "double",
        "url": "https://example.org",
        "frameworks": [use.sdk],
        "build": build,
        "upload": {"maximum_size": program.size, "maximum_ram_size": data.size},
    }


def write_platform(folder: Path, name: str, boards: Sequence[Board]) -> None:
    source = platformio.PLATFORMS[name]
    url = f"git+{source}" if "://" in source else None
    version = "1.0.0" if url else source.partition("@")[2]
    sdk = boards[0].frameworks["platformio"].sdk
    manifest = {
        "name": name,
        "title": name,
        "version": version,
        "frameworks": {sdk: {"script": f"builder/{sdk}.py"}},
        # PlatformIO takes platforms with a tool that uploads for embedded ones.
        "packages": {"tool-double": {"type": "uploader", "optional": True, "version": "*"}},
    }
    shutil.copytree(DOUBLES / "platform", folder / "builder", dirs_exist_ok=True)
    shutil.copytree(DOUBLES / "arduino", folder / "arduino")
    shutil.copytree(ESP_IDF, folder / "esp-idf")
    (folder / "platform.json").write_text(json.dumps(manifest))
    (folder / "boards").mkdir()
    for board in boards:
        identity = board.frameworks["platformio"].id
        (folder / "boards" / f"{identity}.json").write_text(json.dumps(board_manifest(board)))
    write_package(folder, "platform", name, version, {"owner": None if url else "platformio", "uri": url})


def scons_version() -> str:
    """The least that PlatformIO accepts of its package of SCons."""
    dependencies = importlib.import_module("platformio.dependencies").get_core_dependencies()
    return str(dependencies["tool-scons"]).lstrip("~^=")


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """PlatformIO's core folder: SCons from PyPI as a package, the stand-in under each platform's name."""
    folder = tmp_path_factory.mktemp("platformio")
    scons, version = folder / "packages" / "tool-scons", scons_version()
    write_package(scons, "tool", "tool-scons", version, {"owner": "platformio"})
    (scons / "package.json").write_text(json.dumps({"name": "tool-scons", "version": version}))
    (scons / "scons.py").write_text("from SCons.Script import main\n\nmain()\n")
    for name in platformio.PLATFORMS:
        write_platform(folder / "platforms" / name, name, [b for b in BOARDS if platform_of(b) == name])
    return folder


def platform_of(board: Board) -> str:
    return board.frameworks["platformio"].platform


def environment(core: Path, flags: str) -> dict[str, str]:
    """For PlatformIO, and so that every attempt to reach a network fails at once."""
    return {
        "PLATFORMIO_CORE_DIR": str(core),
        "PLATFORMIO_SETTING_ENABLE_TELEMETRY": "false",
        "PLATFORMIO_DISABLE_UPGRADE_CHECK": "true",
        "PLATFORMIO_BUILD_FLAGS": flags,
        "PLATFORMIO_NO_ANSI": "true",
        **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9"),
        "NO_PROXY": "",
        "no_proxy": "",
    }


def pio(core: Path, project: Path, *arguments: str, flags: str = f"{WARN} -Werror") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "platformio", *arguments, "-d", str(project)]
    return subprocess.run(
        command, env=os.environ | environment(core, flags), capture_output=True, text=True, check=False, timeout=120
    )


def install_unity(project: Path, board: str) -> None:
    """Where PlatformIO would install it, which also building the application does where there are tests."""
    unity = project / ".pio" / "libdeps" / board / "Unity"
    shutil.copytree(DOUBLES / "unity", unity, dirs_exist_ok=True)
    version = json.loads((unity / "library.json").read_text())["version"]
    write_package(unity, "library", "Unity", version, {"owner": "throwtheswitch"})


def build(core: Path, project: Path, board: str) -> Path:
    install_unity(project, board)
    done = pio(core, project, "run", "-e", board)
    assert done.returncode == 0, done.stdout + done.stderr
    return project / ".pio" / "build" / board / "firmware.elf"


def build_test(core: Path, project: Path, board: str) -> Path:
    install_unity(project, board)
    # What PlatformIO itself adds does not build with -Werror.
    done = pio(core, project, "test", "-e", board, "--without-uploading", "--without-testing", flags=WARN)
    assert done.returncode == 0, done.stdout + done.stderr
    warnings = [line for line in (done.stdout + done.stderr).splitlines() if "warning:" in line]
    assert [line for line in warnings if "unity_config" not in line] == []
    return project / ".pio" / "build" / board / "firmware.elf"


def in_unicorn(image: Path, board: Board) -> Report:
    return UnicornEmulator().run(image, board, "digits", 60.0)


def section_of(image: Path, name: str) -> tuple[str, int, int]:
    """The output section of a variable, its address and size."""
    with image.open("rb") as stream:
        elf = ELFFile(stream)
        (symbol,) = [s for s in elf.get_section_by_name(".symtab").iter_symbols() if s.name == name and s["st_size"]]
        return elf.get_section(symbol["st_shndx"]).name, symbol["st_value"], symbol["st_size"]


@needs_platformio
@pytest.mark.parametrize("name", BUILT)
def test_the_application_is_built_without_a_warning(name: str, core: Path, tmp_path: Path) -> None:
    board, plan = load_board(name), handmade.lookup_plan()
    image = build(core, make(tmp_path / "p", board, plan, handmade.lookup_vectors()), name)
    section, address, size = section_of(image, "fast_arena")
    data = board.region(board.frameworks["platformio"].data)
    assert (section, size) == (".bss", plan.fast_bytes)
    assert data.base <= address < data.end
    if board.emulators.unicorn is None:
        return
    report = in_unicorn(image, board)
    assert report.passed
    assert report.outputs == tuple(v.outputs for v in handmade.lookup_vectors())
    assert report.peak_bytes == report.stated_ram_bytes == plan.ram_bytes
    assert 0 < report.stack_bytes < board.frameworks["platformio"].stack
    assert report.watch is not None and report.watch.strays == ()
    # The double's clock is SysTick, which Unicorn moves where it is the board's.
    assert report.ticks > plan.ram_bytes or board.soc.timer is not None


@needs_platformio
@pytest.mark.parametrize("off_by", [0, 1], ids=["right", "wrong"])
def test_the_self_test_is_a_unity_test(off_by: int, core: Path, tmp_path: Path) -> None:
    board = load_board("nucleo-f446re")
    (vector,) = handmade.lookup_vectors(1)
    expected = bytes([vector.outputs[0][0] ^ off_by]) + vector.outputs[0][1:]
    project = make(tmp_path / "p", board, handmade.lookup_plan(), [TestVector(vector.inputs, (expected,))])
    report = in_unicorn(build_test(core, project, board.name), board)
    assert report.passed == (off_by == 0)
    verdict = "FAIL" if off_by else "PASS"
    assert re.search(rf"test_main\.cpp:\d+:test_digits:{verdict}\n", report.log)
    assert f"1 Tests {off_by} Failures 0 Ignored\n" in report.log


@needs_platformio
def test_esp_idf_with_an_arena_in_psram(core: Path, tmp_path: Path) -> None:
    board, plan = load_board(IDF_BUILT), handmade.lookup_plan(slow=True)
    project = make(tmp_path / "p", board, plan, handmade.lookup_vectors(), slow_region="psram")
    image = build(core, project, board.name)
    done = subprocess.run([image], capture_output=True, text=True, check=False)
    report = parse_report(done.stdout, "double", "host", None)
    assert report.passed
    assert report.peak_bytes == plan.ram_bytes
    assert section_of(image, "fast_arena")[0] == ".bss"
    assert section_of(image, "slow_arena")[0] == ".ext_ram.bss.tigris_slow"
    tested = subprocess.run([build_test(core, project, board.name)], capture_output=True, text=True, check=False)
    assert parse_report(tested.stdout, "double", "host", None).passed
    assert "1 Tests 0 Failures 0 Ignored\n" in tested.stdout


@needs_platformio
def test_an_application_of_ones_own(core: Path, tmp_path: Path) -> None:
    """Its sources, its settings and its libraries, beside the model's; the next run leaves them alone."""
    board = load_board("nucleo-f446re")
    project = make(tmp_path / "p", board, handmade.lookup_plan(), handmade.lookup_vectors(1))
    (project / "app" / "main.cpp").write_text(
        '#include <Arduino.h>\n#include "digits.h"\n#include "mine.h"\n'
        "void setup() { if (digits_init() == TIGRIS_OK) { MINE(); (void)digits_run(); } }\nvoid loop() {}\n"
    )
    (project / "app" / "platformio.ini").write_text("[env:nucleo-f446re]\nbuild_flags = -DMINE=mine\n")
    library = project / "lib" / "mine"
    library.mkdir(parents=True)
    (library / "mine.h").write_text('#pragma once\n#ifdef __cplusplus\nextern "C"\n#endif\nvoid mine(void);\n')
    (library / "mine.c").write_text('#include "mine.h"\nvoid mine(void) {}\n')
    image = build(core, project, board.name)
    symbols = read_image(image).symbols
    assert {"mine", "digits_run"} <= symbols.keys()
    assert "digits_selftest" not in symbols
    before = (project / "app" / "main.cpp").read_text()
    make(project, board, handmade.lookup_plan(), handmade.lookup_vectors(1))
    assert (project / "app" / "main.cpp").read_text() == before
    assert (library / "mine.c").is_file()


@needs_platformio
def test_the_runtime_is_a_library(core: Path, tmp_path: Path) -> None:
    manifest = json.loads((RUNTIME / "library.json").read_text())
    assert manifest["version"] == runtime_version(runtime_files(RUNTIME, ()))
    board = load_board("nucleo-f446re")
    project = make(tmp_path / "p", board, handmade.lookup_plan(), handmade.lookup_vectors(1), runtime="module")
    assert not (project / "generated" / "runtime").exists()
    settings = f"[env]\nlib_deps =\n    ${{tigris.lib_deps}}\n    symlink://{RUNTIME}\n"
    (project / "app" / "platformio.ini").write_text(settings)
    assert in_unicorn(build(core, project, board.name), board).passed


@needs_platformio
@pytest.mark.skipif(bool(missing_for(load_board("microbit"))), reason="missing: what a bare-metal project needs")
def test_verify_builds_then_runs_the_twin(core: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    board = load_board("pico")
    project = make(tmp_path / "p", board, handmade.lookup_plan(), handmade.lookup_vectors(1))
    install_unity(project, board.name)
    for name, value in environment(core, "").items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.chdir(REPOSITORY)
    result = verify_project(project)
    result.check()
    assert result.twin is not None and result.twin.board.name == "microbit"
    assert (project / ".pio" / "build" / board.name / "firmware.elf").is_file()
    platform = project / "generated" / "platform" / "platform.cpp"
    platform.write_text(platform.read_text() + "#error does not build\n")
    with pytest.raises(TigrisError, match="does not build"):
        verify_project(project)


# Files as PlatformIO reads them.


def parsed(project: Path) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(inline_comment_prefixes=("#", ";"), interpolation=None)
    parser.read(project / "platformio.ini")
    return parser


@needs_platformio
@pytest.mark.parametrize("board", BOARDS, ids=[b.name for b in BOARDS])
def test_the_configuration_of_every_board(board: Board, tmp_path: Path) -> None:
    project = make(tmp_path / "p", board, handmade.lookup_plan(), handmade.lookup_vectors(1))
    parser = parsed(project)
    use = board.frameworks["platformio"]
    assert parser["platformio"]["default_envs"] == board.name
    environments = [name.removeprefix("env:") for name in parser.sections() if name.startswith("env:")]
    assert environments[0] == board.name
    assert parser[f"env:{board.name}"]["board"] == use.id
    assert parser[f"env:{board.name}"]["platform"] == platformio.PLATFORMS[use.platform]
    for name in environments:
        section, other = parser[f"env:{name}"], load_board(name)
        assert other.soc.core == board.soc.core
        assert section["framework"] == use.sdk
        for option in ("board_build.partitions", "board_build.cmake_extra_args"):
            assert (option in section) == (use.sdk == platformio.ESPIDF)
        if use.sdk == platformio.ESPIDF:
            check_partitions(project / section["board_build.partitions"], other)
            _, _, defaults = section["board_build.cmake_extra_args"].partition("SDKCONFIG_DEFAULTS=")
            assert all((project / path).is_file() for path in defaults.split(";"))
            assert set(other.frameworks["platformio"].settings) <= set(
                (project / defaults.split(";")[0]).read_text().splitlines()
            )


def check_partitions(path: Path, board: Board) -> None:
    """They follow each other and end with the flash; the application begins where ESP-IDF wants it to."""
    lines = [line.split(", ") for line in path.read_text().splitlines() if not line.startswith("#")]
    places = [(int(line[3], 16), int(line[4], 16)) for line in lines]
    for (start, size), (following, _) in itertools.pairwise(places):
        assert start + size == following
    assert [line[1] for line in lines] == ["data", "data", "app"]
    assert places[-1][0] % 0x10000 == 0
    assert sum(places[-1]) == board.region(board.frameworks["platformio"].program).size


@needs_platformio
@pytest.mark.parametrize("name", ["nucleo-h7", "esp32s3-devkitc-psram", "pico2"])
def test_platformio_finds_no_fault_in_the_configuration(name: str, core: Path, tmp_path: Path) -> None:
    """Its exit code is 0 whatever it finds."""
    project = make(tmp_path / "p", load_board(name), handmade.lookup_plan(), handmade.lookup_vectors(1))

    def lint() -> str:
        return pio(core, project, "project", "config", "--lint").stdout

    said = lint()
    assert "is free from linting errors" in said
    (project / "app" / "platformio.ini").write_text("[env]\nno_such_option = 1\n")
    assert "no_such_option" in lint()


def test_the_family_is_that_of_the_chip() -> None:
    def family(name: str, plan: Plan | None = None) -> list[str]:
        board, plan = load_board(name), plan or handmade.lookup_plan()
        data = encode(plan)
        placed = place(plan, len(data), board, "platformio")
        request = platformio.Request("digits", plan, data, len(data), board, placed)
        return [other.name for other in platformio._family(request)]

    assert family("nucleo-h753zi") == ["nucleo-h753zi", "nucleo-h7"]
    assert set(family("nucleo-f446re")) == {"nucleo-f446re", "netduinoplus2", "stm32f4-discovery"}
    assert family("pico") == ["pico"]
    assert set(family("esp32s3-devkitc")) == {"esp32s3-devkitc", "esp32s3-devkitc-psram"}
    assert family("esp32-devkitc") == ["esp32-devkitc"]
    # Too large for one of them: no environment.
    arduino = [b for b in BOARDS if platform_of(b) == "nordicnrf52"]
    smallest = min(arduino, key=lambda b: max(b.arena_regions("platformio").values()))
    other = next(b for b in arduino if b is not smallest)
    room = max(smallest.arena_regions("platformio").values())
    assert set(family(other.name)) == {smallest.name, other.name}
    assert family(other.name, replace(handmade.lookup_plan(), fast_bytes=room + 16)) == [other.name]


def test_an_arena_in_psram_leaves_out_the_board_without(tmp_path: Path) -> None:
    board = load_board(IDF_BUILT)
    plan, vectors = handmade.lookup_plan(slow=True), handmade.lookup_vectors(1)
    project = make(tmp_path / "p", board, plan, vectors, slow_region="psram")
    assert [s for s in parsed(project).sections() if s.startswith("env:")] == [f"env:{board.name}"]


def test_a_framework_without_a_template_is_refused(tmp_path: Path) -> None:
    board = load_board("nucleo-h7")
    use = replace(board.frameworks["platformio"], sdk="mbed")
    with pytest.raises(UsageError, match="PlatformIO's framework mbed"):
        make(
            tmp_path / "p",
            replace(board, frameworks={**board.frameworks, "platformio": use}),
            handmade.lookup_plan(),
            handmade.lookup_vectors(1),
        )


def test_the_library_names_what_is_there(tmp_path: Path) -> None:
    project = make(tmp_path / "p", load_board("pico"), handmade.lookup_plan(), handmade.lookup_vectors(1))
    generated = project / "generated"
    manifest = json.loads((generated / "library.json").read_text())
    for pattern in manifest["build"]["srcFilter"]:
        assert list(generated.glob(pattern.removeprefix("+<").removesuffix(">"))), pattern
    for flag in manifest["build"]["flags"]:
        assert not flag.startswith("-I ") or (generated / flag.removeprefix("-I ")).is_dir()
    assert re.fullmatch(r"\d+\.\d+\.\d+", manifest["version"])


def test_memory_that_arduino_does_not_use_is_taken_whole() -> None:
    """Arenas are variables: they can only be where the framework's variables are, or in a section of their own."""
    for board in BOARDS:
        use = board.frameworks["platformio"]
        regions: list[Memory] = [board.region(name) for name in board.arena_regions("platformio")]
        assert {r.name for r in regions} <= {use.data, *use.regions}, board.name


def test_the_workflow_builds_for_every_board() -> None:
    workflow = yaml.safe_load((REPOSITORY / ".github" / "workflows" / "platformio.yml").read_text())
    assert workflow["jobs"]["project"]["strategy"]["matrix"]["board"] == [board.name for board in BOARDS]
