# SPDX-License-Identifier: GPL-3.0-or-later
"""What all panels are made of."""

import textwrap

from bpy.types import Context, PropertyGroup, UILayout

from ..bake import job

CLOTH = frozenset(("CLOTH",))
COLLIDER = frozenset(("COLLIDER",))
ANY = CLOTH | COLLIDER
LETTER_PIXELS = 6.0  # of Blender's interface font, on average


class PhysicsPanel:
    """A panel of the Physics tab for meshes with one of its roles."""

    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"
    roles = ANY

    @classmethod
    def poll(cls, context: Context) -> bool:
        obj = context.object
        return obj is not None and obj.type == "MESH" and obj.weft.role in cls.roles


class SwitchedPanel(PhysicsPanel):
    """A panel of a cloth with a tick in its header, off while baking, that its settings need."""

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
    """Split properties that flow into columns where there is room; off while baking."""
    layout.use_property_split = True
    layout.use_property_decorate = True
    layout.enabled = job.running() is None
    return layout.grid_flow(row_major=False, columns=0, even_columns=True, align=True)


def props(layout: UILayout, owner: PropertyGroup, **labels: str) -> None:
    """Properties with labels short enough for a narrow panel, whose title has the unit."""
    for name, label in labels.items():
        layout.column().prop(owner, name, text=label)


def lines(layout: UILayout, context: Context, text: str, icon: str) -> None:
    """A sentence over as many lines as the width of the panel asks for."""
    pixels = context.region.width / context.preferences.system.ui_scale
    characters = max(16, int((pixels - 80) / LETTER_PIXELS))
    column = layout.column(align=True)
    column.scale_y = 0.8
    for index, line in enumerate(textwrap.wrap(text, characters)):
        column.label(text=line, icon="BLANK1" if index else icon)
