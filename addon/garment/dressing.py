# SPDX-License-Identifier: GPL-3.0-or-later
"""The dressing of a garment: a thread simulates, the main thread shows what it has.

The library sews the garment around the colliders as they are at the first frame and lets it settle.
A garment that nothing holds and that was not dressed before starts at the height at which its seams
close best. Where nothing is pinned, closed seams are welded before the garment settles, else after.
A seam that has cloth between its sides counts as open. A garment that closes one in this way is
sewn once more from where it was, while other cloth is kept out of closing seams: either way leads
some garments so that they cannot close, and the other may help. Where a seam stays open, all
vertices stay where contact has them. Other garments that are dressed already, or have a result, are
obstacles. The mesh of the garment is that of its shape keys alone: a modifier that deforms it acts
on the dressed shape.
"""

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from bpy.types import Context, Object

from ..blender import mesh_arrays, modifier_state, object_identity, scene_time
from ..properties import change_counter
from ..scene import evaluation_state
from ..scene.evaluated import deformed
from ..scene.participants import check_cloth, participants
from ..scene.reader import ClothInput, SceneReader
from ..simulation import bridge
from . import open_seams, seams
from .dressed import shape_key, welded_cloth, welding

NEGLIGIBLE = 1e-4  # m, motion by modifiers that is not told

_running: "Dressing | None" = None


def running() -> "Dressing | None":
    """The current dressing, None without one."""
    return _running


class Dressing:
    """Starts when constructed; call `show` until `is_done`, then `finish`."""

    def __init__(self, context: Context, obj: Object) -> None:
        global _running
        self._garment, colliders = _prepare(context, obj)
        self._uid = obj.session_uid
        first, _last = scene_time.frame_range(context.scene)
        evaluation_state.prepare(context, [obj], colliders)
        try:
            modifier_state.mute(obj, lambda _modifier: True)
            reader = SceneReader(context, [obj], colliders, first)
            source = reader.cloths[0]
            is_free = not len(source.pinned) and shape_key.find(obj) is None
            start = bridge.lifted(context.scene, reader) if is_free else source.positions
            begin = bridge.dressing_builder(context.scene, reader)
            cloth = replace(source, positions=start)
            self._group = welding.weldable(obj.data, self._garment.pairs)
            thread = _Thread(begin, cloth, self._group)
        finally:
            evaluation_state.restore()
        scene_time.go_to(context.scene, first)
        self._reader = reader
        self._to_object = reader.first.world_to_object[0]
        # What the other shape keys add to the dressed shape.
        self._others = self._in_object_space(source.positions)
        self._others -= shape_key.coordinates(obj)
        seconds = context.scene.render.fps_base / context.scene.render.fps
        self._shown = 0
        self._thread = thread
        thread.frame_seconds = seconds
        _running = self
        self._thread.start()

    @property
    def is_done(self) -> bool:
        return not self._thread.is_alive()

    @property
    def progress(self) -> float:
        """Fraction of the sewn pairs that are closed."""
        return 1.0 - len(self._thread.open_pairs) / max(1, len(self._garment.pairs))

    def progress_text(self) -> str:
        """Phase and simulated time."""
        thread = self._thread
        sewing = "sewing again" if thread.guards_seams else "sewing"
        phase = sewing if thread.phase == "sewing" else "settling under gravity"
        closed = len(self._garment.pairs) - len(thread.open_pairs)
        pairs = f"{closed} of {len(self._garment.pairs)} pairs closed"
        return f"Weft: {phase}, {thread.seconds:.1f} s, {pairs}"

    def wait(self, seconds: float) -> None:
        self._thread.join(seconds)

    def stop(self) -> None:
        """Ends the dressing after the current step; the garment stays as it is then."""
        self._thread.stop_asked.set()

    def show(self) -> None:
        """Shows the last positions on the object, if they are new."""
        obj, count = object_identity.find(self._uid), self._thread.count
        if obj is None:
            self.stop()
        elif count != self._shown:
            self._shown = count
            self._write(obj, self._thread.positions)

    def abandon(self) -> None:
        """Ends without a report; the object stays as it was shown last."""
        global _running
        self.stop()
        self._thread.join()
        _running = None

    def finish(self, context: Context) -> tuple[bool, list[str]]:
        """Writes the dressed shape; whether the garment is worn, and what there is to say."""
        global _running
        self._thread.join()
        _running = None
        obj, thread = object_identity.find(self._uid), self._thread
        if obj is None:
            return False, ["the garment was deleted"]
        gaps = {each["pair"]: each["gap"] for each in thread.open_pairs}
        closed = np.array([k not in gaps for k in range(len(self._garment.pairs))])
        is_welded = closed.all() and thread.phase in ("worn", "moving")
        positions = thread.positions
        if is_welded:
            group = welding.labels(self._garment.pairs, len(positions))
            positions = welding.together(positions, group)
        self._write(obj, positions)
        lines = self._report(gaps, positions)
        lines += _modified(context, obj, positions)
        is_worn = thread.phase == "worn" and thread.error is None
        if is_welded:
            welding.weld(obj, self._group)
        obj.weft.garment.report, obj.weft.garment.has_failed = "\n".join(lines), not is_worn
        change_counter.increment()
        return is_worn, lines

    def _report(self, gaps: dict[int, float], positions: np.ndarray) -> list[str]:
        thread = self._thread
        if thread.error is not None:
            return [f"After {thread.seconds:.1f} s: {thread.error}"]
        if thread.phase == "worn":
            return [f"Dressed in {thread.seconds:.1f} s: all seams are closed"]
        if thread.phase == "moving" and not thread.stop_asked.is_set():
            return [
                "All seams are closed, but the garment still moved at the end: it may slide off"
            ]
        if thread.phase == "moving":
            return [f"Stopped after {thread.seconds:.1f} s: all seams are closed"]
        state = open_seams.State(self._reader.cloths[0], self._reader.colliders, positions)
        return open_seams.explained(self._garment, gaps, state)

    def _in_object_space(self, positions: np.ndarray) -> np.ndarray:
        return mesh_arrays.transformed(positions, self._to_object)

    def _write(self, obj: Object, positions: np.ndarray) -> None:
        if len(obj.data.vertices) == len(positions):
            shape_key.write(obj, self._in_object_space(positions) - self._others)


