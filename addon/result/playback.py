# SPDX-License-Identifier: GPL-3.0-or-later
"""Result of a bake on an object, as shape keys or as a Mesh Cache modifier."""

from pathlib import Path

from bpy.types import Object

from ..cache import pc2
from . import mesh_cache, shape_keys


def write(
    obj: Object, kind: str, stem: Path, description: pc2.Description, frame_count: int
) -> None:
    """Replaces the result of an object by the first frames of a cache, and shows it."""
    disable(obj)
    mesh_cache.remove(obj)
    if kind == "MODIFIER":
        shape_keys.remove(obj)
        mesh_cache.write(obj, stem, description.frame_start, frame_count)
        enable(obj)
    else:
        frames = pc2.frames(stem, description, frame_count)
        shape_keys.write(obj, description.frame_start, frames)


def exists(obj: Object) -> bool:
    """Whether the shape keys or the modifier of the result still exist."""
    return bool(shape_keys.own_keys(obj)) or mesh_cache.own_modifier(obj) is not None


def problem(obj: Object) -> str:
    """Defect of the result for the panel; empty if it is intact."""
    if mesh_cache.missing_file(obj):
        folder = Path(mesh_cache.missing_file(obj)).parent
        return f"The Mesh Cache modifier finds no frames in the folder '{folder}'"
    if exists(obj):
        return ""
    if obj.weft.result.modifier:
        return "The Mesh Cache modifier of the result is gone: Resume makes it again"
    return "The shape keys of the result are gone: Resume writes them again"


def kind_label(obj: Object) -> str:
    return "Mesh Cache modifier" if obj.weft.result.modifier else "Shape keys"


def enable(obj: Object) -> None:
    """Shows the result, and mutes keys and modifiers that it already contains."""
    result = obj.weft.result
    if result.shown or result.frame_count == 0:
        return
    if result.modifier:
        mesh_cache.enable(obj)
        result.shown = True
    else:
        shape_keys.enable(obj)


def disable(obj: Object) -> None:
    """Hides the result and restores the user's keys and modifiers."""
    result = obj.weft.result
    if not result.shown:
        return
    if result.modifier:
        mesh_cache.disable(obj)
        result.shown = False
    else:
        shape_keys.disable(obj)


def remove(obj: Object) -> None:
    """Deletes the result and restores the object to its state before the bake."""
    disable(obj)
    mesh_cache.remove(obj)
    shape_keys.remove(obj)
    left = (
        "frame_start",
        "frame_count",
        "bake",
        "cache",
        "fingerprint",
        "statistic",
        "warnings",
        "place",
        "is_live",
    )
    for name in left:
        obj.weft.result.property_unset(name)
