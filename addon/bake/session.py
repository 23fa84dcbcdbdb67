# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulation of a scene into its caches: what a bake and live simulation have in common."""

from dataclasses import dataclass

from bpy.types import Context, Object, Scene

from ..blender import object_identity, scene_time
from ..blender.errors import REPORTED_ERRORS
from ..cache import pc2
from ..cache.checkpoint import Checkpoint
from ..cache.statistics import Statistics
from ..properties import change_counter
from ..result import playback
from ..result.preview import Preview
from ..scene import deforming_nodes, evaluation_state
from ..scene.participants import Alone, check_cloth, participants, require_cloth
from ..scene.reader import SceneReader
from ..simulation import bridge
from ..simulation.external_forces import ExternalForces
from ..simulation.texture_requests import TextureRequests
from ..simulation.worker import Plan, Worker
from ..storage import transfer
from . import files, fingerprint

OTHERS_TAKE_PART = "the bake cannot be resumed: other objects take part than in the bake so far"


@dataclass(frozen=True)
class Outcome:
    """Result of a session for a report: summary, error, and whether it was cancelled."""

    result: str
    error: str
    cancelled: bool


class Session:
    """Reads frames for a worker, which starts when this is constructed.

    It starts at the first frame; with `resume` at the last checkpoint of an unchanged scene; with
    `rebake_after` at the last checkpoint up to that frame, whatever has changed. With `alone` only
    one cloth is simulated. The preview is what can be seen of the cloths meanwhile.
    """

    keeps_frame = True  # the scene ends at the frame where it began
    is_live = False  # whether the result may end before the frame range does

    def __init__(
        self,
        context: Context,
        *,
        resume: bool = False,
        rebake_after: int | None = None,
        alone: Alone | None = None,
        with_preview: bool = True,
    ) -> None:
        bridge.library()
        self._cancelled = False
        self._reading_error = ""
        self.first, self.last = checked_range(context.scene)
        cloths, colliders = prepare(context, alone)
        self._hashes = fingerprint.of_scene(context.scene, context.view_layer, alone)
        resume_point = None
        if resume or rebake_after is not None:
            resume_point = files.claim_checkpoint(context.scene, cloths, self._hashes, rebake_after)
        self._textures = TextureRequests()
        self._scene_uid = context.scene.session_uid
        evaluation_state.prepare(context, cloths, colliders, keeps_frame=self.keeps_frame)
        try:
            if resume_point is not None:
                cloths, colliders = _in_checkpoint_order(resume_point, cloths, colliders)
            self._reader = SceneReader(context, cloths, colliders, self.first)
            if resume_point is not None:
                _check_participants(resume_point, self._reader)
            if resume:
                files.check_record(context.scene, resume_point, self._reader)
            self._worker = self._make_worker(
                context.scene, cloths, self._hashes, resume_point, changed=not resume
            )
            stems = [writer.stem for writer in self._worker.plan.writers]
            self._preview = Preview(cloths, stems, self.first) if with_preview else None
        except BaseException:
            evaluation_state.restore()
            raise
        self._worker.start()

    def _make_worker(
        self,
        scene: Scene,
        cloths: list[Object],
        hashes: dict[str, str],
        resume_point: Checkpoint | None,
        *,
        changed: bool,
    ) -> Worker:
        builder = bridge.SimulationBuilder(scene, self._reader)
        if resume_point is None:
            simulation = builder.at_start()
            previous, statistic = self._reader.first, Statistics()
            writers = files.create_caches(scene, cloths, self._reader, hashes)
            recorder = files.create_record(scene, writers[0].description.bake, self._reader)
        else:
            previous = self._reader.read_frame(resume_point.frame)
            statistic = Statistics.from_dict(resume_point.statistic)
            simulation = builder.continued(resume_point.state, previous)
            writers = files.continue_caches(scene, cloths, resume_point.frame, hashes)
            recorder = files.continue_record(
                scene, resume_point, self._reader, previous, changed=changed
            )
        plan = Plan(
            simulation=simulation,
            builder=builder,
            cloths=self._reader.cloths,
            colliders=self._reader.colliders,
            writers=writers,
            frame_seconds=scene.render.fps_base / scene.render.fps,
            forces=ExternalForces(self._reader.cloths, self._reader.scale, self._textures.evaluate),
            recorder=recorder,
            checkpoints=files.checkpoint_store(scene, writers[0].description.bake),
            library=bridge.version(),
        )
        return Worker(plan, previous, statistic)

    # --- while it runs ------------------------------------------------------------------------

    @property
    def is_done(self) -> bool:
        return not self._worker.is_alive()

    @property
    def is_stopped(self) -> bool:
        """Whether the end was requested."""
        return self._cancelled

    @property
    def frame(self) -> int:
        """Last simulated frame."""
        return self._worker.frame

    def stop(self) -> None:
        """Requests the end after the current frame."""
        self._cancelled = True
        self._textures.close()
        self._worker.stop()

    def _submit(self, frame: int) -> bool:
        """Reads a frame for the worker, if it is in the range; False if there is none."""
        source = None
        if frame <= self.last:
            try:
                source = self._reader.read_frame(frame)
            except (RuntimeError, ValueError, ReferenceError) as error:
                self._reading_error = str(error)
        self._worker.submit(source)
        return source is not None

    def _show_frame(self, frame: int) -> None:
        """Sets the scene to a simulated frame, with the cloths as they are there."""
        self._preview.show()
        scene = object_identity.find_scene(self._scene_uid)
        if scene is not None:
            scene_time.go_to(scene, frame)

    # --- the end ------------------------------------------------------------------------------

    def abandon(self, *, restore: bool) -> None:
        """Ends without a result; the frames stay in the cache for Resume.

        Without `restore` the open file is not modified, because it is being replaced.
        """
        self.stop()
        self._worker.join()
        if restore:
            evaluation_state.restore()

    def finish(self, context: Context) -> Outcome:
        """Shows the frames as results and restores the rest of the scene."""
        try:
            self._worker.join()
            evaluation_state.restore()
            scene = object_identity.find_scene(self._scene_uid)
            errors = [self._worker_error(), self._reading_error]
            errors += self._show_results(context, scene)
            errors.append(_move_from_temporary())
        finally:
            fingerprint.forget_geometry()
            change_counter.increment()
        result = f"frames {self.first} to {self.frame}: {self._worker.statistic.summary()}"
        return Outcome(result, "; ".join(filter(None, errors)), self._cancelled)

    def result_kind(self, scene: Scene) -> str:
        """What shows the frames in the end."""
        return scene.weft.result_kind

    def _show_results(self, context: Context, scene: Scene | None) -> list[str]:
        """Shows the result of each cloth; returns reasons where that is impossible."""
        errors = []
        if scene is None:
            return ["the scene was deleted: the frames are in the cache only"]
        for cloth, writer in zip(self._reader.cloths, self._worker.plan.writers, strict=True):
            obj = object_identity.find(cloth.session_uid)
            if obj is None:
                errors.append(f"'{cloth.name}' was deleted: its frames are in the cache only")
                continue
            evaluation_state.enter_object_mode(context, obj)
            errors.append(self._show(scene, obj, writer))
        return errors

    def _show(self, scene: Scene, obj: Object, writer: pc2.Writer) -> str:
        """Shows a result from the path it was written to, also if the scene names another now."""
        description = writer.description
        try:
            kind, count = self.result_kind(scene), description.frames
            problem = files.show(obj, kind, writer.stem, description, count)
        except REPORTED_ERRORS as error:
            playback.enable(obj)  # the previous result, if it still exists
            if isinstance(error, OSError):
                return f"the frames of '{obj.name}' cannot be read: {error.strerror}"
            return f"'{obj.name}' cannot take its result, which is in the cache only: {error}"
        obj.weft.result.is_live = self.is_live
        return problem

    def _worker_error(self) -> str:
        error = self._worker.error
        if error is None:
            return ""
        if isinstance(error, OSError):
            return f"the cache cannot be written: {error.strerror}"
        return f"frame {self.frame + 1}: {error}"


