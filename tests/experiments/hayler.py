# SPDX-License-Identifier: MIT OR Apache-2.0
"""Hayler 2004: grids of growing size, and why the implicit solver there was unstable."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import plot
import weft
from page import AGREES, DIFFERS, PARTLY, Finding, Table, judged
from scenes import Run, advance, grid
from springs import HALF_OFFSETS, Springs, State, is_stable, largest

# Table 5.1: the largest stable step, unit not stated, and frames per second.
PRINTED = {5: 8.5, 7: 7.5, 10: 7.0, 15: 7.0, 30: 6.5, 50: 6.0, 100: 5.5, 500: 4.0}
FRAMES_PER_SECOND = {5: 85, 7: 85, 10: 85, 15: 85, 30: 83, 50: 38, 100: 10, 500: 0.5}
LARGEST = 500  # per side
LIMIT = 15.0  # s: what the implicit steps of one grid may take
SHORT_LIMIT = 2.0  # s: the same for each of the other schemes
HUGE_STEP = 100.0  # s, that of Choi and Ko
UNDAMPED = {"stretch_damping": 0.0, "shear_damping": 0.0, "bend_damping": 0.0}
OWN = {
    "implicit_euler, linearised": {"integrator": "implicit_euler", "solver": "linearised"},
    "imex_euler": {"integrator": "imex_euler"},
    "sbdf2": {"integrator": "sbdf2"},
}

Past = tuple[np.ndarray, ...]


def buckled(ratio: np.ndarray) -> np.ndarray:
    """The force of eq. 3.3 over k_b/L², by a table of inverse sinc, as section 3.1.2 does."""
    half_angle = np.linspace(1e-3, np.pi, 2000)
    sinc = np.sin(half_angle) / half_angle
    force = 4.0 * half_angle**2 / (np.cos(half_angle) - sinc)
    return np.interp(ratio, sinc[::-1], force[::-1])


class ChoiKo(Springs):
    """Springs that only pull between neighbours (eq. 3.1), and between the next but one beams that
    buckle under any push (eqs. 3.2 to 3.5), all damped in every direction (eq. 3.6).
    """

    bending = 0.5  # k_b, N·m²

    def acceleration(self, x: np.ndarray, v: np.ndarray) -> np.ndarray:
        """As of `Springs`; none where pinned."""
        force = -self.drag * v
        force[..., 2] -= self.mass * 9.80665
        for (first, second, length), offset in zip(self.members, HALF_OFFSETS, strict=True):
            apart = x[second] - x[first]
            size = np.linalg.norm(apart, axis=-1, keepdims=True)
            pull = self.tension(size, length, offset)[0] * apart / size
            pull += self.spring_damping * (v[second] - v[first])
            force[first] += pull
            force[second] -= pull
        return self.free * force / self.mass

    def tension(
        self, size: np.ndarray, length: np.ndarray, offset: tuple[int, int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Force of springs in N, and its derivative by their length in N/m."""
        if max(map(abs, offset)) == 1:
            return (
                self.stiffness * np.maximum(0.0, size - length),
                self.stiffness * (size >= length),
            )

        def beam(size: np.ndarray) -> np.ndarray:
            arc = self.bending / length**2 * buckled(np.minimum(1.0, size / length))
            return np.maximum(
                self.stiffness * np.minimum(0.0, size - length), arc * (size < length)
            )

        step = 1e-5 * length
        return beam(size), np.maximum(0.0, beam(size + step) - beam(size - step)) / (2.0 * step)

    def blocks(self, x: np.ndarray) -> list[tuple[tuple, tuple, np.ndarray, np.ndarray]]:
        """For every offset −∂f/∂x, without what compression makes negative, and −∂f/∂v."""
        found = []
        for (first, second, length), offset in zip(self.members, HALF_OFFSETS, strict=True):
            apart = x[second] - x[first]
            size = np.linalg.norm(apart, axis=-1, keepdims=True)
            force, slope = self.tension(size, length, offset)
            unit = apart / size
            outer = unit[..., :, None] * unit[..., None, :]
            across = np.maximum(0.0, force / size)[..., None]
            stiff = slope[..., None] * outer + across * (np.eye(3) - outer)
            damped = np.broadcast_to(self.spring_damping * np.eye(3), stiff.shape)
            found.append((first, second, stiff, damped))
        return found


def verlet(springs: Springs, h: float) -> Callable[[State], State]:
    """Verlet's method, with velocities from positions."""

    def step(state: State) -> State:
        x, v = state
        middle = v + 0.5 * h * springs.acceleration(x, v)
        x = x + h * middle
        return x, middle + 0.5 * h * springs.acceleration(x, middle)

    return step


