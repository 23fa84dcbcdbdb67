# SPDX-License-Identifier: MIT OR Apache-2.0
"""Cloth that comes between both sides of a seam is not caught when it closes."""

import numpy as np
import pytest
import weft
from small_cloths import FRAME, grid

SIDE = 11
COUNT = SIDE * SIDE
EDGE = 0.02  # m
END = np.arange(COUNT - SIDE, COUNT)  # the border at the largest x
PAIRS = np.column_stack([END, np.arange(SIDE) + COUNT])
FLAP = 7  # vertices along the width of what comes between, and along its height


def scene_with_flap(gap: float, height: float, acceleration: float) -> weft.Simulation:
    """Two level panels that are sewn together over a gap, and a flap on edge whose lower border is
    at a height; a force draws it down.
    """
    points, quads = grid(SIDE, (SIDE - 1) * EDGE)
    right = points + np.array([(SIDE - 1) * EDGE + gap, 0.0, 0.0])
    low, faces = grid(FLAP, (FLAP - 1) * EDGE)
    centre = [0.5 * (points[:, 0].max() + right[:, 0].min()), points[:, 1].mean()]
    flap = np.column_stack([np.full(len(low), centre[0]), low[:, 1], low[:, 0]])
    flap += [0.0, centre[1] - flap[:, 1].mean(), height - flap[:, 2].min()]
    cotton = weft.Material.preset("cotton")
    panels = weft.Cloth(
        np.vstack([points, right]),
        np.vstack([quads, quads + COUNT]),
        cotton,
        sewing=PAIRS,
        sewing_time=0.5,
    )
    settings = weft.Settings(gravity=(0.0, 0.0, 0.0), air_density=0.0)
    scene = weft.Simulation([panels, weft.Cloth(flap, faces, cotton)], settings=settings)
    forces = np.zeros_like(flap)
    area = ((FLAP - 1) * EDGE) ** 2
    forces[:, 2] = -cotton.density * area * acceleration / len(flap)
    scene.set_vertex_forces(1, forces)
    return scene


def heights(scene: weft.Simulation) -> np.ndarray:
    """Heights of the flap over the seam, in m."""
    seam = scene.positions(0)[PAIRS][..., 2]
    return scene.positions(1)[:, 2] - seam.mean()


def widest_gap(scene: weft.Simulation) -> float:
    """Of the seam, in m."""
    return float(np.linalg.norm(np.diff(scene.positions(0)[PAIRS], axis=1), axis=-1).max())


@pytest.mark.parametrize("acceleration", [0.1, 1.0])
def test_a_flap_that_falls_onto_a_closing_seam_stays_above(acceleration):
    scene = scene_with_flap(4.0 * EDGE, 0.3 * EDGE, acceleration)
    for frame in range(18):
        scene.advance(FRAME)
        assert heights(scene).min() > 0.0, frame
    assert widest_gap(scene) < 1e-4


def test_a_flap_that_hangs_in_a_seam_is_led_out_of_it():
    scene = scene_with_flap(4.0 * EDGE, -1.3 * EDGE, 0.0)
    assert heights(scene).min() < -EDGE < EDGE < heights(scene).max()
    for _frame in range(36):
        scene.advance(FRAME)
    assert widest_gap(scene) < 1e-4
    assert heights(scene).min() > 0.0 or heights(scene).max() < 0.0
