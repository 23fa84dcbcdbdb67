# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of a take: a result of a cloth, kept by a name with its fabric and settings."""

from collections.abc import Collection as Container

from bpy.props import BoolProperty, CollectionProperty, PointerProperty, StringProperty
from bpy.types import Collection, Context, PropertyGroup

from .attachment import WeftAttachment
from .fabric import NOT_ANIMATABLE

UNNAMED = "Take"


def unique_name(wanted: str, others: Container[str]) -> str:
    """A name that no other take has, numbered as Blender numbers objects."""
    wanted = wanted.strip() or UNNAMED
    stem, number = wanted, 0
    while wanted in others:
        number += 1
        wanted = f"{stem}.{number:03d}"
    return wanted


def _renamed(take: PropertyGroup, _context: Context) -> None:
    """Makes the name unique, and gives it to the copies that show the take."""
    others = {one.name for one in take.id_data.weft.takes if one != take}
    unique = unique_name(take.name, others)
    if take.name != unique:
        take.name = unique
    for child in take.id_data.children:
        if child.weft.result.take == take.bake != "":
            child.name = unique


class WeftTake(PropertyGroup):
    """A take; its frames are in a cache of its own, which no bake writes to."""

    name: StringProperty(
        name="Name", options=NOT_ANIMATABLE, description="Name of this take", update=_renamed
    )
    is_compared: BoolProperty(
        name="Compared",
        options=NOT_ANIMATABLE,
        description="Compare shows this take beside the cloth",
        default=True,
    )
    cache: StringProperty()  # absolute path of its cache, without suffix
    bake: StringProperty()  # identifier of the bake that its cache is
    source: StringProperty()  # identifier of the bake that it was copied from
    settings: StringProperty()  # numbers, switches and names, as JSON
    panels: StringProperty()  # fabrics of the panels of a garment, one per line
    attachments: CollectionProperty(type=WeftAttachment)
    collision_collection: PointerProperty(type=Collection)
    effector_collection: PointerProperty(type=Collection)  # of the field weights
