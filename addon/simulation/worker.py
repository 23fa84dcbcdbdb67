# SPDX-License-Identifier: GPL-3.0-or-later
"""The thread that simulates and writes. It never touches Blender.

The main thread hands over what it read of each frame through a short queue, so it is at most a
few frames ahead; the thread advances the simulation and appends the result to the caches.
"""

import queue
import threading
import time
from dataclasses import asdict, dataclass
from typing import Any

from ..blender import mesh_arrays
from ..cache.checkpoint import Checkpoint, Store
from ..cache.pc2 import Writer
from ..cache.statistics import Combined, Statistic
from ..scene.reader import ClothInput, ColliderInput, FrameInput
from ..storage import frame_record
from ..storage.frame_record import Recorder
from . import bridge
from .external_forces import ClothForces
from .texture_requests import CancelledError

FRAMES_AHEAD = 4


@dataclass(frozen=True)
class Plan:
    """All that the thread works with."""

    simulation: Any  # a `weft.Simulation`
    cloths: list[ClothInput]
    colliders: list[ColliderInput]
    writers: list[Writer]
    frame_seconds: float
    forces: ClothForces
    recorder: Recorder
    checkpoints: Store
    library: str


class Worker(threading.Thread):
    """Simulates the frames it is given until told that there are no more, or to stop."""

    def __init__(self, plan: Plan, before: FrameInput, statistic: Statistic) -> None:
        """Begins behind a frame, in which the simulation is."""
        super().__init__(name="weft bake", daemon=True)
        self.plan = plan
        self.frame = before.frame  # the last one done
        self.statistic = statistic
        self.error: BaseException | None = None
        self.latest = [cloth.positions for cloth in plan.cloths]  # of the last frame done, in m
        self._before = before
        self._has_materials = False  # a checkpoint may have others than the scene has now
        self._within_frame = False  # the state belongs to no frame then
        self._queue: queue.Queue[FrameInput | None] = queue.Queue(FRAMES_AHEAD)
        self._stop_asked = threading.Event()

    # --- called by the main thread ------------------------------------------------------------

    @property
    def has_room(self) -> bool:
        return not self._queue.full()

    def submit(self, frame: FrameInput | None) -> None:
        """Hands over the next frame; None: there are no more."""
        self._queue.put(frame)

    def stop(self) -> None:
        """Asks to end after the frame that is being simulated."""
        self._stop_asked.set()

    # --- the thread ---------------------------------------------------------------------------

    def run(self) -> None:
        try:
            self._simulate()
        except CancelledError:
            pass
        except BaseException as error:  # a panic of the library is no Exception
            self.error = error
        try:
            for writer in self.plan.writers:
                writer.cut_after(self.frame)  # all cloths end with the same frame
            self._secure(with_state=self.error is None and not self._within_frame)
        except OSError as error:
            self.error = self.error or error
        for writer in self.plan.writers:
            writer.close()
        self.plan.recorder.close()

    def _simulate(self) -> None:
        while not self._stop_asked.is_set():
            try:
                source = self._queue.get(timeout=0.1)
            except queue.Empty:
                continue
            if source is None:
                return
            self._simulate_frame(source)
            if self.statistic.frames % self.plan.checkpoints.interval == 0:
                self._secure(with_state=True)

    def _simulate_frame(self, source: FrameInput) -> None:
        plan, started = self.plan, time.perf_counter()
        report = self._advance(source)
        self._before, self._within_frame = source, False
        shapes = [plan.simulation.positions(index) for index in range(len(plan.cloths))]
        for writer, world, matrix in zip(plan.writers, shapes, source.world_to_object, strict=True):
            writer.append(mesh_arrays.transformed(world, matrix))
        plan.recorder.append(
            source.frame, frame_record.of_frame(source, plan.cloths, plan.colliders)
        )
        self.latest, self.frame = shapes, source.frame
        self.statistic.add(report, time.perf_counter() - started)

    def _advance(self, source: FrameInput) -> Any:
        """Simulates one frame, in parts where forces change within it; the report of the last."""
        plan, simulation = self.plan, self.plan.simulation
        before = self._before if self._has_materials else None
        bridge.set_settings(simulation, plan.cloths, plan.colliders, before, source)
        if before is None or source.materials != before.materials:
            bridge.set_materials(simulation, plan.cloths, source)
            self._has_materials = True
        parts = plan.forces.parts(simulation, source, plan.frame_seconds)
        seconds = plan.frame_seconds / parts
        reports = []
        for number in range(1, parts + 1):
            bridge.set_targets(
                simulation, plan.cloths, plan.colliders, self._before, source, number / parts
            )
            plan.forces.apply(simulation, source, seconds)
            reports.append(simulation.advance(seconds))
            self._within_frame = True
        return reports[0] if parts == 1 else Combined(reports)

    def _secure(self, *, with_state: bool) -> None:
        """Makes the frames so far safe, and what continues them."""
        for writer in self.plan.writers:
            writer.description.statistic = asdict(self.statistic)
            writer.sync()
        self.plan.recorder.flush()
        if with_state:
            kept = Checkpoint(
                frame=self.frame,
                bake=self.plan.checkpoints.bake,
                library=self.plan.library,
                cloths=[cloth.identity for cloth in self.plan.cloths],
                colliders=[collider.identity for collider in self.plan.colliders],
                statistic=asdict(self.statistic),
                state=self.plan.simulation.state(),
            )
            self.plan.checkpoints.write(kept)
