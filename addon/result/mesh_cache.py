# SPDX-License-Identifier: GPL-3.0-or-later
"""A result as a Mesh Cache modifier that plays the cache file: small files, but tied to theirs.

The modifier comes first, so what subdivides or thickens the cloth works on the result; deforming
modifiers rest while it is shown, because their motion is in the file already.
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
    """The modifier that a bake made on this object, if it is still there."""
    result = obj.weft.result
    found = modifier_state.find(obj, result.modifier, result.modifier_uid)
    return found if found is not None and found.type == "MESH_CACHE" else None


def write(obj: Object, stem: Path, frame_start: int, frame_count: int) -> None:
    """Makes the modifier that plays a cache, not shown yet."""
    result = obj.weft.result
    modifier = obj.modifiers.new(NAME, "MESH_CACHE")
    obj.modifiers.move(len(obj.modifiers) - 1, 0)
    result.modifier, result.modifier_uid = modifier.name, modifier.persistent_uid
    modifier.cache_format, modifier.frame_start = "PC2", frame_start
    modifier.show_viewport = modifier.show_render = False
    result.frame_start, result.frame_count = frame_start, frame_count
    point_to(obj, stem)


def point_to(obj: Object, stem: Path) -> None:
    """Tells the modifier where the cache is, relative to the file where that is possible."""
    modifier = own_modifier(obj)
    if modifier is None:
        return
    path = path_to(stem, bpy.data.filepath)
    if modifier.filepath != path:
        modifier.filepath = path


def path_to(stem: Path, blend: str) -> str:
    """What a modifier in a .blend file is told to play a cache."""
    path = str(pc2.data_path(stem))
    if blend:
        with suppress(ValueError):  # on another drive
            return bpy.path.relpath(path, start=os.path.dirname(blend))
    return path


def played(obj: Object) -> Iterator[tuple[MeshCacheModifier, Path]]:
    """The Mesh Cache modifiers of an object, and the file that each plays."""
    for modifier in obj.modifiers:
        if modifier.type == "MESH_CACHE" and modifier.filepath:
            path = bpy.path.abspath(modifier.filepath, library=obj.library)
            yield modifier, Path(os.path.abspath(path))


def missing(obj: Object) -> str:
    """The file that the result on an object should play, where there is none; else empty."""
    own = own_modifier(obj)
    for modifier, path in played(obj) if own is not None else ():
        if modifier == own and not path.is_file():
            return str(path)
    return ""


def mend(obj: Object, stem: Path) -> None:
    """Plays a cache where the modifier finds no file, as after undoing the first save."""
    if missing(obj) and pc2.data_path(stem).is_file():
        point_to(obj, stem)


def enable(obj: Object) -> None:
    """Shows the result; deforming modifiers rest."""
    modifier = own_modifier(obj)
    if modifier is None:
        return
    modifier_state.mute(obj, modifier_state.is_deforming)
    modifier.show_viewport = modifier.show_render = True


def disable(obj: Object) -> None:
    """Hides the result and gives the modifiers back."""
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
