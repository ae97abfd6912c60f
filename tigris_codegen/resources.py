"""Where the files that are not Python are: in a checkout at its root, in an installation inside the package.

No other module builds a path to `templates/`, `boards/`, `runtime/`, `renode/` or the host library.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tigris_codegen.errors import MissingError

PACKAGE = Path(__file__).resolve().parent
CHECKOUT = PACKAGE.parent
HOST_LIBRARY_VARIABLE = "TIGRIS_HOST_LIBRARY"

#: Folder -> a file that it must contain, so that a stranger's folder of the same name beside the package is not taken.
_PROBES = {
    "templates": "baremetal/cookiecutter.json",
    "boards": "mps2-an386.toml",
    "runtime": "include/tigris.h",
    "renode": "selftest.resc.in",
}


def _folder(name: str) -> Path:
    for base in (PACKAGE / "_data", CHECKOUT):
        if (base / name / _PROBES[name]).is_file():
            return base / name
    raise MissingError(
        f"the folder {name} of Tigris is missing: neither the package nor its checkout has it.",
        "install tigris-codegen again",
    )


def templates_dir() -> Path:
    """The project templates, one folder per framework."""
    return _folder("templates")


def boards_dir() -> Path:
    """The board files; their SoC files are in its folder `soc`."""
    return _folder("boards")


def runtime_dir() -> Path:
    """The C runtime: `include`, `src`, `src/kernels`."""
    return _folder("runtime")


def renode_dir() -> Path:
    """What machines in Renode are made of."""
    return _folder("renode")


def _host_library_names() -> tuple[str, ...]:
    suffix = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
    return (f"libtigris_host{suffix}", f"tigris_host{suffix}")


def host_library() -> Path:
    """The shared library that runs plans on this machine.

    Searched in this order: the file that TIGRIS_HOST_LIBRARY names, the installed package, the checkout's `build`.
    """
    override = os.environ.get(HOST_LIBRARY_VARIABLE)
    if override:
        if not Path(override).is_file():
            raise MissingError(f"{HOST_LIBRARY_VARIABLE} names {override}, which is not a file.")
        return Path(override)
    folders = (PACKAGE / "_lib", CHECKOUT / "build", CHECKOUT / "build" / "host")
    for path in (folder / name for folder in folders for name in _host_library_names()):
        if path.is_file():
            return path
    raise MissingError(
        "the host library is missing: it is built when tigris-codegen is installed where there is a C compiler.",
        "install a C compiler (Debian: gcc), then run `pip install --force-reinstall --no-deps --no-cache-dir "
        "tigris-codegen`; in a checkout run `cmake -S runtime -B build -DTIGRIS_BUILD_HOST=ON` and "
        f"`cmake --build build`; or name the file in {HOST_LIBRARY_VARIABLE}",
    )
