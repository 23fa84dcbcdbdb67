# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the caches of a scene are."""

import os
from collections.abc import Iterator
from pathlib import Path

import bpy
from bpy.types import Object, Scene

from ..cache import checkpoint, pc2
from ..result import mesh_cache
from . import frame_record, ownership

DEFAULT = f"//{ownership.BESIDE}/"


def is_temporary(scene: Scene) -> bool:
    """True while the folder depends on a .blend file that has not been saved yet."""
    return not bpy.data.filepath and _chosen(scene).startswith("//")


def session_directory() -> Path:
    """The cache folder of files that have not been saved yet; Blender deletes it when it ends."""
    return Path(os.path.abspath(bpy.app.tempdir), ownership.BESIDE)


def directory(scene: Scene, blend: str | None = None) -> Path:
    """The cache folder of a scene, or what it will be in another file; it need not exist."""
    blend = bpy.data.filepath if blend is None else blend
    chosen = _chosen(scene)
    if chosen.startswith("//") and not blend:
        return session_directory()
    return Path(bpy.path.abspath(chosen, start=os.path.dirname(blend)))


def own_stem(scene: Scene, obj: Object, blend: str | None = None) -> Path:
    """Where the next bake of an object goes: no other file and object writes there."""
    return directory(scene, blend) / ownership.name(obj, blend)


def stem(scene: Scene, obj: Object) -> Path:
    """The path of an object's cache without its endings.

    It is where the last bake put it, or where that has been moved to with the file: what the
    object shows, or else what the open file made for it.
    """
    known = {path: found for path in _places(scene, obj) if (found := pc2.described(path))}
    for path, description in known.items():
        if ownership.is_shown(obj, description):
            return path
    for path, description in known.items():
        if ownership.is_own(obj, path, description):
            return path
    remembered = Path(obj.weft.result.cache)
    return remembered if remembered in known else own_stem(scene, obj)


def _places(scene: Scene, obj: Object) -> Iterator[Path]:
    folder, remembered = directory(scene), Path(obj.weft.result.cache)
    yield own_stem(scene, obj)
    if remembered.name:
        yield folder / remembered.name
        yield remembered
    yield folder / obj.weft.identity  # the name before each file had its own


# --- removing ---------------------------------------------------------------------------------


def remove(scene: Scene, obj: Object) -> bool:
    """Deletes the caches of an object, and what their bakes need when no other cloth needs it.

    One that is another file's stays: False.
    """
    own, found = own_stem(scene, obj), stem(scene, obj)
    description = pc2.described(found)
    is_own = description is None or ownership.is_own(obj, found, description)
    for path in {own, found} if is_own else {own}:
        remove_stem(path)
    return is_own


def remove_stem(path: Path) -> None:
    """Deletes a cache by its path without endings."""
    try:
        bake = pc2.read_description(path).bake
    except pc2.CacheError:
        bake = ""
    pc2.remove(path)
    if bake:
        _remove_if_unused(path.parent, bake)


def _remove_if_unused(directory: Path, bake: str) -> None:
    if any(bake.encode() in path.read_bytes() for path in directory.glob("*.json")):
        return
    checkpoint.remove(directory, bake)
    frame_record.path_of(directory, bake).unlink(missing_ok=True)


# --- caches of deleted objects ----------------------------------------------------------------


def orphans(scene: Scene) -> list[Path]:
    """Stems of caches in the folder that this file made for objects it does not have any more."""
    folder = directory(scene)
    if not folder.is_dir():
        return []
    known = {obj.weft.identity for obj in bpy.data.objects if obj.weft.identity}
    stems = [path.with_suffix("") for path in sorted(folder.glob("*.json"))]
    found = [path for path in stems if _is_orphan(path, known)]
    if not found:
        return []
    played = {path for obj in bpy.data.objects for _modifier, path in mesh_cache.played(obj)}
    return [path for path in found if pc2.data_path(path) not in played]


def _is_orphan(path: Path, known: set[str]) -> bool:
    description = pc2.described(path)
    if description is None:
        return False  # not ours, or not to be understood: left alone
    if ownership.identity(path, description) in known:
        return False
    return ownership.is_of_file(path, description)


def size(stems: list[Path]) -> int:
    """Bytes that the frames of these caches take."""
    return sum(pc2.data_path(s).stat().st_size for s in stems if pc2.data_path(s).is_file())


def _chosen(scene: Scene) -> str:
    return scene.weft.cache_directory or DEFAULT
