"""Published models, whole, in much memory and in the least: the interpreter's bytes, and RAM within a known bound."""

from __future__ import annotations

import importlib.util
import itertools
import json
import re
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tflite
from numpy.typing import NDArray

from tests.support import SHARED, assert_equal, shared
from tigris_codegen.errors import FitError
from tigris_codegen.ops import SPECS
from tigris_codegen.pipeline import Compiled, Model
from tigris_codegen.plan.codec import decode
from tigris_codegen.plan.verify import expand, verify
from tigris_codegen.report.analysis import report_plan
from tigris_codegen.session import Session

INTERFACE_TYPES = {"INT8", "UINT8", "FLOAT32"}
#: With int32 for biases, shapes, axes and paddings.
TENSOR_TYPES = {
    tflite.TensorType.INT8,
    tflite.TensorType.UINT8,
    tflite.TensorType.FLOAT32,
    tflite.TensorType.INT32,
}
BUDGETS = ("roomy", "smallest")
POISON = 0xAA
SECTION_LENGTHS = (1, 2, 3, 4, 6, 8, 12, 24)  # that ram_bound.py tries for its table


def manifest() -> list[dict[str, Any]]:
    path = SHARED / "models" / "manifest.json"
    return list(json.loads(path.read_text())) if path.is_file() else []


def tensor_types(name: str) -> set[int]:
    root = tflite.Model.GetRootAsModel((SHARED / "models" / "files" / f"{name}.tflite").read_bytes(), 0)
    graphs = [root.Subgraphs(i) for i in range(root.SubgraphsLength())]
    return {graph.Tensors(i).Type() for graph in graphs for i in range(graph.TensorsLength())}


def interpreter_files(entry: dict[str, Any]) -> list[str]:
    """Recorded results of TensorFlow Lite Micro; those of LiteRT may differ."""
    return [file for file in entry["golden"] if ".litert." not in file]


def is_ours(entry: dict[str, Any]) -> bool:
    """Whether the model has to run: known operators over int8 and float32, and the interpreter's results to compare."""
    return (
        entry["expect"] == "run"
        and bool(entry["ops"])
        and entry["subgraphs"] == 1
        and entry["ops"].keys() <= SPECS.keys()
        and {port["dtype"] for port in entry["inputs"] + entry["outputs"]} <= INTERFACE_TYPES
        and tensor_types(entry["name"]) <= TENSOR_TYPES
        and entry["tflm"]["runs"]
        and bool(interpreter_files(entry))
    )


MODELS = {entry["name"]: entry for entry in manifest() if is_ours(entry)}
ABSENT = pytest.param("", marks=pytest.mark.skip(reason="the folder ../shared is absent"))


def bounds_table() -> dict[str, dict[str, str]]:
    """The table of memory bounds, by model: the rows below the one that starts with `model` and names `packed`."""
    path = SHARED / "DESIGN.md"
    rows = [re.findall(r"[^|]+", line) for line in path.read_text().splitlines()] if path.is_file() else []
    cells = [[cell.strip() for cell in row] for row in rows]
    header = next((i for i, row in enumerate(cells) if row[:1] == ["model"] and any("packed" in c for c in row)), None)
    if header is None:
        return {}
    body = itertools.takewhile(lambda row: len(row) == len(cells[header]), cells[header + 2 :])
    return {row[0]: dict(zip(cells[header], row, strict=True)) for row in body}


TABLE = bounds_table()


@cache
def made(name: str) -> Model:
    return Model(shared(f"models/files/{name}.tflite").read_bytes(), name)


@cache
def compiled_for(name: str, budget: str) -> Compiled:
    return made(name).roomy() if budget == "roomy" else made(name).smallest()


def golden_cases(name: str) -> Iterator[tuple[str, list[NDArray[Any]], list[NDArray[Any]]]]:
    """Label, inputs and outputs of each recorded invocation."""
    for file in interpreter_files(MODELS[name]):
        with np.load(shared(f"models/golden/{file}")) as archive:
            arrays = dict(archive)
        labels = sorted({label for key in arrays for label in re.findall(r"^((?:case|alt)\d+)_in_0$", key)})
        assert labels, file
        for label in labels:
            inputs = [arrays[f"{label}_in_{i}"] for i in range(len(MODELS[name]["inputs"]))]
            outputs = [arrays[f"{label}_out_{i}"] for i in range(len(MODELS[name]["outputs"]))]
            yield label, inputs, outputs


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("name", MODELS or [ABSENT])
def test_model(name: str, budget: str) -> None:
    compiled = compiled_for(name, budget)
    plan = decode(compiled.plan_bytes)
    assert plan == compiled.plan
    verify(plan)
    with Session(compiled.plan_bytes) as session:
        for label, inputs, expected in golden_cases(name):
            outputs = session.run(dict(zip(session.inputs, inputs, strict=True)), poison=POISON)
            for index, (value, wanted) in enumerate(zip(outputs.values(), expected, strict=True)):
                try:
                    assert_equal(value, wanted, plan.tolerance)
                except AssertionError as error:
                    raise AssertionError(f"{label}, output {index}: {error}") from error


