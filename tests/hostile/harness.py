# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs a scene frame by frame and judges every frame, without any of Weft's own code."""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import TextIO

import numpy as np
from judge.intersections import Intersections, Scenery
from judge.sides import winding_numbers

from scene import Demand, Scene, State

# Intersections that are written out of a frame, and frames for which they are; all are counted.
SHOWN = 3
TOLD = 2
# Intersections of the first bad frame that go into its file.
MARKED = 1000
# Failures that are kept; the first says most.
KEPT = 12
# Stalled frames after which a run is given up, where nothing else is said.
PATIENCE = 3


class NotCleanError(ValueError):
    """A scene that is to start without intersections has some: the scene is wrong, not Weft."""


@dataclass
class Frame:
    """Account of one frame, one line of JSON."""

    frame: int
    time: float  # s
    wall: float  # s, of `advance`
    steps: int
    rejected: int
    newton: int
    linear: int
    contacts: int
    residual: float
    converged: bool
    max_stretch: float
    max_speed: float  # m/s
    kinetic: float  # J
    energy: float  # J, all of it, more than at the start
    intersections: int  # edges and faces that share a point, in float64
    intersections_float32: int  # and when positions are rounded as Blender keeps them
    strayed: int  # vertices below a floor or on another side of a closed obstacle than at first
    stages: dict[str, float]  # s


@dataclass
class Result:
    """Account of a scene."""

    scene: str
    vertices: int
    frames: list[Frame] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.failures

    @property
    def verdict(self) -> str:
        """Kind of the first failure, or "ok"."""
        return self.failures[0].split(":")[1].strip() if self.failures else "ok"

    def fail(self, frame: int, kind: str, what: str) -> None:
        """Notes a failure: frame, a word for the kind, a sentence."""
        if len(self.failures) < KEPT:
            self.failures.append(f"frame {frame}: {kind}: {what}")


