# SPDX-License-Identifier: GPL-3.0-or-later
"""A result as shape keys: one relative key per frame, with a linear 0-1-0 F-curve of its value.

The first curve starts and the last one ends at 1, so that the cloth keeps its first and last shape
outside the frame range. The curves are an action of their own in an NLA track, so that the action
of the keys, and the timeline, hold the user's keyframes only. While the result is shown, the user's
keys and the deforming modifiers are muted, because the result contains their deformation; `disable`
and `remove` restore them.
"""

import re
from collections.abc import Iterable

import bpy
import numpy as np
from bpy.types import Key, Object, ShapeKey

from ..blender import fcurves, modifier_state

LINEAR = 1  # enum value of the keyframe interpolation LINEAR


def own_keys(obj: Object) -> list[ShapeKey]:
    """Shape keys of the result of an object, in their order."""
    prefix = obj.weft.result.key_prefix
    key = obj.data.shape_keys
    if not prefix or key is None:
        return []
    own = re.compile(re.escape(prefix) + r"-?\d+")
    return [block for block in key.key_blocks if own.fullmatch(block.name)]


def write(obj: Object, frame_start: int, frames: Iterable[np.ndarray]) -> None:
    """Replaces the keys by these frames, float32 `(vertices, 3)`, and shows them."""
    disable(obj)
    _remove_own(obj)
    try:
        _write_keys(obj, frame_start, frames)
    except BaseException:
        remove(obj)  # no partial result
        raise
    enable(obj)


def _write_keys(obj: Object, frame_start: int, frames: Iterable[np.ndarray]) -> None:
    result = obj.weft.result
    if obj.data.shape_keys is None:
        obj.shape_key_add(name="Basis", from_mix=False)
        result.made_basis = True
    result.key_prefix = _free_prefix(obj.data.shape_keys)
    active = obj.active_shape_key_index
    names = []
    for number, points in enumerate(frames, start=frame_start):
        block = obj.shape_key_add(name=f"{result.key_prefix}{number:04d}", from_mix=False)
        block.points.foreach_set("co", np.ascontiguousarray(points, np.float32).ravel())
        names.append(block.name)
    obj.active_shape_key_index = active
    result.frame_start, result.frame_count = frame_start, len(names)
    _write_curves(obj, names)


def enable(obj: Object) -> None:
    """Shows the result, and mutes keys and modifiers that it already contains."""
    result, key = obj.weft.result, obj.data.shape_keys
    if result.shown or key is None or result.frame_count == 0:
        return
    own = {block.name for block in own_keys(obj)}
    result.was_absolute, key.use_relative = not key.use_relative, True
    result.was_solo, obj.show_only_shape_key = obj.show_only_shape_key, False
    for place, block in enumerate(key.key_blocks[1:], start=1):
        if block.name in own:
            block.mute = False
        elif not block.mute:
            record = result.muted_keys.add()
            record.name, record.place = block.name, place
            block.mute = True
    modifier_state.mute(obj, modifier_state.is_deforming)
    result.shown = True


def disable(obj: Object) -> None:
    """Hides the result and restores the user's keys and modifiers."""
    result, key = obj.weft.result, obj.data.shape_keys
    if not result.shown:
        return
    if key is not None:
        for block in muted_user_keys(obj):
            block.mute = False
        for block in own_keys(obj):
            block.mute = True
        key.use_relative = not result.was_absolute
    obj.show_only_shape_key = result.was_solo
    result.muted_keys.clear()
    modifier_state.restore(obj)
    result.shown = False


def muted_user_keys(obj: Object) -> list[ShapeKey]:
    """The user's keys that Weft muted, by name or, after a renaming, by index."""
    key, own = obj.data.shape_keys, {block.name for block in own_keys(obj)}
    muted = {
        block.name: place
        for place, block in enumerate(key.key_blocks[1:], start=1)
        if block.mute and block.name not in own
    }
    records = obj.weft.result.muted_keys
    names = [record.name for record in records if record.name in muted]
    others = {place: name for name, place in muted.items() if name not in names}
    missing = [record.place for record in records if record.name not in muted]
    names += [others[place] for place in missing if place in others]
    return [key.key_blocks[name] for name in names]


