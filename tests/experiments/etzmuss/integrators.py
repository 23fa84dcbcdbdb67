# SPDX-License-Identifier: MIT OR Apache-2.0
"""Etzmuss 2002, section 3.4.4: what integrators cost, and what they keep of a motion."""

import numpy as np
import plot
import weft
from page import AGREES, DIFFERS, PARTLY, SKIPPED, Finding, Table
from scenes import advance, box, grid, hung, isotropic, offered, round_body

FIVE = ("imex_euler", "implicit_euler", "sbdf2", "bdf2", "implicit_midpoint")
STEP = 0.01  # s, as in the document
LIMIT = 12.0  # s: what a run may take; it is compared by what it has come to


def _missing(names: tuple[str, ...]) -> list[str]:
    there = offered("integrator")
    return [
        f"integrator {name}: the library does not offer it" for name in names if name not in there
    ]


def _solvers() -> list[str]:
    return [name for name in ("fixed_point", "newton") if name in offered("solver")] or ["newton"]


def _settings(solver: str, **fields: object) -> weft.Settings:
    """Steps of the document's length, with a solver where the library has several."""
    chosen = {"solver": solver} if offered("solver") else {}
    return weft.Settings(time_step=STEP, **fields, **chosen)


# --- tables 3.1 and 3.2 -----------------------------------------------------------------------


def tablecloth(material: weft.Material, **settings: object) -> weft.Simulation:
    """400 particles 0.04 m apart above a table of half their width."""
    points, quads = grid((19, 19), (0.76, 0.76))
    table = weft.Collider(*box((0.18, 0.18, -0.3), (0.58, 0.58, -0.01)))
    cloth = weft.Cloth(points, quads, material)
    return weft.Simulation([cloth], [table], _settings(**settings))


def skirt(material: weft.Material, **settings: object) -> weft.Simulation:
    """1 310 particles: a skirt, closed around, that falls from the waist over the hips."""
    around, down = 65, 19
    angles = np.linspace(0.0, 2.0 * np.pi, around, endpoint=False)
    rings = []
    for row in range(down + 1):
        radius = 0.17 + 0.21 * row / down
        ring = [
            radius * np.cos(angles),
            radius * np.sin(angles),
            np.full(around, -0.6 * row / down),
        ]
        rings.append(np.column_stack(ring))
    points = np.concatenate(rings)
    vertex = np.arange(len(points)).reshape(down + 1, around)
    after = np.roll(vertex, -1, axis=1)
    corners = [vertex[:-1], vertex[1:], after[1:], after[:-1]]
    quads = np.stack(corners, axis=-1).reshape(-1, 4)
    hips = [(0.06, -0.75), (0.12, -0.5), (0.19, -0.28), (0.2, -0.2), (0.155, -0.02), (0.15, 0.1)]
    body = weft.Collider(*round_body(hips))
    cloth = weft.Cloth(points, quads, material)
    simulation = weft.Simulation([cloth], [body], _settings(**settings))
    simulation.set_pins(0, vertex[0])
    return simulation


def hanging(material: weft.Material, **settings: object) -> weft.Simulation:
    """A cloth pinned at two corners, which touches nothing."""
    points, quads = grid((19, 19), (0.76, 0.76))
    cloth = weft.Cloth(points, quads, material)
    simulation = weft.Simulation([cloth], settings=_settings(self_collision=False, **settings))
    simulation.set_pins(0, [0, len(points) - 20])
    return simulation


def table_3_1() -> Finding:
    """Iterations over stiffness and damping."""
    cases = [(1e4, 160.0, 803, 1160), (1e4, 1600.0, 198, 538), (1e2, 160.0, 377, 566)]
    cases.append((10.0, 160.0, 52, 52))
    rows, found = [], {}
    for scene, build in (("table", tablecloth), ("two corners", hanging)):
        for solver in _solvers():
            for modulus, viscosity, updates, linear in cases:
                material = isotropic(modulus, viscosity, 1e-4)
                simulation = build(material, solver=solver, integrator="bdf2")
                run = advance(simulation, 25, 4 * STEP, limit=LIMIT)
                found[scene, solver, modulus, viscosity] = run.linear / run.simulated
                row = (scene, solver, modulus, viscosity, run.simulated, run.steps)
                row = (*row, run.newton, run.linear)
                rows.append((*row, updates, linear, run.converged))
    told, agreed, asked = [], 0, 0
    for scene, solver in dict.fromkeys(key[:2] for key in found):
        counts = [found[scene, solver, *case[:2]] for case in cases]
        damped, softer = counts[1] < counts[0], counts[3] <= counts[2] < counts[0]
        words = ["fewer" if true else "not fewer" for true in (damped, softer)]
        told.append(f"{scene}, {solver}: {words[0]} with more damping, {words[1]} when softer")
        agreed, asked = agreed + damped + softer, asked + 2
    head = ["scene", "solver", "k, N/m", "d, N·s/m", "simulated, s", "steps", "updates", "cg"]
    head += ["updates in 2002", "cg in 2002", "converged"]
    return Finding(
        name="Iterations over stiffness and damping",
        source="Etzmuss 2002, table 3.1",
        statement="A tablecloth over a table with BDF(2): a larger Young's modulus needs more "
        "iterations, a larger damping fewer.",
        measured=f"Iterations of conjugate gradients: {'; '.join(told)}.",
        verdict=AGREES if agreed == asked else PARTLY if agreed else DIFFERS,
        why="The document iterates with a constant matrix, so that every nonlinearity costs an "
        "update, and damping makes the trajectories even. Newton's method has the right matrix: "
        "how stiff it is matters little, and on the table contact is what costs. Friction and "
        "thickness of the contacts are not stated in the document.",
        tables=[Table("One second of a cloth of 400 particles", head, rows)],
        skipped=[] if "fixed_point" in _solvers() else ["the fixed-point solver is not offered"],
    )


