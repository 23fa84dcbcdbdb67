# SPDX-License-Identifier: MIT OR Apache-2.0
"""Cloth in the same place as something else, but for rounding: no intersections at the start."""

import numpy as np
from meshes import (
    Mesh,
    ball,
    divided,
    grid,
    joined,
    moved,
    plate,
    rim,
    rotation,
    turned,
    vector,
)

from families.drape import ASKEW, UP, floor
from families.tangled import tangled
from scene import FRAME_RATE, Body, Demand, Obstacle, Scene, fabric, scene

RADIUS = 0.25  # m, of balls


def copies(cloths: list[Body], obstacles: list[Obstacle]) -> Scene:
    """A scene that crosses only before its first frame."""
    return Scene(
        cloths,
        obstacles,
        demand=Demand.UNTANGLES,
        excused=(0.0, 0.5 / FRAME_RATE),
        stretch_limit=0.3,
        speed_limit=5.0,
        newton_limit=300,
    )


def blurred(positions: np.ndarray, noise: float, seed: int = 1) -> np.ndarray:
    return positions + np.random.default_rng(seed).normal(size=positions.shape) * noise


def cap(mesh: Mesh, noise: float, seed: int = 1, axis: tuple = UP) -> Mesh:
    """The upper half of a ball, each vertex moved by some noise in m."""
    positions, triangles = mesh
    upper = triangles[positions[triangles].mean(axis=1) @ axis > 0.02]
    kept, triangles = np.unique(upper, return_inverse=True)
    return blurred(positions[kept], noise, seed), triangles.reshape(-1, 3)


def on_a_ball(mesh: Mesh, size: int, noise: float) -> Scene:
    skin = Body("skin", *cap(mesh, noise), fabric())
    return copies([skin], [Obstacle("ball", *ball(RADIUS, size))])


@scene(quick=(3, 1.0), soak=(4, 3.0))
def copied_from_a_ball(size: int, seconds: float) -> Scene:
    """Cloth that is the upper half of a ball but for the last digits of single precision."""
    return on_a_ball(ball(RADIUS, size), size, 1e-8)


@scene(quick=(3, 1.0), soak=(4, 3.0))
def copied_from_a_ball_and_divided(size: int, seconds: float) -> Scene:
    """Cloth on a ball, with a vertex in the middle of each edge."""
    return on_a_ball(divided(*ball(RADIUS, size)), size, 1e-7)


@scene(quick=(3, 1.0), soak=(4, 3.0))
def copied_from_a_ball_and_moved(size: int, seconds: float) -> Scene:
    """Cloth a bit farther from a ball: edges pass below vertices of the ball here and there."""
    return on_a_ball(ball(RADIUS, size), size, 1e-5)


@scene(quick=(3, 2.25), soak=(4, 3.0))
def copied_from_a_ball_and_moved_farther(size: int, seconds: float) -> Scene:
    """Cloth so far from a ball that some vertices no longer coincide with the ball."""
    skin = Body("skin", *cap(ball(RADIUS, size), 3e-5), fabric())
    return tangled([skin], [Obstacle("ball", *ball(RADIUS, size))])


@scene(quick=(3, 1.0), soak=(4, 3.0))
def copied_from_the_side(size: int, seconds: float) -> Scene:
    """Exact copies of both sides of a ball, which fall off it."""
    whole = ball(RADIUS, size)
    sides = [Body(f"side {x}", *cap(whole, 0.0, axis=(x, 0, 0)), fabric()) for x in (-1, 1)]
    return copies(sides, [Obstacle("ball", *whole), floor(-0.3)])


@scene(quick=(8, 1.0), soak=(20, 3.0))
def hangs_from_a_ceiling(size: int, seconds: float) -> Scene:
    """A tube whose closed end lies exactly in an open ceiling that looks up, pinned there."""
    lid, lids = moved(grid(size, 0.4), (0, 0, 0.5))
    border = rim(size, size)
    hem = lid[border] - vector(0, 0, 0.3)
    near, far = border, len(lid) + np.arange(len(border))
    next_near, next_far = np.roll(near, -1), np.roll(far, -1)
    walls = [np.stack([near, far, next_far], 1), np.stack([near, next_far, next_near], 1)]
    faces = np.concatenate([lids, *walls])
    tent = Body("tent", np.concatenate([lid, hem]), faces, fabric(), pins=np.arange(len(lid)))
    return copies([tent], [Obstacle("ceiling", *moved(plate(3.0), (0, 0, 0.5)))])


