# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of a bake: begun, found again, gone on with, shown."""

import json
import os
import uuid
from pathlib import Path

from bpy.types import Object, Scene

from ..blender import file_identity, mesh_arrays
from ..cache import checkpoint, pc2
from ..cache.checkpoint import Checkpoint
from ..cache.statistics import Statistic
from ..result import playback
from ..scene.reader import FrameInput, SceneReader
from ..simulation import bridge
from ..storage import cache_paths, frame_record, ownership, transfer
from . import fingerprint


def begin(
    scene: Scene, cloths: list[Object], reader: SceneReader, hashes: dict[str, str]
) -> list[pc2.Writer]:
    """New caches with the first frame in them; earlier ones of these cloths are deleted.

    Those of other files are left alone, even where this file has shown them so far.
    """
    bake = f"bake_{uuid.uuid4().hex[:16]}"
    descriptions = [
        pc2.Description(
            object=obj.name,
            blend="",
            vertices=len(source.positions),
            frame_start=reader.first.frame,
            library=bridge.version(),
            bake=bake,
            fingerprint=hashes,
        )
        for obj, source in zip(cloths, reader.cloths, strict=True)
    ]
    for obj in cloths:
        cache_paths.remove(scene, obj)
    file_identity.stamp()
    writers = _open([cache_paths.own_stem(scene, obj) for obj in cloths], cloths, descriptions)
    for writer, source, matrix in zip(
        writers, reader.cloths, reader.first.world_to_object, strict=True
    ):
        writer.append(mesh_arrays.transformed(source.positions, matrix))
        writer.sync()  # another Blender sees from now on whose it is
    return writers


def go_on(
    scene: Scene, cloths: list[Object], frame: int, hashes: dict[str, str]
) -> list[pc2.Writer]:
    """The caches that there are, cut off behind a frame."""
    stems = [cache_paths.stem(scene, obj) for obj in cloths]
    descriptions = [pc2.read_description(stem) for stem in stems]
    for description in descriptions:
        description.cut(frame - description.frame_start + 1)
        description.fingerprint = hashes
        checkpoint.remove(cache_paths.directory(scene), description.bake, after=frame)
    return _open(stems, cloths, descriptions)


def checkpoint_store(scene: Scene, bake: str) -> checkpoint.Store:
    """Where a bake puts its checkpoints."""
    settings = scene.weft
    return checkpoint.Store(
        cache_paths.directory(scene), bake, settings.checkpoint_interval, settings.keep_checkpoints
    )


def open_record(scene: Scene, bake: str, reader: SceneReader) -> frame_record.Recorder:
    """A new record of a bake, with the first frame in it."""
    recorder = frame_record.Recorder(frame_record.path_of(cache_paths.directory(scene), bake))
    found = frame_record.of_frame(reader.first, reader.cloths, reader.colliders)
    recorder.append(reader.first.frame, found)
    return recorder


def reopen_record(
    scene: Scene, kept: Checkpoint, reader: SceneReader, before: FrameInput, *, changed: bool
) -> frame_record.Recorder:
    """The record that goes on behind a checkpoint; what was before counts if nothing changed."""
    path = frame_record.path_of(cache_paths.directory(scene), kept.bake)
    if not changed:
        return frame_record.Recorder(path, keep_to=kept.frame)
    recorder = frame_record.Recorder(path)
    recorder.append(kept.frame, frame_record.of_frame(before, reader.cloths, reader.colliders))
    recorder.flush()  # a bake that is killed now goes on from here
    return recorder