def table_3_2() -> Finding:
    """Five integrators, two scenes."""
    scenes = {
        "tablecloth, 1 s": (tablecloth, isotropic(1e4, 50.0, 1e-4), 25),
        "skirt, 5 s": (skirt, isotropic(300.0, 6.0, 1e-4, density=1.0), 125),
    }
    rows, cost = [], {}
    for scene, (build, material, frames) in scenes.items():
        for name in FIVE:
            if name not in offered("integrator"):
                continue
            simulation = build(material, solver="newton", integrator=name)
            run = advance(simulation, frames, 4 * STEP, limit=LIMIT)
            solving = run.seconds - run.contact_seconds
            cost[scene, name] = run.linear / run.simulated
            row = (scene, name, run.simulated, run.steps, run.rejected, run.newton, run.linear)
            rows.append((*row, solving, run.converged))
    head = [
        "scene",
        "integrator",
        "simulated, s",
        "steps",
        "rejected",
        "updates",
        "cg",
        "solver time, s",
        "converged",
    ]
    fewer = [cost[s, "bdf2"] < cost[s, "implicit_euler"] for s in scenes]
    told = "; ".join(
        f"{s}: " + ", ".join(f"{name} {cost[s, name]:.0f}" for name in FIVE) for s in scenes
    )
    one_solve = all(
        cost[s, "sbdf2"] < cost[s, "bdf2"] and cost[s, "imex_euler"] < cost[s, "implicit_euler"]
        for s in scenes
    )
    return Finding(
        name="Five integrators compared by their cost",
        source="Etzmuss 2002, table 3.2",
        statement="BDF(2) needs fewer iterations than implicit Euler (857 against 1 038 for the "
        "tablecloth, 19 307 against 21 424 for the dress), and the IMEX schemes with their one "
        "update per step cost less than the implicit ones.",
        measured=f"Iterations of conjugate gradients per second simulated — {told}.",
        verdict=(DIFFERS, PARTLY, PARTLY, AGREES)[sum(fewer) + one_solve],
        why="BDF(2) solves with a smaller matrix, (2h/3)² in place of h², and extrapolates better; "
        "but it keeps motion that implicit Euler damps away, and motion has to be computed. The "
        "dress on an avatar is a skirt on hips of as many particles here.",
        tables=[Table(f"Steps of {STEP} s", head, rows)],
        skipped=_missing(FIVE),
    )


# --- figures 3.2 and 3.3 ----------------------------------------------------------------------


def flag(integrator: str, step: float, frames: int) -> tuple[np.ndarray, np.ndarray, object]:
    """A sheet with its upper edge fixed in the wind: energies over time, last shape, run."""
    points, quads = grid((40, 40), (1.0, 1.0))
    start = hung(points)
    settings = weft.Settings(integrator=integrator, time_step=step)
    material = weft.Material.preset("silk")
    cloth = weft.Cloth(start, quads, material, rest_positions=points)
    simulation = weft.Simulation([cloth], settings=settings)
    simulation.set_pins(0, np.flatnonzero(points[:, 1] < 1e-9))

    def watch(simulation: weft.Simulation) -> tuple[float, float, float]:
        energy, time = simulation.energy(), simulation.time
        gust = 1.0 + 0.5 * np.sin(2.0 * np.pi * 0.8 * time) + 0.25 * np.sin(17.0 * time)
        simulation.set_wind((0.5 * gust, 1.8 * gust, 0.0))
        return time, energy["bend"], energy["kinetic"]

    run = advance(simulation, frames, step, watch)
    return np.array(run.watched), simulation.positions(), run


