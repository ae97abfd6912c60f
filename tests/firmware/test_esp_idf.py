"""ESP-IDF projects without ESP-IDF: their C on doubles of its functions, their files as its tools read them.

What `tests/doubles/esp-idf` says of ESP-IDF was looked up in its headers, and the names of settings in its Kconfig
files (docs/TESTING.md). Nothing is built by ESP-IDF.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
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
from tigris_codegen.codegen import TestVector, generate_core, read_lock
from tigris_codegen.codegen.frameworks import esp_idf
from tigris_codegen.codegen.frameworks.framework import Request
from tigris_codegen.codegen.placement import place
from tigris_codegen.codegen.sources import runtime_files, runtime_version
from tigris_codegen.emulate import verify_project
from tigris_codegen.emulate.report import Report, parse_report
from tigris_codegen.errors import FitError, MissingError, TigrisError, UsageError
from tigris_codegen.pipeline import Model
from tigris_codegen.plan.codec import encode
from tigris_codegen.plan.plan import Plan

DOUBLES = REPOSITORY / "tests" / "doubles" / "esp-idf"
EXAMPLE = REPOSITORY / "examples" / "esp32" / "getting-started"
BOARDS = [board for board in list_boards() if "esp-idf" in board.frameworks]
CHIPS = [board for board in BOARDS if board.soc.core != "host"]
STRICT = ("-std=gnu17", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-ffp-contract=off", "-O1")
PARTITION, LINKED, LINUX = "CONFIG_TIGRIS_PLAN_PARTITION=1", "CONFIG_TIGRIS_PLAN_LINKED=1", "CONFIG_IDF_TARGET_LINUX=1"
WATCHED = "CONFIG_ESP_TASK_WDT_EN=1"
PSRAM = "CONFIG_SPIRAM_ALLOW_BSS_SEG_EXTERNAL_MEMORY=1"

#: Every setting that the template or a board file uses: looked up by hand in the Kconfig files of ESP-IDF v5.5.5.
KNOWN = {
    "CONFIG_IDF_TARGET",
    "CONFIG_COMPILER_OPTIMIZATION_PERF",
    "CONFIG_ESP_MAIN_TASK_STACK_SIZE",
    "CONFIG_PARTITION_TABLE_CUSTOM",
    "CONFIG_PARTITION_TABLE_CUSTOM_FILENAME",
    "CONFIG_ESPTOOLPY_FLASHSIZE_4MB",
    "CONFIG_ESPTOOLPY_FLASHSIZE_8MB",
    "CONFIG_ESPTOOLPY_FLASHSIZE_16MB",
    "CONFIG_ESP32P4_SELECTS_REV_LESS_V3",
    "CONFIG_SPIRAM",
    "CONFIG_SPIRAM_MODE_OCT",
    "CONFIG_SPIRAM_SPEED_80M",
    "CONFIG_SPIRAM_ALLOW_BSS_SEG_EXTERNAL_MEMORY",
}
#: And of ESP-NN's Kconfig.
KNOWN_OF_ESP_NN = {"CONFIG_NN_OPTIMIZED", "CONFIG_NN_SKIP_NUDGE"}
#: The template's own, see its Kconfig.
OWN = {"CONFIG_TIGRIS_PLAN_PARTITION", "CONFIG_TIGRIS_YIELD_MS"}

needs_gcc = pytest.mark.skipif(
    shutil.which("gcc") is None or sys.platform != "linux", reason="missing: gcc, or this is not Linux"
)


make = partial(make_project, framework="esp-idf")


def run(*command: str | Path) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# Their C.


def component_sources(project: Path, linked: bool) -> list[Path]:
    """The files that the component's CMakeLists.txt compiles; its core's plan only where the plan is linked in."""
    folder = project / "generated" / "tigris_model"
    text = (folder / "CMakeLists.txt").read_text()
    always = re.search(r"set\(sources\n(.*?)\n\)", text, re.DOTALL)
    plan = re.search(r"if\(CONFIG_TIGRIS_PLAN_LINKED\)\n +list\(APPEND sources (\S+)\)", text)
    assert always and plan
    names = [*always[1].split(), *([plan[1]] if linked else [])]
    return [(folder / name).resolve() for name in names]


def includes(project: Path) -> list[str]:
    """The folders that the component's CMakeLists.txt names."""
    folder = project / "generated" / "tigris_model"
    text = (folder / "CMakeLists.txt").read_text()
    found = re.findall(r"^ +(?:PRIV_)?INCLUDE_DIRS (.+)$", text, re.MULTILINE)
    assert len(found) == 2
    return [f"-I{(folder / name).resolve()}" for names in found for name in names.split()]


