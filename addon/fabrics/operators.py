# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators and menu of fabric presets."""

import bpy
from bpy.props import StringProperty
from bpy.types import Context, Event, Menu, Operator, OperatorProperties

from ..blender.errors import REPORTED_ERRORS, error_message
from ..properties.fabric import WeftMaterial
from . import presets, previews


def _material(context: Context) -> WeftMaterial:
    return context.object.weft.material


class _OnFabric:
    """Operator on the fabric of the active object."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        obj = context.object
        return obj is not None and obj.type == "MESH" and obj.library is None

    def execute(self, context: Context) -> set[str]:
        try:
            self.act(_material(context))
        except REPORTED_ERRORS as error:
            self.report({"ERROR"}, error_message(error, "the file of the fabric cannot be used"))
            return {"CANCELLED"}
        return {"FINISHED"}


class WEFT_OT_preset_apply(_OnFabric, Operator):
    bl_idname = "weft.preset_apply"
    bl_label = "Apply Fabric"
    bl_description = "Set all material fields of the active cloth to those of a fabric"

    name: StringProperty(name="Fabric", description="Name of the fabric")

    @classmethod
    def description(cls, _context: Context, properties: OperatorProperties) -> str:
        fabric = presets.all_presets().get(properties.name)
        return fabric.description if fabric and fabric.description else cls.bl_description

    def act(self, material: WeftMaterial) -> None:
        presets.apply(material, self.name)


class WEFT_OT_preset_add(_OnFabric, Operator):
    bl_idname = "weft.preset_add"
    bl_label = "Add Fabric"
    bl_description = (
        "Keep the material as a fabric of your own, a file in Blender's folder for presets"
    )

    title: StringProperty(
        name="Name", description="Name of the new fabric", maxlen=presets.MAX_TITLE_LENGTH
    )

    def invoke(self, context: Context, _event: Event) -> set[str]:
        return context.window_manager.invoke_props_dialog(self)

    def act(self, material: WeftMaterial) -> None:
        fabric = presets.save(self.title, material)
        material.fabric = fabric.name
        previews.make(fabric)


class WEFT_OT_preset_remove(_OnFabric, Operator):
    bl_idname = "weft.preset_remove"
    bl_label = "Remove Fabric"
    bl_description = "Delete the file of this fabric; the settings of the cloth stay"

    @classmethod
    def poll(cls, context: Context) -> bool:
        if not super().poll(context):
            return False
        fabric = presets.all_presets().get(_material(context).fabric)
        if fabric is None or not fabric.is_user_preset:
            cls.poll_message_set("Only fabrics of your own can be removed")
            return False
        return True

    def act(self, material: WeftMaterial) -> None:
        presets.delete(material.fabric)


class WEFT_OT_field_reset(_OnFabric, Operator):
    bl_idname = "weft.field_reset"
    bl_label = "Reset to Fabric"
    bl_description = "Give this field the value of the fabric back"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    field: StringProperty(name="Field", description="Name of the field")

    @classmethod
    def description(cls, context: Context, properties: OperatorProperties) -> str:
        fabric = presets.all_presets().get(_material(context).fabric)
        origin = fabric.origins.get(properties.field, "") if fabric is not None else ""
        return ". ".join(filter(None, (cls.bl_description, origin)))

    def act(self, material: WeftMaterial) -> None:
        presets.reset_field(material, self.field)


class WEFT_MT_fabrics(Menu):
    bl_label = "Fabrics"
    bl_description = "Fabrics with measured properties, and your own"

    def draw(self, _context: Context) -> None:
        layout, was_own = self.layout, False
        for fabric in presets.all_presets().values():
            if fabric.is_user_preset and not was_own:
                layout.separator()
                was_own = True
            picture = previews.icon_id(fabric)
            layout.operator(
                "weft.preset_apply", text=fabric.title, icon_value=picture
            ).name = fabric.name
        for problem in presets.problems():
            layout.label(text=problem, icon="ERROR")


register, unregister = bpy.utils.register_classes_factory(
    (
        WEFT_OT_preset_apply,
        WEFT_OT_preset_add,
        WEFT_OT_preset_remove,
        WEFT_OT_field_reset,
        WEFT_MT_fabrics,
    )
)
