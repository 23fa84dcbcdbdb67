# SPDX-License-Identifier: GPL-3.0-or-later
"""Remedies that change nothing but the defect."""

import bmesh
import bpy
import numpy as np
from bpy.types import Context, Object

from ..blender import mesh_arrays
from ..scene import evaluation_state, multiplied
from ..storage import cache_paths
from . import hair, resolution
from .frames import result_frames
from .meshes import unguarded_faces
from .resolution import EARTH

EDGES_PER_GAP = 2.5  # ratio of a short edge to the gap between layers
SHORT_EDGE_PERCENT = 10


def apply(context: Context, fix: str, obj: Object | None) -> None:
    """Applies a remedy by its key."""
    if obj is not None:
        evaluation_state.enter_object_mode(context, obj)
    _FIXES[fix](context, obj)


def _apply_scale(context: Context, obj: Object) -> None:
    with context.temp_override(
        object=obj, active_object=obj, selected_objects=[obj], selected_editable_objects=[obj]
    ):
        bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)


def _own_mesh(_context: Context, obj: Object) -> None:
    obj.data = obj.data.copy()


def _delete_loose(_context: Context, obj: Object) -> None:
    """Deletes vertices without an edge; shape keys and groups of the others are kept."""
    mesh = bmesh.new()
    mesh.from_mesh(obj.data)
    loose = [vertex for vertex in mesh.verts if not vertex.link_edges]
    bmesh.ops.delete(mesh, geom=loose, context="VERTS")
    mesh.to_mesh(obj.data)
    mesh.free()
    obj.data.update()


def _triangulate(_context: Context, obj: Object) -> None:
    """Cuts the faces that the library does not guard however Blender draws them."""
    unguarded = unguarded_faces(obj.data)
    mesh = bmesh.new()
    mesh.from_mesh(obj.data)
    mesh.faces.ensure_lookup_table()
    bmesh.ops.triangulate(mesh, faces=[mesh.faces[index] for index in unguarded])
    mesh.to_mesh(obj.data)
    mesh.free()
    obj.data.update()


def _thinner(context: Context, obj: Object) -> None:
    matrix = np.array(obj.matrix_world, np.float64)
    scale = context.scene.unit_settings.scale_length
    points = mesh_arrays.transformed(mesh_arrays.rest_coordinates(obj.data), matrix) * scale
    ends = points[mesh_arrays.edges(obj.data)]
    lengths = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    short = float(np.percentile(lengths, SHORT_EDGE_PERCENT))
    obj.weft.material.thickness = short / (2.0 * EDGES_PER_GAP)


def _remove_blenders_cloth(_context: Context, obj: Object) -> None:
    for modifier in [m for m in obj.modifiers if m.type == "CLOTH"]:
        obj.modifiers.remove(modifier)


def _as_collider(_context: Context, obj: Object) -> None:
    obj.weft.role = "COLLIDER"


def _apply_modifiers(context: Context, obj: Object) -> None:
    """Applies the modifiers that multiply the cloth; Blender refuses with shape keys."""
    for name in [modifier.name for modifier in multiplied.modifiers(obj)]:
        with context.temp_override(object=obj, active_object=obj):
            bpy.ops.object.modifier_apply(modifier=name)


def _earth_gravity(context: Context, _obj: Object | None) -> None:
    context.scene.gravity = (0.0, 0.0, -EARTH / context.scene.unit_settings.scale_length)


def _remove_orphans(context: Context, _obj: Object | None) -> None:
    for path in cache_paths.orphans(context.scene):
        cache_paths.remove_stem(path)


_FIXES = {
    "apply_scale": _apply_scale,
    "own_mesh": _own_mesh,
    "delete_loose": _delete_loose,
    "triangulate": _triangulate,
    "thinner": _thinner,
    "as_collider": _as_collider,
    "apply_modifiers": _apply_modifiers,
    "earth_gravity": _earth_gravity,
    "subdivide": resolution.subdivide,
    "remove_blenders_cloth": _remove_blenders_cloth,
    "remove_orphans": _remove_orphans,
    "wider_gap": result_frames.widen,
    "rest_position": hair.keep_rest_positions,
}
