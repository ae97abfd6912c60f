"""The package as a user gets it: from the sdist, in an empty virtual environment, with and without a C compiler."""

from __future__ import annotations

import shutil
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.packaging.support import attempt, environment, make_sdist, make_wheel, needs_backend, run
from tests.support import REPOSITORY
from tigris_codegen.emulate import find_cmsis
from tigris_codegen.errors import MissingError

pytestmark = needs_backend

MODEL = REPOSITORY / "examples/digits/digits.tflite"
#: Folder of the checkout -> its place in the wheel.
SHIPPED = {
    "templates": "tigris_codegen/_data/templates",
    "boards": "tigris_codegen/_data/boards",
    "runtime/include": "tigris_codegen/_data/runtime/include",
    "runtime/src": "tigris_codegen/_data/runtime/src",
    "runtime/zephyr": "tigris_codegen/_data/runtime/zephyr",
    "renode": "tigris_codegen/_data/renode",
}
#: What the frameworks look for at the root of the runtime as their module, component or library.
OF_FRAMEWORKS = ("CMakeLists.txt", "kernels.cmake", "idf_component.yml", "library.json")


def check_contents(wheel: Path, *, library: bool) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        for folder, place in SHIPPED.items():
            expected = {
                f"{place}/{path.relative_to(REPOSITORY / folder).as_posix()}": path.read_bytes()
                for path in (REPOSITORY / folder).rglob("*")
                if path.is_file()
            }
            assert expected == {name: archive.read(name) for name in names if name.startswith(place + "/")}
        for name in OF_FRAMEWORKS:
            assert archive.read(f"tigris_codegen/_data/runtime/{name}") == (REPOSITORY / "runtime" / name).read_bytes()
    assert any(name.startswith("tigris_codegen/_lib/") for name in names) == library
    assert not any(name.startswith(("tests/", "docs/")) for name in names)


def test_from_the_sdist_to_verified_firmware(tmp_path: Path) -> None:
    sdist = make_sdist(tmp_path)
    with tarfile.open(sdist) as archive:
        members = [name.split("/", 1)[1] for name in archive.getnames()]
    assert not [name for name in members if name.startswith(("tests/", "build/", ".venv/"))]
    wheel = make_wheel(sdist, tmp_path)
    assert wheel.name.endswith(".whl") and "-py3-none-" in wheel.name and not wheel.name.endswith("-any.whl")
    check_contents(wheel, library=True)

    home = tmp_path / "environment"
    venv.create(home, with_pip=True)
    scripts = home / ("Scripts" if sys.platform == "win32" else "bin")
    run(scripts / "python", "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path)
    where = "from tigris_codegen import resources as r; print(r.templates_dir(), r.boards_dir(), r.runtime_dir(), "
    where += "r.host_library(), sep='\\n')"
    for path in run(scripts / "python", "-c", where, cwd=tmp_path).splitlines():
        assert Path(path).resolve().is_relative_to(home.resolve())

    tigris = scripts / "tigris"
    run(tigris, "codegen", MODEL, "--board", "mps2-an500", "-o", "firmware", cwd=tmp_path)
    missing = [t for t in ("cmake", "arm-none-eabi-gcc", "qemu-system-arm") if shutil.which(t) is None]
    try:
        cmsis = find_cmsis(REPOSITORY)
    except MissingError:
        missing.append("CMSIS-Core")
    if missing:
        pytest.skip(f"installed and generated, but not built: missing {', '.join(missing)}")
    printed = run(tigris, "verify", "firmware", cwd=tmp_path, env=environment(CMSIS_CORE_ROOT=str(cmsis)))
    assert "PASS" in printed


def test_without_a_c_compiler_it_installs_and_says_what_is_missing(tmp_path: Path) -> None:
    wheel = make_wheel(REPOSITORY, tmp_path, environment(CC="no-such-compiler"))
    check_contents(wheel, library=False)
    site = tmp_path / "site"
    run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", site, wheel, cwd=tmp_path)
    env = environment(PYTHONPATH=str(site))
    tigris = (sys.executable, "-m", "tigris_codegen")
    run(*tigris, "compile", MODEL, "-o", "digits.tgrs", cwd=tmp_path, env=env)
    with np.load(REPOSITORY / "examples/digits/test_digits.npz") as digits:
        np.save(tmp_path / "x.npy", digits["inputs"][:1])
    done = attempt(*tigris, "run", "digits.tgrs", "--input", "x.npy", "--output", "y.npy", cwd=tmp_path, env=env)
    assert done.returncode == 4
    assert "the host library is missing" in done.stderr and "install a C compiler" in done.stderr
    assert "Traceback" not in done.stderr
