# SPDX-License-Identifier: GPL-3.0-or-later
"""Intersecting triangles: candidates from Blender's BVH tree, decided by exact predicates.

An edge intersects a triangle if its ends are on different sides of the plane, and the orientations
of the edge relative to the three sides of the triangle agree. The signs of the determinants are
computed in float64 with a rounding bound (J. R. Shewchuk, Adaptive precision floating-point
arithmetic and fast robust geometric predicates, 1997), and in integers where that is inconclusive.
"""

import numpy as np
from mathutils.bvhtree import BVHTree

# Relative to the permanent, for coordinate differences that were rounded once.
ROUNDING_BOUND = (7.0 + 56.0 * 2.0**-53) * 2.0**-53
MARGIN = 1e-6  # of the largest coordinate: above the float32 rounding of the tree
EDGES = ((0, 1), (1, 2), (2, 0))


class Surface:
    """A triangle mesh with its BVH tree."""

    def __init__(self, positions: np.ndarray, triangles: np.ndarray) -> None:
        self.positions = np.asarray(positions, np.float64)
        self.triangles = np.asarray(triangles, np.int64).reshape(-1, 3)
        self.tree = BVHTree.FromPolygons(self.positions.tolist(), self.triangles.tolist())

    def corners(self, triangles: np.ndarray) -> np.ndarray:
        """Corner positions of triangles, `(k, 3, 3)`."""
        return self.positions[self.triangles[triangles]]


def self_intersections(surface: Surface) -> np.ndarray:
    """Triangles that intersect or touch another one of the same surface, sorted.

    Pairs that share a vertex are excluded: they always touch.
    """
    pairs = _candidate_pairs(surface, surface)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    first, second = surface.triangles[pairs[:, 0]], surface.triangles[pairs[:, 1]]
    shared = (first[:, :, None] == second[:, None, :]).any(axis=(1, 2))
    return np.unique(pairs[~shared][_intersect(surface, surface, pairs[~shared])])


def approximate_self_intersections(surface: Surface) -> np.ndarray:
    """Self-intersecting triangles by Blender's tree in float32: fast, but may miss contacts."""
    pairs = np.array(surface.tree.overlap(surface.tree), np.int64).reshape(-1, 2)
    first, second = surface.triangles[pairs[:, 0]], surface.triangles[pairs[:, 1]]
    shared = (first[:, :, None] == second[:, None, :]).any(axis=(1, 2))
    return np.unique(pairs[~shared])


def intersections(one: Surface, other: Surface) -> tuple[np.ndarray, np.ndarray]:
    """Triangles of each surface that intersect or touch the other surface, sorted."""
    pairs = _candidate_pairs(one, other)
    pairs = pairs[_intersect(one, other, pairs)]
    return np.unique(pairs[:, 0]), np.unique(pairs[:, 1])


def _candidate_pairs(one: Surface, other: Surface) -> np.ndarray:
    """Superset of the intersecting pairs: triangles within the bounding sphere of each triangle.

    The overlap test of the tree works in float32 and misses some touching pairs.
    """
    if not len(one.triangles) or not len(other.triangles):
        return np.empty((0, 2), np.int64)
    corners = one.positions[one.triangles]
    centres = (corners.min(axis=1) + corners.max(axis=1)) / 2
    margin = MARGIN * max(np.abs(one.positions).max(), np.abs(other.positions).max())
    radii = np.linalg.norm(corners - centres[:, None], axis=2).max(axis=1) + margin
    low, high = other.positions.min(axis=0), other.positions.max(axis=0)
    reaches = ((centres + radii[:, None] >= low) & (centres - radii[:, None] <= high)).all(axis=1)
    pairs = []
    for index in np.flatnonzero(reaches).tolist():
        around = other.tree.find_nearest_range(centres[index].tolist(), radii[index])
        pairs += [(index, hit[2]) for hit in around]
    return np.array(pairs, np.int64).reshape(-1, 2)


def _intersect(one: Surface, other: Surface, pairs: np.ndarray) -> np.ndarray:
    """Whether each pair of triangles intersects or touches."""
    a, b = one.corners(pairs[:, 0]), other.corners(pairs[:, 1])
    meet = (a.min(axis=1) <= b.max(axis=1)) & (b.min(axis=1) <= a.max(axis=1))
    candidates = np.flatnonzero(meet.all(axis=1))
    intersecting = np.zeros(len(pairs), bool)
    intersecting[candidates] = _edges_intersect(a[candidates], b[candidates])
    return intersecting


def _edges_intersect(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Whether an edge of one triangle intersects or touches the other one."""
    found = np.zeros(len(a), bool)
    for first, second in ((a, b), (b, a)):
        for start, end in EDGES:
            found |= _edge_intersects(first[:, start], first[:, end], second)
    return found


def _edge_intersects(start: np.ndarray, end: np.ndarray, triangle: np.ndarray) -> np.ndarray:
    a, b, c = triangle[:, 0], triangle[:, 1], triangle[:, 2]
    below, above = orient3d(a, b, c, start), orient3d(a, b, c, end)
    orientations = [orient3d(start, end, *pair) for pair in ((a, b), (b, c), (c, a))]
    agree = (np.min(orientations, axis=0) >= 0) | (np.max(orientations, axis=0) <= 0)
    coplanar = (below == 0) & (above == 0)  # coplanar: other edges of the pair decide
    return (below * above <= 0) & agree & ~coplanar


def orient3d(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Exact signs of the volumes of tetrahedra a, b, c, d; arrays of points `(k, 3)`."""
    u, v, w = a - d, b - d, c - d
    minors = np.stack([v[:, (i + 1) % 3] * w[:, (i + 2) % 3] for i in range(3)], axis=1)
    others = np.stack([v[:, (i + 2) % 3] * w[:, (i + 1) % 3] for i in range(3)], axis=1)
    volumes = (u * (minors - others)).sum(axis=1)
    bounds = ROUNDING_BOUND * (np.abs(u) * (np.abs(minors) + np.abs(others))).sum(axis=1)
    signs = np.sign(volumes).astype(np.int64)
    for index in np.flatnonzero((np.abs(volumes) <= bounds) & (bounds > 0.0)):
        signs[index] = _exact_orient3d(a[index], b[index], c[index], d[index])
    return signs


def _exact_orient3d(*points: np.ndarray) -> int:
    """Exact sign for four points in integers: each float is an integer over a power of 2."""
    ratios = [float(x).as_integer_ratio() for point in points for x in point]
    common = max(bottom for _top, bottom in ratios)
    whole = [top * (common // bottom) for top, bottom in ratios]
    d = whole[9:]
    u, v, w = ([whole[3 * row + axis] - d[axis] for axis in range(3)] for row in range(3))
    volume = sum(
        u[i] * (v[(i + 1) % 3] * w[(i + 2) % 3] - v[(i + 2) % 3] * w[(i + 1) % 3]) for i in range(3)
    )
    return (volume > 0) - (volume < 0)
