"""Runs a plan on this machine, with the same C runtime that a board runs.

with Session.open("kws.tgrs") as session:
    outputs = session.run({"input": image})
"""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tigris_codegen.errors import MissingError, PlanError, TigrisError, UsageError
from tigris_codegen.plan.codec import decode
from tigris_codegen.plan.plan import DTYPE_NAMES, Port
from tigris_codegen.resources import host_library

HOST_ABI = 1


@dataclass(frozen=True)
class PortInfo:
    """One model input or output as the caller sees it. `scale` 0 = not quantized."""

    shape: tuple[int, ...]
    dtype: str
    scale: float
    zero_point: int


class RunError(TigrisError):
    """The runtime stopped with a status."""


def _declare(library: ctypes.CDLL) -> None:
    """The signatures of `tigris_host.h`; AttributeError where the library lacks one."""
    library.tigris_host_status_text.restype = ctypes.c_char_p
    library.tigris_host_input.restype = ctypes.c_void_p
    library.tigris_host_output.restype = ctypes.c_void_p
    library.tigris_host_open.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p)]
    library.tigris_host_check.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    for name in ("close", "run", "reset_state", "guards_intact"):
        getattr(library, f"tigris_host_{name}").argtypes = [ctypes.c_void_p]
    library.tigris_host_input.argtypes = library.tigris_host_output.argtypes = [ctypes.c_void_p, ctypes.c_uint32]
    library.tigris_host_poison.argtypes = [ctypes.c_void_p, ctypes.c_uint8]


def _library() -> ctypes.CDLL:
    path = host_library()
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise MissingError(f"the host library {path} does not load: {error}", "install the package again") from error
    try:
        _declare(library)
        abi = library.tigris_host_abi()
    except AttributeError as error:
        raise MissingError(f"{path} is not a host library of Tigris: {error}", "install the package again") from error
    if abi != HOST_ABI:
        raise MissingError(f"the host library {path} is of another version", "install the package again")
    return library


def _info(port: Port) -> PortInfo:
    return PortInfo(port.shape, DTYPE_NAMES[port.dtype], port.scale, port.zero_point)


def load_status(plan: bytes) -> str | None:
    """What the C loader says against a plan, or None where it accepts it."""
    library = _library()
    status = library.tigris_host_check(plan, len(plan))
    return None if status == 0 else str(library.tigris_host_status_text(status).decode())


class Session:
    """Inference on the host, in arenas of exactly the size that the plan states.

    `inputs` and `outputs` map each name to its PortInfo, in model order. A session may be used as a context manager;
    calls on one session must come one after the other.
    """

    def __init__(self, plan: bytes) -> None:
        """`plan` is the content of a `.tgrs` file. PlanError where the loader refuses it."""
        decoded = decode(plan)
        self.inputs = OrderedDict((port.name, _info(port)) for port in decoded.inputs)
        self.outputs = OrderedDict((port.name, _info(port)) for port in decoded.outputs)
        self._ports = decoded.inputs, decoded.outputs
        self._library = _library()
        self._handle: ctypes.c_void_p | None = ctypes.c_void_p()
        status = self._library.tigris_host_open(plan, len(plan), ctypes.byref(self._handle))
        if status:
            self._handle = None
            raise PlanError(f"the runtime refuses the plan: {self._text(status)}", "compile the model again")

    @classmethod
    def open(cls, path: str | Path) -> Session:
        """A session of a `.tgrs` file."""
        return cls(Path(path).read_bytes())

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Gives the memory back; closing twice is allowed."""
        if self._handle is not None:
            self._library.tigris_host_close(self._handle)
            self._handle = None

    def run(self, inputs: Mapping[str, NDArray[Any]], poison: int | None = None) -> dict[str, NDArray[Any]]:
        """One inference: an array per input name, of exactly its shape and dtype; copies of the outputs come back.

        `poison` (0 to 255) fills the arenas with that byte before the inputs are written.
        """
        handle = self._open_handle()
        arrays = [self._checked(port, inputs) for port in self._ports[0]]
        unknown = sorted(set(inputs) - set(self.inputs))
        if unknown:
            raise UsageError(f"no input is called {unknown[0]!r}", f"inputs: {', '.join(self.inputs)}")
        if poison is not None:
            self._library.tigris_host_poison(handle, poison)
        for index, array in enumerate(arrays):
            ctypes.memmove(self._library.tigris_host_input(handle, index), array.tobytes(), array.nbytes)
        status = self._library.tigris_host_run(handle)
        if status:
            raise RunError(f"the run stopped: {self._text(status)}")
        if not self._library.tigris_host_guards_intact(handle):
            raise AssertionError("the run wrote outside its arenas")
        results = {}
        for index, port in enumerate(self._ports[1]):
            data = ctypes.string_at(self._library.tigris_host_output(handle, index), port.bytes)
            results[port.name] = np.frombuffer(data, DTYPE_NAMES[port.dtype]).reshape(port.shape).copy()
        return results

    def reset_state(self) -> None:
        """Starts the model's variables over."""
        status = self._library.tigris_host_reset_state(self._open_handle())
        if status:
            raise RunError(f"the state was not reset: {self._text(status)}")

    def _open_handle(self) -> ctypes.c_void_p:
        if self._handle is None:
            raise UsageError("the session is closed", "make a new Session")
        return self._handle

    def _text(self, status: int) -> str:
        return str(self._library.tigris_host_status_text(status).decode())

    @staticmethod
    def _checked(port: Port, inputs: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        if port.name not in inputs:
            raise UsageError(f"input {port.name!r} is missing", f"give an array of shape {list(port.shape)}")
        array = np.asarray(inputs[port.name])
        if array.shape != port.shape:
            raise UsageError(f"input {port.name!r} has shape {list(array.shape)}, the model wants {list(port.shape)}")
        if array.dtype != np.dtype(DTYPE_NAMES[port.dtype]):
            hint = f"real = {port.scale:g} * (value - {port.zero_point})" if port.scale else None
            raise UsageError(f"input {port.name!r} is {array.dtype}, the model wants {DTYPE_NAMES[port.dtype]}", hint)
        return array