class _Thread(threading.Thread):
    """Simulates to the end of the dressing or a stop; it does not access Blender data."""

    def __init__(
        self,
        begin: Callable[[ClothInput, bool], tuple[Any, Any]],
        cloth: ClothInput,
        group: np.ndarray,
    ) -> None:
        super().__init__(name="weft dressing", daemon=True)
        self.stop_asked = threading.Event()
        self.error: BaseException | None = None
        self.count, self.seconds, self.frame_seconds = 0, 0.0, 1.0
        self._begin, self._cloth, self._group = begin, cloth, group
        # Vertex of the simulation for each of the garment, and pair for each of the simulation.
        self._vertices, self._pairs = np.arange(len(group)), np.arange(len(cloth.sewing))
        self.guards_seams = False
        self._sew()

    def run(self) -> None:
        try:
            while not self._dressing.is_over and not self.stop_asked.is_set():
                self._dressing.advance(self.frame_seconds)
                self.seconds += self.frame_seconds
                self._look()
                if self._is_sewn and not self.guards_seams and self._closed_on_cloth():
                    self.guards_seams, self.seconds = True, 0.0
                    self._sew()
                if self.phase == "settling" and self._is_sewn and not len(self._cloth.pinned):
                    if self._caught(self._all_pairs):
                        break
                    self._weld()
            self._dressing.cancel()
            self._look()
            if self.phase in ("worn", "moving") and self._is_sewn:
                self._add_caught()
        except BaseException as error:  # a panic of the library is a BaseException
            self.error = error

    @property
    def _is_sewn(self) -> bool:
        """Whether no seam is welded."""
        return len(self._vertices) == len(self._simulation.positions(0))

    def _sew(self) -> None:
        """Begins from where the garment was placed."""
        self._simulation, self._dressing = self._begin(self._cloth, self.guards_seams)
        self._closed: set[int] = set()
        self._look()

    @property
    def _all_pairs(self) -> np.ndarray:
        return np.arange(len(self._cloth.sewing))

    def _closed_on_cloth(self) -> bool:
        """Whether a pair has closed since the last time with cloth in between."""
        now = set(self._all_pairs.tolist()) - {each["pair"] for each in self.open_pairs}
        new, self._closed = sorted(now - self._closed), now
        return bool(new) and bool(self._caught(np.array(new)))

    def _caught(self, wanted: np.ndarray) -> list[dict]:
        """Those of the pairs that have cloth in between, as `open_pairs` has them."""
        sewing, ends = self._cloth.sewing, self.positions[self._cloth.sewing]
        caught = open_seams.caught(sewing, wanted, self._cloth.triangles, self.positions)
        gaps = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
        return [{"pair": pair, "gap": gaps[pair]} for pair in wanted[caught].tolist()]

    def _add_caught(self) -> None:
        """Counts closed seams with cloth in between among the open ones."""
        known = {each["pair"] for each in self.open_pairs}
        caught = [each for each in self._caught(self._all_pairs) if each["pair"] not in known]
        if caught:
            self.phase, self.open_pairs = "open", self.open_pairs + caught

    def _weld(self) -> None:
        """Goes on with closed seams as one."""
        placed = replace(self._cloth, positions=welding.together(self.positions, self._group))
        self._vertices = welding.numbers(self._group)
        self._pairs = welded_cloth.kept_pairs(self._cloth.sewing, self._vertices)[0]
        welded = welded_cloth.welded(placed, self._group)
        self._simulation, self._dressing = self._begin(welded, self.guards_seams)

    def _look(self) -> None:
        self.phase = self._dressing.phase
        self.open_pairs = [
            {**entry, "pair": int(self._pairs[entry["pair"]])}
            for entry in self._dressing.open_pairs()
        ]
        self.positions = self._simulation.positions(0)[self._vertices]
        self.count += 1


