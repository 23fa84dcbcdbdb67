# SPDX-License-Identifier: GPL-3.0-or-later
"""The Weft panels of the physics tab, in the shape of Blender's own cloth panels."""

import textwrap

import bpy
from bpy.types import Context, Panel, UILayout

from . import bake, bridge, fabrics, location, status
from .scene_reader import gravity

CLOTH = {"CLOTH"}
COLLIDER = {"COLLIDER"}
ANY = CLOTH | COLLIDER
LETTER_PIXELS = 6.0  # of Blender's interface font, on average


class _PhysicsPanel:
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"
    roles = ANY

    @classmethod
    def poll(cls, context: Context) -> bool:
        obj = context.object
        return obj is not None and obj.type == "MESH" and obj.weft.role in cls.roles


def _columns(layout: UILayout) -> UILayout:
    """Split properties that flow into columns where there is room; off while baking."""
    layout.use_property_split = True
    layout.use_property_decorate = True
    layout.active = bake.running() is None
    return layout.grid_flow(row_major=False, columns=0, even_columns=True, align=True)


def _props(layout: UILayout, owner: bpy.types.PropertyGroup, **labels: str) -> None:
    """Properties with labels short enough for a narrow panel, whose title has the unit."""
    for name, label in labels.items():
        layout.column().prop(owner, name, text=label)


class PHYSICS_PT_weft(_PhysicsPanel, Panel):
    bl_label = "Weft"
    roles = ANY | {"NONE"}

    def draw(self, context: Context) -> None:
        layout = self.layout
        layout.active = bake.running() is None
        layout.row().prop(context.object.weft, "role", expand=True)
        if bridge.problem():
            _lines(layout, context, bridge.problem(), "ERROR")


class PHYSICS_PT_weft_bake(_PhysicsPanel, Panel):
    bl_label = "Bake"
    bl_parent_id = "PHYSICS_PT_weft"

    def draw(self, context: Context) -> None:
        layout = self.layout
        running = bake.running()
        if running is not None:
            layout.progress(factor=running.factor, text=running.line())
            layout.operator("weft.bake_cancel", icon="CANCEL")
            return
        _draw_buttons(layout)
        if context.object.weft.role == "CLOTH":
            _draw_status(layout, context)
        column = layout.column()
        column.use_property_split = True
        column.use_property_decorate = False
        column.prop(context.scene.weft, "cache_directory")
        if location.is_temporary(context.scene):
            _lines(
                layout,
                context,
                f"Until the file is saved: {location.directory(context.scene)}",
                "INFO",
            )


def _draw_buttons(layout: UILayout) -> None:
    row = layout.row(align=True)
    row.scale_y = 1.2
    row.operator("weft.bake", icon="PHYSICS")
    row.operator("weft.resume", icon="PLAY")
    row = layout.row(align=True)
    row.operator("weft.free", text="Free All", icon="TRASH")
    row.operator("weft.free", text="Free This").only_active = True


def _draw_status(layout: UILayout, context: Context) -> None:
    obj = context.object
    found = status.of(context.scene, context.view_layer, obj)
    box = layout.box()
    if found.outdated:
        _lines(box, context, f"Outdated: {found.outdated}", "ERROR")
    for problem in found.problems:
        _lines(box, context, problem, "ERROR")
    for note in (*found.notes, obj.weft.result.statistic):
        _lines(box, context, note, "INFO")
    if not (found.notes or found.problems):
        box.label(text="Not baked yet", icon="INFO")


def _lines(layout: UILayout, context: Context, text: str, icon: str) -> None:
    """A sentence over as many lines as the width of the panel asks for."""
    pixels = context.region.width / context.preferences.system.ui_scale
    characters = max(16, int((pixels - 80) / LETTER_PIXELS))
    column = layout.column(align=True)
    column.scale_y = 0.8
    for index, line in enumerate(textwrap.wrap(text, characters)):
        column.label(text=line, icon="BLANK1" if index else icon)


class PHYSICS_PT_weft_material(_PhysicsPanel, Panel):
    bl_label = "Physical Properties"
    bl_parent_id = "PHYSICS_PT_weft"
    roles = CLOTH

    def draw(self, context: Context) -> None:
        material = context.object.weft.material
        flow = _columns(self.layout)
        split = flow.column().split(factor=0.4)
        split.alignment = "RIGHT"
        split.label(text="Fabric")
        split.menu("WEFT_MT_fabrics", text=fabrics.label(material))
        _props(flow, material, density="Density (kg/m²)")


class PHYSICS_PT_weft_stiffness(_PhysicsPanel, Panel):
    bl_label = "Stiffness (N/m)"
    bl_parent_id = "PHYSICS_PT_weft_material"
    roles = CLOTH

    def draw(self, context: Context) -> None:
        material = context.object.weft.material
        flow = _columns(self.layout)
        _props(flow, material, stretch_warp="Warp", stretch_weft="Weft", shear="Shear")
        _props(flow, material, poisson="Poisson Ratio")


class PHYSICS_PT_weft_bending(_PhysicsPanel, Panel):
    bl_label = "Bending (µN·m)"
    bl_parent_id = "PHYSICS_PT_weft_material"
    roles = CLOTH

    def draw(self, context: Context) -> None:
        material = context.object.weft.material
        flow = _columns(self.layout)
        _props(flow, material, bend_warp_micro="Warp", bend_weft_micro="Weft")
        row = flow.column().row(heading="Twist")
        row.prop(material, "use_bend_twist", text="")
        twist = row.row()
        twist.active = material.use_bend_twist
        twist.prop(material, "bend_twist_micro", text="")


