# SPDX-License-Identifier: MIT OR Apache-2.0
"""Objects that a cloth does not touch leave its motion unchanged."""

import numpy as np
import pytest
import weft
from small_cloths import FRAME, cloth, floor, grid

FRAMES = 12
SIDE = 17


def silk_positions(beside: weft.Cloth | None = None, tolerance: float | None = None) -> np.ndarray:
    """All frames of a sheet of silk that swings from a pinned edge, beside another cloth."""
    positions, quads = grid(SIDE, 0.3)
    silk = weft.Cloth(positions, quads, weft.Material.preset("silk"))
    options = {} if tolerance is None else {"tolerance": tolerance}
    others = [] if beside is None else [beside]
    scene = weft.Simulation([silk, *others], settings=weft.Settings(**options))
    scene.set_pins(0, list(range(SIDE)))
    frames = []
    for _ in range(FRAMES):
        scene.advance(FRAME)
        frames.append(scene.positions(0))
    return np.array(frames)


def far_away(times_as_heavy: float) -> weft.Cloth:
    positions, quads = grid(SIDE, 0.3)
    silk = weft.Material.preset("silk")
    material = silk.replace(density=times_as_heavy * silk.density)
    return weft.Cloth(positions + np.array((50.0, 0.0, 0.0)), quads, material)


def largest_error(frames: np.ndarray, exact: np.ndarray) -> float:
    """The root mean square distance of all vertices in m, in the worst frame."""
    return float(np.sqrt(np.square(frames - exact).sum(axis=2).mean(axis=1)).max())


# The linear solver reduces the residual of both together: that of an equal hides some of the first.
@pytest.mark.parametrize("times_as_heavy, factor", [(1.0, 6.0), (1000.0, 1.5), (10000.0, 1.5)])
def test_a_heavy_cloth_far_away_takes_no_accuracy_from_a_light_one(times_as_heavy, factor):
    exact = silk_positions(tolerance=1e-5)
    alone = largest_error(silk_positions(), exact)
    beside = largest_error(silk_positions(far_away(times_as_heavy)), exact)
    assert beside < factor * alone


def test_a_vertex_of_a_collider_without_triangles_holds_nothing():
    positions, triangles = floor(-1.0)
    stray = np.vstack([positions, (0.5, 0.5, -0.2)])
    lowest = []
    for corners in (positions, stray):
        scene = weft.Simulation([cloth()], [weft.Collider(corners, triangles)])
        contacts = [scene.advance(FRAME).contacts for _ in range(10)]
        assert not any(contacts)
        lowest.append(scene.positions())
    np.testing.assert_array_equal(*lowest)
