# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings a scene into the state in which it is read, and back.

Read means: earlier results hidden, generative modifiers of cloths off, objects that are disabled
in viewports enabled, because Blender does not evaluate those.
"""

import bpy
from bpy import app
from bpy.types import Context, Object, Scene

from . import identity, modifiers, result


class Stage:
    """Prepared from the moment it is built until `restore`."""

    def __init__(self, context: Context, cloths: list[Object], colliders: list[Object]) -> None:
        self._scene_uid = context.scene.session_uid
        self._frame = (context.scene.frame_current, context.scene.frame_subframe)
        self._disabled: list[int] = []
        self._cloths: list[int] = []
        self._had_result: list[int] = []
        for obj in cloths:
            self._prepare_cloth(obj)
        for obj in (*cloths, *colliders):
            if obj.hide_viewport and obj.library is None:
                obj.hide_viewport = False
                self._disabled.append(obj.session_uid)
        context.view_layer.update()

    def _prepare_cloth(self, obj: Object) -> None:
        if obj.weft.result.shown:
            self._had_result.append(obj.session_uid)
        result.disable(obj)
        modifiers.mute(obj, modifiers.is_generative)
        if not app.background:
            # The cloth is drawn where it is simulated; the mesh that is read would be in the way.
            obj.weft.result.display_type, obj.display_type = obj.display_type, "BOUNDS"
        self._cloths.append(obj.session_uid)

    def restore(self, *, show_earlier_results: bool) -> None:
        """Leaves the scene as it was found; objects deleted meanwhile are passed over."""
        for uid in self._cloths:
            obj = identity.find(uid)
            if obj is not None:
                modifiers.restore(obj)
                _restore_display(obj)
                if show_earlier_results and uid in self._had_result:
                    result.enable(obj)
        for obj in bpy.data.objects:
            if obj.type == "MESH" and obj.library is None and obj.session_uid not in self._cloths:
                repair(obj)  # a duplicate that was made meanwhile is prepared like its original
        for uid in self._disabled:
            obj = identity.find(uid)
            if obj is not None:
                obj.hide_viewport = True
        scene = self.scene()
        if scene is not None:
            scene.frame_set(self._frame[0], subframe=self._frame[1])

    def scene(self) -> Scene | None:
        """The scene that was prepared, None when it has been deleted."""
        return identity.find_scene(self._scene_uid)


def _restore_display(obj: Object) -> None:
    before = obj.weft.result.display_type
    if before:
        obj.display_type, obj.weft.result.display_type = before, ""


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


def repair(obj: Object) -> None:
    """Undoes the preparation of what was saved or duplicated during a bake."""
    _restore_display(obj)
    if not obj.weft.result.shown:
        modifiers.restore(obj)
        result.enable(obj)
