"""Imports follow the direction in which data moves; nothing is imported inside a function."""

from __future__ import annotations

import ast
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCE = REPOSITORY / "tigris_codegen"

#: Package or module -> what it may import of this project besides itself.
ALLOWED = {
    "errors": set(),
    "sizes": {"errors"},
    "resources": {"errors"},
    "numerics": set(),
    "ir": {"errors"},
    "plan": {"errors"},
    "ops": {"errors", "ir", "numerics", "plan"},
    "frontend": {"errors", "ir", "ops"},
    "passes": {"errors", "ir", "ops"},
    "planner": {"errors", "ir", "ops", "plan"},
    "pipeline": {"errors", "frontend", "ir", "ops", "passes", "plan", "planner"},
    "session": {"errors", "plan", "resources"},
    "boards": {"errors", "resources"},
    "codegen": {"boards", "errors", "plan", "resources"},
    "emulate": {"boards", "codegen", "errors", "plan", "resources"},
    "report": {"errors", "frontend", "ir", "ops", "pipeline", "plan", "sizes"},
    "generated": {"boards", "ops", "plan"},
    "__main__": {"cli"},
    "cli": {"boards", "codegen", "emulate", "errors", "pipeline", "plan", "report", "resources", "session", "sizes"},
}


def _layer(path: Path) -> str:
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def _imported(tree: ast.AST) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        modules = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the direction"
            modules = (
                [f"{node.module}.{a.name}" for a in node.names]
                if node.module == "tigris_codegen"
                else [node.module or ""]
            )
        names |= {m.split(".")[1] for m in modules if m.startswith("tigris_codegen.")}
    return names


def _sources() -> list[Path]:
    return [p for p in sorted(SOURCE.rglob("*.py")) if p != SOURCE / "__init__.py"]


def test_imports_follow_the_data() -> None:
    assert _sources()
    for path in _sources():
        layer = _layer(path)
        extra = _imported(ast.parse(path.read_text())) - ALLOWED[layer] - {layer}
        assert not extra, f"{path.relative_to(REPOSITORY)} imports {sorted(extra)}"


def test_the_allowed_imports_have_no_cycle() -> None:
    left = {layer: set(allowed) for layer, allowed in ALLOWED.items()}
    while left:
        free = {layer for layer, allowed in left.items() if not allowed & left.keys()}
        assert free, f"a cycle among {sorted(left)}"
        left = {layer: allowed for layer, allowed in left.items() if layer not in free}


def test_nothing_is_imported_inside_a_function() -> None:
    for path in _sources():
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                inside = [n for n in ast.walk(function) if isinstance(n, ast.Import | ast.ImportFrom)]
                assert not inside, f"{path.relative_to(REPOSITORY)}: import inside {function.name}"
