"""Concatenations made in place: their pieces are written where they belong, and nothing is copied."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.corpus import layers
from tests.corpus.writer import ModelWriter
from tests.unit.test_planner_random import outputs_of
from tigris_codegen.pipeline import Model
from tigris_codegen.plan.verify import PlanFault, verify
from tigris_codegen.planner.problem import join_parts


def branches(axis: int, *, nested: bool = False, read_again: bool = False, channels: int = 4) -> Model:
    m = ModelWriter("branches")
    x = layers.activation_input(m, [1, 8, 4, 4], "int8")
    left, right = layers.conv_2d(m, x, channels, (3, 3)), layers.conv_2d(m, x, channels, (1, 1))
    y = layers.concatenation(m, [left, right], axis)
    if nested:
        y = layers.concatenation(m, [y, layers.depthwise_conv_2d(m, x, 1, (3, 3))], axis)
    return Model(m.finish([x], [y, left] if read_again else [y]), "branches")


def kernels(model: Model) -> list[str]:
    return [op.kernel_name for op in model.roomy().plan.operators]


@pytest.mark.parametrize("nested", [False, True])
def test_rows_are_written_where_they_belong(nested: bool) -> None:
    model = branches(1, nested=nested)
    roomy = model.roomy()
    assert not [name for name in kernels(model) if name.startswith("concatenation")]
    tensors = {roomy.plan.operands[op.output].tensor for op in roomy.plan.operators}
    assert len(tensors) == 1
    whole = Model.roomy(branches(3, nested=nested))
    assert roomy.plan.ram_bytes < whole.plan.ram_bytes
    assert outputs_of(roomy, 1, 0x00) == outputs_of(model.smallest(), 1, 0xAA)


def test_pieces_that_are_no_whole_rows_are_copied() -> None:
    assert len([n for n in kernels(branches(3)) if n.startswith("concatenation")]) == 2


def test_a_piece_that_is_read_elsewhere_is_copied() -> None:
    assert len([n for n in kernels(branches(1, read_again=True)) if n.startswith("concatenation")]) == 1


def test_a_piece_at_no_address_for_an_operand_is_copied() -> None:
    model = branches(1, channels=5)
    problem = join_parts(model.problem)
    ahead = [work.output.at for work in problem.works]
    assert all(at % 16 == 0 for at in ahead)
    m = ModelWriter("odd")
    x = layers.activation_input(m, [1, 3, 3, 3], "int8")
    pieces = [layers.conv_2d(m, x, 3, (1, 1)) for _ in range(2)]
    odd = Model(m.finish([x], [layers.concatenation(m, pieces, 1)]), "odd")
    assert len([n for n in kernels(odd) if n.startswith("concatenation")]) == 1


def test_the_verifier_knows_where_a_part_lies() -> None:
    plan = branches(1).roomy().plan
    for op in plan.operators:
        for change in (-16, 16):
            operand = plan.operands[op.output]
            if operand.offset + change < 0:
                continue
            operands = list(plan.operands)
            operands[op.output] = replace(operand, offset=operand.offset + change)
            with pytest.raises(PlanFault):
                verify(replace(plan, operands=tuple(operands), fast_bytes=plan.fast_bytes + 16))


def test_parts_of_two_pools() -> None:
    model = branches(1, nested=True)
    least = model.smallest().plan.ram_bytes
    spilled = model.within(least - 64, 1 << 12)
    assert spilled.plan.slow_bytes
    assert outputs_of(spilled, 1, 0xAA) == outputs_of(model.roomy(), 1, 0x00)
