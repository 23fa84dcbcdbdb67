# SPDX-License-Identifier: MIT OR Apache-2.0
"""Etzmuss 2002, sections 2.1.3 and 2.4: branches of a measured curve, and a constant Q."""

import numpy as np
import plot
import weft
from page import AGREES, PARTLY, Finding, Table

HEIGHT, WIDTH = 1.0, 0.9  # m: a piece whose base is pinned and whose other end moves along x
TRIANGLE = [(0.0, 0.0, 0.0), (0.0, WIDTH, 0.0), (HEIGHT, 0.4, 0.0)]
QUAD = [(0.0, 0.0, 0.0), (0.0, WIDTH, 0.0), (HEIGHT, WIDTH, 0.0), (HEIGHT, 0.0, 0.0)]
PIECES = {"fem": TRIANGLE, "particles": QUAD, "mass_spring": QUAD}
CURVE = {
    "load": [(0.0, 0.0), (0.02, 5.0), (0.04, 20.0), (0.06, 60.0)],
    "unload": [(0.01, 0.0), (0.03, 4.0), (0.05, 25.0), (0.06, 60.0)],
}
QUALITY = {"q": 12.0, "low": 0.1, "high": 10.0}


def area(model: str) -> float:
    """Area of the piece that a model is tried with, in m²."""
    return HEIGHT * WIDTH * (0.5 if PIECES[model] is TRIANGLE else 1.0)


