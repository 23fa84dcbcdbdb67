# SPDX-License-Identifier: GPL-3.0-or-later
"""Operator Check Scene with its list of findings, and the operators Select and Fix."""

import json

import bmesh
import bpy
import numpy as np
from bpy.props import IntProperty
from bpy.types import Context, Object, Operator

from .. import checks
from ..bake import fingerprint, job
from ..blender import object_identity, scene_time
from ..blender.errors import REPORTED_ERRORS, error_message
from ..properties import change_counter
from ..scene import evaluation_state
from ..scene.participants import participants
from . import Finding, fixes
from .finding import WARNING

_findings: list[Finding] = []
_state: list = []  # of the scene that the findings are of
_known: tuple[int, bool] = (-1, False)  # change counter, and whether the findings are of this state

SELECT_MODE = {"VERT": (True, False, False), "EDGE": (False, True, False)}
ELEMENTS = {"VERT": "verts", "EDGE": "edges", "FACE": "faces"}


class WEFT_OT_check_scene(Operator):
    bl_idname = "weft.check_scene"
    bl_label = "Check Scene"
    bl_description = (
        "Look for what could spoil a bake: intersections at the start, meshes that cannot be "
        "simulated, meshes that change, settings of an unlikely size, outdated results"
    )

    @classmethod
    def poll(cls, _context: Context) -> bool:
        return job.running() is None

    def execute(self, context: Context) -> set[str]:
        try:
            found = checks.check_scene(context)
        except REPORTED_ERRORS as error:
            self.report({"ERROR"}, error_message(error))
            return {"CANCELLED"}
        _show(context, found)
        message = f"{len(found)} findings" if len(found) != 1 else "1 finding"
        self.report({"WARNING"} if found else {"INFO"}, message if found else "Nothing found")
        return {"FINISHED"}


class _OnFinding:
    """Operator on one line of the list."""

    bl_options = {"UNDO"}

    def finding(self) -> Finding | None:
        return _findings[self.index] if 0 <= self.index < len(_findings) else None

    def object(self) -> Object | None:
        finding = self.finding()
        if finding is None or finding.session_uid is None:
            return None
        return object_identity.find(finding.session_uid)


class WEFT_OT_finding_select(_OnFinding, Operator):
    bl_idname = "weft.finding_select"
    bl_label = "Select"
    bl_description = "Select what the finding is about, in edit mode where it is part of a mesh"

    index: IntProperty(options={"HIDDEN"})

    def execute(self, context: Context) -> set[str]:
        obj, finding = self.object(), self.finding()
        if obj is None or obj.name not in context.view_layer.objects:
            self.report({"ERROR"}, "The object is not in this scene any more")
            return {"CANCELLED"}
        _select_object(context, obj)
        if finding.domain in ELEMENTS:
            _select_elements(context, obj, finding)
        return {"FINISHED"}