def host_program(project: Path, *defines: str, selftest: bool = True) -> Path:
    """The project's self-test or application, built on the doubles, its arenas where they are for the target linux."""
    build = project / "build_double"
    build.mkdir(exist_ok=True)
    image = project / "generated" / "tigris_selftest" / "app_main.c" if selftest else project / "app" / "main.c"
    script = project / "generated" / "tigris_model" / "arenas.ld"
    program = build / "program"
    flags = [f"-D{define}" for define in defines]
    run("gcc", *STRICT, *flags, f"-I{DOUBLES / 'include'}", *includes(project), image, DOUBLES / "doubles.c",
        *component_sources(project, LINKED in defines), f"-Wl,-T,{script}", "-Wl,--fatal-warnings", "-lm",
        "-o", program)  # fmt: skip
    return program


@dataclass(frozen=True)
class Ran:
    """What a program on the doubles printed, and how often the doubles were called."""

    log: str
    code: int
    calls: dict[str, int]

    @property
    def report(self) -> Report:
        return parse_report(self.log, "double", "host", None)


def flash_image(project: Path) -> Path:
    """The flash as the build for linux makes it: here the plan is all that matters of it."""
    image = project / "build_double" / "flash.bin"
    image.parent.mkdir(exist_ok=True)
    plan = next((project / "generated" / "plan").glob("*.tgrs"))
    offset = partition_table(project)["plan"].offset
    run(sys.executable, project / "generated" / "tigris_model" / "flash_image.py", image, hex(offset), plan)
    return image


def start(program: Path, project: Path, **environment: str) -> Ran:
    plan = partition_table(project)["plan"]
    values = {"DOUBLE_PLAN_OFFSET": hex(plan.offset), "DOUBLE_PLAN_SIZE": hex(plan.size), **environment}
    done = subprocess.run([program], capture_output=True, text=True, check=False, env={**os.environ, **values})
    calls = dict(re.findall(r"(\w+)=(\d+)", done.stderr))
    return Ran(done.stdout, done.returncode, {name: int(count) for name, count in calls.items()})


def check(ran: Ran, plan: Plan, vectors: list[TestVector]) -> None:
    report = ran.report
    assert report.passed, ran.log
    assert report.outputs == tuple(v.outputs for v in vectors)
    assert report.peak_bytes == plan.ram_bytes == report.stated_ram_bytes
    assert 0 < report.stack_bytes <= 8192


def slow_region(board: Board) -> dict[str, str]:
    return {"slow_region": "psram"} if any(r.name == "psram" for r in board.memory) else {}


@needs_gcc
@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
def test_every_board_gives_the_bytes_in_the_stated_ram(board: Board, tmp_path: Path) -> None:
    plan, vectors = handmade.lookup_plan(slow=True), handmade.lookup_vectors()
    project = make(tmp_path / "a project", board, plan, vectors, **slow_region(board))
    program = host_program(project, PARTITION, WATCHED, PSRAM)
    check(start(program, project, DOUBLE_FLASH=str(flash_image(project))), plan, vectors)


@needs_gcc
@pytest.mark.parametrize("major", [5, 6])
@pytest.mark.parametrize("where", [PARTITION, LINKED])
@pytest.mark.parametrize("linux", [False, True])
def test_every_configuration(linux: bool, where: str, major: int, tmp_path: Path) -> None:
    plan, vectors = handmade.lookup_plan(), handmade.lookup_vectors()
    project = make(tmp_path / "project", load_board("esp32c3-devkitm"), plan, vectors)
    image = flash_image(project)
    defines = [where, f"DOUBLE_IDF_MAJOR={major}"]
    defines += [LINUX, f'TIGRIS_FLASH_IMAGE="{image}"'] if linux else []
    ran = start(host_program(project, *defines), project, **({} if linux else {"DOUBLE_FLASH": str(image)}))
    check(ran, plan, vectors)
    assert ran.calls["mappings"] == (1 if where == PARTITION else 0)
    assert ran.calls["resets"] == 0, "without a watchdog nothing is fed"


