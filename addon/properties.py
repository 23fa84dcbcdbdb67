# SPDX-License-Identifier: GPL-3.0-or-later
"""What an artist sets, and what Weft remembers of a result, on objects and scenes.

All numbers are SI units whatever the unit scale of the scene, so none of them carries a Blender
unit: the unit stands in the label.

Neither this module nor `material` holds the module `bpy`: Blender 4.2 never lets go of property
classes, and as a Python module it crashes at exit when they keep `bpy` alive.
"""

from bpy import app
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import Object, PropertyGroup, Scene
from bpy.utils import register_classes_factory

from .material import WeftMaterial, as_decimal, changed

OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}
# Blender 4.5 wants to be told that a path may start with //, 4.2 does not know the word.
RELATIVE_PATH = {"PATH_SUPPORTS_BLEND_RELATIVE"} if app.version >= (4, 5, 0) else set()


class WeftMutedModifier(PropertyGroup):
    """How a modifier was set before Weft switched it off (its name is the modifier's)."""

    show_viewport: BoolProperty()
    show_render: BoolProperty()


class WeftMutedKey(PropertyGroup):
    """A shape key of the user that Weft muted (its name is the key's)."""


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
        description="Vertices with a weight above 0.5 in this group are held: they follow the "
        "animation of the object, its deforming modifiers and its armature",
        update=changed,
    )
    use_uv: BoolProperty(
        name="Yarns from UV Map",
        description="Let the yarns follow the active UV map, warp along u and weft along v. "
        "Without a UV map, or when off, they follow the edges of the undeformed mesh",
        default=True,
        update=changed,
    )
    friction: FloatProperty(
        name="Friction",
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
    result: PointerProperty(type=WeftResult)


class WeftScene(PropertyGroup):
    """What holds for all cloths of a scene."""

    use_scene_range: BoolProperty(
        name="Scene Frame Range",
        description="Bake the frame range of the scene",
        default=True,
        update=changed,
    )
    frame_start: IntProperty(
        name="Start",
        description="First frame: the cloth starts there, at rest, in its animated place",
        default=1,
        update=changed,
    )
    frame_end: IntProperty(
        name="End", description="Last frame to bake", default=250, update=changed
    )
    integrator: EnumProperty(
        name="Integrator",
        description="How the equations of motion are followed in time",
        items=(
            ("bdf2", "BDF2", "Second order: keeps the motion alive, for any fabric"),
            ("implicit_euler", "Implicit Euler", "First order: damps the motion, very sturdy"),
        ),
        default="bdf2",
        update=changed,
    )
    time_step: FloatProperty(
        name="Longest Time Step (s)",
        description="Upper bound of one time step, in s. Steps are made smaller by themselves "
        "where the motion asks for it",
        default=1.0 / 96.0,
        min=1e-5,
        max=1.0,
        soft_min=1e-4,
        soft_max=0.05,
        step=0.1,
        precision=5,
        update=changed,
    )
    tolerance: FloatProperty(
        name="Tolerance",
        description="A step is solved when its last correction, in the norm of the equations, is "
        "shorter than this part of the mean edge length",
        default=2e-2,
        min=1e-6,
        max=0.5,
        precision=5,
        update=changed,
    )
    max_iterations: IntProperty(
        name="Iterations",
        description="Corrections after which a step is given up and tried again half as long",
        default=30,
        min=1,
        soft_max=200,
        update=changed,
    )
    threads: IntProperty(
        name="Threads",
        description="Processor threads to use, 0 for all. The result does not depend on it",
        default=0,
        min=0,
        soft_max=64,
    )
    use_scene_gravity: BoolProperty(
        name="Scene Gravity",
        description="Use the gravity of the scene, in the m/s² that Blender shows there",
        default=True,
        update=changed,
    )
    gravity: FloatVectorProperty(
        name="Gravity (m/s²)",
        description="Acceleration along the world axes instead of the scene's, in m/s²",
        default=(0.0, 0.0, -9.81),
        precision=2,
        update=changed,
    )
    wind: FloatVectorProperty(
        name="Wind (m/s)",
        description="Velocity of the air along the world axes, in m/s; it can be animated",
        default=(0.0, 0.0, 0.0),
        precision=2,
        update=changed,
    )
    air_density: FloatProperty(
        name="Air Density (kg/m³)",
        description="Mass of a cubic metre of the medium around the cloth, in kg/m³; 0 for none",
        default=1.2,
        min=0.0,
        soft_max=10.0,
        precision=3,
        update=changed,
    )
    cache_directory: StringProperty(
        name="Folder",
        description="Where the baked frames are kept, // for beside the .blend file",
        subtype="DIR_PATH",
        default="//weft_cache/",
        options={"ANIMATABLE"} | RELATIVE_PATH,
        update=changed,
    )
    checkpoint_interval: IntProperty(
        name="Checkpoint Every",
        description="Frames between two checkpoints that Resume can continue from if Blender "
        "ends unexpectedly; cancelling makes one by itself",
        default=10,
        min=1,
        soft_max=250,
    )

    def solver_settings(self) -> dict[str, float | int | str]:
        """The fields for `weft.Settings` that hold for a whole bake."""
        return {
            "integrator": self.integrator,
            "time_step": as_decimal(self.time_step),
            "air_density": as_decimal(self.air_density),
            "tolerance": as_decimal(self.tolerance),
            "max_iterations": self.max_iterations,
            "threads": self.threads,
        }

    def frame_range(self) -> tuple[int, int]:
        """First and last frame that a bake covers."""
        if self.use_scene_range:
            return self.id_data.frame_start, self.id_data.frame_end
        return self.frame_start, self.frame_end


_register_classes, _unregister_classes = register_classes_factory(
    (WeftMutedModifier, WeftMutedKey, WeftResult, WeftObject, WeftScene)
)


def register() -> None:
    _register_classes()
    Object.weft = PointerProperty(type=WeftObject, override=OVERRIDABLE)
    Scene.weft = PointerProperty(type=WeftScene)


def unregister() -> None:
    del Scene.weft
    del Object.weft
    _unregister_classes()
