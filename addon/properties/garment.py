# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of a garment: the pattern that it was made of, and how its last dressing ended."""

from bpy.props import BoolProperty, CollectionProperty, StringProperty
from bpy.types import PropertyGroup


class WeftPanel(PropertyGroup):
    """A panel by its name, which its vertex group has too."""

    fabric: StringProperty()  # of the pattern, empty where it states none


class WeftGarment(PropertyGroup):
    """A garment; all empty on a cloth that was made otherwise."""

    pattern: StringProperty()  # the pattern as JSON
    panels: CollectionProperty(type=WeftPanel)  # by the values of the face attribute
    report: StringProperty()  # on the last dressing, one line each
    has_failed: BoolProperty()  # whether seams stayed open or the garment did not come to rest
