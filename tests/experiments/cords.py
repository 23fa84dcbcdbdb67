# SPDX-License-Identifier: MIT OR Apache-2.0
"""Cords 2004: the energy of a spring pendulum, and the largest stable steps of his schemes."""

from time import process_time

import numpy as np
import plot
import weft
from page import AGREES, PARTLY, Finding, Table, judged
from scenes import isotropic, offered
from springs import WEIGHTLESS, Springs, largest, library_sheet, stays

# Name in the document, integrator, limits in s at 30 by 30 (table 6.2).
SCHEMES = (
    ("Euler", "euler", 0.0030),
    ("Midway", "midpoint", 0.0039),
    ("RK2", "heun", 0.0070),
    ("RK4", "rk4", 0.0070),
    ("Euler-Cromer", "symplectic_euler", 0.0242),
    ("Midway-Cromer", "midpoint_cromer", 0.0242),
    ("RK2-Cromer", "heun_cromer", 0.0242),
    ("RK4-Cromer", "rk4_cromer", 0.0260),
    ("implicit Euler", "implicit_euler", 0.0570),
)
EXPLICIT, IMPLICIT = "symplectic_euler", "implicit_euler"  # of tables 6.1 and 6.3 to 6.5
# Particles per side, global damping in N·s/m; h_max in s, D_max in N/m of both (tables 6.4, 6.5).
SCENES = (
    ("1", 20, 0.01, (0.0260, 0.0570), (28.5, 421.5)),
    ("2", 30, 0.01, (0.0242, 0.0570), (28.5, 561.0)),
    ("3", 20, 0.01, (0.0240, 0.0620), (28.5, 510.0)),
    ("4", 30, 0.1, (0.0342, 0.0472), (69.0, 238.0)),
    ("5", 40, 0.15, (0.0220, 0.0571), (27.0, 216.0)),
)
# Particles per side: seconds of a step of both (table 6.1).
SECONDS = {
    20: (0.012, 0.0022),
    30: (0.027, 0.0029),
    40: (0.052, 0.0054),
    50: (0.080, 0.0078),
    60: (0.123, 0.0107),
}


# --- the pendulum -----------------------------------------------------------------------------

PENDULUM = 0.01, 1000  # s, steps


def library_pendulum(integrator: str) -> np.ndarray:
    """1 kg on a spring of 10 N/m, free along it: its energy over that at the start."""
    rest = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.9, 0.0)])
    start = rest.copy()
    start[1, 0] += 0.1
    cloth = weft.Cloth(
        start,
        [(0, 1, 2)],
        isotropic(WEIGHTLESS, 0.0, 0.0),
        rest_positions=rest,
        vertex_mass_scale=np.full(3, 1.0 / 0.15),  # of a third of the area of the triangle
        springs=[(0, 1)],
        spring_stiffness=10.0,
    )
    h, steps = PENDULUM
    settings = weft.Settings(
        integrator=integrator,
        gravity=(0.0, 0.0, 0.0),
        air_density=0.0,
        tolerance=1e-10,
        time_step=h,
    )
    simulation = weft.Simulation([cloth], settings=settings)
    simulation.set_pins(0, [0, 2])
    simulation.set_guided_velocity(0, [1], [(0.0, 1.0, 0.0), (0.0, 0.0, 1.0)], (0.0, 0.0, 0.0))
    energies = [simulation.energy()["total"]]
    for _ in range(steps):
        simulation.step(h)
        energies.append(simulation.energy()["total"])
    return np.array(energies) / energies[0]


