# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels of cloths and colliders, arranged like Blender's own cloth panels."""

import bpy
from bpy.types import Context, Object, Panel, UILayout

from ..bake import job
from ..fabrics import presets
from ..properties.attachment import WeftAttachment
from ..properties.fabric import WeftMaterial
from .panel_parts import CLOTH, PhysicsPanel, SwitchedPanel, columns, props, wrapped_text

# --- pins -------------------------------------------------------------------------------------


class PHYSICS_PT_weft_pins(PhysicsPanel, Panel):
    bl_label = "Pins"
    bl_parent_id = "PHYSICS_PT_weft"
    bl_options = {"DEFAULT_CLOSED"}
    roles = CLOTH

    def draw(self, context: Context) -> None:
        layout, obj = self.layout, context.object
        flow = columns(layout)
        flow.column().prop_search(obj.weft, "pin_group", obj, "vertex_groups")
        column = flow.column()
        column.active = bool(obj.weft.pin_group)
        props(column, obj.weft, pin_strength="Strength")
        for index, attachment in enumerate(obj.weft.attachments):
            self.draw_attachment(layout.box(), obj, attachment, index)
        layout.operator("weft.attach", icon="LINKED")
        if obj.weft.pin_group or obj.weft.attachments:
            row = layout.row()
            row.prop(obj.weft, "pin_stiffness")
            row.prop_decorator(obj.weft, "pin_stiffness")
        if obj.weft.pin_group:
            layout.operator("weft.release", icon="UNLINKED")

    def draw_attachment(
        self, box: UILayout, obj: Object, attachment: WeftAttachment, index: int
    ) -> None:
        row = box.row(align=True)
        row.prop_search(attachment, "vertex_group", obj, "vertex_groups", text="Group")
        row.operator("weft.detach", text="", icon="TRASH").index = index
        column = box.column()
        props(column, attachment, target="To", follow="Follow", strength="Strength")
        text = "Release This at This Frame"
        box.operator("weft.release", text=text, icon="UNLINKED").index = index


# --- fabric -----------------------------------------------------------------------------------


class PHYSICS_PT_weft_material(PhysicsPanel, Panel):
    bl_label = "Physical Properties"
    bl_parent_id = "PHYSICS_PT_weft"
    roles = CLOTH

    def draw(self, context: Context) -> None:
        layout, material = self.layout, context.object.weft.material
        layout.enabled = job.running() is None
        row = layout.row(align=True)
        row.menu("WEFT_MT_fabrics", text=presets.label(material))
        row.operator("weft.preset_add", text="", icon="ADD")
        row.operator("weft.preset_remove", text="", icon="REMOVE")
        layout.template_icon_view(
            context.window_manager.weft, "fabric_card", show_labels=True, scale=5.0
        )
        column = layout.column(align=True)
        for name in ("stiffness", "weight", "stretchiness", "damping"):
            column.prop(material, name, slider=True)


class PHYSICS_PT_weft_numbers(PhysicsPanel, Panel):
    bl_label = "Numbers"
    bl_parent_id = "PHYSICS_PT_weft_material"
    bl_options = {"DEFAULT_CLOSED"}
    roles = CLOTH

    def draw(self, context: Context) -> None:
        self.layout.enabled = job.running() is None
        _wide_field(self.layout, context.object.weft.material, "density")


class PHYSICS_PT_weft_stiffness(PhysicsPanel, Panel):
    bl_label = "Stiffness (N/m)"
    bl_parent_id = "PHYSICS_PT_weft_numbers"
    roles = CLOTH

    def draw(self, context: Context) -> None:
        material = context.object.weft.material
        flow = columns(self.layout)
        _fields(flow, material, stretch_warp="Warp", stretch_weft="Weft", shear="Shear")
        _fields(flow, material, poisson="Poisson Ratio")


