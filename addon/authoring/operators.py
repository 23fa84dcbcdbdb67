# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that add garments made in Blender, in the menu *Add, Cloth*."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np
from bpy.props import EnumProperty, FloatProperty, IntProperty, StringProperty
from bpy.types import Context, Menu, Mesh, Object, Operator

from ..blender import scene_time
from ..garment.operators import AddsGarment
from ..garment.pattern_mesh import PatternGarment
from ..properties.fabric import as_decimal
from ..scene import geometry
from ..simulation import bridge
from . import outlines, panels
from .around import Cut, TwoPanels
from .body_sections import BodySections
from .modelled import ModelledGarment
from .revolution import Cone

CAPE_ANGLE = math.radians(320.0)  # of a cape that opens to the front
CONES = {
    "Skirt": {"upper_radius": 0.13, "lower_radius": 0.3, "length": 0.6},
    "Tube": {"upper_radius": 0.2, "lower_radius": 0.2, "length": 0.8},
    "Cape": {"upper_radius": 0.12, "lower_radius": 0.75, "length": 0.9, "angle": CAPE_ANGLE},
}


class _OfActive(AddsGarment):
    """Operator that makes a garment of the active object."""

    types = ("MESH",)

    @classmethod
    def poll(cls, context: Context) -> bool:
        if context.object is None or context.object.type not in cls.types:
            cls.poll_message_set(f"Needs an active {' or '.join(cls.types).lower()}")
            return False
        return super().poll(context)


class WEFT_OT_cloth_from_outline(_OfActive, Operator):
    bl_idname = "weft.cloth_from_outline"
    bl_label = "Cloth from Outline"
    bl_description = (
        "Add a cloth of the panels that the closed splines of the active curve, or the border of "
        "the active mesh, outline; outlines within others are cut out"
    )
    types = ("CURVE", "MESH")

    grain: FloatProperty(
        name="Grain",
        description="Direction of the warp, from the horizontal of the panel upwards",
        default=math.pi / 2.0,
        min=-math.pi,
        max=math.pi,
        subtype="ANGLE",
    )

    def pattern_and_name(self, context: Context) -> tuple[Any, str]:
        obj = context.object
        with _shown_mesh(context, obj) as mesh:
            found = outlines.panels_of(obj, mesh, _scale(context), math.degrees(self.grain))
        return _pattern(found, []), f"{obj.name} Cloth"


