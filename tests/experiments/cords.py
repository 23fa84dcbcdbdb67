# SPDX-License-Identifier: MIT OR Apache-2.0
"""Cords 2004: the energy of a spring pendulum, and the largest stable steps of his schemes."""

from collections.abc import Callable

import numpy as np
import plot
import weft
from page import AGREES, PARTLY, Finding, Table
from scenes import offered
from springs import Springs, State, is_stable, largest_step

Acceleration = Callable[[np.ndarray, np.ndarray], np.ndarray]
Step = Callable[[State], State]


def euler(a: Acceleration, h: float, cromer: bool) -> Step:
    """Explicit Euler, or Euler-Cromer."""

    def step(state: State) -> State:
        x, v = state
        new = v + h * a(x, v)
        return x + h * (new if cromer else v), new

    return step


def printed_rk2(a: Acceleration, h: float, cromer: bool) -> Step:
    """As printed: positions by x₀ + h·v₀, or by the new velocity."""

    def step(state: State) -> State:
        x, v = state
        k1 = h * a(x, v)
        k2 = h * a(x + h * (v + k1), v + k1)
        new = v + 0.5 * (k1 + k2)
        return x + h * (new if cromer else v), new

    return step


def printed_midway(a: Acceleration, h: float, cromer: bool) -> Step:
    """Table 2.3: as the printed RK2, with half a step to the middle."""

    def step(state: State) -> State:
        x, v = state
        middle = v + 0.5 * h * a(x, v)
        new = v + h * a(x + 0.5 * h * middle, middle)
        return x + h * (new if cromer else v), new

    return step


def printed_rk4(a: Acceleration, h: float, cromer: bool) -> Step:
    """As printed."""

    def step(state: State) -> State:
        x, v = state
        k1 = h * a(x, v)
        v2 = v + 0.5 * k1
        k2 = h * a(x + 0.5 * h * v2, v2)
        v3 = v + 0.5 * k2
        k3 = h * a(x + 0.5 * h * v3, v3)
        v4 = v + k3
        k4 = h * a(x + h * v4, v4)
        new = v + (k1 + 2.0 * k2 + 2.0 * k3 + k4) / 6.0
        return x + h * (new if cromer else v), new

    return step


def true_rk4(a: Acceleration, h: float, _cromer: bool) -> Step:
    """The method of Runge and Kutta."""

    def step(state: State) -> State:
        x, v = state
        k1 = v, a(x, v)
        k2 = v + 0.5 * h * k1[1], a(x + 0.5 * h * k1[0], v + 0.5 * h * k1[1])
        k3 = v + 0.5 * h * k2[1], a(x + 0.5 * h * k2[0], v + 0.5 * h * k2[1])
        k4 = v + h * k3[1], a(x + h * k3[0], v + h * k3[1])
        mean = [
            (a + 2.0 * b + 2.0 * c + d) / 6.0 for a, b, c, d in zip(k1, k2, k3, k4, strict=True)
        ]
        return x + h * mean[0], v + h * mean[1]

    return step


# Name, scheme, whether by Cromer, limits in s at 30 by 30 (table 6.2) and at 50 by 50 (table 6.3).
SCHEMES = (
    ("Euler", euler, False, 0.0030, None),
    ("Midway as printed", printed_midway, False, 0.0039, None),
    ("RK2 as printed", printed_rk2, False, 0.0070, None),
    ("RK4 as printed", printed_rk4, False, 0.0070, None),
    ("Euler-Cromer", euler, True, 0.0242, 0.024),
    ("Midway-Cromer as printed", printed_midway, True, 0.0242, None),
    ("RK2-Cromer as printed", printed_rk2, True, 0.0242, None),
    ("RK4-Cromer as printed", printed_rk4, True, 0.0260, None),
    ("true RK4", true_rk4, False, None, None),
)


# --- the pendulum -----------------------------------------------------------------------------

PENDULUM = 0.01, 1000  # s, steps


