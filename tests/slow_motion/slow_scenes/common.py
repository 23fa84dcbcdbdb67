# SPDX-License-Identifier: MIT OR Apache-2.0
"""Meshes, fabrics and measurements of the scenes in which cloth moves slowly.

Everything runs with the settings that a user gets. Settings can be passed to a scene only for
`converged.py`, which solves the same equations far more closely.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import weft

FRAME = 1.0 / 24.0  # s
GRAVITY = 9.81  # m/s²
THICKNESS = 0.001  # m, of cotton and of a collider where none is given
GAP = 2.0 * THICKNESS
TABLE = Path(__file__).parents[1] / "converged.json"
COTTON = weft.Material.preset("cotton")
# Where the reference is a closed form there is no air.
IN_VACUUM = COTTON.replace(air_drag=0.0, air_lift=0.0)
Mesh = tuple[np.ndarray, np.ndarray]


def converged(name: str) -> np.ndarray:
    """Values that `converged.py` has stored."""
    return np.array(json.loads(TABLE.read_text())[name])


def simulation(
    cloths: list[weft.Cloth], colliders: list[weft.Collider], settings: dict
) -> weft.Simulation:
    return weft.Simulation(cloths, colliders, weft.Settings(**settings))


def advance(scene: weft.Simulation, frames: int) -> None:
    for _ in range(frames):
        scene.advance(FRAME)


def rows_of(vertices: int, columns: int) -> np.ndarray:
    return np.arange(vertices).reshape(-1, columns)


def cells(rows: int, columns: int) -> np.ndarray:
    """Corners of the cells of a grid, shape (cells, 4)."""
    vertex = rows_of(rows * columns, columns)
    corners = (vertex[:-1, :-1], vertex[1:, :-1], vertex[1:, 1:], vertex[:-1, 1:])
    return np.stack(corners, axis=-1).reshape(-1, 4)


def strip(rows: int, columns: int, length: float, width: float) -> Mesh:
    """A level rectangle of quads, its rows along x from 0, its columns along y around 0."""
    lines = np.linspace(0.0, length, rows), np.linspace(-0.5 * width, 0.5 * width, columns)
    x, y = np.meshgrid(*lines, indexing="ij")
    positions = np.stack([x, y, np.zeros_like(x)], axis=-1).reshape(-1, 3)
    return positions, cells(rows, columns)


def triangles_of(rows: int, columns: int) -> np.ndarray:
    """The cells of a grid cut along alternating diagonals, so that masses are known."""
    quads = cells(rows, columns)
    row, column = np.divmod(np.arange(len(quads)), columns - 1)
    turned = np.where((row + column)[:, None] % 2, np.roll(quads, -1, axis=1), quads)
    return np.concatenate([turned[:, [0, 1, 2]], turned[:, [0, 2, 3]]])


def masses(positions: np.ndarray, triangles: np.ndarray, density: float) -> np.ndarray:
    """A third of the mass of every triangle for each of its vertices, in kg."""
    a, b, c = (positions[triangles[:, corner]] for corner in range(3))
    third = density * np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6.0
    return np.bincount(triangles.ravel(), np.repeat(third, 3), len(positions))


def moved(positions: np.ndarray, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    return positions + np.array((x, y, z))


def about_y(degrees: float) -> np.ndarray:
    """Rotation that lowers what lies along x."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([(c, 0.0, s), (0.0, 1.0, 0.0), (-s, 0.0, c)])


def about_z(radians: float) -> np.ndarray:
    c, s = np.cos(radians), np.sin(radians)
    return np.array([(c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)])


def floor(friction: float = 0.3, degrees: float = 0.0) -> weft.Collider:
    """A large square through the origin, tilted about y."""
    corners = 6.0 * np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)])
    return weft.Collider(corners @ about_y(degrees).T, [(0, 1, 2), (0, 2, 3)], friction=friction)


def ball(radius: float, rings: int) -> Mesh:
    """A closed sphere around the origin, wound outwards."""
    around = 2 * rings
    polar, turn = np.meshgrid(
        np.pi * np.arange(1, rings) / rings, np.pi * np.arange(around) / rings, indexing="ij"
    )
    points = [np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn), np.cos(polar)]
    poles = [(0.0, 0.0, 1.0), (0.0, 0.0, -1.0)]
    positions = np.concatenate([np.stack(points, axis=-1).reshape(-1, 3), poles])
    ring = rows_of((rings - 1) * around, around)
    following = np.roll(ring, -1, axis=1)
    north, south = np.full(around, ring.size), np.full(around, ring.size + 1)
    parts = [
        (north, ring[0], following[0]),
        (south, following[-1], ring[-1]),
        (ring[:-1], ring[1:], following[1:]),
        (ring[:-1], following[1:], following[:-1]),
    ]
    return radius * positions, np.concatenate([np.stack(p, axis=-1).reshape(-1, 3) for p in parts])


def assert_below(target: float, reached: float, value: float) -> None:
    """Fails where a value is not below what has been `reached`; reports a missed `target`."""
    assert value < reached
    if value >= target:
        pytest.xfail(f"missed: {value:.3g}, not below {target:.3g}")


def worst_deviation(path: np.ndarray, reference: np.ndarray, start: float) -> float:
    """Largest relative deviation of a path from where its reference has gone by `start` on."""
    late = reference >= start
    return float(np.abs(np.asarray(path)[late] / reference[late] - 1.0).max())
