# SPDX-License-Identifier: GPL-3.0-or-later
"""Panel of garments: dressing, seams, export of the pattern."""

import bpy
from bpy.types import Context, Panel, UILayout

from ..garment import dressing
from ..properties.garment import WeftGarment
from .panel_parts import CLOTH, PhysicsPanel, wrapped_text


class PHYSICS_PT_weft_garment(PhysicsPanel, Panel):
    bl_label = "Garment"
    bl_parent_id = "PHYSICS_PT_weft"
    roles = CLOTH

    def draw(self, context: Context) -> None:
        layout, garment = self.layout, context.object.weft.garment
        running = dressing.running()
        if running is not None:
            layout.progress(factor=running.progress, text=running.progress_text())
            layout.label(text="Esc: stop and keep the garment as it is")
            return
        row = layout.row(align=True)
        row.scale_y = 1.2
        row.operator("weft.dress", icon="MOD_CLOTH")
        row.operator("weft.undress", icon="LOOP_BACK")
        self.draw_report(layout, context, garment)
        if garment.pattern:
            layout.operator("weft.pattern_export", text="Export Pattern", icon="EXPORT")

    def draw_report(self, layout: UILayout, context: Context, garment: WeftGarment) -> None:
        if not garment.report:
            return
        box = layout.box()
        for line in garment.report.splitlines():
            wrapped_text(box, context, line, "ERROR" if garment.has_failed else "CHECKMARK")
        if garment.has_failed:
            box.operator("weft.seam_select", icon="RESTRICT_SELECT_OFF")


class PHYSICS_PT_weft_seams(PhysicsPanel, Panel):
    bl_label = "Seams"
    bl_parent_id = "PHYSICS_PT_weft_garment"
    bl_options = {"DEFAULT_CLOSED"}
    roles = CLOTH

    def draw(self, context: Context) -> None:
        layout = self.layout
        column = layout.column(align=True)
        column.operator("weft.seam_add", icon="LINKED")
        column.operator("weft.seam_flip", icon="ARROW_LEFTRIGHT")
        column.operator("weft.seam_remove", icon="UNLINKED")
        column.operator("weft.seam_ratio", icon="DRIVER_DISTANCE")
        if context.object.mode != "EDIT":
            layout.label(text="In edit mode", icon="INFO")


register, unregister = bpy.utils.register_classes_factory(
    (PHYSICS_PT_weft_garment, PHYSICS_PT_weft_seams)
)
