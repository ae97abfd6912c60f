"""The table of supported operators, from their specs."""

from __future__ import annotations

from tigris_codegen.ops import SPECS
from tigris_codegen.ops.spec import OpSpec, rule_text


def supported_operators_markdown() -> str:
    """One row per operator, then what each refuses, with the code of the refusal."""
    lines = ["| operator | kernels | what it does |", "|---|---|---|"]
    lines += [f"| {kind} | {_kernels(spec)} | {spec.doc} |" for kind, spec in SPECS.items()]
    lines += ["", "What does not convert:", "", "| operator | refusal | code |", "|---|---|---|"]
    for kind, spec in SPECS.items():
        for rule in (*spec.requirements, *spec.rules):
            lines.append(f"| {kind} | {rule_text(rule)} | `{kind.lower()}.{rule.__name__}` |")
    return "\n".join(lines) + "\n"


def _kernels(spec: OpSpec) -> str:
    return ", ".join(f"`{kernel.name}`" for kernel in spec.kernels) or "none"
