# SPDX-License-Identifier: GPL-3.0-or-later
"""Base classes and layout functions of the panels."""

import textwrap

from bpy.types import Context, PropertyGroup, UILayout

from ..bake import job
from ..scene.geometry import may_collide

CLOTH = frozenset(("CLOTH",))
COLLIDER = frozenset(("COLLIDER",))
ANY = CLOTH | COLLIDER
CHARACTER_PIXELS = 6.0  # mean width of a character of Blender's interface font


class PhysicsPanel:
    """Panel of the Physics tab for meshes with one of its roles."""

    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"
    roles = ANY

    @classmethod
    def poll(cls, context: Context) -> bool:
        obj = context.object
        if obj is None or not may_collide(obj):
            return False
        is_cloth = obj.weft.role == "CLOTH" and obj.type == "MESH"
        has_role = is_cloth or obj.weft.role == "COLLIDER"
        return (obj.weft.role if has_role else "NONE") in cls.roles


class SwitchedPanel(PhysicsPanel):
    """Panel of a cloth with a checkbox in its header that enables its settings."""

    roles = CLOTH
    switch: str

    def draw_header(self, context: Context) -> None:
        self.layout.enabled = job.running() is None
        self.layout.prop(context.object.weft, self.switch, text="")

    def draw(self, context: Context) -> None:
        flow = columns(self.layout)
        self.layout.active &= getattr(context.object.weft, self.switch)
        self.draw_settings(context, flow)


def columns(layout: UILayout) -> UILayout:
    """Split property layout in flowing columns; disabled during a bake."""
    layout.use_property_split = True
    layout.use_property_decorate = True
    layout.enabled = job.running() is None
    return layout.grid_flow(row_major=False, columns=0, even_columns=True, align=True)


def props(layout: UILayout, owner: PropertyGroup, **labels: str) -> None:
    """Properties with short labels; the unit is in the panel title."""
    for name, label in labels.items():
        layout.column().prop(owner, name, text=label)


def wrapped_text(layout: UILayout, context: Context, text: str, icon: str) -> None:
    """A sentence, wrapped to the width of the panel."""
    pixels = context.region.width / context.preferences.system.ui_scale
    characters = max(16, int((pixels - 80) / CHARACTER_PIXELS))
    column = layout.column(align=True)
    column.scale_y = 0.8
    for index, line in enumerate(textwrap.wrap(text, characters)):
        column.label(text=line, icon="BLANK1" if index else icon)
