# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sheets on a slope and over another sheet, and a strip that slides off a table."""

import numpy as np
import weft
from slow_scenes.common import (
    FRAME,
    GAP,
    GRAVITY,
    IN_VACUUM,
    about_y,
    about_z,
    floor,
    moved,
    simulation,
    strip,
)

FRICTION = 0.4
UPPER = 13  # vertices along the side of the sheet that slides over another one
CLOTH_FRAMES = 36
TABLE_FRICTION, ON, OFF, EDGE, COLUMNS = 0.1, 40, 20, 0.01, 5  # links on the table and hanging, m
TABLE_FRAMES = 12


def degrees_at(factor: float) -> float:
    """Slope whose tangent is so many times the coefficient of friction."""
    return float(np.degrees(np.arctan(factor * FRICTION)))


def acceleration(degrees: float) -> float:
    """Of what slides, in m/s²: g (sin θ − μ cos θ)."""
    angle = np.radians(degrees)
    return GRAVITY * float(np.sin(angle) - FRICTION * np.cos(angle))


class Slope:
    """A sheet of 0.5 m on a slope, in contact from the start."""

    def __init__(self, degrees: float) -> None:
        rest, quads = strip(21, 21, 0.5, 0.5)
        self.turn = about_y(degrees)
        self.start = moved(rest, z=GAP) @ self.turn.T
        fabric = IN_VACUUM.replace(friction=FRICTION)
        cloth = weft.Cloth(self.start, quads, fabric, rest_positions=rest)
        self.simulation = simulation([cloth], [floor(FRICTION, degrees)], {})

    def way(self) -> float:
        """Mean displacement down the slope, in m."""
        return float(((self.simulation.positions() - self.start) @ self.turn[:, 0]).mean())


def over_another_sheet(**settings: object) -> np.ndarray:
    """Path of a sheet down another one, which lies on a rough slope, its upper edge held."""
    degrees = degrees_at(1.1)
    turn = about_y(degrees)
    fabric = IN_VACUUM.replace(friction=FRICTION)
    small, small_quads = strip(UPPER, UPPER, 0.3, 0.3)
    small = small @ about_z(0.2).T
    large, large_quads = strip(45, 23, 1.1, 0.55)
    start = moved(small, z=2.0 * GAP) @ turn.T
    below = moved(large, x=-0.2, z=GAP) @ turn.T
    cloths = [
        weft.Cloth(start, small_quads, fabric, rest_positions=small),
        weft.Cloth(below, large_quads, fabric, rest_positions=large),
    ]
    scene = simulation(cloths, [floor(1.0, degrees)], settings)
    scene.set_pins(1, np.arange(23))
    path = []
    for _ in range(CLOTH_FRAMES):
        scene.advance(FRAME)
        path.append(((scene.positions() - start) @ turn[:, 0]).mean())
    return np.array(path)


def table() -> weft.Collider:
    """A box whose upper edge is the y axis."""
    corners = [(x, y, z) for x in (-1.0, 0.0) for y in (-0.3, 0.3) for z in (-0.8, 0.0)]
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    return weft.Collider(corners, triangles, friction=TABLE_FRICTION)


def off_the_table(**settings: object) -> np.ndarray:
    """Path of a strip of which a third hangs over the edge of a table."""
    rows = ON + OFF + 1
    rest, quads = strip(rows, COLUMNS, (rows - 1) * EDGE, (COLUMNS - 1) * EDGE)
    along = rest[:, 0] - ON * EDGE
    bent = np.clip(along / GAP, 0.0, 0.5 * np.pi)  # around the edge at the distance of the contact
    x = np.minimum(along, 0.0) + GAP * np.sin(bent)
    z = GAP * np.cos(bent) - np.maximum(along - 0.5 * np.pi * GAP, 0.0)
    start = np.stack([x, rest[:, 1], z], axis=-1)
    fabric = IN_VACUUM.replace(friction=TABLE_FRICTION)
    cloth = weft.Cloth(start, quads, fabric, rest_positions=rest)
    scene = simulation([cloth], [table()], settings)
    path = []
    for _ in range(TABLE_FRAMES):
        scene.advance(FRAME)
        path.append((scene.positions() - start)[:COLUMNS, 0].mean())
    return np.array(path)
