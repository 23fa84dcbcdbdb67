# SPDX-License-Identifier: GPL-3.0-or-later
"""F-curves of a datablock in every supported Blender; 5.0 removed `Action.fcurves`."""

from typing import Any

import bpy
import numpy as np
from bpy.types import ID, Action, AnimData, FCurve, NlaStrip, NlaTrack


def action_of(owner: ID) -> Action | None:
    """The action assigned to a datablock, or None."""
    return owner.animation_data.action if owner.animation_data is not None else None


def curve_collections(owner: ID) -> list:
    """F-curve collections that animate a datablock; of a layered action those of its slot."""
    action = action_of(owner)
    return [] if action is None else _curve_collections(action, owner.animation_data)


def _curve_collections(action: Action, user: AnimData | NlaStrip) -> list:
    """F-curve collections of an action for one of its users."""
    if not hasattr(action, "layers"):
        return [action.fcurves]
    slot = user.action_slot
    if slot is None:
        return []
    strips = [strip for layer in action.layers for strip in layer.strips]
    bags = [strip.channelbag(slot) for strip in strips]
    return [bag.fcurves for bag in bags if bag is not None]


def curves(owner: ID) -> list[FCurve]:
    """All F-curves that animate a datablock through its own action."""
    return [curve for curves in curve_collections(owner) for curve in curves]


def tracks(owner: ID) -> list[NlaTrack]:
    return list(owner.animation_data.nla_tracks) if owner.animation_data is not None else []


def strip_curves(strip: NlaStrip) -> list[FCurve]:
    """F-curves of the action of an NLA strip; none for transition and sound strips."""
    if strip.action is None:
        return []
    return [curve for curves in _curve_collections(strip.action, strip) for curve in curves]


def drivers(owner: ID) -> list[FCurve]:
    return list(owner.animation_data.drivers) if owner.animation_data is not None else []


def keyed_paths(owner: ID) -> set[str]:
    """Data paths of a datablock that F-curves or NLA strips set."""
    strips = [strip for track in tracks(owner) for strip in track.strips]
    played = [curve for strip in strips for curve in strip_curves(strip)]
    return {curve.data_path for curve in (*curves(owner), *played)}


def animated_paths(owner: ID) -> set[str]:
    """Data paths of a datablock that F-curves, NLA strips or drivers set."""
    return keyed_paths(owner) | {curve.data_path for curve in drivers(owner)}


def new_action(owner: ID, name: str) -> tuple[Action, Any]:
    """A new action for a datablock, not yet assigned, and its empty collection of F-curves."""
    action = bpy.data.actions.new(name)
    if not hasattr(action, "fcurve_ensure_for_datablock"):
        action.id_root = owner.id_type
        return action, action.fcurves
    slot = action.slots.new(owner.id_type, owner.name)
    strip = action.layers.new(name).strips.new(type="KEYFRAME")
    return action, strip.channelbag(slot, ensure=True).fcurves


def add_track(owner: ID, action: Action, first: int) -> None:
    """Plays an action whose keyframes begin at frame `first` in a new NLA track.

    The action that is assigned to the datablock stays the user's.
    """
    data = owner.animation_data or owner.animation_data_create()
    track = data.nla_tracks.new()
    strip = track.strips.new(action.name, first, action)
    track.name, strip.extrapolation = action.name, "HOLD"
    if getattr(action, "slots", None):
        strip.action_slot = action.slots[0]


def remove_track(owner: ID, track: NlaTrack) -> None:
    """Removes an NLA track, and the actions of its strips that nothing else plays."""
    actions = {strip.action for strip in track.strips if strip.action is not None}
    owner.animation_data.nla_tracks.remove(track)
    for action in actions:
        if action.users == 0:
            bpy.data.actions.remove(action)


def shares_curves(one: ID, other: ID) -> bool:
    """Whether both datablocks are animated by the same F-curves of one action."""
    if one == other or action_of(one) is None or action_of(one) != action_of(other):
        return False
    slots = [getattr(owner.animation_data, "action_slot_handle", 0) for owner in (one, other)]
    return slots[0] == slots[1]


def make_single_user(owner: ID) -> None:
    """Assigns a copy of its action to a datablock."""
    owner.animation_data.action = action_of(owner).copy()


def keyframes(curve: FCurve) -> tuple[np.ndarray, ...]:
    """Coordinates, handles and interpolation modes of the keyframes, as arrays."""
    points = curve.keyframe_points
    arrays = []
    for name in ("co", "handle_left", "handle_right"):
        array = np.empty(2 * len(points), np.float32)
        points.foreach_get(name, array)
        arrays.append(array)
    interpolations = np.empty(len(points), np.int32)
    points.foreach_get("interpolation", interpolations)
    return (*arrays, interpolations)