@cache
def ram_bound() -> ModuleType:
    spec = importlib.util.spec_from_file_location("ram_bound", shared("tools/ram_bound.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def packed_bytes(name: str) -> int:
    """What a plain first-fit packer of rows reaches."""
    model = ram_bound().Model(shared(f"models/files/{name}.tflite"))
    memo: dict[tuple[int, int], int] = {}
    results: list[int | None] = [ram_bound().plan(model, longest, memo)[1] for longest in SECTION_LENGTHS]
    return min(packed for packed in results if packed is not None)


def listed() -> list[Any]:
    """Those whose bound takes more than ten seconds to compute are for `make test-all`."""
    slow = {"openmv_fomo_face", "mlperf_vww_int8", "tflm_person_detect", "sl_fingerprint", "st_miniresnet_aed"}
    return [pytest.param(n, marks=[pytest.mark.matrix] if n in slow else []) for n in TABLE] or [ABSENT]


@pytest.mark.parametrize("name", TABLE or [ABSENT])
def test_smallest_pool_meets_the_target(name: str) -> None:
    target = next(int(value) for column, value in TABLE[name].items() if column.startswith("target"))
    assert compiled_for(name, "smallest").plan.ram_bytes <= target


@pytest.mark.parametrize("name", listed())
def test_smallest_pool_is_within_the_bound(name: str) -> None:
    assert name in MODELS
    assert compiled_for(name, "smallest").plan.fast_bytes <= packed_bytes(name)


def executed(compiled: Compiled) -> int:
    return sum(1 for _ in expand(compiled.plan.records))


def slow_traffic(compiled: Compiled) -> int:
    traffic = report_plan(compiled).traffic
    return traffic.slow_read_bytes + traffic.slow_written_bytes


MONOTONE = [name for name in ("mlperf_kws_int8", "mlperf_sww_int8", "st_miniresnet_aed", "magic_wand_f32") if MODELS]


@pytest.mark.parametrize("name", MONOTONE or [ABSENT])
def test_a_larger_pool_never_costs_more(name: str) -> None:
    least, most = (compiled_for(name, budget).plan.ram_bytes for budget in ("smallest", "roomy"))
    pools = sorted({least + (most - least) * part // 8 for part in range(9)})
    plans = [made(name).within(pool) for pool in pools]
    assert all(plan.plan.ram_bytes <= pool for plan, pool in zip(plans, pools, strict=True))
    assert all(plan.plan.slow_bytes == 0 for plan in plans)
    records = [executed(plan) for plan in plans]
    assert records == sorted(records, reverse=True)


@pytest.mark.parametrize("name", MONOTONE or [ABSENT])
def test_neither_of_two_pools_costs_more_when_it_grows(name: str) -> None:
    least = compiled_for(name, "smallest").plan.ram_bytes
    fast_pools = [least * part // 10 for part in (6, 8, 9, 10, 12)]
    slow_pools = [least // 4, 4 * least, 1 << 20]
    prices: dict[tuple[int, int], tuple[int, int]] = {}
    for fast, slow in itertools.product(fast_pools, slow_pools):
        try:
            plan = made(name).within(fast, slow)
        except FitError:
            continue
        assert plan.plan.fast_bytes + plan.plan.workspace_bytes <= fast and plan.plan.slow_bytes <= slow
        prices[fast, slow] = executed(plan), slow_traffic(plan)
    assert len(prices) > len(slow_pools)
    for (fast, slow), (records, traffic) in prices.items():
        for (more_fast, more_slow), (fewer_records, less_traffic) in prices.items():
            if more_fast >= fast and more_slow >= slow:
                assert fewer_records <= records and less_traffic <= traffic
    for fast, slow in prices:
        larger = [(f, s) for f in fast_pools for s in slow_pools if f >= fast and s >= slow]
        assert all(pools in prices for pools in larger)
