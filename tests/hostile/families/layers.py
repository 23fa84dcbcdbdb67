# SPDX-License-Identifier: MIT OR Apache-2.0
"""Cloth on cloth and cloth on itself: stacks, knots, twists, impacts."""

import numpy as np
from judge.orders import layers_in_order, linked, stays_knotted, stays_outside
from meshes import ball, box, grid, moved, rim, rolled, rotation, strip, swept, tube, turned, vector

from families.drape import ASKEW, SHIFT, UP, floor
from scene import Body, Obstacle, Path, Scene, along, fabric, scene

NORTH = (0.0, 1.0, 0.0)


def stack(size: int, layers: int, gap: float, length: float = 0.5, drop: float = 0.004) -> Scene:
    """Level sheets above each other, no two turned alike, on a floor at z = 0."""
    cloths = []
    for layer in range(layers):
        positions, triangles = turned(grid(size, length), UP, 0.37 * layer)
        offset = (0.002 * np.cos(layer), 0.002 * np.sin(layer), drop + gap * layer)
        cloths.append(Body(f"layer {layer}", positions + offset, triangles, fabric()))
    scene = Scene(cloths, [floor(0.0)])
    scene.orders = [layers_in_order(scene)]
    return scene


@scene(quick=(8, 0.75), soak=(30, 2.5))
def ten_layers(size: int, seconds: float) -> Scene:
    return stack(size, 10, 0.005)


@scene(quick=(10, 0.75), soak=(30, 2.0))
def five_layers_over_a_ball(size: int, seconds: float) -> Scene:
    scene = stack(size, 5, 0.008, length=0.8)
    scene.obstacles = [
        Obstacle("ball", *moved(ball(0.25), (0, 0, -0.25))),
        floor(-0.5),
    ]
    scene.orders = []
    return scene


