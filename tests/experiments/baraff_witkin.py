# SPDX-License-Identifier: MIT OR Apache-2.0
"""Baraff and Witkin 1998, section 7: cost over particles and over the stiffness of bending."""

import numpy as np
import plot
import weft
from page import AGREES, DIFFERS, PARTLY, Finding, Table
from scenes import advance, grid, offered, round_body

PARTICLES = {500: 22, 899: 30, 2602: 51, 7359: 86}  # of the document: vertices per side here
SECONDS_1998 = {500: 0.23, 899: 0.46, 2602: 2.23, 7359: 10.3}
FACTORS = (0.1, 1.0, 10.0, 100.0, 1000.0)


# Figure 1 there: one linear solve a step, in steps of 33 ms at most, 80 of them for 75 frames, with
# a diagonal preconditioner.
AS_PRINTED = {"solver": "linearised", "time_step": 1.0 / 30.0, "preconditioner": "block_jacobi"}


def settings(model: str, solver: str, **fields: object) -> weft.Settings:
    """Implicit Euler in steps of 0.02 s, with a solver where the library has several."""
    chosen = {"solver": solver} if solver in offered("solver") else {}
    # One thread, so that the time it was busy does not depend on what else runs.
    common = {"model": model, "integrator": "implicit_euler", "time_step": 0.02, "threads": 1}
    return weft.Settings(**(common | chosen | fields))


def cloth(side: int, bending: float) -> weft.Cloth:
    """A square of 1 m."""
    points, quads = grid((side - 1, side - 1), (1.0, 1.0))
    cotton = weft.Material()
    material = cotton.replace(
        bend_warp=bending * cotton.bend_warp, bend_weft=bending * cotton.bend_weft
    )
    return weft.Cloth(points - (0.5, 0.5, 0.0), quads, material)


def draped(model: str, side: int, bending: float = 1.0, **fields: object) -> weft.Simulation:
    """Over a cylinder, every step solved to the end, as contact asks for."""
    cylinder = weft.Collider(*round_body([(0.3, -0.3), (0.3, -0.01)]))
    return weft.Simulation(
        [cloth(side, bending)], [cylinder], settings(model, **({"solver": "newton"} | fields))
    )


def figure_1(model: str, side: int, bending: float = 1.0) -> weft.Simulation:
    """Over the cylinder with the steps and the preconditioner of the document."""
    return draped(model, side, bending, **AS_PRINTED)


def hung(model: str, side: int, bending: float = 1.0) -> weft.Simulation:
    """From two corners, without contact; steps linearised once where the library offers it."""
    simulation = weft.Simulation([cloth(side, bending)], settings=settings(model, "linearised"))
    simulation.set_pins(0, [0, side * (side - 1)])
    return simulation


def cost() -> Finding:
    """Seconds per frame over the number of particles."""
    rows, drawn, exponents = [], [], []
    models = [name for name in ("baraff_witkin", "fem") if name in offered("model")]
    counts = list(PARTICLES)
    for model in models:
        for scene, build in (("hung", hung), ("draped", draped)):
            seconds = []
            for count, side in PARTICLES.items():
                run = advance(build(model, side), 30, 1.0 / 30.0, limit=60.0)
                seconds.append(run.busy_seconds / (30.0 * run.simulated))
                each = (run.steps, run.newton, run.linear)
                rows.append((model, scene, side * side, seconds[-1], SECONDS_1998[count], *each))
            sizes = [side * side for side in PARTICLES.values()]
            exponents.append(float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0]))
            drawn.append(plot.Line(f"{model}, {scene}", sizes, seconds, dots=True))
    drawn.append(plot.Line("1998", counts, [SECONDS_1998[count] for count in counts], dashed=True))
    axes = plot.Axis("particles", log=True), plot.Axis("seconds per frame", log=True)
    head = ["model", "scene", "particles", "s per frame", "in 1998", "steps", "updates", "cg"]
    told = ", ".join(
        f"{line.label} {power:.2f}" for line, power in zip(drawn, exponents, strict=False)
    )
    return Finding(
        name="Cost over the number of particles",
        source="Baraff and Witkin 1998, section 7",
        statement="0.23, 0.46, 2.23 and 10.3 s per frame for 500, 899, 2 602 and 7 359 particles: "
        "slightly better than O(n^1.5).",
        measured=f"Exponents: {told}.",
        verdict=AGREES if max(exponents) < 1.6 else DIFFERS if min(exponents) > 1.6 else PARTLY,
        why="Their exponent is that of conjugate gradients, whose iterations grow with the side "
        "of the mesh. With multigrid they hardly grow, and without contact the cost is nearly "
        "proportional to the number of particles. On the table Newton iterations become more "
        "as the mesh resolves more folds, until it resolves them all.",
        tables=[Table("Frames of 1/30 s", head, rows)],
        plots=[plot.lines("Cost of a frame", *axes, drawn)],
    )


