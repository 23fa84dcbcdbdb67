# SPDX-License-Identifier: GPL-3.0-or-later
"""What a result was baked from, in hashes: tells which part has changed since.

Covered is what can be read without evaluating other frames: meshes, user's shape keys, pins,
materials, settings, transforms, modifiers, and the actions of everything they depend on. Weft's
own keys and what it mutes do not count, so showing a result changes nothing.
"""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import bpy
import numpy as np
from bpy.types import ID, Modifier, Object, Scene, ViewLayer

from . import animation, identity, mesh_arrays, modifiers, shape_keys, timing
from .material import as_decimal
from .scene_reader import gravity, participants

SETTINGS = "settings"
WORDS = {
    "mesh": "the mesh of '{}' has changed",
    "pins": "the pins or the yarns of '{}' have changed",
    "surface": "the material of '{}' has changed",
    "motion": "the motion or the modifiers of '{}' have changed",
}
VALUE_TYPES = frozenset(("BOOLEAN", "INT", "FLOAT", "ENUM", "STRING"))

# Hashes of what takes long to read: (session id, aspect, settings of it) -> hash
_geometry: dict[tuple, str] = {}


def of_scene(scene: Scene, view_layer: ViewLayer) -> dict[str, str]:
    """A hash for each aspect of each participant, and for the settings."""
    cloths, colliders = participants(scene, view_layer)
    hashes = {SETTINGS: _digest(_settings(scene))}
    for obj in cloths:
        hashes[f"{identity.key(obj)}/pins"] = _pins(obj)
        hashes[f"{identity.key(obj)}/surface"] = _digest([obj.weft.material.as_dict()])
    for obj in colliders:
        surface = [as_decimal(obj.weft.friction), as_decimal(obj.weft.thickness)]
        hashes[f"{identity.key(obj)}/surface"] = _digest(surface)
    for obj in (*cloths, *colliders):
        hashes[f"{identity.key(obj)}/mesh"] = _mesh(obj)
        hashes[f"{identity.key(obj)}/motion"] = _digest(_motion(obj))
    return hashes


def difference(then: dict[str, str], now: dict[str, str]) -> str:
    """The first thing that has changed, in words; empty when nothing has."""
    for part in sorted(then.keys() | now.keys()):
        if then.get(part) == now.get(part):
            continue
        if part == SETTINGS:
            return "the settings of the scene have changed"
        key, aspect = part.rsplit("/", 1)
        if part not in now:
            return f"'{_name(key)}' takes no part any more"
        if part not in then:
            return f"'{_name(key)}' takes part now"
        return WORDS[aspect].format(_name(key))
    return ""


def forget_geometry(session_uid: int | None = None) -> None:
    """Reads the mesh of this object again next time, or of all objects."""
    for known in [k for k in _geometry if session_uid in (None, k[0])]:
        del _geometry[known]


def _name(key: str) -> str:
    return next((obj.name for obj in bpy.data.objects if obj.weft.identity == key), key)


# --- aspects ----------------------------------------------------------------------------------


def _settings(scene: Scene) -> Iterator[Any]:
    solver = scene.weft.solver_settings()
    del solver["threads"]  # the result does not depend on it
    yield solver
    yield timing.frame_range(scene)[0], scene.render.fps, as_decimal(scene.render.fps_base)
    yield as_decimal(scene.unit_settings.scale_length)
    moving = animation.moving_paths(scene) & {"gravity", "weft.gravity", "weft.wind"}
    yield sorted(moving)
    for curve in animation.curves(scene):
        if curve.data_path in moving:
            yield curve.data_path, curve.array_index
            yield from animation.keyframes(curve)
    if not moving:
        yield gravity(scene), tuple(map(as_decimal, scene.weft.wind))


def _pins(obj: Object) -> str:
    def read() -> Iterator[Any]:
        yield mesh_arrays.pinned_vertices(obj)
        yield mesh_arrays.yarn_uv(obj)

    return _remembered((obj.session_uid, "pins", obj.weft.pin_group, obj.weft.use_uv), read)


def _mesh(obj: Object) -> str:
    def read() -> Iterator[Any]:
        yield mesh_arrays.rest_coordinates(obj.data)
        yield mesh_arrays.corner_vertices(obj.data)
        yield mesh_arrays.corner_counts(obj.data)
        yield from _user_keys(obj)

    return _remembered((obj.session_uid, "mesh"), read)


def _user_keys(obj: Object) -> Iterator[Any]:
    key = obj.data.shape_keys
    if key is None:
        return
    own = {block.name for block in shape_keys.own_keys(obj)}
    users = [block for block in key.key_blocks[1:] if block.name not in own]
    moving = animation.moving_paths(key)
    muted_by_weft = set(obj.weft.result.muted_keys.keys())
    for block in users:
        points = np.empty(3 * len(obj.data.vertices), np.float32)
        block.points.foreach_get("co", points)
        yield points
        yield block.vertex_group, block.mute and block.name not in muted_by_weft
        if shape_keys.value_path(block.name) not in moving:
            yield block.value
    own_paths = {shape_keys.value_path(name) for name in own}
    for curve in animation.curves(key):
        if curve.data_path not in own_paths:
            yield from animation.keyframes(curve)


def _motion(obj: Object) -> Iterator[Any]:
    """Transforms, modifiers and actions of an object and all it depends on."""
    seen, waiting = set(), [obj]
    while waiting:
        owner = waiting.pop()
        if owner.session_uid in seen:
            continue
        seen.add(owner.session_uid)
        yield from _own_motion(owner)
        for modifier in _relevant_modifiers(owner):
            yield modifier.type, *modifiers.shown(owner, modifier)
            yield from _modifier_values(owner, modifier)
        targets = [getattr(modifier, "object", None) for modifier in _relevant_modifiers(owner)]
        targets += [getattr(constraint, "target", None) for constraint in owner.constraints]
        waiting += [target for target in (owner.parent, *targets) if isinstance(target, Object)]


def _own_motion(owner: Object) -> Iterator[Any]:
    if not animation.moving_paths(owner):
        yield [tuple(row) for row in owner.matrix_basis]
        if owner.pose is not None:
            yield [tuple(row) for bone in owner.pose.bones for row in bone.matrix_basis]
    for curve in animation.curves(owner):
        yield curve.data_path, curve.array_index
        yield from animation.keyframes(curve)


def _relevant_modifiers(owner: Object) -> list[Modifier]:
    """Those that move what is read: a cloth is read without its generative ones."""
    if owner.weft.role == "CLOTH":
        return [modifier for modifier in owner.modifiers if modifiers.is_deforming(modifier)]
    return [modifier for modifier in owner.modifiers if modifier.type not in modifiers.SHAPELESS]


def _modifier_values(owner: ID, modifier: Modifier) -> Iterator[Any]:
    moving = animation.moving_paths(owner)
    for prop in modifier.bl_rna.properties:
        name = prop.identifier
        if prop.type not in VALUE_TYPES or prop.is_readonly or name.startswith("show_"):
            continue
        if name in {"name", "is_active"} or modifier.path_from_id(name) in moving:
            continue
        value = getattr(modifier, name)
        yield name, tuple(value) if getattr(prop, "is_array", False) else value


# --- hashing ----------------------------------------------------------------------------------


def _remembered(known: tuple, read: Any) -> str:
    if known not in _geometry:
        _geometry[known] = _digest(read())
    return _geometry[known]


def _digest(parts: Iterable[Any]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode())
    return digest.hexdigest()
