"""The generated files are current, and each agrees with what it was generated from."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import REPOSITORY
from tigris_codegen.generated import generated_files
from tigris_codegen.ops import KERNELS
from tigris_codegen.plan import layout
from tigris_codegen.plan.kernel_table import KERNEL_FORMS

FILES = generated_files(REPOSITORY)


@pytest.mark.parametrize("path", FILES)
def test_is_current(path: str) -> None:
    assert (REPOSITORY / path).read_text() == FILES[path], "run tools/generate.py"


def test_the_check_notices_a_stale_file(tmp_path: Path) -> None:
    """`tools/generate.py --check` in a copy of the repository."""
    for name in ("tools", "tigris_codegen", "docs"):
        (tmp_path / name).symlink_to(REPOSITORY / name)
    copied = tmp_path / "runtime"
    for path, text in FILES.items():
        if path.startswith("runtime/"):
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
    code = "import sys; sys.path.insert(0, sys.argv[1]); import tools.generate as g, pathlib; "
    code += "g.ROOT = pathlib.Path(sys.argv.pop(1)); sys.argv[1:] = ['--check']; sys.exit(g.main())"
    command = [sys.executable, "-c", code, str(tmp_path)]
    assert subprocess.run(command, capture_output=True, cwd=REPOSITORY).returncode == 0
    header = copied / "include" / "tigris_format.h"
    header.write_text(header.read_text().replace("TIGRIS_MAGIC 0x53", "TIGRIS_MAGIC 0x54"))
    done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY)
    assert (done.returncode, done.stdout) == (1, "stale: runtime/include/tigris_format.h\n")


def test_kernel_ids_are_unique_and_known_to_the_plan() -> None:
    assert {k.id: (k.name, k.params) for k in KERNELS} == {i: (f.name, f.params) for i, f in KERNEL_FORMS.items()}
    assert len({k.name for k in KERNELS}) == len(KERNELS)
    assert min(k.id for k in KERNELS) > 0


def test_every_kernel_has_its_file_and_no_file_is_left_over() -> None:
    files = {p.stem for p in (REPOSITORY / "runtime" / "src" / "kernels").glob("*.c")}
    assert files == {k.name for k in KERNELS}


def test_structs_have_no_hidden_padding() -> None:
    """Offsets in the documentation are those of the C compiler, which pads where a field is not aligned."""
    for struct in (*layout.STRUCTS, *{k.params.name: k.params for k in KERNELS}.values()):
        offset = 0
        for field in struct.fields:
            assert struct.offsets()[field.name] == offset
            assert offset % field.item_bytes == 0
            offset += field.bytes
        assert offset == struct.size


def test_the_header_and_the_field_table_agree() -> None:
    header = FILES["runtime/include/tigris_format.h"]
    numbers = dict(re.findall(r"#define (TIGRIS_\w+) (\w+)u$", header, re.MULTILINE))
    assert int(numbers["TIGRIS_MAX_STEPS"]) == layout.MAX_STEPS
    assert int(numbers["TIGRIS_FORMAT_VERSION"]) == layout.FORMAT_VERSION
    for kind in layout.Kind:
        assert int(numbers[f"TIGRIS_KIND_{kind.name}"]) == kind
    for space in layout.Space:
        assert int(numbers[f"TIGRIS_SPACE_{space.name}"]) == space
