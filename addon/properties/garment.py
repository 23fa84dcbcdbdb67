# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of a garment: its pattern, how its last dressing ended, and seams."""

from bpy.props import (
    BoolProperty,
    CollectionProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import Mesh, PropertyGroup

from .fabric import NOT_ANIMATABLE, changed


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


class WeftSewing:
    """Sewing edges, and edges that are marked as seams."""

    use_sewing: BoolProperty(
        name="Sewing",
        options=NOT_ANIMATABLE,
        description="Draw the ends of edges that belong to no face together, and hold them",
        default=False,
        update=changed,
    )
    sewing_time: FloatProperty(
        name="Sewing Time (s)",
        options=NOT_ANIMATABLE,
        description="Time in which sewn vertices come together, in s",
        default=1.0,
        min=0.01,
        soft_max=10.0,
        precision=2,
        update=changed,
    )
    sewing_force: FloatProperty(
        name="Max Sewing Force (N)",
        options=NOT_ANIMATABLE,
        description="Largest force of a sewing edge, in N; a seam opens under more. 0 for the "
        "force that stretches the cloth beside it by a quarter",
        default=0.0,
        min=0.0,
        soft_max=100.0,
        precision=3,
        update=changed,
    )
    seam_stiffness: FloatProperty(
        name="Seam Stiffness",
        options=NOT_ANIMATABLE,
        description="Stiffness against bending of edges that are marked as seams, 20 mm wide, over "
        "that of the fabric, without unit: 1 for seams as soft as the cloth, about the number of "
        "layers for folded ones, more for those that are taped or stitched through",
        default=1.0,
        min=1.0,
        soft_max=30.0,
        update=changed,
    )
