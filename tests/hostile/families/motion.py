# SPDX-License-Identifier: MIT OR Apache-2.0
"""Colliders and pins that move, fast or far, but leave enough space for the cloth."""

import numpy as np
from judge.orders import covers_the_top_until, stays_outside, winds_round
from meshes import (
    Mesh,
    ball,
    blob,
    box,
    cone,
    cylinder,
    grid,
    joined,
    moved,
    rim,
    rolled,
    rotation,
    strip,
    torus,
    tube,
    turned,
    vector,
    wedge,
)

from families.drape import ASKEW, SHIFT, UP, fallen, floor
from scene import FRAME_RATE, Body, Obstacle, Path, Scene, State, along, fabric, scene

FRAME = 1.0 / FRAME_RATE  # s


def spun(points: np.ndarray, axis: object, speed: float, start: float = 0.0) -> Path:
    """Path of points that turn about an axis through the origin, in rad/s, from a time on."""

    def path(time: float) -> np.ndarray:
        return points @ rotation(axis, speed * max(0.0, time - start)).T

    return path


def first_obstacle(state: State) -> np.ndarray:
    return state.obstacles[0]


def carried(path: Path, offset: object) -> Path:
    """A shifted path."""
    return lambda time: path(time) + offset


def held_by_rim(size: int, length: float = 1.0, material: str = "cotton") -> Body:
    """A level sheet whose whole rim is pinned."""
    positions, triangles = grid(size, length)
    return Body("sheet", positions, triangles, fabric(material), pins=rim(size, size))


def hanging(size: int, length: float = 1.0, material: str = "cotton") -> Body:
    """An upright sheet in the plane y = 0, its upper edge pinned at z = 0."""
    positions, triangles = turned(grid(size, length), (1, 0, 0), 0.5 * np.pi)
    positions = positions - (0, 0, positions[:, 2].max())
    pins = np.flatnonzero(positions[:, 2] > -1e-9)
    return Body("sheet", positions, triangles, fabric(material), pins=pins)


def shot(size: int, speed: float) -> Scene:
    """A ball that meets a sheet pinned by its rim from below, and stops 0.2 m beyond it."""
    sheet = held_by_rim(size)
    sheet.positions = sheet.positions - (*SHIFT, 0.0)
    radius = 0.12
    positions, triangles = ball(radius, 2)
    # The ball rests for a frame, flies for whole ones, stays, goes back.
    flight = FRAME * np.ceil(0.5 / (speed * FRAME))
    top, arrival = np.array((0, 0, 0.2 - radius)), FRAME + flight
    start = top - (0, 0, speed * flight)
    keyframes = [
        (FRAME, start),
        (arrival, top),
        (arrival + 0.4, top),
        (arrival + 0.6, (0, 0, -0.3)),
    ]
    path = along(positions, *keyframes)
    bullet = Obstacle("ball", path(0.0), triangles, path)
    scene = Scene([sheet], [bullet], settings={"time_step": FRAME})
    scene.speed_limit, scene.stretch_limit = 2.0 * speed + 20.0, 2.0
    scene.orders = [stays_outside(0, sheet.triangles, sheet.pins, (0, 0, 100.0), first_obstacle)]
    return scene


@scene(quick=(16, 0.75), soak=(32, 1.5))
def ball_at_10_metres_a_second(size: int, seconds: float) -> Scene:
    return shot(size, 10.0)


@scene(quick=(16, 0.75), soak=(32, 1.5))
def ball_at_50_metres_a_second(size: int, seconds: float) -> Scene:
    return shot(size, 50.0)


@scene(quick=(16, 0.75), soak=(32, 1.5))
def needle_shoots_up(size: int, seconds: float) -> Scene:
    """A sharp tip at 3 m/s into a sheet pinned by its rim, between vertices."""
    sheet = held_by_rim(size)
    sheet.positions = sheet.positions - (*SHIFT, 0.0)
    positions, triangles = cone(6, 0.02, 0.6)
    path = along(positions, (0.0, (0, 0, -0.1)), (0.08, (0, 0, 0.14)))
    needle = Obstacle("needle", path(0.0), triangles, path)
    scene = Scene([sheet], [needle], stretch_limit=2.0)
    scene.orders = [stays_outside(0, sheet.triangles, sheet.pins, (0, 0, 100.0), first_obstacle)]
    return scene


