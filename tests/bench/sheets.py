# SPDX-License-Identifier: MIT OR Apache-2.0
"""Scenes that compare Blender's cloth with Weft, and the measurements on them.

A flat 1 m sheet of N x N vertices either hangs by two corners and swings down, or falls from half
a metre onto a sphere, without and with collision with itself. Both programs get the same polygons,
and both results go through the same measurements. Needs NumPy only, so that it runs in Blender's
Python as well.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "hostile"))
from judge.intersections import Scenery

CASES = ("pinned", "sphere", "sphere_self")
FRAMES_PER_SECOND = 24
SPHERE_RADIUS = 0.3
SPHERE_SEGMENTS, SPHERE_RINGS = 32, 16
JUDGED_FRAMES = 24  # spread evenly: exact predicates take seconds at 40 000 vertices


def sheet(side: int, height: float) -> tuple[np.ndarray, np.ndarray]:
    """A level square of `side` x `side` vertices: positions and quads."""
    line = np.linspace(-0.5, 0.5, side)
    x, y = np.meshgrid(line, line)
    positions = np.stack([x.ravel(), y.ravel(), np.full(side * side, height)], axis=1)
    index = np.arange(side * side).reshape(side, side)
    corners = (index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1])
    return positions, np.stack([corner.ravel() for corner in corners], axis=1)


def start_height(case: str) -> float:
    """Height of the sheet at the first frame, in m."""
    return 0.5 if has_sphere(case) else 1.0


def has_sphere(case: str) -> bool:
    """Whether the sheet falls on the sphere."""
    return case.startswith("sphere")


def meets_itself(case: str) -> bool:
    """Whether the sheet collides with itself."""
    return case == "sphere_self"


def pinned_corners(side: int) -> list[int]:
    """The two corners of one edge that hold the pinned sheet."""
    return [side * (side - 1), side * side - 1]


def sphere() -> tuple[np.ndarray, np.ndarray]:
    """The polygonal sphere: positions and triangles, wound outwards."""
    polar = np.pi * np.arange(1, SPHERE_RINGS) / SPHERE_RINGS
    around = 2.0 * np.pi * np.arange(SPHERE_SEGMENTS) / SPHERE_SEGMENTS
    polar, around = np.meshgrid(polar, around, indexing="ij")
    rings = np.stack(
        [np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar)], axis=-1
    ).reshape(-1, 3)
    positions = SPHERE_RADIUS * np.concatenate([rings, [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]])
    north, south = len(rings), len(rings) + 1
    triangles = []
    for segment in range(SPHERE_SEGMENTS):
        following = (segment + 1) % SPHERE_SEGMENTS
        last = (SPHERE_RINGS - 2) * SPHERE_SEGMENTS
        triangles += [(north, segment, following), (south, last + following, last + segment)]
        for ring in range(0, last, SPHERE_SEGMENTS):
            a, b = ring + segment, ring + following
            c, d = b + SPHERE_SEGMENTS, a + SPHERE_SEGMENTS
            triangles += [(a, d, c), (a, c, b)]
    return positions, np.array(triangles)


def edge_stretch(frames: np.ndarray, side: int) -> np.ndarray:
    """Length over length at rest of every edge, shape `(frames, edges)`."""
    index = np.arange(side * side).reshape(side, side)
    first = np.concatenate([index[:, :-1].ravel(), index[:-1].ravel()])
    second = np.concatenate([index[:, 1:].ravel(), index[1:].ravel()])
    lengths = np.linalg.norm(frames[:, first] - frames[:, second], axis=2)
    return lengths * (side - 1)


def depth_in_sphere(positions: np.ndarray) -> np.ndarray:
    """How deep each point lies in the polygonal sphere, in m; negative outside.

    The polygon is convex: a point is inside exactly where it is behind the planes of all faces.
    """
    vertices, triangles = sphere()
    a, b, c = (vertices[triangles[:, corner]] for corner in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    offsets = np.einsum("ij,ij->i", normals, a)
    near = np.linalg.norm(positions, axis=1) < SPHERE_RADIUS
    depth = np.full(len(positions), -np.inf)
    depth[near] = -(positions[near] @ normals.T - offsets).max(axis=1, initial=-np.inf)
    return depth


def drawn_triangles(positions: np.ndarray, quads: np.ndarray) -> np.ndarray:
    """The triangles that Blender draws of quads, as it decides in single precision.

    Its rule: the diagonal from corner 0 to 2, unless the quad is folded over that.
    """
    a, b, c, d = (positions.astype(np.float32)[quads[:, corner]] for corner in range(4))
    first, second = np.cross(b - a, c - a), np.cross(d - a, c - a)
    is_other = (first * second).sum(axis=1) > 0.0
    cuts = np.where(is_other[:, None, None], [[0, 1, 3], [1, 2, 3]], [[0, 1, 2], [0, 2, 3]])
    return np.take_along_axis(quads[:, None, :].repeat(2, axis=1), cuts, axis=2).reshape(-1, 3)


def crossings(positions: np.ndarray, case: str, side: int) -> int:
    """Edges that go through faces of the sheet or the sphere, as they are drawn."""
    scenery, quads = Scenery(), sheet(side, 0.0)[1]
    drawn = positions.astype(np.float32).astype(np.float64)
    scenery.add("Sheet", len(drawn), drawn_triangles(drawn, quads), is_cloth=True)
    if has_sphere(case):
        vertices, triangles = sphere()
        scenery.add("Sphere", len(vertices), triangles, is_cloth=False)
        drawn = np.concatenate([drawn, vertices.astype(np.float32)])
    found = scenery.intersections(drawn)
    others = sum({one.edge_of, one.face_of} != {"Sheet"} for one in found)
    return len(found) if meets_itself(case) else others


def measure(frames: np.ndarray, case: str, side: int) -> dict:
    """Entries of the table for one run, from its positions `(frames, vertices, 3)`."""
    stretch = edge_stretch(frames, side)
    measured = {
        "finite": bool(np.isfinite(frames).all()),
        "stretch_p99": float(np.percentile(stretch[-1], 99)),
        "stretch_max": float(stretch[-1].max()),
        "stretch_p99_worst_frame": float(np.percentile(stretch, 99, axis=1).max()),
        "stretch_max_worst_frame": float(stretch.max()),
        "lowest": float(frames[-1, :, 2].min()),
    }
    if has_sphere(case):
        judged = np.unique(np.linspace(0, len(frames) - 1, JUDGED_FRAMES).astype(int))
        crossed = [crossings(frames[frame], case, side) for frame in judged]
        measured["crossings_worst_frame"] = max(crossed)
        depth = np.array([depth_in_sphere(positions) for positions in frames])
        measured["vertices_inside"] = int((depth[-1] > 0.0).sum())
        measured["vertices_inside_worst_frame"] = int((depth > 0.0).sum(axis=1).max())
        measured["deepest"] = max(0.0, float(depth.max()))
    return measured
