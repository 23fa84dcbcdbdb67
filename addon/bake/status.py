# SPDX-License-Identifier: GPL-3.0-or-later
"""What the panel says of the result of a cloth; looked up again only after a change."""

import json
import time
from dataclasses import dataclass, replace
from pathlib import Path

from bpy.types import Object, Scene, ViewLayer

from ..blender import scene_time
from ..cache import pc2
from ..properties import change_counter
from ..result import mesh_cache
from ..result.playback import kind_in_words, problem
from ..storage import cache_paths, frame_record, ownership
from . import fingerprint

STAT_SECONDS = 1.0  # how often a redraw may look at the disk


@dataclass(frozen=True)
class Status:
    """What has changed since the bake, what is wrong with the files, and what there is."""

    outdated: str
    problems: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Whether nothing was baked yet."""
        return not (self.outdated or self.problems or self.notes)


@dataclass(frozen=True)
class _Known:
    revision: int
    looked: float
    stamp: tuple
    status: Status


_known: dict[int, _Known] = {}


def of(scene: Scene, view_layer: ViewLayer, obj: Object) -> Status:
    """The state of a cloth's result and cache."""
    known, now = _known.get(obj.session_uid), time.monotonic()
    fresh = known is not None and known.revision == change_counter.current()
    if fresh and now - known.looked < STAT_SECONDS:
        return known.status
    stamp = _stamp(scene, obj)
    if not fresh or stamp != known.stamp:
        known = _Known(change_counter.current(), now, stamp, _look(scene, view_layer, obj))
    _known[obj.session_uid] = replace(known, looked=now)
    return known.status


@dataclass(frozen=True)
class Orphans:
    """Caches of deleted objects."""

    count: int
    megabytes: float


_orphans: tuple[int, float, Orphans] | None = None


def orphans(scene: Scene) -> Orphans:
    """The caches of deleted objects in the folder of a scene; looks at the disk now and then."""
    global _orphans
    now = time.monotonic()
    fresh = _orphans is not None and _orphans[0] == change_counter.current()
    if fresh and now - _orphans[1] < STAT_SECONDS:
        return _orphans[2]
    stems = cache_paths.orphans(scene)
    found = Orphans(len(stems), cache_paths.size(stems) / 1e6)
    _orphans = (change_counter.current(), now, found)
    return found


def forget() -> None:
    """Another file has been loaded."""
    global _orphans
    _known.clear()
    pc2.forget()
    _orphans = None


def _look(scene: Scene, view_layer: ViewLayer, obj: Object) -> Status:
    result = obj.weft.result
    outdated, problems, notes = "", [], []
    if result.frame_count:
        last = result.frame_start + result.frame_count - 1
        notes.append(f"{kind_in_words(obj)}: frames {result.frame_start} to {last}")
        if problem(obj):
            problems.append(problem(obj))
        then = json.loads(result.fingerprint or "{}")
        outdated = fingerprint.difference(then, fingerprint.of_scene(scene, view_layer))
        outdated = outdated or _moved_now(scene, view_layer, obj)
    problems += _cache_problems(scene, obj, notes)
    return Status(outdated, tuple(problems), tuple(notes))


def _moved_now(scene: Scene, view_layer: ViewLayer, obj: Object) -> str:
    """What is elsewhere at the frame that is shown than it was when this frame was baked."""
    frame = round(scene_time.current(scene))
    if abs(scene_time.current(scene) - frame) > 1e-6:
        return ""
    stem = cache_paths.stem(scene, obj)
    description = pc2.described(stem)
    if description is None:
        return ""
    then = frame_record.read(frame_record.path_of(stem.parent, description.bake), frame)
    if not then:
        return ""
    changed = frame_record.difference(then, frame_record.of_view_layer(scene, view_layer))
    return fingerprint.moved(changed, frame) if changed else ""


def _cache_problems(scene: Scene, obj: Object, notes: list[str]) -> list[str]:
    never_baked = not obj.weft.result.frame_count and not any(_stamp(scene, obj))
    if never_baked or not obj.weft.identity:
        return []
    stem = cache_paths.stem(scene, obj)
    try:
        contents = pc2.verified(stem)
    except pc2.CacheError as error:
        return [f"Cache: {error}"]
    first = contents.description.frame_start
    last, wanted = first + contents.intact - 1, scene_time.frame_range(scene)[1]
    notes.append(f"Cache: frames {first} to {last}{_whereabouts(scene, obj, stem)}")
    if not obj.weft.result.frame_count:
        notes.append("The cache is not shown: Resume shows it")
    elif not ownership.is_shown(obj, contents.description):
        return ["Cache: of another bake than the result: Resume shows it, Bake replaces it"]
    if contents.problem:
        return [f"Cache: {contents.problem}"]
    if last < wanted:
        return [f"Incomplete: baked to frame {last} of {wanted}, Resume goes on"]
    return []


def _whereabouts(scene: Scene, obj: Object, stem: Path) -> str:
    """What is not as usual with a cache: that it lies elsewhere, or is another file's."""
    description, words = pc2.described(stem), ""
    if stem.parent != cache_paths.directory(scene):
        words += f", in {stem.parent}"
    if not ownership.is_own(obj, stem, description):
        words += ", of another file" if description.file else ", perhaps of another file"
    return words


def _stamp(scene: Scene, obj: Object) -> tuple:
    """Changes when the files do."""
    if not obj.weft.identity:
        return ()
    stem = cache_paths.stem(scene, obj)
    files = pc2.stamp(pc2.description_path(stem), pc2.data_path(stem))
    return (*files, mesh_cache.missing(obj))
