"""Boards: the files we ship, and every way in which a file can be wrong."""

from __future__ import annotations

import shutil
import textwrap
from pathlib import Path

import pytest

from tigris_codegen import resources
from tigris_codegen.boards import Board, boards_markdown, list_boards, load_board, size_text, sizes_text
from tigris_codegen.emulate import EMULATORS, choose_emulator, emulators_of
from tigris_codegen.errors import MissingError, UsageError

#: A board of one's own; docs/ADDING_A_BOARD.md shows it.
OWN = """\
name = "mine"
title = "My own board"
soc = "stm32h743xi"

[console]
uart = "usart3"
baud = 115200
tx = { port = "d", pin = 8, function = 7 }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one board of its own, `mine`, and its SoC."""
    (tmp_path / "soc").mkdir()
    shutil.copy(resources.boards_dir() / "soc" / "cmsdk-cm4.toml", tmp_path / "soc")
    text = (resources.boards_dir() / "mps2-an386.toml").read_text()
    (tmp_path / "mine.toml").write_text(text.replace('name = "mps2-an386"', 'name = "mine"'))
    return tmp_path


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_every_shipped_board_loads_and_is_listed() -> None:
    boards = list_boards()
    shipped = (
        "nucleo-h7 nucleo-h753zi nucleo-f446re nucleo-f746zg stm32f7-discovery stm32f4-discovery nucleo-l4 nucleo-u5 "
        "nrf52840dk nrf5340dk pico pico2 arduino-nano33ble mps2-an385 mps2-an386 mps2-an500 mps2-an505 mps3-an547 "
        "netduinoplus2 microbit qemu-riscv32 posix"
    )
    assert set(shipped.split()) <= {b.name for b in boards}
    assert [b.name for b in boards] == sorted(p.stem for p in resources.boards_dir().glob("*.toml"))


def test_a_board_is_its_file_with_its_soc() -> None:
    board = load_board("mps2-an500")
    assert board.console_uart is not None
    assert (board.soc.core, board.soc.fpu, board.console_uart.base) == ("cortex-m7", "dp", 0x40004000)
    assert board.region("psram").end == 0x61000000
    assert board.framework_name(None) == "baremetal"


def test_what_a_framework_leaves_is_size_less_takes_less_stack() -> None:
    board = load_board("mps2-an386")
    left = board.available("baremetal")
    assert left == {"code": 0x400000 - 0x20000, "ram": 0x400000 - 1024 - 4096, "psram": 0x1000000}
    assert board.arena_regions("baremetal") == {"ram": left["ram"], "psram": left["psram"]}


def test_a_folder_of_ones_own_is_looked_in_first(folder: Path) -> None:
    assert load_board("mine", [folder]).name == "mine"
    edit(folder / "mine.toml", "25_000_000", "50_000_000")
    (folder / "mine.toml").rename(folder / "mps2-an386.toml")
    edit(folder / "mps2-an386.toml", 'name = "mine"', 'name = "mps2-an386"')
    assert load_board("mps2-an386", [folder]).clock_hz == 50_000_000
    assert load_board("mps2-an386").clock_hz == 25_000_000


def test_an_unknown_board_lists_near_names() -> None:
    with pytest.raises(MissingError, match=r"no board mps2-an387") as error:
        load_board("mps2-an387")
    assert error.value.hint is not None
    assert "mps2-an386" in error.value.hint
    assert error.value.exit_code == 4


