# SPDX-License-Identifier: GPL-3.0-or-later
"""Pins of a cloth: the pin group, and vertices attached to other objects.

Weights of vertex groups times the strength of a frame decide: from `HARD_PIN_WEIGHT` on a vertex is
held, below it is drawn by a spring of stiffness w / (1 - w), and at 0 it is free. What is attached
keeps the place that it has at the first frame relative to an object, or to the nearest triangle of
its evaluated mesh.
"""

from dataclasses import dataclass

import numpy as np
from bpy.types import Depsgraph, Object
from mathutils.bvhtree import BVHTree

from ..blender import mesh_arrays, object_identity
from ..blender.mesh_arrays import HARD_PIN_WEIGHT
from ..properties.fabric import as_decimal
from .evaluated import (
    ChangedTopologyError,
    deformed,
    evaluated_mesh,
    require_evaluated,
    to_world,
    world_to_object,
)


@dataclass(frozen=True)
class PinInput:
    """Pins of a cloth at a frame, in the order of `PinReader.vertices`."""

    targets: np.ndarray  # m
    weights: np.ndarray  # 0 for free vertices
    stiffness: float  # N/m³, of weight 0.5

    @property
    def hard(self) -> np.ndarray:
        """Flags of the vertices that are held."""
        return self.weights >= HARD_PIN_WEIGHT

    @property
    def soft(self) -> np.ndarray:
        """Flags of the vertices that springs draw."""
        return (self.weights > 0.0) & ~self.hard & (self.stiffness > 0.0)

    def spring_stiffness(self, areas: np.ndarray) -> np.ndarray:
        """Stiffness of each spring in N/m for vertex areas in m²."""
        weights = self.weights[self.soft]
        return self.stiffness * areas[self.soft] * weights / (1.0 - weights)


class PinReader:
    """Reads the pins of a cloth at any frame; attachments are bound at the first one."""

    def __init__(self, obj: Object, depsgraph: Depsgraph, positions: np.ndarray, scale: float):
        """`positions` are those of the first frame in m."""
        self._scale, self._count = scale, len(positions)
        self._is_weighted = any(modifier_writes_weights(m) for m in obj.modifiers)
        self._groups = [("pin", obj.weft.pin_group, None)] if obj.weft.pin_group else []
        for index, one in enumerate(obj.weft.attachments):
            _check_attachment(obj, one)
            self._groups.append((index, one.vertex_group, one))
        painted = [self._weights(obj, obj, group) for _where, group, _one in self._groups]
        used = np.zeros(self._count, bool)
        for weights in painted:
            used |= (weights > 0.0) | self._is_weighted
        self.vertices = np.flatnonzero(used)
        self._painted = [weights[self.vertices] for weights in painted]
        held = positions[self.vertices]
        self._bindings = [
            None if one is None else _binding(obj, one, depsgraph, held, scale)
            for _where, _group, one in self._groups
        ]

    def read(self, evaluated: Object, depsgraph: Depsgraph, frame: int) -> PinInput:
        """The pins at the frame of the depsgraph; the highest weight decides."""
        stiffness = as_decimal(evaluated.weft.pin_stiffness)
        targets, weights = np.empty((0, 3)), np.zeros(len(self.vertices))
        if len(self.vertices):
            targets = deformed(evaluated, self._count, self._scale, frame)[self.vertices]
        for number, (where, group, _one) in enumerate(self._groups):
            own = self._painted[number]
            if self._is_weighted:
                own = self._weights(evaluated.original, evaluated, group)[self.vertices]
            own = own * _strength(evaluated, where)
            chosen = own > weights
            weights[chosen] = own[chosen]
            binding = self._bindings[number]
            if binding is not None:
                targets[chosen] = binding.positions(depsgraph, self._scale, frame)[chosen]
        return PinInput(targets, weights, stiffness)

    def _weights(self, obj: Object, source: Object, group: str) -> np.ndarray:
        if obj == source:
            return mesh_arrays.group_weights(obj, group)
        with evaluated_mesh(source) as mesh:
            return mesh_arrays.weights_in(mesh, obj.vertex_groups[group].index)


