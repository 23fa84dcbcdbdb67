# SPDX-License-Identifier: GPL-3.0-or-later
"""List of the takes of a cloth."""

import bpy
from bpy.types import Context, Panel, UILayout, UIList

from ..bake import job
from ..properties.object import WeftObject
from ..properties.take import WeftTake
from ..takes import comparison, results
from .panel_parts import CLOTH, PhysicsPanel, wrapped_text


class WEFT_UL_takes(UIList):
    """Takes with their names; the one that the cloth shows is marked."""

    def draw_item(  # Blender counts the arguments
        self,
        context: Context,
        layout: UILayout,
        cloth: WeftObject,
        item: WeftTake,
        _icon: int,
        _active_data: WeftObject,
        _active_name: str,
        index: int,
    ) -> None:
        row = layout.row(align=True)
        row.prop(item, "is_compared", text="")
        is_missing = bool(results.problem(context.scene, item))
        row.prop(item, "name", text="", emboss=False, icon="ERROR" if is_missing else "NONE")
        is_chosen = results.is_chosen(context.scene, cloth.id_data, item)
        icon = "RADIOBUT_ON" if is_chosen else "RADIOBUT_OFF"
        row.operator("weft.take_choose", text="", icon=icon, emboss=False).index = index


class PHYSICS_PT_weft_takes(PhysicsPanel, Panel):
    bl_label = "Takes"
    bl_parent_id = "PHYSICS_PT_weft"
    bl_options = {"DEFAULT_CLOSED"}
    roles = CLOTH

    def draw(self, context: Context) -> None:
        layout, cloth = self.layout, context.object.weft
        layout.enabled = job.running() is None
        layout.operator("weft.take_keep", icon="ADD")
        row = layout.row()
        row.template_list("WEFT_UL_takes", "", cloth, "takes", cloth, "active_take", rows=3)
        row.column().operator("weft.take_remove", text="", icon="REMOVE")
        row = layout.row(align=True)
        row.operator("weft.take_choose", icon="CHECKMARK")
        row.operator("weft.take_compare", icon="SPLIT_HORIZONTAL")
        if comparison.exists(context.scene):
            layout.operator("weft.take_compare_end", icon="X")
        for take in cloth.takes:
            problem = results.problem(context.scene, take)
            if problem:
                wrapped_text(layout, context, problem, "ERROR")


register, unregister = bpy.utils.register_classes_factory((WEFT_UL_takes, PHYSICS_PT_weft_takes))
