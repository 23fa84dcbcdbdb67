# SPDX-License-Identifier: GPL-3.0-or-later
"""Main panels of the Physics tab: role, bake, cache and Check Scene."""

import bpy
from bpy.types import Context, Panel, UILayout, UIList

from ..bake import job, live, status
from ..checks import operators
from ..simulation import bridge
from ..storage import cache_paths
from . import live_operators
from .panel_parts import ANY, PhysicsPanel, columns, props, wrapped_text

SEVERITY_ICONS = {"ERROR": "CANCEL", "WARNING": "ERROR", "INFO": "INFO"}


class PHYSICS_PT_weft(PhysicsPanel, Panel):
    bl_label = "Weft"
    roles = ANY | {"NONE"}

    def draw(self, context: Context) -> None:
        layout = self.layout
        layout.enabled = job.running() is None
        row = layout.row(align=True)
        if context.object.type == "MESH":
            row.prop(context.object.weft, "role", expand=True)
        else:
            for role in ("NONE", "COLLIDER"):
                row.prop_enum(context.object.weft, "role", role)
        if bridge.problem():
            wrapped_text(layout, context, bridge.problem(), "ERROR")


class PHYSICS_PT_weft_bake(PhysicsPanel, Panel):
    bl_label = "Bake"
    bl_parent_id = "PHYSICS_PT_weft"

    def draw(self, context: Context) -> None:
        layout = self.layout
        running = job.running()
        if running is not None:
            layout.progress(factor=running.progress, text=running.progress_text())
            layout.operator("weft.bake_cancel", icon="CANCEL")
            return
        _draw_live(layout, context)
        row = layout.row(align=True)
        row.scale_y = 1.2
        row.operator("weft.bake", text="Bake All", icon="PHYSICS")
        _only_active(row, context, "weft.bake", "Bake This")
        row.operator("weft.resume", icon="PLAY")
        row = layout.row(align=True)
        row.operator("weft.free", text="Free All", icon="TRASH")
        _only_active(row, context, "weft.free", "Free This")
        if context.object.weft.role == "CLOTH" and live.session() is None:
            _draw_status(layout, context)


def _draw_live(layout: UILayout, context: Context) -> None:
    """Live simulation: its button, and what it does."""
    session = live.session()
    row = layout.row(align=True)
    for name in ("DRAFT", "GOOD", "FINAL"):
        row.prop_enum(context.scene.weft, "quality", name)
    row = layout.row(align=True)
    row.scale_y = 1.2
    icon = "PLAY" if session is None else "PAUSE"
    row.operator("weft.simulate", icon=icon, depress=session is not None)
    row.operator("weft.drag", text="", icon="VIEW_PAN")
    row.prop(context.scene.weft, "simulate_on_play", text="", icon="RECORD_ON")
    if session is not None:
        layout.label(text=session.progress_text(), icon="INFO")
    elif live_operators.problem():
        wrapped_text(layout, context, live_operators.problem(), "ERROR")


def _only_active(row: UILayout, context: Context, operator: str, text: str) -> None:
    """A button that acts on the active cloth."""
    row = row.row(align=True)
    row.enabled = context.object.weft.role == "CLOTH"
    row.operator(operator, text=text).only_active = True


def _draw_status(layout: UILayout, context: Context) -> None:
    obj = context.object
    found = status.of(context.scene, context.view_layer, obj)
    box = layout.box()
    if found.outdated:
        wrapped_text(box, context, f"Outdated: {found.outdated}", "ERROR")
    for problem in found.problems:
        wrapped_text(box, context, problem, "ERROR")
    for note in (*found.notes, obj.weft.result.statistic):
        wrapped_text(box, context, note, "INFO")
    for warning in obj.weft.result.warnings.splitlines():
        wrapped_text(box, context, warning, "ERROR")
    if obj.weft.result.place:
        box.operator("weft.stretch_select", icon="RESTRICT_SELECT_OFF")
    if obj.weft.result.pinched:
        box.operator("weft.pinched_select", icon="RESTRICT_SELECT_OFF")
    if found.is_empty:
        box.label(text="Not baked yet", icon="INFO")


