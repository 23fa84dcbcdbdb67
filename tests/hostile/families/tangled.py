# SPDX-License-Identifier: MIT OR Apache-2.0
"""Starts that are already crossed: free of intersections within two seconds, and from then on."""

import numpy as np
from meshes import (
    ball,
    blob,
    cone,
    cylinder,
    grid,
    moved,
    swept,
    tube,
    turned,
    vector,
)

from families.drape import ASKEW, SHIFT, UP, floor
from scene import Body, Demand, Obstacle, Scene, fabric, scene

TIME = 2.0  # s, within which the cloth must come free


def tangled(cloths: list[Body], obstacles: list[Obstacle]) -> Scene:
    return Scene(
        cloths,
        obstacles,
        demand=Demand.UNTANGLES,
        excused=(0.0, TIME),
        stretch_limit=1.0,
        speed_limit=30.0,
    )


@scene(quick=(12, 2.25), soak=(30, 3.0))
def crossed_layers(size: int, seconds: float) -> Scene:
    """Two sheets that pass through each other at a small angle, above a floor."""
    level = moved(grid(size, 0.5), (0, 0, 0.06))
    tilted = moved(turned(turned(grid(size, 0.5), (1, 0, 0), 0.15), UP, ASKEW), (*SHIFT, 0.06))
    cloths = [Body("level", *level, fabric()), Body("tilted", *tilted, fabric())]
    return tangled(cloths, [floor(0.0)])


@scene(quick=(10, 2.25), soak=(20, 3.0))
def sleeve_through_a_torso(size: int, seconds: float) -> Scene:
    """A sleeve-like tube that stands halfway in the wall of a torso-like one, both hanging."""
    torso, sides = tube(2 * size, size, 0.2, 0.5)
    pinned = np.flatnonzero(torso[:, 2] > 0.25 - 1e-9)
    sleeve, faces = turned(tube(size, size, 0.05, 0.4), (0, 1, 0), 0.5 * np.pi)
    sleeve = sleeve + vector(0.2, 0.013, 0.05)
    cloths = [
        Body("torso", torso, sides, fabric(), pins=pinned),
        Body("sleeve", sleeve, faces, fabric()),
    ]
    return tangled(cloths, [floor(-0.4)])


@scene(quick=(14, 2.25), soak=(30, 3.0))
def sheet_half_in_a_ball(size: int, seconds: float) -> Scene:
    """A level sheet through the upper half of a ball."""
    positions, triangles = moved(turned(grid(size, 0.6), UP, ASKEW), (*SHIFT, 0.1))
    return tangled(
        [Body("sheet", positions, triangles, fabric())],
        [Obstacle("ball", *ball(0.2)), floor(-0.3)],
    )


@scene(quick=(14, 2.25), soak=(30, 3.0))
def folded_through_itself(size: int, seconds: float) -> Scene:
    """A strip in the shape of a loop whose ends cross each other."""
    t = np.linspace(-1.35, 1.35, 3 * size)
    path = 0.2 * np.stack([t * (t**2 - 1.0), np.zeros_like(t), 1.0 - t**2], axis=1)
    across = np.broadcast_to((0.0, 1.0, 0.0), path.shape)
    positions, triangles = swept(path + vector(0, 0, 0.25), across, 0.2, max(4, size // 2))
    return tangled([Body("strip", positions, triangles, fabric())], [floor(0.0)])


@scene(quick=(12, 2.25), soak=(28, 3.0))
def dress_beside_its_body(size: int, seconds: float) -> Scene:
    """A dress-like tube round a body, but set off so far that the body sticks out of it."""
    dress, triangles = tube(2 * size, size, 0.17, 0.5)
    wider = 1.0 + 0.5 * (0.25 - dress[:, 2:])
    dress = np.concatenate([dress[:, :2] * wider, dress[:, 2:]], axis=1) + vector(0.06, 0.02, 0.05)
    body = cylinder(24, 9, 0.14, 0.9)
    shoulders = moved(ball(0.21, 2), (0, 0, 0.12))
    obstacles = [Obstacle("body", *body), Obstacle("shoulders", *shoulders), floor(-0.45)]
    return tangled([Body("dress", dress, triangles, fabric("jersey"))], obstacles)


@scene(quick=(10, 2.25), soak=(24, 3.0))
def shirt_in_and_out_of_a_dress(size: int, seconds: float) -> Scene:
    """A shirt over a dress on one side of a body and under it on the other, its hem halfway."""
    dress, sides = tube(2 * size, 2 * size, 0.18, 0.6)
    pinned = np.flatnonzero(dress[:, 2] > 0.3 - 1e-9)
    shirt, faces = turned(tube(2 * size, size, 0.18, 0.25), UP, ASKEW)
    shirt = shirt + vector(0.025, 0.012, 0.15)
    cloths = [
        Body("dress", dress, sides, fabric(), pins=pinned),
        Body("shirt", shirt, faces, fabric()),
    ]
    return tangled(cloths, [Obstacle("body", *cylinder(24, 9, 0.14, 1.0)), floor(-0.55)])


@scene(quick=(14, 2.25), soak=(30, 3.0))
def pierced_by_a_needle(size: int, seconds: float) -> Scene:
    """Two tips stand through a sheet from the start, one of them sharp."""
    positions, triangles = moved(grid(size, 0.6), (*SHIFT, -0.03))
    tips = [moved(cone(6, 0.03, 0.3), (-0.13, 0.02, 0.0)), moved(cone(8, 0.1, 0.3), (0.14, 0, 0))]
    obstacles = [Obstacle(f"tip {index}", *tip) for index, tip in enumerate(tips)]
    return tangled([Body("sheet", positions, triangles, fabric())], [*obstacles, floor(-0.29)])


@scene(quick=(14, 2.25), soak=(30, 3.0))
def hollows_filled_with_cloth(size: int, seconds: float) -> Scene:
    """A tube round a bumpy body whose bumps stand through it."""
    sleeve = tube(2 * size, size, 0.22, 0.35)
    obstacles = [Obstacle("body", *blob(0.2, 3, 0.5)), floor(-0.4)]
    return tangled([Body("tube", *sleeve, fabric("jersey"))], obstacles)
