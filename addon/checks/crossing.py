# SPDX-License-Identifier: GPL-3.0-or-later
"""Where triangles cross: candidates from Blender's BVH tree, decided by exact determinants.

An edge crosses a triangle when its ends lie on different sides of the plane and it passes the
three sides of the triangle in the same turning sense. The signs come from float64 with a bound for
its rounding (J. R. Shewchuk, Adaptive precision floating-point arithmetic and fast robust geometric
predicates, 1997), and from whole numbers where that bound does not decide.
"""

import numpy as np
from mathutils.bvhtree import BVHTree

# Of the permanent of the determinant, for differences of coordinates that were rounded once.
ROUNDING = (7.0 + 56.0 * 2.0**-53) * 2.0**-53
MARGIN = 1e-6  # of the largest coordinate: more than the tree's float32 rounds
SIDES = ((0, 1), (1, 2), (2, 0))


class Surface:
    """A triangle mesh that crossings are looked for in."""

    def __init__(self, positions: np.ndarray, triangles: np.ndarray) -> None:
        self.positions = np.asarray(positions, np.float64)
        self.triangles = np.asarray(triangles, np.int64).reshape(-1, 3)
        self.tree = BVHTree.FromPolygons(self.positions.tolist(), self.triangles.tolist())

    def corners(self, triangles: np.ndarray) -> np.ndarray:
        """Corners of these triangles, `(k, 3, 3)`."""
        return self.positions[self.triangles[triangles]]


def with_itself(surface: Surface) -> np.ndarray:
    """Triangles that cross or touch another one of the same surface, sorted.

    Those that share a vertex are not compared: they always touch.
    """
    pairs = _near(surface, surface)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    first, second = surface.triangles[pairs[:, 0]], surface.triangles[pairs[:, 1]]
    shared = (first[:, :, None] == second[:, None, :]).any(axis=(1, 2))
    return np.unique(pairs[~shared][_cross(surface, surface, pairs[~shared])])


def with_itself_roughly(surface: Surface) -> np.ndarray:
    """The same as Blender's tree finds it in float32: fast, for what is only worth a note."""
    pairs = np.array(surface.tree.overlap(surface.tree), np.int64).reshape(-1, 2)
    first, second = surface.triangles[pairs[:, 0]], surface.triangles[pairs[:, 1]]
    shared = (first[:, :, None] == second[:, None, :]).any(axis=(1, 2))
    return np.unique(pairs[~shared])


def between(one: Surface, other: Surface) -> tuple[np.ndarray, np.ndarray]:
    """Triangles of each surface that cross or touch one of the other, sorted."""
    pairs = _near(one, other)
    pairs = pairs[_cross(one, other, pairs)]
    return np.unique(pairs[:, 0]), np.unique(pairs[:, 1])


def _near(one: Surface, other: Surface) -> np.ndarray:
    """Pairs that hold all crossing ones: the tree's triangles around each triangle's ball.

    The overlap that the tree itself finds is decided in float32 and misses some that touch.
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


def _cross(one: Surface, other: Surface, pairs: np.ndarray) -> np.ndarray:
    """Which pairs of triangles cross or touch."""
    a, b = one.corners(pairs[:, 0]), other.corners(pairs[:, 1])
    meet = (a.min(axis=1) <= b.max(axis=1)) & (b.min(axis=1) <= a.max(axis=1))
    candidates = np.flatnonzero(meet.all(axis=1))
    crossing = np.zeros(len(pairs), bool)
    crossing[candidates] = _edges_cross(a[candidates], b[candidates])
    return crossing


def _edges_cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Which triangles have an edge that crosses or touches the other one."""
    found = np.zeros(len(a), bool)
    for first, second in ((a, b), (b, a)):
        for start, end in SIDES:
            found |= _edge_crosses(first[:, start], first[:, end], second)
    return found


def _edge_crosses(start: np.ndarray, end: np.ndarray, triangle: np.ndarray) -> np.ndarray:
    a, b, c = triangle[:, 0], triangle[:, 1], triangle[:, 2]
    below, above = sides(a, b, c, start), sides(a, b, c, end)
    turns = [sides(start, end, *pair) for pair in ((a, b), (b, c), (c, a))]
    same_turn = (np.min(turns, axis=0) >= 0) | (np.max(turns, axis=0) <= 0)
    flat = (below == 0) & (above == 0)  # in the plane: other edges of the pair decide
    return (below * above <= 0) & same_turn & ~flat


def sides(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Signs of the volumes of the tetrahedra a, b, c, d, exact; arrays of points `(k, 3)`."""
    u, v, w = a - d, b - d, c - d
    minors = np.stack([v[:, (i + 1) % 3] * w[:, (i + 2) % 3] for i in range(3)], axis=1)
    others = np.stack([v[:, (i + 2) % 3] * w[:, (i + 1) % 3] for i in range(3)], axis=1)
    volumes = (u * (minors - others)).sum(axis=1)
    bounds = ROUNDING * (np.abs(u) * (np.abs(minors) + np.abs(others))).sum(axis=1)
    signs = np.sign(volumes).astype(np.int64)
    for index in np.flatnonzero((np.abs(volumes) <= bounds) & (bounds > 0.0)):
        signs[index] = _exact_side(a[index], b[index], c[index], d[index])
    return signs


def _exact_side(*points: np.ndarray) -> int:
    """The same for four points by integers: every float is one over a power of two."""
    ratios = [float(x).as_integer_ratio() for point in points for x in point]
    common = max(bottom for _top, bottom in ratios)
    whole = [top * (common // bottom) for top, bottom in ratios]
    d = whole[9:]
    u, v, w = ([whole[3 * row + axis] - d[axis] for axis in range(3)] for row in range(3))
    volume = sum(
        u[i] * (v[(i + 1) % 3] * w[(i + 2) % 3] - v[(i + 2) % 3] * w[(i + 1) % 3]) for i in range(3)
    )
    return (volume > 0) - (volume < 0)
