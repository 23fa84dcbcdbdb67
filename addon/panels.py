# SPDX-License-Identifier: GPL-3.0-or-later
"""The Weft panels of the physics tab, in the shape of Blender's own cloth panels."""

import textwrap

import bpy
from bpy.types import Context, Panel, UILayout

from . import bake, bridge, location, presets, status
from .scene_reader import gravity

CLOTH = {"CLOTH"}
COLLIDER = {"COLLIDER"}
ANY = CLOTH | COLLIDER


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
    layout.active = bake.running() is None
    return layout.grid_flow(row_major=False, columns=0, even_columns=True, align=True)


def _props(layout: UILayout, owner: bpy.types.PropertyGroup, *names: str) -> None:
    for name in names:
        layout.column().prop(owner, name)


class PHYSICS_PT_weft(_PhysicsPanel, Panel):
    bl_label = "Weft"
    roles = ANY | {"NONE"}

    def draw(self, context: Context) -> None:
        layout = self.layout
        layout.active = bake.running() is None
        layout.row().prop(context.object.weft, "role", expand=True)
        if bridge.problem():
            _lines(layout, bridge.problem(), "ERROR")


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
        split.menu("WEFT_MT_presets", text=presets.label(material))
        _props(flow, material, "density")


class PHYSICS_PT_weft_stiffness(_PhysicsPanel, Panel):
    bl_label = "Stiffness"
    bl_parent_id = "PHYSICS_PT_weft_material"
    roles = CLOTH

    def draw(self, context: Context) -> None:
        material = context.object.weft.material
        flow = _columns(self.layout)
        _props(flow, material, "stretch_warp", "stretch_weft", "shear", "poisson")


class PHYSICS_PT_weft_bending(_PhysicsPanel, Panel):
    bl_label = "Bending"
    bl_parent_id = "PHYSICS_PT_weft_material"
    roles = CLOTH

    def draw(self, context: Context) -> None:
        material = context.object.weft.material
        flow = _columns(self.layout)
        _props(flow, material, "bend_warp_micro", "bend_weft_micro", "use_bend_twist")
        if material.use_bend_twist:
            _props(flow, material, "bend_twist_micro")


class PHYSICS_PT_weft_damping(_PhysicsPanel, Panel):
    bl_label = "Damping"
    bl_parent_id = "PHYSICS_PT_weft_material"
    bl_options = {"DEFAULT_CLOSED"}
    roles = CLOTH

    def draw(self, context: Context) -> None:
        material = context.object.weft.material
        flow = _columns(self.layout)
        _props(flow, material, "stretch_damping", "shear_damping", "bend_damping")


class PHYSICS_PT_weft_air(_PhysicsPanel, Panel):
    bl_label = "Air"
    bl_parent_id = "PHYSICS_PT_weft_material"
    bl_options = {"DEFAULT_CLOSED"}
    roles = CLOTH

    def draw(self, context: Context) -> None:
        _props(_columns(self.layout), context.object.weft.material, "air_drag", "air_lift")


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
        _props(_columns(self.layout), owner, "thickness", "friction")


class PHYSICS_PT_weft_scene(_PhysicsPanel, Panel):
    bl_label = "Scene"
    bl_parent_id = "PHYSICS_PT_weft"

    def draw(self, context: Context) -> None:
        scene = context.scene
        flow = _columns(self.layout)
        _props(flow, scene.weft, "use_scene_range")
        if not scene.weft.use_scene_range:
            column = flow.column(align=True)
            column.prop(scene.weft, "frame_start")
            column.prop(scene.weft, "frame_end")
        _props(flow, scene.weft, "use_scene_gravity")
        if scene.weft.use_scene_gravity:
            x, y, z = gravity(scene)
            flow.column().label(text=f"Gravity: {x:.3g}, {y:.3g}, {z:.3g} m/s²")
        else:
            _props(flow, scene.weft, "gravity")
        _props(flow, scene.weft, "wind", "air_density")


class PHYSICS_PT_weft_solver(_PhysicsPanel, Panel):
    bl_label = "Solver"
    bl_parent_id = "PHYSICS_PT_weft"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        flow = _columns(self.layout)
        settings = context.scene.weft
        _props(flow, settings, "integrator", "time_step", "tolerance", "max_iterations", "threads")


class PHYSICS_PT_weft_cache(_PhysicsPanel, Panel):
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
        column.prop(context.scene.weft, "cache_directory")
        if location.is_temporary(context.scene):
            _lines(layout, f"Until the file is saved: {location.directory(context.scene)}", "INFO")
        column.prop(context.scene.weft, "checkpoint_interval")


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
        _lines(box, f"Outdated: {found.outdated}", "ERROR")
    for problem in found.problems:
        _lines(box, problem, "ERROR")
    for note in (*found.notes, obj.weft.result.statistic):
        _lines(box, note, "INFO")
    if not (found.notes or found.problems):
        box.label(text="Not baked yet", icon="INFO")


def _lines(layout: UILayout, text: str, icon: str) -> None:
    """A sentence over as many lines as a narrow panel needs."""
    column = layout.column(align=True)
    column.scale_y = 0.8
    for index, line in enumerate(textwrap.wrap(text, 48)):
        column.label(text=line, icon="BLANK1" if index else icon)


register, unregister = bpy.utils.register_classes_factory(
    (
        PHYSICS_PT_weft,
        PHYSICS_PT_weft_material,
        PHYSICS_PT_weft_stiffness,
        PHYSICS_PT_weft_bending,
        PHYSICS_PT_weft_damping,
        PHYSICS_PT_weft_air,
        PHYSICS_PT_weft_shape,
        PHYSICS_PT_weft_collisions,
        PHYSICS_PT_weft_scene,
        PHYSICS_PT_weft_solver,
        PHYSICS_PT_weft_cache,
    )
)
