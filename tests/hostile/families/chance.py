# SPDX-License-Identifier: MIT OR Apache-2.0
"""Scenes by chance: where others take vertices along a side these take a seed, and each is another.

Shapes, sizes, places, fabrics, gaps, settings, colliders and their motion are drawn at random, so
that what nobody thought of is tried, too. `soak.py --chance SECONDS` runs one after the other.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import weft
from judge.intersections import Scenery
from judge.sides import winding_numbers
from meshes import (
    Mesh,
    ball,
    blob,
    box,
    cone,
    cylinder,
    moved,
    plate,
    rotation,
    strip,
    torus,
    tube,
    wedge,
)

from families.drape import floor
from families.impossible import impossible
from families.tangled import tangled
from scene import Body, Obstacle, Path, Scene, scene

ATTEMPTS = 200  # to find a place that is free
ROOM = np.array((0.45, 0.45, 0.25))  # m, half of that in which things are placed
GROUND = -0.7  # m, below all of it
WIDE = 400.0  # m, of a floor that nothing is blown off

Draw = np.random.Generator


def _spin(draw: Draw) -> np.ndarray:
    """A rotation."""
    return rotation(draw.normal(size=3), draw.uniform(0.0, np.pi))


def _placed(draw: Draw, mesh: Mesh, room: object = ROOM) -> Mesh:
    """The mesh turned and moved somewhere."""
    return mesh[0] @ _spin(draw).T + draw.uniform(-1.0, 1.0, size=3) * room, mesh[1]


def _solid(draw: Draw, smallest: float, rings: bool) -> Mesh:
    """Candidates for colliders, open meshes among them."""
    size = draw.uniform(smallest, 0.3)
    kinds = (
        lambda: ball(size, int(draw.integers(1, 4))),
        lambda: blob(size, 3, draw.uniform(0.1, 0.6)),
        lambda: box(size * draw.uniform(0.2, 2.0, size=3)),
        lambda: moved(cone(int(draw.integers(3, 9)), 0.6 * size, 2.0 * size), (0, 0, size)),
        lambda: cylinder(int(draw.integers(3, 13)), 3, 0.5 * size, 2.0 * size),
        lambda: moved(wedge(2.0 * size, draw.uniform(0.1, 1.0) * size, size), (0, 0, 0.5 * size)),
        lambda: plate(2.0 * size),
        lambda: torus(size, draw.uniform(0.1, 0.5) * size),
        lambda: tube(9, 4, 0.6 * size, 1.5 * size),
    )
    count = len(kinds) if rings else len(kinds) - 2
    return _placed(draw, kinds[draw.integers(count)]())


def _solids(
    draw: Draw, least: int, most: int, smallest: float = 0.05, *, rings: bool = True
) -> list[Mesh]:
    return [_solid(draw, smallest, rings) for _ in range(draw.integers(least, most + 1))]


def _piece(draw: Draw, tubes: float = 0.25) -> Mesh:
    """A piece of cloth about the origin: a tube by a chance, or a strip of uneven triangles."""
    size, side = draw.uniform(0.2, 0.8), int(draw.integers(5, 22))
    if draw.random() < tubes:
        return tube(side + 3, side, draw.uniform(0.1, 0.3) * size, size)
    columns, width = int(draw.integers(3, side + 1)), size * draw.uniform(0.2, 1.0)
    positions, triangles = strip(side, columns, size, width)
    edges = (size / (side - 1), width / (columns - 1))
    # By less than a quarter of an edge: no triangle is turned over.
    positions[:, :2] += draw.uniform(-0.2, 0.2, size=(len(positions), 2)) * edges
    return positions, triangles


def _fabric(draw: Draw, mesh: Mesh) -> weft.Material:
    """A preset with another gap and friction."""
    corners = mesh[0][mesh[1]]
    edge = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).mean()
    return weft.Material.preset(str(draw.choice(weft.preset_names()))).replace(
        thickness=min(10.0 ** draw.uniform(-4.0, -2.0), 0.7 * edge),
        friction=float(draw.choice([0.0, 0.2, 0.5, 1.0, 3.0])),
    )


def _is_free(cloths: list[Mesh], solids: list[Mesh]) -> bool:
    """Whether nothing crosses, and no cloth is in a closed solid."""
    scenery, meshes = Scenery(), [*cloths, *solids]
    for index, (positions, triangles) in enumerate(meshes):
        is_cloth = index < len(cloths)
        scenery.add(str(index), len(positions), triangles, is_cloth=is_cloth)
    positions = np.concatenate([mesh[0] for mesh in meshes])
    if any(scenery.intersections_also_rounded(positions)):
        return False
    return not any((winding_numbers(c[0], *s) > 0).any() for c in cloths for s in solids)


def _layers(draw: Draw, mesh: Mesh) -> list[Mesh]:
    """The piece alone, or a stack of it."""
    count = int(draw.integers(3, 8)) if draw.random() < 0.1 else 1
    step = draw.normal(size=3) * 0.01 + (0.0, 0.0, draw.uniform(0.002, 0.02))
    return [moved(mesh, index * step) for index in range(count)]


def _cloths(draw: Draw, solids: list[Mesh], pinned: float = 0.0) -> Iterator[Body]:
    """One to three pieces or stacks, free of each other and of the solids.

    `pinned` is the chance of a piece to have pins.
    """
    meshes: list[Mesh] = []
    for _ in range(int(draw.integers(1, 4))):
        piece = _piece(draw)
        for _ in range(ATTEMPTS):
            stack = _layers(draw, _placed(draw, piece, 1.3 * ROOM))
            if _is_free([*meshes, *stack], solids):
                break
        else:
            continue
        meshes += stack
        material = _fabric(draw, piece)
        for mesh in stack:
            body = Body(f"cloth {len(meshes)}", *mesh, material)
            if draw.random() < pinned:
                body.pins = np.sort(draw.choice(len(mesh[0]), draw.integers(1, 4), replace=False))
            yield body


def _obstacles(draw: Draw, solids: list[Mesh], paths: list[Path] | None = None) -> list[Obstacle]:
    """The solids as colliders, each with a path of its own if there are any."""
    return [
        Obstacle(
            f"solid {index}",
            *mesh,
            path=paths[index] if paths else None,
            friction=float(draw.choice([0.0, 0.3, 0.8])),
            thickness=10.0 ** draw.uniform(-4.0, -2.3),
        )
        for index, mesh in enumerate(solids)
    ]


def _finished(draw: Draw, scene: Scene, scaled: float = 0.15) -> Scene:
    """The scene with settings, and limits that only what explodes exceeds; scaled by a chance."""
    if draw.random() < 0.2:
        scene.settings["wind"] = tuple(map(float, draw.normal(size=3) * 4.0))
    if draw.random() < 0.2:
        others = ["implicit_euler", "implicit_midpoint", "imex_euler", "sbdf2"]
        scene.settings["integrator"] = str(draw.choice(others))
    if draw.random() < 0.15:
        scene.settings["model"] = str(draw.choice(["baraff_witkin", "choi_ko", "mass_spring"]))
    # Cloth that begins nearer than the gap is pressed apart.
    scene.stretch_limit, scene.speed_limit, scene.energy_growth = 20.0, 80.0, 10.0
    return _scaled(scene, 10.0 ** draw.uniform(-1.5, 1.5)) if draw.random() < scaled else scene


def _scaled(scene: Scene, factor: float) -> Scene:
    """The scene with all lengths multiplied."""

    def path(positions: Path | None) -> Path | None:
        return positions and (lambda time: positions(time) * factor)

    for each in scene.cloths:
        each.positions, each.path = each.positions * factor, path(each.path)
        each.material = each.material.replace(thickness=each.material.thickness * factor)
    scene.obstacles = [
        replace(
            each,
            positions=each.positions * factor,
            path=path(each.path),
            thickness=each.thickness * factor,
        )
        for each in scene.obstacles
    ]
    scene.speed_limit *= max(1.0, factor)
    return scene


@scene(quick=(1, 1.0), soak=(2, 2.0))
def chance_still(seed: int, seconds: float) -> Scene:
    """Cloth that falls on solids at rest."""
    draw = np.random.default_rng([1, seed])
    solids = _solids(draw, 0, 4)
    ground = floor(GROUND, WIDE)
    cloths = list(_cloths(draw, [*solids, (ground.positions, ground.triangles)], pinned=0.3))
    scene = Scene(cloths, [*_obstacles(draw, solids), ground])
    scene.frame_rate = float(draw.choice([24.0, 30.0, 60.0]))
    return _finished(draw, scene)


def _swung(draw: Draw) -> Callable[[np.ndarray, float], np.ndarray]:
    """Where points are at a time that turn about an axis to and fro, and are shaken."""
    axis, angle, pace = draw.normal(size=3), draw.uniform(-2.0, 2.0), draw.uniform(2.0, 12.0)
    displacement = draw.normal(size=3) * 10.0 ** draw.uniform(-1.5, -0.3)

    def path(points: np.ndarray, time: float) -> np.ndarray:
        part = np.sin(pace * time)
        return points @ rotation(axis, angle * part).T + displacement * part

    return path


@scene(quick=(1, 1.0), soak=(2, 2.0))
def chance_moving(seed: int, seconds: float) -> Scene:
    """Cloth among solids that move as one, and pins with them."""
    draw = np.random.default_rng([2, seed])
    solids = _solids(draw, 1, 4)
    cloths = list(_cloths(draw, solids, pinned=0.3))
    swung = _swung(draw)
    for body in cloths:
        body.path = partial(swung, body.positions[body.pins]) if len(body.pins) else None
    paths = [partial(swung, points) for points, _ in solids]
    return _finished(draw, Scene(cloths, _obstacles(draw, solids, paths)))


def _closing(draw: Draw, solids: list[Mesh]) -> list[Path]:
    """Paths of solids that go through the middle of the scene, and back."""

    def path(
        points: np.ndarray, displacement: np.ndarray, turn: np.ndarray, time: float
    ) -> np.ndarray:
        part = np.interp(time, (0.1, 0.4, 0.5, 0.8), (0.0, 1.0, 1.0, 0.0))
        return points @ rotation(turn, part * np.linalg.norm(turn)).T + part * displacement

    motions = [
        (points, -1.2 * points.mean(axis=0), 0.5 * draw.normal(size=3)) for points, _ in solids
    ]
    return [partial(path, *motion) for motion in motions]


@scene(quick=(1, 1.75), soak=(2, 2.0))
def chance_squeezed(seed: int, seconds: float) -> Scene:
    """Cloth among solids that go into each other and part again.

    No pins: cloth stays hooked where the wall of an open solid goes past one.
    """
    draw = np.random.default_rng([3, seed])
    solids = _solids(draw, 2, 3, 0.1)
    cloths = list(_cloths(draw, solids))
    obstacles = [*_obstacles(draw, solids, _closing(draw, solids)), floor(2.0 * GROUND, WIDE)]
    scene = impossible(cloths, obstacles, 0.1, 0.8)
    # Whoever was outside may end inside: only intersections count.
    scene.watch_sides = False
    return _finished(draw, scene)


@scene(quick=(1, 2.25), soak=(2, 3.0))
def chance_tangled(seed: int, seconds: float) -> Scene:
    """Sheets in and through each other, and through a solid.

    No rings and tubes: what one goes through may find no end of it to slip off.
    """
    draw = np.random.default_rng([4, seed])
    solids = _solids(draw, 0, 1, rings=False)
    meshes = [_placed(draw, _piece(draw, tubes=0.0), 0.15) for _ in range(draw.integers(1, 4))]
    cloths = [Body(f"cloth {i}", *mesh, _fabric(draw, mesh)) for i, mesh in enumerate(meshes)]
    scene = tangled(cloths, [*_obstacles(draw, solids), floor(GROUND, WIDE)])
    # Cloth inside of a solid from the start belongs there.
    scene.watch_sides = False
    # Larger cloth falls and slips off as slowly as it should.
    return _finished(draw, scene, scaled=0.0)
