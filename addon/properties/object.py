# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of an object: its role and settings, and the state of its result.

Values are SI whatever the unit scale of the scene, so no property has a Blender unit; the unit is
in the label. Properties that are not read at every frame are not animatable.
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
from bpy.types import Collection, PropertyGroup

from ..force_fields.forces import WEIGHT_NAMES
from .attachment import WeftAttachment
from .fabric import NOT_ANIMATABLE, WeftMaterial, as_decimal, changed, friction_of, thickness_of
from .garment import WeftGarment, WeftSewing
from .take import WeftTake

OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}


def _stiffness_per_area(name: str, description: str) -> object:
    """A stiffness of internal springs in N/m³."""
    return FloatProperty(
        name=name,
        options=NOT_ANIMATABLE,
        description=description,
        default=10000.0,
        min=0.0,
        soft_max=1e6,
        precision=1,
        update=changed,
    )


class WeftMutedModifier(PropertyGroup):
    """Visibility of a modifier before Weft muted it."""

    uid: IntProperty()  # unaffected by renaming; 0 in older files, which have the name
    show_viewport: BoolProperty()
    show_render: BoolProperty()


class WeftMutedKey(PropertyGroup):
    """A shape key of the user that Weft muted, by name."""

    place: IntProperty()  # index among all keys, used after a renaming; 0 in older files


class WeftDeformingNodes(PropertyGroup):
    """A geometry nodes modifier that only deforms the cloth."""

    uid: IntProperty()  # persistent id of the modifier; 0 in older files


class WeftResult(PropertyGroup):
    """State of the result of a bake on an object, which Free reverts."""

    shown: BoolProperty()
    frame_start: IntProperty()
    frame_count: IntProperty()
    key_prefix: StringProperty()
    made_basis: BoolProperty()
    made_action: BoolProperty()  # by earlier versions, with curves in the action of the keys
    was_without_nla: BoolProperty()  # NLA of the keys was off
    was_absolute: BoolProperty()
    was_solo: BoolProperty()
    muted_keys: CollectionProperty(type=WeftMutedKey)
    bake: StringProperty()  # identifier of the bake, empty for results of earlier versions
    cache: StringProperty()  # absolute path of the cache of the last bake, without suffix
    fingerprint: StringProperty()
    statistic: StringProperty()
    warnings: StringProperty()  # one per line
    place: StringProperty()  # of the largest stretch, empty where that is no warning
    pinched: StringProperty()  # where colliders left it no room, empty where they did not
    display_type: StringProperty()  # before a running bake of an earlier version, else empty
    is_live: BoolProperty()  # by live simulation: it may end before the frame range does
    preview: StringProperty()  # name of the modifier that shows a running bake, else empty
    preview_uid: IntProperty()  # its persistent id
    was_disabled: BoolProperty()  # in viewports, before a running bake
    take: StringProperty()  # bake of the take that this copy of a cloth compares, else empty
    modifier: StringProperty()  # name of the Mesh Cache modifier, empty if the result is shape keys
    modifier_uid: IntProperty()  # its persistent id, unaffected by renaming; 0 in older files


def _weight(name: str, source: str) -> object:
    return FloatProperty(
        name=name,
        description=f"How much {source} acts on this cloth, without unit",
        default=1.0,
        min=-200.0,
        max=200.0,
        soft_min=0.0,
        soft_max=1.0,
        precision=3,
        update=changed,
    )


def _group(name: str, description: str) -> object:
    return StringProperty(
        name=f"{name} Group",
        options=NOT_ANIMATABLE,
        description=description,
        update=changed,
    )


def _factor_group(name: str) -> object:
    description = (
        "Where this vertex group has weight 1 the factor below holds, where it has none the fabric "
        "is that of the material"
    )
    return _group(name, description)


