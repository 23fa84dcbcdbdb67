# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes of a cloth beside it in the viewport: linked copies of the object that play their caches.

The copies are children of the cloth, so that they move with it. They have no role, hence take part
in no bake, and lie in a collection of their own that is not rendered.
"""

from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np
from bpy.types import Collection, Modifier, Object, Scene
from mathutils import Matrix

from ..blender import modifier_state
from ..cache import pc2
from ..result import mesh_cache
from ..scene.participants import compared_copies

NAME = "Weft Comparison"
MARK = "weft_comparison"  # custom property of the collection
GAP = 0.1  # between neighbours, of the largest extent of the cloth
# Modifiers by which an object acts on simulations of others.
ACTING = frozenset(("COLLISION", "DYNAMIC_PAINT", "FLUID", "PARTICLE_SYSTEM", "SURFACE"))


@dataclass(frozen=True)
class Compared:
    """A take that is to be shown."""

    name: str
    stem: Path
    contents: pc2.Contents

    def extent(self) -> np.ndarray:
        """Largest extent along each axis of the object, over all frames."""
        frames = pc2.frames(self.stem, self.contents.description, self.contents.intact)
        return np.max([np.ptp(points, axis=0) for points in frames], axis=0)


def show(scene: Scene, obj: Object, takes: list[Compared]) -> list[Object]:
    """Shows takes beside a cloth, in place of those that it has there; returns the copies."""
    for copy in compared_copies():
        if copy.parent == obj:
            bpy.data.objects.remove(copy)
    collection = _collection(scene)
    shown = np.ptp(np.array(obj.bound_box), axis=0)  # with what modifiers add
    extent = np.max([shown, *(take.extent() for take in takes)], axis=0)
    axis = _horizontal_axis(obj)
    step = np.zeros(3)
    step[axis] = extent[axis] + GAP * extent.max()
    copies = []
    for place, take in enumerate(takes, start=1):
        copy = _copy(obj, take)
        copy.matrix_basis = Matrix.Translation(place * step)
        collection.objects.link(copy)
        copies.append(copy)
    return copies


def exists(scene: Scene) -> bool:
    """Whether takes are compared in a scene."""
    return any(copy.name in scene.objects for copy in compared_copies())


def end(scene: Scene) -> None:
    """Removes all copies of a scene, and their collection unless something else is in it."""
    for copy in compared_copies():
        if copy.name in scene.objects:
            bpy.data.objects.remove(copy)
    _remove_if_empty(scene)


def remove(scene: Scene, bake: str) -> None:
    """Removes the copies that show a take."""
    for copy in compared_copies():
        if copy.weft.result.take == bake:
            bpy.data.objects.remove(copy)
    _remove_if_empty(scene)


# --- copies -----------------------------------------------------------------------------------


def _copy(obj: Object, take: Compared) -> Object:
    """A copy of a cloth that plays a take, with the modifiers that act on a result."""
    unwanted = [modifier.name for modifier in obj.modifiers if _is_unwanted(modifier)]
    copy = obj.copy()
    copy.property_unset("weft")
    copy.weft.result.take = take.contents.description.bake
    copy.name, copy.show_name = take.name, True
    for name in unwanted:
        copy.modifiers.remove(copy.modifiers[name])
    playing = mesh_cache.add(copy, mesh_cache.NAME, take.contents.description.frame_start)
    playing.filepath = mesh_cache.stored_path(take.stem, bpy.data.filepath)
    playing.show_viewport = playing.show_render = True
    # The frames replace all shape keys: evaluating those of a result would only cost time.
    copy.show_only_shape_key, copy.active_shape_key_index = True, 0
    _place_at(copy, obj)
    return copy


def _is_unwanted(modifier: Modifier) -> bool:
    return modifier_state.is_deforming(modifier) or modifier.type in ACTING


def _place_at(copy: Object, obj: Object) -> None:
    """Makes a copy a child of its cloth, moved by nothing else and acting on nothing."""
    copy.animation_data_clear()
    copy.constraints.clear()
    if copy.field is not None:
        copy.field.type = "NONE"
    copy.parent, copy.parent_type = obj, "OBJECT"
    copy.matrix_parent_inverse = Matrix.Identity(4)
    copy.delta_location = copy.delta_rotation_euler = (0.0, 0.0, 0.0)
    copy.delta_rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    copy.delta_scale = (1.0, 1.0, 1.0)


def _horizontal_axis(obj: Object) -> int:
    """The axis of an object that is nearest to horizontal, x where several are."""
    matrix = np.array(obj.matrix_world)[:3, :3]
    lengths = np.maximum(np.linalg.norm(matrix, axis=0), np.finfo(float).tiny)
    return int(np.argmin(np.round(np.abs(matrix[2]) / lengths, 3)))


# --- collection -------------------------------------------------------------------------------


def _collection(scene: Scene) -> Collection:
    """The collection of the copies, which is made where there is none."""
    found = next((each for each in scene.collection.children if MARK in each), None)
    if found is None:
        found = bpy.data.collections.new(NAME)
        found[MARK], found.hide_render = True, True
        scene.collection.children.link(found)
    return found


def _remove_if_empty(scene: Scene) -> None:
    for collection in [each for each in scene.collection.children if MARK in each]:
        if not collection.all_objects:
            bpy.data.collections.remove(collection)
