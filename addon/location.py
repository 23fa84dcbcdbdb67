# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the caches of a scene are."""

import shutil
from pathlib import Path

import bpy
from bpy.types import Object, Scene

from . import cache, checkpoint

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
    """Deletes the cache of an object, and its checkpoint when no other cloth needs it."""
    path = stem(scene, obj)
    try:
        bake = cache.read_description(path).bake
    except cache.CacheError:
        bake = ""
    cache.remove(path)
    if bake:
        checkpoint.remove_if_unused(path.parent, bake)


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
        for file in (cache.data_path(path), checkpoint.path_of(source, bake)):
            if file.is_file():
                shutil.move(file, target / file.name)
        # The description last: what it describes is there by then.
        description = cache.description_path(path)
        shutil.move(description, target / description.name)


def _chosen(scene: Scene) -> str:
    return scene.weft.cache_directory or DEFAULT
