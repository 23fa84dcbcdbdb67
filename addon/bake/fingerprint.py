# SPDX-License-Identifier: GPL-3.0-or-later
"""Fingerprint of the input of a bake: hashes per participant and aspect.

It covers everything that can be read without evaluating other frames: meshes, the user's shape
keys, pins, materials, settings and dependencies of the motion. Keys and modifiers that Weft itself
creates or mutes are excluded, so that showing a result does not change it.
"""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import bpy
import numpy as np
from bpy import app
from bpy.types import Object, Scene, ViewLayer

from ..blender import fcurves, mesh_arrays, object_identity, scene_time
from ..force_fields import snapshot
from ..properties.fabric import MATERIAL_FIELDS, as_decimal
from ..properties.scene import FRAME_SETTINGS
from ..result import shape_keys
from ..scene import dependencies, rest_shape
from ..scene.participants import GROUP_USES, Alone, participants
from ..scene.reader import gravity
from ..storage import frame_record

SETTINGS = "settings"
DRAG = "drag"  # key of the frame at which cloth was dragged by the mouse
CHANGE = "change"  # key of the last frame before a change that live simulation has followed
ALONE = "alone"  # key of the identity of a cloth that was baked alone
BLENDER = "blender"
GRAVITY_SETTINGS = frozenset(("gravity", "use_gravity", "weft.gravity", "weft.use_scene_gravity"))
SOLVER_SETTINGS = frozenset(f"weft.{name}" for name in FRAME_SETTINGS)
ANIMATED_SETTINGS = GRAVITY_SETTINGS | SOLVER_SETTINGS | {"weft.wind", "weft.speed"}
SHAPE_SETTINGS = (
    "pin_group",
    "use_uv",
    "rest_shape",
    "rest_key",
    "pattern_size",
    "shrink_group",
    "shrink_yarns",
    "use_sewing",
    "sewing_time",
    "sewing_force",
    "use_pressure",
    "use_volume",
    "pressure_group",
    "density_group",
    "density_max",
    *(f"{name}_{what}" for name in rest_shape.PROPERTIES for what in ("group", "factor")),
    "use_collision",
    "collision_group",
    "use_self_collision",
    "self_collision_group",
)
INTERNAL_SPRINGS = (
    "internal_spring_max_length",
    "internal_spring_max_diversion",
    "internal_spring_normal_check",
    "internal_tension",
    "internal_compression",
    "internal_damping",
    "internal_group",
    "internal_tension_max",
    "internal_compression_max",
)
NUMBERS = (  # animatable numbers of a cloth
    "pressure",
    "target_volume",
    "volume_stiffness",
    "fluid_density",
    "pin_stiffness",
    "pin_strength",
    "shrink",
    "shrink_max",
)
# Values of numbers that earlier versions had not: they leave its fingerprints as they are.
WITHOUT_EFFECT = {"pin_strength": 1.0, "fluid_density": 0.0}
SURFACE = ("friction", "thickness")  # animatable numbers of a collider
MESSAGES = {
    "mesh": "the mesh of '{}' has changed",
    "pins": "the pins or the yarns of '{}' have changed",
    "surface": "the material of '{}' has changed",
    "result": "the result of '{}' has changed",
    "motion": "the motion or the modifiers of '{}' have changed",
}

# Memoised hashes of geometry: (session uid, aspect, settings) -> hash
_geometry: dict[tuple, str] = {}


def has_colliders(hashes: dict[str, str]) -> bool:
    """Whether anything but cloth took part in a bake."""
    keys = {entry.rpartition("/")[0] for entry in hashes if entry.endswith("/surface")}
    return any(f"{key}/pins" not in hashes for key in keys)


def alone_of(hashes: dict[str, str], cloth: Object) -> Alone | None:
    """How a cloth was baked alone, None if all were baked together."""
    if ALONE not in hashes:
        return None
    keys = (entry.rpartition("/") for entry in hashes)
    return Alone(cloth, frozenset(key for key, _slash, aspect in keys if aspect == "result"))


def of_scene(scene: Scene, view_layer: ViewLayer, alone: Alone | None = None) -> dict[str, str]:
    """Hashes of all aspects of all participants, and of the settings.

    In the bake of one cloth alone other cloths are represented by their results.
    """
    if alone is None:
        return _of_participants(scene, view_layer, *participants(scene, view_layer))
    cloths, obstacles = alone.participants(scene, view_layer)
    colliders = [obj for obj in obstacles if obj.weft.role == "COLLIDER"]
    hashes = _of_participants(scene, view_layer, cloths, colliders) | {
        ALONE: alone.cloth.weft.identity
    }
    for obj in obstacles:
        if obj.weft.role == "CLOTH":
            shown = (obj.weft.result.bake, obj.weft.material.friction, obj.weft.material.thickness)
            hashes[f"{object_identity.key(obj)}/result"] = _digest(shown)
            hashes[f"{object_identity.key(obj)}/motion"] = _digest(dependencies.motion(obj))
    return hashes


