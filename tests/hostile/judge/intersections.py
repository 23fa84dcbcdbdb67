# SPDX-License-Identifier: MIT OR Apache-2.0
"""Do edges pass through faces? Decided without rounding error and without any of Weft's code.

Two triangles meet exactly where an edge of one meets the other. So all edges are tested against all
faces, except those of one mesh that share a vertex, and except colliders among themselves. Points
that merely touch count as well: `crosses` tells them apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from judge.box_tree import BoxTree, boxes
from judge.predicates import orientation_2d, orientation_3d


@dataclass(frozen=True)
class Solid:
    """One mesh among those that are checked: its vertices' and elements' places in the whole."""

    name: str
    is_cloth: bool
    first_vertex: int
    vertex_count: int


@dataclass(frozen=True)
class Intersection:
    """An edge and a face that share a point."""

    edge: tuple[int, int]
    face: tuple[int, int, int]
    edge_of: str
    face_of: str
    crosses: bool  # rather than touches
    edge_points: np.ndarray = field(repr=False)
    face_points: np.ndarray = field(repr=False)

    def __str__(self) -> str:
        word = "passes through" if self.crosses else "touches"
        ends, corners = (
            " ".join("({:.9g}, {:.9g}, {:.9g})".format(*point) for point in points)
            for points in (self.edge_points, self.face_points)
        )
        return (
            f"edge {self.edge} of {self.edge_of} {word} face {self.face} of {self.face_of}: "
            f"edge {ends}; face {corners}"
        )


def unique_edges(triangles: np.ndarray) -> np.ndarray:
    """The sides of triangles, each once, as pairs of different vertices in ascending order."""
    sides = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    sides = np.unique(np.sort(sides, axis=1), axis=0)
    return sides[sides[:, 0] != sides[:, 1]]


def _normal_signs(points: np.ndarray) -> np.ndarray:
    """Exact sign of each component of the normals of triangles `(k, 3, 3)`."""
    a, b, c = points[:, 0], points[:, 1], points[:, 2]
    planes = ([1, 2], [2, 0], [0, 1])
    return np.stack([orientation_2d(a[:, p], b[:, p], c[:, p]) for p in planes], axis=1)


def _segments_meet(p: np.ndarray, q: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Whether closed segments p-q and a-b in the plane share a point, in every row."""
    sides = [
        orientation_2d(p, q, a), orientation_2d(p, q, b),
        orientation_2d(a, b, p), orientation_2d(a, b, q),
    ]  # fmt: skip
    apart = (sides[0] * sides[1] > 0) | (sides[2] * sides[3] > 0)
    boxes_meet = (
        (np.minimum(p, q) <= np.maximum(a, b)) & (np.maximum(p, q) >= np.minimum(a, b))
    ).all(axis=1)
    return ~apart & boxes_meet


