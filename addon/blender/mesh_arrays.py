# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender meshes as NumPy arrays, in object space."""

import numpy as np
from bpy.types import Mesh, Object

HELD_WEIGHT = 0.999  # of a vertex that is held; with less it is drawn


def coordinates(mesh: Mesh) -> np.ndarray:
    """Vertex positions, float32 `(vertices, 3)`."""
    points = np.empty((len(mesh.vertices), 3), np.float32)
    if not _copied(mesh, "position", "vector", points.ravel()):
        mesh.vertices.foreach_get("co", points.ravel())
    return points


def _copied(mesh: Mesh, attribute: str, name: str, values: np.ndarray) -> bool:
    """Reads what Blender keeps in one piece, hundreds of times as fast as element by element.

    False where it does not give it so, as in Edit Mode.
    """
    layer = mesh.attributes.get(attribute)
    if layer is None:
        return False
    layer.data.foreach_get(name, values)
    return True


def rest_coordinates(mesh: Mesh) -> np.ndarray:
    """Vertex positions without any shape key but the basis."""
    if mesh.shape_keys is None:
        return coordinates(mesh)
    points = np.empty((len(mesh.vertices), 3), np.float32)
    mesh.shape_keys.reference_key.points.foreach_get("co", points.ravel())
    return points


def corner_vertices(mesh: Mesh) -> np.ndarray:
    """The vertex of each face corner, face by face."""
    corners = np.empty(len(mesh.loops), np.int32)
    if not _copied(mesh, ".corner_vert", "value", corners):
        mesh.loops.foreach_get("vertex_index", corners)
    return corners


def corner_counts(mesh: Mesh) -> np.ndarray:
    """The number of corners of each face."""
    counts = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_total", counts)
    return counts


def faces(mesh: Mesh) -> np.ndarray | list[list[int]]:
    """An array when all faces are triangles or all are quads, else a list of lists."""
    corners, counts = corner_vertices(mesh), corner_counts(mesh)
    if len(counts) and counts[0] in (3, 4) and (counts == counts[0]).all():
        return corners.reshape(-1, counts[0])
    return [face.tolist() for face in np.split(corners, np.cumsum(counts)[:-1])]


def triangles(mesh: Mesh) -> np.ndarray:
    """Blender's own triangulation, int32 `(triangles, 3)`."""
    mesh.calc_loop_triangles()
    indices = np.empty((len(mesh.loop_triangles), 3), np.int32)
    mesh.loop_triangles.foreach_get("vertices", indices.ravel())
    return indices


def yarn_uv(obj: Object) -> np.ndarray | None:
    """The active UV map per face corner, None when the yarns do not follow one."""
    return active_uv(obj.data) if obj.weft.use_uv else None


def active_uv(mesh: Mesh) -> np.ndarray | None:
    """The active UV map per face corner, float32 `(corners, 2)`, None without one."""
    layer = mesh.uv_layers.active
    if layer is None:
        return None
    uv = np.empty((len(mesh.loops), 2), np.float32)
    layer.uv.foreach_get("vector", uv.ravel())
    return uv


def pinned_vertices(obj: Object) -> np.ndarray:
    """Indices of the vertices that the pin group holds."""
    weights = group_weights(obj, obj.weft.pin_group)
    return np.empty(0, np.int64) if weights is None else np.flatnonzero(weights >= HELD_WEIGHT)


def soft_pins(obj: Object) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the vertices that the pin group draws, and how much: w / (1 - w) of a weight w."""
    weights = group_weights(obj, obj.weft.pin_group)
    if weights is None:
        return np.empty(0, np.int64), np.empty(0)
    drawn = np.flatnonzero((weights > 0.0) & (weights < HELD_WEIGHT))
    return drawn, weights[drawn] / (1.0 - weights[drawn])


def grouped_vertices(obj: Object, name: str) -> np.ndarray:
    """Indices of the vertices that a group has with any weight."""
    weights = group_weights(obj, name)
    return np.empty(0, np.int64) if weights is None else np.flatnonzero(weights > 0.0)


def vertex_areas(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """A third of the area of the triangles around each vertex."""
    a, b, c = (points[corners[:, k]] for k in range(3))
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2.0
    return np.bincount(corners.ravel(), np.repeat(areas / 3.0, 3), len(points))


def group_weights(obj: Object, name: str) -> np.ndarray | None:
    """The weight of each vertex in a group, None where there is no such group."""
    group = obj.vertex_groups.get(name) if name else None
    if group is None:
        return None
    weights = np.zeros(len(obj.data.vertices))
    for vertex in obj.data.vertices:
        for entry in vertex.groups:
            if entry.group == group.index:
                weights[vertex.index] = entry.weight
    return weights


def loose_edge_indices(mesh: Mesh) -> np.ndarray:
    """Indices of the edges that belong to no face."""
    used = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("edge_index", used)
    is_loose = np.ones(len(mesh.edges), bool)
    is_loose[used] = False
    return np.flatnonzero(is_loose)


def loose_edges(mesh: Mesh) -> np.ndarray:
    """The ends of the edges that belong to no face, `(edges, 2)`."""
    ends = np.empty((len(mesh.edges), 2), np.int32)
    mesh.edges.foreach_get("vertices", ends.ravel())
    return ends[loose_edge_indices(mesh)].astype(np.int64)


def transformed(points: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Points under an affine matrix, `(4, 4)`, in float64."""
    return turned(points.astype(np.float64), matrix) + matrix[:3, 3]


def turned(vectors: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Vectors under the linear part of an affine matrix.

    Not by `@`: after a large product the threads of NumPy's BLAS keep the cores busy for a tenth of
    a second, and those are the cores that the solver computes on.
    """
    return np.einsum("ij,kj->ik", vectors, matrix[:3, :3])
