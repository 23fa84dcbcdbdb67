# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertex colours of the overlays; no drawing."""

import numpy as np
from mathutils.bvhtree import BVHTree

BLUE, GREEN, RED = (0.15, 0.3, 0.9), (0.2, 0.75, 0.3), (0.95, 0.15, 0.1)
ORANGE, GREY = (1.0, 0.55, 0.05), (0.5, 0.5, 0.5)
OPACITY, FAINT = 0.85, 0.25
TOUCHING = 1.5  # multiple of the gap within which a vertex counts as in contact
GOLDEN_ANGLE = np.pi * (3.0 - 5.0**0.5)


def stretch(rest: np.ndarray, positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Largest principal stretch minus 1, averaged over the triangles at each vertex."""
    of_triangles = _largest_stretch(rest[triangles], positions[triangles]) - 1.0
    corners = triangles.ravel()
    total = np.bincount(corners, np.repeat(of_triangles, 3), len(positions))
    return total / np.maximum(np.bincount(corners, minlength=len(positions)), 1)


def _largest_stretch(rest: np.ndarray, deformed: np.ndarray) -> np.ndarray:
    """Larger singular value of the deformation gradient of each triangle."""
    first, second = rest[:, 1] - rest[:, 0], rest[:, 2] - rest[:, 0]
    length = np.maximum(np.linalg.norm(first, axis=1), 1e-30)
    along = np.einsum("ij,ij->i", first, second) / length
    height = np.linalg.norm(np.cross(first, second), axis=1) / length
    p, q = deformed[:, 1] - deformed[:, 0], deformed[:, 2] - deformed[:, 0]
    u = p / length[:, None]
    v = (q - u * along[:, None]) / np.maximum(height, 1e-30)[:, None]
    uu, vv = (np.einsum("ij,ij->i", a, a) for a in (u, v))
    uv = np.einsum("ij,ij->i", u, v)
    mean, difference = (uu + vv) / 2, np.hypot((uu - vv) / 2, uv)
    return np.sqrt(np.maximum(mean + difference, 0.0))


def in_contact(positions: np.ndarray, colliders: list[tuple[BVHTree, float]]) -> np.ndarray:
    """Whether each vertex is within the contact gap of a collider."""
    found = np.zeros(len(positions), bool)
    for tree, gap in colliders:
        for index, point in enumerate(positions.tolist()):
            if not found[index]:
                found[index] = tree.find_nearest(point, TOUCHING * gap)[0] is not None
    return found


def of_scale(values: np.ndarray, largest: float) -> np.ndarray:
    """Colour scale from blue at 0 through green to red at `largest`."""
    fraction = np.clip(values / largest, 0.0, 1.0)[:, None]
    low = np.array(BLUE) + (np.array(GREEN) - BLUE) * np.minimum(2.0 * fraction, 1.0)
    high = np.array(GREEN) + (np.array(RED) - GREEN) * np.maximum(2.0 * fraction - 1.0, 0.0)
    return np.column_stack([np.where(fraction < 0.5, low, high), np.full(len(values), OPACITY)])


def of_marks(marked: np.ndarray, color: tuple[float, float, float]) -> np.ndarray:
    """Marked vertices in a colour, the others in faint grey."""
    colors = np.tile((*GREY, FAINT), (len(marked), 1))
    colors[marked] = (*color, OPACITY)
    return colors


def of_numbers(numbers: np.ndarray) -> np.ndarray:
    """Colours that differ between consecutive numbers: their hues are a golden angle apart."""
    hues = numbers * GOLDEN_ANGLE
    channels = [0.5 + 0.5 * np.cos(hues - k * 2.0 * np.pi / 3.0) for k in range(3)]
    return np.column_stack([*channels, np.ones(len(numbers))])