@needs_gcc
def test_the_application_runs_the_self_test_and_returns(tmp_path: Path) -> None:
    plan, vectors = handmade.lookup_plan(), handmade.lookup_vectors()
    project = make(tmp_path / "project", load_board("esp32-devkitc"), plan, vectors)
    ran = start(host_program(project, LINKED, selftest=False), project)
    check(ran, plan, vectors)
    assert ran.code == 0


@needs_gcc
def test_the_watchdog_is_fed_before_each_step_of_a_subscribed_task(tmp_path: Path) -> None:
    plan, vectors = handmade.lookup_plan(), handmade.lookup_vectors()
    project = make(tmp_path / "project", load_board("esp32-devkitc"), plan, vectors)
    program = host_program(project, LINKED, WATCHED)
    assert start(program, project).calls["resets"] == 0
    # Each vector runs twice; a run steps through the records and once more to see that there are none left.
    expected = 2 * len(vectors) * (len(plan.records) + 1)
    assert start(program, project, DOUBLE_SUBSCRIBED="1").calls["resets"] == expected


@needs_gcc
@pytest.mark.parametrize(("milliseconds", "delays"), [(0, 0), (10, 2 * 3), (60000, 0)])
def test_others_get_a_tick_during_a_long_inference(milliseconds: int, delays: int, tmp_path: Path) -> None:
    """A tick is 10 ms and passes with each look at the clock: the second step of three is the first that comes late."""
    plan, vectors = handmade.lookup_plan(), handmade.lookup_vectors(3)
    project = make(tmp_path / "project", load_board("esp32-devkitc"), plan, vectors)
    ran = start(host_program(project, LINKED, f"CONFIG_TIGRIS_YIELD_MS={milliseconds}"), project)
    check(ran, plan, vectors)
    assert len(plan.records) == 2
    assert ran.calls["delays"] == 2 * delays


@needs_gcc
@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda plan: plan[:12] + bytes(4) + plan[16:], "holds another plan than this application's"),
        (lambda plan: plan[:200] + bytes([plan[200] ^ 1]) + plan[201:], "status="),
        (lambda plan: plan[:100], "cannot be mapped"),
    ],
)
def test_another_or_a_damaged_plan_is_refused(damage: Any, said: str, tmp_path: Path) -> None:
    project = make(tmp_path / "project", load_board("esp32-devkitc"), handmade.lookup_plan(), handmade.lookup_vectors())
    program = host_program(project, PARTITION)
    plan = project / "generated" / "plan" / "digits.tgrs"
    plan.write_bytes(damage(plan.read_bytes()))
    ran = start(program, project, DOUBLE_FLASH=str(flash_image(project)))
    assert not ran.report.passed
    assert said in ran.log


@needs_gcc
def test_a_missing_or_too_small_partition_is_told(tmp_path: Path) -> None:
    project = make(tmp_path / "project", load_board("esp32-devkitc"), handmade.lookup_plan(), handmade.lookup_vectors())
    program, image = host_program(project, PARTITION), str(flash_image(project))
    for size in ("0", "16"):
        ran = start(program, project, DOUBLE_FLASH=image, DOUBLE_PLAN_SIZE=size)
        assert not ran.report.passed
        assert 'no partition "plan" that holds the plan' in ran.log


@needs_gcc
def test_a_write_behind_the_arena_is_seen(tmp_path: Path) -> None:
    plan = handmade.lookup_plan()
    project = make(tmp_path / "project", load_board("esp32-devkitc"), plan, handmade.lookup_vectors())
    kernel = project / "generated/runtime/src/kernels/lookup_s8.c"
    text = kernel.read_text()
    body = text.index("tigris_status_t tigris_k_lookup_s8(")
    stray = f"*((volatile uint8_t *)call->input[0].data + {plan.fast_bytes} + 99) = 0xA5u;"
    kernel.write_text(text[:body] + text[body:].replace("return TIGRIS_OK;", f"{stray}\n    return TIGRIS_OK;", 1))
    ran = start(host_program(project, LINKED), project)
    assert ran.report.peak_bytes == plan.ram_bytes + 100


@needs_gcc
def test_an_arena_in_psram_needs_it_configured(tmp_path: Path) -> None:
    plan, vectors = handmade.lookup_plan(slow=True), handmade.lookup_vectors()
    project = make(tmp_path / "project", load_board("esp32s3-devkitc-psram"), plan, vectors, slow_region="psram")
    with pytest.raises(AssertionError, match=r"An arena is in PSRAM, which is not configured"):
        host_program(project, LINKED)


