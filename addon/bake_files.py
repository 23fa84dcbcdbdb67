# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of a bake: begun, found again, gone on with, shown."""

import json
import uuid
from pathlib import Path

from bpy.types import Object, Scene

from . import bridge, cache, checkpoint, fingerprint, location, mesh_arrays, shape_keys
from .checkpoint import Checkpoint
from .scene_reader import SceneReader
from .statistic import Statistic


def begin(
    scene: Scene, cloths: list[Object], reader: SceneReader, hashes: dict[str, str]
) -> list[cache.Writer]:
    """New caches with the first frame in them; earlier ones of these cloths are deleted."""
    bake = f"bake_{uuid.uuid4().hex[:16]}"
    descriptions = [
        cache.Description(
            object=obj.name,
            vertices=len(source.positions),
            frame_start=reader.first.frame,
            library=bridge.version(),
            bake=bake,
            fingerprint=hashes,
        )
        for obj, source in zip(cloths, reader.cloths, strict=True)
    ]
    for obj in cloths:
        location.remove(scene, obj)
    writers = _open(scene, cloths, descriptions)
    for writer, source, matrix in zip(
        writers, reader.cloths, reader.first.world_to_object, strict=True
    ):
        writer.append(mesh_arrays.transformed(source.positions, matrix))
    return writers


def go_on(scene: Scene, cloths: list[Object], frame: int) -> list[cache.Writer]:
    """The caches that there are, cut off behind a frame."""
    descriptions = [cache.read_description(location.stem(scene, obj)) for obj in cloths]
    for description in descriptions:
        description.cut(frame - description.frame_start + 1)
    return _open(scene, cloths, descriptions)


def read(scene: Scene, obj: Object, now: dict[str, str]) -> cache.Contents:
    """The cache of a cloth, refused when the scene has changed since it was baked."""
    try:
        contents = cache.read(location.stem(scene, obj))
    except cache.CacheError as error:
        raise ValueError(f"'{obj.name}' cannot be resumed: {error}") from error
    changed = fingerprint.difference(contents.description.fingerprint, now)
    if changed:
        raise ValueError(f"'{obj.name}' cannot be resumed: {changed} since the bake")
    return contents


def find_checkpoint(scene: Scene, cloths: list[Object], now: dict[str, str]) -> Checkpoint:
    """What all these cloths go on from; refuses with the reason when there is nothing."""
    found = [read(scene, obj, now) for obj in cloths]
    bakes = {contents.description.bake for contents in found}
    if len(bakes) > 1:
        raise ValueError("the cloths were not baked together: bake them again")
    try:
        kept = checkpoint.read(checkpoint.path_of(location.directory(scene), bakes.pop()))
    except cache.CacheError as error:
        raise ValueError(f"the bake cannot be resumed: {error}") from error
    if kept.library != bridge.version():
        raise ValueError(f"the checkpoint is of Weft {kept.library}: bake again")
    for obj, contents in zip(cloths, found, strict=True):
        if contents.description.frame_start + contents.intact <= kept.frame:
            raise ValueError(
                f"'{obj.name}' cannot be resumed from frame {kept.frame}: "
                f"{contents.problem or 'its cache ends before'}"
            )
    return kept


def show(obj: Object, stem: Path, description: cache.Description, count: int) -> str:
    """Makes shape keys of the first frames of a cache; says what kept it from it."""
    if len(obj.data.vertices) != description.vertices:
        return f"'{obj.name}' was edited during the bake: its frames are in the cache only"
    frames = cache.frames(stem, description, count)
    shape_keys.write(obj, description.frame_start, frames)
    obj.weft.result.fingerprint = json.dumps(description.fingerprint)
    obj.weft.result.statistic = Statistic.from_dict(description.statistic).line()
    return ""


def _open(
    scene: Scene, cloths: list[Object], descriptions: list[cache.Description]
) -> list[cache.Writer]:
    writers = []
    try:
        for obj, description in zip(cloths, descriptions, strict=True):
            writers.append(cache.Writer(location.stem(scene, obj), description))
    except OSError:
        for writer in writers:
            writer.close()
        raise
    return writers
