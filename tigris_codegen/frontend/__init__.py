"""Bounds-checked .tflite bytes to a graph."""

from __future__ import annotations

from tigris_codegen.frontend.read import read_model
from tigris_codegen.frontend.survey import FileTensor, survey

__all__ = ["FileTensor", "read_model", "survey"]