def derivatives(springs: Springs, x: np.ndarray, complete: bool) -> tuple[np.ndarray, np.ndarray]:
    """∂f/∂x and ∂f/∂v: `complete`, or as the listing in figure 4.8 fills them.

    The listing fills the blocks of connected particles alone. The blocks on the diagonal, minus the
    sum of a row, stay empty, and the derivative of damping is +k_d on the diagonal alone.
    """
    count = springs.side**2
    index = np.arange(count).reshape(springs.side, springs.side)
    by_x, by_v = np.zeros((2, count, 3, count, 3))
    for first, second, stiff, damped in springs.blocks(x):
        a, b = index[first].ravel(), index[second].ravel()
        stiff, damped = stiff.reshape(-1, 3, 3), damped.reshape(-1, 3, 3)
        for i, j in ((a, b), (b, a)):
            np.add.at(by_x, (i, slice(None), j), stiff)
            if complete:
                np.add.at(by_x, (i, slice(None), i), -stiff)
                np.add.at(by_v, (i, slice(None), j), damped)
                np.add.at(by_v, (i, slice(None), i), -damped)
    by_x, by_v = by_x.reshape(3 * count, -1), by_v.reshape(3 * count, -1)
    own = -springs.drag if complete else springs.spring_damping
    return by_x, by_v + own * np.eye(3 * count)


def bdf2(
    springs: Springs, h: float, complete: bool, carried: bool = False
) -> Callable[[Past], Past]:
    """The step of eqs. 3.16 and 3.17, with `complete` matrices or those of the listing.

    Eq. 3.16 is right as printed. With `carried` forces the next ones are those of eq. 3.18, as
    printed, instead of those of the new positions.
    """
    free = np.repeat(springs.free.ravel(), 3)

    def step(state: Past) -> Past:
        x, v, *past = state
        before, slower, force = past or (x - h * v, v, springs.mass * springs.acceleration(x, v))
        by_x, by_v = derivatives(springs, x, complete)
        moved, speed = (x - before).ravel(), v.ravel()
        whole = springs.mass * np.eye(len(speed)) - 2.0 / 3.0 * h * by_v - 4.0 / 9.0 * h * h * by_x
        load = springs.mass * (moved / 3.0 + h / 9.0 * (8.0 * speed - 2.0 * slower.ravel()))
        load += 4.0 / 9.0 * h * h * (force.ravel() - by_v @ speed) - 2.0 / 9.0 * h * by_v @ moved
        held = np.where(free[:, None] > 0.0, whole, np.eye(len(speed)))
        change = np.linalg.solve(held, load * free)
        new_x = x + change.reshape(x.shape)
        new_v = (1.5 * new_x - 2.0 * x + 0.5 * before) / h
        if carried:
            force = force + (by_x @ change + by_v @ (new_v - v).ravel()).reshape(x.shape)
        else:
            force = springs.mass * springs.acceleration(new_x, new_v)
        return new_x, new_v, x, v, force

    return step


def settles(springs: Springs, step: Callable[[Past], Past]) -> bool:
    """Whether after 40 steps the sheet is within three of its sides of where it started."""
    state = springs.start()
    with np.errstate(all="ignore"):
        try:
            for _ in range(40):
                state = step(state)
        except np.linalg.LinAlgError:
            return False
    return bool(np.abs(state[0] - springs.rest).max() < 3.0 * springs.side * springs.spacing)


def limits(side: int) -> list[float]:
    """Largest steps: the listing; its forces evaluated anew; whole matrices; both; Verlet's."""
    springs = ChoiKo(side)
    found = []
    for complete, carried in ((False, True), (False, False), (True, True), (True, False)):

        def stable(h: float, complete=complete, carried=carried) -> bool:
            return settles(springs, bdf2(springs, h, complete, carried))

        found.append(largest(stable, 1e-4, HUGE_STEP))

    def stays(h: float) -> bool:
        return is_stable(springs, verlet(springs, h), h, 5.0)

    return [*found, largest(stays, 1e-3, 0.5)]


