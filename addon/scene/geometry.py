# SPDX-License-Identifier: GPL-3.0-or-later
"""Geometry of a collider as Blender evaluates and draws it: its surface, and its instances.

Curves, text, surfaces and metaballs are meshes when evaluated; instances come from geometry nodes,
from a collection, or from vertices and faces.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from bpy.types import Depsgraph, Mesh, Object

from ..blender import mesh_arrays
from .evaluated import evaluated_mesh, require_evaluated

SURFACES = frozenset(("MESH", "CURVE", "FONT", "SURFACE", "META"))


@dataclass(frozen=True)
class Geometry:
    """Surfaces in world space."""

    points: np.ndarray  # m
    corners: np.ndarray  # vertices of all face corners
    counts: np.ndarray  # corners of each face
    triangles: np.ndarray  # as Blender draws the faces

    @property
    def faces(self) -> np.ndarray | list[list[int]]:
        """Vertices of each face."""
        return mesh_arrays.grouped_faces(self.corners, self.counts)


def read(evaluated: Object, depsgraph: Depsgraph, scale: float) -> Geometry:
    """Geometry of an object with its instances, without faces where it has none."""
    require_evaluated(evaluated)
    pieces = []
    if evaluated.type in SURFACES:
        with evaluated_mesh(evaluated) as mesh:
            pieces.append(_piece(mesh, evaluated.matrix_world, scale))
    if makes_instances(evaluated.original):
        pieces += _instances(evaluated, depsgraph, scale)
    return _joined(pieces)


def may_collide(obj: Object) -> bool:
    """Whether an object is of a type that can be a collider: it has a surface, or instances."""
    return obj.type in SURFACES or (obj.type == "EMPTY" and obj.instance_type != "NONE")


def makes_instances(obj: Object) -> bool:
    """Whether an object may make instances of others."""
    return obj.instance_type != "NONE" or any(m.type == "NODES" for m in obj.modifiers)


def _instances(evaluated: Object, depsgraph: Depsgraph, scale: float) -> Iterator[Geometry]:
    for instance in depsgraph.object_instances:
        made = instance.is_instance and instance.parent is not None
        if not made or instance.parent.original != evaluated.original:
            continue
        obj = instance.object
        if obj.type in SURFACES:
            try:
                yield _piece(obj.to_mesh(), instance.matrix_world, scale)
            finally:
                obj.to_mesh_clear()


def _piece(mesh: Mesh | None, matrix, scale: float) -> Geometry:
    if mesh is None:  # a metaball of a family that another one draws
        return _joined([])
    points = mesh_arrays.transformed(mesh_arrays.coordinates(mesh), np.array(matrix, np.float64))
    corners, counts = mesh_arrays.corner_vertices(mesh), mesh_arrays.corner_counts(mesh)
    return Geometry(points * scale, corners, counts, mesh_arrays.triangles(mesh))


def _joined(pieces: list[Geometry]) -> Geometry:
    if len(pieces) == 1:
        return pieces[0]
    offsets = np.cumsum([0, *(len(piece.points) for piece in pieces)])
    placed = list(zip(pieces, offsets.tolist(), strict=False))
    return Geometry(
        np.concatenate([np.empty((0, 3)), *(piece.points for piece in pieces)]),
        np.concatenate([np.empty(0, np.int32), *(piece.corners + k for piece, k in placed)]),
        np.concatenate([np.empty(0, np.int32), *(piece.counts for piece in pieces)]),
        np.concatenate([np.empty((0, 3), np.int32), *(piece.triangles + k for piece, k in placed)]),
    )