def piece(model: str, start: float, **fields: object) -> weft.Simulation:
    """A piece with its end at a displacement in m; its strain is that along the warp alone."""
    settings = weft.Settings(
        gravity=(0.0, 0.0, 0.0), air_density=0.0, tolerance=1e-9, time_step=10.0,
        max_iterations=200, model=model,
    )  # fmt: skip
    values = {"stretch_weft": 1.0, "shear": 0.0, "poisson": 0.0, "shear_damping": 0.0}
    values |= {"bend_warp": 0.0, "bend_weft": 0.0}
    material = weft.Material(**(values | fields))
    rest = np.array(PIECES[model])
    moved = rest.copy()
    moved[2:, 0] += start
    cloth = weft.Cloth(moved, [range(len(rest))], material, rest_positions=rest)
    simulation = weft.Simulation([cloth], settings=settings)
    simulation.set_pins(0, [0, 1])
    end, across = range(2, len(rest)), [(0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
    simulation.set_guided_velocity(0, end, across, (0.0, 0.0, 0.0))
    return simulation


def tip(simulation: weft.Simulation) -> float:
    """Displacement of the end, in m."""
    return float(simulation.positions()[2, 0] - HEIGHT)


def cycle(model: str) -> tuple[np.ndarray, np.ndarray]:
    """Strains and stresses of a load and its release, by weights that are hung on the end."""
    material = {"density": 1e-3, "stretch_warp": 4000.0, "stretch_damping": 0.5}
    simulation = piece(model, 0.0, stretch_warp_curve=CURVE, **material)
    strains, stresses = [], []
    # Of the default model the stress is the force over the stretch.
    most = 63.4 if model == "fem" else 59.9
    up = np.linspace(0.0, most, 60) * area(model) / HEIGHT
    ends = len(PIECES[model]) - 2
    for force in (*up, *up[-2::-1]):
        forces = np.zeros((2 + ends, 3))
        forces[2:, 0] = force / ends
        simulation.set_vertex_forces(0, forces)
        for _ in range(12):
            simulation.step(5.0)
        moved = tip(simulation) / HEIGHT
        green = model == "fem"
        strains.append(moved + 0.5 * moved * moved if green else moved)
        stresses.append(force * HEIGHT / area(model) / (1.0 + moved if green else 1.0))
    return np.array(strains), np.array(stresses)


def on(branch: str, strains: np.ndarray) -> np.ndarray:
    """Stress of a branch of the curve."""
    return np.interp(strains, *np.array(CURVE[branch]).T)


def compared(strains: np.ndarray, stresses: np.ndarray) -> tuple[float, float, float, float]:
    """Distance from the branches, area inside and area wanted in N/m, and the strain that stays."""
    top = int(np.argmax(stresses))
    parts = (("load", slice(0, top + 1)), ("unload", slice(top, None)))
    errors = [np.abs(stresses[part] - on(branch, strains[part])).max() for branch, part in parts]
    found = float(np.trapezoid(stresses, strains))
    fine = np.linspace(0.0, strains[top], 20001)
    lower = np.where(fine < 0.01, 0.0, on("unload", fine))
    wanted = float(np.trapezoid(on("load", fine) - lower, fine))
    return float(max(errors)), found, wanted, float(strains[-1])


def branches() -> Finding:
    """A load-unload cycle along the given branches."""
    cycles = {model: cycle(model) for model in PIECES}
    rows = [(model, *compared(*cycles[model])) for model in PIECES]
    x, y = plot.Axis("strain"), plot.Axis("stress, N/m")
    given = [plot.Line(name, *np.array(CURVE[name]).T, dashed=True) for name in CURVE]
    drawn = [plot.Line(model, *cycles[model], dots=True) for model in PIECES]
    worst = max(row[1] for row in rows)
    off = max(abs(row[2] / row[3] - 1.0) for row in rows)
    return Finding(
        name="A load-unload cycle with hysteresis",
        source="Etzmuss 2002, section 2.1.3 and figure 2.6, after Eberhardt",
        statement="Piecewise affine branches, chosen by the history of the strain, describe the "
        "hysteresis and the plastic strain that Kawabata's tests show.",
        measured=f"The stress of every model keeps to the branches within {worst:.2g} N/m of "
        f"60 N/m; the area inside is that between the branches within {off:.1%}; the strain that "
        f"stays is {rows[0][4]:.4f}.",
        verdict=AGREES if worst < 0.6 and off < 0.03 else PARTLY,
        why="Between the branches stress changes with the modulus, so that small reversals are "
        "elastic and no jump of stress gives energy. Finite elements measure Green's strain, the "
        "others the change of length.",
        tables=[
            Table(
                "Cycles",
                [
                    "model",
                    "off the branches, N/m",
                    "area, N/m",
                    "between, N/m",
                    "strain that stays",
                ],
                rows,
            )
        ],
        plots=[plot.lines("Tension of a strip", x, y, [*drawn, *given])],
    )


def decay(model: str, frequency: float, **fields: object) -> tuple[float, float]:
    """Frequency and Q of the free oscillation of a piece with a frequency in Hz without loss."""
    modulus = 40.0
    # A third of a triangle swings, and half of a quad.
    shared = 3.0 if PIECES[model] is TRIANGLE else 2.0
    density = shared * modulus / (2.0 * np.pi * frequency * HEIGHT) ** 2
    simulation = piece(model, 1e-4, stretch_warp=modulus, density=density, **fields)
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
    lossy = {"quality": QUALITY, "stretch_damping": 0.0}
    chains = {model: [decay(model, one, **lossy) for one in frequencies] for model in PIECES}
    time = 0.02
    # Without memory finite elements buckle where a cycle compresses them, unless stiff in bending.
    stiff = {"stretch_damping": time, "bend_warp": 1.0, "bend_weft": 1.0}
    viscous = [decay("fem", one, **stiff) for one in frequencies[2:5]]
    wanted = QUALITY["q"]
    chain = chains["fem"]
    worst = max(abs(found / wanted - 1.0) for own in chains.values() for _, found in own)
    drawn = [
        plot.Line("memory parameters", *zip(*chain, strict=True), dots=True),
        plot.Line("one Kelvin-Voigt element, 0.02 s", *zip(*viscous, strict=True), dots=True),
        plot.Line("wanted", [0.1, 10.0], [wanted, wanted], dashed=True),
    ]
    axes = plot.Axis("frequency, Hz", log=True), plot.Axis("Q", log=True)
    rows = [(f"memory, {model}", *pair) for model, own in chains.items() for pair in own]
    rows += [("Kelvin-Voigt, fem", *pair) for pair in viscous]
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
