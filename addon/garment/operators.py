# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators of garments in object mode: import and export of patterns, Dress and Undress."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import FloatProperty, StringProperty
from bpy.types import Context, Event, Menu, Object, Operator
from bpy_extras.io_utils import ExportHelper, ImportHelper

from ..bake import job
from ..bake.modal import ProgressDisplay
from ..blender.errors import REPORTED_ERRORS, error_message
from ..properties import change_counter
from ..properties.fabric import as_decimal
from ..scene import geometry
from ..scene.participants import participants
from ..simulation import bridge
from . import dressing, pattern_mesh
from .dressed import shape_key, welding

NAVIGATION = frozenset(
    (
        *("MIDDLEMOUSE", "WHEELUPMOUSE", "WHEELDOWNMOUSE", "MOUSEMOVE", "INBETWEEN_MOUSEMOVE"),
        *("TRACKPADPAN", "TRACKPADZOOM", "MOUSEROTATE", "MOUSESMARTZOOM", "NDOF_MOTION"),
        *(f"NUMPAD_{name}" for name in (*range(10), "PERIOD", "PLUS", "MINUS")),
    )
)
FILE_PROBLEM = "the file of the pattern cannot be used"


class OnGarment:
    """Operator on the active cloth, in object mode."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        obj = context.object
        if obj is None or obj.type != "MESH" or obj.weft.role != "CLOTH":
            cls.poll_message_set("Needs an active cloth")
            return False
        return is_free(cls)


def is_free(cls: type[Operator]) -> bool:
    """Whether neither a bake nor a dressing runs, and the library can be used."""
    if bridge.problem():
        cls.poll_message_set(bridge.problem())
        return False
    if job.running() is not None or dressing.running() is not None:
        cls.poll_message_set("Not while cloth is simulated")
        return False
    return True


class AddsGarment:
    """Operator that adds the garment of a pattern, which it gets from `pattern_and_name`."""

    bl_options = {"REGISTER", "UNDO"}
    problem = "no garment can be made of it"

    edge_length: FloatProperty(
        name="Edge Length (m)",
        description="Length of the edges of the mesh, in m, where a panel states none: 0.02 for a "
        "draft, 0.01 for the final garment",
        default=0.02,
        min=0.001,
        soft_min=0.005,
        soft_max=0.1,
        precision=3,
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        if context.mode != "OBJECT":
            cls.poll_message_set("Only in object mode")
            return False
        return is_free(cls)

    def execute(self, context: Context) -> set[str]:
        garment = None
        try:
            pattern, name = self.pattern_and_name(context)
            edge_length = as_decimal(self.edge_length)
            errors, remarks = self._findings(pattern, edge_length)
            if errors:
                for message in errors:
                    self.report({"ERROR"}, message)
                return {"CANCELLED"}
            garment = pattern_mesh.add(context, pattern, name, edge_length)
            self.finish(context, garment)
        except REPORTED_ERRORS as error:
            if garment is not None:
                pattern_mesh.remove(garment.obj)
            self.report({"ERROR"}, error_message(error, self.problem))
            return {"CANCELLED"}
        _make_active(context, garment.obj)
        for message in remarks + garment.remarks + self.remarks(context, pattern):
            self.report({"WARNING"}, message)
        self.report({"INFO"}, f"'{garment.obj.name}': {self.summary(pattern)}")
        return {"FINISHED"}

    def finish(self, _context: Context, _garment: pattern_mesh.PatternGarment) -> None:
        """What else is done to the new garment."""

    def remarks(self, _context: Context, _pattern: Any) -> list[str]:
        """Warnings once it is there."""
        return []

    def summary(self, pattern: Any) -> str:
        """What has been added."""
        return f"{len(pattern.panels)} panels, {len(pattern.stitches)} seams"

    def _findings(self, pattern: Any, edge_length: float) -> tuple[list[str], list[str]]:
        found = pattern.findings(edge_length)
        messages = {severity: [] for severity in ("error", "warning")}
        for finding in found:
            messages[finding["severity"]].append(finding["message"])
        return messages["error"], messages["warning"]


class WEFT_OT_pattern_import(AddsGarment, ImportHelper, Operator):
    bl_idname = "weft.pattern_import"
    bl_label = "Import Sewing Pattern"
    bl_description = (
        "Add a garment made of the panels of a sewing pattern, placed as in its file, with its "
        "seams as sewing edges: GarmentCode JSON, SVG or DXF-AAMA"
    )

    filename_ext = ".json"
    filter_glob: StringProperty(default="*.json;*.svg;*.dxf", options={"HIDDEN"})
    problem = FILE_PROBLEM

    def pattern_and_name(self, _context: Context) -> tuple[Any, str]:
        pattern = bridge.library().Pattern.read(self.filepath)
        return pattern, pattern_mesh.shown_name(self.filepath)

    def remarks(self, context: Context, pattern: Any) -> list[str]:
        return _far_panels(context, pattern)

    def summary(self, pattern: Any) -> str:
        counts = super().summary(pattern)
        return counts if pattern.stitches else f"{counts}: sew its edges in edit mode"


class WEFT_OT_pattern_export(OnGarment, ExportHelper, Operator):
    bl_idname = "weft.pattern_export"
    bl_label = "Export Sewing Pattern"
    bl_description = (
        "Write the pattern of the garment as it was imported: SVG at 1:1 with grain, notches and "
        "names, to cut cloth from, or JSON"
    )
    bl_options = set()

    filename_ext = ".svg"
    check_extension = None  # .json as well
    filter_glob: StringProperty(default="*.svg;*.json", options={"HIDDEN"})

    @classmethod
    def poll(cls, context: Context) -> bool:
        if not super().poll(context):
            return False
        if not context.object.weft.garment.pattern:
            cls.poll_message_set("This cloth was not imported from a sewing pattern")
            return False
        return True

    def execute(self, context: Context) -> set[str]:
        try:
            pattern = bridge.library().Pattern(context.object.weft.garment.pattern)
            path = Path(self.filepath)
            pattern.write(path if path.suffix else path.with_suffix(self.filename_ext))
        except REPORTED_ERRORS as error:
            self.report({"ERROR"}, error_message(error, FILE_PROBLEM))
            return {"CANCELLED"}
        return {"FINISHED"}


class WEFT_OT_dress(OnGarment, Operator):
    bl_idname = "weft.dress"
    bl_label = "Dress"
    bl_description = (
        "Sew the garment together around the colliders as they are at the first frame, and let it "
        "settle: what it has then is the start of every bake. Goes on from where it is"
    )
    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        if not super().poll(context):
            return False
        if context.object.weft.result.shown:
            cls.poll_message_set("Free the result of this cloth first")
            return False
        return True

    def execute(self, context: Context) -> set[str]:
        running = self._start(context)
        if running is None:
            return {"CANCELLED"}
        try:
            while not running.is_done:
                try:
                    running.wait(job.WAIT_SECONDS)
                except KeyboardInterrupt:
                    running.stop()
            return self._finish(context, running)
        except BaseException:
            dressing.abandon_running()
            raise

    def invoke(self, context: Context, _event: Event) -> set[str]:
        if bpy.app.background:
            return self.execute(context)
        if context.screen.is_animation_playing:
            bpy.ops.screen.animation_cancel(restore_frame=False)
        if self._start(context) is None:
            return {"CANCELLED"}
        ProgressDisplay(context)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: Event) -> set[str]:
        running = dressing.running()
        if running is None:  # the extension was disabled
            self.cancel(context)
            return {"CANCELLED"}
        if event.type == "ESC" and event.value == "PRESS":
            running.stop()
        if event.type != "TIMER":
            # Nothing but looking around: the mesh is written meanwhile.
            return {"PASS_THROUGH"} if event.type in NAVIGATION else {"RUNNING_MODAL"}
        try:
            running.show()
            text = f"{running.progress_text()}   (Esc: stop and keep the garment as it is)"
            ProgressDisplay.current.update(context, running.progress, text)
            if not running.is_done:
                return {"RUNNING_MODAL"}
            ProgressDisplay.current.end(context)
            return self._finish(context, running)
        except BaseException:
            self.cancel(context)
            raise

    def cancel(self, context: Context) -> None:
        """Called by Blender when the window is closed, another file is loaded, or Blender exits."""
        dressing.abandon_running()
        if ProgressDisplay.current is not None:
            ProgressDisplay.current.end(context)

    def _start(self, context: Context) -> dressing.Dressing | None:
        try:
            return dressing.Dressing(context, context.object)
        except REPORTED_ERRORS as error:
            self.report({"ERROR"}, error_message(error))
            return None

    def _finish(self, context: Context, running: dressing.Dressing) -> set[str]:
        is_worn, lines = running.finish(context)
        self.report({"INFO" if is_worn else "WARNING"}, lines[0])
        for line in lines[1:]:
            self.report({"WARNING"}, line)
        return {"FINISHED"}


class WEFT_OT_undress(OnGarment, Operator):
    bl_idname = "weft.undress"
    bl_label = "Undress"
    bl_description = "Put the panels back where they were before the garment was dressed"

    @classmethod
    def poll(cls, context: Context) -> bool:
        if not super().poll(context):
            return False
        if not welding.is_dressed(context.object):
            cls.poll_message_set("The garment is not dressed")
            return False
        return True

    def execute(self, context: Context) -> set[str]:
        obj = context.object
        try:
            if obj.weft.garment.panels_mesh is not None:
                welding.unweld(obj)
            else:
                shape_key.remove(obj)
        except REPORTED_ERRORS as error:
            self.report({"ERROR"}, error_message(error))
            return {"CANCELLED"}
        obj.weft.garment.property_unset("report")
        obj.weft.garment.property_unset("has_failed")
        change_counter.increment()
        return {"FINISHED"}


def _make_active(context: Context, obj: Object) -> None:
    view = context.space_data
    if view is not None and view.type == "VIEW_3D" and view.local_view is not None:
        obj.local_view_set(view, True)
    for other in context.selected_objects:
        other.select_set(False)
    obj.select_set(True)
    context.view_layer.objects.active = obj


def _far_panels(context: Context, pattern: Any) -> list[str]:
    """Panels that are far from the colliders of the scene, if there are any."""
    bodies = [(body.points, body.triangles) for body in collider_geometries(context)]
    return bridge.far_panels(pattern, bodies) if bodies else []


def collider_geometries(context: Context) -> list[geometry.Geometry]:
    """Colliders of the scene that have triangles, as they are now."""
    context.view_layer.update()
    depsgraph, scale = context.evaluated_depsgraph_get(), context.scene.unit_settings.scale_length
    bodies = []
    for obj in participants(context.scene, context.view_layer)[1]:
        try:
            found = geometry.read(obj.evaluated_get(depsgraph), depsgraph, scale)
        except ValueError:  # disabled in viewports
            continue
        if len(found.triangles):
            bodies.append(found)
    return bodies


def _draw_import(self: Menu, _context: Context) -> None:
    self.layout.operator("weft.pattern_import", text="Sewing Pattern (.json/.svg/.dxf)")


_register_classes, _unregister_classes = bpy.utils.register_classes_factory(
    (WEFT_OT_pattern_import, WEFT_OT_pattern_export, WEFT_OT_dress, WEFT_OT_undress)
)


def register() -> None:
    _register_classes()
    bpy.types.TOPBAR_MT_file_import.append(_draw_import)


def unregister() -> None:
    dressing.abandon_running()
    bpy.types.TOPBAR_MT_file_import.remove(_draw_import)
    _unregister_classes()
