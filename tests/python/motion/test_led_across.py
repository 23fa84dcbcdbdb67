# SPDX-License-Identifier: MIT OR Apache-2.0
"""Kinematic vertices that move through solids, where nothing can yield, and their cloth."""

import numpy as np
import weft
from small_cloths import FRAME

SIDES = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
CUBE = np.array([(x, y, z) for z in (-1.0, 0.0) for y in (-0.5, 0.5) for x in (-0.5, 0.5)])
SIDE = 9
MIDDLE = SIDE * SIDE // 2
UP = np.array((0.0, 0.0, 1.0))


def cube() -> weft.Collider:
    """A cube of a metre whose top is at height 0."""
    triangles = [corners for a, b, c, d in SIDES for corners in ((a, b, c), (a, c, d))]
    return weft.Collider(CUBE, np.array(triangles), thickness=0.001)


def held_in_the_middle(height: float) -> tuple[weft.Simulation, np.ndarray]:
    """A small level sheet away from all edges of the cube, pinned by its middle, and that place."""
    line = np.linspace(-0.1, 0.1, SIDE)
    positions = np.array([(x + 0.11, y + 0.07, height) for x in line for y in line])
    cells = [SIDE * column + row for column in range(SIDE - 1) for row in range(SIDE - 1)]
    corners = [((a, a + SIDE, a + SIDE + 1), (a, a + SIDE + 1, a + 1)) for a in cells]
    triangles = np.array(corners).reshape(-1, 3)
    cloth = weft.Cloth(positions, triangles, weft.Material.preset("cotton"))
    scene = weft.Simulation([cloth], [cube()])
    scene.set_pins(0, [MIDDLE])
    return scene, positions[[MIDDLE]]


def lift(
    scene: weft.Simulation, start: np.ndarray, displacement: float, frames: int
) -> weft.Report:
    """Moves the middle up by a displacement in m; the report of the last frame."""
    for frame in range(frames):
        scene.set_pins(0, [MIDDLE], start + UP * displacement * (frame + 1) / frames)
        report = scene.advance(FRAME)
    return report


def test_a_vertex_led_into_a_solid_is_reported_and_comes_free():
    scene, middle = held_in_the_middle(0.01)
    assert lift(scene, middle, -0.04, 6).unresolved_contacts > 0
    assert lift(scene, middle - 0.04 * UP, 0.06, 6).unresolved_contacts == 0
    assert scene.positions(0)[:, 2].min() > 0.0


def test_cloth_that_began_inside_is_drawn_back_inside():
    scene, middle = held_in_the_middle(-0.02)
    assert lift(scene, middle, 0.06, 6).unresolved_contacts > 0
    scene.release_pins(0)
    for _ in range(24):
        report = scene.advance(FRAME)
    assert report.unresolved_contacts == 0
    assert scene.positions(0)[:, 2].max() < 0.0
