"""Reports stay within the console, whatever a model calls its tensors."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from io import StringIO

import pytest
import tflite
from rich.cells import cell_len
from rich.console import Console

from tests.firmware import handmade
from tests.unit.cli_support import CHAIN, relu_model
from tigris_codegen.errors import ModelError, Refusal
from tigris_codegen.pipeline import Compiled, Model
from tigris_codegen.plan.codec import encode
from tigris_codegen.plan.layout import Kind, Space
from tigris_codegen.plan.plan import Record
from tigris_codegen.report.analysis import Memory, analyze, as_json, refused, report_plan
from tigris_codegen.report.listing import list_model
from tigris_codegen.report.text import (
    print_analysis,
    print_file_operators,
    print_listing,
    print_plan,
    print_records,
    printable,
    refusal_lines,
    short,
)
from tigris_codegen.sizes import Pools

NAMES = {
    "plain": ("x", "y"),
    "long": ("serving_default_" + "a_scope/" * 60 + "input:0", "y" * 500),
    "wide": ("入力テンソル" * 20, "größe" * 30),
    "hostile": ("a\x1b[31mb\nc\td\u202e", "[bold]markup[/bold] \\ [/]"),
    "empty": ("", " "),
}


def shown(report: Callable[[Console], None], width: int = 100) -> list[str]:
    console = Console(file=StringIO(), width=width, force_terminal=False)
    report(console)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [80, 100, 140])
@pytest.mark.parametrize("kind", sorted(NAMES))
def test_no_line_leaves_the_console(kind: str, width: int) -> None:
    data = relu_model(NAMES[kind], ports=3)
    model = Model(data, f"{NAMES[kind][0]}.tflite")
    compiled = model.roomy()
    analysis = analyze(model, f"{NAMES[kind][0]}.tflite", Memory(Pools(4096, 8192)), compiled)
    listing = list_model(data, "m.tflite", model, ())
    with pytest.raises(ModelError) as error:
        Model(refusing := relu_model(NAMES[kind], ports=3, unsupported="LSTM"), "m.tflite")
    refusing_list = list_model(refusing, "m.tflite", None, error.value.refusals)
    for report in (
        lambda console: print_analysis(console, analysis),
        lambda console: print_analysis(console, refused("m", Memory(), error.value.refusals)),
        lambda console: print_plan(console, report_plan(compiled)),
        lambda console: print_file_operators(console, listing.operators),
        lambda console: print_listing(console, refusing_list),
        lambda console: print_records(console, compiled.plan),
    ):
        lines = shown(report, width)
        assert lines
        assert max(map(cell_len, lines)) <= width
        assert all(c.isprintable() for line in lines for c in line)


def test_names_are_cut_from_the_left_and_stay_words() -> None:
    assert short("abc", 5) == "abc"
    assert short("abcdef", 5) == "…cdef"
    assert short("日本語テンソル", 7) == "…ンソル"
    assert printable("a\x1b[1m\n\u202e") == "a\\x1b[1m\\n\\u202e"
    assert shown(lambda console: print_analysis(console, refused("[red]x", Memory(), ())))[0].startswith("[red]x")


def test_a_hint_stands_once_below_its_refusals() -> None:
    refusals = (
        Refusal("a", "first", 1, "ADD", "do this"),
        Refusal("b", "second", 2, "MUL", "do this"),
        Refusal("c", "third\nline"),
    )
    assert refusal_lines(refusals) == [
        "operator 1 ADD: first",
        "operator 2 MUL: second",
        "  -> do this",
        "third\\nline",
    ]


def test_a_refused_analysis_has_every_key_of_another() -> None:
    model = Model(CHAIN.read_bytes(), "m.tflite")
    full = as_json(analyze(model, "m.tflite", Memory(), model.roomy()))
    bare = as_json(refused("m.tflite", Memory(), (Refusal("a", "b"),)))
    assert full.keys() == bare.keys()
    assert (bare["fits"], bare["ram"], bare["operators"], bare["frontier"]) == (False, None, [], ())


def test_bands_are_counted_along_their_axis() -> None:
    """What `bands` says is what the schedule does; every operator runs whole for a reason or in bands along an axis."""
    model = Model(CHAIN.read_bytes(), "m.tflite")
    for compiled in (model.roomy(), model.smallest()):
        report = report_plan(compiled, model)
        for operator in report.operators:
            assert (operator.bands > 1) == (operator.band_axis is not None) == (operator.why_whole is None)
        assert report.calls == sum(op.bands for op in report.operators)
    assert any(op.band_axis == 1 for op in report_plan(model.smallest(), model).operators)


def test_traffic_is_what_crosses_to_the_slow_arena() -> None:
    row, rows = handmade.ROW_BYTES, handmade.ROWS
    # The kernel itself reads the slow arena: each row once.
    plan = handmade.lookup_plan(slow=True)
    traffic = report_plan(Compiled(plan, encode(plan))).traffic
    assert (traffic.slow_read_bytes, traffic.slow_written_bytes) == (rows * row, 0)
    # Three rows copied in, two copied out.
    fast = replace(plan.operands[0], space=Space.FAST, offset=handmade.TENSOR_BYTES)
    copies = (Record(Kind.COPY, 2, 0, 3, channel=0), Record(Kind.COPY, 0, 0, 2, channel=2))
    copying = replace(plan, operands=(*plan.operands, fast), records=copies)
    traffic = report_plan(Compiled(copying, encode(copying))).traffic
    assert (traffic.slow_read_bytes, traffic.slow_written_bytes) == (3 * row, 2 * row)


def test_a_tensors_fault_is_its_operators() -> None:
    data = bytearray(relu_model(("in", "out"), unsupported=None))
    output = tflite.Model.GetRootAs(data, 0).Subgraphs(0).Tensors(1)._tab
    struct.pack_into("<i", data, output.Vector(output.Offset(4)), -1)
    with pytest.raises(ModelError) as error:
        Model(bytes(data), "m.tflite")
    (fault,) = error.value.refusals
    assert fault.code == "tensor.shape"
    other = Refusal("file.x", "the file")
    listing = list_model(bytes(data), "m.tflite", None, (fault, other))
    (operator,) = listing.operators
    assert (operator.status, operator.refusals, listing.refusals) == ("refused", (fault,), (other,))
    assert list_model(b"", "m.tflite", None, (fault,)).refusals == (fault,)