# Their files.


@dataclass(frozen=True)
class Entry:
    type: str
    subtype: str
    offset: int
    size: int


def partition_table(project: Path) -> dict[str, Entry]:
    lines = [line for line in (project / "partitions.csv").read_text().splitlines() if not line.startswith("#")]
    table = {}
    for line in lines:
        name, kind, subtype, offset, size = (part.strip() for part in line.split(","))
        table[name] = Entry(kind, subtype, int(offset, 0), int(size, 0))
    assert len(table) == len(lines)
    return table


def check_table(table: dict[str, Entry], flash_bytes: int, plan_bytes: int) -> None:
    """The rules of ESP-IDF's gen_esp32part.py, and that each part is large enough."""
    end = 0x9000  # behind the partition table, which is at 0x8000
    for name, entry in table.items():
        assert len(name) <= 15
        assert entry.offset >= end, f"{name} overlaps what is in front of it"
        assert entry.offset % (0x10000 if entry.type == "app" else 0x1000) == 0
        assert entry.size % 0x1000 == 0
        end = entry.offset + entry.size
    assert end <= flash_bytes
    assert table["factory"].type == "app"
    assert table["factory"].size >= 0x100000
    assert (table["plan"].type, table["plan"].subtype) == ("data", "0x40")
    assert table["plan"].size >= plan_bytes


def settings(path: Path) -> dict[str, str]:
    """The lines of a sdkconfig.defaults, each of which must be one that ESP-IDF reads."""
    found = {}
    for line in path.read_text().splitlines():
        match = re.fullmatch(r'(CONFIG_[A-Z0-9_]+)=(y|n|\d+|0x[0-9a-f]+|"[^"]*")', line)
        unset = re.fullmatch(r"# (CONFIG_[A-Z0-9_]+) is not set", line)
        assert match or unset or line.startswith("# "), line
        if match:
            found[match[1]] = match[2]
        elif unset:
            found[unset[1]] = "n"
    return found


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
def test_settings_and_partitions_of_every_board(board: Board, tmp_path: Path) -> None:
    plan = handmade.lookup_plan()
    project = make(tmp_path / "project", board, plan, handmade.lookup_vectors())
    use = board.frameworks["esp-idf"]
    common, own = settings(project / "sdkconfig.defaults"), settings(project / f"sdkconfig.defaults.{use.id}")
    assert (common | own).keys() <= KNOWN | OWN
    assert common["CONFIG_IDF_TARGET"] == f'"{use.id}"'
    assert common["CONFIG_ESP_MAIN_TASK_STACK_SIZE"] == str(use.stack)
    assert (project / common["CONFIG_PARTITION_TABLE_CUSTOM_FILENAME"].strip('"')).is_file()
    flash_mib = 4 if board.soc.core == "host" else board.region(use.program).size >> 20
    if board.soc.core != "host":
        assert own[f"CONFIG_ESPTOOLPY_FLASHSIZE_{flash_mib}MB"] == "y"
    for setting in use.settings:
        name, _, value = setting.partition("=")
        assert own[name] == value
    check_table(partition_table(project), flash_mib << 20, len(encode(plan)))


@pytest.mark.parametrize("board", CHIPS, ids=lambda board: board.name)
def test_the_largest_plan_that_is_accepted_has_a_partition_that_holds_it(board: Board) -> None:
    use = board.frameworks["esp-idf"]
    largest = board.available("esp-idf")[use.program]
    table = esp_idf.partitions(board.region(use.program).size, largest)
    check_table(
        {p.name: Entry(p.type, p.subtype, p.offset, p.size) for p in table}, board.region(use.program).size, largest
    )


def test_the_flash_of_the_target_linux_grows_with_the_plan(tmp_path: Path) -> None:
    board, plan = load_board("posix"), handmade.lookup_plan()
    largest = board.available("esp-idf")["image"]
    request = Request("digits", plan, b"", largest, board, place(plan, largest, board, "esp-idf"))
    table = request_details(request)["partitions"]
    check_table({p.name: Entry(p.type, p.subtype, p.offset, p.size) for p in table}, 128 << 20, largest)
    with pytest.raises(FitError):
        place(plan, largest + 1, board, "esp-idf")


