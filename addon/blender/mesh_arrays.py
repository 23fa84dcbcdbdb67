# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender meshes as NumPy arrays, in object space."""

import numpy as np
from bpy.types import Mesh, Object

HARD_PIN_WEIGHT = 0.999  # group weight from which a vertex is hard-pinned; below it is soft-pinned


def coordinates(mesh: Mesh) -> np.ndarray:
    """Vertex positions in object space, float32 `(vertices, 3)`."""
    points = np.empty((len(mesh.vertices), 3), np.float32)
    if not _read_attribute(mesh, "position", "vector", points.ravel()):
        mesh.vertices.foreach_get("co", points.ravel())
    return points


def _read_attribute(mesh: Mesh, attribute: str, name: str, values: np.ndarray) -> bool:
    """Reads a mesh attribute as one contiguous copy, some hundred times as fast as by element.

    False where the attribute is not available, as in Edit Mode.
    """
    layer = mesh.attributes.get(attribute)
    if layer is None:
        return False
    layer.data.foreach_get(name, values)
    return True


def rest_coordinates(mesh: Mesh) -> np.ndarray:
    """Vertex positions of the basis shape key, or of the mesh without shape keys."""
    if mesh.shape_keys is None:
        return coordinates(mesh)
    points = np.empty((len(mesh.vertices), 3), np.float32)
    mesh.shape_keys.reference_key.points.foreach_get("co", points.ravel())
    return points


def corner_vertices(mesh: Mesh) -> np.ndarray:
    """Vertex index of each face corner, face by face."""
    corners = np.empty(len(mesh.loops), np.int32)
    if not _read_attribute(mesh, ".corner_vert", "value", corners):
        mesh.loops.foreach_get("vertex_index", corners)
    return corners


def corner_counts(mesh: Mesh) -> np.ndarray:
    """Number of corners of each face."""
    counts = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_total", counts)
    return counts


def faces(mesh: Mesh) -> np.ndarray | list[list[int]]:
    """Vertex indices of the faces: an array if all are triangles or all quads, else a list."""
    return grouped_faces(corner_vertices(mesh), corner_counts(mesh))


def grouped_faces(corners: np.ndarray, counts: np.ndarray) -> np.ndarray | list[list[int]]:
    """Faces as by `faces`, from vertices of all corners and numbers of corners."""
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
    """Active UV map per face corner if the yarn directions follow it, else None."""
    return active_uv(obj.data) if obj.weft.use_uv else None


def active_uv(mesh: Mesh) -> np.ndarray | None:
    """Active UV map per face corner, float32 `(corners, 2)`; None without one."""
    layer = mesh.uv_layers.active
    if layer is None:
        return None
    uv = np.empty((len(mesh.loops), 2), np.float32)
    layer.uv.foreach_get("vector", uv.ravel())
    return uv


def grouped_vertices(obj: Object, name: str) -> np.ndarray:
    """Indices of the vertices with a weight above 0 in a vertex group."""
    weights = group_weights(obj, name)
    return np.empty(0, np.int64) if weights is None else np.flatnonzero(weights > 0.0)


def vertex_areas(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Barycentric vertex areas: a third of the area of the adjacent triangles."""
    a, b, c = (points[corners[:, k]] for k in range(3))
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2.0
    return np.bincount(corners.ravel(), np.repeat(areas / 3.0, 3), len(points))


def group_weights(obj: Object, name: str) -> np.ndarray | None:
    """Weight of each vertex in a vertex group; None if the group does not exist."""
    group = obj.vertex_groups.get(name) if name else None
    if group is None:
        return None
    return weights_in(obj.data, group.index)


def weights_in(mesh: Mesh, group: int) -> np.ndarray:
    """Weight of each vertex of a mesh in the vertex group of an index."""
    weights = np.zeros(len(mesh.vertices))
    for vertex in mesh.vertices:
        for entry in vertex.groups:
            if entry.group == group:
                weights[vertex.index] = entry.weight
    return weights


def corner_edges(mesh: Mesh) -> np.ndarray:
    """Edge from each face corner to the next one of its face."""
    used = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("edge_index", used)
    return used


def following_corners(counts: np.ndarray) -> np.ndarray:
    """The next corner of the same face for each corner, from numbers of corners."""
    lasts = np.cumsum(counts) - 1
    following = np.arange(counts.sum()) + 1
    following[lasts] = lasts - counts + 1
    return following


def edge_uses(mesh: Mesh) -> np.ndarray:
    """Number of faces of each edge."""
    return np.bincount(corner_edges(mesh), minlength=len(mesh.edges))


def loose_edge_indices(mesh: Mesh) -> np.ndarray:
    """Indices of the edges without a face."""
    return np.flatnonzero(edge_uses(mesh) == 0)


def edges(mesh: Mesh) -> np.ndarray:
    """Vertex pairs of all edges, `(edges, 2)`."""
    ends = np.empty((len(mesh.edges), 2), np.int32)
    mesh.edges.foreach_get("vertices", ends.ravel())
    return ends.astype(np.int64)


def seam_edges(mesh: Mesh) -> np.ndarray:
    """Vertex pairs of the edges between two faces that are marked as seams, `(edges, 2)`."""
    is_seam = np.empty(len(mesh.edges), bool)
    mesh.edges.foreach_get("use_seam", is_seam)
    return edges(mesh)[is_seam & (edge_uses(mesh) == 2)]


def loose_edges(mesh: Mesh) -> np.ndarray:
    """Vertex pairs of the edges without a face, `(edges, 2)`."""
    return edges(mesh)[loose_edge_indices(mesh)]


def transformed(points: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Points under an affine matrix `(4, 4)`, in float64."""
    return transformed_vectors(points.astype(np.float64), matrix) + matrix[:3, 3]


def transformed_vectors(vectors: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Vectors under the linear part of an affine matrix.

    Uses einsum instead of `@`: after a large matrix product the BLAS threads of NumPy spin for a
    tenth of a second on the cores that the solver needs.
    """
    return np.einsum("ij,kj->ik", vectors, matrix[:3, :3])
