# SPDX-License-Identifier: MIT OR Apache-2.0
"""Scenes that cannot be right for a while: pins in solids, no space left, intersecting colliders.

Here `advance` must not raise, its work must stay bounded, and once there is space again the cloth
must come free of all intersections within half a second.
"""

import numpy as np
from meshes import ball, box, grid, moved, plate, rim, rolled, rotation, turned, vector

from families.drape import ASKEW, SHIFT, UP, floor
from families.motion import hanging, held_by_rim
from scene import Body, Demand, Obstacle, Scene, along, fabric, scene

GRACE = 0.5  # s, from the end of a squeeze until all must be free again


def impossible(cloths: list[Body], obstacles: list[Obstacle], start: float, end: float) -> Scene:
    """A scene whose intersections are excused from a time until some time after another, in s."""
    return Scene(
        cloths,
        obstacles,
        demand=Demand.RECOVERS,
        excused=(start, end + GRACE),
        stretch_limit=3.0,
        speed_limit=60.0,
    )


def to_and_fro(points: np.ndarray, offset: object, start: float, stay: float) -> object:
    """Path to an offset within 0.3 s, back within another 0.3 s."""
    zero = (0.0, 0.0, 0.0)
    turn = start + 0.3 + stay
    return along(points, (start, zero), (start + 0.3, offset), (turn, offset), (turn + 0.3, zero))


