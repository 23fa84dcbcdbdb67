# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks over the frame range: meshes that change, and results that the motion has outrun."""

from collections.abc import Iterator

import numpy as np
from bpy.types import Context, Object, Scene

from .. import cache, fingerprint, location, record, stage, timing
from ..scene_reader import FrameInput, SceneReader
from .finding import ERROR, WARNING, Finding

SAMPLES = 12  # frames that are looked at


def check(context: Context, cloths: list[Object], colliders: list[Object]) -> Iterator[Finding]:
    """Reads a few frames of the range as a bake would."""
    first, last = timing.frame_range(context.scene)
    if last < first:
        return
    stage.prepare(context, cloths, colliders)
    try:
        reader = SceneReader(context, cloths, colliders, first)
        bakes = {name: None for obj in cloths if (name := _bake(context.scene, obj))}
        for frame in np.unique(np.linspace(first, last, SAMPLES).round().astype(int)).tolist():
            source = reader.read_frame(frame)
            for bake in list(bakes):
                changed = _changed(context.scene, bake, reader, source)
                if changed:
                    del bakes[bake]
                    meaning = "What is shown was baked from another motion. Bake again"
                    yield Finding(WARNING, f"The result is outdated: {changed}", meaning)
    except (RuntimeError, ValueError) as error:
        meaning = (
            "Vertices and faces must stay the same through all frames: switch off or apply the "
            "modifier that changes them, or end the frame range before"
        )
        yield Finding(ERROR, f"The bake would end early: {error}", meaning)
    finally:
        stage.repair()


def _bake(scene: Scene, obj: Object) -> str:
    """The name of the bake that an object's result is of, empty when it has none."""
    if not obj.weft.identity:
        return ""
    try:
        return cache.read_description(location.stem(scene, obj)).bake
    except cache.CacheError:
        return ""


def _changed(scene: Scene, bake: str, reader: SceneReader, source: FrameInput) -> str:
    then = record.read(record.path_of(location.directory(scene), bake), source.frame)
    now = record.of_frame(source, reader.cloths, reader.colliders)
    key = record.difference(then, now)
    return fingerprint.moved(key, source.frame) if key else ""
