"""Models whose plans were once wrong, or refused by the verifier."""

from __future__ import annotations

import numpy as np
import pytest

from tests.corpus import layers
from tests.corpus.writer import ModelWriter
from tests.unit.test_planner_random import outputs_of
from tigris_codegen.pipeline import Model


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_rows_of_a_concatenation_that_nobody_reads(dtype: str) -> None:
    """A stride beyond the kernel skips rows, which must stay until the last of their producers has written them."""
    m = ModelWriter("skipped_rows")
    x = layers.activation_input(m, (1, 11, 4, 3), dtype)
    y = layers.concatenation(m, [layers.conv_2d(m, x, 2, (1, 1)), layers.conv_2d(m, x, 2, (3, 3))], 2)
    y = layers.depthwise_conv_2d(m, y, 1, (1, 1), stride=(3, 3))
    made = Model(m.finish([x], [layers.conv_2d(m, y, 3, (3, 3))]), "skipped_rows")
    roomy, smallest = made.roomy(), made.smallest()
    assert smallest.plan.ram_bytes < roomy.plan.ram_bytes
    assert outputs_of(smallest, 1, 0xAA) == outputs_of(roomy, 1, 0x55)
    assert np.frombuffer(outputs_of(roomy, 2, 0)[0], np.uint8).any()