def pendulum() -> Finding:
    """Figure 2.2."""
    h, steps = PENDULUM
    times = h * np.arange(steps + 1)
    drawn, rows, ratios = [], [], {}
    skipped = []
    for name in offered("integrator"):
        try:
            energies = library_pendulum(name)
        except ValueError as error:
            skipped.append(f"integrator {name}: {error}")
            continue
        drawn.append(plot.Line(name, times, energies, dashed=True))
        ratios[name] = float(energies[-1])
        rows.append((name, ratios[name]))
    drifts, keeps = ratios["euler"] > 2.0, abs(ratios[EXPLICIT] - 1.0) < 0.1
    axes = plot.Axis("time, s"), plot.Axis("energy over that at the start", log=True)
    return Finding(
        name="Energy of a spring pendulum",
        source="Cords 2004, figure 2.2",
        statement="m = 1 kg, k = 10 kg/s², h = 0.01 s, without damping: explicit Euler drifts "
        "away, "
        "Euler-Cromer nearly conserves the energy.",
        measured=f"After 10 s Euler has {ratios['euler']:.3f} times the energy, Euler-Cromer "
        f"{ratios[EXPLICIT]:.4f} times; all schemes are in the table.",
        verdict=AGREES if drifts and keeps else PARTLY,
        why="Euler multiplies the energy by 1 + ω²h² in every step, which is e after 10 s; "
        "Euler-Cromer is symplectic, so that its energy only ripples; the Cromer variants of the "
        "other methods lose the part ω²h²/2 of it in every step. Implicit Euler divides by "
        "what Euler multiplies with; BDF(2) loses an amount of third order.",
        tables=[Table("Energy after 10 s over that at the start", ["scheme", "ratio"], rows)],
        plots=[plot.lines("Energy of the pendulum", *axes, drawn)],
        skipped=skipped,
    )


# --- largest stable steps and springs -----------------------------------------------------------


def step_limit(side: int, integrator: str, **fields: float) -> float:
    """The largest stable step of a scheme in s."""
    low, high = (0.02, 0.2) if integrator == IMPLICIT else (0.001, 0.08)
    return largest(lambda h: stays(library_sheet(side, integrator, **fields), h), low, high)


def stiffness_limit(side: int, integrator: str, drag: float) -> float:
    """The largest stiffness in N/m that is stable with steps of 0.02 s."""
    low, high = (10.0, 2000.0) if integrator == IMPLICIT else (5.0, 200.0)

    def stable(stiffness: float) -> bool:
        sheet = library_sheet(side, integrator, stiffness=stiffness, drag=drag)
        return stays(sheet, 0.02)

    return largest(stable, low, high)


def stable_steps() -> Finding:
    """Tables 6.2 and 6.3."""
    limits = {name: step_limit(30, scheme) for name, scheme, _ in SCHEMES}
    finer = {name: step_limit(50, name) for name in (EXPLICIT, IMPLICIT)}
    rows = [("30×30", name, limits[name], printed) for name, _, printed in SCHEMES]
    rows.append(("50×50", "Euler-Cromer", finer[EXPLICIT], 0.024))
    rows.append(("50×50", "implicit Euler", finer[IMPLICIT], 0.039))
    plain = [limits[name] for name in ("Midway", "RK2", "RK4")]
    cromer = [limits[name] for name in limits if "Cromer" in name]
    implicit = limits["implicit Euler"]
    verdict, told = judged(
        {
            "Euler below Midway, RK2 and RK4": limits["Euler"] < min(plain),
            "Midway below RK2": limits["Midway"] < 0.95 * limits["RK2"],
            "RK2 and RK4 alike (5 %)": abs(limits["RK4"] / limits["RK2"] - 1.0) < 0.05,
            "those below all Cromer variants": max(plain) < min(cromer),
            "Cromer variants alike (10 %)": max(cromer) < 1.1 * min(cromer),
            "all below implicit Euler": max(plain + cromer) < implicit,
            "implicit Euler ends at 0.04 to 0.06 s": implicit < 0.1,
            "Euler-Cromer as printed (10 %)": abs(limits["Euler-Cromer"] / 0.0242 - 1.0) < 0.1,
            "50×50 about as 30×30, explicit": abs(finer[EXPLICIT] / limits["Euler-Cromer"] - 1.0)
            < 0.1,
        }
    )
    return Finding(
        name="Largest stable steps",
        source="Cords 2004, tables 6.2 and 6.3",
        statement="At 30×30: Euler 0.003, Midway 0.0039, RK2 and RK4 0.007, all Cromer variants "
        "0.024 to 0.026, implicit Euler 0.057 s. At 50×50: Euler-Cromer 0.024, implicit 0.039 s.",
        measured=f"{told}. Figures are in the table; implicit Euler was tried up to 0.2 s.",
        verdict=verdict,
        why="The integrators of the library on springs of the caller. The document's Runge-Kutta "
        "schemes as printed are of first order, because positions go on with the old velocity; "
        "the library's are of their order, and RK4 is stable up to 2.8 over the highest frequency, "
        "which is more than any Cromer variant. Midway and RK2 are one method where forces are "
        "linear. RK2-Cromer and Midway-Cromer have less than Euler-Cromer: without damping √2 "
        "against 2 over that frequency. The document puts pins back after solving and does not "
        "keep its matrix positive definite; where both are done right implicit Euler has no limit "
        "here. Spacing and pins are not stated in the document: 1 m, two corners, 16 springs at "
        "each particle.",
        tables=[
            Table("Largest stable step in s, to 5 %", ["grid", "scheme", "here", "document"], rows)
        ],
    )


