"""Bounds-checked .tflite bytes to a graph."""

from __future__ import annotations

from tigris_codegen.frontend.read import read_model

__all__ = ["read_model"]