class WEFT_OT_finding_fix(_OnFinding, Operator):
    bl_idname = "weft.finding_fix"
    bl_label = "Fix"
    bl_description = "Mend it, and check the scene again"

    index: IntProperty(options={"HIDDEN"})

    def execute(self, context: Context) -> set[str]:
        finding, obj = self.finding(), self.object()
        if finding is None or not finding.fix or (finding.session_uid is not None and obj is None):
            self.report({"ERROR"}, "There is nothing to fix any more: check the scene again")
            return {"CANCELLED"}
        try:
            fixes.apply(context, finding.fix, obj)
            change_counter.increment()
            _show(context, checks.check_scene(context))
        except REPORTED_ERRORS as error:
            self.report({"ERROR"}, error_message(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class WEFT_OT_stretch_select(Operator):
    bl_idname = "weft.stretch_select"
    bl_label = "Select Largest Stretch"
    bl_description = "Go to the frame at which the cloth was stretched most, and select the place"
    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        obj = context.object
        return job.running() is None and obj is not None and bool(obj.weft.result.place)

    def execute(self, context: Context) -> set[str]:
        _select_place(context, context.object.weft.result.place)
        return {"FINISHED"}


class WEFT_OT_pinched_select(Operator):
    bl_idname = "weft.pinched_select"
    bl_label = "Select Pinched Cloth"
    bl_description = (
        "Go to the frame at which colliders left most of the cloth no room, and select the place"
    )
    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        obj = context.object
        return job.running() is None and obj is not None and bool(obj.weft.result.pinched)

    def execute(self, context: Context) -> set[str]:
        _select_place(context, context.object.weft.result.pinched)
        return {"FINISHED"}


def _select_place(context: Context, description: str) -> None:
    """Goes to the frame of a place of the active object, and selects its vertices."""
    obj, place = context.object, json.loads(description)
    scene_time.go_to(context.scene, place["frame"])
    vertices = np.array(place["vertices"], np.int64)
    _select_object(context, obj)
    _select_elements(context, obj, Finding(WARNING, "", "", domain="VERT", indices=vertices))


def _show(context: Context, found: list[Finding]) -> None:
    """Fills the list."""
    global _known
    _findings[:] = found
    window = context.window_manager.weft
    window.findings.clear()
    for finding in found:
        line = window.findings.add()
        line.severity, line.title = finding.severity, finding.title
        line.meaning, line.fix = finding.meaning, finding.fix
        obj = object_identity.find(finding.session_uid) if finding.session_uid is not None else None
        line.object_name = obj.name if obj is not None else ""
    window.active_finding = 0
    window.checked = context.scene.name
    _known = change_counter.value(), True
    _state[:] = _state_of(context)


def are_current(context: Context) -> bool:
    """Whether the findings are of the scene as it is; computed anew after changes only."""
    global _known
    if _known[0] != change_counter.value():
        _known = change_counter.value(), _state == _state_of(context)
    return _known[1]


def _state_of(context: Context) -> list:
    scene, layer = context.scene, context.view_layer
    cloths, colliders = participants(scene, layer)
    shown = [(obj.name, obj.weft.result.bake, obj.weft.result.frame_count) for obj in cloths]
    hidden = [obj.name for obj in colliders if not obj.visible_get(view_layer=layer)]
    modifiers = [(obj.name, m.name) for obj in cloths for m in obj.modifiers]
    frames = scene_time.frame_range(scene)
    return [scene.name, fingerprint.of_scene(scene, layer), shown, hidden, modifiers, frames]


def forget() -> None:
    """Clears the list after a load."""
    _findings.clear()
    _state.clear()
    for manager in bpy.data.window_managers:
        manager.weft.findings.clear()
        manager.weft.checked = ""


def _select_object(context: Context, obj: Object) -> None:
    active = context.view_layer.objects.active
    if active is not None:
        evaluation_state.enter_object_mode(context, active)
    for other in context.view_layer.objects:
        other.select_set(False)
    obj.hide_set(False)
    obj.select_set(True)
    context.view_layer.objects.active = obj


def _select_elements(context: Context, obj: Object, finding: Finding) -> None:
    mode = SELECT_MODE.get(finding.domain, (False, False, True))
    context.scene.tool_settings.mesh_select_mode = mode
    bpy.ops.object.mode_set(mode="EDIT")
    mesh = bmesh.from_edit_mesh(obj.data)
    for vertex in mesh.verts:
        vertex.select_set(False)
    mesh.select_flush(False)
    elements = getattr(mesh, ELEMENTS[finding.domain])
    elements.ensure_lookup_table()
    for index in finding.indices.tolist():
        if index < len(elements):
            elements[index].select_set(True)
    mesh.select_flush_mode()
    bmesh.update_edit_mesh(obj.data, loop_triangles=False, destructive=False)


register, unregister = bpy.utils.register_classes_factory(
    (
        WEFT_OT_check_scene,
        WEFT_OT_finding_select,
        WEFT_OT_finding_fix,
        WEFT_OT_stretch_select,
        WEFT_OT_pinched_select,
    )
)
