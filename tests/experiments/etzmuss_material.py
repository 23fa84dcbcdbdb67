# SPDX-License-Identifier: MIT OR Apache-2.0
"""Etzmuss 2002, sections 2.1.3 and 2.4: branches of a measured curve, and a constant Q."""

import numpy as np
import plot
import weft
from page import AGREES, PARTLY, Finding, Table

HEIGHT, WIDTH = 1.0, 0.9  # m: a triangle whose base is held and whose tip moves along x
AREA = 0.5 * HEIGHT * WIDTH
CURVE = {
    "load": [(0.0, 0.0), (0.02, 5.0), (0.04, 20.0), (0.06, 60.0)],
    "unload": [(0.01, 0.0), (0.03, 4.0), (0.05, 25.0), (0.06, 60.0)],
}
QUALITY = {"q": 12.0, "low": 0.1, "high": 10.0}


def triangle(start: float, **fields: object) -> weft.Simulation:
    """The triangle with its tip at a displacement in m; its strain is that along the warp alone."""
    settings = weft.Settings(
        gravity=(0.0, 0.0, 0.0), air_density=0.0, tolerance=1e-9, time_step=10.0, max_iterations=200
    )
    values = {"stretch_weft": 1.0, "shear": 1.0, "poisson": 0.0, "shear_damping": 0.0}
    material = weft.Material(**(values | fields))
    rest = np.array([(0.0, 0.0, 0.0), (HEIGHT, 0.4, 0.0), (0.0, WIDTH, 0.0)])
    moved = rest.copy()
    moved[1, 0] += start
    cloth = weft.Cloth(moved, [(0, 1, 2)], material, rest_positions=rest)
    simulation = weft.Simulation([cloth], settings=settings)
    simulation.set_pins(0, [0, 2])
    simulation.set_guided_velocity(0, [1], [(0.0, 1.0, 0.0), (0.0, 0.0, 1.0)], (0.0, 0.0, 0.0))
    return simulation


def tip(simulation: weft.Simulation) -> float:
    """Displacement of the tip, in m."""
    return float(simulation.positions()[1, 0] - HEIGHT)


def cycle() -> tuple[np.ndarray, np.ndarray]:
    """Strains and stresses of a load and its release, by weights that are hung on the tip."""
    material = {"density": 1e-3, "stretch_warp": 4000.0, "stretch_damping": 0.5}
    simulation = triangle(0.0, stretch_warp_curve=CURVE, **material)
    strains, stresses = [], []
    up = np.linspace(0.0, 63.4, 60) * AREA / HEIGHT
    for force in (*up, *up[-2::-1]):
        forces = np.zeros((3, 3))
        forces[1, 0] = force
        simulation.set_vertex_forces(0, forces)
        for _ in range(12):
            simulation.step(5.0)
        moved = tip(simulation) / HEIGHT
        strains.append(moved + 0.5 * moved * moved)
        stresses.append(force * HEIGHT / (AREA * (1.0 + moved)))
    return np.array(strains), np.array(stresses)


def on(branch: str, strains: np.ndarray) -> np.ndarray:
    """Stress of a branch of the curve."""
    return np.interp(strains, *np.array(CURVE[branch]).T)


