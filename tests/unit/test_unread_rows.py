"""Rows that no later operator reads are neither computed nor stored."""

from __future__ import annotations

from tests.corpus import layers
from tests.corpus.writer import ModelWriter
from tests.unit.test_planner_random import outputs_of
from tigris_codegen.pipeline import Model


def pooled(height: int, *, kept: bool = False) -> Model:
    """A convolution under a pool of 2 by 2, which leaves out the last row of an odd height."""
    m = ModelWriter("pooled")
    x = layers.activation_input(m, [1, height, 4, 3], "int8")
    wide = layers.conv_2d(m, x, 8, (3, 3))
    y = layers.pool_2d(m, wide, "MAX_POOL_2D", (2, 2), stride=(2, 2), padding="VALID")
    return Model(m.finish([x], [y, wide] if kept else [y]), "pooled")


def test_an_odd_last_row_is_left_out() -> None:
    odd, even = pooled(9), pooled(8)
    assert odd.problem.macs == even.problem.macs
    row = 4 * 8
    assert odd.roomy().plan.operators[0].kernel_name == "conv_2d_s8"
    assert odd.roomy().plan.records[0].rows == 8
    # The input has a row more, the convolution's output takes no more than without that row.
    assert 0 <= odd.roomy().plan.fast_bytes - even.roomy().plan.fast_bytes < row
    assert outputs_of(odd.roomy(), 1, 0x00) == outputs_of(odd.smallest(), 1, 0xAA)


def test_an_output_is_computed_whole() -> None:
    model = pooled(9, kept=True)
    assert model.roomy().plan.records[0].rows == 9
    assert model.problem.macs == pooled(9).problem.macs // 8 * 9