def figure_3_2() -> Finding:
    """Energy that implicit Euler dissipates in a flag."""
    names, step = ("bdf2", "implicit_euler"), 0.02
    _, quads = grid((40, 40), (1.0, 1.0))
    drawn = {"bend": [], "kinetic": []}
    shapes, rows, mean = [], [], {}
    for name in names:
        watched, positions, run = flag(name, step, 250)
        time, bend, kinetic = watched.T
        late = time > 1.0
        mean[name] = (bend[late].mean(), kinetic[late].mean())
        drawn["bend"].append(plot.Line(name, time, 1e3 * bend))
        drawn["kinetic"].append(plot.Line(name, time, 1e3 * kinetic))
        shapes.append(
            plot.sheet(f"{name}, {time[-1]:.1f} s", positions, quads, (-1.0, -0.55, -0.3))
        )
        rows.append(
            (name, *(1e3 * value for value in mean[name]), run.newton, run.linear, run.seconds)
        )
    time = plot.Axis("time, s")
    bend = plot.lines("Energy of bending", time, plot.Axis("mJ"), drawn["bend"])
    kinetic = plot.lines("Energy of motion", time, plot.Axis("mJ"), drawn["kinetic"])
    kept = [mean["implicit_euler"][k] / mean["bdf2"][k] for k in (0, 1)]
    quick = rows[0][-1] < rows[1][-1]
    head = ["integrator", "bending, mJ", "motion, mJ", "updates", "cg", "time, s"]
    return Finding(
        name="A flag in the wind",
        source="Etzmuss 2002, figure 3.2",
        statement="A sheet with its upper edge fixed blows in the wind. With equal steps, "
        "implicit Euler filters the folds out and the sheet swings less "
        "than it should; BDF(2) is even faster (11.6 s against 14.74 s).",
        measured=f"After the first second implicit Euler keeps {kept[0]:.0%} of the energy of "
        f"bending "
        f"and {kept[1]:.0%} of that of motion that BDF(2) keeps, in steps of {step} s. BDF(2) "
        f"was {'the faster' if quick else 'not the faster'}.",
        verdict=AGREES if max(kept) < 0.9 and quick else PARTLY,
        why="The damping of implicit Euler per period grows with ωh, that of BDF(2) with (ωh)³. "
        "What "
        "is damped away need not be computed, which is why BDF(2) does not always win on time.",
        tables=[Table("Means after the first second", head, rows)],
        plots=[bend, kinetic, *shapes],
    )


def figure_3_3() -> Finding:
    """Errors of one linear solve per step."""
    names = ("bdf2", "sbdf2")
    missing = _missing(names)
    source = "Etzmuss 2002, figure 3.3"
    statement = "A sheet that hangs from its upper edge and falls under gravity: at a numerical "
    statement += "stiffness of 5·10³ SBDF(2), with one solve per step, is far from BDF(2)."
    title = "One solve per step against the whole equations"
    if missing:
        return Finding(title, source, statement, "", SKIPPED, "", skipped=missing)
    points, quads = grid((24, 24), (1.0, 1.0))
    stiffness = 5.0e3
    modulus = stiffness / (STEP * 24.0) ** 2
    shapes, ends = [], {}
    times, distances = [], []
    watched = {}
    for name in names:
        settings = _settings("newton", integrator=name, self_collision=False)
        cloth = weft.Cloth(points, quads, isotropic(modulus, 0.005 * modulus, 1e-4))
        simulation = weft.Simulation([cloth], settings=settings)
        simulation.set_pins(0, np.flatnonzero(points[:, 1] < 1e-9))
        watched[name] = advance(simulation, 100, STEP, lambda s: s.positions()).watched
        ends[name] = watched[name][-1]
        shapes.append(plot.sheet(f"{name}, 1 s", ends[name], quads, (-1.0, -0.4, -0.3)))
    for index, (first, second) in enumerate(zip(*watched.values(), strict=True)):
        times.append((index + 1) * STEP)
        distances.append(float(np.linalg.norm(first - second, axis=1).mean()))
    far = max(distances)
    axes = plot.Axis("time, s"), plot.Axis("m")
    drawn = plot.lines(
        "Mean distance of both", *axes, [plot.Line("sbdf2 from bdf2", times, distances)]
    )
    return Finding(
        name=title,
        source=source,
        statement=statement,
        measured=f"At a numerical stiffness h²k/(ρl²) of {stiffness:.0f} the mean distance of both "
        f"reaches {100.0 * far:.1f} cm for a sheet of 1 m.",
        verdict=AGREES if far > 0.02 else DIFFERS,
        why="One solve with a matrix that knows no rotation leaves the sheet behind where it "
        "turns; "
        "repeating it to the end gives BDF(2).",
        plots=[drawn, *shapes],
    )


ALL = (figure_3_2, table_3_1, table_3_2, figure_3_3)