class Judge:
    """The tests that every frame of a scene must pass."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.scenery = Scenery()
        for cloth in scene.cloths:
            self.scenery.add(cloth.name, len(cloth.positions), cloth.triangles, is_cloth=True)
        for obstacle in scene.obstacles:
            count = len(obstacle.positions)
            self.scenery.add(obstacle.name, count, obstacle.triangles, is_cloth=False)
        self._closed = [obstacle.encloses for obstacle in scene.obstacles]
        start = scene.start()
        self._expected = self._windings(start)
        if scene.demand is not Demand.UNTANGLES:
            self._refuse_bad_start(start)

    def _refuse_bad_start(self, start: State) -> None:
        for found in self.intersections(start):
            if found:
                raise NotCleanError(f"{len(found)} intersections at the start, such as: {found[0]}")
        for order in self.scene.orders:
            broken = order(start)
            if broken:
                raise NotCleanError(f"at the start {broken}")

    def intersections(self, state: State) -> tuple[Intersections, Intersections]:
        """All intersections, and those after rounding positions as Blender keeps them."""
        return self.scenery.intersections_also_rounded(
            np.concatenate([*state.cloths, *state.obstacles])
        )

    def _windings(self, state: State) -> list[list[np.ndarray]]:
        """For every closed obstacle and every cloth whether each vertex is inside."""
        return [
            [winding_numbers(points, positions, obstacle.triangles) > 0 for points in state.cloths]
            for obstacle, positions, closed in zip(
                self.scene.obstacles, state.obstacles, self._closed, strict=True
            )
            if closed
        ]

    def strayed(self, state: State) -> int:
        """Vertices below a floor, on another side of a closed obstacle, or still in one."""
        if not self.scene.watch_sides:
            return 0
        # Cloth that starts inside belongs outside in the end.
        inside_wanted = self.scene.demand is not Demand.UNTANGLES
        inside = sum(
            int((now != (before & inside_wanted)).sum())
            for nows, befores in zip(self._windings(state), self._expected, strict=True)
            for now, before in zip(nows, befores, strict=True)
        )
        floors = [o.positions[0, 2] for o in self.scene.obstacles if o.is_floor]
        below = (int((points[:, 2] <= z).sum()) for z in floors for points in state.cloths)
        return inside + sum(below)


class Run:
    """A scene in motion, with the account that grows by each frame."""

    def __init__(self, name: str, scene: Scene, folder: Path | None, **settings: object) -> None:
        self.scene, self.folder = scene, folder
        self.judge = Judge(scene)
        self.result = Result(name, scene.vertex_count)
        self.label = f"{name}-{scene.vertex_count}"
        self.before = self.state = scene.start()
        self.recorded = [self.state]
        self.simulation = scene.simulation(**settings)
        self._energy = self.simulation.energy()["total"]
        self._liveliest = 0.0  # J
        self._dumped = False
        self._stalls = 0

    def go(
        self,
        frames: int,
        *,
        record: bool = False,
        patience: int = PATIENCE,
        tell: Callable[[str], None] | None = None,
    ) -> Result:
        """Runs and judges; ends early after that many stalls, or with nothing to go on with.

        Failures are told and lines of JSON written frame by frame, for runs that somebody ends.
        """
        failures = self.result.failures
        with self._lines() as lines:
            for frame in range(1, frames + 1):
                told, goes_on = len(failures), self._advance(frame)
                if goes_on:
                    account = {"scene": self.label} | asdict(self.result.frames[-1])
                    lines.write(json.dumps(account) + "\n")
                    lines.flush()
                    if record:
                        self.recorded.append(self.state)
                if self._stalls >= patience:
                    self.result.fail(frame, "given up", f"{patience} frames have stalled")
                    goes_on = False
                for failure in failures[told:] if tell else []:
                    tell(failure)
                if not goes_on:
                    break
        return self.result

    def _lines(self) -> TextIO:
        if self.folder is None:
            return StringIO()
        self.folder.mkdir(parents=True, exist_ok=True)
        return (self.folder / f"{self.label}.jsonl").open("w")

    def _advance(self, frame: int) -> bool:
        scene, step = self.scene, 1.0 / self.scene.frame_rate
        start, end = (frame - 1) * step, frame * step
        scene.drive(self.simulation, start, end)
        clock = time.perf_counter()
        try:
            report = self.simulation.advance(step)
        except Exception as error:  # any exception is a result
            self.result.fail(frame, "raised", f"{type(error).__name__}: {error}")
            return False
        wall = time.perf_counter() - clock
        self.before, self.state = self.state, scene.state(self.simulation, end)
        if not all(np.isfinite(points).all() for points in self.state.cloths):
            self.result.fail(frame, "not finite", "a position is not a number")
            return False
        found, rounded = self.judge.intersections(self.state)
        account = self._account(frame, end, wall, report, (len(found), len(rounded)))
        self.result.frames.append(account)
        self._verdict(account, found or rounded)
        self._stalls += account.newton > scene.newton_limit
        return True

    def _account(
        self, frame: int, end: float, wall: float, report: object, intersections: tuple[int, int]
    ) -> Frame:
        speeds = [
            np.linalg.norm(self.simulation.velocities(index), axis=1).max()
            for index in range(len(self.scene.cloths))
        ]
        energies = self.simulation.energy()
        return Frame(
            frame=frame,
            time=end,
            wall=wall,
            steps=report.steps,
            rejected=report.rejected_steps,
            newton=report.newton_iterations,
            linear=report.linear_iterations,
            contacts=report.contacts,
            residual=report.residual,
            converged=report.converged,
            max_stretch=report.max_stretch,
            max_speed=float(max(speeds)),
            kinetic=energies["kinetic"],
            energy=energies["total"] - self._energy,
            intersections=intersections[0],
            intersections_float32=intersections[1],
            strayed=self.judge.strayed(self.state),
            stages=dict(report.seconds),
        )

    def _verdict(self, account: Frame, found: Intersections) -> None:
        scene, frame, fail = self.scene, account.frame, self.result.fail
        if account.newton > scene.newton_limit:
            fail(
                frame, "stall", f"{account.newton} Newton iterations; at most {scene.newton_limit}"
            )
        if scene.is_excused(account.time):
            return
        if found:
            precision = "" if account.intersections else " after rounding to float32"
            shown = SHOWN if len(self.result.failures) < TOLD else 0
            told = "".join(f"\n    {intersection}" for intersection in islice(found, shown))
            fail(frame, "intersection", f"{len(found)} pairs{precision}{told}")
            self._dump(frame, found)
        if account.strayed:
            fail(frame, "strayed", f"{account.strayed} vertices on the wrong side of an obstacle")
            self._dump(frame, found)
        for order in scene.orders:
            broken = order(self.state)
            if broken:
                fail(frame, "passed through", broken)
                self._dump(frame, found)
        if account.max_stretch > scene.stretch_limit:
            fail(frame, "overstretched", f"by {account.max_stretch:.3f}")
        if account.max_speed > scene.speed_limit:
            fail(frame, "too fast", f"{account.max_speed:.3g} m/s")
        self._liveliest = max(self._liveliest, account.kinetic)
        grown = account.energy > scene.energy_growth * self._liveliest
        if scene.has_no_source_of_energy and grown:
            fail(frame, "energy grew", f"by {account.energy:.3g} J from nothing")

    def _dump(self, frame: int, found: Intersections) -> None:
        """Keeps the first failure of a run, and the frame before it, for a closer look."""
        if self._dumped or self.folder is None:
            return
        self._dumped = True
        kept = list(islice(found, MARKED))
        arrays = {
            "edges": np.array([intersection.edge for intersection in kept]),
            "faces": np.array([intersection.face for intersection in kept]),
            "edge_of": np.array([intersection.edge_of for intersection in kept]),
            "face_of": np.array([intersection.face_of for intersection in kept]),
        }
        path = self.folder / f"{self.label}-frame{frame}.npz"
        np.savez_compressed(
            path, **frames_as_arrays(self.scene, [self.before, self.state]), **arrays
        )
        self.result.failures[-1] += f"\n    kept in {path}"


def frames_as_arrays(scene: Scene, states: list[State]) -> dict[str, np.ndarray]:
    """Positions `(frames, n, 3)`, triangles and name of every mesh, for a file."""
    arrays = {}
    for index, cloth in enumerate(scene.cloths):
        arrays[f"cloth{index}_positions"] = np.stack([state.cloths[index] for state in states])
        arrays[f"cloth{index}_triangles"] = cloth.triangles
        arrays[f"cloth{index}_name"] = np.array(cloth.name)
    for index, obstacle in enumerate(scene.obstacles):
        moves = np.stack([state.obstacles[index] for state in states])
        arrays[f"obstacle{index}_positions"] = moves
        arrays[f"obstacle{index}_triangles"] = obstacle.triangles
        arrays[f"obstacle{index}_name"] = np.array(obstacle.name)
    return arrays