@scene(quick=(14, 1.0), soak=(36, 2.5))
def sheet_between_rollers(size: int, seconds: float) -> Scene:
    """Two rollers with a gap for a few layers draw in a hanging sheet by friction."""
    positions, triangles = hanging(size, 0.8).positions, grid(size, 0.8)[1]
    # Lower end already between the rollers.
    sheet = Body("sheet", positions + vector(0, 0, 0.75), triangles, fabric(friction=0.8))
    radius, gap = 0.1, 0.016
    roller, sides = turned(cylinder(24, 2, radius, 1.0), (0, 1, 0), 0.5 * np.pi)
    offsets = [(0, -radius - 0.5 * gap, 0), (0, radius + 0.5 * gap, 0)]
    rollers = []
    for offset, speed in zip(offsets, (-4.0, 4.0), strict=True):
        path = carried(spun(roller, (1, 0, 0), speed, 0.2), offset)
        rollers.append(Obstacle(f"roller at {offset[1]:.3f}", path(0.0), sides, path, friction=0.8))
    return Scene([sheet], [*rollers, floor(-0.5)])


@scene(quick=(16, 1.0), soak=(40, 3.0))
def flag_against_pole(size: int, seconds: float) -> Scene:
    """Wind of 17 m/s lays a flag against a pole and wraps it round."""
    positions, triangles = strip(int(1.5 * size), size, 1.5, 0.8)
    upright = positions @ rotation((1, 0, 0), 0.5 * np.pi).T + (0.75, 0.0, 0.0)
    bent = upright + np.outer(0.02 * np.sin(6.0 * upright[:, 0]), (0, 1, 0))
    pins = np.flatnonzero(positions[:, 0] < -0.75 + 1e-9)
    flag = Body("flag", bent, triangles, fabric("polyester"), pins=pins)
    place = (0.4, 0.08)
    pole = Obstacle("pole", *moved(cylinder(12, 2, 0.03, 2.0), (*place, 0.0)))
    scene = Scene([flag], [pole], settings={"wind": (12.0, 12.0, 0.0)}, speed_limit=40.0)
    scene.orders = [winds_round(place, slice(size // 2, None, size))]
    return scene


@scene(quick=(16, 1.0), soak=(45, 3.0))
def spinning_ball(size: int, seconds: float) -> Scene:
    """A rough ball that begins to spin under a sheet lying on it."""
    body, sides = blob(0.3, 3, 0.15)
    path = carried(spun(body, UP, 8.0, 0.4), (0, 0, -body[:, 2].max()))
    scene = fallen(size, [(path(0.0), sides)], ground=-0.8, height=0.03, friction=1.0)
    scene.obstacles[0].path = path
    return scene


@scene(quick=(16, 1.0), soak=(45, 2.5))
def dragged_over_an_edge(size: int, seconds: float) -> Scene:
    """A sheet on a box is pulled off by one corner, over the box's edge and down."""
    positions, triangles = grid(size, 0.8)
    far = int(np.argmax(positions @ (1.0, 1.0, 0.0)))
    positions = positions @ rotation(UP, ASKEW).T + (*SHIFT, 0.004)
    lift, aside, down = (0.02, 0.02, 0.06), (0.45, 0.3, 0.05), (0.6, 0.4, -0.9)
    keyframes = [(0.25, (0, 0, 0)), (0.4, lift), (0.8, aside), (1.8, down)]
    path = along(positions[[far]], *keyframes)
    sheet = Body("sheet", positions, triangles, fabric(), pins=np.array([far]), path=path)
    table = moved(box((1.3, 1.3, 0.4)), (0, 0, -0.2))
    return Scene([sheet], [Obstacle("table", *table)])


def changing_blob(time: float) -> np.ndarray:
    """A body that breathes, grows and loses bumps, and wanders."""
    phase = 2.0 * np.pi * max(0.0, time - 0.3)
    positions, _ = blob(0.3 + 0.03 * np.sin(1.3 * phase), 3, 0.25 + 0.2 * np.sin(phase))
    return positions + vector(0.05 * np.sin(0.7 * phase), 0.0, -0.42)


@scene(quick=(16, 1.0), soak=(45, 3.0))
def deforming_blob(size: int, seconds: float) -> Scene:
    triangles = blob(0.3)[1]
    scene = fallen(size, [(changing_blob(0.0), triangles)], ground=-1.0, height=0.05)
    scene.obstacles[0].path = changing_blob
    return scene


def waves(time: float) -> np.ndarray:
    """A level surface with waves that run through it."""
    positions, _ = grid(24, 1.6)
    x, y = positions[:, 0], positions[:, 1]
    z = 0.06 * np.sin(8.0 * x - 9.0 * time) * np.cos(5.0 * y + 4.0 * time)
    return np.stack([x, y, z - 0.06], axis=1)


@scene(quick=(16, 1.0), soak=(45, 2.5))
def sheet_on_waves(size: int, seconds: float) -> Scene:
    scene = fallen(size, [(waves(0.0), grid(24, 1.6)[1])], height=0.03, friction=0.6)
    scene.obstacles[0].path = waves
    return scene


@scene(quick=(16, 1.25), soak=(36, 3.0))
def crumpled_in_a_closing_box(size: int, seconds: float) -> Scene:
    """A loose roll in a closed box that shrinks to a twelfth of its volume."""
    flat, triangles = grid(size, 1.0)
    roll = rolled(flat, 0.12, 0.03) @ rotation((0.3, 0.2, 1.0), 0.4).T
    walls, sides = box((1.0, 1.4, 1.0))

    def path(time: float) -> np.ndarray:
        return walls * np.interp(time, (0.2, 0.85 * seconds), (1.0, 0.42))

    sheet = Body("sheet", roll, triangles, fabric(), rest_positions=flat)
    return Scene([sheet], [Obstacle("box", walls, sides, path)])


@scene(quick=(17, 1.25), soak=(41, 3.0))
def pulled_through_a_ring(size: int, seconds: float) -> Scene:
    """A sheet pulled by its middle through a ring much narrower than itself."""
    positions, triangles = grid(size, 0.8)
    middle = np.array([size // 2 * size + size // 2])
    height = 0.045
    depth = along(
        positions[middle] + (0, 0, height), (0.2, (0, 0, 0)), (seconds, (0, 0, -0.35 * seconds))
    )
    sheet = Body(
        "sheet",
        positions + vector(0, 0, height),
        triangles,
        fabric("silk"),
        pins=middle,
        path=depth,
    )
    return Scene(
        [sheet], [Obstacle("ring", *torus(0.14, 0.04, 32, 16), friction=0.1)], stretch_limit=1.0
    )


@scene(quick=(14, 1.0), soak=(36, 2.5))
def whirled_by_a_corner(size: int, seconds: float) -> Scene:
    """Nothing but the sheet itself, whose corner goes round a circle twice a second."""
    positions, triangles = grid(size, 0.8)
    place = positions[[0]]

    def path(time: float) -> np.ndarray:
        angle = 4.0 * np.pi * time
        return place + vector(0.3 * np.sin(angle), 0.3 - 0.3 * np.cos(angle), 0.0)

    sheet = Body("sheet", positions, triangles, fabric(), pins=np.array([0]), path=path)
    return Scene([sheet], [], speed_limit=40.0)


@scene(quick=(16, 0.75), soak=(36, 1.5))
def blades_from_both_sides(size: int, seconds: float) -> Scene:
    """Two knives push a pinned sheet past each other, eight centimetres apart."""
    positions, triangles = grid(size)
    pins = np.flatnonzero(np.abs(positions[:, 0]) > 0.5 - 1e-9)
    sheet = Body("sheet", positions, triangles, fabric(), pins=pins)
    # Edges across the span between the pinned ends.
    upward, sides = turned(wedge(1.4, 0.03, 0.3), UP, 0.5 * np.pi)
    downward = upward * (1, 1, -1)
    rise = along(upward + vector(0.04, 0, 0), (0.0, (0, 0, -0.05)), (0.25, (0, 0, 0.035)))
    fall = along(downward - (0.04, 0, 0), (0.0, (0, 0, 0.05)), (0.25, (0, 0, -0.035)))
    knives = [
        Obstacle("knife below", rise(0.0), sides, rise, friction=0.1),
        Obstacle("knife above", fall(0.0), sides[:, ::-1], fall, friction=0.1),
    ]
    return Scene([sheet], knives, stretch_limit=1.0)


@scene(quick=(16, 1.0), soak=(40, 2.0))
def hail(size: int, seconds: float) -> Scene:
    """Small balls at 6 m/s from both sides into a hanging sheet, which go back after 0.3 m."""
    generator = np.random.default_rng(3)
    sheet = hanging(size)
    balls = []
    for index in range(8):
        # Side by side, so that no two of them squeeze the sheet.
        aim = np.array((-0.42 + 0.12 * (3 * index % 8), 0.0, generator.uniform(-0.9, -0.4)))
        velocity = generator.normal(size=3) * (0.3, 0.2, 0.5) + (0.0, 2.0 * (-1) ** index, 0.0)
        velocity *= 6.0 / np.linalg.norm(velocity)
        lead = 0.05 + 0.1 * index  # s, until it arrives
        positions, triangles = ball(generator.uniform(0.03, 0.05), 1)
        keyframes = [
            (0.0, -lead * velocity),
            (lead + 0.05, 0.05 * velocity),
            (lead + 0.25, -0.05 * velocity),
        ]
        path = along(positions + aim, *keyframes)
        balls.append(Obstacle(f"hailstone {index}", path(0.0), triangles, path))
    # So often that none can pass between two frames unseen.
    return Scene([sheet], balls, frame_rate=120.0, speed_limit=60.0, stretch_limit=1.0)


@scene(quick=(16, 0.75), soak=(40, 1.5))
def knife_sweeps_a_curtain(size: int, seconds: float) -> Scene:
    """A blade at 5 m/s from the side into a hanging sheet, edge first."""
    sheet = hanging(size)
    edge, sides = turned(wedge(1.6, 0.02, 0.15), (1, 0, 0), -0.5 * np.pi)
    level = edge @ rotation((0, 1, 0), 0.3).T - (0, 0, 0.55)
    path = along(level, (0.0, (0, -0.4, 0)), (0.2, (0, 0.6, 0)))
    blade = Obstacle("blade", path(0.0), sides, path)
    return Scene([sheet], [blade], frame_rate=60.0, speed_limit=40.0, stretch_limit=1.0)


@scene(quick=(16, 1.0), soak=(40, 2.0))
def collider_jumps_a_metre(size: int, seconds: float) -> Scene:
    """A ball under a lying sheet is a metre higher within a frame, and aside within another."""
    scene = fallen(size, [moved(ball(0.25), (0, 0, -0.25))], ground=-1.2, height=0.03)
    jumps = [
        (0.5, (0, 0, 0)), (0.5 + FRAME, (0, 0, 1.0)),
        (0.75, (0, 0, 1.0)), (0.75 + FRAME, (1.0, 0, 1.0)),
    ]  # fmt: skip
    scene.obstacles[0].path = along(scene.obstacles[0].positions, *jumps)
    scene.speed_limit = 80.0
    scene.orders = [covers_the_top_until(0.75)]
    return scene


@scene(quick=(16, 1.0), soak=(40, 2.0))
def sleeve_over_a_growing_limb(size: int, seconds: float) -> Scene:
    """A knitted tube round a limb that grows by a tenth, bends, and grows thin again."""
    sleeve = tube(2 * size, size, 0.1, 0.4)
    limb, sides = cylinder(24, 13, 0.08, 0.8)

    def path(time: float) -> np.ndarray:
        wide = np.interp(time, (0.1, 0.4, 0.7, 1.0), (1.0, 1.35, 1.35, 0.8))
        bend = 0.15 * np.sin(4.0 * max(0.0, time - 0.2)) * limb[:, 2] ** 2 / 0.16
        return limb * (wide, wide, 1.0) + np.outer(bend, (1, 0, 0))

    body = Body("sleeve", *sleeve, fabric("jersey"))
    return Scene([body], [Obstacle("limb", limb, sides, path), floor(-0.45)])


@scene(quick=(16, 1.0), soak=(40, 2.0))
def curtain_is_drawn(size: int, seconds: float) -> Scene:
    """The upper edge of a hanging sheet is pushed together to a quarter, in pleats."""
    sheet = hanging(size)
    pinned = sheet.positions[sheet.pins]

    def path(time: float) -> np.ndarray:
        narrow = np.interp(time, (0.0, 0.8 * seconds), (1.0, 0.25))
        # Four pleats, nowhere longer along their curve than the edge was straight.
        pleats = np.sqrt(1.0 - narrow**2) / (8.0 * np.pi) * np.cos(8.0 * np.pi * pinned[:, 0])
        return pinned * (narrow, 1.0, 1.0) + np.outer(pleats, (0, 1, 0))

    sheet.path = path
    return Scene([sheet], [], stretch_limit=1.0)


def swarm() -> Mesh:
    """Small tetrahedra all over, as one collider."""
    generator = np.random.default_rng(11)
    each = [
        moved(turned(cone(3, 0.03, 0.05), generator.normal(size=3), 2.0), place)
        for place in generator.uniform(-0.5, 0.5, size=(40, 3)) * (1.0, 1.0, 0.3)
    ]
    return joined(*each)


@scene(quick=(16, 1.0), soak=(40, 2.0))
def swarm_of_splinters(size: int, seconds: float) -> Scene:
    """Splinters that turn about each other under, and then through, a falling sheet's place."""
    positions, triangles = swarm()
    path = carried(spun(positions, (0.2, 0.1, 1.0), 3.0), (0, 0, -0.25))
    scene = fallen(size, [(path(0.0), triangles)], ground=-0.9, height=0.03)
    scene.obstacles[0].path = path
    scene.speed_limit = 40.0
    return scene
