"""Self-test vectors: inputs with the outputs that the firmware must give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tigris_codegen.errors import UsageError
from tigris_codegen.plan.plan import Plan, Port


@dataclass(frozen=True)
class TestVector:
    """The bytes of every model input and of every expected output, in model order."""

    __test__ = False  # not a test class, whatever pytest makes of its name

    inputs: tuple[bytes, ...]
    outputs: tuple[bytes, ...]


def check_vectors(plan: Plan, vectors: Sequence[TestVector]) -> None:
    """UsageError unless there is a vector and each has the plan's inputs and outputs, byte for byte as long."""
    if not vectors:
        raise UsageError("a project needs at least one test vector for its self-test.")
    for number, vector in enumerate(vectors):
        _check("input", number, plan.inputs, vector.inputs)
        _check("output", number, plan.outputs, vector.outputs)


def _check(kind: str, number: int, ports: Sequence[Port], blocks: Sequence[bytes]) -> None:
    if len(ports) != len(blocks):
        raise UsageError(f"test vector {number} has {len(blocks)} {kind}s, the model {len(ports)}.")
    for index, (port, block) in enumerate(zip(ports, blocks, strict=True)):
        if port.bytes != len(block):
            raise UsageError(
                f"test vector {number}: {kind} {index} ({port.name}) has {len(block)} bytes, not {port.bytes}."
            )
