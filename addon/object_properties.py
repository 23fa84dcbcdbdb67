# SPDX-License-Identifier: GPL-3.0-or-later
"""What an artist sets on an object, and what Weft remembers of its result.

All numbers are SI units whatever the unit scale of the scene, so none of them carries a Blender
unit: the unit stands in the label. What is not read frame by frame cannot be keyframed.
"""

from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import PropertyGroup

from .material import FIXED, WeftMaterial, changed

OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}


class WeftMutedModifier(PropertyGroup):
    """How a modifier was set before Weft switched it off (its name is the modifier's)."""

    show_viewport: BoolProperty()
    show_render: BoolProperty()


class WeftMutedKey(PropertyGroup):
    """A shape key of the user that Weft muted (its name is the key's)."""


class WeftDeformingNodes(PropertyGroup):
    """A geometry nodes modifier that moves the cloth and does nothing else (its name)."""


class WeftResult(PropertyGroup):
    """What a bake left on an object, so that Free can take it back."""

    shown: BoolProperty()
    frame_start: IntProperty()
    frame_count: IntProperty()
    key_prefix: StringProperty()
    made_basis: BoolProperty()
    made_action: BoolProperty()
    was_absolute: BoolProperty()
    was_solo: BoolProperty()
    muted_keys: CollectionProperty(type=WeftMutedKey)
    fingerprint: StringProperty()
    statistic: StringProperty()


class WeftObject(PropertyGroup):
    """The part an object plays in the simulation."""

    role: EnumProperty(
        name="Role",
        options=FIXED,
        description="Part of this object in the cloth simulation",
        items=(
            ("NONE", "None", "Takes no part in the simulation"),
            ("CLOTH", "Cloth", "Is simulated as a fabric"),
            ("COLLIDER", "Collider", "Is an obstacle, with its own animation and modifiers"),
        ),
        default="NONE",
        update=changed,
        override=OVERRIDABLE,
    )
    identity: StringProperty(override=OVERRIDABLE)
    material: PointerProperty(type=WeftMaterial)
    pin_group: StringProperty(
        name="Pin Group",
        options=FIXED,
        description="Vertices with a weight above 0.5 in this group are held: they follow the "
        "animation of the object, its deforming modifiers and its armature",
        update=changed,
    )
    use_uv: BoolProperty(
        name="Yarns from UV Map",
        options=FIXED,
        description="Let the yarns follow the active UV map, warp along u and weft along v. "
        "Without a UV map, or when off, they follow the edges of the undeformed mesh",
        default=True,
        update=changed,
    )
    friction: FloatProperty(
        name="Friction",
        options=FIXED,
        description="Coulomb coefficient of friction of this obstacle, without unit",
        default=0.3,
        min=0.0,
        soft_max=1.5,
        precision=2,
        update=changed,
        override=OVERRIDABLE,
    )
    thickness: FloatProperty(
        name="Thickness (m)",
        options=FIXED,
        description="Gap that this obstacle keeps on its side of a contact, in m",
        default=0.001,
        min=0.0,
        soft_max=0.02,
        step=0.01,
        precision=4,
        update=changed,
        override=OVERRIDABLE,
    )
    muted_modifiers: CollectionProperty(type=WeftMutedModifier)
    deforming_nodes: CollectionProperty(type=WeftDeformingNodes)
    result: PointerProperty(type=WeftResult)