def branches() -> Finding:
    """A load-unload cycle along the given branches."""
    strains, stresses = cycle()
    top = int(np.argmax(stresses))
    loading, unloading = slice(0, top + 1), slice(top, None)
    errors = [
        float(np.abs(stresses[part] - on(branch, strains[part])).max())
        for branch, part in (("load", loading), ("unload", unloading))
    ]
    area = float(np.trapezoid(stresses, strains))
    fine = np.linspace(0.0, strains[top], 20001)
    lower = np.where(fine < 0.01, 0.0, on("unload", fine))
    wanted = float(np.trapezoid(on("load", fine) - lower, fine))
    x, y = plot.Axis("strain"), plot.Axis("stress, N/m")
    given = [plot.Line(name, *np.array(CURVE[name]).T, dashed=True) for name in CURVE]
    drawn = [plot.Line("measured here", strains, stresses, dots=True), *given]
    good = max(errors) < 0.6 and abs(area / wanted - 1.0) < 0.03
    return Finding(
        name="A load-unload cycle with hysteresis",
        source="Etzmuss 2002, section 2.1.3 and figure 2.6, after Eberhardt",
        statement="Piecewise affine branches, chosen by the history of the strain, describe the "
        "hysteresis and the plastic strain that Kawabata's tests show.",
        measured=f"The stress keeps to the branches within {max(errors):.2g} N/m of 60 N/m; the "
        f"area inside is {area:.4f} N/m, that between the branches {wanted:.4f} N/m; the strain "
        f"that stays is {strains[-1]:.4f}.",
        verdict=AGREES if good else PARTLY,
        why="Between the branches stress changes with the modulus, so that small reversals are "
        "elastic and no jump of stress gives energy.",
        plots=[plot.lines("Tension of a strip", x, y, drawn)],
    )


def decay(frequency: float, **fields: object) -> tuple[float, float]:
    """Frequency and Q of the free oscillation of a triangle, so many Hz without loss."""
    modulus = 40.0
    density = 3.0 * modulus / (2.0 * np.pi * frequency * HEIGHT) ** 2
    simulation = triangle(1e-4, stretch_warp=modulus, density=density, **fields)
    step = 1.0 / (300.0 * frequency)
    places = [tip(simulation)]
    for _ in range(2700):
        simulation.step(step)
        places.append(tip(simulation))
    change = np.diff(places)
    turns = 1 + np.flatnonzero(change[:-1] * change[1:] < 0.0)
    swings = np.abs(np.diff(np.array(places)[turns]))
    cycles = 0.5 * (12 - 4)
    found = np.pi / (np.log(swings[4] / swings[12]) / cycles)
    return float(cycles / (step * (turns[12] - turns[4]))), float(found)


def quality() -> Finding:
    """Q of free oscillations over two decades of frequency."""
    frequencies = np.geomspace(0.1, 8.0, 7)
    chain = [decay(one, quality=QUALITY, stretch_damping=0.0) for one in frequencies]
    time = 0.02
    viscous = [decay(one, stretch_damping=time) for one in frequencies[2:5]]
    wanted = QUALITY["q"]
    worst = max(abs(found / wanted - 1.0) for _, found in chain)
    drawn = [
        plot.Line("memory parameters", *zip(*chain, strict=True), dots=True),
        plot.Line("one Kelvin-Voigt element, 0.02 s", *zip(*viscous, strict=True), dots=True),
        plot.Line("wanted", [0.1, 10.0], [wanted, wanted], dashed=True),
    ]
    axes = plot.Axis("frequency, Hz", log=True), plot.Axis("Q", log=True)
    rows = [("memory", *pair) for pair in chain] + [("Kelvin-Voigt", *pair) for pair in viscous]
    return Finding(
        name="Constant Q by memory parameters",
        source="Etzmuss 2002, section 2.4.2",
        statement="The hysteresis of textiles hardly depends on the frequency: a series of "
        "Kelvin-Voigt elements, fitted by least squares, approximates a constant Q.",
        measured=f"Free oscillations between {chain[0][0]:.2g} and {chain[-1][0]:.2g} Hz have the "
        f"Q of {wanted:g} that is asked for within {worst:.1%}; that of one element falls with "
        "the frequency.",
        verdict=AGREES if worst < 0.1 else PARTLY,
        why="Eight elements over the band and half a decade beyond. The document adds up the "
        "relaxation of elements in series; what adds up is their creep, and relaxation is found "
        "from the poles of the inverse.",
        tables=[Table("Free oscillations", ["loss", "frequency, Hz", "Q"], rows)],
        plots=[plot.lines("Q over frequency", *axes, drawn)],
    )


ALL = (branches, quality)