def scenes() -> Finding:
    """Tables 6.4 and 6.5."""
    rows, steps, springs = [], [], []
    for name, side, drag, h_printed, d_printed in SCENES:
        h = [step_limit(side, one, drag=drag) for one in (EXPLICIT, IMPLICIT)]
        d = [stiffness_limit(side, one, drag) for one in (EXPLICIT, IMPLICIT)]
        steps.append(h)
        springs.append(d)
        rows.append((f"{name}: {side}×{side}", drag, h[0], h_printed[0], h[1], h_printed[1]))
        rows[-1] += (d[0], d_printed[0], d[1], d_printed[1])
    close = [abs(d[0] / scene[4][0] - 1.0) < 0.2 for d, scene in zip(springs, SCENES, strict=True)]
    verdict, told = judged(
        {
            "implicit Euler takes longer steps in each scene": all(h[1] > h[0] for h in steps),
            "and stiffer springs": all(d[1] > d[0] for d in springs),
            "explicit h_max 0.022 to 0.034 s": all(0.02 < h[0] < 0.036 for h in steps),
            "explicit D_max as printed within 20 %, scenes 1 to 3 and 5": all(
                close[:3] + close[4:]
            ),
            "explicit D_max of scene 4 twice that of the others": close[3],
            "implicit steps end below 0.07 s": all(h[1] < 0.07 for h in steps),
            "implicit springs end below 600": all(d[1] < 600.0 for d in springs),
        }
    )
    head = ["scene", "k_global", "h expl.", "2004", "h impl.", "2004", "D expl.", "2004"]
    return Finding(
        name="Largest steps and stiffest springs of five scenes",
        source="Cords 2004, tables 6.4 and 6.5",
        statement="Implicit Euler takes 1.4 to 2.6 times the step and 3.4 to 20 times the spring "
        "stiffness of Euler-Cromer.",
        measured=f"{told}. Implicit Euler was tried up to 0.2 s and 2 000 N/m.",
        verdict=verdict,
        why="As above implicit Euler has no limit where pins are filtered and the matrix is "
        "positive definite. The document shows scenes 3 to 5 in a picture only; here all have the "
        "pins and springs of scene 1, with their sizes and damping. Scene 4 cannot have had these "
        "springs: with 8 neighbours 4 = h²λD/m + 2h(λk_d/m + k_global/m) gives its h_max.",
        tables=[
            Table("h in s, D in N/m, to 5 %", [*head, "D impl.", "2004"], rows),
        ],
    )