def check_record(scene: Scene, kept: Checkpoint, reader: SceneReader) -> None:
    """Refuses to go on when the scene moves otherwise than it did, whatever the reason."""
    path = frame_record.path_of(cache_paths.directory(scene), kept.bake)
    if not frame_record.read(path, kept.frame):
        raise ValueError(
            f"the bake cannot be resumed: there is no record of where everything was at frame "
            f"{kept.frame}. Rebake From Current Frame goes on without"
        )
    for frame in sorted({reader.first.frame, kept.frame}):
        then = frame_record.read(path, frame)
        now = frame_record.of_frame(reader.read_frame(frame), reader.cloths, reader.colliders)
        changed = frame_record.difference(then, now)
        if changed:
            words = fingerprint.moved(changed, frame)
            raise ValueError(f"the bake cannot be resumed: {words}")


def read(scene: Scene, obj: Object, now: dict[str, str] | None) -> pc2.Contents:
    """The cache of a cloth, refused when the scene has changed since it was baked.

    Without `now` it may have changed.
    """
    try:
        contents = pc2.read(cache_paths.stem(scene, obj))
    except pc2.CacheError as error:
        raise ValueError(f"'{obj.name}' cannot be resumed: {error}") from error
    changed = fingerprint.difference(contents.description.fingerprint, now) if now else ""
    if changed:
        raise ValueError(f"'{obj.name}' cannot be resumed: {changed} since the bake")
    return contents


def find_checkpoint(
    scene: Scene, cloths: list[Object], now: dict[str, str], last: int | None = None
) -> Checkpoint:
    """What all these cloths go on from; refuses with the reason when there is nothing.

    With `last` it is no later than this frame, and the scene may have changed since the bake.
    """
    found = [read(scene, obj, None if last is not None else now) for obj in cloths]
    bakes = {contents.description.bake for contents in found}
    if len(bakes) > 1:
        raise ValueError("the cloths were not baked together: bake them again")
    intact = min(c.description.frame_start + c.intact - 1 for c in found)
    wanted = intact if last is None else min(intact, last)
    try:
        folder = cache_paths.stem(scene, cloths[0]).parent
        kept = checkpoint.latest(folder, bakes.pop(), wanted)
    except pc2.CacheError as error:
        doing = "resumed" if last is None else f"repeated from frame {last}"
        raise ValueError(f"the bake cannot be {doing}: {error}") from error
    if kept.library != bridge.version():
        raise ValueError(f"the checkpoint is of Weft {kept.library}: bake again")
    return kept


def take_up(
    scene: Scene, cloths: list[Object], now: dict[str, str], last: int | None = None
) -> Checkpoint:
    """The same, from caches that may be written to: those of other files are copied."""
    kept = find_checkpoint(scene, cloths, now, last)
    if transfer.take_over(scene, cloths):
        return find_checkpoint(scene, cloths, now, last)
    return kept


def show(scene: Scene, obj: Object, stem: Path, description: pc2.Description, count: int) -> str:
    """Shows the first frames of a cache on its object; says what kept it from it."""
    if len(obj.data.vertices) != description.vertices:
        return f"'{obj.name}' was edited during the bake: its frames are in the cache only"
    on_disk = pc2.described(stem)
    if on_disk is not None and on_disk.bake != description.bake:
        return f"the cache of '{obj.name}' is of another bake now"
    playback.write(obj, scene.weft.result_kind, stem, description, count)
    statistic = Statistic.from_dict(description.statistic)
    obj.weft.result.cache, obj.weft.result.bake = os.path.abspath(stem), description.bake
    obj.weft.result.fingerprint = json.dumps(description.fingerprint)
    obj.weft.result.statistic = statistic.line()
    obj.weft.result.warnings = "\n".join(statistic.warnings())
    return ""


def _open(
    stems: list[Path], cloths: list[Object], descriptions: list[pc2.Description]
) -> list[pc2.Writer]:
    writers = []
    try:
        for stem, obj, description in zip(stems, cloths, descriptions, strict=True):
            ownership.sign(description, stem.parent)
            description.identity = obj.weft.identity
            writers.append(pc2.Writer(stem, description))
            obj.weft.result.cache = os.path.abspath(stem)
    except OSError:
        for writer in writers:
            writer.close()
        raise
    return writers
