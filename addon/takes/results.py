# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeping, choosing and removing takes.

A take has a cache of its own, a copy in the cache folder with checkpoints and record. A chosen one
is played from there, and whatever goes on with it copies it first.
"""

import json
import os
from pathlib import Path

import bpy
from bpy.types import Context, Object, Scene

from ..bake import files, fingerprint
from ..blender import file_identity, object_identity
from ..cache import pc2
from ..fabrics import presets
from ..properties import change_counter
from ..properties.take import WeftTake
from ..result import mesh_cache
from ..scene import evaluation_state
from ..storage import cache_paths, freed, ownership, transfer
from . import comparison, settings

OWN_ASPECTS = ("surface", "pins")  # of a fingerprint, which a take restores


def keep(context: Context, obj: Object, name: str) -> WeftTake:
    """Copies the result of a cloth to a new take; `ValueError` if there is none to keep."""
    source = _shown_cache(context, obj)
    description = pc2.read_description(source)
    target = cache_paths.directory(context.scene) / ownership.new_take_name(obj)
    file_identity.stamp()
    bake = transfer.copy_whole(source, target)
    take = obj.weft.takes.add()
    take.name = name
    take.cache, take.bake, take.source = os.path.abspath(target), bake, description.bake
    settings.store(obj, take)
    obj.weft.active_take = len(obj.weft.takes) - 1
    freed.watch(obj, {target})
    return take


def default_name(obj: Object) -> str:
    """Name of a new take: that of the fabric."""
    return presets.label(obj.weft.material)


def _shown_cache(context: Context, obj: Object) -> Path:
    """Cache of the result of a cloth, intact and of the fabric and settings that it has."""
    if not obj.weft.result.frame_count:
        raise ValueError(f"'{obj.name}' has no result to keep: bake it first")
    stem = cache_paths.stem(context.scene, obj)
    refusal = f"the result of '{obj.name}' cannot be kept"
    found = _read(stem, refusal)
    if found.problem:
        raise ValueError(f"{refusal}: {found.problem}")
    if not ownership.is_shown(obj, found.description):
        raise ValueError(f"{refusal}: its cache is of another bake. Resume shows that one")
    changed = _changed_settings(context, obj)
    if changed:
        raise ValueError(
            f"the result of '{obj.name}' is not that of its settings: {changed} since the bake. "
            "Undo the change, or bake again"
        )
    return stem


def _changed_settings(context: Context, obj: Object) -> str:
    """Difference of a cloth's own fabric and settings from those of its result."""
    own = {f"{object_identity.key(obj)}/{aspect}" for aspect in OWN_ASPECTS}
    baked = json.loads(obj.weft.result.fingerprint or "{}")
    current = fingerprint.of_scene(context.scene, context.view_layer)
    return fingerprint.difference(
        {key: baked[key] for key in own & baked.keys()},
        {key: current[key] for key in own & current.keys()},
    )


def _read(stem: Path, refusal: str) -> pc2.Contents:
    try:
        return pc2.cached_contents(stem)
    except pc2.CacheError as error:
        raise ValueError(f"{refusal}: {error} ('{stem.parent}')") from error


def contents(scene: Scene, obj: Object, take: WeftTake, action: str) -> pc2.Contents:
    """Verified cache of a take; `ValueError` if none of its frames fits its cloth."""
    refusal = f"the take '{take.name}' cannot be {action}"
    found = _read(cache_paths.take_stem(scene, take), refusal)
    vertices = found.description.vertices
    if vertices != len(obj.data.vertices):
        raise ValueError(
            f"{refusal}: it has {vertices} vertices, and '{obj.name}' has "
            f"{len(obj.data.vertices)} now"
        )
    if not found.intact:
        raise ValueError(f"{refusal}: {found.problem}")
    return found


def problem(scene: Scene, take: WeftTake) -> str:
    """Why a take cannot be shown, by its name; empty if it can. Reads no frames."""
    stem = cache_paths.take_stem(scene, take)
    if pc2.data_path(stem).is_file() and pc2.cached_description(stem) is not None:
        return ""
    return f"The take '{take.name}' has no cache in the folder '{stem.parent}'"


def is_chosen(scene: Scene, obj: Object, take: WeftTake) -> bool:
    """Whether the result of a cloth is that of a take."""
    description = pc2.cached_description(cache_paths.take_stem(scene, take))
    result = obj.weft.result
    if description is None or result.bake not in (take.bake, take.source):
        return False
    baked = json.loads(result.fingerprint or "{}")
    return result.frame_count == description.frames and baked == description.fingerprint


def choose(context: Context, obj: Object, take: WeftTake) -> list[str]:
    """Shows a take as the result of its cloth, with its fabric and settings; returns warnings."""
    found = contents(context.scene, obj, take, "chosen")
    stem, kind = cache_paths.take_stem(context.scene, take), context.scene.weft.result_kind
    evaluation_state.enter_object_mode(context, obj)
    files.show(obj, kind, stem, found.description, found.intact)
    warnings = settings.restore(obj, take)
    fingerprint.forget_geometry(obj.session_uid)  # of the weights that panels have
    obj.weft.result.is_live = False
    change_counter.increment()
    return [*warnings, f"the take '{take.name}': {found.problem}"] if found.problem else warnings


def remove(scene: Scene, obj: Object, index: int) -> bool:
    """Removes a take with its cache, which undo brings back; False if another file's cache stays.

    A result that plays it goes on with a copy.
    """
    take = obj.weft.takes[index]
    stem, bake = cache_paths.take_stem(scene, take), take.bake
    description = pc2.cached_description(stem)
    if description is not None and cache_paths.stem(scene, obj) == stem:
        transfer.adopt(scene, [obj])
        mesh_cache.set_cache(obj, cache_paths.own_stem(scene, obj))
    comparison.remove(scene, bake)
    obj.weft.takes.remove(index)
    obj.weft.active_take = max(0, min(obj.weft.active_take, len(obj.weft.takes) - 1))
    change_counter.increment()
    if description is None or any(o.bake == bake for o in _all_takes()):
        return True  # nothing there, or a duplicate has the take too
    is_own = ownership.is_of_file(stem, description)
    if is_own:
        freed.take_away(obj, {stem})
    return is_own


def _all_takes() -> list[WeftTake]:
    return [take for obj in bpy.data.objects for take in obj.weft.takes]
