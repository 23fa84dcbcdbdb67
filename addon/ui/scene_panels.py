# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels of the scene settings and of the viewport overlay."""

import bpy
from bpy.types import Context, Panel

from ..scene.reader import gravity
from .panel_parts import CLOTH, PhysicsPanel, columns, props


class PHYSICS_PT_weft_forces(PhysicsPanel, Panel):
    bl_label = "Gravity and Wind"
    bl_parent_id = "PHYSICS_PT_weft"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        settings = context.scene.weft
        flow = columns(self.layout)
        props(flow, settings, use_scene_gravity="Scene Gravity")
        if settings.use_scene_gravity:
            x, y, z = gravity(context.scene)
            flow.column().label(text=f"{x:.3g}, {y:.3g}, {z:.3g} m/s²")
        else:
            flow.column().prop(settings, "gravity", text="(m/s²)")
        flow.column().prop(settings, "wind")
        props(flow, settings, air_density="Air (kg/m³)")


class PHYSICS_PT_weft_solver(PhysicsPanel, Panel):
    bl_label = "Solver"
    bl_parent_id = "PHYSICS_PT_weft"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        settings = context.scene.weft
        flow = columns(self.layout)
        props(flow, settings, model="Model", integrator="Integrator")
        column = flow.column()
        column.active = settings.has_solver()
        props(column, settings, solver="Solver")
        props(flow, settings, speed="Speed")
        props(flow, settings, time_step="Step (s)", tolerance="Tolerance")
        props(flow, settings, max_iterations="Iterations", threads="Threads")


class PHYSICS_PT_weft_overlay(PhysicsPanel, Panel):
    bl_label = "Viewport Overlay"
    bl_parent_id = "PHYSICS_PT_weft"
    bl_options = {"DEFAULT_CLOSED"}
    roles = CLOTH

    def draw(self, context: Context) -> None:
        window = context.window_manager.weft
        flow = columns(self.layout)
        self.layout.enabled = True  # also during a bake
        props(flow, window, overlay="Show")
        if window.overlay == "STRETCH":
            props(flow, window, overlay_stretch="Red at (%)")


register, unregister = bpy.utils.register_classes_factory(
    (PHYSICS_PT_weft_forces, PHYSICS_PT_weft_solver, PHYSICS_PT_weft_overlay)
)
