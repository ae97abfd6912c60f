"""Running commands as if the checkout were not there."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support import REPOSITORY

needs_backend = pytest.mark.skipif(
    importlib.util.find_spec("scikit_build_core") is None, reason="scikit-build-core is not installed"
)
#: What pip says where no package index answers.
OFFLINE = ("NewConnectionError", "Temporary failure in name resolution", "Network is unreachable", "ConnectTimeout")


def environment(**more: str) -> dict[str, str]:
    """The environment without what would lead to the checkout."""
    dropped = ("PYTHONPATH", "VIRTUAL_ENV", "TIGRIS_HOST_LIBRARY")
    return {**{key: value for key, value in os.environ.items() if key not in dropped}, **more}


def attempt(*command: str | Path, cwd: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in command], cwd=cwd, env=env, capture_output=True, text=True)


def run(*command: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> str:
    done = attempt(*command, cwd=cwd, env=environment() if env is None else env)
    if any(word in done.stderr for word in OFFLINE):
        pytest.skip("no package index answers")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def make_wheel(source: Path, out: Path, env: Mapping[str, str] | None = None) -> Path:
    """The wheel of a checkout or an sdist. Without pip's cache, which would give an earlier one again."""
    options = ("--no-deps", "--no-build-isolation", "--no-cache-dir", "--wheel-dir", out)
    run(sys.executable, "-m", "pip", "wheel", *options, source, cwd=out, env=env)
    (wheel,) = out.glob("*.whl")
    return wheel


def make_sdist(out: Path) -> Path:
    code = f"import scikit_build_core.build as backend; backend.build_sdist({str(out)!r})"
    run(sys.executable, "-c", code, cwd=REPOSITORY)
    (archive,) = out.glob("*.tar.gz")
    return archive