@scene(quick=(14, 1.0), soak=(36, 2.5))
def two_fabrics_crosswise(size: int, seconds: float) -> Scene:
    """Strips of denim and of silk fall across each other, and over a box."""
    lower = strip(2 * size, size // 2, 1.2, 0.3)
    upper = turned(strip(2 * size, size // 2, 1.2, 0.3), UP, 0.5 * np.pi + 0.1)
    cloths = [
        Body("silk", *moved(lower, (*SHIFT, 0.03)), fabric("silk")),
        Body("denim", *moved(upper, (0, 0, 0.08)), fabric("denim")),
    ]
    table = moved(box((0.3, 0.3, 0.4)), (0, 0, -0.2))
    return Scene(cloths, [Obstacle("box", *table), floor(-0.4)])


@scene(quick=(10, 1.5), soak=(18, 5.5))
def twisted_cloth(size: int, seconds: float) -> Scene:
    """The ends of a strip are turned against each other, a turn a second: five in the long form."""
    rows = 3 * size
    positions, triangles = strip(rows, size, 0.9, 0.25)
    vertex = np.arange(rows * size).reshape(rows, size)
    pins = np.concatenate([vertex[0], vertex[-1]])
    pinned = positions[pins]
    left = np.sign(pinned[:, :1])

    def path(time: float) -> np.ndarray:
        part = min(max(0.0, time - 0.1) / 5.0, 1.0)
        angle = 5.0 * np.pi * part  # of each end
        turn = [pinned @ rotation((1, 0, 0), sign * angle).T for sign in (-1.0, 1.0)]
        # The ends come closer, as those of a towel that is wrung do.
        nearer = np.where(left < 0, turn[0], turn[1])
        return nearer - left * np.array((0.18, 0.0, 0.0)) * part

    sheet = Body("towel", positions, triangles, fabric(), pins=pins, path=path)
    return Scene([sheet], [], stretch_limit=2.0)


def long_trefoil(count: int, size: float) -> np.ndarray:
    """Points at equal distances on an open overhand knot (a polynomial curve by A. R. Shastri)."""
    t = np.linspace(-2.1, 2.1, 4000)
    curve = np.stack([t**3 - 3.0 * t, t**4 - 4.0 * t**2, 0.35 * (t**5 - 10.0 * t)], axis=1)
    curve = size * (curve - curve.mean(axis=0))
    arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
    even = np.linspace(0.0, arc[-1], count)
    return np.stack([np.interp(even, arc, curve[:, axis]) for axis in range(3)], axis=1)


def carried_along(path: np.ndarray, first: object) -> np.ndarray:
    """Unit vectors across a path that turn about it as little as possible."""
    tangents = np.gradient(path, axis=0)
    tangents /= np.linalg.norm(tangents, axis=1, keepdims=True)
    across = [np.asarray(first, dtype=float)]
    for tangent in tangents:
        vector = across[-1] - tangent * (across[-1] @ tangent)
        across.append(vector / np.linalg.norm(vector))
    return np.array(across[1:])


@scene(quick=(3, 1.25), soak=(6, 4.0))
def knot_pulled_tight(size: int, seconds: float) -> Scene:
    """A ribbon in a loose overhand knot, whose ends are pulled apart; `size` vertices across."""
    path = long_trefoil(40 * size, 0.07)
    positions, triangles = swept(path, carried_along(path, (0, 0, 1)), 0.016, size)
    rows = len(path)
    vertex = np.arange(rows * size).reshape(rows, size)
    pins = np.concatenate([vertex[0], vertex[-1]])
    length = np.linalg.norm(np.diff(path, axis=0), axis=1).sum()
    # Tight when the knot has used up a dozen widths of the ribbon.
    apart = path[-1] - path[0]
    pull = apart * (length - 0.2) / np.linalg.norm(apart) - apart
    share = np.where(np.arange(len(pins)) < size, -0.5, 0.5)

    def pulled(time: float) -> np.ndarray:
        part = np.clip((time - 0.1) / (0.9 * seconds - 0.1), 0.0, 1.0)
        return positions[pins] + np.outer(share, part * pull)

    ribbon = Body("ribbon", positions, triangles, fabric("silk"), pins=pins, path=pulled)
    scene = Scene([ribbon], [], settings={"gravity": (0.0, 0.0, -1.0)}, stretch_limit=1.0)
    scene.orders = [stays_knotted(slice(size // 2, None, size))]
    return scene


@scene(quick=(14, 1.0), soak=(36, 2.0))
def sheet_shot_at_a_sheet(size: int, seconds: float) -> Scene:
    """A small sheet moves at 10 m/s to just above one pinned at its rim, and is released."""
    positions, triangles = grid(size)
    lower = Body("pinned", positions, triangles, fabric(), pins=rim(size, size))
    small = max(6, size // 2)
    flat, faces = moved(turned(grid(small, 0.4), UP, ASKEW), (*SHIFT, 0.9))
    corners = np.array([0, small - 1, small * (small - 1), small * small - 1])
    path = along(flat[corners], (0.0, (0, 0, 0)), (1 / 12, (0, 0, -10.0 / 12.0)))
    upper = Body("shot", flat, faces, fabric(), pins=corners, path=path, released=1 / 12)
    scene = Scene([lower, upper], [], speed_limit=60.0, stretch_limit=1.0)
    # The free parts of the small sheet arrive when its corners stop.
    scene.orders = [
        stays_outside(0, triangles, lower.pins, (0, 0, -100.0), lambda state: state.cloths[1])
    ]
    return scene


def bellows(size: int, folds: int, width: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A strip folded to and fro, layers 8 mm apart: positions, triangles, and the strip flat."""
    length, radius = 0.25, 0.004
    pieces = []
    for fold in range(folds):
        x = np.linspace(0.0, length, 60) * (1 if fold % 2 == 0 else -1)
        x += 0.0 if fold % 2 == 0 else length
        pieces.append(np.stack([x, np.full(60, 2.0 * radius * fold)], axis=1))
        angle = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 14)[1:-1]
        side = 1.0 if fold % 2 == 0 else -1.0
        end = length if fold % 2 == 0 else 0.0
        bend = np.stack([end + side * radius * np.cos(angle), radius * (np.sin(angle) + 1.0)], 1)
        pieces.append(bend + vector(0.0, 2.0 * radius * fold))
    curve = np.concatenate(pieces[:-1])
    arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
    even = np.linspace(0.0, arc[-1], folds * size)
    x, z = (np.interp(even, arc, curve[:, axis]) for axis in range(2))
    path = np.stack([x - 0.5 * length, np.zeros_like(x), z], axis=1)
    columns = max(4, size // 3)
    across = np.broadcast_to(NORTH, path.shape)
    positions, triangles = swept(path, across, width, columns)
    flat = strip(len(path), columns, arc[-1], width)[0]
    return positions, triangles, flat


@scene(quick=(14, 1.0), soak=(30, 2.0))
def folded_bellows_drop(size: int, seconds: float) -> Scene:
    """Five layers in one piece, folded to and fro, fall on a floor and unfold."""
    positions, triangles, flat = bellows(size, 5, 0.2)
    scene = Scene(
        [
            Body(
                "bellows",
                positions + vector(0, 0, 0.1),
                triangles,
                fabric("denim"),
                rest_positions=flat,
            )
        ],
        [floor(0.0)],
    )
    scene.stretch_limit = 1.0
    return scene


@scene(quick=(14, 1.0), soak=(36, 2.0))
def roll_drops(size: int, seconds: float) -> Scene:
    """A sheet rolled up in several turns falls on a floor and unrolls."""
    flat, triangles = strip(3 * size, size, 1.5, 0.3)
    roll = rolled(flat, 0.05, 0.012)
    roll = roll - (0, 0, roll[:, 2].min() - 0.02)
    return Scene(
        [Body("roll", roll, triangles, fabric("leather"), rest_positions=flat)],
        [floor(0.0)],
    )


@scene(quick=(12, 1.0), soak=(30, 2.5))
def tube_crushed_between_plates(size: int, seconds: float) -> Scene:
    """An upright tube of cloth is crushed by a plate to a tenth of its height."""
    sleeve = moved(tube(2 * size, size, 0.12, 0.4), (0, 0, 0.21))
    plate, sides = box((0.8, 0.8, 0.05))
    down = along(plate, (0.0, (0, 0, 0.45)), (0.8 * seconds, (0, 0, 0.075)))
    return Scene(
        [Body("tube", *sleeve, fabric())],
        [Obstacle("plate", down(0.0), sides, down), floor(0.0)],
    )


def swinging(pinned: np.ndarray, offset: float) -> Path:
    def path(time: float) -> np.ndarray:
        return pinned + vector(0.0, offset * np.cos(6.0 * time) - offset, 0.0)

    return path


@scene(quick=(14, 1.0), soak=(36, 2.5))
def two_curtains_clap(size: int, seconds: float) -> Scene:
    """Two hanging sheets swing into each other, again and again."""
    upright, triangles = turned(grid(size, 0.7), (1, 0, 0), 0.5 * np.pi)
    pins = np.flatnonzero(upright[:, 2] > 0.35 - 1e-9)
    cloths = []
    for name, y in (("one", 0.1), ("other", -0.1)):
        positions = upright + vector(0.02 * np.sign(y), y, 0.0)
        path = swinging(positions[pins], 0.45 * y)
        cloths.append(Body(name, positions, triangles, fabric(), pins=pins, path=path))
    return Scene(cloths, [])


@scene(quick=(6, 1.0), soak=(12, 2.5))
def ribbon_through_a_loop(size: int, seconds: float) -> Scene:
    """A ribbon pulled to and fro through a hanging loop of another one."""
    around, columns = 8 * size, max(3, size // 2)
    angle = np.linspace(0.0, 2.0 * np.pi, around, endpoint=False)
    loop, sides = tube(around, columns, 0.08, 0.05)
    upright = loop @ rotation((0, 1, 0), 0.5 * np.pi).T
    top = np.flatnonzero(np.repeat(angle, columns) == angle[np.argmax(upright[::columns, 2])])
    ribbon, faces = moved(strip(12 * size, columns, 1.0, 0.04), (0.0, 0.0, -0.04))
    ends = np.flatnonzero(np.abs(ribbon[:, 0]) > 0.5 - 1e-9)

    def path(time: float) -> np.ndarray:
        sway = 0.25 * np.sin(5.0 * time)
        return ribbon[ends] + vector(sway, 0.0, -0.1 * min(1.0, time))

    cloths = [
        Body("loop", upright, sides, fabric("denim"), pins=top),
        Body("ribbon", ribbon, faces, fabric("silk"), pins=ends, path=path),
    ]
    middle = columns // 2
    order = linked(slice(middle, None, columns), slice(middle, None, columns))
    return Scene(cloths, [], orders=[order], stretch_limit=1.0)