def seconds_per_step() -> Finding:
    """Table 6.1."""
    rows, ratios, costs = [], [], {EXPLICIT: [], IMPLICIT: []}
    for side, printed in SECONDS.items():
        for integrator, found in costs.items():
            sheet = library_sheet(side, integrator)
            for _ in range(5):
                sheet.step(0.02)
            start = process_time()
            for _ in range(20):
                sheet.step(0.02)
            found.append((process_time() - start) / 20.0)
        explicit, implicit = costs[EXPLICIT][-1], costs[IMPLICIT][-1]
        ratios.append(implicit / explicit)
        rows.append((f"{side}×{side}", implicit, printed[0], explicit, printed[1], ratios[-1]))
        rows[-1] += (printed[0] / printed[1],)
    sizes = np.log([side * side for side in SECONDS])
    powers = {name: float(np.polyfit(sizes, np.log(found), 1)[0]) for name, found in costs.items()}
    verdict, told = judged(
        {
            "explicit linear in n (exponent 0.9 to 1.15)": 0.9 < powers[EXPLICIT] < 1.15,
            "implicit linear in n (exponent 0.9 to 1.15)": 0.9 < powers[IMPLICIT] < 1.15,
            "implicit 5.5 to 11.5 times as dear": min(ratios) > 5.5 and max(ratios) < 11.5,
        }
    )
    head = ["grid", "implicit Euler, s", "2004", "Euler-Cromer, s", "2004", "ratio", "2004"]
    return Finding(
        name="Cost of a step",
        source="Cords 2004, table 6.1",
        statement="One implicit step costs 5.5 to 11.5 times as much as one of Euler-Cromer, and "
        "both grow with the number of particles.",
        measured=f"{told}. Exponents: {powers[EXPLICIT]:.2f} and {powers[IMPLICIT]:.2f}.",
        verdict=verdict,
        why="One thread, one linearisation a step, the same springs. The document's conjugate "
        "gradients end after 2 to 4 iterations; here they go on to the tolerance, with multigrid, "
        "and an explicit step here also judges its result. Times of rendering are left out.",
        tables=[Table("Seconds of one step of 0.02 s, one thread", head, rows)],
    )


def pins() -> Finding:
    """Effect of pins outside the solver."""
    rows = []
    for filtered in (True, False):
        for h in (0.01, 0.02, 0.05):
            sheet = Springs(20, stiffness=60.0, drag=0.3)
            state, step = sheet.start(), sheet.implicit(h, filtered)
            for _ in range(int(25.0 / h)):
                state = step(state)
            lengths = [
                np.linalg.norm(state[0][b] - state[0][a], axis=-1) / rest[..., 0]
                for a, b, rest in sheet.members[:2]
            ]
            most = float(max(values.max() for values in lengths))
            rows.append(("inside the solver" if filtered else "put back afterwards", h, most))
    inside = [row[2] for row in rows[:3]]
    after = [row[2] for row in rows[3:]]
    return Finding(
        name="Pins inside and outside the solver",
        source="Cords 2004, section 4.3.1",
        statement="Pins are kept by putting their velocities back after the equations are solved.",
        measured=f"At rest the longest spring is stretched to {min(inside):.2f}–{max(inside):.2f} "
        f"of its length "
        f"for every step where pins are filtered inside the solver, and to {after[0]:.2f}, "
        f"{after[1]:.2f} and {after[2]:.2f} for steps of 0.01, 0.02 and 0.05 s where they are put "
        "back.",
        verdict="differs",
        why="Solved as if they were free, pins fall with the cloth in every step, and their "
        "springs "
        "never feel the whole load: the error grows with the step. The library filters.",
        tables=[Table("20×20, D = 60 kg/s²", ["pins", "step, s", "largest stretch"], rows)],
    )


ALL = (pendulum, seconds_per_step, stable_steps, scenes, pins)
