# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake: the main thread reads the scene ahead, a worker simulates and writes, and in the end
the frames become shape keys. The same in a window, where a timer calls `pump`, and in background.
"""

import time
from dataclasses import dataclass

import numpy as np
from bpy.types import Context, Object, Scene

from ..blender import object_identity, scene_time
from ..blender.errors import REFUSALS
from ..cache import pc2
from ..cache.checkpoint import Checkpoint
from ..cache.statistics import Statistic
from ..properties import change_counter
from ..result import playback
from ..scene import deforming_nodes, evaluation_state
from ..scene.participants import check_any, check_cloth, participants
from ..scene.reader import SceneReader
from ..simulation import bridge
from ..simulation.external_forces import ClothForces
from ..simulation.texture_requests import Textures
from ..simulation.worker import Plan, Worker
from ..storage import cache_paths, transfer
from . import files, fingerprint

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
    """Started when built; `pump` it until it `is_done`, then `finish` it.

    It begins anew, or with `resume` goes on from the last checkpoint of an unchanged scene, or with
    `rebake_after` goes on from the last checkpoint up to that frame, whatever has changed.
    """

    def __init__(
        self, context: Context, *, resume: bool = False, rebake_after: int | None = None
    ) -> None:
        global _running
        if _running is not None:
            raise RuntimeError("a bake is running already")
        bridge.library()
        self._cancelled = False
        self._reading_error = ""
        self.first, self.last = _checked_range(context.scene)
        cloths, colliders = prepare(context)
        now = fingerprint.of_scene(context.scene, context.view_layer)
        kept = None
        if resume or rebake_after is not None:
            kept = files.take_up(context.scene, cloths, now, rebake_after)
        self._textures = Textures()
        self._scene_uid = context.scene.session_uid
        evaluation_state.prepare(context, cloths, colliders)
        try:
            if kept is not None:
                cloths, colliders = _in_order_of(kept, cloths, colliders)
            self._reader = SceneReader(context, cloths, colliders, self.first)
            if resume:
                files.check_record(context.scene, kept, self._reader)
            self._worker = self._make_worker(context.scene, cloths, now, kept, changed=not resume)
        except BaseException:
            evaluation_state.repair()
            raise
        self._begun_at, self._next = self._worker.frame, self._worker.frame + 1
        self._started = time.monotonic()
        _running = self
        self._worker.start()

    def _make_worker(
        self,
        scene: Scene,
        cloths: list[Object],
        now: dict[str, str],
        kept: Checkpoint | None,
        *,
        changed: bool,
    ) -> Worker:
        simulation = bridge.build_simulation(scene, self._reader)
        if kept is None:
            before, statistic = self._reader.first, Statistic()
            writers = files.begin(scene, cloths, self._reader, now)
            recorder = files.open_record(scene, writers[0].description.bake, self._reader)
        else:
            before = self._reader.read_frame(kept.frame)
            statistic = Statistic.from_dict(kept.statistic)
            simulation.restore(kept.state)
            writers = files.go_on(scene, cloths, kept.frame, now)
            recorder = files.reopen_record(scene, kept, self._reader, before, changed=changed)
        plan = Plan(
            simulation=simulation,
            cloths=self._reader.cloths,
            colliders=self._reader.colliders,
            writers=writers,
            frame_seconds=scene.render.fps_base / scene.render.fps,
            forces=ClothForces(self._reader.cloths, self._reader.scale, self._textures.ask),
            recorder=recorder,
            checkpoints=files.checkpoint_store(scene, writers[0].description.bake),
            library=bridge.version(),
        )
        return Worker(plan, before, statistic)

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

    def latest(self) -> tuple[int, list[tuple[np.ndarray, np.ndarray]]]:
        """The last frame that is simulated: its number, and positions in m with triangles."""
        shapes = self._worker.latest
        return self.frame, [
            (positions, cloth.triangles)
            for positions, cloth in zip(shapes, self._reader.cloths, strict=True)
        ]

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
        self._textures.answer()
        self._worker.join(seconds)

    def pump(self, seconds: float) -> None:
        """Reads frames of the scene ahead of the worker for about this long."""
        self._textures.answer()
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
            except (RuntimeError, ValueError, ReferenceError) as error:
                self._reading_error = str(error)
        self._worker.submit(source)
        self._next = frame + 1 if source is not None else None

    def stop(self) -> None:
        """Cancels: the frame that is being simulated is the last one."""
        self._cancelled = True
        self._textures.close()
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
            evaluation_state.repair()
        _running = None

    def finish(self, context: Context) -> Outcome:
        """Turns the frames into shape keys and leaves the scene as it was otherwise."""
        global _running
        try:
            self._worker.join()
            evaluation_state.repair()
            scene = object_identity.find_scene(self._scene_uid)
            errors = [self._worker_error(), self._reading_error]
            errors += self._show_results(context, scene)
            errors.append(_move_from_temporary())
        finally:
            fingerprint.forget_geometry()
            change_counter.bump()
            _running = None
        result = f"frames {self.first} to {self.frame}: {self._worker.statistic.line()}"
        return Outcome(result, "; ".join(filter(None, errors)), self._cancelled)

    def _show_results(self, context: Context, scene: Scene | None) -> list[str]:
        """Writes the shape keys; says of each cloth what kept it from it."""
        errors = []
        if scene is None:
            return ["the scene was deleted: the frames are in the cache only"]
        for cloth, writer in zip(self._reader.cloths, self._worker.plan.writers, strict=True):
            obj = object_identity.find(cloth.session_uid)
            if obj is None:
                errors.append(f"'{cloth.name}' was deleted: its frames are in the cache only")
                continue
            evaluation_state.leave_mode(context, obj)
            errors.append(self._show(scene, obj, writer))
        return errors

    def _show(self, scene: Scene, obj: Object, writer: pc2.Writer) -> str:
        """From where it was written to, which is not what the scene names if that was changed."""
        description = writer.description
        try:
            return files.show(scene, obj, writer.stem, description, description.frames)
        except REFUSALS as error:
            playback.enable(obj)  # the one before, if it is still there
            if isinstance(error, OSError):
                return f"the frames of '{obj.name}' cannot be read: {error.strerror}"
            return f"'{obj.name}' cannot take its result, which is in the cache only: {error}"

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
    check_any(context.scene, context.view_layer, cloths)
    object_identity.settle_duplicates()
    for obj in cloths:
        check_cloth(context.scene, obj)
    for obj in (*cloths, *colliders):
        if obj.library is None:
            object_identity.ensure(obj)
        evaluation_state.leave_mode(context, obj)
    for obj in cloths:
        deforming_nodes.find_deforming(context, obj)
    fingerprint.forget_geometry()
    return cloths, colliders


def _in_order_of(
    kept: Checkpoint, cloths: list[Object], colliders: list[Object]
) -> tuple[list[Object], list[Object]]:
    """The order of a checkpoint: sorting by name would change it after renaming."""
    ordered = []
    for keys, objects in ((kept.cloths, cloths), (kept.colliders, colliders)):
        found = {object_identity.key(obj): obj for obj in objects}
        if found.keys() != set(keys):
            raise ValueError(
                "the bake cannot be resumed: other objects take part than in the bake so far"
            )
        ordered.append([found[key] for key in keys])
    return ordered[0], ordered[1]


def show_complete_caches(context: Context) -> bool:
    """Makes shape keys of caches that already reach the last frame; False when one does not."""
    cloths, _colliders = prepare(context)
    now = fingerprint.of_scene(context.scene, context.view_layer)
    found = {obj: files.read(context.scene, obj, now) for obj in cloths}
    last = _checked_range(context.scene)[1]
    if any(c.problem or c.description.frame_start + c.intact <= last for c in found.values()):
        return False
    for obj, contents in found.items():
        stem = cache_paths.stem(context.scene, obj)
        files.show(context.scene, obj, stem, contents.description, contents.intact)
    change_counter.bump()
    return True


def _checked_range(scene: Scene) -> tuple[int, int]:
    first, last = scene_time.frame_range(scene)
    if last < first:
        raise ValueError(f"the frame range is empty: it ends at {last}, before its start {first}")
    return first, last


def _move_from_temporary() -> str:
    try:
        transfer.after_bake()
    except (OSError, pc2.CacheError) as error:
        return f"the cache stays in the temporary folder: {error}"
    return ""


def register() -> None:
    """Nothing to do before the first bake."""


def unregister() -> None:
    if _running is not None:
        _running.abandon(restore=True)