def request_details(request: Request) -> Any:
    return esp_idf.FRAMEWORK.details(replace(request, plan_data=encode(request.plan)))


def test_a_board_whose_flash_esp_idf_does_not_know_is_refused(tmp_path: Path) -> None:
    board = load_board("esp32-devkitc")
    odd = replace(board, memory=tuple(replace_size(r, 0x300000) if r.kind == "flash" else r for r in board.memory))
    with pytest.raises(UsageError, match="3145728 bytes of flash"):
        make(tmp_path / "project", odd, handmade.lookup_plan(), handmade.lookup_vectors())


def replace_size(region: Any, size: int) -> Any:
    return region.model_copy(update={"size": size})


def test_arenas_go_to_the_output_sections_of_their_memory(tmp_path: Path) -> None:
    plan, vectors = handmade.lookup_plan(slow=True), handmade.lookup_vectors()
    board = load_board("esp32s3-devkitc-psram")
    for region, target in (("psram", "extern_ram"), ("dram", "dram0_bss")):
        project = make(tmp_path / region, board, plan, vectors, slow_region=region)
        fragment = (project / "generated/tigris_model/linker.lf").read_text()
        assert f"    tigris_slow -> {target}\n" in fragment
        assert "        tigris_fast -> dram0_bss SORT(name)\n" in fragment
        core = (project / "generated/core/digits.c").read_text()
        assert '"\\.tigris_fast' not in core
        assert 'IN_SECTION(".tigris_fast.arena")' in core
        assert 'IN_SECTION(".tigris_slow.arena")' in core
    only_fast = make(tmp_path / "fast", board, handmade.lookup_plan(), vectors)
    assert "tigris_slow" not in (only_fast / "generated/tigris_model/linker.lf").read_text()


def test_kconfig_of_the_component(tmp_path: Path) -> None:
    project = make(tmp_path / "project", CHIPS[0], handmade.lookup_plan(), handmade.lookup_vectors())
    kconfig = kconfiglib.Kconfig(str(project / "generated/tigris_model/Kconfig"), warn_to_stderr=False)
    assert not kconfig.warnings
    value = {name: symbol.str_value for name, symbol in kconfig.syms.items()}
    assert (value["TIGRIS_PLAN_PARTITION"], value["TIGRIS_PLAN_LINKED"], value["TIGRIS_YIELD_MS"]) == ("y", "n", "1000")
    assert {f"CONFIG_{name}" for name in value} >= OWN
    kconfig.syms["TIGRIS_PLAN_LINKED"].set_value("y")
    assert kconfig.syms["TIGRIS_PLAN_PARTITION"].str_value == "n"


def test_manifests(tmp_path: Path) -> None:
    project = make(tmp_path / "project", CHIPS[0], handmade.lookup_plan(), handmade.lookup_vectors())
    version = runtime_version(runtime_files(resources.runtime_dir(), ()))
    model = yaml.safe_load((project / "generated/tigris_model/idf_component.yml").read_text())
    assert (model["version"], set(model["dependencies"])) == (version, {"idf"})
    assert yaml.safe_load((project / "app/idf_component.yml").read_text())["dependencies"] == {"idf": ">=5.5"}
    runtime = yaml.safe_load((REPOSITORY / "runtime/idf_component.yml").read_text())
    assert runtime["version"] == version
    assert [(REPOSITORY / "runtime" / e["path"]).resolve() for e in runtime["examples"]] == [EXAMPLE]


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
def test_the_test_file_of_pytest_embedded(board: Board, tmp_path: Path) -> None:
    """It takes the self-test's own lines: its expressions are tried on a log."""
    plan = handmade.lookup_plan()
    project = make(tmp_path / "project", board, plan, handmade.lookup_vectors())
    source = (project / "pytest_digits.py").read_text()
    tree = ast.parse(source)
    (function,) = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert function.name == "test_digits"
    assert [argument.arg for argument in function.args.args] == ["dut"]
    assert f"--target {board.frameworks['esp-idf'].id} " in source

    class Device:
        def __init__(self, log: str) -> None:
            self.log = log.encode()

        def expect(self, pattern: str, timeout: float) -> re.Match[bytes]:
            assert timeout > 0
            match = re.search(pattern.encode(), self.log)
            assert match, pattern
            self.log = self.log[match.end() :]
            return match

    names: dict[str, Any] = {"Dut": Device}
    exec(compile(source.replace("from pytest_embedded import Dut\n", ""), "pytest_digits.py", "exec"), names)
    good = (
        "I (1) main_task: Calling app_main()\r\n"
        f"TIGRIS digits START vectors=3 ram={plan.ram_bytes} hz=1000000\r\n"
        f"TIGRIS digits PASS crc=0x00000000 peak={plan.ram_bytes} stack=500 ticks=9\r\n"
    )
    names["test_digits"](Device(good))
    for old, new in (
        ("PASS crc=0x00000000", "FAIL vector=0"),
        (f"peak={plan.ram_bytes}", f"peak={plan.ram_bytes + 1}"),
    ):
        with pytest.raises((AssertionError, KeyError)):
            names["test_digits"](Device(good.replace(old, new)))


