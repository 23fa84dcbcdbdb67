# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of an attachment of a cloth to another object."""

from bpy.props import EnumProperty, FloatProperty, PointerProperty, StringProperty
from bpy.types import Object, PropertyGroup

from .fabric import NOT_ANIMATABLE, changed


class WeftAttachment(PropertyGroup):
    """Vertices of a cloth that are attached to another object."""

    vertex_group: StringProperty(
        name="Attached Group",
        options=NOT_ANIMATABLE,
        description="Vertices of this group are attached, those of weight 1 firmly and those of "
        "less by springs, as with the pin group",
        update=changed,
    )
    target: PointerProperty(
        type=Object,
        name="Attached To",
        options=NOT_ANIMATABLE,
        description="Object that the vertices move with, from where they are at the first frame",
        update=changed,
    )
    follow: EnumProperty(
        name="Follow",
        options=NOT_ANIMATABLE,
        description="What the vertices move with",
        items=(
            ("OBJECT", "Object", "The object as a whole: its location, rotation and scale"),
            ("SURFACE", "Surface", "The nearest face of its mesh, with armature and modifiers"),
        ),
        update=changed,
    )
    strength: FloatProperty(
        name="Strength",
        description="Factor on the weights of the group, without unit; at 0 the vertices are free",
        default=1.0,
        min=0.0,
        max=1.0,
        precision=3,
        update=changed,
    )
