# SPDX-License-Identifier: GPL-3.0-or-later
"""A result as a Mesh Cache modifier that plays the cache file.

It is the first modifier of the stack, so that subdivision and thickness act on the result.
Deforming modifiers are muted while it is shown, because the result contains their deformation.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import bpy
from bpy.types import MeshCacheModifier, Object

from ..blender import modifier_state
from ..cache import pc2

NAME = "Weft"


def own_modifier(obj: Object) -> MeshCacheModifier | None:
    """The modifier of the result, None if it was deleted."""
    result = obj.weft.result
    found = modifier_state.find(obj, result.modifier, result.modifier_uid)
    return found if found is not None and found.type == "MESH_CACHE" else None


def write(obj: Object, stem: Path, frame_start: int, frame_count: int) -> None:
    """Creates the modifier for a cache, disabled."""
    result = obj.weft.result
    modifier = add(obj, NAME, frame_start)
    result.modifier, result.modifier_uid = modifier.name, modifier.persistent_uid
    result.frame_start, result.frame_count = frame_start, frame_count
    set_cache(obj, stem)


def add(obj: Object, name: str, frame_start: int) -> MeshCacheModifier:
    """A new modifier without a file, the first of the stack, disabled."""
    modifier = obj.modifiers.new(name, "MESH_CACHE")
    obj.modifiers.move(len(obj.modifiers) - 1, 0)
    modifier.cache_format, modifier.frame_start = "PC2", frame_start
    modifier.show_viewport = modifier.show_render = False
    return modifier


def set_cache(obj: Object, stem: Path) -> None:
    """Sets the file of the modifier, relative to the .blend file if possible."""
    modifier = own_modifier(obj)
    if modifier is None:
        return
    path = stored_path(stem, bpy.data.filepath)
    if modifier.filepath != path:
        modifier.filepath = path


def stored_path(stem: Path, blend: str) -> str:
    """Path of a cache as stored in a modifier of the .blend file."""
    path = str(pc2.data_path(stem))
    if blend:
        with suppress(ValueError):  # on another drive
            return bpy.path.relpath(path, start=os.path.dirname(blend))
    return path


def played_files(obj: Object) -> Iterator[tuple[MeshCacheModifier, Path]]:
    """Mesh Cache modifiers of an object, each with its file."""
    for modifier in obj.modifiers:
        if modifier.type == "MESH_CACHE" and modifier.filepath:
            path = bpy.path.abspath(modifier.filepath, library=obj.library)
            yield modifier, Path(os.path.abspath(path))


def missing_file(obj: Object) -> str:
    """File that the result should play if it does not exist, else empty."""
    own = own_modifier(obj)
    for modifier, path in played_files(obj) if own is not None else ():
        if modifier == own and not path.is_file():
            return str(path)
    return ""


def relink(obj: Object, stem: Path) -> None:
    """Sets the file of the modifier if the previous one is missing, as after undo of a save."""
    if missing_file(obj) and pc2.data_path(stem).is_file():
        set_cache(obj, stem)


def enable(obj: Object) -> None:
    """Shows the result and mutes deforming modifiers."""
    modifier = own_modifier(obj)
    if modifier is None:
        return
    modifier_state.mute(obj, modifier_state.is_deforming)
    modifier.show_viewport = modifier.show_render = True


def disable(obj: Object) -> None:
    """Hides the result and restores the modifiers."""
    modifier = own_modifier(obj)
    if modifier is not None:
        modifier.show_viewport = modifier.show_render = False
    modifier_state.restore(obj)


def remove(obj: Object) -> None:
    """Deletes the modifier."""
    modifier = own_modifier(obj)
    if modifier is not None:
        obj.modifiers.remove(modifier)
    obj.weft.result.modifier, obj.weft.result.modifier_uid = "", 0
