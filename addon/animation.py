# SPDX-License-Identifier: GPL-3.0-or-later
"""Animation curves in all versions of Blender: `Action.fcurves` is gone in 5.0."""

import numpy as np
from bpy.types import ID, Action, FCurve


def action_of(owner: ID) -> Action | None:
    return owner.animation_data.action if owner.animation_data is not None else None


def curve_lists(owner: ID) -> list:
    """The lists of curves that animate a datablock: those of its slot in a layered action."""
    action = action_of(owner)
    if action is None:
        return []
    if not hasattr(action, "layers"):
        return [action.fcurves]
    slot = owner.animation_data.action_slot
    if slot is None:
        return []
    strips = [strip for layer in action.layers for strip in layer.strips]
    bags = [strip.channelbag(slot) for strip in strips]
    return [bag.fcurves for bag in bags if bag is not None]


def curves(owner: ID) -> list[FCurve]:
    return [curve for curves in curve_lists(owner) for curve in curves]


def moving_paths(owner: ID) -> set[str]:
    """The properties of a datablock that curves or drivers set."""
    drivers = owner.animation_data.drivers if owner.animation_data is not None else ()
    return {curve.data_path for curve in (*curves(owner), *drivers)}


def new_curve(owner: ID, path: str) -> FCurve:
    """A curve in the action that the datablock has."""
    action = owner.animation_data.action
    if hasattr(action, "fcurve_ensure_for_datablock"):
        return action.fcurve_ensure_for_datablock(owner, path)
    return action.fcurves.new(path)


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
