# SPDX-License-Identifier: GPL-3.0-or-later
"""Closed seams become one: each sewn vertex has the UVs of both sides, and the panels are kept.

The mesh of a welded garment is its dressed shape; the UV map, its shape at rest, stays cut along
the seams. The mesh of its panels is kept in the garment, with the vertex that each became.
"""

import bmesh
import bpy
import numpy as np
from bpy.types import Mesh, Object

from ...blender import mesh_arrays
from . import shape_key

VERTEX = "welded"  # attribute of the panels: vertex of the welded mesh


def is_dressed(obj: Object) -> bool:
    """Whether an object has a dressed shape, welded or not."""
    if obj.type != "MESH":
        return False
    return obj.weft.garment.panels_mesh is not None or shape_key.find(obj) is not None


def labels(pairs: np.ndarray, count: int) -> np.ndarray:
    """The first vertex of those that pairs connect, for each of `count` vertices."""
    found = np.arange(count)
    while len(pairs):
        least = found[pairs].min(axis=1)
        lower = found.copy()
        np.minimum.at(lower, pairs[:, 0], least)
        np.minimum.at(lower, pairs[:, 1], least)
        if np.array_equal(lower, found):
            break
        found = lower[lower]
    return found


def together(positions: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Positions with vertices of equal labels in their common mean."""
    counts = np.bincount(group, minlength=len(positions))
    sums = np.stack([np.bincount(group, axis, len(positions)) for axis in positions.T], axis=1)
    sewn = counts[group] > 1
    placed = positions.copy()
    placed[sewn] = (sums / np.maximum(counts, 1)[:, None])[group[sewn]]
    return placed


def weldable(mesh: Mesh, pairs: np.ndarray) -> np.ndarray:
    """Labels of the pairs that are welded; those stay sewn that would leave a face without area or
    a third face at an edge.
    """
    while True:
        group = labels(pairs, len(mesh.vertices))
        spoilt = _spoilt(mesh, group)
        if not len(spoilt):
            return group
        pairs = pairs[~np.isin(group[pairs[:, 0]], spoilt)]


def numbers(group: np.ndarray) -> np.ndarray:
    """The vertex of the welded mesh that each vertex becomes."""
    return (np.cumsum(group == np.arange(len(group))) - 1)[group]


def weld(obj: Object, group: np.ndarray) -> None:
    """Makes vertices of equal labels one, at the dressed shape, which the basis becomes."""
    panels, points = obj.data, shape_key.coordinates(obj)
    shape_key.remove(obj)
    kept = panels.attributes.get(VERTEX) or panels.attributes.new(VERTEX, "INT", "POINT")
    kept.data.foreach_set("value", numbers(group).astype(np.int32))
    welded = panels.copy()
    welded.attributes.remove(welded.attributes[VERTEX])
    obj.weft.garment.panels_mesh, obj.data = panels, welded
    _rebase(welded, points)
    _merge(welded, group)


def unweld(obj: Object) -> np.ndarray:
    """Gives a welded garment its panels back, with the weights, shape keys and materials of the
    welded mesh; returns the vertices of the dressed shape in object space.
    """
    welded, panels = obj.data, obj.weft.garment.panels_mesh
    vertices = np.empty(len(panels.vertices), np.int32)
    panels.attributes[VERTEX].data.foreach_get("value", vertices)
    if vertices.max() >= len(welded.vertices):
        raise ValueError(f"vertices of '{obj.name}' were removed since it was dressed: undo that")
    points = mesh_arrays.rest_coordinates(welded)[vertices]
    weights = _own_weights(obj)
    moved = _shape_keys(obj)
    obj.data, obj.weft.garment.panels_mesh = panels, None
    panels.attributes.remove(panels.attributes[VERTEX])
    for name, values in weights.items():
        _set_weights(obj, name, values[vertices])
    for name, (value, offsets) in moved.items():
        _set_key(obj, name, value, offsets[vertices])
    _copy_materials(welded, panels)
    if not welded.users:
        bpy.data.meshes.remove(welded)
    return points


# --- welding ------------------------------------------------------------------------------------


def _spoilt(mesh: Mesh, group: np.ndarray) -> np.ndarray:
    """Labels at faces that have one of them twice, and at edges with a third face."""
    corners, counts = group[mesh_arrays.corner_vertices(mesh)], mesh_arrays.corner_counts(mesh)
    faces = np.repeat(np.arange(len(counts)), counts)
    order = np.lexsort((corners, faces))
    same = (np.diff(corners[order]) == 0) & (np.diff(faces[order]) == 0)
    degenerate = corners[order][1:][same]
    following = mesh_arrays.following_corners(counts)
    sides = np.sort(np.stack([corners, corners[following]], axis=1), axis=1)
    edges, uses = np.unique(sides, axis=0, return_counts=True)
    sewn = np.bincount(group, minlength=len(group)) > 1
    crowded = edges[uses > 2].ravel()
    return np.unique(np.concatenate([degenerate, crowded[sewn[crowded]]]))


def _rebase(mesh: Mesh, points: np.ndarray) -> None:
    """Makes other points the basis; other keys keep what they add."""
    offset = points - mesh_arrays.rest_coordinates(mesh)
    for key in mesh.shape_keys.key_blocks if mesh.shape_keys else ():
        _write(key, _read(key) + offset)
    mesh.vertices.foreach_set("co", np.ascontiguousarray(points, np.float32).ravel())
    mesh.update()


def _merge(mesh: Mesh, group: np.ndarray) -> None:
    """Merges vertices into those of their labels; faces keep their order, seams are marked."""
    edited = bmesh.new()
    try:
        edited.from_mesh(mesh)
        vertices = list(edited.verts)
        order = edited.faces.layers.int.new("order")
        border = edited.edges.layers.int.new("border")
        for face in edited.faces:
            face[order] = face.index
        for edge in edited.edges:
            edge[border] = edge.is_boundary
        merged = np.flatnonzero(group != np.arange(len(group)))
        targets = {vertices[k]: vertices[group[k]] for k in merged}
        bmesh.ops.weld_verts(edited, targetmap=targets)
        for edge in edited.edges:
            edge.seam = edge.seam or (bool(edge[border]) and len(edge.link_faces) > 1)
        edited.faces.sort(key=lambda face: face[order])
        edited.faces.layers.int.remove(order)
        edited.edges.layers.int.remove(border)
        edited.to_mesh(mesh)
    finally:
        edited.free()
    mesh.update()


# --- what a welded mesh gives back --------------------------------------------------------------


def _own_weights(obj: Object) -> dict[str, np.ndarray]:
    """Weights in all groups but those of panels, which are the same on the mesh of the panels."""
    panels = {panel.name for panel in obj.weft.garment.panels}
    names = [group.name for group in obj.vertex_groups if group.name not in panels]
    return {name: mesh_arrays.group_weights(obj, name) for name in names}


def _set_weights(obj: Object, name: str, weights: np.ndarray) -> None:
    group = obj.vertex_groups.get(name) or obj.vertex_groups.new(name=name)
    group.remove(np.flatnonzero(weights == 0.0).tolist())
    for vertex in np.flatnonzero(weights):
        group.add([int(vertex)], float(weights[vertex]), "REPLACE")


def _shape_keys(obj: Object) -> dict[str, tuple[float, np.ndarray]]:
    """Value of each key, and what it adds to the one that it is relative to."""
    keys = obj.data.shape_keys
    blocks = [key for key in keys.key_blocks if key != keys.reference_key] if keys else []
    return {key.name: (key.value, _read(key) - _read(key.relative_key)) for key in blocks}


def _set_key(obj: Object, name: str, value: float, offsets: np.ndarray) -> None:
    if obj.data.shape_keys is None:
        obj.shape_key_add(name="Basis", from_mix=False)
    key = obj.data.shape_keys.key_blocks.get(name)
    key = key or obj.shape_key_add(name=name, from_mix=False)
    key.value = value
    _write(key, _read(key.relative_key) + offsets)


def _copy_materials(source: Mesh, target: Mesh) -> None:
    target.materials.clear()
    for material in source.materials:
        target.materials.append(material)
    if len(source.polygons) == len(target.polygons):
        indices = np.empty(len(source.polygons), np.int32)
        source.polygons.foreach_get("material_index", indices)
        target.polygons.foreach_set("material_index", indices)


def _read(key: bpy.types.ShapeKey) -> np.ndarray:
    points = np.empty((len(key.data), 3), np.float32)
    key.data.foreach_get("co", points.ravel())
    return points


def _write(key: bpy.types.ShapeKey, points: np.ndarray) -> None:
    key.data.foreach_set("co", np.ascontiguousarray(points, np.float32).ravel())
