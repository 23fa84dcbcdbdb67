# SPDX-License-Identifier: MIT OR Apache-2.0
"""Surfaces that are wound the wrong way, become thicker, or lie along the axes."""

import numpy as np
import pytest
import weft
from small_cloths import FRAME, cloth, floor, grid, raised

THICKNESS = 0.001  # m, of cotton and of colliders as they come
RADIUS = 0.2  # m


def ball() -> tuple[np.ndarray, np.ndarray]:
    """Positions of a ball about the origin, in m, and its triangles, which face outward."""
    columns, rows = 16, 10
    tilt = np.pi * np.arange(1, rows) / rows
    turn = 2.0 * np.pi * np.arange(columns) / columns
    tilt, turn = np.meshgrid(tilt, turn, indexing="ij")
    around = [np.sin(tilt) * np.cos(turn), np.sin(tilt) * np.sin(turn), np.cos(tilt)]
    ring = np.stack(around, axis=-1).reshape(-1, 3)
    positions = RADIUS * np.vstack([(0.0, 0.0, 1.0), ring, (0.0, 0.0, -1.0)])
    last = len(positions) - 1
    vertex = 1 + np.arange(last - 1).reshape(rows - 1, columns)
    beside = np.roll(vertex, -1, axis=1)
    triangles = [(0, a, b) for a, b in zip(vertex[0], beside[0], strict=True)]
    triangles += [(last, b, a) for a, b in zip(vertex[-1], beside[-1], strict=True)]
    corners = (vertex[:-1], vertex[1:], beside[1:], beside[:-1])
    for a, b, c, d in zip(*(each.ravel() for each in corners), strict=True):
        triangles += [(a, b, c), (a, c, d)]
    return positions, np.array(triangles)


@pytest.mark.parametrize("turned", [False, True])
def test_a_solid_has_the_same_inside_however_it_is_wound(turned):
    positions, triangles = ball()
    solid = weft.Collider(positions, triangles[:, ::-1].copy() if turned else triangles)
    start, quads = grid(17, 0.5)
    start = raised(start - np.array((0.25, 0.25, 0.0)), RADIUS - 0.01)
    scene = weft.Simulation([weft.Cloth(start, quads, weft.Material.preset("cotton"))], [solid])
    intersections = [scene.advance(FRAME).unresolved_contacts for _ in range(24)]
    assert intersections[0] > 0 and not any(intersections[12:])
    # A ball of flat triangles is that much smaller between its vertices.
    assert np.linalg.norm(scene.positions(), axis=1).min() > 0.93 * RADIUS


def test_what_lies_on_a_collider_that_has_become_thicker_lies_higher():
    scene = weft.Simulation([cloth()], [weft.Collider(*floor(-0.08), thickness=THICKNESS)])
    scene.set_collider_surface(0, friction=0.3, thickness=0.03)
    for _ in range(20):
        scene.advance(FRAME)
    resting = -0.08 + 0.03 + THICKNESS
    np.testing.assert_allclose(scene.positions()[:, 2], resting, atol=0.1 * THICKNESS)


@pytest.mark.parametrize("directions", [[(1.0, 0.0, 0.0)], [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]])
def test_what_is_guided_along_a_floor_does_not_spring_back_from_it(directions):
    positions, quads = grid(6, 0.3)
    for lift in (0.0, 0.007):
        sheet = weft.Cloth(raised(positions, 0.4 + lift), quads, weft.Material.preset("cotton"))
        scene = weft.Simulation([sheet], [weft.Collider(*floor(0.0), friction=0.0)])
        vertices = np.arange(len(positions))
        scene.set_guided_velocity(0, vertices, directions, (0.0, 0.0, 0.0))
        heights = []
        for _ in range(12):
            scene.advance(FRAME)
            heights.append(scene.positions()[:, 2].mean())
        landed = next(frame for frame, height in enumerate(heights) if height < 0.003)
        assert max(heights[landed:]) < 0.003


@pytest.mark.parametrize("on_a_collider", [False, True])
def test_sheets_along_the_axes_that_cross_each_other_come_apart(on_a_collider):
    """An upright sheet is half off the border of a level one: the way out lies in its plane."""
    cotton, (level, quads) = weft.Material.preset("cotton"), grid(9, 0.4)
    upright = level[:, [0, 2, 1]] + np.array((0.213, 0.177, -0.187))
    cloths = [weft.Cloth(upright, quads, cotton)]
    colliders = []
    if on_a_collider:
        corners = level[[0, 72, 80, 8]]
        colliders.append(weft.Collider(corners, np.array([(0, 1, 2), (0, 2, 3)])))
    else:
        cloths.append(weft.Cloth(level, quads, cotton))
    still = weft.Settings(gravity=(0.0, 0.0, 0.0), air_density=0.0)
    scene = weft.Simulation(cloths, colliders, still)
    intersections = [scene.advance(FRAME).unresolved_contacts for _ in range(24)]
    assert intersections[0] > 0 and not any(intersections[16:])
