# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake: the main thread reads the scene ahead, a worker simulates and writes, and in the end
the frames become shape keys. The same in a window, where a timer calls `pump`, and in background.
"""

import json
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from bpy.types import Context, Object, Scene

from . import (
    bridge,
    cache,
    checkpoint,
    fingerprint,
    identity,
    location,
    revision,
    shape_keys,
    stage,
)
from .checkpoint import Checkpoint
from .scene_reader import SceneReader, check_cloth, participants
from .worker import Plan, Statistic, Worker, to_object

PUMP_SECONDS = 0.03  # for reading ahead before a window gets its turn again
WAIT_SECONDS = 0.02

_running: "Bake | None" = None


def running() -> "Bake | None":
    """The bake that is under way, if any."""
    return _running


@dataclass(frozen=True)
class Outcome:
    """How a bake ended, in words: what there is now, and what went wrong."""

    result: str
    error: str
    cancelled: bool


class Bake:
    """Started when built; `pump` it until it `is_done`, then `finish` it."""

    def __init__(self, context: Context, *, resume: bool) -> None:
        global _running
        if _running is not None:
            raise RuntimeError("a bake is running already")
        bridge.library()
        self._cancelled = False
        self._reading_error = ""
        self.first, self.last = _checked_range(context.scene)
        cloths, colliders = prepare(context)
        self._fingerprint = fingerprint.of_scene(context.scene, context.view_layer)
        kept = _find_checkpoint(context.scene, cloths, self._fingerprint) if resume else None
        self._stage = stage.Stage(context, cloths, colliders)
        try:
            self._worker = self._make_worker(context, cloths, colliders, kept)
        except BaseException:
            self._stage.restore(show_earlier_results=True)
            raise
        self._begun_at, self._next = self._worker.frame, self._worker.frame + 1
        self._started = time.monotonic()
        _running = self
        self._worker.start()

    def _make_worker(
        self,
        context: Context,
        cloths: list[Object],
        colliders: list[Object],
        kept: Checkpoint | None,
    ) -> Worker:
        if kept is not None:
            cloths = sorted(cloths, key=lambda obj: kept.cloths.index(identity.key(obj)))
            colliders = sorted(colliders, key=lambda obj: kept.colliders.index(identity.key(obj)))
        scene = context.scene
        self._reader = SceneReader(context, cloths, colliders, self.first)
        simulation = bridge.build_simulation(scene, self._reader)
        if kept is not None:
            simulation.restore(kept.state)
            writers = _continue_caches(scene, cloths, kept.frame)
        else:
            writers = _begin_caches(scene, cloths, self._reader, self._fingerprint)
        plan = Plan(
            simulation=simulation,
            cloths=self._reader.cloths,
            colliders=self._reader.colliders,
            writers=writers,
            frame_seconds=scene.render.fps_base / scene.render.fps,
            checkpoint_path=checkpoint.path_of(
                location.directory(scene), writers[0].description.bake
            ),
            checkpoint_interval=scene.weft.checkpoint_interval,
            library=bridge.version(),
        )
        if kept is not None:
            return Worker(plan, kept.frame, Statistic(**kept.statistic))
        return Worker(plan, self.first, Statistic())

    # --- while it runs ------------------------------------------------------------------------

    @property
    def is_done(self) -> bool:
        return not self._worker.is_alive()

    @property
    def frame(self) -> int:
        """The last frame that is simulated."""
        return self._worker.frame

    @property
    def factor(self) -> float:
        """The part that is done, from 0 to 1."""
        return (self.frame - self.first + 1) / (self.last - self.first + 1)

    @property
    def seconds_left(self) -> float | None:
        """An estimate from the frames so far, None before the first."""
        done = self.frame - self._begun_at
        if done == 0:
            return None
        return (time.monotonic() - self._started) / done * (self.last - self.frame)

    def line(self) -> str:
        """Frame counter and time left."""
        if self._cancelled:
            return f"Weft: cancelling after frame {self.frame + 1}"
        left = self.seconds_left
        if left is None:
            return f"Weft: frame {self.frame} of {self.last}"
        minutes, seconds = divmod(round(left), 60)
        return f"Weft: frame {self.frame} of {self.last}, {minutes}:{seconds:02d} left"

    def wait(self, seconds: float) -> None:
        """Waits for the worker, at most this long."""
        self._worker.join(seconds)

    def pump(self, seconds: float) -> None:
        """Reads frames of the scene ahead of the worker for about this long."""
        until = time.monotonic() + seconds
        while self._next is not None and self._worker.has_room and not self._cancelled:
            self._hand_over(self._next)
            if time.monotonic() > until:
                return

    def _hand_over(self, frame: int) -> None:
        source = None
        if frame <= self.last:
            try:
                source = self._reader.read_frame(frame)
            except (RuntimeError, ValueError) as error:
                self._reading_error = str(error)
        self._worker.submit(source)
        self._next = frame + 1 if source is not None else None

    def stop(self) -> None:
        """Cancels: the frame that is being simulated is the last one."""
        self._cancelled = True
        self._worker.stop()

    # --- the end ------------------------------------------------------------------------------

    def abandon(self, *, restore: bool) -> None:
        """Ends without a result; the frames so far stay in the cache, where Resume finds them.

        Without `restore` the open file is not touched, because it is being replaced.
        """
        global _running
        self.stop()
        self._worker.join()
        if restore:
            self._stage.restore(show_earlier_results=True)
        _running = None

    def finish(self, context: Context) -> Outcome:
        """Turns the frames into shape keys and leaves the scene as it was otherwise."""
        global _running
        try:
            self._worker.join()
            self._stage.restore(show_earlier_results=False)
            errors = [self._worker_error(), self._reading_error, *self._show_results(context)]
            errors.append(_move_from_temporary(self._stage.scene() or context.scene))
        finally:
            fingerprint.forget_geometry()
            revision.bump()
            _running = None
        result = f"frames {self.first} to {self.frame}: {self._worker.statistic.line()}"
        return Outcome(result, "; ".join(filter(None, errors)), self._cancelled)

    def _show_results(self, context: Context) -> list[str]:
        """Writes the shape keys; says of each cloth what kept it from it."""
        errors = []
        for cloth, writer in zip(self._reader.cloths, self._worker.plan.writers, strict=True):
            obj = identity.find(cloth.session_uid)
            if obj is None:
                errors.append(f"'{cloth.name}' was deleted: its frames are in the cache only")
                continue
            stage.leave_mode(context, obj)
            errors.append(_show(obj, writer.stem, writer.description, writer.description.frames))
        return errors

    def _worker_error(self) -> str:
        error = self._worker.error
        if error is None:
            return ""
        if isinstance(error, OSError):
            return f"the cache cannot be written: {error.strerror} ({error.filename or 'frames'})"
        return f"frame {self.frame + 1}: {error}"


# --- steps of a bake --------------------------------------------------------------------------


def prepare(context: Context) -> tuple[list[Object], list[Object]]:
    """The cloths and colliders, checked, in object mode, each with an identity of its own."""
    context.view_layer.update()  # objects that a script has just linked are not listed before
    cloths, colliders = participants(context.scene, context.view_layer)
    if not cloths:
        raise ValueError(f"no object of the scene '{context.scene.name}' has the role Cloth")
    identity.settle_duplicates()
    for obj in cloths:
        check_cloth(obj)
        identity.ensure(obj)
    for obj in (*cloths, *colliders):
        stage.leave_mode(context, obj)
    fingerprint.forget_geometry()
    return cloths, colliders


def show_complete_caches(context: Context) -> bool:
    """Makes shape keys of caches that already reach the last frame; False when one does not."""
    cloths, _colliders = prepare(context)
    now = fingerprint.of_scene(context.scene, context.view_layer)
    found = {obj: _read_cache(context.scene, obj, now) for obj in cloths}
    last = _checked_range(context.scene)[1]
    if any(c.problem or c.description.frame_start + c.intact <= last for c in found.values()):
        return False
    for obj, contents in found.items():
        _show(obj, location.stem(context.scene, obj), contents.description, contents.intact)
    revision.bump()
    return True


def _checked_range(scene: Scene) -> tuple[int, int]:
    first, last = scene.weft.frame_range()
    if last < first:
        raise ValueError(f"the frame range is empty: it ends at {last}, before its start {first}")
    return first, last


def _read_cache(scene: Scene, obj: Object, now: dict[str, str]) -> cache.Contents:
    try:
        contents = cache.read(location.stem(scene, obj))
    except cache.CacheError as error:
        raise ValueError(f"'{obj.name}' cannot be resumed: {error}") from error
    changed = fingerprint.difference(contents.description.fingerprint, now)
    if changed:
        raise ValueError(f"'{obj.name}' cannot be resumed: {changed} since the bake")
    return contents


def _find_checkpoint(scene: Scene, cloths: list[Object], now: dict[str, str]) -> Checkpoint:
    found = [_read_cache(scene, obj, now) for obj in cloths]
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


def _begin_caches(
    scene: Scene, cloths: list[Object], reader: SceneReader, hashes: dict[str, str]
) -> list[cache.Writer]:
    bake = f"bake_{uuid.uuid4().hex[:16]}"
    writers = []
    for index, obj in enumerate(cloths):
        location.remove(scene, obj)
        source = reader.cloths[index]
        writer = cache.Writer(
            location.stem(scene, obj),
            cache.Description(
                object=obj.name,
                vertices=len(source.positions),
                frame_start=reader.first.frame,
                library=bridge.version(),
                bake=bake,
                fingerprint=hashes,
            ),
        )
        writer.append(to_object(source.positions, reader.first.world_to_object[index]))
        writers.append(writer)
    return writers


def _continue_caches(scene: Scene, cloths: list[Object], frame: int) -> list[cache.Writer]:
    writers = []
    for obj in cloths:
        stem = location.stem(scene, obj)
        description = cache.read_description(stem)
        description.cut(frame - description.frame_start + 1)
        writers.append(cache.Writer(stem, description))
    return writers


def _show(obj: Object, stem: Path, description: cache.Description, count: int) -> str:
    """Writes the shape keys of one cloth; says what kept it from it."""
    if len(obj.data.vertices) != description.vertices:
        return f"'{obj.name}' was edited during the bake: its frames are in the cache only"
    frames = cache.frames(stem, description, count)
    shape_keys.write(obj, description.frame_start, frames)
    obj.weft.result.fingerprint = json.dumps(description.fingerprint)
    obj.weft.result.statistic = Statistic(**description.statistic).line()
    return ""


def _move_from_temporary(scene: Scene) -> str:
    try:
        location.move_from_temporary(scene)
    except (OSError, cache.CacheError) as error:
        return f"the cache stays in the temporary folder: {error}"
    return ""


def register() -> None:
    """Nothing to do before the first bake."""


def unregister() -> None:
    if _running is not None:
        _running.abandon(restore=True)