def modifier_writes_weights(modifier) -> bool:
    """Whether a modifier changes the weights of vertex groups."""
    return modifier.type.startswith("VERTEX_WEIGHT_") and modifier.show_viewport


def _strength(evaluated: Object, where: str | int) -> float:
    settings = evaluated.weft
    return as_decimal(
        settings.pin_strength if where == "pin" else settings.attachments[where].strength
    )


def _check_attachment(obj: Object, attachment) -> None:
    """Raises `ValueError` for an attachment that cannot be followed."""
    if attachment.vertex_group not in obj.vertex_groups:
        group = attachment.vertex_group
        raise ValueError(f"'{obj.name}' has no vertex group '{group}', which is attached")
    target = attachment.target
    if target is None:
        raise ValueError(f"the group '{attachment.vertex_group}' of '{obj.name}' has no target")
    if target.type == "MESH" and target.weft.role == "CLOTH" and not target.weft.result.shown:
        raise ValueError(
            f"'{obj.name}' is attached to the cloth '{target.name}', which has no result to "
            f"follow: bake '{target.name}' first, then '{obj.name}', each with Bake This"
        )


# --- bindings ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _ToObject:
    """Points that keep their place in the space of an object."""

    session_uid: int
    name: str
    points: np.ndarray

    def positions(self, depsgraph: Depsgraph, scale: float, frame: int) -> np.ndarray:
        return to_world(self.points, _target(self, depsgraph, frame), scale)


@dataclass(frozen=True)
class _ToSurface:
    """Points that keep their place relative to triangles of an evaluated mesh."""

    session_uid: int
    name: str
    corners: np.ndarray  # vertices of the triangle of each point
    offsets: np.ndarray  # in units of two edges, and in m along the normal
    count: int  # of vertices of the mesh

    def positions(self, depsgraph: Depsgraph, scale: float, frame: int) -> np.ndarray:
        points = deformed(_target(self, depsgraph, frame), self.count, scale, frame)
        frames = _triangle_frames(points[self.corners])
        return points[self.corners[:, 0]] + np.einsum("kij,kj->ki", frames, self.offsets)


def _binding(
    obj: Object, attachment, depsgraph: Depsgraph, points: np.ndarray, scale: float
) -> _ToObject | _ToSurface:
    target = attachment.target
    evaluated = target.evaluated_get(depsgraph)
    require_evaluated(evaluated)
    if attachment.follow == "OBJECT":
        local = mesh_arrays.transformed(points, world_to_object(evaluated, scale))
        return _ToObject(target.session_uid, target.name, local)
    if target.type != "MESH":
        raise ValueError(
            f"'{obj.name}' follows the surface of '{target.name}', which is no mesh: let it follow "
            "the object"
        )
    with evaluated_mesh(evaluated) as mesh:
        triangles = mesh_arrays.triangles(mesh)
        vertices = to_world(mesh_arrays.coordinates(mesh), evaluated, scale)
    if not len(triangles):
        raise ValueError(f"'{obj.name}' follows the surface of '{target.name}', which has no faces")
    tree = BVHTree.FromPolygons(vertices.tolist(), triangles.tolist())
    nearest = np.array([tree.find_nearest(point)[2] for point in points.tolist()], np.int64)
    corners = triangles[nearest].astype(np.int64).reshape(-1, 3)
    away = points - vertices[corners[:, 0]]
    inverse = np.linalg.pinv(_triangle_frames(vertices[corners]))
    offsets = np.einsum("kij,kj->ki", inverse, away)
    return _ToSurface(target.session_uid, target.name, corners, offsets, len(vertices))


def _triangle_frames(corners: np.ndarray) -> np.ndarray:
    """Two edges and the unit normal of each triangle as columns, `(k, 3, 3)`."""
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normals = np.cross(first, second)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 0.0)
    return np.stack([first, second, normals], axis=2)


def _target(binding: _ToObject | _ToSurface, depsgraph: Depsgraph, frame: int) -> Object:
    target = object_identity.find(binding.session_uid)
    if target is None:
        raise ChangedTopologyError(f"'{binding.name}' was deleted before frame {frame} was read")
    return target.evaluated_get(depsgraph)
