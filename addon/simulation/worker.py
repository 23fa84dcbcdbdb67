# SPDX-License-Identifier: GPL-3.0-or-later
"""The thread that simulates and writes the caches. It does not access Blender data.

The main thread submits the input of each frame through a bounded queue, so that it is at most a few
frames ahead; the thread advances the simulation and appends the results to the caches.
"""

import queue
import threading
import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..blender import mesh_arrays
from ..cache.checkpoint import Checkpoint, CheckpointStore
from ..cache.pc2 import Writer
from ..cache.statistics import PinchedPlace, Place, Statistics
from ..scene import motion
from ..scene.reader import ClothInput, ColliderInput, FrameInput
from ..storage import frame_record
from ..storage.frame_record import Recorder
from . import bridge
from .drag import Drag
from .external_forces import ExternalForces
from .largest_stretch import LargestStretch
from .texture_requests import CancelledError

FRAMES_AHEAD = 4


@dataclass
class Plan:
    """Everything that the thread works with."""

    simulation: Any  # a `weft.Simulation`
    builder: bridge.SimulationBuilder
    cloths: list[ClothInput]
    colliders: list[ColliderInput]
    writers: list[Writer]
    frame_seconds: float  # of the animation
    forces: ExternalForces
    recorder: Recorder
    checkpoints: CheckpointStore
    library: str

    def seconds(self, current: FrameInput) -> float:
        """Duration of a frame for the cloth."""
        return self.frame_seconds * current.speed


