# SPDX-License-Identifier: GPL-3.0-or-later
"""Viewport overlays: stretch, pins, seams or contacts in colours."""

import bpy
import numpy as np
from bpy.types import Context, Depsgraph, Object, Scene, SpaceView3D
from mathutils.bvhtree import BVHTree

from ...bake import job
from ...blender import mesh_arrays, scene_time
from ...cache import pc2
from ...garment import edit_seams, seams
from ...properties import callbacks, change_counter
from ...scene import geometry, rest_shape
from ...scene.evaluated import evaluated_mesh, to_world
from ...scene.participants import participants
from ...storage import cache_paths
from . import overlay_colors, viewport_mesh

MODES = dict.fromkeys(("STRETCH", "PINS", "CONTACTS"), ("OBJECT",))
MODES["SEAMS"] = ("OBJECT", "EDIT_MESH")

_handle: object | None = None
_drawn: dict[str, tuple] = {}  # batches of the last drawing, with the state that they show


def redraw() -> None:
    """Requests a redraw of all 3D viewports."""
    for manager in bpy.data.window_managers:
        for window in manager.windows:
            for area in window.screen.areas:
                if area.type == "VIEW_3D":
                    area.tag_redraw()


def _draw() -> None:
    context = bpy.context
    kind = context.window_manager.weft.overlay
    if job.running() is not None or kind == "NONE" or context.mode not in MODES[kind]:
        return
    key = (kind, context.scene.name, context.scene.frame_current_final, change_counter.value())
    key += (context.window_manager.weft.overlay_stretch, context.mode)
    if _drawn.get("overlay", (None,))[0] != key:
        _drawn["overlay"] = (key, _batches(context, kind))
    viewport_mesh.draw(_drawn["overlay"][1])


def _batches(context: Context, kind: str) -> list:
    cloths, colliders = participants(context.scene, context.view_layer)
    depsgraph, scale = context.evaluated_depsgraph_get(), context.scene.unit_settings.scale_length
    collider_trees = _collider_trees(colliders, depsgraph, scale) if kind == "CONTACTS" else []
    found = []
    for obj in cloths:
        if not obj.visible_get():
            continue
        if kind == "SEAMS":
            found += _seam_lines(obj, depsgraph)
            continue
        colored = _colored(obj, depsgraph, kind, collider_trees, context)
        if colored is not None:
            positions, triangles, colors = colored
            found.append(viewport_mesh.batch(positions / scale, triangles, colors))
    return found


def _colored(
    obj: Object, depsgraph: Depsgraph, kind: str, collider_trees: list, context: Context
) -> tuple[np.ndarray, ...] | None:
    """Positions, triangles and colours of a cloth; None if they are unknown."""
    scale = context.scene.unit_settings.scale_length
    evaluated = obj.evaluated_get(depsgraph)
    points = _points(obj, evaluated, context.scene)
    if points is None:
        return None
    positions = to_world(points, evaluated, scale)
    triangles = mesh_arrays.triangles(obj.data)
    if kind == "PINS":
        pinned = np.zeros(len(points), bool)
        for group in (obj.weft.pin_group, *(one.vertex_group for one in obj.weft.attachments)):
            pinned[mesh_arrays.grouped_vertices(obj, group)] = True
        return positions, triangles, overlay_colors.of_marks(pinned, overlay_colors.ORANGE)
    if kind == "CONTACTS":
        gaps = [(tree, gap + obj.weft.material.thickness) for tree, gap in collider_trees]
        touching = overlay_colors.in_contact(positions, gaps)
        return positions, triangles, overlay_colors.of_marks(touching, overlay_colors.RED)
    try:
        rest = rest_shape.positions(obj, np.array(evaluated.matrix_world), scale)
    except ValueError:  # the rest shape does not exist
        return None
    largest = context.window_manager.weft.overlay_stretch / 100.0
    stretch = overlay_colors.stretch(rest, positions, triangles)
    return positions, triangles, overlay_colors.of_scale(stretch, largest)


def _seam_lines(obj: Object, depsgraph: Depsgraph) -> list:
    """Lines between the sides of seams, in the units of the scene."""
    if obj.mode == "EDIT":
        ends, numbers = edit_seams.ends(obj)
        points = mesh_arrays.transformed(ends, np.array(obj.matrix_world))
    else:
        evaluated = obj.evaluated_get(depsgraph)
        with evaluated_mesh(evaluated) as mesh:
            coordinates = mesh_arrays.coordinates(mesh)
        if len(coordinates) != len(obj.data.vertices):
            return []
        found = seams.of(obj)
        points = to_world(coordinates[found.pairs.ravel()], evaluated, 1.0)
        numbers = found.numbers
    if not len(numbers):
        return []
    colors = np.repeat(overlay_colors.of_numbers(numbers), 2, axis=0)
    return [viewport_mesh.line_batch(points, colors)]


def _points(obj: Object, evaluated: Object, scene: Scene) -> np.ndarray | None:
    """Simulated vertices: evaluated, or from the cache if a modifier changes the topology."""
    with evaluated_mesh(evaluated) as mesh:
        points = mesh_arrays.coordinates(mesh)
    if len(points) == len(obj.data.vertices):
        return points
    stem = cache_paths.stem(scene, obj)
    try:
        description = pc2.read_description(stem)
    except pc2.CacheError:
        return None
    return pc2.frame(stem, description, round(scene_time.current(scene)))


def _collider_trees(
    colliders: list[Object], depsgraph: Depsgraph, scale: float
) -> list[tuple[BVHTree, float]]:
    found = []
    for obj in colliders:
        evaluated = obj.evaluated_get(depsgraph)
        try:
            surface = geometry.read(evaluated, depsgraph, scale)
        except ValueError:  # disabled in viewports
            continue
        points, triangles = surface.points, surface.triangles
        tree = BVHTree.FromPolygons(points.tolist(), triangles.tolist())
        found.append((tree, obj.weft.thickness))
    return found


def register() -> None:
    global _handle
    callbacks.connect(redraw=redraw)
    if not bpy.app.background:
        _handle = SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_VIEW")


def unregister() -> None:
    global _handle
    if _handle is not None:
        SpaceView3D.draw_handler_remove(_handle, "WINDOW")
        _handle = None
    _drawn.clear()
