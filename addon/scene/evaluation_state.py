# SPDX-License-Identifier: GPL-3.0-or-later
"""State of a scene in which it can be read, and its restoration.

While prepared, earlier results are hidden, generative modifiers of cloths are muted, and objects
that are disabled in viewports are enabled, because Blender does not evaluate those. The previous
state is stored in the file itself, so that a file that was saved, or an object that was duplicated
or undone in this state, can be restored.
"""

import bpy
from bpy.types import Context, Object, Scene

from ..blender import modifier_state, object_identity
from ..result import playback, preview


def prepare(
    context: Context, cloths: list[Object], colliders: list[Object], *, keeps_frame: bool = True
) -> None:
    """Makes the scene readable, until `restore`, which goes back to the frame that is kept."""
    before = context.scene.weft.before_bake
    before.frame, before.subframe = context.scene.frame_current, context.scene.frame_subframe
    before.is_known = keeps_frame
    for obj in cloths:
        _prepare_cloth(obj)
    for obj in (*cloths, *colliders):
        if obj.hide_viewport and obj.library is None:
            obj.weft.result.was_disabled, obj.hide_viewport = True, False
    context.view_layer.update()


def restore() -> None:
    """Restores all objects and scenes to their state before `prepare`; others are unchanged."""
    for obj in bpy.data.objects:
        if obj.library is None:
            _restore_object(obj)
    for scene in object_identity.local_scenes():
        if scene.weft.before_bake.is_known:
            _restore_frame(scene)


def enter_object_mode(context: Context, obj: Object) -> None:
    """Leaves edit mode: a mesh in edit mode can neither be read nor get shape keys."""
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


def _restore_object(obj: Object) -> None:
    before = obj.weft.result
    preview.remove(obj)
    if before.display_type:
        obj.display_type, before.display_type = before.display_type, ""
    if before.was_disabled:
        obj.hide_viewport, before.was_disabled = True, False
    if not before.shown:
        modifier_state.restore(obj)
        playback.enable(obj)


def _restore_frame(scene: Scene) -> None:
    before = scene.weft.before_bake
    before.is_known = False
    scene.frame_set(before.frame, subframe=before.subframe)