def _of_participants(
    scene: Scene, view_layer: ViewLayer, cloths: list[Object], colliders: list[Object]
) -> dict[str, str]:
    hashes = {SETTINGS: _digest(_settings(scene)), BLENDER: f"{app.version[0]}.{app.version[1]}"}
    for obj in cloths:
        hashes[f"{object_identity.key(obj)}/pins"] = _pins(obj)
        hashes[f"{object_identity.key(obj)}/surface"] = _digest(_fabric(obj))
    for obj in colliders:
        hashes[f"{object_identity.key(obj)}/surface"] = _digest(_surface(obj))
    for obj in snapshot.sources(view_layer) if cloths else ():
        hashes[f"{obj.name_full}/field"] = _digest(dependencies.force_field(obj))
        hashes[f"{obj.name_full}/field motion"] = _digest(dependencies.motion(obj))
    for obj in (*cloths, *colliders):
        hashes[f"{object_identity.key(obj)}/mesh"] = _mesh(obj)
        hashes[f"{object_identity.key(obj)}/motion"] = _digest(dependencies.motion(obj))
    return hashes


def difference(baked: dict[str, str], current: dict[str, str]) -> str:
    """Description of the first difference between two fingerprints, empty without one."""
    # Modifiers have other properties in another Blender; the record shows if they act alike.
    if CHANGE in baked:
        return f"what comes up to frame {baked[CHANGE]} was simulated before a change"
    if DRAG in baked:
        return f"cloth was dragged by the mouse at frame {baked[DRAG]}, which no bake repeats,"
    same_blender = baked.get(BLENDER) == current.get(BLENDER)
    for entry in sorted((baked.keys() | current.keys()) - {BLENDER, ALONE}):
        if baked.get(entry) == current.get(entry):
            continue
        if not same_blender and entry in baked.keys() & current.keys() and entry.endswith("motion"):
            continue
        if entry == SETTINGS:
            return "the settings of the scene have changed"
        key, aspect = entry.rsplit("/", 1)
        if aspect.startswith("field"):
            return f"the force field of '{key}' has changed"
        if entry not in current:
            return f"'{_name(key)}' takes no part any more"
        if entry not in baked:
            return f"'{_name(key)}' takes part now"
        return MESSAGES[aspect].format(_name(key))
    return ""


def movement_message(key: str, frame: int) -> str:
    """Description of a difference between the record of a frame and the scene."""
    if key == frame_record.SCENE:
        return f"gravity or wind at frame {frame} are not what they were"
    if key == frame_record.SPEED:
        return f"the speed of cloth at frame {frame} is not what it was"
    return f"'{_name(frame_record.participant_of(key))}' at frame {frame} is not where it was"


def forget_geometry(session_uid: int | None = None) -> None:
    """Drops the memoised hashes of an object, or of all objects."""
    for known in [k for k in _geometry if session_uid in (None, k[0])]:
        del _geometry[known]


def _name(key: str) -> str:
    """Name of the object with this identity."""
    known = (obj.name for obj in bpy.data.objects if obj.weft.identity == key)
    return next(known, object_identity.readable_name(key))


# --- aspects ----------------------------------------------------------------------------------


def _settings(scene: Scene) -> Iterator[Any]:
    solver = scene.weft.solver_settings()
    del solver["threads"]  # no effect on the result
    animated = fcurves.animated_paths(scene)
    yield {name: value for name, value in solver.items() if f"weft.{name}" not in animated}
    yield scene_time.frame_range(scene)[0], scene.render.fps, as_decimal(scene.render.fps_base)
    yield as_decimal(scene.unit_settings.scale_length)
    if not animated & GRAVITY_SETTINGS:
        yield gravity(scene)
    if "weft.wind" not in animated:
        yield tuple(map(as_decimal, scene.weft.wind))
    if "weft.speed" not in animated and scene.weft.speed != 1.0:  # earlier versions had none
        yield as_decimal(scene.weft.speed)
    yield from dependencies.animation_of(scene, lambda path: path in ANIMATED_SETTINGS)


