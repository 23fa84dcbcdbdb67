# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the caches of a scene are."""

import shutil
from pathlib import Path

import bpy
from bpy.types import Object, Scene

from . import cache, checkpoint, record

DEFAULT = "//weft_cache/"


def is_temporary(scene: Scene) -> bool:
    """True while the folder depends on a .blend file that has not been saved yet."""
    return not bpy.data.filepath and _chosen(scene).startswith("//")


def directory(scene: Scene) -> Path:
    """The cache folder of a scene; it need not exist."""
    if is_temporary(scene):
        return Path(bpy.app.tempdir) / "weft_cache"
    return Path(bpy.path.abspath(_chosen(scene)))


def stem(scene: Scene, obj: Object) -> Path:
    """The path of an object's cache without its endings."""
    return directory(scene) / obj.weft.identity


def remove(scene: Scene, obj: Object) -> None:
    """Deletes the cache of an object, and what its bake needs when no other cloth needs it."""
    remove_stem(stem(scene, obj))


def remove_stem(path: Path) -> None:
    """Deletes a cache by its path without endings."""
    try:
        bake = cache.read_description(path).bake
    except cache.CacheError:
        bake = ""
    cache.remove(path)
    if bake:
        _remove_if_unused(path.parent, bake)


def _remove_if_unused(directory: Path, bake: str) -> None:
    if any(bake.encode() in path.read_bytes() for path in directory.glob("*.json")):
        return
    checkpoint.remove(directory, bake)
    record.path_of(directory, bake).unlink(missing_ok=True)


def move_from_temporary(scene: Scene) -> None:
    """Brings caches that were baked before the first save into the folder beside the file."""
    source, target = Path(bpy.app.tempdir) / "weft_cache", directory(scene)
    if not source.is_dir() or is_temporary(scene):
        return
    for obj in scene.objects:
        path = source / obj.weft.identity
        if not obj.weft.identity or not cache.description_path(path).is_file():
            continue
        target.mkdir(parents=True, exist_ok=True)
        bake = cache.read_description(path).bake
        states = checkpoint.paths(source, bake).values()
        for file in (cache.data_path(path), record.path_of(source, bake), *states):
            if file.is_file():
                shutil.move(file, target / file.name)
        # The description last: what it describes is there by then.
        description = cache.description_path(path)
        shutil.move(description, target / description.name)


# --- caches of deleted objects ----------------------------------------------------------------


def orphans(scene: Scene) -> list[Path]:
    """Stems of caches in the folder that this file made for objects it does not have any more."""
    folder = directory(scene)
    if not folder.is_dir():
        return []
    known = {obj.weft.identity for obj in bpy.data.objects if obj.weft.identity}
    return [p.with_suffix("") for p in sorted(folder.glob("*.json")) if _is_orphan(p, known)]


def _is_orphan(path: Path, known: set[str]) -> bool:
    if path.stem in known:
        return False
    try:
        description = cache.read_description(path.with_suffix(""))
    except cache.CacheError:
        return False  # not ours, or not to be understood: left alone
    return description.blend == blend_name()


def blend_name() -> str:
    """The name of the open file, by which it knows its own caches; empty before it is saved."""
    return Path(bpy.data.filepath).name


def size(stems: list[Path]) -> int:
    """Bytes that the frames of these caches take."""
    return sum(cache.data_path(s).stat().st_size for s in stems if cache.data_path(s).is_file())


def _chosen(scene: Scene) -> str:
    return scene.weft.cache_directory or DEFAULT
