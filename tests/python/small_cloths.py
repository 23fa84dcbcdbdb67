# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sheets of a few vertices for the tests of the Python module."""

import numpy as np
import weft

FRAME = 1.0 / 24.0  # s
SIDE = 8  # vertices along the side of the usual sheet


def grid(side: int = SIDE, length: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Positions of a square in the plane z = 0, in m, and its quads."""
    line = np.linspace(0.0, length, side)
    x, y = np.meshgrid(line, line, indexing="ij")
    positions = np.stack([x, y, np.zeros_like(x)], axis=-1).reshape(-1, 3)
    vertex = np.arange(side * side).reshape(side, side)
    corners = [vertex[:-1, :-1], vertex[1:, :-1], vertex[1:, 1:], vertex[:-1, 1:]]
    return positions, np.stack(corners, axis=-1).reshape(-1, 4)


def cloth(side: int = SIDE, **options: object) -> weft.Cloth:
    """The square as cotton."""
    positions, quads = grid(side)
    return weft.Cloth(positions, quads, weft.Material.preset("cotton"), **options)


def simulation(side: int = SIDE, **settings: object) -> weft.Simulation:
    """The square on its own."""
    return weft.Simulation([cloth(side)], settings=weft.Settings(**settings))


def raised(positions: np.ndarray, height: float) -> np.ndarray:
    """The positions moved up, in m."""
    return positions + np.array((0.0, 0.0, height))


def floor(height: float, half_width: float = 3.0) -> tuple[np.ndarray, np.ndarray]:
    """Positions of a large level square around the usual sheet, in m, and its triangles."""
    signs = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
    positions = np.column_stack([0.5 + half_width * signs, np.full(4, height)])
    return positions, np.array([(0, 1, 2), (0, 2, 3)])


def single_triangle() -> weft.Cloth:
    """Half a square metre of cotton: each vertex carries a third of it."""
    positions = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)])
    return weft.Cloth(positions, [(0, 1, 2)], weft.Material.preset("cotton"))