class PHYSICS_PT_weft_bending(PhysicsPanel, Panel):
    bl_label = "Bending (µN·m)"
    bl_parent_id = "PHYSICS_PT_weft_numbers"
    roles = CLOTH

    def draw(self, context: Context) -> None:
        material = context.object.weft.material
        flow = columns(self.layout)
        _fields(flow, material, bend_warp="Warp", bend_weft="Weft")
        row = flow.column().row(heading="Twist")
        row.prop(material, "use_bend_twist", text="")
        twist = row.row()
        twist.active = material.use_bend_twist
        twist.prop(material, "bend_twist_micro", text="")
        row.prop_decorator(material, "bend_twist_micro")
        _reset(row, material, "bend_twist")


class PHYSICS_PT_weft_damping(PhysicsPanel, Panel):
    bl_label = "Damping (s)"
    bl_parent_id = "PHYSICS_PT_weft_numbers"
    bl_options = {"DEFAULT_CLOSED"}
    roles = CLOTH

    def draw(self, context: Context) -> None:
        material = context.object.weft.material
        flow = columns(self.layout)
        _fields(flow, material, stretch_damping="Stretch", shear_damping="Shear")
        _fields(flow, material, bend_damping="Bending")


class PHYSICS_PT_weft_air(PhysicsPanel, Panel):
    bl_label = "Air"
    bl_parent_id = "PHYSICS_PT_weft_numbers"
    bl_options = {"DEFAULT_CLOSED"}
    roles = CLOTH

    def draw(self, context: Context) -> None:
        material = context.object.weft.material
        _fields(columns(self.layout), material, air_drag="Drag", air_lift="Lift")


CURVES = {
    "stretch_warp_curve": "Stretch Warp",
    "stretch_weft_curve": "Stretch Weft",
    "shear_curve": "Shear",
    "bend_warp_curve": "Bend Warp",
    "bend_weft_curve": "Bend Weft",
}


class PHYSICS_PT_weft_memory(PhysicsPanel, Panel):
    bl_label = "Curves and Memory"
    bl_parent_id = "PHYSICS_PT_weft_numbers"
    bl_options = {"DEFAULT_CLOSED"}
    roles = CLOTH

    def draw(self, context: Context) -> None:
        material = context.object.weft.material
        flow = columns(self.layout)
        has_curvature = context.scene.weft.has_curvature()
        if not has_curvature:
            text = "Bending not with Mass-Spring and with the membrane bending of Particles"
            is_used = any(name.startswith("bend_") for name in material.options())
            wrapped_text(self.layout, context, text, "ERROR" if is_used else "INFO")
        for name, label in CURVES.items():
            row = flow.column().row(align=True)
            row.active = has_curvature or not name.startswith("bend_")
            row.prop(material, name, text=label)
            _reset(row, material, name)
        row = flow.column().row(align=True)
        row.prop(material, "quality_q")
        _reset(row, material, "quality")
        column = flow.column()
        column.active = material.quality_q > 0.0
        props(column, material, quality_low="From (Hz)", quality_high="To (Hz)")


def _fields(layout: UILayout, material: WeftMaterial, **labels: str) -> None:
    """Fields of the fabric, with a reset button where they differ from the preset."""
    for name, label in labels.items():
        row = layout.column().row(align=True)
        stored = f"{name}_micro" if hasattr(material, f"{name}_micro") else name
        row.prop(material, stored, text=label)
        _reset(row, material, name)


def _wide_field(layout: UILayout, material: WeftMaterial, name: str) -> None:
    """A field whose label needs the full width."""
    row = layout.row(align=True)
    row.use_property_split = False
    row.prop(material, name)
    row.prop_decorator(material, name)
    _reset(row, material, name)


def _reset(row: UILayout, material: WeftMaterial, name: str) -> None:
    if name in presets.changed_fields(material):
        row.operator("weft.field_reset", text="", icon="LOOP_BACK", emboss=False).field = name


# --- shape ------------------------------------------------------------------------------------


