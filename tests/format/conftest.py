"""Builds that several modules use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.format import native


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this test run, the same in every process of it."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def sanitized(shared_folder: Path) -> Path:
    """Host library, static library and fuzzer, built with GCC's address and undefined behaviour sanitizers."""
    gcc = native.tool("gcc")
    if not native.can_sanitize(gcc, shared_folder):
        pytest.skip("GCC's sanitizer libraries are not installed")
    options = ("-DTIGRIS_SANITIZE=ON", "-DTIGRIS_BUILD_HOST=ON", "-DTIGRIS_BUILD_FUZZ=ON")
    return native.cmake_build(shared_folder / "sanitized", gcc, *options)


@pytest.fixture(scope="session")
def clang_build(shared_folder: Path) -> Path:
    """Host library and static library, built with clang."""
    return native.cmake_build(shared_folder / "clang-plain", native.tool("clang"), "-DTIGRIS_BUILD_HOST=ON")


@pytest.fixture(scope="session")
def gcc_build(shared_folder: Path) -> Path:
    """Host library and static library, built with GCC."""
    return native.cmake_build(shared_folder / "gcc-plain", native.tool("gcc"), "-DTIGRIS_BUILD_HOST=ON")
