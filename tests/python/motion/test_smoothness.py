# SPDX-License-Identifier: MIT OR Apache-2.0
"""Cloth comes to rest without zigzags of one edge's length, in the shape of a finer sheet."""

import pytest
from smoothness import drape

# Cotton of 1 m on a ball with edges of 5 mm, in m.
FINE_MEAN_HEIGHT, FINE_LOWEST = 0.0821, -0.2374


@pytest.mark.parametrize("edge", [0.04, 0.02])
def test_a_sheet_on_a_ball_has_no_zigzags(edge: float) -> None:
    found = drape("cotton", "ball", 1.0, edge)
    assert found.smoothness() > 0.2
    # Heights scatter by 1.5 mm from start to start.
    assert found.mean_height() == pytest.approx(FINE_MEAN_HEIGHT, abs=0.003)
    assert found.lowest() == pytest.approx(FINE_LOWEST, abs=0.004)
