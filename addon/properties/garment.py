# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of a garment: the pattern that it was made of, and how its last dressing ended."""

from bpy.props import (
    BoolProperty,
    CollectionProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import Mesh, PropertyGroup


class WeftPanel(PropertyGroup):
    """A panel by its name, which its vertex group has too."""

    fabric: StringProperty()  # of the pattern, empty where it states none
    edge_length: FloatProperty()  # in m, 0 for that of the garment
    is_chosen: BoolProperty(
        name="Chosen",
        description="Operators of panels act on the chosen ones, on the active one if none is",
    )


class WeftGarment(PropertyGroup):
    """A garment; all empty on a cloth that was made otherwise."""

    pattern: StringProperty()  # the pattern as JSON
    panels: CollectionProperty(type=WeftPanel)  # by the values of the face attribute
    active_panel: IntProperty(name="Panel", description="Active panel")
    edge_length: FloatProperty()  # in m, of panels that state none
    report: StringProperty()  # on the last dressing, one line each
    panels_mesh: PointerProperty(type=Mesh)  # its panels, while its seams are welded
    has_failed: BoolProperty()  # whether seams stayed open or the garment did not come to rest

    def chosen_panels(self) -> list[int]:
        """Indices of the panels that operators act on."""
        chosen = [index for index, panel in enumerate(self.panels) if panel.is_chosen]
        return chosen or [self.active_panel]
