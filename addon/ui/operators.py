# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators of the bake panels; the work is done by `bake`, `result` and `storage`."""

import math

import bpy
from bpy.props import BoolProperty
from bpy.types import Context, Event, Object, Operator, Scene

from ..bake import job, live, status
from ..bake.modal import BakeOperator, ProgressDisplay
from ..blender import object_identity, scene_time
from ..blender.errors import REPORTED_ERRORS, SkippedSceneError, error_message
from ..properties import change_counter
from ..result import playback
from ..scene.participants import Alone, participants
from ..storage import cache_paths, freed


class WEFT_OT_bake(BakeOperator, Operator):
    bl_idname = "weft.bake"
    bl_label = "Bake Cloth"
    bl_description = (
        "Simulate all cloths of the scene over the frame range into the cache, and show the result "
        "as shape keys or by a Mesh Cache modifier. Meanwhile the deforming modifiers and other "
        "shape keys of the cloths have no effect, because it contains them already; Free gives "
        "them back"
    )

    only_active: BoolProperty(
        name="Only Active", description="Bake the active cloth alone", default=False
    )

    @classmethod
    def description(cls, _context: Context, properties: Operator) -> str:
        if properties.only_active:
            return (
                "Simulate this cloth alone. Other cloths keep their results and are obstacles that "
                "move as these do; a cloth without a result takes no part"
            )
        return cls.bl_description

    def begin(self, context: Context) -> None:
        super().begin(context)
        self._active = context.object.name if self.only_active and context.object else ""

    def start(self, context: Context) -> job.Bake:
        if not self.only_active:
            return self._completed(context) or super().start(context)
        if not self._active:
            raise ValueError("no object is active")
        running = job.Bake(context, alone=Alone(bpy.data.objects[self._active]))
        for obj in participants(context.scene, context.view_layer)[0]:
            if obj.name != self._active and not obj.weft.result.shown:
                self.report({"WARNING"}, f"'{obj.name}' takes no part: it has no result")
        return running

    def _completed(self, context: Context) -> job.Bake | None:
        """A bake of the frames that live simulation has not come to; None to bake anew."""
        cloths, _colliders = participants(context.scene, context.view_layer)
        if not cloths or not all(obj.weft.result.is_live for obj in cloths):
            return None
        try:
            return job.Bake(context, resume=True)
        except ValueError:  # the scene has changed since
            return None


class WEFT_OT_bake_all(BakeOperator, Operator):
    bl_idname = "weft.bake_all"
    bl_label = "Bake All Scenes"
    bl_description = (
        "Bake every scene of the file that has a cloth, one after the other. A cloth that is in "
        "several scenes is baked with the first of them"
    )

    def scenes(self, _context: Context) -> list[Scene]:
        own = object_identity.local_scenes()
        return [scene for scene in own if any(_is_cloth(obj) for obj in scene.objects)]

    def invoke(self, context: Context, event: Event) -> set[str]:
        return self._refuse_without_cloth(context) or super().invoke(context, event)

    def execute(self, context: Context) -> set[str]:
        return self._refuse_without_cloth(context) or super().execute(context)

    def begin(self, context: Context) -> None:
        super().begin(context)
        self._baked_in: dict[int, str] = {}  # session uid of a cloth -> name of the scene

    def start(self, context: Context) -> job.Bake:
        context.view_layer.update()
        cloths, _colliders = participants(context.scene, context.view_layer)
        for obj in cloths:
            if obj.session_uid in self._baked_in:
                raise SkippedSceneError(
                    f"'{obj.name}' is in the scene '{self._baked_in[obj.session_uid]}' as well and "
                    "can have one result: to have that of this scene, bake it by itself"
                )
        running = super().start(context)
        self._baked_in |= {obj.session_uid: context.scene.name for obj in cloths}
        return running

    def _refuse_without_cloth(self, context: Context) -> set[str]:
        if self.scenes(context):
            return set()
        self.report({"ERROR"}, "no scene of this file has a cloth")
        return {"CANCELLED"}