def test_the_backend_esp_nn_is_complete_in_the_template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until its kernels exist no plan is made for it; the template is ready."""
    for module in ("context", "project"):
        monkeypatch.setattr(f"tigris_codegen.codegen.{module}.plan_backend", lambda _: "esp-nn")
    plan, vectors = handmade.lookup_plan(), handmade.lookup_vectors()
    project = make(tmp_path / "project", CHIPS[0], plan, vectors, backend="esp-nn")
    manifest = yaml.safe_load((project / "generated/tigris_model/idf_component.yml").read_text())
    assert manifest["dependencies"]["espressif/esp-nn"] == f"^{esp_idf.ESP_NN_VERSION}"
    defaults = settings(project / "sdkconfig.defaults")
    assert (defaults["CONFIG_NN_OPTIMIZED"], defaults["CONFIG_NN_SKIP_NUDGE"]) == ("y", "n")
    assert defaults.keys() <= KNOWN | OWN | KNOWN_OF_ESP_NN


def test_with_the_runtime_as_a_component_it_is_not_copied(tmp_path: Path) -> None:
    plan, vectors = handmade.lookup_plan(), handmade.lookup_vectors()
    project = make(tmp_path / "project", CHIPS[0], plan, vectors, runtime="module")
    assert not (project / "generated" / "runtime").exists()
    text = (project / "generated/tigris_model/CMakeLists.txt").read_text()
    assert "    REQUIRES runtime\n" in text
    assert "../runtime" not in text
    # The folder gives a component its name.
    component = (REPOSITORY / "runtime" / "CMakeLists.txt").read_text()
    assert "if(ESP_PLATFORM)\n" in component[: component.index("\nproject(")]


def test_the_plan_is_in_the_project_as_it_was_given(tmp_path: Path) -> None:
    plan = handmade.lookup_plan()
    project = make(tmp_path / "project", CHIPS[0], plan, handmade.lookup_vectors())
    assert (project / "generated/plan/digits.tgrs").read_bytes() == encode(plan)
    assert "generated/plan/digits.tgrs" in read_lock(project).files


def test_an_image_of_flash_is_erased_between_its_files(tmp_path: Path) -> None:
    project = make(tmp_path / "project", CHIPS[0], handmade.lookup_plan(), handmade.lookup_vectors())
    for name, data in (("a", b"first"), ("b", b"second")):
        (tmp_path / name).write_bytes(data)
    script = project / "generated/tigris_model/flash_image.py"
    run(sys.executable, script, tmp_path / "image", "0x20", tmp_path / "b", "8", tmp_path / "a")
    assert (tmp_path / "image").read_bytes() == b"\xff" * 8 + b"first" + b"\xff" * 19 + b"second"


# verify.


@pytest.fixture
def no_idf(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without ESP-IDF; the folder is first on its search path."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", os.pathsep.join([str(folder), "/usr/bin", "/bin"]))
    monkeypatch.delenv("IDF_PATH", raising=False)
    return folder


@pytest.mark.parametrize("board", ["posix", "esp32s3-devkitc"])
def test_without_esp_idf_verify_says_what_to_install(board: str, no_idf: Path, tmp_path: Path) -> None:
    project = make(tmp_path / "project", load_board(board), handmade.lookup_plan(), handmade.lookup_vectors())
    with pytest.raises(MissingError, match="ESP-IDF is missing") as error:
        verify_project(project)
    assert error.value.exit_code == 4
    assert "export.sh" in str(error.value.hint)
    with pytest.raises(UsageError, match="qemu cannot run a project for esp-idf"):
        verify_project(project, "qemu")


#: In the place of idf.py: what it was asked for, and a program that was built on the doubles.
STAND_IN = """\
#!{python}
import shutil, sys
from pathlib import Path
assert sys.argv[1:] == {arguments!r}, sys.argv
Path("build_linux").mkdir(exist_ok=True)
shutil.copy({program!r}, "build_linux/digits.elf")
"""


@needs_gcc
def test_verify_builds_for_linux_and_compares(no_idf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, vectors = handmade.lookup_plan(), handmade.lookup_vectors()
    project = make(tmp_path / "project", load_board("esp32s3-devkitc"), plan, vectors)
    program = host_program(project, LINKED, LINUX)
    arguments = ["--preview", "-B", "build_linux", "-DIDF_TARGET=linux", "-DSDKCONFIG=build_linux/sdkconfig",
                 "-DTIGRIS_SELFTEST=1", "build"]  # fmt: skip
    stand_in = no_idf / "idf.py"
    stand_in.write_text(STAND_IN.format(python=sys.executable, arguments=arguments, program=str(program)))
    stand_in.chmod(0o755)
    result = verify_project(project)
    result.check()
    assert (result.board.name, result.report.emulator) == ("esp32s3-devkitc", "linux")
    assert result.report.outputs == tuple(v.outputs for v in vectors)
    # As well through IDF_PATH, and with ESP-IDF's words where it fails.
    (tmp_path / "idf" / "tools").mkdir(parents=True)
    stand_in.rename(tmp_path / "idf" / "tools" / "idf.py")
    monkeypatch.setenv("IDF_PATH", str(tmp_path / "idf"))
    monkeypatch.delenv("IDF_PYTHON_ENV_PATH", raising=False)
    assert verify_project(project).ok
    (tmp_path / "idf" / "tools" / "idf.py").write_text("import sys\nsys.exit('no such target')\n")
    with pytest.raises(TigrisError, match="no such target"):
        verify_project(project)


# The example and the runtime as a component.


@needs_gcc
def test_the_example_reads_its_digit(tmp_path: Path) -> None:
    """Its main.c with the core that its CMakeLists.txt makes, here with a copy of the runtime."""
    model = (EXAMPLE / "main/digits.tflite").read_bytes()
    assert model == (REPOSITORY / "examples/digits/digits.tflite").read_bytes()
    assert "-m 16K --format core --runtime none --name digits" in (EXAMPLE / "main/CMakeLists.txt").read_text()
    plan_bytes = Model(model, "digits").within(16 << 10).plan_bytes
    generate_core(plan_bytes, tmp_path / "cores", core_name="digits")
    folders = [tmp_path / "cores" / name for name in ("digits", "tigris_runtime/include", "tigris_runtime/src")]
    program = tmp_path / "program"
    run("gcc", *STRICT, f"-I{DOUBLES / 'include'}", *[f"-I{folder}" for folder in folders], EXAMPLE / "main/main.c",
        DOUBLES / "doubles.c", *sorted((tmp_path / "cores").rglob("*.c")), "-lm", "-o", program)  # fmt: skip
    said = re.fullmatch(r"This is a 3 \(100 %\), read in \d+ us with (\d+) bytes of RAM\.\n", run(program))
    assert said
    assert f"with {said[1]} bytes of RAM" in (EXAMPLE / "README.md").read_text()


def test_the_example_is_laid_out_as_esp_idf_wants_it() -> None:
    assert {p.relative_to(EXAMPLE).as_posix() for p in EXAMPLE.rglob("*") if p.is_file()} == {
        ".gitignore",
        "CMakeLists.txt",
        "README.md",
        "main/CMakeLists.txt",
        "main/digits.tflite",
        "main/idf_component.yml",
        "main/main.c",
        "sdkconfig.defaults",
    }
    assert settings(EXAMPLE / "sdkconfig.defaults").keys() <= KNOWN
    manifest = yaml.safe_load((EXAMPLE / "main/idf_component.yml").read_text())
    where = manifest["dependencies"]["tigris/runtime"]["override_path"]
    assert (EXAMPLE / "main" / where).resolve() == REPOSITORY / "runtime"
    assert (REPOSITORY / "runtime").name == "runtime", "the folder's name is the component's"