# --- steps of a dressing ----------------------------------------------------------------------


def _prepare(context: Context, obj: Object) -> tuple[seams.Seams, list[Object]]:
    """Seams of a garment, and the obstacles, all in object mode."""
    if _running is not None:
        raise RuntimeError("a garment is being dressed already")
    bridge.library()
    context.view_layer.update()
    check_cloth(obj)
    cloths, colliders = participants(context.scene, context.view_layer)
    colliders += [
        one for one in cloths if one != obj and (welding.is_dressed(one) or one.weft.result.shown)
    ]
    for each in (obj, *colliders):
        evaluation_state.enter_object_mode(context, each)
    if obj.weft.garment.panels_mesh is not None:
        shape_key.write(obj, welding.unweld(obj))
    found = seams.of(obj)
    if not len(found.pairs):
        raise ValueError(f"'{obj.name}' has no sewing edges: sew two runs of edges in edit mode")
    obj.weft.use_sewing = True
    key = shape_key.find(obj)
    if key is not None:
        key.value, key.mute = 1.0, False
    return found, colliders


def _modified(context: Context, obj: Object, positions: np.ndarray) -> list[str]:
    """A remark where modifiers move the dressed shape."""
    deforming = [m.name for m in obj.modifiers if modifier_state.is_deforming(m)]
    if not deforming or any(modifier_state.is_generative(m) for m in obj.modifiers):
        return []
    context.view_layer.update()
    evaluated = obj.evaluated_get(context.evaluated_depsgraph_get())
    scale, frame = context.scene.unit_settings.scale_length, context.scene.frame_current
    moved = np.abs(deformed(evaluated, len(positions), scale, frame) - positions).max()
    if moved < NEGLIGIBLE:
        return []
    return [
        f"The modifier '{deforming[0]}' moves the dressed garment by up to {moved * 1000.0:.3g} mm "
        "at the first frame: dress it in the pose in which it moves nothing"
    ]


def abandon_running() -> None:
    """Ends a dressing that is under way."""
    if _running is not None:
        _running.abandon()