def _factor(name: str, quantity: str, minimum: float = 1e-3) -> object:
    return FloatProperty(
        name=f"{name} Factor",
        options=NOT_ANIMATABLE,
        description=f"Factor on the {quantity} where the group has weight 1, without unit",
        default=10.0,
        min=minimum,
        soft_max=100.0,
        precision=3,
        update=changed,
    )


def _shrinking(name: str, region: str, default: float) -> object:
    return FloatProperty(
        name=name,
        description=f"Part by which the cloth is shorter at rest {region}, without unit; "
        "negative makes it longer",
        default=default,
        min=-10.0,
        max=0.9,
        soft_min=-1.0,
        precision=3,
        update=changed,
    )


class WeftFieldWeights(PropertyGroup):
    """Weights of the scene's force fields on a cloth, under the names that Blender uses."""

    collection: PointerProperty(
        type=Collection,
        name="Effector Collection",
        options=NOT_ANIMATABLE,
        description="Only force fields in this collection act; all of the scene when empty",
        update=changed,
    )
    gravity: _weight("Gravity", "gravity")
    all: _weight("All", "every force field")
    force: _weight("Force", "a force field of this type")
    vortex: _weight("Vortex", "a vortex")
    magnetic: _weight("Magnetic", "a magnetic field")
    harmonic: _weight("Harmonic", "a harmonic field")
    charge: _weight("Charge", "a charge field")
    lennardjones: _weight("Lennard-Jones", "a Lennard-Jones field")
    wind: _weight("Wind", "a wind field")
    texture: _weight("Texture", "a texture field")
    turbulence: _weight("Turbulence", "turbulence")
    drag: _weight("Drag", "a drag field")
    smokeflow: _weight("Fluid Flow", "the flow of a fluid")

    def factors(self) -> dict[str, float]:
        """The weights by name."""
        return {name: as_decimal(getattr(self, name)) for name in WEIGHTS}


WEIGHTS = ("gravity", "all", *WEIGHT_NAMES.values())


