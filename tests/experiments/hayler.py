# SPDX-License-Identifier: MIT OR Apache-2.0
"""Hayler 2004: grids of growing size, and why the implicit solver there was unstable."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import plot
import weft
from page import AGREES, PARTLY, Finding, Table
from scenes import Run, advance, grid, offered
from springs import Springs, State, is_stable, largest

PRINTED = {
    5: 8.5,
    7: 7.5,
    10: 7.0,
    15: 7.0,
    30: 6.5,
    50: 6.0,
    100: 5.5,
}  # table 5.1, unit not stated
FRAMES_PER_SECOND = {5: 85, 7: 85, 10: 85, 15: 85, 30: 83, 50: 38, 100: 10}
LARGEST = 500  # per side, of which tables 5.1 and 5.2 say nothing
LIMIT = 45.0  # s: what the implicit steps of one grid may take


def verlet(springs: Springs, h: float) -> Callable[[State], State]:
    """Verlet's method, with velocities from positions."""

    def step(state: State) -> State:
        x, v = state
        middle = v + 0.5 * h * springs.acceleration(x, v)
        x = x + h * middle
        return x, middle + 0.5 * h * springs.acceleration(x, middle)

    return step


def listed(springs: Springs, h: float, complete: bool) -> Callable[[State], State]:
    """The implicit step: `complete`, or with the matrix of the listing.

    The listing fills the blocks of connected particles alone. The blocks on the diagonal, minus the
    sum of a row, stay empty, and the derivative of damping has the wrong sign there as well.
    """
    count = 3 * springs.side**2
    index = np.arange(springs.side**2).reshape(springs.side, springs.side)
    free = np.repeat(springs.free.ravel(), 3)

    def step(state: State) -> State:
        x, v = state
        matrix = np.zeros((count // 3, 3, count // 3, 3))
        stiffness = np.zeros_like(matrix)
        for first, second, stiff, damped in springs.blocks(x):
            a, b = index[first].ravel(), index[second].ravel()
            stiff, damped = stiff.reshape(-1, 3, 3), damped.reshape(-1, 3, 3)
            for i, j in ((a, b), (b, a)):
                np.add.at(matrix, (i, slice(None), j), -h * h * stiff - h * damped)
                np.add.at(stiffness, (i, slice(None), j), stiff)
                if complete:
                    np.add.at(matrix, (i, slice(None), i), h * h * stiff + h * damped)
                    np.add.at(stiffness, (i, slice(None), i), -stiff)
        whole = matrix.reshape(count, count) * free[:, None]
        whole[np.diag_indices(count)] += springs.mass + h * springs.drag
        load = h * springs.mass * springs.acceleration(x, v).ravel()
        load += h * h * (stiffness.reshape(count, count) @ v.ravel())
        change = np.linalg.solve(whole, load * free).reshape(x.shape)
        v = springs.free * (v + change)
        return x + h * v, v

    return step


def missing_blocks() -> Finding:
    """The question that the document leaves open."""
    rows, ratios = [], []
    for side in (5, 8, 10):
        springs = Springs(side)
        limits = []
        for complete in (False, True):

            def stable(h: float, complete=complete, springs=springs) -> bool:
                return is_stable(springs, listed(springs, h, complete), h, 60.0 * h)

            limits.append(largest(stable, 1e-4, 1.0))
        explicit = largest(
            lambda h, springs=springs: is_stable(springs, verlet(springs, h), h, 5.0), 1e-3, 0.2
        )
        ratios.append(limits[1] / limits[0])
        rows.append((f"{side}×{side}", limits[0], limits[1], explicit))
    head = ["grid", "diagonal blocks missing", "with them", "explicit Verlet"]
    return Finding(
        name="Why the implicit solver was unstable",
        source="Hayler 2004, sections 4 and 5.2",
        statement="The implicit solver after Choi and Ko is stable at small steps only, hardly at "
        "10×10; why is unknown to the author.",
        measured=f"With the matrix of the listing the largest stable step at 10×10 is "
        f"{rows[-1][1]:.4f} s, "
        f"less than the {rows[-1][3]:.4f} s of explicit Verlet; with its diagonal blocks, "
        f"{rows[-1][2]:.1f} s, the largest that was tried.",
        verdict=AGREES if min(ratios) > 10.0 else PARTLY,
        why="The listing fills the blocks (i, j) of connected particles only. The diagonal blocks, "
        "minus the sum of their row, stay zero: the matrix is then not the derivative of the "
        "forces, resists no strain, and is indefinite as soon as h²k is comparable to the mass. "
        "With the diagonal, and without what compression makes negative, the same scheme takes "
        "steps of any length.",
        tables=[Table("Largest stable step in s, over 60 steps", head, rows)],
    )


def verlet_step(side: int) -> float | None:
    """Mean step in s that the library's own Verlet takes on a grid of cells of 5 cm."""
    if "verlet" not in offered("integrator"):
        return None
    points, quads = grid((side - 1, side - 1), (0.05 * (side - 1), 0.05 * (side - 1)))
    settings = weft.Settings(
        model="choi_ko", integrator="verlet", time_step=1.0 / 24.0, self_collision=False
    )
    simulation = weft.Simulation([weft.Cloth(points, quads, weft.Material())], settings=settings)
    simulation.set_pins(0, [0, side * (side - 1)])
    run = advance(simulation, 3, 1.0 / 240.0, limit=4.0)
    return run.simulated / run.steps


def implicit_run(side: int) -> Run:
    """A second of the library's implicit steps on a square of 1 m, or as far as it comes."""
    points, quads = grid((side - 1, side - 1), (1.0, 1.0))
    settings = weft.Settings(model="choi_ko", time_step=1.0 / 24.0, self_collision=False)
    simulation = weft.Simulation([weft.Cloth(points, quads, weft.Material())], settings=settings)
    simulation.set_pins(0, [0, side * (side - 1)])
    return advance(simulation, 24, 1.0 / 24.0, limit=LIMIT)


def grids() -> Finding:
    """Tables 5.1 and 5.2."""
    bounds = {side: 2.0 / np.sqrt(Springs(side).fastest(80)) for side in PRINTED}
    explicit, rows, rate = list(bounds.values()), [], []
    for side in (*PRINTED, LARGEST):
        printed, limit, run = PRINTED.get(side), bounds.get(side), implicit_run(side)
        rate.append(24.0 * run.simulated / run.seconds)
        row = (f"{side}×{side}", printed, printed and printed / 8.5)
        row = (*row, limit, limit and limit / explicit[0], verlet_step(side))
        row = (*row, FRAMES_PER_SECOND.get(side), rate[-1], run.simulated)
        rows.append((*row, run.newton / run.steps, run.converged))
    head = ["grid", "step 2004", "ratio", "2/ω, s", "ratio", "own verlet, s", "fps 2004"]
    head += ["fps, implicit here", "simulated, s", "updates per step", "converged"]
    falls = all(a >= b for a, b in pairwise(explicit))
    return Finding(
        name="Grids of growing size, explicit and implicit",
        source="Hayler 2004, tables 5.1 and 5.2",
        statement="The stable step of Verlet falls from 8.5 to 5.5 (unit not stated) between 5×5 "
        "and 100×100, and frames per second with the number of particles.",
        measured=f"The bound 2/ω of the fastest mode falls to {explicit[-1] / explicit[0]:.2f} of "
        f"that at 5×5; in the document to {5.5 / 8.5:.2f}. Implicit steps of 1/24 s converge on "
        f"every grid, from {rate[0]:.0f} to {rate[-2]:.1f} frames per second; {LARGEST}×{LARGEST} "
        f"take {1.0 / rate[-1]:.1f} s a frame.",
        verdict=AGREES if falls and all(row[-1] for row in rows) else PARTLY,
        why="With springs of the same length in every grid the fastest mode hardly depends on how "
        "many there are; pulled and swinging cloth is stiffer, and more so the larger it is. The "
        "bound here is that of the sheet at rest.",
        tables=[Table("Model choi_ko, cotton, 1 s or as far as it came", head, rows)],
        plots=grid_plots(explicit, rate),
        skipped=[]
        if "verlet" in offered("integrator")
        else ["the library's own verlet is not offered"],
    )


def grid_plots(explicit: list[float], rate: list[float]) -> list[str]:
    """Largest steps of the explicit method, and the speed of both, by the size of the grid."""
    sides = list(PRINTED)
    steps = [
        plot.Line("document, over 5×5", sides, [PRINTED[side] / 8.5 for side in sides], dots=True),
        plot.Line(
            "2/ω of the fastest mode, over 5×5", sides, np.array(explicit) / explicit[0], dots=True
        ),
    ]
    speed = [
        plot.Line("implicit, here", [*sides, LARGEST], rate, dots=True),
        plot.Line("explicit, 2004", sides, [FRAMES_PER_SECOND[side] for side in sides], dots=True),
    ]
    size = plot.Axis("particles per side", log=True)
    return [
        plot.lines(
            "Largest explicit step", size, plot.Axis("largest step over that at 5×5"), steps
        ),
        plot.lines("Speed", size, plot.Axis("frames per second", log=True), speed),
    ]


ALL = (missing_blocks, grids)