@scene(quick=(3, 1.0), soak=(4, 3.0))
def copied_exactly(size: int, seconds: float) -> Scene:
    """To the last digit, so that everything touches and nothing crosses."""
    return on_a_ball(ball(RADIUS, size), size, 0.0)


@scene(quick=(3, 1.0), soak=(4, 3.0))
def copied_and_held(size: int, seconds: float) -> Scene:
    """Half of the copy stays on its ball."""
    positions, triangles = cap(ball(RADIUS, size), 1e-7)
    pinned = np.flatnonzero(positions[:, 0] > 0.15)
    skin = Body("skin", positions, triangles, fabric(), pins=pinned)
    return copies([skin], [Obstacle("ball", *ball(RADIUS, size))])


@scene(quick=(3, 1.0), soak=(4, 3.0))
def copied_from_what_moves(size: int, seconds: float) -> Scene:
    """The ball goes, rises and turns from the first moment on."""
    positions, triangles = ball(RADIUS, size)

    def path(time: float) -> np.ndarray:
        shift = vector(0.2 * time, 0.0, 0.05 * np.sin(6.0 * time))
        return positions @ rotation((1.0, 2.0, 3.0), 2.0 * time).T + shift

    skin = Body("skin", *cap((positions, triangles), 1e-7), fabric())
    return copies([skin], [Obstacle("ball", positions, triangles, path=path)])


@scene(quick=(3, 1.0), soak=(4, 3.0))
def copied_three_times(size: int, seconds: float) -> Scene:
    """Layers on the ball, one of which faces inward."""
    layers = [cap(ball(RADIUS, size), 1e-8, seed) for seed in range(3)]
    layers[1] = (layers[1][0], layers[1][1][:, ::-1])
    cloths = [Body(f"layer {index}", *mesh, fabric()) for index, mesh in enumerate(layers)]
    return copies(cloths, [Obstacle("ball", *ball(RADIUS, size))])


@scene(quick=(10, 1.0), soak=(20, 3.0))
def copied_within_a_cloth(size: int, seconds: float) -> Scene:
    """Two sheets in one place that are one cloth."""
    flat, triangles = moved(grid(size, 0.5), (0, 0, 0.06))
    sheets = joined((blurred(flat, 1e-8), triangles), (flat, triangles))
    return copies([Body("sheets", *sheets, fabric())], [floor(0.0)])


@scene(quick=(12, 1.0), soak=(20, 3.0))
def copied_sheet(size: int, seconds: float) -> Scene:
    """Two sheets in one place but for the last digits."""
    flat, triangles = moved(grid(size, 0.5), (0, 0, 0.06))
    sheets = {"one": flat, "other": blurred(flat, 1e-8)}
    cloths = [Body(name, positions, triangles, fabric()) for name, positions in sheets.items()]
    return copies(cloths, [floor(0.0)])


@scene(quick=(8, 1.0), soak=(20, 3.0))
def coincident_sheets(size: int, seconds: float) -> Scene:
    """Three sheets in one and the same place, vertex on vertex."""
    flat, triangles = moved(grid(size, 0.5), (0, 0, 0.02))
    cloths = [Body(f"sheet {index}", flat.copy(), triangles, fabric()) for index in range(3)]
    return copies(cloths, [floor(0.0)])


@scene(quick=(14, 1.0), soak=(30, 3.0))
def starts_in_a_plate(size: int, seconds: float) -> Scene:
    """Exactly in the plane of what it lies on."""
    sheet = Body("sheet", *turned(grid(size, 0.6), UP, ASKEW), fabric())
    return copies([sheet], [Obstacle("plate", *plate(6.0))])