class WeftObject(WeftSewing, PropertyGroup):
    """Role and settings of an object in the simulation."""

    role: EnumProperty(
        name="Role",
        options=NOT_ANIMATABLE,
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
    pin_group: _group(
        "Pin",
        "Vertices with weight 1 in this group are held: they follow the animation of "
        "the object, its deforming modifiers and its armature. With less they are drawn there",
    )
    pin_stiffness: FloatProperty(
        name="Pin Stiffness (N/m³)",
        description="How hard vertices of weight 0.5 are drawn to where the pin group has them, in "
        "N/m for each m² of cloth; a weight w counts w / (1 - w) times that",
        default=100.0,
        min=0.0,
        soft_max=10000.0,
        precision=1,
        update=changed,
    )
    pin_strength: FloatProperty(
        name="Pin Strength",
        description="Factor on the weights of the pin group, without unit: at 1 vertices of weight "
        "1 are held, below they are drawn, at 0 all of them are let go",
        default=1.0,
        min=0.0,
        max=1.0,
        precision=3,
        update=changed,
    )
    attachments: CollectionProperty(type=WeftAttachment)
    use_uv: BoolProperty(
        name="Yarns from UV Map",
        options=NOT_ANIMATABLE,
        description="Let the yarns follow the active UV map, warp along u and weft along v. "
        "Without a UV map, or when off, the warp of each piece runs along the world axis in which "
        "its undeformed mesh is longest",
        default=True,
        update=changed,
    )
    rest_shape: EnumProperty(
        name="Rest Shape",
        options=NOT_ANIMATABLE,
        description="The shape in which the cloth is neither stretched nor bent",
        items=(
            ("MESH", "Mesh", "The mesh without shape keys and modifiers"),
            ("KEY", "Shape Key", "One of the shape keys of the mesh"),
            ("PATTERN", "Pattern", "The active UV map, laid out flat as a sewing pattern"),
            ("DEFORMED", "Deformed Mesh", "The mesh as its modifiers and keys shape it now"),
        ),
        default="MESH",
        update=changed,
    )
    rest_key: StringProperty(
        name="Shape Key",
        options=NOT_ANIMATABLE,
        description="The shape key that is the rest shape",
        update=changed,
    )
    pattern_size: FloatProperty(
        name="Pattern Size (m)",
        options=NOT_ANIMATABLE,
        description="The length that one unit of the UV map is, in m",
        default=1.0,
        min=1e-4,
        soft_max=10.0,
        precision=3,
        update=changed,
    )
    shrink: _shrinking("Shrinking Factor", "than its rest shape, along both yarns", 0.0)
    shrink_group: _group(
        "Shrinking",
        "Where this vertex group has weight 1 the cloth shrinks by the factor below, "
        "where it has none by that of the Shape panel",
    )
    shrink_max: _shrinking("Max Shrinking", "where the shrinking group has weight 1", 0.2)
    shrink_yarns: EnumProperty(
        name="Shrinking Yarns",
        options=NOT_ANIMATABLE,
        description="Along which yarns the shrinking group shrinks the cloth",
        items=(
            ("BOTH", "Both", "Along warp and weft"),
            ("WARP", "Warp", "Along the warp alone"),
            ("WEFT", "Weft", "Along the weft alone: cuffs and waistbands whose warp hangs down"),
        ),
        update=changed,
    )
    use_pressure: BoolProperty(
        name="Pressure",
        options=NOT_ANIMATABLE,
        description="Let the inside of the cloth press against it",
        default=False,
        update=changed,
    )
    pressure: FloatProperty(
        name="Pressure (Pa)",
        description="Pressure inside above that outside, in Pa (N/m²); it acts along the normals",
        default=10.0,
        soft_min=-1000.0,
        soft_max=1000.0,
        precision=2,
        update=changed,
    )
    use_volume: BoolProperty(
        name="Keep Volume",
        options=NOT_ANIMATABLE,
        description="Press more when the volume inside is too small, and less when it is too large",
        default=False,
        update=changed,
    )
    target_volume: FloatProperty(
        name="Target Volume (m³)",
        description="The volume that is kept, in m³; 0 for that at the first frame",
        default=0.0,
        min=0.0,
        soft_max=10.0,
        precision=4,
        update=changed,
    )
    volume_stiffness: FloatProperty(
        name="Stiffness (Pa)",
        description="Pressure for a volume that is missing as a whole, in Pa; air has 101325",
        default=1000.0,
        min=0.0,
        soft_max=101325.0,
        precision=1,
        update=changed,
    )
    fluid_density: FloatProperty(
        name="Fluid Density (kg/m³)",
        description="Density of the fluid inside less that of the fluid outside, in kg/m³: its "
        "pressure grows with the depth. 1000 for water, less than 0 for what floats up",
        default=0.0,
        soft_min=-2000.0,
        soft_max=2000.0,
        precision=2,
        update=changed,
    )
    pressure_group: _group(
        "Pressure", "The weights of this vertex group scale the pressure; everywhere when empty"
    )
    use_internal_springs: BoolProperty(
        name="Internal Springs",
        options=NOT_ANIMATABLE,
        description="Tie the surface together through its inside by springs, like a soft body",
        default=False,
        update=changed,
    )
    internal_spring_max_length: FloatProperty(
        name="Max Spring Creation Length (m)",
        options=NOT_ANIMATABLE,
        description="Longest internal spring, in m; 0 for any length",
        default=0.0,
        min=0.0,
        soft_max=10.0,
        precision=3,
        update=changed,
    )
    internal_spring_max_diversion: FloatProperty(
        name="Max Creation Diversion",
        options=NOT_ANIMATABLE,
        description="Largest random angle between the rays that find the ends of springs and the "
        "normals, an angle without unit",
        default=0.785398,
        min=0.0,
        max=0.785398,
        subtype="ANGLE",
        update=changed,
    )
    internal_spring_normal_check: BoolProperty(
        name="Check Surface Normals",
        options=NOT_ANIMATABLE,
        description="Only join surfaces that face away from each other",
        default=False,
        update=changed,
    )
    internal_tension: _stiffness_per_area(
        "Tension (N/m³)",
        "How much the springs resist getting longer, in N/m for each m² of surface",
    )
    internal_compression: _stiffness_per_area(
        "Compression (N/m³)",
        "How much the springs resist getting shorter, in N/m for each m² of surface",
    )
    internal_damping: FloatProperty(
        name="Damping (s)",
        options=NOT_ANIMATABLE,
        description="Damping of the springs over their stiffness against tension, in s",
        default=0.01,
        min=0.0,
        soft_max=1.0,
        precision=4,
        update=changed,
    )
    internal_group: _group(
        "Internal Springs",
        "Where this vertex group has weight 1 the springs have the stiffness below, "
        "where it has none that above",
    )
    internal_tension_max: _stiffness_per_area(
        "Max Tension (N/m³)", "Tension where the weight is 1, in N/m for each m² of surface"
    )
    internal_compression_max: _stiffness_per_area(
        "Max Compression (N/m³)", "Compression where the weight is 1, in N/m for each m² of surface"
    )
    density_group: _group(
        "Density",
        "Where this vertex group has weight 1 the fabric has the density below, where "
        "it has none that of the material",
    )
    density_max: FloatProperty(
        name="Density (kg/m²)",
        options=NOT_ANIMATABLE,
        description="Mass of one square metre where the density group has weight 1, in kg/m²",
        default=0.3,
        min=1e-4,
        soft_min=0.02,
        soft_max=2.0,
        precision=3,
        update=changed,
    )
    stretch_group: _factor_group("Stretch")
    stretch_factor: _factor("Stretch", "stiffness against stretching")
    shear_group: _factor_group("Shear")
    shear_factor: _factor("Shear", "stiffness against shearing")
    bend_group: _factor_group("Bending")
    bend_factor: _factor("Bending", "stiffness against bending")
    friction_group: _factor_group("Friction")
    friction_factor: _factor("Friction", "friction", minimum=0.0)
    use_collision: BoolProperty(
        name="Object Collisions",
        options=NOT_ANIMATABLE,
        description="Keep this cloth out of colliders",
        default=True,
        update=changed,
    )
    collision_collection: PointerProperty(
        type=Collection,
        name="Collision Collection",
        options=NOT_ANIMATABLE,
        description="Only colliders in this collection stop this cloth; all when empty",
        update=changed,
    )
    collision_group: _group(
        "Object Vertex",
        "Vertices in this group pass through colliders",
    )
    use_self_collision: BoolProperty(
        name="Self Collisions",
        options=NOT_ANIMATABLE,
        description="Keep this cloth out of itself and of other cloths",
        default=True,
        update=changed,
    )
    self_collision_group: _group(
        "Self Vertex",
        "Vertices in this group pass through this cloth and others",
    )
    layer: IntProperty(
        name="Layer",
        options=NOT_ANIMATABLE,
        description="Place in the order of garments, from the body outwards: a jacket has a higher "
        "layer than the shirt below. Where both cross, the higher one comes to lie on the side of "
        "the face normals of the lower one. Equal layers part to where most of each is",
        default=0,
        min=0,
        soft_max=10,
        update=changed,
    )
    field_weights: PointerProperty(type=WeftFieldWeights)
    friction: friction_of("this obstacle", 0.3, override=OVERRIDABLE)
    thickness: thickness_of("this obstacle", override=OVERRIDABLE)
    muted_modifiers: CollectionProperty(type=WeftMutedModifier)
    deforming_nodes: CollectionProperty(type=WeftDeformingNodes)
    result: PointerProperty(type=WeftResult)
    garment: PointerProperty(type=WeftGarment)
    takes: CollectionProperty(type=WeftTake)
    active_take: IntProperty(name="Take", options=NOT_ANIMATABLE)  # in the list
