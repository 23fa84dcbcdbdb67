# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of a bake: caches, checkpoints and the record, for a new and for a resumed bake."""

import json
import os
from dataclasses import asdict
from pathlib import Path

from bpy.types import Object, Scene

from ..blender import file_identity, mesh_arrays
from ..cache import checkpoint, pc2
from ..cache.checkpoint import Checkpoint
from ..cache.statistics import LARGE_STRETCH, PinchedPlace, Place, Statistics
from ..result import playback
from ..scene.reader import FrameInput, SceneReader
from ..simulation import bridge
from ..storage import cache_paths, frame_record, ownership, transfer
from . import fingerprint


def create_caches(
    scene: Scene, cloths: list[Object], reader: SceneReader, hashes: dict[str, str]
) -> list[pc2.Writer]:
    """New caches with the first frame; earlier caches of these cloths are deleted.

    Caches of other files are kept, even those that this file has shown so far.
    """
    bake = transfer.new_bake()
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
        writer.sync()  # ownership is visible to other processes
    return writers


def continue_caches(
    scene: Scene, cloths: list[Object], frame: int, hashes: dict[str, str]
) -> list[pc2.Writer]:
    """The existing caches, truncated after a frame."""
    stems = [cache_paths.stem(scene, obj) for obj in cloths]
    descriptions = [pc2.read_description(stem) for stem in stems]
    for description in descriptions:
        description.truncate(frame - description.frame_start + 1)
        description.fingerprint = hashes
        checkpoint.remove(cache_paths.directory(scene), description.bake, after=frame)
    return _open(stems, cloths, descriptions)


def checkpoint_store(scene: Scene, bake: str) -> checkpoint.CheckpointStore:
    """Checkpoint files of a bake."""
    settings = scene.weft
    return checkpoint.CheckpointStore(
        cache_paths.directory(scene), bake, settings.checkpoint_interval, settings.keep_checkpoints
    )


def create_record(scene: Scene, bake: str, reader: SceneReader) -> frame_record.Recorder:
    """A new record of a bake, with the first frame."""
    recorder = frame_record.Recorder(frame_record.path_of(cache_paths.directory(scene), bake))
    found = frame_record.of_frame(reader.first, reader.cloths, reader.colliders)
    recorder.append(reader.first.frame, found)
    return recorder


def continue_record(
    scene: Scene,
    resume_point: Checkpoint,
    reader: SceneReader,
    previous: FrameInput,
    *,
    changed: bool,
) -> frame_record.Recorder:
    """The record after a checkpoint; its earlier frames are kept if nothing changed."""
    path = frame_record.path_of(cache_paths.directory(scene), resume_point.bake)
    if not changed:
        return frame_record.Recorder(path, keep_to=resume_point.frame)
    recorder = frame_record.Recorder(path)
    recorder.append(
        resume_point.frame, frame_record.of_frame(previous, reader.cloths, reader.colliders)
    )
    recorder.flush()  # a killed process can resume from here
    return recorder


def check_record(scene: Scene, resume_point: Checkpoint, reader: SceneReader) -> None:
    """Raises `ValueError` if the motion of the scene differs from the record."""
    path = frame_record.path_of(cache_paths.directory(scene), resume_point.bake)
    if not frame_record.read(path, resume_point.frame):
        raise ValueError(
            f"the bake cannot be resumed: there is no record of where everything was at frame "
            f"{resume_point.frame}. Rebake From Current Frame goes on without"
        )
    for frame in sorted({reader.first.frame, resume_point.frame}):
        recorded = frame_record.read(path, frame)
        current = frame_record.of_frame(reader.read_frame(frame), reader.cloths, reader.colliders)
        changed = frame_record.difference(recorded, current)
        if changed:
            message = fingerprint.movement_message(changed, frame)
            raise ValueError(f"the bake cannot be resumed: {message}")


def read(scene: Scene, obj: Object, hashes: dict[str, str] | None) -> pc2.Contents:
    """Cache of a cloth; `ValueError` if the scene has changed since the bake.

    Without `hashes` the scene is not compared.
    """
    try:
        contents = pc2.read(cache_paths.stem(scene, obj))
    except pc2.CacheError as error:
        raise ValueError(f"'{obj.name}' cannot be resumed: {error}") from error
    changed = fingerprint.difference(contents.description.fingerprint, hashes) if hashes else ""
    if changed:
        raise ValueError(f"'{obj.name}' cannot be resumed: {changed} since the bake")
    return contents


def find_checkpoint(
    scene: Scene, cloths: list[Object], hashes: dict[str, str], last: int | None = None
) -> Checkpoint:
    """Latest checkpoint common to all cloths; `ValueError` with the reason if there is none.

    With `last` it is at most of this frame, and the scene may have changed since the bake.
    """
    found = [read(scene, obj, None if last is not None else hashes) for obj in cloths]
    bakes = {contents.description.bake for contents in found}
    if len(bakes) > 1:
        raise ValueError("the cloths were not baked together: bake them again")
    intact = min(c.description.frame_start + c.intact - 1 for c in found)
    limit = intact if last is None else min(intact, last)
    try:
        folder = cache_paths.stem(scene, cloths[0]).parent
        resume_point = checkpoint.latest(folder, bakes.pop(), limit)
    except pc2.CacheError as error:
        doing = "resumed" if last is None else f"repeated from frame {last}"
        raise ValueError(f"the bake cannot be {doing}: {error}") from error
    if resume_point.library != bridge.version():
        raise ValueError(f"the checkpoint is of Weft {resume_point.library}: bake again")
    return resume_point


def claim_checkpoint(
    scene: Scene, cloths: list[Object], hashes: dict[str, str], last: int | None = None
) -> Checkpoint:
    """Latest common checkpoint as by `find_checkpoint`, in caches that this file owns."""
    resume_point = find_checkpoint(scene, cloths, hashes, last)
    if transfer.adopt(scene, cloths):
        return find_checkpoint(scene, cloths, hashes, last)
    return resume_point


def show(obj: Object, kind: str, stem: Path, description: pc2.Description, count: int) -> str:
    """Shows the first frames of a cache on its object; returns a reason if that is impossible."""
    if len(obj.data.vertices) != description.vertices:
        return f"'{obj.name}' was edited during the bake: its frames are in the cache only"
    on_disk = pc2.cached_description(stem)
    if on_disk is not None and on_disk.bake != description.bake:
        return f"the cache of '{obj.name}' is of another bake now"
    playback.write(obj, kind, stem, description, count)
    statistic = Statistics.from_dict(description.statistic)
    obj.weft.result.cache, obj.weft.result.bake = os.path.abspath(stem), description.bake
    obj.weft.result.fingerprint = json.dumps(description.fingerprint)
    obj.weft.result.statistic = statistic.summary()
    place = Place.from_dict(description.statistic)
    has_colliders = fingerprint.has_colliders(description.fingerprint)
    warnings = statistic.warnings(place, has_colliders=has_colliders)
    pinched = PinchedPlace.from_dict(description.statistic)
    warnings += [pinched.warning()] if pinched.vertices else []
    obj.weft.result.warnings = "\n".join(warnings)
    obj.weft.result.place = json.dumps(asdict(place)) if place.stretch > LARGE_STRETCH else ""
    obj.weft.result.pinched = json.dumps(asdict(pinched)) if pinched.vertices else ""
    return ""


def _open(
    stems: list[Path], cloths: list[Object], descriptions: list[pc2.Description]
) -> list[pc2.Writer]:
    """Writers for the caches, signed by the open file; none stays open after an error."""
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