class WEFT_OT_resume(BakeOperator, Operator):
    bl_idname = "weft.resume"
    bl_label = "Resume"
    bl_description = (
        "Go on from the last checkpoint to the end of the frame range, "
        "or show frames that are in the cache only"
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        if not super().poll(context):
            return False
        if not status.has_cache(context.scene, context.view_layer):
            cls.poll_message_set("Nothing to resume: there is no cache of a cloth")
            return False
        return True

    def start(self, context: Context) -> job.Bake:
        return job.Bake(context, resume=True, alone=job.baked_alone(context))

    def invoke(self, context: Context, event: Event) -> set[str]:
        return self._show_cache(context) or super().invoke(context, event)

    def execute(self, context: Context) -> set[str]:
        return self._show_cache(context) or super().execute(context)

    def _show_cache(self, context: Context) -> set[str]:
        try:
            shown = job.show_complete_caches(context)
        except REPORTED_ERRORS as error:
            self.report({"ERROR"}, error_message(error))
            return {"CANCELLED"}
        return {"FINISHED"} if shown else set()


class WEFT_OT_rebake(BakeOperator, Operator):
    bl_idname = "weft.rebake"
    bl_label = "Rebake From Current Frame"
    bl_description = (
        "Keep the frames up to the last checkpoint at or before the current frame, and simulate "
        "the rest again with what is set now"
    )

    def start(self, context: Context) -> job.Bake:
        frame = math.floor(scene_time.current(context.scene))
        return job.Bake(context, rebake_after=frame, alone=job.baked_alone(context))


class WEFT_OT_bake_cancel(Operator):
    bl_idname = "weft.bake_cancel"
    bl_label = "Cancel"
    bl_description = "End the bake after the current frame and keep the finished frames"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, _context: Context) -> bool:
        return job.running() is not None

    def execute(self, _context: Context) -> set[str]:
        job.running().stop()
        return {"FINISHED"}


class WEFT_OT_free(Operator):
    bl_idname = "weft.free"
    bl_label = "Free"
    bl_description = (
        "Remove the shape keys or the modifier of the result and its cache, unless another file "
        "made it, and give the modifiers and shape keys back that had no effect beside it. Undo "
        "brings all of it back until the file is closed"
    )
    bl_options = {"REGISTER", "UNDO"}

    only_active: BoolProperty(
        name="Only Active", description="Free the active object, not all cloths", default=False
    )

    @classmethod
    def poll(cls, _context: Context) -> bool:
        return job.running() is None

    def invoke(self, context: Context, event: Event) -> set[str]:
        objects = [obj for obj in self._objects(context) if obj.weft.role == "CLOTH"]
        if bpy.app.background or not objects:
            return self.execute(context)
        size = cache_paths.size([cache_paths.stem(context.scene, obj) for obj in objects]) / 1e6
        names = f"'{objects[0].name}'" if len(objects) == 1 else f"{len(objects)} cloths"
        return context.window_manager.invoke_confirm(
            self,
            event,
            title=f"Free the result of {names}?",
            message=f"Undo brings it back until the file is closed ({size:.3g} MB in the cache)",
            confirm_text="Free",
        )

    def execute(self, context: Context) -> set[str]:
        live.end(context)
        object_identity.resolve_duplicates()
        for obj in self._objects(context):
            try:
                if not freed.free(context.scene, obj):
                    self.report({"INFO"}, f"'{obj.name}': another file's cache stays")
            except OSError as error:
                self.report({"ERROR"}, f"'{obj.name}': {error_message(error)}")
            playback.remove(obj)
        change_counter.increment()
        return {"FINISHED"}

    def _objects(self, context: Context) -> list[Object]:
        objects = [context.object] if self.only_active else context.scene.objects
        return list(filter(_may_have_result, objects))


class WEFT_OT_remove_orphans(Operator):
    bl_idname = "weft.remove_orphans"
    bl_label = "Remove Caches of Deleted Objects"
    bl_description = "Delete the caches that this file made for objects it does not have any more"
    bl_options = {"INTERNAL"}

    def execute(self, context: Context) -> set[str]:
        try:
            removed = _remove_orphans(context.scene)
        except OSError as error:
            self.report({"ERROR"}, error_message(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"Removed the caches of {removed} deleted objects")
        return {"FINISHED"}


def _remove_orphans(scene: Scene) -> int:
    stems = cache_paths.orphans(scene)
    for stem in stems:
        cache_paths.remove_stem(stem)
    return len(stems)


def _is_cloth(obj: Object) -> bool:
    return obj.type == "MESH" and obj.weft.role == "CLOTH"


def _may_have_result(obj: Object | None) -> bool:
    return obj is not None and obj.type == "MESH" and not obj.library and bool(obj.weft.identity)


_register_classes, _unregister_classes = bpy.utils.register_classes_factory(
    (
        WEFT_OT_bake,
        WEFT_OT_bake_all,
        WEFT_OT_resume,
        WEFT_OT_rebake,
        WEFT_OT_bake_cancel,
        WEFT_OT_free,
        WEFT_OT_remove_orphans,
    )
)


def register() -> None:
    _register_classes()


def unregister() -> None:
    if ProgressDisplay.current is not None:
        ProgressDisplay.current.end(bpy.context)
    _unregister_classes()
