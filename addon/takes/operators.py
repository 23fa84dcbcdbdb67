# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators of the list of takes."""

import bpy
from bpy.props import IntProperty, StringProperty
from bpy.types import Context, Event, Object, Operator

from ..bake import job, live
from ..blender.errors import REPORTED_ERRORS, error_message
from ..storage import cache_paths
from . import comparison, results


class _OnCloth:
    """Operator on the active cloth, which must be local."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        obj = context.object
        if job.running() is not None or obj is None or obj.library is not None:
            return False
        return obj.type == "MESH" and obj.weft.role == "CLOTH"

    def execute(self, context: Context) -> set[str]:
        live.end(context)
        try:
            self.act(context, context.object)
        except REPORTED_ERRORS as error:
            self.report({"ERROR"}, error_message(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class _OnTake(_OnCloth):
    """Operator on one take of the active cloth."""

    index: IntProperty(
        name="Take", description="Place in the list, -1 for the active take", default=-1, min=-1
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        if not super().poll(context):
            return False
        if not context.object.weft.takes:
            cls.poll_message_set("This cloth has no take: keep a result first")
            return False
        return True

    def place(self, obj: Object) -> int:
        """Place of the take in the list; `ValueError` if there is none."""
        place = obj.weft.active_take if self.index < 0 else self.index
        if place >= len(obj.weft.takes):
            raise ValueError(f"'{obj.name}' has {len(obj.weft.takes)} takes: choose one of them")
        return place


class WEFT_OT_take_keep(_OnCloth, Operator):
    bl_idname = "weft.take_keep"
    bl_label = "Keep as Take"
    bl_description = (
        "Keep the result of this cloth by a name, with a copy of its cache and with the fabric and "
        "settings of the cloth. Bake others, compare them, and choose one"
    )

    name: StringProperty(
        name="Name", description="Name of the take, that of the fabric when empty", maxlen=60
    )

    def act(self, context: Context, obj: Object) -> None:
        take = results.keep(context, obj, self.name or results.default_name(obj))
        self.report({"INFO"}, f"Kept as '{take.name}'")


class WEFT_OT_take_choose(_OnTake, Operator):
    bl_idname = "weft.take_choose"
    bl_label = "Choose"
    bl_description = (
        "Make this take the result of the cloth again, with the fabric and settings that it was "
        "baked with"
    )

    def act(self, context: Context, obj: Object) -> None:
        place = self.place(obj)
        obj.weft.active_take = place
        for warning in results.choose(context, obj, obj.weft.takes[place]):
            self.report({"WARNING"}, warning)


class WEFT_OT_take_remove(_OnTake, Operator):
    bl_idname = "weft.take_remove"
    bl_label = "Remove Take"
    bl_description = (
        "Remove this take and delete its cache, unless another file made it. Undo brings both back "
        "until the file is closed"
    )

    def invoke(self, context: Context, event: Event) -> set[str]:
        if bpy.app.background:
            return self.execute(context)
        obj = context.object
        try:
            take = obj.weft.takes[self.place(obj)]
        except ValueError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        size = cache_paths.size([cache_paths.take_stem(context.scene, take)]) / 1e6
        return context.window_manager.invoke_confirm(
            self,
            event,
            title=f"Remove the take '{take.name}'?",
            message=f"Undo brings it back until the file is closed ({size:.3g} MB in the cache)",
            confirm_text="Remove",
        )

    def act(self, context: Context, obj: Object) -> None:
        if not results.remove(context.scene, obj, self.place(obj)):
            self.report({"INFO"}, "another file's cache stays")


class WEFT_OT_take_compare(_OnTake, Operator):
    bl_idname = "weft.take_compare"
    bl_label = "Compare"
    bl_description = (
        "Show the takes that are ticked in the list beside the cloth, each as a linked copy that "
        "plays its frames and is named after it. The copies take part in no bake"
    )

    def act(self, context: Context, obj: Object) -> None:
        ticked = [take for take in obj.weft.takes if take.is_compared]
        if not ticked:
            raise ValueError(f"no take of '{obj.name}' is ticked: tick those to compare")
        shown, refusals = [], []
        for take in ticked:
            try:
                found = results.contents(context.scene, obj, take, "compared")
            except ValueError as refusal:
                refusals.append(str(refusal))
                continue
            stem = cache_paths.take_stem(context.scene, take)
            shown.append(comparison.Compared(take.name, stem, found))
        if not shown:
            raise ValueError("; ".join(refusals))
        for refusal in refusals:
            self.report({"WARNING"}, refusal)
        comparison.show(context.scene, obj, shown)


class WEFT_OT_take_compare_end(Operator):
    bl_idname = "weft.take_compare_end"
    bl_label = "End Comparison"
    bl_description = "Remove the copies that show takes, and their collection"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return job.running() is None and comparison.exists(context.scene)

    def execute(self, context: Context) -> set[str]:
        comparison.end(context.scene)
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (
        WEFT_OT_take_keep,
        WEFT_OT_take_choose,
        WEFT_OT_take_remove,
        WEFT_OT_take_compare,
        WEFT_OT_take_compare_end,
    )
)
