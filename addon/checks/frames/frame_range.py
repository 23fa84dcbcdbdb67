# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks over the frame range: changing topology, and results outdated by motion."""

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from bpy.types import Context, Object, Scene

from ...bake import fingerprint
from ...blender import object_identity, scene_time
from ...cache import pc2
from ...scene import evaluation_state
from ...scene.evaluated import ChangedTopologyError
from ...scene.reader import FrameInput, SceneReader
from ...storage import cache_paths, frame_record
from .. import support
from ..finding import ERROR, WARNING, Finding, on_elements

SAMPLES = 12  # frames that are read where all would take longer than:
READING_SECONDS = 5.0
TOPOLOGY = (
    "Vertices and faces must stay the same through all frames: switch off or apply the modifier "
    "that changes them, or end the frame range before"
)
UNREADABLE = (
    "The frames before it would be kept. Change what is named so that it can be read at this "
    "frame, or end the frame range before"
)


def check(context: Context, cloths: list[Object], colliders: list[Object]) -> Iterator[Finding]:
    """Reads some frames of the range as a bake would."""
    first, last = scene_time.frame_range(context.scene)
    if last < first:
        return
    evaluation_state.prepare(context, cloths, colliders)
    try:
        reader = SceneReader(context, cloths, colliders, first)
    except (RuntimeError, ValueError):
        return  # reported by `first_frame`
    else:
        records = {path: None for obj in cloths if (path := _record(context.scene, obj))}
        yield from _through(reader, last, list(records))
    finally:
        evaluation_state.restore()


def _through(reader: SceneReader, last: int, records: list[Path]) -> Iterator[Finding]:
    apart: set[int] = set()
    for frame in _frames(reader, last):
        try:
            source = reader.read_frame(frame)
        except (RuntimeError, ValueError) as error:
            meaning = TOPOLOGY if isinstance(error, ChangedTopologyError) else UNREADABLE
            yield Finding(ERROR, f"The bake would end before frame {frame}: {error}", meaning)
            return
        yield from _jumps(reader, source)
        yield from _drawn_apart(reader, source, apart)
        for path in tuple(records):
            changed = _changed(path, reader, source)
            if changed:
                records.remove(path)
                meaning = "What is shown was baked from another motion. Bake again"
                yield Finding(WARNING, f"The result is outdated: {changed}", meaning)


def _frames(reader: SceneReader, last: int) -> list[int]:
    """All frames, or some of them where reading all would take long."""
    first, started = reader.first.frame, time.perf_counter()
    reader.read_frame(first)
    count = last - first + 1
    if (time.perf_counter() - started) * count > READING_SECONDS:
        count = SAMPLES
    return np.unique(np.linspace(first, last, count).round().astype(int)).tolist()


def _jumps(reader: SceneReader, source: FrameInput) -> Iterator[Finding]:
    """Bodies that are elsewhere since the frame before."""
    bodies = [*reader.colliders, *reader.cloths]
    for body, has_jumped in zip(bodies, source.jumps, strict=False):
        if has_jumped:
            meaning = (
                "Cloth on it, or pinned to it, goes along and begins to move anew there. If the "
                "jump is not meant, look at the keyframes; a cut to another place is better a shot "
                "of its own"
            )
            title = f"{body.name}: it jumps from frame {source.frame - 1} to {source.frame}"
            yield Finding(WARNING, title, meaning, body.session_uid)


def _drawn_apart(reader: SceneReader, source: FrameInput, known: set[int]) -> Iterator[Finding]:
    """Cloths whose pinned vertices are drawn apart for the first time after the start."""
    for index, cloth in enumerate(reader.cloths):
        vertices = support.drawn_apart(cloth, source.pins[index])
        obj = object_identity.find(cloth.session_uid)
        if index in known or obj is None or not len(vertices):
            continue
        known.add(index)
        if source.frame == reader.first.frame:
            continue  # reported by `support`
        meaning = (
            "They are held where an armature, a hook or another object has them, and the fabric "
            "between cannot give way. Pin fewer of them, or weigh them so that they move together"
        )
        text = f"pinned vertices are drawn apart at frame {source.frame}"
        yield on_elements(WARNING, obj, text, meaning, domain="VERT", indices=vertices)


def _record(scene: Scene, obj: Object) -> Path | None:
    """Record of the bake of an object's result, None without one."""
    stem = cache_paths.stem(scene, obj)
    description = pc2.cached_description(stem) if obj.weft.identity else None
    return frame_record.path_of(stem.parent, description.bake) if description is not None else None


def _changed(path: Path, reader: SceneReader, source: FrameInput) -> str:
    recorded = frame_record.read(path, source.frame)
    current = frame_record.of_frame(source, reader.cloths, reader.colliders)
    key = frame_record.difference(recorded, current)
    return fingerprint.movement_message(key, source.frame) if key else ""