def test_a_board_name_is_no_path(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    shutil.copy(resources.boards_dir() / "mps2-an386.toml", tmp_path)
    with pytest.raises(MissingError):
        load_board("../mps2-an386", [tmp_path / "below"])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("clock_hz = 25_000_000", "clock_mhz = 25", r"mine\.toml: clock_mhz: unknown key"),
        ("clock_hz = 25_000_000", "", r"mine\.toml: clock_hz: missing, here and in the SoC cmsdk-cm4"),
        ("clock_hz = 25_000_000", "clock_hz = 25_000_000\nicache = true", r"mine\.toml: icache: cmsdk-cm4 has none"),
        ("baud = 115200", 'baud = 115200\ntx = { port = "a", pin = 2 }', r"console\.tx\.port: cmsdk-cm4 has no port a"),
        ("baud = 115200", 'baud = 115200\ntx = { port = "a", pin = 32 }', r"console\.tx\.pin: input should be less"),
        ("clock_hz = 25_000_000", 'clock_hz = "25"', r"mine\.toml: clock_hz: input should be a valid integer"),
        ('kind = "ram"', 'kind = "rom"', r"mine\.toml: memory\.1\.kind: input should be 'flash' or 'ram'"),
        ("size = 0x00400000", "size = 0x00400000\nspeed = 1", r"mine\.toml: memory\.0\.speed: unknown key"),
        ("size = 0x00400000", "size = 0", r"mine\.toml: memory\.0\.size"),
        ("base = 0x21000000", "base = 0x20300000", r"mine\.toml: memory: ram and psram overlap"),
        ("base = 0x21000000", "base = 0xFFFFF000", r"psram ends behind the 32-bit address space"),
        ('name = "psram"', 'name = "ram"', r"memory: two regions have one name"),
        ('uart = "uart0"', 'uart = "uart9"', r"console\.uart: cmsdk-cm4 has no UART uart9"),
        ('data = "ram"', 'data = "code"', r"frameworks\.baremetal\.data: code is not ram"),
        ('program = "code"', 'program = "flash"', r"frameworks\.baremetal\.program: no memory region flash"),
        ("ram = 1024 }", "ram = 0x400000 }", r"frameworks\.baremetal\.takes: more than"),
        ("ram = 1024 }", "sram = 1024 }", r"frameworks\.baremetal\.takes: no memory region sram"),
        ("[frameworks.baremetal]", "[frameworks.barmetal]", r"mine\.toml: frameworks\.barmetal"),
        ("[frameworks.baremetal]", "[frameworks.posix]", r"frameworks\.posix: not for the core cortex-m4"),
        ('name = "mine"', 'name = "yours"', r"name: yours is not the name of the file"),
        ("[console]", "[console", r"mine\.toml: not TOML"),
    ],
)
def test_a_wrong_file_is_refused_by_name_and_key(folder: Path, old: str, new: str, said: str) -> None:
    edit(folder / "mine.toml", old, new)
    with pytest.raises(UsageError, match=said):
        load_board("mine", [folder])


def test_all_that_is_wrong_is_said_at_once(folder: Path) -> None:
    edit(folder / "mine.toml", "clock_hz = 25_000_000", "clock = 1")
    edit(folder / "mine.toml", "baud = 115200", "speed = 115200")
    with pytest.raises(UsageError) as error:
        load_board("mine", [folder])
    for said in ("clock: unknown key", "console.speed: unknown key", "console.baud: missing"):
        assert said in str(error.value)


