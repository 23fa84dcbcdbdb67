# SPDX-License-Identifier: GPL-3.0-or-later
"""Islands of a UV map: their faces in metres, their borders, and which borders belong together."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from bpy.types import Mesh, Object

from ..blender import mesh_arrays
from ..garment.dressed import welding
from .panels import signed_area

SAME = 1e-4  # distance of UV coordinates that are one, over the extent of the map
LEAST_AREA = 1e-9  # of an island in the map, over the area of its faces


@dataclass(frozen=True)
class Islands:
    """A modelled garment by corners of faces; those that share vertex and UV are one point."""

    name: str
    edges: np.ndarray  # edge from each corner to the next
    following: np.ndarray  # next corner of the same face
    triangles: np.ndarray  # of Blender, as corners, (triangles, 3)
    points: np.ndarray  # point of each corner
    islands: np.ndarray  # island of each corner
    places: np.ndarray  # of the corners in the scene, in m, (corners, 3)
    flat: np.ndarray  # of the corners in the plane of their island, in m, (corners, 2)

    @property
    def count(self) -> int:
        return int(self.islands.max()) + 1

    @cached_property
    def partners(self) -> np.ndarray:
        """The corner with the same edge in a seam, -1 elsewhere, for each corner."""
        border = np.flatnonzero(self._is_border)
        order = border[np.argsort(self.edges[border], kind="stable")]
        is_pair = np.diff(self.edges[order]) == 0
        one, other = order[:-1][is_pair], order[1:][is_pair]
        partners = np.full(len(self.edges), -1)
        partners[one], partners[other] = other, one
        return partners

    @cached_property
    def _is_border(self) -> np.ndarray:
        """Whether the edge from a corner on has no other face of its island."""
        sides = np.sort(np.stack([self.points, self.points[self.following]], axis=1), axis=1)
        _, labels, uses = np.unique(sides, axis=0, return_inverse=True, return_counts=True)
        if uses.max() > 2:
            corner = int(np.flatnonzero(uses[labels.ravel()] > 2)[0])
            raise ValueError(
                f"the UV map of '{self.name}' has three faces at edge {self.edges[corner]}"
            )
        return uses[labels.ravel()] == 1

    def borders(self) -> list[np.ndarray]:
        """Closed chains of corners along the borders, each in the direction of its faces."""
        starts = {}
        for corner in np.flatnonzero(self._is_border).tolist():
            if starts.setdefault(int(self.points[corner]), corner) != corner:
                raise ValueError(
                    f"the UV map of '{self.name}' touches itself at edge {self.edges[corner]}: "
                    "move the parts of the island apart"
                )
        chains = []
        while starts:
            corner, chain = next(iter(starts.values())), []
            while corner is not None:
                chain.append(corner)
                del starts[int(self.points[corner])]
                corner = starts.get(int(self.points[self.following[corner]]))
            chains.append(np.array(chain))
        return chains

    def stretches(self) -> np.ndarray:
        """Length of each edge of a face in its island, over that of the model."""
        ends = self.following
        modelled = np.linalg.norm(self.places[ends] - self.places, axis=1)
        return np.linalg.norm(self.flat[ends] - self.flat, axis=1) / np.maximum(modelled, 1e-12)


def of(obj: Object, mesh: Mesh, scale: float) -> Islands:
    """Islands of the active UV map of a mesh of an object, each with the area of its faces."""
    uv = mesh_arrays.active_uv(mesh)
    if uv is None or not len(mesh.polygons):
        raise ValueError(f"'{obj.name}' has no UV map: mark its seams and unwrap it")
    uv, matrix = uv.astype(np.float64), np.array(obj.matrix_world, np.float64)
    faces = _Faces.of(mesh, is_mirrored=np.linalg.det(matrix[:3, :3]) < 0.0)
    faces.check(obj.name)
    points = _points(faces.vertices, uv)
    islands = _numbered(_labels(points, points[faces.following], int(points.max()) + 1)[points])
    places = mesh_arrays.transformed(mesh_arrays.coordinates(mesh), matrix)[faces.vertices] * scale
    flat = _in_metres(obj.name, uv, places, faces.triangles, islands)
    return Islands(
        obj.name, faces.edges, faces.following, faces.triangles, points, islands, places, flat
    )


@dataclass(frozen=True)
class _Faces:
    """Corners of the faces of a mesh, in the direction in which they are seen in the scene."""

    vertices: np.ndarray
    edges: np.ndarray  # from each corner to the next
    following: np.ndarray  # the next corner
    triangles: np.ndarray  # of Blender, as corners

    @classmethod
    def of(cls, mesh: Mesh, is_mirrored: bool) -> "_Faces":
        vertices, edges = mesh_arrays.corner_vertices(mesh), mesh_arrays.corner_edges(mesh)
        following = mesh_arrays.following_corners(mesh_arrays.corner_counts(mesh))
        mesh.calc_loop_triangles()
        triangles = np.array([triangle.loops[:] for triangle in mesh.loop_triangles])
        if not is_mirrored:
            return cls(vertices, edges, following, triangles)
        preceding = np.argsort(following)
        return cls(vertices, edges[preceding], preceding, triangles[:, ::-1])

    def check(self, name: str) -> None:
        """`ValueError` where two faces beside each other have opposite sides up."""
        order = np.argsort(self.edges, kind="stable")
        is_pair = np.diff(self.edges[order]) == 0
        one, other = order[:-1][is_pair], order[1:][is_pair]
        is_turned = self.vertices[one] == self.vertices[other]
        if is_turned.any():
            edge = self.edges[one[is_turned][0]]
            raise ValueError(
                f"the faces of '{name}' beside edge {edge} have opposite sides up: recalculate "
                "the normals outside"
            )


def _labels(one: np.ndarray, other: np.ndarray, count: int) -> np.ndarray:
    return welding.labels(np.stack([one, other], axis=1), count)


def _numbered(labels: np.ndarray) -> np.ndarray:
    """Labels as numbers from 0 on."""
    return np.unique(labels, return_inverse=True)[1].ravel()


def _points(vertices: np.ndarray, uv: np.ndarray) -> np.ndarray:
    """A number for each vertex and UV, for all corners."""
    near = SAME * float(np.ptp(uv, axis=0).max())
    order = np.argsort(vertices, kind="stable")
    ones, others, shift = [], [], 1
    while True:
        one, other = order[:-shift], order[shift:]
        is_same = vertices[one] == vertices[other]
        if not is_same.any():
            break
        is_same &= np.linalg.norm(uv[one] - uv[other], axis=1) <= near
        ones.append(one[is_same])
        others.append(other[is_same])
        shift += 1
    if not ones:
        return np.arange(len(vertices))
    return _numbered(_labels(np.concatenate(ones), np.concatenate(others), len(vertices)))


def _in_metres(
    name: str, uv: np.ndarray, places: np.ndarray, triangles: np.ndarray, islands: np.ndarray
) -> np.ndarray:
    """UV coordinates scaled so that each island has the area of its faces, and not mirrored."""
    flat = uv.copy()
    for island in range(int(islands.max()) + 1):
        own = triangles[islands[triangles[:, 0]] == island]
        modelled = _areas(places[own]).sum()
        mapped = sum(signed_area(corners) for corners in uv[own])
        if not abs(mapped) > LEAST_AREA * modelled:
            raise ValueError(f"an island of the UV map of '{name}' has no area: unwrap it")
        factor = np.sqrt(modelled / abs(mapped))
        flat[islands == island] *= factor * np.array((np.sign(mapped), 1.0))
    return flat


def _areas(triangles: np.ndarray) -> np.ndarray:
    sides = triangles[:, 1:] - triangles[:, :1]
    return np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1) / 2.0