def _meet_in_plane(segments: np.ndarray, triangles: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """Whether segments meet triangles that they are coplanar with, in every row."""
    axis = np.abs(normals).argmax(axis=1)
    kept = np.array([(1, 2), (2, 0), (0, 1)])[axis]
    flat = np.take_along_axis(triangles, np.repeat(kept[:, None], 3, 1), axis=2)
    line = np.take_along_axis(segments, np.repeat(kept[:, None], 2, 1), axis=2)
    p, q, corners = line[:, 0], line[:, 1], [flat[:, i] for i in range(3)]
    found = np.zeros(len(p), dtype=bool)
    signs = []
    for i in range(3):
        a, b = corners[i], corners[(i + 1) % 3]
        found |= _segments_meet(p, q, a, b)
        signs.append(orientation_2d(a, b, p))
    # A segment that meets no side meets the triangle only if it lies inside.
    inside = (np.stack(signs) >= 0).all(axis=0) | (np.stack(signs) <= 0).all(axis=0)
    return found | inside


def segments_through_triangles(
    segments: np.ndarray, triangles: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """For rows of segments `(k, 2, 3)` and triangles `(k, 3, 3)`: sense of the passage.

    Returns `meets` (they share a point) and `direction`: 1 where the segment goes along the
    triangle's normal through its inside, -1 against it, 0 where it only touches or does not meet.
    Triangles without area meet nothing: their edges are tested in their own right.
    """
    meets = np.zeros(len(segments), dtype=bool)
    direction = np.zeros(len(segments), dtype=np.int8)
    p, q = segments[:, 0], segments[:, 1]
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    start, end = orientation_3d(a, b, c, p), orientation_3d(a, b, c, q)

    flat = np.flatnonzero((start == 0) & (end == 0))
    if flat.size:
        normals = _normal_signs(triangles[flat])
        has_area = normals.any(axis=1)
        flat, normals = flat[has_area], normals[has_area]
        meets[flat] = _meet_in_plane(segments[flat], triangles[flat], normals)

    rows = np.flatnonzero((start * end <= 0) & ((start != 0) | (end != 0)))
    p, q, a, b, c = (points[rows] for points in (p, q, a, b, c))
    sides = np.stack(
        [orientation_3d(p, q, a, b), orientation_3d(p, q, b, c), orientation_3d(p, q, c, a)]
    )
    meets[rows] = (sides >= 0).all(axis=0) | (sides <= 0).all(axis=0)
    inside = (np.abs(sides.sum(axis=0)) == 3) & (start[rows] * end[rows] < 0)
    # The determinant is positive on the side that the normal points away from.
    direction[rows] = np.where(inside, start[rows], 0)
    return meets, direction


class Scenery:
    """The meshes of a scene; positions change, elements do not."""

    def __init__(self) -> None:
        self.solids: list[Solid] = []
        self._edges: list[np.ndarray] = []
        self._faces: list[np.ndarray] = []

    def add(self, name: str, vertex_count: int, triangles: np.ndarray, *, is_cloth: bool) -> None:
        """Another mesh; positions are stacked in the order of these calls."""
        first = sum(solid.vertex_count for solid in self.solids)
        self.solids.append(Solid(name, is_cloth, first, vertex_count))
        triangles = np.asarray(triangles, dtype=np.int64)
        self._edges.append(unique_edges(triangles) + first)
        self._faces.append(triangles + first)

    def faces(self) -> np.ndarray:
        """All triangles, as indices of the stacked positions."""
        return np.concatenate(self._faces)

    def _stacked(self, parts: list[np.ndarray], is_cloth: bool) -> np.ndarray:
        chosen = [p for p, s in zip(parts, self.solids, strict=True) if s.is_cloth == is_cloth]
        width = parts[0].shape[1]
        return np.concatenate(chosen) if chosen else np.zeros((0, width), dtype=np.int64)

    def pairs(self, positions: np.ndarray, margin: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Edges and faces that are to be tested: without a vertex in common, their boxes, widened
        by a margin in m, overlapping.
        """
        cloth_edges = self._stacked(self._edges, True)
        cloth_faces = self._stacked(self._faces, True)
        all_faces = np.concatenate([cloth_faces, self._stacked(self._faces, False)])
        edges, faces = _near(positions, cloth_edges, all_faces, margin)
        loose = self._stacked(self._edges, False)
        more_edges, more_faces = _near(positions, loose, cloth_faces, margin)
        return np.concatenate([edges, more_edges]), np.concatenate([faces, more_faces])

    def intersections(self, positions: np.ndarray) -> "Intersections":
        """Every edge and face that share a point."""
        return self._among(positions, *self.pairs(positions))

    def intersections_also_rounded(
        self, positions: np.ndarray
    ) -> tuple["Intersections", "Intersections"]:
        """Every edge and face that share a point, also after rounding to float32."""
        rounded = positions.astype(np.float32).astype(np.float64)
        pairs = self.pairs(positions, float(np.abs(rounded - positions).max()))
        return self._among(positions, *pairs), self._among(rounded, *pairs)

    def _among(
        self, positions: np.ndarray, edges: np.ndarray, faces: np.ndarray
    ) -> "Intersections":
        meets, direction = segments_through_triangles(positions[edges], positions[faces])
        rows = np.flatnonzero(meets)
        return Intersections(self, positions, edges[rows], faces[rows], direction[rows] != 0)

    def owner(self, vertex: int) -> Solid:
        """The mesh that a vertex of the stacked positions belongs to."""
        return next(s for s in reversed(self.solids) if s.first_vertex <= vertex)


class Intersections(Sequence[Intersection]):
    """Intersections of one frame, each built only when asked for: a bad frame has very many."""

    def __init__(
        self,
        scenery: Scenery,
        positions: np.ndarray,
        edges: np.ndarray,
        faces: np.ndarray,
        crosses: np.ndarray,
    ) -> None:
        self._scenery, self._positions = scenery, positions
        self._edges, self._faces, self._crosses = edges, faces, crosses

    def __len__(self) -> int:
        return len(self._edges)

    def __getitem__(self, row: int) -> Intersection:
        edge, face = self._edges[row], self._faces[row]
        of_edge, of_face = self._scenery.owner(edge[0]), self._scenery.owner(face[0])
        return Intersection(
            edge=tuple((edge - of_edge.first_vertex).tolist()),
            face=tuple((face - of_face.first_vertex).tolist()),
            edge_of=of_edge.name,
            face_of=of_face.name,
            crosses=bool(self._crosses[row]),
            edge_points=self._positions[edge],
            face_points=self._positions[face],
        )


def _near(
    positions: np.ndarray, edges: np.ndarray, faces: np.ndarray, margin: float
) -> tuple[np.ndarray, np.ndarray]:
    if not len(edges) or not len(faces):
        return edges[:0], faces[:0]
    tree = BoxTree(*boxes(positions, faces))
    low, high = boxes(positions, edges)
    # Both elements may move by the margin.
    edge, face = tree.overlaps(low - 2.0 * margin, high + 2.0 * margin)
    edges, faces = edges[edge], faces[face]
    shared = np.zeros(len(edges), dtype=bool)
    for end in range(2):
        for corner in range(3):
            shared |= edges[:, end] == faces[:, corner]
    return edges[~shared], faces[~shared]