def test_a_wrong_soc_file_is_refused_by_its_own_name(folder: Path) -> None:
    edit(folder / "soc" / "cmsdk-cm4.toml", 'fpu = "sp"', 'fpu = "single"')
    with pytest.raises(UsageError, match=r"soc/cmsdk-cm4\.toml: fpu"):
        load_board("mine", [folder])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("interrupts = 97", "", r"mine\.toml: interrupts: missing in the SoC stm32f446xe"),
        ("address = 0x40023840", "address = 0x40023841", r"uarts\.usart2\.enable\.address: input should be a multiple"),
        ("bits = 0x00020000", "bits = 0", r"uarts\.usart2\.enable\.bits: input should be greater than 0"),
        ("transmit = { address = 0x40004404 }", "", r"uarts\.usart2\.transmit: missing"),
        ("address = 0x40004404 }", "address = 0x40004404, dma = { done = 4 } }", r"transmit\.dma\.pointer: missing"),
        ('driver = "stm32_v1"', 'driver = "stm32"', r"uarts\.usart2\.driver: input should be 'cmsdk'"),
        ("value = 0x000000C0", "value = 0x1000000C0", r"emulators\.unicorn\.stubs\.0\.value: input should be less"),
        ("value = 0x000000C0", "data = 1, value = 0xC0", r"emulators\.unicorn\.stubs\.0\.data: unknown key"),
        ("[emulators.unicorn]", "[emulators.unicron]", r"emulators\.unicron: unknown key"),
        ("base = 0x20000000", "base = 0x08000000", r"mine\.toml: memory: flash and sram overlap"),
    ],
)
def test_a_wrong_soc_file_is_refused_by_key(tmp_path: Path, old: str, new: str, said: str) -> None:
    (tmp_path / "soc").mkdir()
    shutil.copy(resources.boards_dir() / "soc" / "stm32f446xe.toml", tmp_path / "soc")
    edit(tmp_path / "soc" / "stm32f446xe.toml", old, new)
    (tmp_path / "mine.toml").write_text(OWN.replace("stm32h743xi", "stm32f446xe").replace("usart3", "usart2"))
    edit(tmp_path / "mine.toml", 'port = "d"', 'port = "a"')
    with pytest.raises(UsageError, match=said):
        load_board("mine", [tmp_path])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[console]", "[consol]", r"mine\.toml: consol: unknown key"),
        (
            '[console]\nuart = "usart3"\nbaud = 115200\ntx = { port = "d", pin = 8, function = 7 }\n',
            "",
            r"console: missing",
        ),
        ('tx = { port = "d", pin = 8, function = 7 }\n', "", r"console\.tx: missing, usart3 has no pin of its own"),
        ("function = 7", "function = 16", r"console\.tx\.function: input should be less than or equal to 15"),
    ],
)
def test_what_a_short_board_file_must_say(tmp_path: Path, old: str, new: str, said: str) -> None:
    (tmp_path / "mine.toml").write_text(OWN)
    edit(tmp_path / "mine.toml", old, new)
    with pytest.raises(UsageError, match=said):
        load_board("mine", [tmp_path])


def test_a_board_of_ones_own_in_ten_lines_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(OWN)
    assert len(OWN.splitlines()) <= 10
    board = load_board(str(path))
    model = load_board("nucleo-h7")
    assert (board.name, board.title) == ("mine", "My own board")
    assert (board.soc, board.memory) == (model.soc, model.memory)
    # Frameworks that have names for boards know this one only when it says its name.
    assert board.frameworks == {"baremetal": model.frameworks["baremetal"]}
    assert (board.clock_hz, board.emulators) == (model.clock_hz, model.emulators)
    assert board.files == {
        "mine.toml": OWN.encode(),
        "soc/stm32h743xi.toml": (resources.boards_dir() / "soc" / "stm32h743xi.toml").read_bytes(),
    }
    with pytest.raises(MissingError, match=r"no board file .*absent\.toml"):
        load_board(str(tmp_path / "absent.toml"))