def missing_blocks() -> Finding:
    """The question that the document leaves open."""
    rows = [(f"{side}×{side}", *limits(side)) for side in (5, 10)]
    listed, evaluated, carried, corrected, explicit = rows[-1][1:]
    head = ["grid", "as listed", "forces anew", "whole matrices, eq. 3.18"]
    head += ["both corrected", "explicit Verlet"]
    is_cause = all(row[4] > 10.0 * max(row[1:4]) for row in rows)
    return Finding(
        name="Why the implicit solver was unstable",
        source="Hayler 2004, equations 3.13 to 3.18, figure 4.8 and section 5.2",
        statement="The semi-implicit BDF(2) solver after Choi and Ko is stable at small steps "
        "only, hardly at 10×10; why is unknown to the author. Choi and Ko are quoted with steps "
        "of 100 s.",
        measured="On springs of Choi and Ko, over 40 steps at 10×10: "
        f"as listed {listed:.4f} s; with forces evaluated anew {evaluated:.4f} s; with diagonal "
        f"blocks, but forces by eq. 3.18, {carried:.4f} s; with both corrected {corrected:.3g} s. "
        f"Explicit Verlet: {explicit:.4f} s.",
        verdict=AGREES if is_cause and listed <= explicit else PARTLY,
        why="Eqs. 3.16 and 3.17 are right as printed. The listing fills the blocks (i, j) of "
        "connected particles only. The diagonal blocks, minus the sum of their row, stay zero, and "
        "∂f/∂v is +k_d on the diagonal: the matrix is then not the derivative of the forces, "
        "resists no strain, and is indefinite as soon as h²k is comparable to the mass. Eq. 3.18 "
        "is a second fault: forces that are carried on by their linearisation are never again "
        "those of the positions.",
        tables=[Table("Largest step in s after which the sheet is still there", head, rows)],
    )


def held_sheet(
    side: int, length: float, cotton: dict[str, float] | None = None, **fields: object
) -> weft.Simulation:
    """A sheet of cotton of the springs of Choi and Ko, held at two corners."""
    points, quads = grid((side - 1, side - 1), (length, length))
    settings = weft.Settings(
        **{"model": "choi_ko", "time_step": 1.0 / 24.0, "self_collision": False, **fields}
    )
    simulation = weft.Simulation(
        [weft.Cloth(points, quads, weft.Material(**(cotton or {})))], settings=settings
    )
    simulation.set_pins(0, [0, side * (side - 1)])
    return simulation


def hundred_seconds() -> Finding:
    """What Choi and Ko claim for their solver, asked of the library's own."""
    side, count, rows = 16, 8, []
    combinations = [
        (integrator, solver)
        for integrator in ("bdf2", "implicit_euler")
        for solver in ("newton", "linearised")
    ]
    for integrator, solver in combinations:
        fields = {"integrator": integrator, "solver": solver, "max_iterations": 300}
        simulation = held_sheet(side, 1.0, **fields)
        furthest = 0.0
        for _ in range(count):
            report = simulation.step(HUGE_STEP)
            furthest = max(furthest, float(np.abs(simulation.positions()).max()))
        lowest = float(simulation.positions()[:, 2].min())
        speed = float(np.linalg.norm(simulation.velocities(), axis=1).max())
        rows.append((f"{integrator}, {solver}", furthest, lowest, speed, report.converged))
    head = ["scheme", "furthest, m", "lowest at the end, m", "fastest at the end, m/s", "converged"]
    hangs = all(row[1] < 3.0 and row[2] < -0.9 and row[4] for row in rows)
    is_bounded = all(np.isfinite(row[1]) and row[1] < 1e6 for row in rows)
    return Finding(
        name="Steps of a hundred seconds",
        source="Hayler 2004, section 2.2.2, after Choi and Ko 2002",
        statement="With steps of up to 100 s the system is still stable, even though the animation "
        "is choppy.",
        measured=f"{count} steps of {HUGE_STEP:.0f} s of a sheet of 1 m with {side}×{side} "
        "particles, flat and held at two corners: "
        + "; ".join(f"{row[0]} at most {row[1]:.3g} m from the corner" for row in rows)
        + ".",
        verdict=AGREES if hangs else PARTLY if is_bounded else DIFFERS,
        why="`step` takes one step of any length. Solved to the end, a step of 100 s is the "
        "equilibrium; linearised once, the first step falls freely where flat cloth has no "
        "stiffness against gravity, and the next ones pull it back.",
        tables=[Table("Model choi_ko, cotton", head, rows)],
    )


def verlet_run(side: int) -> Run:
    """The library's own Verlet on cells of 5 cm, without damping, which shortens steps."""
    simulation = held_sheet(side, 0.05 * (side - 1), UNDAMPED, integrator="verlet")
    return advance(simulation, 240 if side < LARGEST else 2, 1.0 / 240.0, limit=SHORT_LIMIT)


def implicit_run(side: int) -> Run:
    """A second of the library's implicit steps on a square of 1 m, or as far as it comes."""
    return advance(held_sheet(side, 1.0), 24, 1.0 / 24.0, limit=LIMIT)


def speed(run: Run) -> float:
    """Film frames per second."""
    return 24.0 * run.simulated / run.seconds