class PHYSICS_PT_weft_damping(_PhysicsPanel, Panel):
    bl_label = "Damping (s)"
    bl_parent_id = "PHYSICS_PT_weft_material"
    bl_options = {"DEFAULT_CLOSED"}
    roles = CLOTH

    def draw(self, context: Context) -> None:
        material = context.object.weft.material
        flow = _columns(self.layout)
        _props(flow, material, stretch_damping="Stretch", shear_damping="Shear")
        _props(flow, material, bend_damping="Bending")


class PHYSICS_PT_weft_air(_PhysicsPanel, Panel):
    bl_label = "Air"
    bl_parent_id = "PHYSICS_PT_weft_material"
    bl_options = {"DEFAULT_CLOSED"}
    roles = CLOTH

    def draw(self, context: Context) -> None:
        material = context.object.weft.material
        _props(_columns(self.layout), material, air_drag="Drag", air_lift="Lift")


class PHYSICS_PT_weft_shape(_PhysicsPanel, Panel):
    bl_label = "Shape"
    bl_parent_id = "PHYSICS_PT_weft"
    roles = CLOTH

    def draw(self, context: Context) -> None:
        obj = context.object
        flow = _columns(self.layout)
        flow.column().prop_search(obj.weft, "pin_group", obj, "vertex_groups")
        column = flow.column()
        column.active = bool(obj.data.uv_layers)
        column.prop(obj.weft, "use_uv")


class PHYSICS_PT_weft_collisions(_PhysicsPanel, Panel):
    bl_label = "Collisions"
    bl_parent_id = "PHYSICS_PT_weft"

    def draw(self, context: Context) -> None:
        weft = context.object.weft
        owner = weft.material if weft.role == "CLOTH" else weft
        flow = _columns(self.layout)
        _props(flow, owner, thickness="Thickness (m)", friction="Friction")
        if weft.role == "CLOTH":
            _props(flow, context.scene.weft, collider_collection="Collection")


class PHYSICS_PT_weft_self_collisions(_PhysicsPanel, Panel):
    bl_label = "Self Collisions"
    bl_parent_id = "PHYSICS_PT_weft_collisions"
    roles = CLOTH

    def draw_header(self, context: Context) -> None:
        row = self.layout.row()
        row.active = bridge.has_self_collision()
        row.prop(context.scene.weft, "self_collision", text="")

    def draw(self, context: Context) -> None:
        if bridge.has_self_collision():
            text = "For all cloths of the scene. Two layers keep the sum of their thicknesses"
            _lines(self.layout, context, text, "INFO")
        else:
            text = "This version of the library does not keep cloth out of itself yet"
            _lines(self.layout, context, text, "ERROR")


class PHYSICS_PT_weft_frames(_PhysicsPanel, Panel):
    bl_label = "Frames"
    bl_parent_id = "PHYSICS_PT_weft"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        settings = context.scene.weft
        flow = _columns(self.layout)
        _props(flow, settings, use_scene_range="Scene Frame Range")
        column = flow.column(align=True)
        if settings.use_scene_range:
            column.prop(context.scene, "frame_start", text="Start")
            column.prop(context.scene, "frame_end", text="End")
        else:
            column.prop(settings, "frame_start")
            column.prop(settings, "frame_end")
        _props(flow, settings, checkpoint_interval="Checkpoint Every")


class PHYSICS_PT_weft_forces(_PhysicsPanel, Panel):
    bl_label = "Gravity and Wind"
    bl_parent_id = "PHYSICS_PT_weft"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        settings = context.scene.weft
        flow = _columns(self.layout)
        _props(flow, settings, use_scene_gravity="Scene Gravity")
        if settings.use_scene_gravity:
            x, y, z = gravity(context.scene)
            flow.column().label(text=f"{x:.3g}, {y:.3g}, {z:.3g} m/s²")
        else:
            _animated(flow).prop(settings, "gravity")
        _animated(flow).prop(settings, "wind")
        _props(flow, settings, air_density="Air (kg/m³)")


class PHYSICS_PT_weft_solver(_PhysicsPanel, Panel):
    bl_label = "Solver"
    bl_parent_id = "PHYSICS_PT_weft"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        settings = context.scene.weft
        flow = _columns(self.layout)
        _props(flow, settings, integrator="Integrator", time_step="Longest Step (s)")
        _props(flow, settings, tolerance="Tolerance", max_iterations="Iterations")
        _props(flow, settings, threads="Threads")


def _animated(layout: UILayout) -> UILayout:
    column = layout.column()
    column.use_property_decorate = True
    return column


register, unregister = bpy.utils.register_classes_factory(
    (
        PHYSICS_PT_weft,
        PHYSICS_PT_weft_bake,
        PHYSICS_PT_weft_material,
        PHYSICS_PT_weft_stiffness,
        PHYSICS_PT_weft_bending,
        PHYSICS_PT_weft_damping,
        PHYSICS_PT_weft_air,
        PHYSICS_PT_weft_shape,
        PHYSICS_PT_weft_collisions,
        PHYSICS_PT_weft_self_collisions,
        PHYSICS_PT_weft_frames,
        PHYSICS_PT_weft_forces,
        PHYSICS_PT_weft_solver,
    )
)