def test_what_a_board_says_goes_before_what_its_soc_says(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("clock_hz = 8_000_000\ndcache = false\n" + OWN)
    board = load_board("mine", [tmp_path])
    assert (board.clock_hz, board.icache, board.dcache) == (8_000_000, True, False)


def test_the_document_shows_the_board_that_is_tested() -> None:
    text = (resources.CHECKOUT / "docs" / "ADDING_A_BOARD.md").read_text()
    assert textwrap.indent(OWN, "    ") in text


def test_arenas_go_to_the_fastest_memory_and_never_to_the_null_pointer() -> None:
    board = load_board("nucleo-h7")
    assert list(board.arena_regions("baremetal")) == ["dtcm", "axi_sram", "sram123", "sram4"]
    assert board.arena_regions("baremetal")["dtcm"] == 128 * 1024 - 4096 - 1024
    assert (board.soc.fpu, board.compile_fpu) == ("dp", "sp")


@pytest.mark.parametrize("board", list_boards(), ids=lambda board: board.name)
def test_every_shipped_board_says_where_its_facts_are_from_and_runs_where_it_is_bare_metal(board: Board) -> None:
    assert emulators_of(board) or "baremetal" not in board.frameworks
    assert board.soc.sources
    assert board.sources or board.soc.core == "host"


@pytest.mark.parametrize("board", list_boards(), ids=lambda board: board.name)
def test_nothing_lies_below_the_stack_of_a_cortex_m(board: Board) -> None:
    """A stack at the lower end of the RAM that overflows faults only where no memory is in front of the RAM."""
    use = board.frameworks.get("baremetal")
    if use is not None and board.architecture == "arm":
        data = board.region(use.data)
        assert [r.name for r in board.memory if r.base < data.base <= r.end] == []


@pytest.mark.parametrize("board", list_boards(), ids=lambda board: board.name)
def test_what_zephyr_needs_of_a_board(board: Board) -> None:
    """Its RAM needs no devicetree node of ours; a region that it has no node for holds nothing or gets one."""
    use = board.frameworks.get("zephyr")
    if use is not None and board.architecture != "host":
        assert use.id
        assert use.data not in use.regions
        assert use.takes[use.data] >= 4096


def test_a_framework_that_both_files_name_keeps_the_order_of_the_socs() -> None:
    board = load_board("nucleo-f746zg")
    assert list(board.frameworks)[:2] == ["baremetal", "zephyr"]
    assert board.framework_name(None) == "baremetal"
    assert (board.frameworks["zephyr"].id, board.frameworks["zephyr"].data) == ("nucleo_f746zg", "sram")


def test_a_board_may_take_more_of_a_region_than_its_soc_says() -> None:
    board, soc_says = load_board("arduino-nano33ble"), load_board("nrf52840dk")
    assert board.soc == soc_says.soc
    assert board.region("flash").base == 0x10000
    taken = [b.frameworks["zephyr"].takes["flash"] for b in (board, soc_says)]
    assert taken[0] == taken[1] + 0x8000


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('pyocd = "STM32 H7"', r"probe\.pyocd: string should match"),
        ('openocd = ["board/x"]', r"probe\.openocd\.0: string should match"),
        ('jlink = "STM32H743ZI"', r"probe\.jlink: unknown key"),
    ],
)
def test_a_wrong_probe_is_refused_by_key(tmp_path: Path, table: str, said: str) -> None:
    (tmp_path / "mine.toml").write_text(f"{OWN}\n[probe]\n{table}\n")
    with pytest.raises(UsageError, match=said):
        load_board("mine", [tmp_path])


def test_sizes_in_a_row_say_a_unit_once() -> None:
    assert size_text(64 << 10) == "64 KiB"
    assert size_text(180736 + 1) == "180737 B"
    assert size_text(0) == "0 B"
    assert sizes_text([128 << 10, 512 << 10, 8 << 20]) == "128, 512 KiB, 8 MiB"
    assert sizes_text([]) == ""


def test_the_table_of_boards_has_a_row_for_each() -> None:
    boards = list_boards()
    head, _, *rows = boards_markdown(boards).splitlines()
    assert [row.split("`")[1] for row in rows] == [b.name for b in boards]
    assert {row.count(" | ") for row in rows} == {head.count(" | ")}
    (row,) = (row for row in rows if row.startswith("| `nrf5340dk` "))
    for said in ("cortex-m33", "`ram` 512 KiB", "`flash` 1 MiB", "`nrf5340dk/nrf5340/cpuapp`", "unicorn", "yes"):
        assert said in row