# --- steps of a session --------------------------------------------------------------------------


def prepare(context: Context, alone: Alone | None = None) -> tuple[list[Object], list[Object]]:
    """Cloths and colliders, checked, in object mode, with identities."""
    context.view_layer.update()  # includes objects that a script has just linked
    if alone is None:
        cloths, colliders = participants(context.scene, context.view_layer)
        require_cloth(context.scene, context.view_layer, cloths)
    else:
        cloths, colliders = alone.participants(context.scene, context.view_layer)
    object_identity.resolve_duplicates()
    for obj in cloths:
        check_cloth(obj)
    for obj in (*cloths, *colliders):
        if obj.library is None:
            object_identity.ensure(obj)
        evaluation_state.enter_object_mode(context, obj)
    for obj in cloths:
        deforming_nodes.detect(context, obj)
    fingerprint.forget_geometry()
    return cloths, colliders


def _in_checkpoint_order(
    resume_point: Checkpoint, cloths: list[Object], colliders: list[Object]
) -> tuple[list[Object], list[Object]]:
    """Participants in the order of a checkpoint: names may have changed since."""
    ordered = []
    for keys, objects in ((resume_point.cloths, cloths), (resume_point.colliders, colliders)):
        found = {object_identity.key(obj): obj for obj in objects}
        if not found.keys() >= set(keys):
            raise ValueError(OTHERS_TAKE_PART)
        # Those that have no faces take no part; the reader leaves them out again.
        ordered.append([found[key] for key in keys] + [found[k] for k in found if k not in keys])
    return ordered[0], ordered[1]


def _check_participants(resume_point: Checkpoint, reader: SceneReader) -> None:
    colliders = [collider.identity for collider in reader.colliders]
    cloths = [cloth.identity for cloth in reader.cloths]
    if colliders != resume_point.colliders or cloths != resume_point.cloths:
        raise ValueError(OTHERS_TAKE_PART)


def checked_range(scene: Scene) -> tuple[int, int]:
    """First and last frame; `ValueError` for an empty range."""
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
