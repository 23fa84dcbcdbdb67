# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators of the Pins panel: attaching vertices, releasing them at a frame."""

import bpy
import numpy as np
from bpy.props import IntProperty
from bpy.types import Context, Object, Operator

from ..bake import job
from ..blender import fcurves, scene_time
from ..properties import change_counter
from ..scene import evaluation_state

PIN_GROUP = -1  # index of the pin group among attachments


class _PinOperator:
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        obj = context.object
        is_cloth = obj is not None and obj.type == "MESH" and obj.weft.role == "CLOTH"
        return is_cloth and job.running() is None


class WEFT_OT_attach(_PinOperator, Operator):
    bl_idname = "weft.attach"
    bl_label = "Attach Selected Vertices"
    bl_description = (
        "Attach the selected vertices of this cloth to the other selected object: to its surface "
        "if it is a mesh, else to the object as a whole. They keep the place that they have at the "
        "first frame"
    )

    def execute(self, context: Context) -> set[str]:
        obj = context.object
        mode = obj.mode
        evaluation_state.enter_object_mode(context, obj)
        try:
            return self._attach(context, obj)
        finally:
            if mode == "EDIT":
                bpy.ops.object.mode_set(mode="EDIT")

    def _attach(self, context: Context, obj: Object) -> set[str]:
        others = [one for one in context.selected_objects if one != obj]
        chosen = np.empty(len(obj.data.vertices), bool)
        obj.data.vertices.foreach_get("select", chosen)
        if len(others) != 1:
            text = f"select one object beside the cloth, to attach to; {len(others)} are selected"
        elif not chosen.any():
            text = "select the vertices to attach in edit mode"
        else:
            _add_attachment(obj, others[0], np.flatnonzero(chosen).tolist())
            change_counter.increment()
            return {"FINISHED"}
        self.report({"ERROR"}, text)
        return {"CANCELLED"}


def _add_attachment(obj: Object, target: Object, vertices: list[int]) -> None:
    group = obj.vertex_groups.new(name=f"To {target.name}")
    group.add(vertices, 1.0, "REPLACE")
    attachment = obj.weft.attachments.add()
    attachment.vertex_group, attachment.target = group.name, target
    attachment.follow = "SURFACE" if target.type == "MESH" else "OBJECT"


class WEFT_OT_detach(_PinOperator, Operator):
    bl_idname = "weft.detach"
    bl_label = "Remove Attachment"
    bl_description = "Attach these vertices no longer; the vertex group stays"

    index: IntProperty(options={"HIDDEN"})

    def execute(self, context: Context) -> set[str]:
        context.object.weft.attachments.remove(self.index)
        change_counter.increment()
        return {"FINISHED"}


class WEFT_OT_release(_PinOperator, Operator):
    bl_idname = "weft.release"
    bl_label = "Release at This Frame"
    bl_description = (
        "Key the strength so that the vertices are held up to the current frame and then fall"
    )

    index: IntProperty(default=PIN_GROUP, options={"HIDDEN"})

    def execute(self, context: Context) -> set[str]:
        obj, frame = context.object, round(scene_time.current(context.scene))
        is_group = self.index == PIN_GROUP
        owner = obj.weft if is_group else obj.weft.attachments[self.index]
        name = "pin_strength" if is_group else "strength"
        path = owner.path_from_id(name)
        for number, value in ((frame, getattr(owner, name) or 1.0), (frame + 1, 0.0)):
            setattr(owner, name, value)
            obj.keyframe_insert(path, frame=number)
        for curve in fcurves.curves(obj):
            for point in curve.keyframe_points if curve.data_path == path else ():
                if point.co.x == frame:
                    point.interpolation = "CONSTANT"
        context.scene.frame_set(context.scene.frame_current)  # shows the value of this frame
        change_counter.increment()
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (WEFT_OT_attach, WEFT_OT_detach, WEFT_OT_release)
)