class PHYSICS_PT_weft_cache(PhysicsPanel, Panel):
    bl_label = "Cache"
    bl_parent_id = "PHYSICS_PT_weft"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout, settings = self.layout, context.scene.weft
        flow = columns(layout)
        props(flow, settings, use_scene_range="Scene Range")
        column = flow.column(align=True)
        if settings.use_scene_range:
            column.prop(context.scene, "frame_start", text="Start")
            column.prop(context.scene, "frame_end", text="End")
        else:
            column.prop(settings, "frame_start")
            column.prop(settings, "frame_end")
        props(flow, settings, result_kind="Result", cache_directory="Folder")
        if cache_paths.is_temporary(context.scene):
            text = f"Until the file is saved: {cache_paths.directory(context.scene)}"
            wrapped_text(layout, context, text, "INFO")
        flow = columns(layout.column())
        props(flow, settings, checkpoint_interval="Checkpoints", keep_checkpoints="Keep All")
        self.draw_operators(layout, context)

    def draw_operators(self, layout: UILayout, context: Context) -> None:
        column = layout.column(align=True)
        column.operator("weft.rebake", icon="FILE_REFRESH")
        column.operator("weft.bake_all", icon="SCENE_DATA")
        row = column.row(align=True)
        row.operator("weft.export", text="Export Alembic").kind = "ALEMBIC"
        row.operator("weft.export", text="Export USD").kind = "USD"
        orphans = status.orphans(context.scene)
        if orphans.count:
            text = f"Remove {orphans.count} Caches of Deleted Objects ({orphans.megabytes:.3g} MB)"
            column.operator("weft.remove_orphans", text=text, icon="ORPHAN_DATA")


class WEFT_UL_findings(UIList):
    """List of the findings of Check Scene."""

    def draw_item(
        self, _context, layout, _data, item, _icon, _active_data, _active_property, index
    ):
        row = layout.row(align=True)
        row.label(text=item.title, icon=SEVERITY_ICONS[item.severity])
        if item.object_name:
            row.operator("weft.finding_select", text="", icon="RESTRICT_SELECT_OFF").index = index
        if item.fix:
            row.operator("weft.finding_fix", text="", icon="TOOL_SETTINGS").index = index


class PHYSICS_PT_weft_check(PhysicsPanel, Panel):
    bl_label = "Check Scene"
    bl_parent_id = "PHYSICS_PT_weft"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        layout, window = self.layout, context.window_manager.weft
        layout.operator("weft.check_scene", icon="VIEWZOOM")
        if window.checked != context.scene.name:
            return
        if not operators.are_current(context):
            layout.label(text="The scene has changed: check it again", icon="INFO")
            return
        if not window.findings:
            layout.label(text="Nothing found", icon="CHECKMARK")
            return
        layout.template_list(
            "WEFT_UL_findings", "", window, "findings", window, "active_finding", rows=4
        )
        index = min(window.active_finding, len(window.findings) - 1)
        finding = window.findings[index]
        box = layout.box()
        wrapped_text(box, context, finding.title, SEVERITY_ICONS[finding.severity])
        wrapped_text(box, context, finding.meaning, "BLANK1")
        row = box.row(align=True)
        if finding.object_name:
            row.operator("weft.finding_select", icon="RESTRICT_SELECT_OFF").index = index
        if finding.fix:
            row.operator("weft.finding_fix", icon="TOOL_SETTINGS").index = index


register, unregister = bpy.utils.register_classes_factory(
    (
        PHYSICS_PT_weft,
        PHYSICS_PT_weft_bake,
        PHYSICS_PT_weft_cache,
        WEFT_UL_findings,
        PHYSICS_PT_weft_check,
    )
)