def _fabric(obj: Object) -> Iterator[Any]:
    material, animated = obj.weft.material, fcurves.animated_paths(obj)
    yield material.use_bend_twist
    for name in MATERIAL_FIELDS:
        if not any(path.startswith(f"weft.material.{name}") for path in animated):
            yield name, material.value(name)
    for name, value in material.options().items():
        if not any(path.startswith(f"weft.material.{name}") for path in animated):
            yield name, repr(value)
    for name in NUMBERS:
        value = as_decimal(getattr(obj.weft, name))
        if f"weft.{name}" not in animated and value != WITHOUT_EFFECT.get(name):
            yield name, value
    if obj.weft.seam_stiffness != 1.0:  # earlier versions had none
        yield as_decimal(obj.weft.seam_stiffness)
        yield mesh_arrays.seam_edges(obj.data)
    for index, one in enumerate(obj.weft.attachments):
        if f"weft.attachments[{index}].strength" not in animated:
            yield as_decimal(one.strength)
    weights = obj.weft.field_weights
    yield weights.collection.name_full if weights.collection is not None else ""
    for name, value in weights.factors().items():
        if f"weft.field_weights.{name}" not in animated:
            yield name, value
    yield from dependencies.animation_of(obj, lambda path: path.startswith("weft."))


def _surface(obj: Object) -> Iterator[Any]:
    animated = fcurves.animated_paths(obj)
    for name in SURFACE:
        if f"weft.{name}" not in animated:
            yield as_decimal(getattr(obj.weft, name))
    yield from dependencies.animation_of(obj, lambda path: path.startswith("weft."))


def _pins(obj: Object) -> str:
    settings = obj.weft
    collection = settings.collision_collection
    members = (
        sorted(one.name_full for one in collection.all_objects) if collection is not None else None
    )
    chosen = (*(getattr(settings, name) for name in SHAPE_SETTINGS), str(members))
    if settings.layer:  # earlier versions had none
        chosen += (settings.layer,)
    if settings.use_internal_springs:  # nor these
        chosen += tuple(getattr(settings, name) for name in INTERNAL_SPRINGS)
    attached = tuple(
        (one.vertex_group, one.target and one.target.name_full, one.follow)
        for one in settings.attachments
    )

    def read() -> Iterator[Any]:
        yield chosen
        yield from attached
        for group, *_to in attached:
            yield mesh_arrays.group_weights(obj, group)
        for use in GROUP_USES:
            if use == "internal" and not settings.use_internal_springs:
                continue  # earlier versions had no such group
            yield mesh_arrays.group_weights(obj, getattr(settings, f"{use}_group"))
        if settings.use_uv or settings.rest_shape == "PATTERN":
            yield mesh_arrays.active_uv(obj.data)
        if settings.use_sewing:
            yield mesh_arrays.loose_edges(obj.data)
        if settings.rest_shape == "KEY" and obj.data.shape_keys is not None:
            yield rest_shape.key_coordinates(obj.data, settings.rest_key)

    return _memoised((obj.session_uid, "pins", *chosen, attached), read)


def _mesh(obj: Object) -> str:
    def read() -> Iterator[Any]:
        if obj.type != "MESH":
            yield from dependencies.shape(obj)
            return
        yield mesh_arrays.rest_coordinates(obj.data)
        yield mesh_arrays.corner_vertices(obj.data)
        yield mesh_arrays.corner_counts(obj.data)
        yield from _user_keys(obj)

    return _memoised((obj.session_uid, "mesh"), read)


def _user_keys(obj: Object) -> Iterator[Any]:
    key = obj.data.shape_keys
    if key is None:
        return
    own = {block.name for block in shape_keys.own_keys(obj)}
    users = [block for block in key.key_blocks[1:] if block.name not in own]
    animated = fcurves.animated_paths(key)
    muted = shape_keys.muted_user_keys(obj)
    for block in users:
        points = np.empty(3 * len(obj.data.vertices), np.float32)
        block.points.foreach_get("co", points)
        yield points
        yield block.vertex_group, block.mute and block not in muted
        if shape_keys.value_path(block.name) not in animated:
            yield block.value
    own_paths = {shape_keys.value_path(name) for name in own}
    for curve in fcurves.curves(key):
        if curve.data_path not in own_paths:
            yield from fcurves.keyframes(curve)


# --- hashing ----------------------------------------------------------------------------------


def _memoised(known: tuple, read: Any) -> str:
    if known not in _geometry:
        _geometry[known] = _digest(read())
    return _geometry[known]


def _digest(values: Iterable[Any]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for value in values:
        digest.update(value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode())
    return digest.hexdigest()