class WEFT_OT_cloth_around(_OfActive, Operator):
    bl_idname = "weft.cloth_around"
    bl_label = "Two Panels around Object"
    bl_description = (
        "Add a front and a back panel around the active figure, as wide as its girths and an ease, "
        "which Dress sews together. The figure stands upright, with its front to its own -Y"
    )
    types = ("MESH",)

    kind: EnumProperty(
        name="Top",
        description="Where the garment hangs",
        items=(
            ("SHOULDERS", "Shoulders", "Sewn over the shoulders, with armholes and a neckline"),
            ("OPEN", "Open", "A skirt or a tube, which hangs on what is wider below its top"),
        ),
    )
    top: FloatProperty(
        name="Height of Top (m)",
        description="Height of an open top above the lowest point of the figure, in m; 0 for the "
        "waist",
        min=0.0,
        soft_max=2.0,
        precision=3,
    )
    length: FloatProperty(
        name="Length (m)",
        description="From the top, or from the shoulders, to the hem, in m",
        default=0.6,
        min=0.05,
        soft_max=1.5,
        precision=3,
    )
    ease: FloatProperty(
        name="Ease (m)",
        description="What the garment is wider than the figure all round, in m",
        default=0.06,
        min=0.0,
        soft_max=0.5,
        precision=3,
    )
    flare: FloatProperty(
        name="Flare (m)",
        description="What the hem is wider beyond that, in m",
        min=0.0,
        soft_max=2.0,
        precision=3,
    )

    def pattern_and_name(self, context: Context) -> tuple[Any, str]:
        figure = context.object
        points, triangles = _surface(context, figure)
        self._is_linked = figure.library is not None
        front = -np.array(figure.matrix_world, np.float64)[:3, 1]
        yaw = math.atan2(front[0], -front[1])
        self._yaw, turned = yaw, points @ _turned(yaw)[:3, :3]
        self._made = made = TwoPanels(BodySections(turned, triangles), self._cut())
        placed = [_moved(panel, _turned(yaw)) for panel in made.panels()]
        return _pattern(placed, made.stitches()), f"{figure.name} Garment"

    def finish(self, context: Context, garment: PatternGarment) -> None:
        if context.object.weft.role == "NONE":
            context.object.weft.role = "COLLIDER"
        meshed, mesh = garment.meshed, garment.obj.data
        bent = self._made.shape(meshed.flat, meshed.panel_starts) @ _turned(self._yaw)[:3, :3].T
        mesh.vertices.foreach_set("co", (bent / _scale(context)).astype(np.float32).ravel())
        mesh.update()

    def remarks(self, context: Context, _pattern: Any) -> list[str]:
        current, first = context.scene.frame_current, scene_time.frame_range(context.scene)[0]
        found = []
        if current != first:
            found.append(f"measured at frame {current}: Dress sews it around frame {first}")
        if self._is_linked:
            found.append(
                "the figure is linked: it is a collider in this file with an override only"
            )
        return found

    def _cut(self) -> Cut:
        lengths = {name: as_decimal(getattr(self, name)) for name in ("length", "ease", "flare")}
        return Cut(is_open=self.kind == "OPEN", top=as_decimal(self.top) or None, **lengths)


class WEFT_OT_cloth_revolution(AddsGarment, Operator):
    bl_idname = "weft.cloth_revolution"
    bl_label = "Cloth of Revolution"
    bl_description = (
        "Add a skirt, a tube or a cape about the 3D cursor, of equal panels that are sewn already"
    )

    title: StringProperty(name="Name", description="Name of the garment", default="Skirt")
    upper_radius: FloatProperty(
        name="Upper Radius (m)", description="In m", default=0.13, min=0.01, soft_max=1.0
    )
    lower_radius: FloatProperty(
        name="Lower Radius (m)", description="In m", default=0.3, min=0.01, soft_max=2.0
    )
    length: FloatProperty(
        name="Length (m)",
        description="From rim to rim along the cloth, in m",
        default=0.6,
        min=0.02,
        soft_max=2.0,
    )
    angle: FloatProperty(
        name="Angle",
        description="How far it goes round; what is left out opens to the front",
        default=2.0 * math.pi,
        min=math.radians(20.0),
        max=2.0 * math.pi,
        subtype="ANGLE",
    )
    count: IntProperty(
        name="Panels", description="Number of panels", default=2, min=1, soft_max=12, max=64
    )

    def pattern_and_name(self, _context: Context) -> tuple[Any, str]:
        cone = self._cone()
        cone.check()
        return _pattern(cone.panels(), cone.stitches()), self.title

    def finish(self, context: Context, garment: PatternGarment) -> None:
        meshed = garment.meshed
        shape = self._cone().shape(meshed.flat, meshed.panel_starts)
        garment.place(shape, _scale(context))
        garment.obj.location = context.scene.cursor.location

    def _cone(self) -> Cone:
        names = ("upper_radius", "lower_radius", "length")
        lengths = {name: as_decimal(getattr(self, name)) for name in names}
        return Cone(**lengths, angle=min(self.angle, 2.0 * math.pi), count=self.count)