def library_pendulum(integrator: str) -> np.ndarray:
    """One triangle with one free coordinate and ω² = 10: its energy over that at the start."""
    height, amplitude = 1.0, 1e-3
    material = weft.Material(
        density=0.3,
        stretch_warp=1.0,
        stretch_weft=1.0,
        shear=0.4,
        poisson=0.0,
        stretch_damping=0.0,
        shear_damping=0.0,
    )
    rest = np.array([(0.0, 0.0, 0.0), (height, 0.4, 0.0), (0.0, 0.9, 0.0)])
    start = rest.copy()
    start[1, 0] += amplitude
    cloth = weft.Cloth(start, [(0, 1, 2)], material, rest_positions=rest)
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
    drawn, rows = [], []
    for name, cromer in (("Euler as printed", False), ("Euler-Cromer as printed", True)):
        state = np.array([1.0]), np.array([0.0])
        step = euler(lambda x, _v: -10.0 * x, h, cromer)
        energies = [1.0]
        for _ in range(steps):
            state = step(state)
            energies.append(float(0.2 * 0.5 * state[1][0] ** 2 + state[0][0] ** 2))
        drawn.append(plot.Line(name, times, energies))
        rows.append((name, energies[-1]))
    skipped = []
    for name in offered("integrator"):
        try:
            energies = library_pendulum(name)
        except ValueError as error:
            skipped.append(f"integrator {name}: {error}")
            continue
        drawn.append(plot.Line(name, times, energies, dashed=True))
        rows.append((name, float(energies[-1])))
    drifts, keeps = rows[0][1] > 2.0, abs(rows[1][1] - 1.0) < 0.1
    axes = plot.Axis("time, s"), plot.Axis("energy over that at the start", log=True)
    return Finding(
        name="Energy of a spring pendulum",
        source="Cords 2004, figure 2.2",
        statement="m = 1 kg, k = 10 kg/s², h = 0.01 s, without damping: explicit Euler drifts "
        "away, "
        "Euler-Cromer nearly conserves the energy.",
        measured=f"After 10 s Euler has {rows[0][1]:.3f} times the energy, Euler-Cromer "
        f"{rows[1][1]:.4f} times. The library's schemes are in the table.",
        verdict=AGREES if drifts and keeps else PARTLY,
        why="Euler multiplies the energy by 1 + ω²h² in every step, which is e after 10 s; "
        "Euler-Cromer is symplectic, so that its energy only ripples; the Cromer variants of the "
        "other methods lose the part ω²h²/2 of it in every step. Implicit Euler divides by "
        "what Euler multiplies with; BDF(2) loses an amount of third order.",
        tables=[Table("Energy after 10 s over that at the start", ["scheme", "ratio"], rows)],
        plots=[plot.lines("Energy of the pendulum", *axes, drawn)],
        skipped=skipped,
    )


# --- largest stable steps ---------------------------------------------------------------------


def scheme_limits(side: int) -> dict[str, float]:
    """The largest stable step of each scheme in s."""
    seconds, springs, limits = 8.0, Springs(side), {}
    for name, scheme, cromer, *_ in SCHEMES:

        def stable(h: float, scheme=scheme, cromer=cromer) -> bool:
            return is_stable(springs, scheme(springs.acceleration, h, cromer), h, seconds)

        limits[name] = largest_step(stable, 0.0015, 0.08)
    return limits


def implicit_limit(side: int) -> float:
    """Longest stable step of implicit Euler with one linear solve a step, in s."""
    springs = Springs(side)
    return largest_step(lambda h: is_stable(springs, springs.implicit(h), h, 8.0), 0.02, 0.2)


def _listed(limits: dict[str, float]) -> str:
    return "; ".join(f"{name} {limit:.4f}" for name, limit in limits.items())


def stable_steps() -> Finding:
    """Tables 6.2 and 6.3."""
    rows, implicit = [], {}
    limits, finer = scheme_limits(30), scheme_limits(50)
    for side, found, column in ((30, limits, 3), (50, finer, 4)):
        rows += [(f"{side}×{side}", row[0], found[row[0]], row[column]) for row in SCHEMES]
        implicit[side] = implicit_limit(side)
        printed = {30: 0.057, 50: 0.039}[side]
        rows.append((f"{side}×{side}", "implicit Euler, one solve", implicit[side], printed))
    plain = [
        limits[name] for name in ("Euler", "Midway as printed", "RK2 as printed", "RK4 as printed")
    ]
    others = [limits[name] for name in limits if "Cromer" in name]
    ordered = plain[0] < min(plain[1:]) and max(plain) < min(others) and max(others) < implicit[30]
    return Finding(
        name="Largest stable steps",
        source="Cords 2004, tables 6.2 and 6.3",
        statement="At 30×30: Euler 0.003, Midway 0.0039, RK2 and RK4 0.007, all Cromer variants "
        "0.024 to 0.026, implicit Euler 0.057 s. At 50×50: Euler-Cromer 0.024, implicit 0.039 s.",
        measured=f"At 30×30: {_listed(limits)}. At 50×50: {_listed(finer)}. Implicit Euler was "
        f"stable up to the largest step that was tried, {min(implicit.values()):.2f} s, on both.",
        verdict=PARTLY if ordered else "differs",
        why="The order is the document's. Its printed Runge-Kutta schemes are of first order, "
        "because positions go on with the old velocity. Midway has the limit of RK2, as both are "
        "one method where forces are linear, not half of it. RK2-Cromer has less than "
        "Euler-Cromer: without damping √2 against 2 over ω. The true method of fourth order stays "
        "stable for twice the step of Euler-Cromer. The document puts pins back after solving and "
        "does not keep its matrix positive definite; where both are done right, implicit Euler "
        "has no limit here. Spacing and pins are not stated in the document: 1 m, two corners, "
        "16 springs at each particle.",
        tables=[Table("Largest stable step in s", ["grid", "scheme", "here", "document"], rows)],
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


ALL = (pendulum, stable_steps, pins)
