# SPDX-License-Identifier: GPL-3.0-or-later
"""The thread that simulates and writes. It never touches Blender.

The main thread hands over what it read of each frame through a short queue, so it is at most a
few frames ahead; the thread advances the simulation and appends the result to the caches.
"""

import queue
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import bridge
from .cache import Writer
from .checkpoint import Checkpoint
from .scene_reader import ClothInput, ColliderInput, FrameInput

FRAMES_AHEAD = 4


@dataclass
class Statistic:
    """What the frames of a bake were like."""

    frames: int = 0
    seconds: float = 0.0
    steps: int = 0
    rejected_steps: int = 0
    newton_iterations: int = 0
    linear_iterations: int = 0
    contacts: int = 0  # the most in one frame
    max_stretch: float = 0.0
    unconverged_frames: int = 0

    def add(self, report: Any, seconds: float) -> None:
        """Takes in the report of one frame, a `weft.Report`."""
        self.frames += 1
        self.seconds += seconds
        for name in ("steps", "rejected_steps", "newton_iterations", "linear_iterations"):
            setattr(self, name, getattr(self, name) + getattr(report, name))
        self.contacts = max(self.contacts, report.contacts)
        self.max_stretch = max(self.max_stretch, report.max_stretch)
        self.unconverged_frames += not report.converged

    def line(self) -> str:
        """One line for the panel."""
        each = self.seconds / self.frames if self.frames else 0.0
        line = (
            f"{self.frames} frames, {each:.3g} s/frame, at most {self.contacts} contacts, "
            f"largest stretch {100.0 * self.max_stretch:.2f} %, "
            f"{self.rejected_steps} rejected steps"
        )
        if self.unconverged_frames:
            line += f", {self.unconverged_frames} frames not solved to the tolerance"
        return line


@dataclass(frozen=True)
class Plan:
    """All that the thread works with."""

    simulation: Any  # a `weft.Simulation`
    cloths: list[ClothInput]
    colliders: list[ColliderInput]
    writers: list[Writer]
    frame_seconds: float
    checkpoint_path: Path
    checkpoint_interval: int
    library: str


class Worker(threading.Thread):
    """Simulates the frames it is given until told that there are no more, or to stop."""

    def __init__(self, plan: Plan, frame: int, statistic: Statistic) -> None:
        super().__init__(name="weft bake", daemon=True)
        self.plan = plan
        self.frame = frame  # the last one done
        self.statistic = statistic
        self.error: BaseException | None = None
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
        except BaseException as error:  # a panic of the library is no Exception
            self.error = error
        try:
            for writer in self.plan.writers:
                writer.cut_after(self.frame)  # all cloths end with the same frame
            self._secure(with_state=self.error is None)
        except OSError as error:
            self.error = self.error or error
        for writer in self.plan.writers:
            writer.close()

    def _simulate(self) -> None:
        while not self._stop_asked.is_set():
            try:
                source = self._queue.get(timeout=0.1)
            except queue.Empty:
                continue
            if source is None:
                return
            self._simulate_frame(source)
            if self.statistic.frames % self.plan.checkpoint_interval == 0:
                self._secure(with_state=True)

    def _simulate_frame(self, source: FrameInput) -> None:
        plan, started = self.plan, time.perf_counter()
        bridge.set_targets(plan.simulation, plan.cloths, plan.colliders, source)
        report = plan.simulation.advance(plan.frame_seconds)
        for index, writer in enumerate(plan.writers):
            world = plan.simulation.positions(index)
            writer.append(to_object(world, source.world_to_object[index]))
        self.frame = source.frame
        self.statistic.add(report, time.perf_counter() - started)

    def _secure(self, *, with_state: bool) -> None:
        """Makes the frames so far safe, and what continues them."""
        for writer in self.plan.writers:
            writer.description.statistic = asdict(self.statistic)
            writer.sync()
        if with_state:
            Checkpoint(
                frame=self.frame,
                library=self.plan.library,
                cloths=[cloth.identity for cloth in self.plan.cloths],
                colliders=[collider.identity for collider in self.plan.colliders],
                statistic=asdict(self.statistic),
                state=self.plan.simulation.state(),
            ).write(self.plan.checkpoint_path)


def to_object(world: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """World positions in m into the space of an object, in its units."""
    return world @ matrix[:3, :3].T + matrix[:3, 3]