class WEFT_OT_cloth_from_model(_OfActive, Operator):
    bl_idname = "weft.cloth_from_model"
    bl_label = "Pattern from UV Map"
    bl_description = (
        "Add a garment whose panels are the islands of the active UV map of the active mesh, sewn "
        "where these belong together, in the shape of the mesh. The mesh is hidden, and is cloth "
        "no longer"
    )

    def pattern_and_name(self, context: Context) -> tuple[Any, str]:
        self._model = context.object
        with _shown_mesh(context, self._model) as mesh:
            self._made = ModelledGarment(self._model, mesh, _scale(context))
        return _pattern(self._made.panels, self._made.stitches), f"{self._model.name} Garment"

    def finish(self, context: Context, garment: PatternGarment) -> None:
        meshed = garment.meshed
        shape = self._made.shape(meshed.flat, meshed.panel_starts)
        garment.place(shape, _scale(context))
        self._model.weft.property_unset("role")
        self._model.hide_set(True)

    def summary(self, pattern: Any) -> str:
        off = np.abs(self._made.islands.stretches() - 1.0)
        percent = 100.0 * float(np.percentile(off, 99.0))
        counts = super().summary(pattern)
        return f"{counts}; 99 % of the edges keep their length within {percent:.2g} %"


class VIEW3D_MT_weft_add(Menu):
    bl_idname = "VIEW3D_MT_weft_add"
    bl_label = "Cloth"

    def draw(self, _context: Context) -> None:
        layout = self.layout
        for name, numbers in CONES.items():
            made = layout.operator("weft.cloth_revolution", text=name, icon="MESH_CONE")
            made.title = name
            for field, value in numbers.items():
                setattr(made, field, value)
        layout.separator()
        layout.operator("weft.cloth_from_outline", icon="CURVE_BEZCIRCLE")
        layout.operator("weft.cloth_around", icon="OUTLINER_OB_ARMATURE")
        layout.operator("weft.cloth_from_model", icon="UV")


def _pattern(made: list[panels.Panel], stitches: list[tuple[panels.Side, panels.Side]]) -> Any:
    return bridge.library().Pattern(panels.text(made, stitches))


def _scale(context: Context) -> float:
    return context.scene.unit_settings.scale_length


@contextmanager
def _shown_mesh(context: Context, obj: Object) -> Iterator[Mesh | None]:
    """The mesh of an object with its modifiers and shape keys, None of a curve."""
    if obj.type != "MESH":
        yield None
        return
    shown = obj.evaluated_get(context.evaluated_depsgraph_get())
    try:
        yield shown.to_mesh()
    finally:
        shown.to_mesh_clear()


def _surface(context: Context, obj: Object) -> tuple[np.ndarray, np.ndarray]:
    """Vertices in the scene in m, and triangles, of an object as it is now."""
    depsgraph = context.evaluated_depsgraph_get()
    found = geometry.read(obj.evaluated_get(depsgraph), depsgraph, _scale(context))
    if not len(found.triangles):
        raise ValueError(f"'{obj.name}' has no faces")
    return found.points, found.triangles


def _turned(yaw: float) -> np.ndarray:
    """A turn about z, in rad."""
    sine, cosine = math.sin(yaw), math.cos(yaw)
    turn = np.eye(4)
    turn[:2, :2] = ((cosine, -sine), (sine, cosine))
    return turn


def _moved(panel: panels.Panel, matrix: np.ndarray) -> panels.Panel:
    """A panel whose plane is elsewhere."""
    placement = matrix @ panel.placement
    return panels.Panel(panel.name, panel.outline, placement, panel.cutouts, panel.grain)


def _draw_add(self: Menu, _context: Context) -> None:
    self.layout.menu(VIEW3D_MT_weft_add.bl_idname, icon="MOD_CLOTH")


_register_classes, _unregister_classes = bpy.utils.register_classes_factory(
    (
        WEFT_OT_cloth_from_outline,
        WEFT_OT_cloth_around,
        WEFT_OT_cloth_revolution,
        WEFT_OT_cloth_from_model,
        VIEW3D_MT_weft_add,
    )
)


def register() -> None:
    _register_classes()
    bpy.types.VIEW3D_MT_add.append(_draw_add)


def unregister() -> None:
    bpy.types.VIEW3D_MT_add.remove(_draw_add)
    _unregister_classes()