class PHYSICS_PT_weft_shape(PhysicsPanel, Panel):
    bl_label = "Shape"
    bl_parent_id = "PHYSICS_PT_weft"
    bl_options = {"DEFAULT_CLOSED"}
    roles = CLOTH

    def draw(self, context: Context) -> None:
        obj = context.object
        flow = columns(self.layout)
        props(flow, obj.weft, rest_shape="Rest Shape")
        if obj.weft.rest_shape == "KEY" and obj.data.shape_keys is not None:
            flow.column().prop_search(obj.weft, "rest_key", obj.data.shape_keys, "key_blocks")
        elif obj.weft.rest_shape == "PATTERN":
            props(flow, obj.weft, pattern_size="Size (m)")
        props(flow, obj.weft, shrink="Shrink")
        column = flow.column()
        column.active = bool(obj.data.uv_layers)
        column.prop(obj.weft, "use_uv", text="UV Yarns")


class PHYSICS_PT_weft_sewing(SwitchedPanel, Panel):
    bl_label = "Sewing"
    bl_parent_id = "PHYSICS_PT_weft_shape"
    bl_options = {"DEFAULT_CLOSED"}
    switch = "use_sewing"

    def draw_settings(self, context: Context, flow: UILayout) -> None:
        props(flow, context.object.weft, sewing_time="Time (s)", sewing_force="Force (N)")


class PHYSICS_PT_weft_internal_springs(SwitchedPanel, Panel):
    bl_label = "Internal Springs"
    bl_parent_id = "PHYSICS_PT_weft_shape"
    bl_options = {"DEFAULT_CLOSED"}
    switch = "use_internal_springs"

    def draw_settings(self, context: Context, flow: UILayout) -> None:
        obj = context.object
        props(
            flow,
            obj.weft,
            internal_spring_max_length="Max Creation Length (m)",
            internal_spring_max_diversion="Max Creation Diversion",
            internal_spring_normal_check="Check Surface Normals",
            internal_tension="Tension (N/m³)",
            internal_compression="Compression (N/m³)",
            internal_damping="Damping (s)",
        )
        flow.column().prop_search(obj.weft, "internal_group", obj, "vertex_groups", text="Group")
        column = flow.column()
        column.active = bool(obj.weft.internal_group)
        props(column, obj.weft, internal_tension_max="Max Tension (N/m³)")
        props(column, obj.weft, internal_compression_max="Max Compression (N/m³)")


class PHYSICS_PT_weft_pressure(SwitchedPanel, Panel):
    bl_label = "Pressure"
    bl_parent_id = "PHYSICS_PT_weft_shape"
    bl_options = {"DEFAULT_CLOSED"}
    switch = "use_pressure"

    def draw_settings(self, context: Context, flow: UILayout) -> None:
        obj = context.object
        props(flow, obj.weft, pressure="Pressure (Pa)", use_volume="Keep Volume")
        column = flow.column()
        column.active = obj.weft.use_volume
        props(column, obj.weft, target_volume="Volume (m³)", volume_stiffness="Stiffness (Pa)")
        props(flow, obj.weft, fluid_density="Fluid Density (kg/m³)")
        flow.column().prop_search(obj.weft, "pressure_group", obj, "vertex_groups", text="Group")


# --- collisions -------------------------------------------------------------------------------


class PHYSICS_PT_weft_collisions(PhysicsPanel, Panel):
    bl_label = "Collisions"
    bl_parent_id = "PHYSICS_PT_weft"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        weft = context.object.weft
        flow = columns(self.layout)
        if weft.role == "CLOTH":
            _wide_field(flow.column(), weft.material, "thickness")
            _fields(flow, weft.material, friction="Friction")
        else:
            row = flow.column()
            row.use_property_split = False
            row.prop(weft, "thickness")
            props(flow, weft, friction="Friction")


