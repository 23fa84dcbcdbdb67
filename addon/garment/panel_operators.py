# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators of the panels of a garment that was imported: fabric, edge length, arrangement."""

import bpy
import numpy as np
from bpy.props import EnumProperty, FloatProperty
from bpy.types import Context, Event, Object, Operator

from ..blender import mesh_arrays
from ..blender.errors import REPORTED_ERRORS, error_message
from ..fabrics import presets
from ..properties import change_counter
from ..properties.fabric import as_decimal
from . import pattern_mesh
from .arrangement import wrapping
from .operators import OnGarment, collider_geometries


class _OnPanels(OnGarment):
    """Operator on the chosen panels of the active garment."""

    @classmethod
    def poll(cls, context: Context) -> bool:
        if not super().poll(context):
            return False
        obj = context.object
        if not obj.weft.garment.panels:
            cls.poll_message_set("This cloth was not imported from a sewing pattern")
            return False
        if obj.mode != "OBJECT" or _has_shapes(obj):
            cls.poll_message_set("Needs object mode, and no dressed shape, shape keys or result")
            return False
        return True

    def execute(self, context: Context) -> set[str]:
        try:
            remarks = self.act(context, context.object)
        except REPORTED_ERRORS as error:
            self.report({"ERROR"}, error_message(error))
            return {"CANCELLED"}
        for remark in remarks:
            self.report({"WARNING"}, remark)
        change_counter.increment()
        return {"FINISHED"}


def _has_shapes(obj: Object) -> bool:
    """Whether the mesh of an object is not that of its panels alone."""
    has_keys = obj.data.shape_keys is not None
    return has_keys or obj.weft.garment.panels_mesh is not None or obj.weft.result.shown


def _fabrics(_self: Operator, _context: Context | None) -> list[tuple[str, str, str]]:
    # Blender does not keep the strings of its items.
    _fabrics.items = [("NONE", "As the Garment", "The fabric of the other panels")]
    found = presets.all_presets().values()
    _fabrics.items += [(one.name, one.title, one.description) for one in found]
    return _fabrics.items


class WEFT_OT_panel_fabric(_OnPanels, Operator):
    bl_idname = "weft.panel_fabric"
    bl_label = "Fabric of Panels"
    bl_description = (
        "Give the chosen panels a fabric. The cloth gets the fabric of the largest area, the other "
        "panels get factors on it in vertex groups"
    )

    fabric: EnumProperty(name="Fabric", description="Fabric of the panels", items=_fabrics)

    def act(self, _context: Context, obj: Object) -> list[str]:
        garment = obj.weft.garment
        for index in garment.chosen_panels():
            garment.panels[index].fabric = "" if self.fabric == "NONE" else self.fabric
        return pattern_mesh.fabrics_again(obj)


class WEFT_OT_panel_edge_length(_OnPanels, Operator):
    bl_idname = "weft.panel_edge_length"
    bl_label = "Edge Length of Panels"
    bl_description = (
        "Mesh the garment again from its pattern, the chosen panels with edges of this length. "
        "Panels go back to where the pattern places them; weights, pins and seams that were made "
        "in Blender are lost"
    )

    edge_length: FloatProperty(
        name="Edge Length (m)",
        description="Length of the edges of the chosen panels, in m; 0 for that of the garment",
        default=0.01,
        min=0.0,
        soft_max=0.1,
        precision=3,
    )

    def invoke(self, context: Context, _event: Event) -> set[str]:
        return context.window_manager.invoke_props_dialog(self)

    def act(self, context: Context, obj: Object) -> list[str]:
        garment = obj.weft.garment
        chosen = garment.chosen_panels()
        before = [garment.panels[index].edge_length for index in chosen]
        for index in chosen:
            garment.panels[index].edge_length = self.edge_length
        try:
            return pattern_mesh.mesh_again(context, obj)
        except ValueError:
            for index, length in zip(chosen, before, strict=True):
                garment.panels[index].edge_length = length
            raise


class WEFT_OT_panel_wrap(_OnPanels, Operator):
    bl_idname = "weft.panel_wrap"
    bl_label = "Wrap around Limb"
    bl_description = (
        "Bend the chosen panels around the part of a collider that is beside them, without a "
        "change of their lengths, each with its middle on the side where it is. Choose those that "
        "go around one limb, as both halves of a sleeve"
    )

    axis: EnumProperty(
        name="Along Limb",
        description="Direction of the panels along the limb",
        items=(
            ("WARP", "Grain", "The grain of the panels runs along the limb"),
            ("WEFT", "Across Grain", "The grain of the panels runs around the limb"),
        ),
    )
    clearance: FloatProperty(
        name="Clearance (m)",
        description="Least distance from the limb, in m",
        default=0.01,
        min=0.002,
        soft_max=0.1,
        precision=3,
    )

    def act(self, context: Context, obj: Object) -> list[str]:
        bodies = collider_geometries(context)
        if not bodies:
            raise ValueError("there is no collider: mark the figure as one")
        starts = np.cumsum([0, *(len(body.points) for body in bodies)])
        points = np.concatenate([body.points for body in bodies])
        triangles = np.concatenate(
            [body.triangles + first for body, first in zip(bodies, starts, strict=False)]
        )
        scale = context.scene.unit_settings.scale_length
        to_world = np.array(obj.matrix_world, np.float64)
        placed = mesh_arrays.transformed(mesh_arrays.coordinates(obj.data), to_world) * scale
        vertices, panels = self._chosen(obj, placed)
        around = wrapping.limb(points, triangles, panels)
        for own, bent in zip(
            vertices, wrapping.wrapped(panels, around, as_decimal(self.clearance)), strict=True
        ):
            placed[own] = bent
        moved = mesh_arrays.transformed(placed / scale, np.linalg.inv(to_world))
        obj.data.vertices.foreach_set("co", moved.astype(np.float32).ravel())
        obj.data.update()
        return []

    def _chosen(
        self, obj: Object, placed: np.ndarray
    ) -> tuple[list[np.ndarray], list[wrapping.FlatPanel]]:
        """Vertices of the chosen panels, and the panels as planes."""
        flat = np.zeros((len(placed), 2))
        flat[mesh_arrays.corner_vertices(obj.data)] = mesh_arrays.active_uv(obj.data)
        garment = obj.weft.garment
        names = [garment.panels[index].name for index in garment.chosen_panels()]
        vertices = [mesh_arrays.grouped_vertices(obj, name) for name in names]
        along_warp = self.axis == "WARP"
        return vertices, [
            wrapping.flat_panel(flat[own], placed[own], along_warp) for own in vertices
        ]


register, unregister = bpy.utils.register_classes_factory(
    (WEFT_OT_panel_fabric, WEFT_OT_panel_edge_length, WEFT_OT_panel_wrap)
)
