"""The graph as text: one line per tensor that is given and per operator; the same graph gives the same text."""

from __future__ import annotations

import zlib
from dataclasses import fields
from enum import Enum
from typing import Any

import numpy as np

from tigris_codegen.ir.graph import Graph, Op, Quantization, Tensor


def print_graph(graph: Graph) -> str:
    """The text of a graph, with a line break at its end."""
    lines = [f"graph {graph.name!r}"]
    lines += [f"input {_definition(graph, i)}" for i in graph.inputs]
    lines += [f"constant {_definition(graph, i)}" for i, t in enumerate(graph.tensors) if t.data is not None]
    lines += [_op(graph, op) for op in graph.ops]
    lines += [f"output %{i}" for i in graph.outputs]
    return "\n".join(lines) + "\n"


def _op(graph: Graph, op: Op) -> str:
    results = ", ".join(_definition(graph, i) for i in op.outputs)
    operands = ", ".join(f"%{i}" if i >= 0 else "none" for i in op.inputs)
    source = "" if op.source is None else f" @{op.source}"
    return f"{results} = {op.kind}({operands}){_attributes(op.attributes)}{source}"


def _definition(graph: Graph, index: int) -> str:
    tensor = graph.tensors[index]
    shape = ",".join(map(str, tensor.shape))
    return f"%{index} {tensor.name!r} {tensor.dtype.value}[{shape}]{_quantization(tensor)}{_data(tensor)}"


def _quantization(tensor: Tensor) -> str:
    q = tensor.quantization
    if q is None:
        return ""
    if len(q.scales) == 1:
        return f" scale={_float(q.scale)} zero_point={q.zero_point}"
    return f" scales={_scales(q)} axis={q.axis}"


def _scales(q: Quantization) -> str:
    pairs = [f"{_float(s)}:{z}" for s, z in zip(q.scales, q.zero_points, strict=True)]
    shown = pairs if len(pairs) <= 4 else [*pairs[:3], f"... {len(pairs)}"]
    return "(" + " ".join(shown) + ")"


def _data(tensor: Tensor) -> str:
    if tensor.data is None:
        return ""
    if tensor.elements <= 8:
        return " = " + " ".join(_value(v) for v in tensor.array().reshape(-1).tolist())
    return f" = crc {zlib.crc32(tensor.data):08x}"


def _attributes(attributes: Any) -> str:
    values = [f"{f.name}={_value(getattr(attributes, f.name))}" for f in fields(attributes)]
    return " {" + ", ".join(values) + "}" if values else ""


def _value(value: object) -> str:
    if isinstance(value, Enum):
        return str(value.value)
    return _float(value) if isinstance(value, float) else repr(value)


def _float(value: float) -> str:
    return str(np.float32(value))
