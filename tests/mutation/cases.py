"""What a mutant is judged by: a handful of corpus cases, and hostile plans that must be refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.format.plans import compiled
from tigris_codegen.plan.codec import encode
from tigris_codegen.plan.layout import Flag, Kind, Space
from tigris_codegen.plan.plan import Operand, Plan, Record

CASES = (
    ("chain_residual_s8", "smallest"),
    ("chain_conv_global_mean_s8", "smallest"),
    ("chain_two_branches_concatenated_s8", "smallest"),
    ("chain_conv_fully_connected_flattening_s8", "smallest"),
    ("chain_squeeze_and_excite_s8", "smallest"),
    ("chain_inverted_residual_s8", "400+4096"),
    ("chain_pad_average_pool_s8", "smallest"),
    ("chain_pad_beyond_kernel_s8", "smallest"),
    ("pad_image_s8", "smallest"),
    ("average_pool_2d_3x3_same_s8", "smallest"),
    ("chain_float_classifier", "roomy"),
)


def hostile() -> dict[str, Plan]:
    """Name -> a plan that the loader must refuse."""
    conv = compiled("conv_2d_3x3_same_s8", "roomy").plan
    parts = compiled("chain_conv_global_mean_s8", "smallest").plan

    def with_operand(plan: Plan, index: int, operand: Operand) -> Plan:
        return replace(plan, operands=(*plan.operands[:index], operand, *plan.operands[index + 1 :]))

    def in_place(plan: Plan, output: int = 0, source: int = 0) -> Plan:
        for operand, offset in ((plan.operators[0].output, output), (plan.operators[0].inputs[0], source)):
            plan = with_operand(plan, operand, replace(plan.operands[operand], offset=offset))
        return replace(plan, fast_bytes=1 << 14)

    accumulator = parts.operators[next(r.target for r in parts.records if r.flags & Flag.FIRST)].accumulator
    assert accumulator is not None
    held = parts.operands[accumulator]
    sliding = compiled("chain_residual_s8", "smallest").plan
    windows = [sliding.operands[op.inputs[0]].window for op in sliding.operators]
    at = next(i for i, r in enumerate(sliding.records) if r.kind is Kind.RUN and windows[r.target])
    beyond = replace(sliding.records[at], slot=(sliding.records[at].slot[0], windows[sliding.records[at].target], 0))
    tall = Operand(Space.FAST, 0, 1, 65535, 0, 7)
    copy = Record(Kind.COPY, len(conv.operands), 0, 1, channel=len(conv.operands), advance=1)
    return {
        "arena": replace(conv, fast_bytes=conv.fast_bytes - 16),
        "rows": replace(conv, records=(replace(conv.records[0], row=1),)),
        "overlap": in_place(conv),
        "overlap_softmax": in_place(compiled("softmax_batch5_s8", "roomy").plan),
        "overlap_behind": in_place(compiled("quantize_f32_s8_image", "roomy").plan, 16),
        "overlap_larger": in_place(compiled("dequantize_s8_f32_image", "roomy").plan, 0, 16),
        "accumulator": with_operand(parts, accumulator, replace(held, row_bytes=4, rows=held.row_bytes, window=1)),
        "window": replace(sliding, records=(*sliding.records[:at], beyond, *sliding.records[at + 1 :])),
        "repeat": replace(
            conv,
            operands=(*conv.operands, tall),
            records=(Record(Kind.REPEAT, 17, 65535), copy, *[conv.records[0]] * 16),
            fast_bytes=1 << 16,
        ),
    }


def write(folder: Path) -> None:
    """Good plans as <case>.<budget>.tgrs, hostile ones as hostile.<name>.tgrs."""
    for case, budget in CASES:
        (folder / f"{case}.{budget}.tgrs").write_bytes(compiled(case, budget).plan_bytes)
    for name, plan in hostile().items():
        (folder / f"hostile.{name}.tgrs").write_bytes(encode(plan))