@scene(quick=(15, 1.5), soak=(31, 2.5))
def pin_goes_through_a_ball(size: int, seconds: float) -> Scene:
    """The middle of a sheet is drawn into a ball, out of its far side, and back."""
    positions, triangles = turned(grid(size, 0.8), UP, ASKEW)
    positions = positions + vector(0, 0, 0.22)
    middle = np.array([size // 2 * size + size // 2])
    path = to_and_fro(positions[middle], (0.02, 0.01, -0.55), 0.1, 0.1)
    sheet = Body("sheet", positions, triangles, fabric(), pins=middle, path=path)
    return impossible([sheet], [Obstacle("ball", *ball(0.2))], 0.1, 0.8)


@scene(quick=(14, 1.5), soak=(30, 2.5))
def plates_close_and_open(size: int, seconds: float) -> Scene:
    """A lying sheet between two solid plates that go a centimetre into each other and part."""
    positions, triangles = moved(turned(grid(size, 0.6), UP, ASKEW), (*SHIFT, 0.03))
    slab, sides = box((1.0, 1.0, 0.1))
    lowered = slab - (0, 0, 0.05)
    raised = slab + vector(0, 0, 0.15)
    path = to_and_fro(raised, (0, 0, -0.11), 0.1, 0.1)
    plates = [Obstacle("below", lowered, sides), Obstacle("above", raised, sides, path)]
    return impossible([Body("sheet", positions, triangles, fabric())], plates, 0.1, 0.8)


@scene(quick=(14, 1.5), soak=(30, 2.5))
def plates_close_on_a_roll(size: int, seconds: float) -> Scene:
    """Many layers, and no space for one; sheets of two triangles from both sides."""
    flat, triangles = grid(size, 0.8)
    roll = rolled(flat, 0.04, 0.014)
    sheet = Body("roll", roll, triangles, fabric(), rest_positions=flat)
    high, sides = moved(plate(2.0), (0, 0, 0.12))
    path = to_and_fro(high, (0, 0, -0.235), 0.1, 0.1)
    plates = [
        floor(-0.12, 2.0),
        Obstacle("above", high, sides, path),
    ]
    return impossible([sheet], plates, 0.1, 0.8)


@scene(quick=(14, 1.5), soak=(30, 2.5))
def ball_presses_into_the_floor(size: int, seconds: float) -> Scene:
    positions, triangles = moved(turned(grid(size, 0.8), UP, ASKEW), (*SHIFT, 0.005))
    high, sides = moved(ball(0.2), (0.03, 0.02, 0.35))
    path = to_and_fro(high, (0, 0, -0.25), 0.1, 0.1)
    obstacles = [floor(0.0), Obstacle("ball", high, sides, path)]
    return impossible([Body("sheet", positions, triangles, fabric())], obstacles, 0.1, 0.8)


@scene(quick=(14, 1.5), soak=(30, 2.5))
def box_without_room(size: int, seconds: float) -> Scene:
    """A closed box shrinks round a roll to a two-hundredth of its size and opens again."""
    flat, triangles = grid(size, 0.8)
    roll = rolled(flat, 0.1, 0.03) @ rotation((0.3, 0.2, 1.0), 0.4).T
    walls, sides = box((0.9, 1.2, 0.9))

    def path(time: float) -> np.ndarray:
        return walls * np.interp(time, (0.1, 0.4, 0.5, 0.8), (1.0, 0.005, 0.005, 1.0))

    sheet = Body("roll", roll, triangles, fabric(), rest_positions=flat)
    return impossible([sheet], [Obstacle("box", walls, sides, path)], 0.1, 0.8)


@scene(quick=(14, 1.5), soak=(30, 2.5))
def jump_through_a_held_sheet(size: int, seconds: float) -> Scene:
    """A ball jumps a metre through a sheet with a pinned rim, and back after half a second."""
    sheet = held_by_rim(size)
    low, sides = moved(ball(0.15, 2), (*SHIFT, -0.4))
    frame = 1.0 / 24.0
    jumps = [(0.125, 0.0), (0.125 + frame, 1.0), (0.6, 1.0), (0.6 + frame, 0.0)]
    path = along(low, *[(time, (0, 0, height)) for time, height in jumps])
    scene = impossible([sheet], [Obstacle("ball", low, sides, path)], 0.125, 0.65)
    scene.speed_limit = 200.0
    return scene


@scene(quick=(13, 1.5), soak=(25, 2.5))
def held_vertex_goes_through_cloth(size: int, seconds: float) -> Scene:
    """A small sheet pinned by its rim is drawn through a large one pinned by its rim, and back."""
    lower = held_by_rim(size)
    small = size // 2 + 1
    flat, faces = moved(turned(grid(small, 0.3), UP, ASKEW), (*SHIFT, 0.1))
    pins = rim(small, small)
    path = to_and_fro(flat[pins], (0, 0, -0.9), 0.1, 0.1)
    upper = Body("moved", flat, faces, fabric(), pins=pins, path=path)
    return impossible([lower, upper], [], 0.1, 0.8)


@scene(quick=(14, 1.5), soak=(30, 2.5))
def armpit(size: int, seconds: float) -> Scene:
    """Two bodies close on a hanging sheet, far into each other, and part again."""
    sheet = hanging(size, 0.8)
    sides = ball(0.15)[1]
    obstacles = []
    for name, sign in (("one", 1.0), ("other", -1.0)):
        place = ball(0.15)[0] + (0.03 * sign, 0.3 * sign, -0.4)
        path = to_and_fro(place, (0, -0.25 * sign, 0), 0.1, 0.1)
        obstacles.append(Obstacle(name, place, sides, path))
    return impossible([sheet], obstacles, 0.1, 0.8)


@scene(quick=(12, 1.5), soak=(24, 2.5))
def body_turns_inside_out(size: int, seconds: float) -> Scene:
    """The collider under a sheet is mirrored through its own middle, and comes back."""
    positions, triangles = moved(turned(grid(size, 0.6), UP, ASKEW), (*SHIFT, 0.24))
    body, sides = ball(0.2, 2)

    def path(time: float) -> np.ndarray:
        return body * (1.0, 1.0, np.interp(time, (0.1, 0.4, 0.5, 0.8), (1.0, -1.0, -1.0, 1.0)))

    scene = impossible(
        [Body("sheet", positions, triangles, fabric())],
        [Obstacle("body", body, sides, path), floor(-0.4)],
        0.1,
        0.8,
    )
    # Whoever was above may end below: only intersections count.
    scene.watch_sides = False
    return scene


@scene(quick=(10, 1.25), soak=(20, 2.0))
def pins_cross_each_other(size: int, seconds: float) -> Scene:
    """Two ends of one strip are drawn through each other, and back."""
    positions, triangles = grid(size, 0.6)
    pins = np.flatnonzero(np.abs(positions[:, 0]) > 0.3 - 1e-9)
    offset = np.where(positions[pins, 0] < 0.0, 0.75, -0.75)

    def path(time: float) -> np.ndarray:
        part = np.interp(time, (0.0, 0.3, 0.4, 0.7), (0.0, 1.0, 1.0, 0.0))
        return positions[pins] + np.outer(part * offset, (1, 0, 0))

    sheet = Body("strip", positions, triangles, fabric(), pins=pins, path=path)
    return impossible([sheet], [], 0.0, 0.7)
