# SPDX-License-Identifier: GPL-3.0-or-later
"""Animation curves in all versions of Blender: `Action.fcurves` is gone in 5.0."""

import numpy as np
from bpy.types import ID, Action, AnimData, FCurve, NlaStrip, NlaTrack


def action_of(owner: ID) -> Action | None:
    return owner.animation_data.action if owner.animation_data is not None else None


def curve_lists(owner: ID) -> list:
    """The lists of curves that animate a datablock: those of its slot in a layered action."""
    action = action_of(owner)
    return [] if action is None else _lists(action, owner.animation_data)


def _lists(action: Action, user: AnimData | NlaStrip) -> list:
    """The lists of curves in an action for who uses it."""
    if not hasattr(action, "layers"):
        return [action.fcurves]
    slot = user.action_slot
    if slot is None:
        return []
    strips = [strip for layer in action.layers for strip in layer.strips]
    bags = [strip.channelbag(slot) for strip in strips]
    return [bag.fcurves for bag in bags if bag is not None]


def curves(owner: ID) -> list[FCurve]:
    return [curve for curves in curve_lists(owner) for curve in curves]


def tracks(owner: ID) -> list[NlaTrack]:
    return list(owner.animation_data.nla_tracks) if owner.animation_data is not None else []


def strip_curves(strip: NlaStrip) -> list[FCurve]:
    """The curves that a strip plays, those of a transition or sound excepted."""
    if strip.action is None:
        return []
    return [curve for curves in _lists(strip.action, strip) for curve in curves]


def drivers(owner: ID) -> list[FCurve]:
    return list(owner.animation_data.drivers) if owner.animation_data is not None else []


def keyed_paths(owner: ID) -> set[str]:
    """The properties of a datablock that curves or strips set."""
    strips = [strip for track in tracks(owner) for strip in track.strips]
    played = [curve for strip in strips for curve in strip_curves(strip)]
    return {curve.data_path for curve in (*curves(owner), *played)}


def moving_paths(owner: ID) -> set[str]:
    """The properties of a datablock that curves, strips or drivers set."""
    return keyed_paths(owner) | {curve.data_path for curve in drivers(owner)}


def new_curve(owner: ID, path: str) -> FCurve:
    """A curve in the action that the datablock has."""
    action = owner.animation_data.action
    if hasattr(action, "fcurve_ensure_for_datablock"):
        return action.fcurve_ensure_for_datablock(owner, path)
    return action.fcurves.new(path)


def shares_curves(one: ID, other: ID) -> bool:
    """Whether two datablocks play the same curves: changing those of one changes the other."""
    if one == other or action_of(one) is None or action_of(one) != action_of(other):
        return False
    slots = [getattr(owner.animation_data, "action_slot_handle", 0) for owner in (one, other)]
    return slots[0] == slots[1]


def make_single_user(owner: ID) -> None:
    """Gives a datablock a copy of its action."""
    owner.animation_data.action = action_of(owner).copy()


def keyframes(curve: FCurve) -> tuple[np.ndarray, ...]:
    """Points, handles and interpolations as arrays."""
    points = curve.keyframe_points
    arrays = []
    for name in ("co", "handle_left", "handle_right"):
        array = np.empty(2 * len(points), np.float32)
        points.foreach_get(name, array)
        arrays.append(array)
    interpolations = np.empty(len(points), np.int32)
    points.foreach_get("interpolation", interpolations)
    return (*arrays, interpolations)
