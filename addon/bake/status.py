# SPDX-License-Identifier: GPL-3.0-or-later
"""Status of the result and cache of a cloth for the panel, recomputed only after a change."""

import json
import time
from dataclasses import dataclass, replace
from pathlib import Path

from bpy.types import Object, Scene, ViewLayer

from ..blender import scene_time
from ..cache import pc2
from ..properties import change_counter
from ..result import mesh_cache
from ..result.playback import kind_label, problem
from ..scene.participants import participants
from ..storage import cache_paths, frame_record, ownership
from . import fingerprint

BYTES_PER_POINT = 12  # of a shape key
LARGE_KEYS = 100.0  # MB of shape keys from which Mesh Cache is recommended
MANY_KEYS = 600  # keys from which Blender 4.2 takes a fifth of a frame's 42 ms to play them
STAT_SECONDS = 1.0  # minimum interval of disk accesses by redraws


@dataclass(frozen=True)
class Status:
    """Reason why the result is outdated, defects of result and files, and notes."""

    outdated: str
    problems: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        return not (self.outdated or self.problems or self.notes)


@dataclass(frozen=True)
class _Known:
    """A status with the state that it was computed for."""

    revision: int
    checked: float
    stamp: tuple
    status: Status


_known: dict[int, _Known] = {}


def of(scene: Scene, view_layer: ViewLayer, obj: Object) -> Status:
    """Status of the result and cache of a cloth."""
    known, now = _known.get(obj.session_uid), time.monotonic()
    fresh = known is not None and known.revision == change_counter.value()
    if fresh and now - known.checked < STAT_SECONDS:
        return known.status
    stamp = _stamp(scene, obj)
    if not fresh or stamp != known.stamp:
        known = _Known(change_counter.value(), now, stamp, _computed_status(scene, view_layer, obj))
    _known[obj.session_uid] = replace(known, checked=now)
    return known.status


def has_cache(scene: Scene, view_layer: ViewLayer) -> bool:
    """Whether a cloth has a cache that a bake can go on with."""
    cloths, _colliders = participants(scene, view_layer)
    known = (cache_paths.stem(scene, obj) for obj in cloths if obj.weft.identity)
    return any(pc2.cached_description(stem) is not None for stem in known)


@dataclass(frozen=True)
class Orphans:
    """Caches of deleted objects."""

    count: int
    megabytes: float


_orphans: tuple[int, float, Orphans] | None = None


def orphans(scene: Scene) -> Orphans:
    """Caches of deleted objects in the cache folder; the disk is read at most once a second."""
    global _orphans
    now = time.monotonic()
    fresh = _orphans is not None and _orphans[0] == change_counter.value()
    if fresh and now - _orphans[1] < STAT_SECONDS:
        return _orphans[2]
    stems = cache_paths.orphans(scene)
    found = Orphans(len(stems), cache_paths.size(stems) / 1e6)
    _orphans = (change_counter.value(), now, found)
    return found


def forget() -> None:
    """Drops all memoised status after a load."""
    global _orphans
    _known.clear()
    pc2.clear_memory()
    _orphans = None


def _computed_status(scene: Scene, view_layer: ViewLayer, obj: Object) -> Status:
    """Computes the status."""
    result = obj.weft.result
    outdated, problems, notes = "", [], []
    if result.frame_count:
        last = result.frame_start + result.frame_count - 1
        notes.append(f"{kind_label(obj)}: frames {result.frame_start} to {last}{_size_remark(obj)}")
        if problem(obj):
            problems.append(problem(obj))
        baked = json.loads(result.fingerprint or "{}")
        alone = fingerprint.alone_of(baked, obj) if obj.name in view_layer.objects else None
        outdated = fingerprint.difference(baked, fingerprint.of_scene(scene, view_layer, alone))
        outdated = outdated or _moved_now(scene, view_layer, obj)
    problems += _cache_problems(scene, obj, notes)
    return Status(outdated, tuple(problems), tuple(notes))


def _size_remark(obj: Object) -> str:
    """Remark on shape keys that make the file large and slow to play."""
    result = obj.weft.result
    megabytes = result.frame_count * len(obj.data.vertices) * BYTES_PER_POINT / 1e6
    if result.modifier or (megabytes < LARGE_KEYS and result.frame_count < MANY_KEYS):
        return ""
    return f", {megabytes:.0f} MB in the file: Mesh Cache (in the Cache panel) would keep it small"


def _moved_now(scene: Scene, view_layer: ViewLayer, obj: Object) -> str:
    """Difference of the current frame from the record of the bake, empty without one."""
    frame = round(scene_time.current(scene))
    if abs(scene_time.current(scene) - frame) > 1e-6:
        return ""
    stem = cache_paths.stem(scene, obj)
    description = pc2.cached_description(stem)
    if description is None:
        return ""
    recorded = frame_record.read(frame_record.path_of(stem.parent, description.bake), frame)
    if not recorded:
        return ""
    changed = frame_record.difference(recorded, frame_record.of_view_layer(scene, view_layer))
    return fingerprint.movement_message(changed, frame) if changed else ""


def _cache_problems(scene: Scene, obj: Object, notes: list[str]) -> list[str]:
    never_baked = not obj.weft.result.frame_count and not any(_stamp(scene, obj))
    if never_baked or not obj.weft.identity:
        return []
    stem = cache_paths.stem(scene, obj)
    try:
        contents = pc2.cached_contents(stem)
    except pc2.CacheError as error:
        return [f"Cache: {error}"]
    first = contents.description.frame_start
    last, expected = first + contents.intact - 1, scene_time.frame_range(scene)[1]
    notes.append(f"Cache: frames {first} to {last}{_location_remark(scene, obj, stem)}")
    if not obj.weft.result.frame_count:
        notes.append("The cache is not shown: Resume shows it")
    elif not ownership.is_shown(obj, contents.description):
        return ["Cache: of another bake than the result: Resume shows it, Bake replaces it"]
    if contents.problem:
        return [f"Cache: {contents.problem}"]
    if last < expected:
        return [f"Incomplete: baked to frame {last} of {expected}, Resume goes on"]
    return []


def _location_remark(scene: Scene, obj: Object, stem: Path) -> str:
    """Remark if a cache is in another folder, that of a take or belongs to another file."""
    description, remark = pc2.cached_description(stem), ""
    if stem.parent != cache_paths.directory(scene):
        remark += f", in {stem.parent}"
    if ownership.is_take(stem):
        remark += ", of a take"
    elif not ownership.is_own(obj, stem, description):
        remark += ", of another file" if description.file else ", perhaps of another file"
    return remark


def _stamp(scene: Scene, obj: Object) -> tuple:
    """State of the files of a cache; differs after a change."""
    if not obj.weft.identity:
        return ()
    stem = cache_paths.stem(scene, obj)
    files = pc2.file_stamp(pc2.description_path(stem), pc2.data_path(stem))
    return (*files, mesh_cache.missing_file(obj))
