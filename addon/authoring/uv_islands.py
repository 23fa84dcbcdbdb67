# SPDX-License-Identifier: GPL-3.0-or-later
"""Islands of a UV map: their faces in metres, their borders, and which borders belong together."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from bpy.types import Object

from ..blender import mesh_arrays
from ..garment.dressed import welding
from .panels import signed_area

ROUNDING = 1e-5  # of UV coordinates that are one, over the extent of the map


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


def of(obj: Object, scale: float) -> Islands:
    """Islands of the active UV map of an object, each with the area that its faces have."""
    mesh, uv = obj.data, mesh_arrays.active_uv(obj.data)
    if uv is None or not len(mesh.polygons):
        raise ValueError(f"'{obj.name}' has no UV map: mark its seams and unwrap it")
    vertices, following = mesh_arrays.corner_vertices(mesh), _following(mesh)
    points = _points(vertices, uv.astype(np.float64))
    pairs = np.stack([points, points[following]], axis=1)
    labels = welding.labels(pairs, int(points.max()) + 1)[points]
    islands = np.unique(labels, return_inverse=True)[1].ravel()
    matrix = np.array(obj.matrix_world, np.float64)
    places = scale * mesh_arrays.transformed(mesh_arrays.coordinates(mesh), matrix)[vertices]
    mesh.calc_loop_triangles()
    triangles = np.array([triangle.loops[:] for triangle in mesh.loop_triangles])
    flat = _in_metres(obj.name, uv.astype(np.float64), places, triangles, islands)
    edges = mesh_arrays.corner_edges(mesh)
    return Islands(obj.name, edges, following, triangles, points, islands, places, flat)


def _following(mesh) -> np.ndarray:
    return mesh_arrays.following_corners(mesh_arrays.corner_counts(mesh))


def _points(vertices: np.ndarray, uv: np.ndarray) -> np.ndarray:
    """A number for each pair of vertex and UV."""
    step = ROUNDING * max(float(np.ptp(uv, axis=0).max()), 1e-30)
    keys = np.column_stack([vertices, np.round(uv / step)])
    return np.unique(keys, axis=0, return_inverse=True)[1].ravel()


def _in_metres(
    name: str, uv: np.ndarray, places: np.ndarray, triangles: np.ndarray, islands: np.ndarray
) -> np.ndarray:
    """UV coordinates scaled so that each island has the area of its faces, and not mirrored."""
    flat = uv.copy()
    for island in range(int(islands.max()) + 1):
        own = triangles[islands[triangles[:, 0]] == island]
        modelled = _areas(places[own]).sum()
        mapped = sum(signed_area(corners) for corners in uv[own])
        if not abs(mapped) > ROUNDING * modelled * 1e-6:
            raise ValueError(f"an island of the UV map of '{name}' has no area: unwrap it")
        factor = np.sqrt(modelled / abs(mapped))
        flat[islands == island] *= factor * np.array((np.sign(mapped), 1.0))
    return flat


def _areas(triangles: np.ndarray) -> np.ndarray:
    sides = triangles[:, 1:] - triangles[:, :1]
    return np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1) / 2.0
