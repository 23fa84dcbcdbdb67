# SPDX-License-Identifier: MIT OR Apache-2.0
"""On which side of a closed surface points lie: exact winding numbers by counting passages."""

import numpy as np

from judge.box_tree import BoxTree, boxes
from judge.intersections import segments_through_triangles

# A ray that grazes an edge is replaced by another: more often than this is no accident.
ATTEMPTS = 8
SLANT = 1e-3  # how far rays lean from the vertical, so that they miss what is aligned


def winding_numbers(points: np.ndarray, positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """How often a closed surface, wound outwards, goes round each point: 0 outside.

    Exact, except that points on the surface itself count as outside. The surface may cross itself.
    """
    numbers = np.zeros(len(points), dtype=np.int64)
    low, high = positions.min(axis=0), positions.max(axis=0)
    waiting = np.flatnonzero(((points > low) & (points < high)).all(axis=1))
    generator = np.random.default_rng(0)
    tree = BoxTree(*boxes(positions, triangles))
    for _ in range(ATTEMPTS):
        if not waiting.size:
            break
        ray = np.append(generator.uniform(-SLANT, SLANT, 2), 1.0) * 2.0 * (high[2] - low[2])
        counted, spoilt = _count(points[waiting], ray, positions, triangles, tree)
        numbers[waiting] = np.where(spoilt, 0, counted)
        waiting = waiting[spoilt]
    return numbers


def _count(
    points: np.ndarray,
    ray: np.ndarray,
    positions: np.ndarray,
    triangles: np.ndarray,
    tree: BoxTree,
) -> tuple[np.ndarray, np.ndarray]:
    """Passages outwards along rays, and which rays grazed something instead of passing."""
    rays = np.stack([points, points + ray], axis=1)
    ray, face = tree.overlaps(rays.min(axis=1), rays.max(axis=1))
    meets, direction = segments_through_triangles(rays[ray], positions[triangles[face]])
    counted = np.bincount(ray, weights=direction, minlength=len(points)).astype(np.int64)
    spoilt = np.bincount(ray, weights=meets & (direction == 0), minlength=len(points)) > 0
    return counted, spoilt


def is_closed(triangles: np.ndarray) -> bool:
    """Whether every edge is passed once in each direction for every time it is passed."""
    sides = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    forward, counts = np.unique(sides, axis=0, return_counts=True)
    backward, counts_back = np.unique(sides[:, ::-1], axis=0, return_counts=True)
    return np.array_equal(forward, backward) and np.array_equal(counts, counts_back)
