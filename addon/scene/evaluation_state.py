# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings a scene into the state in which it is read, and back.

Read means: earlier results hidden, generative modifiers of cloths off, objects that are disabled
in viewports enabled, because Blender does not evaluate those. How it was before is remembered in
the file itself: what is saved, duplicated, undone or redone in this state can then be repaired.
"""

import bpy
from bpy import app
from bpy.types import Context, Object, Scene

from ..blender import modifier_state, object_identity
from ..result import playback


def prepare(context: Context, cloths: list[Object], colliders: list[Object]) -> None:
    """Makes the scene ready to be read, until `repair`."""
    before = context.scene.weft.before_bake
    before.frame, before.subframe = context.scene.frame_current, context.scene.frame_subframe
    before.is_known = True
    for obj in cloths:
        _prepare_cloth(obj)
    for obj in (*cloths, *colliders):
        if obj.hide_viewport and obj.library is None:
            obj.weft.result.was_disabled, obj.hide_viewport = True, False
    context.view_layer.update()


def repair() -> None:
    """Leaves everything as it was before it was prepared; what was not is left alone."""
    for obj in bpy.data.objects:
        if obj.type == "MESH" and obj.library is None:
            _repair_object(obj)
    for scene in object_identity.local_scenes():
        if scene.weft.before_bake.is_known:
            _repair_frame(scene)


def leave_mode(context: Context, obj: Object) -> None:
    """Writes back what is being edited; a mesh in edit mode can neither be read nor get keys."""
    if obj.mode == "OBJECT":
        return
    active = context.view_layer.objects.active
    context.view_layer.objects.active = obj
    try:
        bpy.ops.object.mode_set(mode="OBJECT")
    finally:
        context.view_layer.objects.active = active


def _prepare_cloth(obj: Object) -> None:
    playback.disable(obj)
    modifier_state.mute(obj, modifier_state.is_generative)
    if not app.background and not obj.weft.result.display_type:
        # The cloth is drawn where it is simulated; the mesh that is read would be in the way.
        obj.weft.result.display_type, obj.display_type = obj.display_type, "BOUNDS"


def _repair_object(obj: Object) -> None:
    before = obj.weft.result
    if before.display_type:
        obj.display_type, before.display_type = before.display_type, ""
    if before.was_disabled:
        obj.hide_viewport, before.was_disabled = True, False
    if not before.shown:
        modifier_state.restore(obj)
        playback.enable(obj)


def _repair_frame(scene: Scene) -> None:
    before = scene.weft.before_bake
    before.is_known = False
    scene.frame_set(before.frame, subframe=before.subframe)