class Worker(threading.Thread):
    """Simulates the submitted frames until the end is submitted or a stop is requested."""

    def __init__(self, plan: Plan, previous: FrameInput, statistic: Statistics) -> None:
        """`previous` is the input of the frame that the state of the simulation belongs to."""
        super().__init__(name="weft bake", daemon=True)
        self.plan = plan
        self.frame = previous.frame  # last completed frame
        self.statistic = statistic
        self.error: BaseException | None = None
        self._previous = previous
        self._stretches = [
            LargestStretch(cloth, Place.from_dict(writer.description.statistic))
            for cloth, writer in zip(plan.cloths, plan.writers, strict=True)
        ]
        self._pinched = [
            PinchedPlace.from_dict(writer.description.statistic) for writer in plan.writers
        ]
        self.drag: Drag | None = None  # by the mouse, set from the main thread
        self._dragged: Drag | None = None  # whose vertices are held now
        self._has_materials = False  # a restored state may have other materials than the scene
        self._queue: queue.Queue[FrameInput | None] = queue.Queue(FRAMES_AHEAD)
        self._stop_asked = threading.Event()

    # --- called by the main thread ------------------------------------------------------------

    @property
    def has_space(self) -> bool:
        """Whether the queue accepts another frame."""
        return not self._queue.full()

    def submit(self, frame: FrameInput | None) -> None:
        """Submits the next frame; None: there are no more."""
        self._queue.put(frame)

    def stop(self) -> None:
        """Requests the end after the current frame."""
        self._stop_asked.set()

    # --- the thread ---------------------------------------------------------------------------

    def run(self) -> None:
        try:
            self._simulate()
        except CancelledError:
            pass
        except BaseException as error:  # a panic of the library is a BaseException
            self.error = error
        try:
            for writer in self.plan.writers:
                writer.truncate_after(self.frame)  # all caches end with the same frame
            self._flush(with_state=self.error is None)
        except OSError as error:
            self.error = self.error or error
        for writer in self.plan.writers:
            writer.close()
        self.plan.recorder.close()

    def _simulate(self) -> None:
        while not self._stop_asked.is_set():
            try:
                current = self._queue.get(timeout=0.1)
            except queue.Empty:
                continue
            if current is None:
                return
            self._simulate_frame(current)
            if self.statistic.frames % self.plan.checkpoints.interval == 0:
                self._flush(with_state=True)

    def _simulate_frame(self, current: FrameInput) -> None:
        plan, started = self.plan, time.perf_counter()
        reports = self._bridge(current) if current.jumps else self._advance_parts(current)
        self._previous = current
        shapes = [plan.simulation.positions(index) for index in range(len(plan.cloths))]
        for writer, world, matrix in zip(
            plan.writers, shapes, current.world_to_object, strict=True
        ):
            writer.append(mesh_arrays.transformed(world, matrix))
        plan.recorder.append(
            current.frame, frame_record.of_frame(current, plan.cloths, plan.colliders)
        )
        for index, stretch in enumerate(self._stretches):
            stretch.update(index, current, shapes[index])
        self._pinched = [
            place.at_frame(current.frame, _pinched_vertices(reports, index))
            for index, place in enumerate(self._pinched)
        ]
        self.frame = current.frame
        self.statistic.add(reports, time.perf_counter() - started)

    def _bridge(self, current: FrameInput) -> list[Any]:
        """Moves cloth along with what has jumped, and begins a new simulation there, at rest."""
        plan = self.plan
        before = [plan.simulation.positions(index) for index in range(len(plan.cloths))]
        jumps = motion.cloth_jumps(
            self._previous.bodies, current.bodies, list(current.jumps), before
        )
        after = [
            positions if jump is None else jump.apply(positions)
            for positions, jump in zip(before, jumps, strict=True)
        ]
        plan.simulation = plan.builder.at_rest(after, current)
        self._has_materials = False
        self.statistic.jumps.append(current.frame)
        return []

    def _advance_parts(self, current: FrameInput) -> list[Any]:
        """Simulates one frame, in parts where bodies turn fast; returns their reports."""
        parts = (*current.between, current)
        reports = []
        for part in parts:
            reports.append(self._advance(part, self.plan.seconds(part) / len(parts)))
            self._previous = part
        return reports

    def _advance(self, current: FrameInput, seconds: float) -> Any:
        """Simulates a part of a frame; returns its report."""
        self._change_rest_shapes(current)
        plan, simulation = self.plan, self.plan.simulation
        previous = self._previous if self._has_materials else None
        bridge.set_settings(simulation, plan.cloths, plan.colliders, previous, current)
        if previous is None or current.materials != previous.materials:
            bridge.set_materials(simulation, plan.cloths, current)
            self._has_materials = True
        bridge.set_targets(simulation, plan.cloths, plan.colliders, current)
        self._drag(current)
        bridge.set_pressures(simulation, plan.cloths, previous, current)
        plan.forces.apply(simulation, current, seconds)
        return simulation.advance(seconds)

    def _change_rest_shapes(self, current: FrameInput) -> None:
        """Continues with a new simulation where the rest shape of a cloth has changed."""
        shapes = zip(self._previous.rest_positions, current.rest_positions, strict=True)
        if any(new is not None and not np.array_equal(old, new) for old, new in shapes):
            state = self.plan.simulation.state()
            self.plan.simulation = self.plan.builder.continued(state, current)

    def _drag(self, current: FrameInput) -> None:
        """Holds the vertices around a dragged point, and lets those go that were held before."""
        drag, simulation, cloths = self.drag, self.plan.simulation, self.plan.cloths
        if self._dragged is not None:
            self._dragged.release(simulation, cloths)
        if drag is not None:
            drag.hold(simulation, cloths, current, self.plan.seconds(current))
        self._dragged = drag

    def _flush(self, *, with_state: bool) -> None:
        """Makes all frames so far durable, and optionally writes a checkpoint."""
        each = zip(self.plan.writers, self._stretches, self._pinched, strict=True)
        for writer, stretch, pinched in each:
            places = {"place": asdict(stretch.place), "pinched": asdict(pinched)}
            writer.description.statistic = asdict(self.statistic) | places
            writer.sync()
        self.plan.recorder.flush()
        if with_state:
            checkpoint = Checkpoint(
                frame=self.frame,
                bake=self.plan.checkpoints.bake,
                library=self.plan.library,
                cloths=[cloth.identity for cloth in self.plan.cloths],
                colliders=[collider.identity for collider in self.plan.colliders],
                statistic=asdict(self.statistic),
                state=self.plan.simulation.state(),
            )
            self.plan.checkpoints.write(checkpoint)


def _pinched_vertices(reports: list[Any], index: int) -> list[int]:
    """Vertices of the cloth of an index that colliders held at the end of a part of a frame."""
    each = (place for report in reports for place in report.pinched_vertices)
    return sorted({vertex for cloth, vertex in each if cloth == index})
