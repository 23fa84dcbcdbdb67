# SPDX-License-Identifier: MIT OR Apache-2.0
"""Coarse sheets that start crossed come apart, and are not thrown apart."""

import numpy as np
import pytest
import weft
from small_cloths import FRAME

EDGE = 0.3  # m
SOON = 12  # frames, within which nothing may cross any more


def sheet(side: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions of a square of coarse cells, in m, and its triangles, whose diagonals alternate."""
    line = EDGE * np.arange(side)
    positions = np.array([(x, y, 0.0) for x in line for y in line])
    triangles = []
    for column in range(side - 1):
        for row in range(side - 1):
            a = column * side + row
            b, c, d = a + side, a + side + 1, a + 1
            cut = [(a, b, c), (a, c, d)] if (column + row) % 2 else [(a, b, d), (d, b, c)]
            triangles += cut
    return positions, np.array(triangles)


def weightless(starts: list[np.ndarray], triangles: np.ndarray) -> weft.Simulation:
    cotton = weft.Material.preset("cotton")
    cloths = [weft.Cloth(start, triangles, cotton) for start in starts]
    return weft.Simulation(cloths, settings=weft.Settings(gravity=(0.0, 0.0, 0.0)))


def drawn_apart(scene: weft.Simulation) -> tuple[int, float, float]:
    """Intersections in all frames and the last ones, and the largest displacement, in m."""
    intersections, longest, before = [], 0.0, [scene.positions(index) for index in range(2)]
    for _ in range(24):
        intersections.append(scene.advance(FRAME).unresolved_contacts)
        now = [scene.positions(index) for index in range(2)]
        displacements = np.linalg.norm(np.subtract(now, before), axis=-1)
        longest, before = max(longest, displacements.max()), now
    return sum(intersections), sum(intersections[SOON:]), longest


@pytest.mark.parametrize("side", [3, 4, 5, 6, 7, 9])
def test_sheets_in_one_place_come_apart_by_their_thickness(side):
    positions, triangles = sheet(side)
    scene = weightless([positions, positions], triangles)
    _, left, longest = drawn_apart(scene)
    assert left == 0
    # Both are 1 mm thick.
    assert longest < 0.008
    assert np.abs(scene.positions(0)[:, 2] - scene.positions(1)[:, 2]).min() > 0.0009


@pytest.mark.parametrize("side", [3, 5])
def test_interleaved_sheets_are_not_thrown_apart(side):
    positions, triangles = sheet(side)
    random = np.random.default_rng(1)
    heights = np.zeros((2, len(positions), 3))
    heights[..., 2] = 0.001 * random.standard_normal((2, len(positions)))
    shift = np.array((0.31 * EDGE, 0.17 * EDGE, 0.0))
    starts = [positions + heights[0], positions + shift + heights[1]]
    crossed, left, longest = drawn_apart(weightless(starts, triangles))
    assert crossed > 0
    assert left == 0
    assert longest < 0.12


@pytest.mark.parametrize("height", [0.1, 0.125, 0.135])
def test_faces_doubled_in_place_fall_and_lie_on_each_other(height):
    side = 7
    positions, triangles = sheet(side)
    positions *= 0.2
    cotton = weft.Material.preset("cotton")
    gap = cotton.thickness
    doubled = weft.Cloth(
        np.concatenate([positions, positions]),
        np.concatenate([triangles, triangles + side * side]),
        cotton,
    )
    corners = [(-1.0, -1.0, -height), (2.0, -1.0, -height), (0.0, 2.0, -height)]
    floor = weft.Collider(corners, [(0, 1, 2)], thickness=gap)
    scene = weft.Simulation([doubled], [floor])
    reports = [scene.advance(FRAME) for _ in range(24)]
    # Coincident cloth keeps next to no distance, and at most both thicknesses.
    heights = scene.positions()[:, 2] + height
    assert 2.0 * gap - 1.0e-4 < heights.min()
    # A corner may be folded over: three layers that keep both thicknesses. None rebounds.
    assert np.median(heights) < 3.0 * gap
    assert heights.max() < 6.0 * gap + 1.0e-4
    assert reports[-1].unresolved_contacts == 0
    # Cloth that cannot go on takes the most steps that a frame has, 256.
    assert max(report.steps for report in reports) < 128
