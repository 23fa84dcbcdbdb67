# SPDX-License-Identifier: MIT OR Apache-2.0
"""Stiff light cards: two that lean on each other, and one that lands."""

import numpy as np
import pytest
import weft
from slow_scenes.common import (
    FRAME,
    about_y,
    about_z,
    assert_below,
    floor,
    masses,
    simulation,
    strip,
    triangles_of,
)

ROWS, COLUMNS, HEIGHT, WIDTH = 8, 6, 0.14, 0.10
FRICTION = 0.5
PAPER = weft.Material.preset("paper").replace(friction=FRICTION)
GAP = PAPER.thickness + 0.001  # m, on a collider


def leaning(degrees: float) -> tuple[weft.Simulation, list[np.ndarray]]:
    """Two cards whose upper edges touch, so many degrees from the vertical."""
    rest, quads = strip(ROWS, COLUMNS, HEIGHT, WIDTH)
    up, across = rest[:, 0], rest[:, 1]
    angle = np.radians(degrees)
    aside = PAPER.thickness + (HEIGHT - up) * np.sin(angle)
    right = np.stack([aside, across, GAP + up * np.cos(angle)], axis=-1)
    starts = [right * (-1.0, 1.0, 1.0), right]
    cloths = [weft.Cloth(each, quads, PAPER, rest_positions=rest) for each in starts]
    return simulation(cloths, [floor(FRICTION)], {}), starts


@pytest.mark.parametrize("degrees", [10, 15, 20])
def test_two_cards_that_lean_on_each_other_stand_for_ten_seconds(degrees: int):
    cards, starts = leaning(degrees)
    for _ in range(240):
        cards.advance(FRAME)
        heights = [cards.positions(card)[:, 2].max() for card in (0, 1)]
        assert min(heights) > 0.9 * starts[0][:, 2].max(), cards.time


@pytest.mark.parametrize(("tilt", "reached"), [(0.0, 1e-3), (3.0, 3e-3)])
@pytest.mark.parametrize("height", np.linspace(0.0002, 0.002, 10))
def test_a_card_that_lands_on_a_smooth_floor_does_not_leave_sideways(
    height: float, tilt: float, reached: float
):
    """In vacuum: nothing pushes it sideways."""
    rest, _ = strip(ROWS, COLUMNS, HEIGHT, WIDTH)
    triangles = triangles_of(ROWS, COLUMNS)
    fabric = PAPER.replace(air_drag=0.0, air_lift=0.0)
    start = rest @ about_y(tilt).T @ about_z(0.3).T
    start[:, 2] += height + GAP - start[:, 2].min()
    cloth = weft.Cloth(start, triangles, fabric, rest_positions=rest)
    card = simulation([cloth], [floor(0.0)], {})
    weights = masses(rest, triangles, fabric.density)
    weights /= weights.sum()
    speeds = []
    for _ in range(24):
        card.advance(FRAME)
        speeds.append(np.linalg.norm((weights @ card.velocities())[:2]))
    assert_below(1e-3, reached=reached, value=max(speeds))
