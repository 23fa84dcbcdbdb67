# SPDX-License-Identifier: GPL-3.0-or-later
"""Dragging of cloth with the mouse while it is simulated."""

import bpy
from bpy import app
from bpy.types import Area, Context, Event, Operator, Region
from bpy_extras.view3d_utils import (
    region_2d_to_location_3d,
    region_2d_to_origin_3d,
    region_2d_to_vector_3d,
)
from mathutils import Vector

from ...bake import job, live
from ...simulation.drag import Drag

STATUS = "Drag cloth with the left mouse button   (Esc or right mouse button: end)"


class WEFT_OT_drag(Operator):
    bl_idname = "weft.drag"
    bl_label = "Drag Cloth"
    bl_description = (
        "Grab the cloth in the viewport with the left mouse button, and drag it while it is "
        "simulated. What was dragged is marked, because no bake repeats it"
    )
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        if app.background:
            cls.poll_message_set("Without a window there is no mouse")
            return False
        return job.running() is None and context.mode == "OBJECT"

    def invoke(self, context: Context, _event: Event) -> set[str]:
        if live.session() is None and bpy.ops.weft.simulate("INVOKE_DEFAULT") != {"RUNNING_MODAL"}:
            return {"CANCELLED"}
        self._drag: Drag | None = None
        self._depth = Vector()  # the grabbed point: dragged in its plane
        context.window.cursor_modal_set("HAND")
        context.workspace.status_text_set(STATUS)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: Event) -> set[str]:
        session = live.session()
        if session is None:
            self.cancel(context)
            return {"FINISHED"}
        if event.type in {"ESC", "RIGHTMOUSE"} and event.value == "PRESS":
            session.drag(None)
            self.cancel(context)
            return {"FINISHED"}
        if event.type == "LEFTMOUSE" and event.value == "PRESS":
            return self._grab(context, session, event)
        if self._drag is None:
            return {"PASS_THROUGH"}
        if event.type == "MOUSEMOVE":
            self._move(context, session, event)
            return {"RUNNING_MODAL"}
        if event.type == "LEFTMOUSE" and event.value == "RELEASE":
            self._drag = None
            session.drag(None)
            return {"RUNNING_MODAL"}
        return {"PASS_THROUGH"}

    def cancel(self, context: Context) -> None:
        context.window.cursor_modal_restore()
        context.workspace.status_text_set(None)

    def _grab(self, context: Context, session: live.Live, event: Event) -> set[str]:
        """Grabs what is under the mouse, if it is cloth."""
        found = _region_under(context, event)
        if found is None:
            return {"PASS_THROUGH"}
        area, region = found
        place = (event.mouse_x - region.x, event.mouse_y - region.y)
        view = area.spaces.active.region_3d
        hit, location, _normal, _face, obj, _matrix = context.scene.ray_cast(
            context.evaluated_depsgraph_get(),
            region_2d_to_origin_3d(region, view, place),
            region_2d_to_vector_3d(region, view, place),
        )
        self._drag = session.grabbed(obj, location) if hit else None
        if self._drag is None:
            return {"PASS_THROUGH"}
        self._depth = location
        session.simulate_from_here(context)
        session.drag(self._drag)
        return {"RUNNING_MODAL"}

    def _move(self, context: Context, session: live.Live, event: Event) -> None:
        found = _region_under(context, event)
        if found is None:
            return
        area, region = found
        place = (event.mouse_x - region.x, event.mouse_y - region.y)
        view = area.spaces.active.region_3d
        target = region_2d_to_location_3d(region, view, place, self._depth)
        self._drag = self._drag.moved(target, context.scene.unit_settings.scale_length)
        session.drag(self._drag)


def _region_under(context: Context, event: Event) -> tuple[Area, Region] | None:
    """The 3D viewport under the mouse."""
    for area in context.window.screen.areas:
        for region in area.regions if area.type == "VIEW_3D" else ():
            x, y = event.mouse_x - region.x, event.mouse_y - region.y
            is_inside = 0 <= x < region.width and 0 <= y < region.height
            if is_inside and region.type == "WINDOW":
                return area, region
    return None


register, unregister = bpy.utils.register_classes_factory((WEFT_OT_drag,))