def remove(obj: Object) -> None:
    """Deletes the keys of the result, and a basis made for them, and restores muted keys."""
    disable(obj)
    _remove_own(obj)
    result, key = obj.weft.result, obj.data.shape_keys
    if result.made_basis and key is not None and len(key.key_blocks) == 1:
        obj.shape_key_remove(key.key_blocks[0])
    for name in ("frame_start", "frame_count", "key_prefix", "made_basis"):
        result.property_unset(name)


def _free_prefix(key: Key) -> str:
    """Prefix of key names that no key and no leftover F-curve uses."""
    names = [block.name for block in key.key_blocks]
    paths = [*map(value_path, names), *fcurves.animated_paths(key)]
    number, prefix = 1, "weft_"
    while any(f'["{prefix}' in path for path in paths):
        number += 1
        prefix = f"weft{number}_"
    return prefix


def _remove_own(obj: Object) -> None:
    own = own_keys(obj)
    if not own:
        return
    _remove_track(obj)
    _remove_curves_of_earlier_versions(obj)
    active = obj.active_shape_key_index
    for block in reversed(own):
        obj.shape_key_remove(block)
    if obj.data.shape_keys is not None:
        obj.active_shape_key_index = min(active, len(obj.data.shape_keys.key_blocks) - 1)


# --- value curves -----------------------------------------------------------------------------


def value_path(name: str) -> str:
    """Data path of the value of a shape key."""
    return f'key_blocks["{name}"].value'


def _write_curves(obj: Object, names: list[str]) -> None:
    key, result = obj.data.shape_keys, obj.weft.result
    action, curves = fcurves.new_action(key, f"{obj.name} Weft")
    for index, name in enumerate(names):
        frame = result.frame_start + index
        points = np.array([(frame - 1, 0.0), (frame, 1.0), (frame + 1, 0.0)], np.float32)
        first, last = index == 0, index == len(names) - 1
        points = points[first : len(points) - last]
        curve = curves.new(value_path(name))
        curve.keyframe_points.add(len(points))
        curve.keyframe_points.foreach_set("co", points.ravel())
        curve.keyframe_points.foreach_set("interpolation", np.full(len(points), LINEAR, np.int32))
        curve.update()
    fcurves.add_track(key, action, result.frame_start)
    result.was_without_nla = not key.animation_data.use_nla
    key.animation_data.use_nla = True


def _remove_track(obj: Object) -> None:
    """Removes the NLA track of the result; a duplicate may play the same action."""
    key, result = obj.data.shape_keys, obj.weft.result
    paths = {value_path(block.name) for block in own_keys(obj)}
    for track in fcurves.tracks(key):
        played = {c.data_path for strip in track.strips for c in fcurves.strip_curves(strip)}
        if played & paths:
            fcurves.remove_track(key, track)
            key.animation_data.use_nla = not result.was_without_nla
    result.was_without_nla = False


def _remove_curves_of_earlier_versions(obj: Object) -> None:
    """Removes curves from the action of the keys, where earlier versions wrote them."""
    key, result = obj.data.shape_keys, obj.weft.result
    paths = {value_path(block.name) for block in own_keys(obj)}
    if not any(curve.data_path in paths for curve in fcurves.curves(key)):
        return
    others = ((other, getattr(other.data, "shape_keys", None)) for other in bpy.data.objects)
    if any(fcurves.shares_curves(key, its) for _other, its in others if its is not None):
        fcurves.make_single_user(key)  # keeps the result of a duplicate
    action = fcurves.action_of(key)
    for curves in fcurves.curve_collections(key):
        for curve in [curve for curve in curves if curve.data_path in paths]:
            curves.remove(curve)
    if result.made_action and action.users == 1 and not fcurves.curves(key):
        bpy.data.actions.remove(action)
    result.made_action = False