@pytest.mark.parametrize(
    ("board", "first"),
    [("mps2-an386", "qemu"), ("nucleo-h7", "unicorn"), ("nrf52840dk", "unicorn"), ("posix", "native")],
)
def test_the_default_emulator(board: str, first: str) -> None:
    known = load_board(board)
    assert emulators_of(known)[0] == first
    assert choose_emulator(known, None) is EMULATORS[first]
    unable = next(name for name in EMULATORS if name not in emulators_of(known))
    with pytest.raises(UsageError, match=f"{unable} cannot be the board") as error:
        choose_emulator(known, unable)
    assert first in str(error.value.hint)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('isa = "rv32imac"\n', "", r"mine\.toml: isa: missing in the SoC qemu-virt-rv32"),
        ('isa = "rv32imac"', 'isa = "rv64imac"', r"soc/qemu-virt-rv32\.toml: isa: string should match"),
        ('core = "riscv32"', 'core = "cortex-m3"', r"mine\.toml: isa: qemu-virt-rv32 is no RISC-V"),
        (
            "[emulators.unicorn]",
            '[timer]\ndriver = "rtc"\nbase = 0\n[emulators.unicorn]',
            r"timer\.driver: input should",
        ),
        ("bits = 0x80000000", "mask = 1", r"uarts\.uart0\.transmit\.off_while\.bits: missing"),
    ],
)
def test_a_wrong_soc_file_of_a_risc_v_is_refused_by_key(tmp_path: Path, old: str, new: str, said: str) -> None:
    (tmp_path / "soc").mkdir()
    for name in ("qemu-riscv32.toml", "soc/qemu-virt-rv32.toml"):
        shutil.copy(resources.boards_dir() / name, tmp_path / name)
    (tmp_path / "qemu-riscv32.toml").rename(tmp_path / "mine.toml")
    edit(tmp_path / "mine.toml", 'name = "qemu-riscv32"', 'name = "mine"')
    assert load_board("mine", [tmp_path]).soc.isa == "rv32imac"
    edit(tmp_path / "soc" / "qemu-virt-rv32.toml", old, new)
    with pytest.raises(UsageError, match=said):
        load_board("mine", [tmp_path])


@pytest.mark.parametrize(
    ("board", "architecture", "command"),
    [
        ("mps3-an547", "arm", ("qemu-system-arm", "-M", "mps3-an547")),
        ("qemu-riscv32", "riscv", ("qemu-system-riscv32", "-M", "virt", "-bios", "none")),
        ("nucleo-h7", "arm", ()),
        ("posix", "host", ()),
    ],
)
def test_how_qemu_is_told_to_be_a_board(board: str, architecture: str, command: tuple[str, ...]) -> None:
    known = load_board(board)
    assert (known.architecture, known.qemu_command) == (architecture, command)


def test_an_unknown_soc_lists_near_names(folder: Path) -> None:
    edit(folder / "mine.toml", 'soc = "cmsdk-cm4"', 'soc = "cmsdk-cm5"')
    with pytest.raises(MissingError, match="no SoC cmsdk-cm5") as error:
        load_board("mine", [folder])
    assert "cmsdk-cm4" in str(error.value.hint)


def test_a_region_or_framework_that_a_board_lacks() -> None:
    board = load_board("mps2-an386")
    with pytest.raises(UsageError, match="no memory region itcm") as error:
        board.region("itcm")
    assert "psram" in str(error.value.hint)
    with pytest.raises(UsageError, match="no framework esp-idf"):
        board.framework_name("esp-idf")


def test_the_host_library_variable_must_name_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TIGRIS_HOST_LIBRARY", str(tmp_path / "absent.so"))
    with pytest.raises(MissingError, match="TIGRIS_HOST_LIBRARY"):
        resources.host_library()
    (tmp_path / "absent.so").write_bytes(b"")
    assert resources.host_library() == tmp_path / "absent.so"


def test_resources_are_found_inside_an_installed_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(resources, "PACKAGE", tmp_path / "tigris_codegen")
    monkeypatch.setattr(resources, "CHECKOUT", tmp_path)
    with pytest.raises(MissingError, match="boards"):
        resources.boards_dir()
    (tmp_path / "boards").mkdir()  # a stranger's folder beside the package
    with pytest.raises(MissingError, match="boards"):
        resources.boards_dir()
    (tmp_path / "tigris_codegen" / "_data" / "boards").mkdir(parents=True)
    (tmp_path / "tigris_codegen" / "_data" / "boards" / "mps2-an386.toml").write_text("")
    assert resources.boards_dir() == tmp_path / "tigris_codegen" / "_data" / "boards"