class PHYSICS_PT_weft_object_collisions(SwitchedPanel, Panel):
    bl_label = "Object Collisions"
    bl_parent_id = "PHYSICS_PT_weft_collisions"
    switch = "use_collision"

    def draw_settings(self, context: Context, flow: UILayout) -> None:
        obj = context.object
        flow.column().prop_search(obj.weft, "collision_group", obj, "vertex_groups", text="Exclude")
        props(flow, obj.weft, collision_collection="Collection")
        props(flow, context.scene.weft, collider_collection="All Cloths")
        props(flow, context.scene.weft, only_visible="Visible Only")


class PHYSICS_PT_weft_self_collisions(SwitchedPanel, Panel):
    bl_label = "Self Collisions"
    bl_parent_id = "PHYSICS_PT_weft_collisions"
    switch = "use_self_collision"

    def draw_settings(self, context: Context, flow: UILayout) -> None:
        obj = context.object
        column = flow.column()
        column.prop_search(obj.weft, "self_collision_group", obj, "vertex_groups", text="Exclude")
        props(flow, context.scene.weft, self_collision="All Cloths")
        props(flow, obj.weft, layer="Layer")
        text = "Two layers keep the sum of their thicknesses, other cloths as well"
        wrapped_text(self.layout, context, text, "INFO")


# --- weights ----------------------------------------------------------------------------------


WEIGHTED = {
    "stretch": "Stretch",
    "shear": "Shear",
    "bend": "Bending",
    "density": "Density",
    "friction": "Friction",
    "shrink": "Shrink",
}


class PHYSICS_PT_weft_property_weights(PhysicsPanel, Panel):
    bl_label = "Property Weights"
    bl_parent_id = "PHYSICS_PT_weft"
    bl_options = {"DEFAULT_CLOSED"}
    roles = CLOTH

    def draw(self, context: Context) -> None:
        obj = context.object
        flow = columns(self.layout)
        for name, label in WEIGHTED.items():
            column = flow.column()
            column.prop_search(obj.weft, f"{name}_group", obj, "vertex_groups", text=label)
            maximum = f"{name}_max" if hasattr(obj.weft, f"{name}_max") else f"{name}_factor"
            column = flow.column()
            column.active = bool(getattr(obj.weft, f"{name}_group"))
            column.prop(obj.weft, maximum, text="kg/m²" if name == "density" else "Max")
            if name == "shrink":
                column.prop(obj.weft, "shrink_yarns", text="Yarns")


FIELDS_IN_SHORT = {"lennardjones": "Lennard"}


class PHYSICS_PT_weft_field_weights(PhysicsPanel, Panel):
    bl_label = "Field Weights"
    bl_parent_id = "PHYSICS_PT_weft"
    bl_options = {"DEFAULT_CLOSED"}
    roles = CLOTH

    def draw(self, context: Context) -> None:
        weights = context.object.weft.field_weights
        flow = columns(self.layout)
        props(flow, weights, collection="Collection")
        for name in weights.factors():
            text = FIELDS_IN_SHORT.get(name, weights.bl_rna.properties[name].name)
            flow.column().prop(weights, name, text=text, slider=True)


register, unregister = bpy.utils.register_classes_factory(
    (
        PHYSICS_PT_weft_pins,
        PHYSICS_PT_weft_material,
        PHYSICS_PT_weft_numbers,
        PHYSICS_PT_weft_stiffness,
        PHYSICS_PT_weft_bending,
        PHYSICS_PT_weft_damping,
        PHYSICS_PT_weft_air,
        PHYSICS_PT_weft_memory,
        PHYSICS_PT_weft_shape,
        PHYSICS_PT_weft_sewing,
        PHYSICS_PT_weft_internal_springs,
        PHYSICS_PT_weft_pressure,
        PHYSICS_PT_weft_collisions,
        PHYSICS_PT_weft_object_collisions,
        PHYSICS_PT_weft_self_collisions,
        PHYSICS_PT_weft_property_weights,
        PHYSICS_PT_weft_field_weights,
    )
)
