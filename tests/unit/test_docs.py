"""Links of the documents lead to files, generated pages are current, and no line names a machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support import REPOSITORY
from tigris_codegen.generated import generated_files

DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "docs/*.md", "examples/*/README.md", "runtime/**/README.md")
    for path in REPOSITORY.glob(pattern)
)
LINK = re.compile(r"\]\(([^)#]+)")
MACHINE = re.compile(r"(?<![\w.<])/(?:tmp|work|home|root)/")


@pytest.mark.parametrize("path", DOCUMENTS, ids=[str(p.relative_to(REPOSITORY)) for p in DOCUMENTS])
def test_document(path: Path) -> None:
    text = path.read_text()
    links = [link for link in LINK.findall(text) if not link.startswith("http")]
    assert [link for link in links if not (path.parent / link).exists()] == []
    assert MACHINE.findall(text) == []


def test_generated_files_are_current() -> None:
    for path, text in generated_files(REPOSITORY).items():
        assert (REPOSITORY / path).read_text() == text, f"{path}: run tools/generate.py"
