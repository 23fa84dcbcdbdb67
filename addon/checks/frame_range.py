# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks over the frame range: changing topology, and results outdated by motion."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from bpy.types import Context, Object, Scene

from ..bake import fingerprint
from ..blender import scene_time
from ..cache import pc2
from ..scene import evaluation_state
from ..scene.evaluated import ChangedTopologyError
from ..scene.reader import FrameInput, SceneReader
from ..storage import cache_paths, frame_record
from .finding import ERROR, WARNING, Finding

SAMPLES = 12  # number of frames to read
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
    frames = np.linspace(reader.first.frame, last, SAMPLES).round().astype(int)
    for frame in np.unique(frames).tolist():
        try:
            source = reader.read_frame(frame)
        except (RuntimeError, ValueError) as error:
            meaning = TOPOLOGY if isinstance(error, ChangedTopologyError) else UNREADABLE
            yield Finding(ERROR, f"The bake would end before frame {frame}: {error}", meaning)
            return
        for path in tuple(records):
            changed = _changed(path, reader, source)
            if changed:
                records.remove(path)
                meaning = "What is shown was baked from another motion. Bake again"
                yield Finding(WARNING, f"The result is outdated: {changed}", meaning)


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