def own_schemes(side: int) -> list[float]:
    """Film frames per second of the schemes with one linear system, on cells of 5 cm."""
    frames = 24 if side < LARGEST else 1
    return [
        speed(
            advance(
                held_sheet(side, 0.05 * (side - 1), **fields), frames, 1.0 / 24.0, limit=SHORT_LIMIT
            )
        )
        for fields in OWN.values()
    ]


def grids() -> Finding:
    """Table 5.1, on the springs as the document has them and on the library."""
    bounds = {side: 2.0 / np.sqrt(Springs(side).fastest(80)) for side in PRINTED if side < LARGEST}
    explicit, rows, speeds = list(bounds.values()), [], []
    for side, printed in PRINTED.items():
        limit, run, own = bounds.get(side), implicit_run(side), verlet_run(side)
        row = (f"{side}×{side}", printed, printed / PRINTED[5])
        row = (*row, limit, limit and limit / explicit[0], own.simulated / own.steps)
        rows.append((*row, run.simulated, run.newton / run.steps, run.converged))
        each = [speed(run), *own_schemes(side), speed(own)]
        speeds.append((f"{side}×{side}", FRAMES_PER_SECOND[side], *each))
    head = ["grid", "step 2004", "ratio", "2/ω, s", "ratio", "own verlet, s"]
    head += ["simulated, s", "updates per step", "converged"]
    taken = [row[5] for row in rows]
    verdict, told = judged(
        {
            "the stable step falls with the size": all(a >= b for a, b in pairwise(explicit)),
            "to 0.65 at 100×100 (20 %)": explicit[-1] < 1.2 * explicit[0] * PRINTED[100] / 8.5,
            "frames per second fall with the size": all(a[-1] > b[-1] for a, b in pairwise(speeds)),
            "implicit steps of 1/24 s are stable on every grid": all(row[-1] for row in rows),
        }
    )
    return Finding(
        name="Grids of growing size, explicit and implicit",
        source="Hayler 2004, table 5.1 and figure 5.1",
        statement="The stable step of Verlet falls almost linearly from 8.5 to 4.0 (unit not "
        "stated) between 5×5 and 500×500, and frames per second from 85, the limit of the "
        "graphics, to 0.5.",
        measured=f"{told}. The bound 2/ω of the fastest mode falls to "
        f"{explicit[-1] / explicit[0]:.2f}, the step of the library's own verlet on cotton to "
        f"{taken[-1] / taken[0]:.2f} at {LARGEST}×{LARGEST}; its frames per second from "
        f"{speeds[0][-1]:.0f} to {speeds[-1][-1]:.2g}, those of bdf2 from {speeds[0][2]:.0f} to "
        f"{speeds[-1][2]:.2g}.",
        verdict=verdict,
        why="With springs of the same length in every grid the fastest mode hardly depends on how "
        "many there are: the bound, of the sheet at rest, falls as far as the boundary counts for "
        "less, and verlet here keeps its step. There the limit was looked for on swinging cloth, "
        "which its own weight stretches the more the larger it is: stretched springs resist "
        "across themselves as well. Cotton is stiffer than the springs there, so that frames take "
        "more steps.",
        tables=[
            Table(
                "Largest explicit step, and implicit steps of 1/24 s for 1 s; choi_ko, cotton",
                head,
                rows,
            ),
            Table(
                "Frames of 1/24 s per second",
                ["grid", "verlet 2004", "bdf2", *OWN, "verlet"],
                speeds,
            ),
        ],
        plots=grid_plots(explicit, taken, speeds),
    )


def grid_plots(explicit: list[float], taken: list[float], speeds: list[tuple]) -> list[str]:
    """Largest steps of the explicit method, and the speed of all schemes, by size."""
    sides = list(PRINTED)
    steps = [
        plot.Line("document, over 5×5", sides, [one / 8.5 for one in PRINTED.values()], dots=True),
        plot.Line("2/ω, over 5×5", sides[:-1], np.array(explicit) / explicit[0], dots=True),
        plot.Line("own verlet, over 5×5", sides, np.array(taken) / taken[0], dots=True),
    ]
    names = ["verlet 2004", "bdf2", *OWN, "verlet"]
    drawn = [
        plot.Line(name, sides, [row[1 + k] for row in speeds], dots=True)
        for k, name in enumerate(names)
    ]
    size = plot.Axis("particles per side", log=True)
    return [
        plot.lines(
            "Largest explicit step", size, plot.Axis("largest step over that at 5×5"), steps
        ),
        plot.lines("Speed", size, plot.Axis("frames per second", log=True), drawn),
    ]


ALL = (missing_blocks, hundred_seconds, grids)
