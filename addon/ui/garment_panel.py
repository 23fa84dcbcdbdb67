# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels of garments: dressing, panels of the pattern, seams, export."""

import bpy
from bpy.types import Context, Panel, UILayout, UIList

from ..fabrics import presets
from ..garment import dressing
from ..properties.garment import WeftGarment, WeftPanel
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


class WEFT_UL_panels(UIList):
    """Panels with their edge lengths and fabrics."""

    def draw_item(  # Blender counts the arguments
        self,
        _context: Context,
        layout: UILayout,
        _garment: WeftGarment,
        item: WeftPanel,
        _icon: int,
        _active_data: WeftGarment,
        _active_name: str,
    ) -> None:
        row = layout.row(align=True)
        row.prop(item, "is_chosen", text="")
        row.label(text=item.name)
        known = presets.all_presets().get(item.fabric)
        row.label(text=known.title if known else item.fabric)
        row.label(text=f"{item.edge_length * 1000.0:.3g} mm" if item.edge_length else "")


class PHYSICS_PT_weft_panels(PhysicsPanel, Panel):
    bl_label = "Panels"
    bl_parent_id = "PHYSICS_PT_weft_garment"
    bl_options = {"DEFAULT_CLOSED"}
    roles = CLOTH

    @classmethod
    def poll(cls, context: Context) -> bool:
        return super().poll(context) and len(context.object.weft.garment.panels) > 0

    def draw(self, context: Context) -> None:
        layout, garment = self.layout, context.object.weft.garment
        layout.template_list("WEFT_UL_panels", "", garment, "panels", garment, "active_panel")
        column = layout.column(align=True)
        column.operator_menu_enum("weft.panel_fabric", "fabric", text="Fabric")
        column.operator("weft.panel_edge_length", text="Edge Length", icon="MESH_GRID")
        column.operator("weft.panel_wrap", icon="MESH_CYLINDER")
        layout.label(text=f"Edge length of the garment: {garment.edge_length * 1000.0:.3g} mm")


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
        layout.prop(context.object.weft, "seam_stiffness")


register, unregister = bpy.utils.register_classes_factory(
    (WEFT_UL_panels, PHYSICS_PT_weft_garment, PHYSICS_PT_weft_panels, PHYSICS_PT_weft_seams)
)
