"""The self-test's vectors: the user's inputs or random ones, with the outputs of the host run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tigris_codegen.cli.files import read_arrays
from tigris_codegen.codegen import TestVector
from tigris_codegen.errors import UsageError
from tigris_codegen.pipeline import Compiled
from tigris_codegen.plan.plan import DTYPE_NAMES, Plan, Port
from tigris_codegen.session import Session

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class TestInput:
    """One `--test-input`: a file, and the core, the model's input or both (`core:input`) it is named for."""

    __test__ = False  # not a test class, whatever pytest makes of its name

    target: str
    path: Path

    @classmethod
    def parsed(cls, text: str) -> TestInput:
        """`[NAME=]FILE`; a file that is there is meant by its whole name."""
        target, _, file = text.rpartition("=")
        if target and Path(text).exists():
            target, file = "", text
        return cls(target, Path(file))

    @property
    def recorded(self) -> str:
        """For the lock, which keeps names, not places."""
        return f"{self.target}={self.path.name}" if self.target else self.path.name

    def __str__(self) -> str:
        return f"{self.target}={self.path}" if self.target else str(self.path)


def make_vectors(
    compiled: Sequence[Compiled], cores: Sequence[str], given: Sequence[TestInput]
) -> list[tuple[TestVector, ...]]:
    """The vectors of each core: from the given files, or one of random inputs where none is for that core."""
    shared: dict[str, list[TestInput]] = {core: [] for core in cores}
    for item in given:
        core, rest = _core_of(item, cores)
        shared[core].append(TestInput(rest, item.path))
    return [_vectors(made, shared[core]) for made, core in zip(compiled, cores, strict=True)]


def _core_of(item: TestInput, cores: Sequence[str]) -> tuple[str, str]:
    """The core that a file is for, and what is left of its target."""
    head, colon, rest = item.target.partition(":")
    if head in cores and (colon or len(cores) > 1):
        return head, rest
    if len(cores) == 1:
        return cores[0], item.target
    raise UsageError(
        f"--test-input {item} does not say for which core it is",
        f"CORE=FILE or CORE:INPUT=FILE, cores: {', '.join(cores)}",
    )


def _vectors(compiled: Compiled, given: Sequence[TestInput]) -> tuple[TestVector, ...]:
    plan = compiled.plan
    inputs = list(_given(plan, given)) if given else [_random_inputs(plan)]
    with Session(compiled.plan_bytes) as session:
        vectors = []
        for arrays in inputs:
            session.reset_state()
            outputs = session.run(arrays)
            vectors.append(
                TestVector(
                    tuple(np.ascontiguousarray(arrays[p.name]).tobytes() for p in plan.inputs),
                    tuple(outputs[p.name].tobytes() for p in plan.outputs),
                )
            )
    return tuple(vectors)


def _random_inputs(plan: Plan) -> Arrays:
    rng = np.random.default_rng(0)
    return {p.name: _random_array(rng, p) for p in plan.inputs}


def _random_array(rng: np.random.Generator, port: Port) -> NDArray[Any]:
    dtype = np.dtype(DTYPE_NAMES[port.dtype])
    if dtype.kind == "f":
        return rng.uniform(-1, 1, port.shape).astype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, port.shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, port.shape, dtype, endpoint=True)


def _given(plan: Plan, given: Sequence[TestInput]) -> Iterator[Arrays]:
    """The inputs of each vector. A file holds one array of an input's shape, or a batch of them: a vector each."""
    ports = {port.name: port for port in plan.inputs}
    if not ports:
        raise UsageError("--test-input: the model has no inputs", "leave it out")
    batches: dict[str, list[NDArray[Any]]] = {name: [] for name in ports}
    for item in given:
        arrays = read_arrays(item.path)
        for name, array in _named(item, arrays, list(ports), batches).items():
            batches[name] += _items(f"{item.path}", ports[name], array)
    missing = [name for name, batch in batches.items() if not batch]
    if missing:
        raise UsageError(f"--test-input for input {missing[0]!r} is missing", _forms(list(ports)))
    counts = {name: len(batch) for name, batch in batches.items()}
    if len(set(counts.values())) > 1:
        said = ", ".join(f"{count} for {name!r}" for name, count in counts.items())
        raise UsageError(f"--test-input: different numbers of vectors: {said}")
    for index in range(next(iter(counts.values()))):
        yield {name: batch[index] for name, batch in batches.items()}


def _named(
    item: TestInput, arrays: Mapping[str, NDArray[Any]], names: list[str], so_far: Mapping[str, list[NDArray[Any]]]
) -> Mapping[str, NDArray[Any]]:
    """The arrays of a file by the model's inputs: by name, or, of files and arrays without one, in their order."""
    if item.target:
        if item.target not in names:
            raise UsageError(f"--test-input: no input is called {item.target!r}", _forms(names))
        if len(arrays) != 1:
            raise UsageError(
                f"{item.path} holds {len(arrays)} arrays for the input {item.target!r}", "name one .npy file"
            )
        return {item.target: next(iter(arrays.values()))}
    if set(arrays) <= set(names):
        return arrays
    unnamed = [f"arr_{i}" for i in range(len(arrays))]
    if set(arrays) != set(unnamed):
        wrong = sorted(set(arrays) - set(names))[0]
        raise UsageError(f"{item.path}: no input is called {wrong!r}", _forms(names))
    free = names if len(names) == 1 else [name for name in names if not so_far[name]]
    if len(arrays) > len(free):
        raise UsageError(f"{item.path}: more arrays than the model has inputs ({len(names)})", _forms(names))
    return {name: arrays[key] for name, key in zip(free, unnamed, strict=False)}


def _forms(names: list[str]) -> str:
    return f"one .npy file per input, NAME=FILE, or a .npz file; inputs: {', '.join(names)}"


def _items(source: str, port: Port, array: NDArray[Any]) -> list[NDArray[Any]]:
    """The arrays in a file for one input; UsageError where type or shape are not the model's."""
    wanted = DTYPE_NAMES[port.dtype]
    if array.dtype != np.dtype(wanted):
        raise UsageError(f"{source} is {array.dtype}, the input {port.name!r} wants {wanted}")
    if array.shape == port.shape:
        return [array]
    for one in (array.shape[1:], (1, *array.shape[1:])):
        if array.ndim and one == port.shape and len(array):
            return [item.reshape(port.shape) for item in array]
    raise UsageError(
        f"{source} has shape {list(array.shape)}, the input {port.name!r} wants {list(port.shape)} or a batch of it"
    )