def spread(values: list[float]) -> float:
    """The largest over the smallest, less one."""
    return max(values) / min(values) - 1.0


def bending() -> Finding:
    """Work over four powers of ten of bending stiffness."""
    rows, work = [], {}
    scenes = {
        "figure 1": (figure_1, 75),
        "draped, solved to the end": (draped, 30),
        "hung": (hung, 30),
    }
    for scene, (build, frames) in scenes.items():
        runs = [advance(build("baraff_witkin", 51, one), frames, 1.0 / 30.0) for one in FACTORS]
        for factor, run in zip(FACTORS, runs, strict=True):
            each = (run.busy_seconds, run.steps, run.rejected, run.newton, run.linear)
            rows.append((scene, factor, *each, run.linear / run.newton, max(run.contacts)))
        times, solves = [run.busy_seconds for run in runs], [run.newton for run in runs]
        work[scene] = (spread(times), spread(solves), spread([run.linear for run in runs]))
    told = "; ".join(
        f"{scene}: time {time:.0%}, linear systems {solves:.0%}, conjugate gradients {linear:.0%}"
        for scene, (time, solves, linear) in work.items()
    )
    head = ["scene", "bending", "time, s", "steps", "rejected", "systems", "cg", "cg per system"]
    head += ["contacts"]
    steps = [row[3] for row in rows if row[0] == "figure 1"]
    systems, each = ([row[k] for row in rows if row[0] == "figure 1"] for k in (5, 7))
    return Finding(
        name="Cost over the stiffness of bending",
        source="Baraff and Witkin 1998, section 8, figure 1",
        statement="Bending stiffnesses ×0.1 to ×1 000 change the running time of figure 1, 75 "
        "frames in 80 steps, by less than 5 %.",
        measured=f"Figure 1 takes {min(steps)} to {max(steps)} steps. From the least to the most "
        f"of five, {told}.",
        verdict=AGREES if work["figure 1"][0] < 0.05 else DIFFERS,
        why="Stability asks for nothing, as there: no scene takes more steps where bending is "
        "stiffer. Two things change the work, against each other. With the diagonal preconditioner "
        f"of the document a linear system takes {each[0]:.0f} iterations of the limpest cloth and "
        f"{each[-1]:.0f} of the stiffest: 16B/h² is then a quarter of the modulus of "
        "stretch, and smooth bending modes are not seen by a diagonal. And limp cloth folds and "
        f"touches in more places: {systems[0]} systems against {systems[-1]}, because contacts "
        "are solved again here until nothing crosses, where theirs took one system a step and "
        "springs between cloths. Their material is not stated; where its stiffest bending is "
        "below ×100 of cotton's the iterations differ by less. With multigrid and Newton's method "
        "the folds alone count, and without contact hardly anything does.",
        tables=[Table("2 601 particles, model baraff_witkin, frames of 1/30 s", head, rows)],
    )


ALL = (cost, bending)
