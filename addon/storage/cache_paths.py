# SPDX-License-Identifier: GPL-3.0-or-later
"""Locations of the caches of a scene."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import bpy
from bpy.types import Object, PropertyGroup, Scene

from ..cache import checkpoint, pc2
from ..result import mesh_cache
from . import frame_record, ownership

DEFAULT = f"//{ownership.DEFAULT_FOLDER}/"


def is_temporary(scene: Scene) -> bool:
    """Whether the cache folder depends on a .blend file that was not saved yet."""
    return not bpy.data.filepath and _chosen_folder(scene).startswith("//")


def session_directory() -> Path:
    """Cache folder of unsaved files; Blender deletes it at exit."""
    return Path(os.path.abspath(bpy.app.tempdir), ownership.DEFAULT_FOLDER)


def directory(scene: Scene, blend: str | None = None) -> Path:
    """Cache folder of a scene, or its future folder when saved as `blend`; need not exist."""
    blend = bpy.data.filepath if blend is None else blend
    chosen = _chosen_folder(scene)
    if chosen.startswith("//") and not blend:
        return session_directory()
    return Path(bpy.path.abspath(chosen, start=os.path.dirname(blend)))


def own_stem(scene: Scene, obj: Object, blend: str | None = None) -> Path:
    """Path without suffix of the next cache of an object, unique to file and object."""
    return directory(scene, blend) / ownership.cache_name(obj, blend)


def stem(scene: Scene, obj: Object) -> Path:
    """Path without suffix of the current cache of an object.

    In order of preference: the cache that the object shows, a cache that the open file made for the
    object, the cache of the last bake, the path of the next cache.
    """
    known = {
        path: found
        for path in _candidate_stems(scene, obj)
        if (found := pc2.cached_description(path))
    }
    for path, description in known.items():
        if ownership.is_shown(obj, description):
            return path
    for path, description in known.items():
        if ownership.is_own(obj, path, description):
            return path
    remembered = Path(obj.weft.result.cache)
    return remembered if remembered in known else own_stem(scene, obj)


def take_stem(scene: Scene, take: PropertyGroup) -> Path:
    """Path without suffix of the cache of a take, in the cache folder or where it was made."""
    remembered = Path(take.cache)
    here = directory(scene) / remembered.name
    return here if pc2.data_path(here).is_file() else remembered


def _candidate_stems(scene: Scene, obj: Object) -> Iterator[Path]:
    """Paths at which the cache of an object may be."""
    folder, remembered = directory(scene), Path(obj.weft.result.cache)
    yield own_stem(scene, obj)
    if remembered.name:
        yield folder / remembered.name
        yield remembered
    yield folder / obj.weft.identity  # cache name of earlier versions


# --- removing ---------------------------------------------------------------------------------


def removable(scene: Scene, obj: Object) -> set[Path]:
    """Stems of the caches of an object that this file may delete."""
    own, found = own_stem(scene, obj), stem(scene, obj)
    description = pc2.cached_description(found)
    is_own = description is None or ownership.is_own(obj, found, description)
    return {own, found} if is_own else {own}


def files(stems: set[Path]) -> list[Path]:
    """Files of caches in one folder, with checkpoints and records that no other cache uses."""
    found = []
    for path in stems:
        found += [pc2.description_path(path), pc2.data_path(path)]
    for path in stems:
        with suppress(pc2.CacheError):
            bake = pc2.read_description(path).bake
            if not _is_used(path.parent, bake, besides=found):
                found += [*checkpoint.paths(path.parent, bake).values()]
                found.append(frame_record.path_of(path.parent, bake))
    return list(dict.fromkeys(found))


def remove(scene: Scene, obj: Object) -> None:
    """Deletes the caches of an object, with checkpoints and record if no other cloth uses them.

    A cache that belongs to another file is kept.
    """
    for path in removable(scene, obj):
        remove_stem(path)


def remove_stem(path: Path) -> None:
    """Deletes a cache by its path without suffix."""
    rest = files({path})
    pc2.remove(path)
    for each in rest:
        each.unlink(missing_ok=True)


def _is_used(directory: Path, bake: str, besides: list[Path]) -> bool:
    """Whether other descriptions in a folder name a bake."""
    others = (path for path in directory.glob("*.json") if path not in besides)
    return any(bake.encode() in path.read_bytes() for path in others)


# --- caches of deleted objects ----------------------------------------------------------------


def orphans(scene: Scene) -> list[Path]:
    """Stems of caches that this file made for objects and takes that it no longer contains."""
    folder = directory(scene)
    if not folder.is_dir():
        return []
    known = {obj.weft.identity for obj in bpy.data.objects if obj.weft.identity}
    kept = {take.bake for obj in bpy.data.objects for take in obj.weft.takes}
    stems = [path.with_suffix("") for path in sorted(folder.glob("*.json"))]
    found = [path for path in stems if _is_orphan(path, known, kept)]
    if not found:
        return []
    played = {path for obj in bpy.data.objects for _modifier, path in mesh_cache.played_files(obj)}
    return [path for path in found if pc2.data_path(path) not in played]


def _is_orphan(path: Path, known: set[str], kept: set[str]) -> bool:
    description = pc2.cached_description(path)
    if description is None or description.bake in kept:
        return False  # unreadable, not of Weft, or a take
    if ownership.identity_of(path, description) in known and not ownership.is_take(path):
        return False
    return ownership.is_of_file(path, description)


def size(stems: list[Path]) -> int:
    """Bytes of the frames of these caches."""
    return sum(pc2.data_path(s).stat().st_size for s in stems if pc2.data_path(s).is_file())


def _chosen_folder(scene: Scene) -> str:
    return scene.weft.cache_directory or DEFAULT
