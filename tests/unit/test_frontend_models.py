"""Every published model in ../shared is read or refused as its manifest expects, and never anything else."""

from __future__ import annotations

import json
import random
import time
from typing import Any

import pytest

from tests.support import SHARED, shared
from tigris_codegen.errors import ModelError
from tigris_codegen.frontend import read_model
from tigris_codegen.ir.printer import print_graph
from tigris_codegen.ops import SPECS
from tigris_codegen.ops.lower import lower_graph
from tigris_codegen.passes import optimize

READ_TYPES = {"INT8", "UINT8", "FLOAT32"}
REFUSED_FOR = {
    "mlperf_kws_f32_hybrid": {"conv_2d.hybrid"},
    "tflm_person_detect_vela": {"operator.accelerator"},
    "coral_split_concat_tpu": {"operator.accelerator"},
    "tfex_planestrike_flex": {"operator.flex", "operator.unsupported"},
    "coral_mbnet_u8": {"conv_2d.activation_type", "depthwise_conv_2d.activation_type"},
    "mp_two_signatures": {"file.subgraphs"},
    "terry_not_tflite": {"file.identifier"},
    "lrt_no_subgraphs": {"file.subgraphs"},
    "bad_empty": {"file.empty"},
    "bad_truncated_half": {"file.damaged"},
    "bad_truncated_tail": {"file.damaged"},
    "bad_bitflips": {"file.damaged"},
}


def manifest() -> list[dict[str, Any]]:
    path = SHARED / "models" / "manifest.json"
    entries: list[dict[str, Any]] = json.loads(path.read_text()) if path.exists() else []
    return entries


#: One entry that skips stands for all of them where the folder is absent.
MODELS = {entry["name"]: entry for entry in manifest()} or {"absent": {}}


def converts(entry: dict[str, Any]) -> bool:
    """Whether the operators and types of today suffice for a model that is expected to run."""
    ports = (entry["inputs"] or []) + (entry["outputs"] or [])
    return bool(
        entry["expect"] == "run"
        and entry["subgraphs"] == 1
        and set(entry["ops"]) <= SPECS.keys()
        and {port["dtype"] for port in ports} <= READ_TYPES
    )


def data_of(name: str) -> bytes:
    return shared(f"models/files/{name}.tflite").read_bytes()


@pytest.mark.parametrize("name", MODELS)
def test_model(name: str) -> None:
    data = data_of(name)
    entry = MODELS[name]
    try:
        graph = read_model(data, name)
    except ModelError as error:
        assert not converts(entry), str(error)
        assert REFUSED_FOR.get(name, set()) <= {r.code for r in error.refusals}
        return
    assert entry["expect"] != "refuse"
    assert name not in REFUSED_FOR
    assert [graph.tensors[i].name for i in graph.inputs] == [port["name"] for port in entry["inputs"]]
    assert [list(graph.tensors[i].shape) for i in graph.outputs] == [port["shape"] for port in entry["outputs"]]
    works = lower_graph(optimize(graph))
    assert works
    assert print_graph(read_model(data, name)) == print_graph(graph)


@pytest.mark.parametrize("name", ["tflm_hello_int8", "lrt_add_f32", "tflm_micro_speech"])
def test_damaged_model(name: str) -> None:
    data = data_of(name)
    stream = random.Random(name)
    for number in range(400):
        damaged = bytearray(data[: stream.randrange(len(data))] if number % 4 == 0 else data)
        for _ in range(stream.choice((0, 1, 4)) if damaged else 0):
            damaged[stream.randrange(len(damaged))] ^= 1 << stream.randrange(8)
        started = time.monotonic()
        try:
            lower_graph(optimize(read_model(bytes(damaged), name)))
        except ModelError as error:
            assert str(error)
        assert time.monotonic() - started < 1
