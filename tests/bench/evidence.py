# SPDX-License-Identifier: MIT OR Apache-2.0
"""The scenes that docs/heuristics.md names as evidence, with their figures.

usage: evidence.py NAME …     such as sheet/ball16_solve, hostile/random_soup, rest/sheet_at_rest

Run it before and after a parameter is changed. `sheet/…` are small sheets of the benchmark, with
the mean distance from a reference of finer steps or a smaller tolerance; `hostile/NAME` and
`hostile/NAME@SIZE` are hostile scenes in their short form; `rest/…` are measures of rest.py.
"""

import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import sheets
import weft_run

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "hostile"))

from families import RECIPES
from harness import Run
from rest import MEASURES

COUNTS = ("steps", "rejected_steps", "newton_iterations", "linear_iterations")
FINE = {"tolerance": 1e-4}


@dataclass(frozen=True)
class Sheet:
    """A sheet of the benchmark, and the settings of the reference that it is compared with."""

    case: str
    side: int
    frames: int
    settings: dict = field(default_factory=dict)
    reference: dict = field(default_factory=dict)


SHORT_STEPS = {"time_step": 1 / 96}
SHEETS = {
    "pinned16_time": Sheet("pinned", 16, 20, {}, {"time_step": 1 / 768, **FINE}),
    "pinned16_solve": Sheet("pinned", 16, 16, {}, FINE),
    "pinned16_96": Sheet("pinned", 16, 12, SHORT_STEPS, {"time_step": 1 / 384, **FINE}),
    "pinned16_linearised": Sheet("pinned", 16, 16, {"solver": "linearised"}),
    "pinned24_time": Sheet("pinned", 24, 36, {}, {"time_step": 1 / 768, **FINE}),
    "pinned24_solve": Sheet("pinned", 24, 24, {}, FINE),
    "pinned24_96": Sheet("pinned", 24, 24, SHORT_STEPS, {"time_step": 1 / 768, **FINE}),
    "pinned10_fixed": Sheet("pinned", 10, 12, {"solver": "fixed_point"}),
    "ball16_solve": Sheet("sphere", 16, 12, {}, FINE),
    "ball24_solve": Sheet("sphere", 24, 12, {}, FINE),
    "self16_solve": Sheet("sphere_self", 16, 14, {}, FINE),
    "ball10_bdf2_fixed_point": Sheet("sphere_self", 10, 10, {"solver": "fixed_point"}),
    "ball8_rk4": Sheet("sphere_self", 8, 8, {"integrator": "rk4"}),
}


def frames_of(sheet: Sheet, settings: dict) -> tuple[np.ndarray, list]:
    """Positions of all frames, and the reports."""
    simulation = weft_run.begin(sheet.case, sheet.side, threads=1, **settings)
    frames, reports = [], []
    for _ in range(sheet.frames):
        reports.append(simulation.advance(1.0 / sheets.FRAMES_PER_SECOND))
        frames.append(simulation.positions())
    return np.array(frames), reports


def of_sheet(name: str) -> dict[str, float]:
    """Counts, stretch and distance from the reference, in mm."""
    sheet = SHEETS[name]
    frames, reports = frames_of(sheet, sheet.settings)
    figures = {count: sum(getattr(report, count) for report in reports) for count in COUNTS}
    figures["largest stretch"] = sheets.measure(frames, sheet.case, sheet.side)["stretch_max"]
    if sheet.reference:
        exact, _ = frames_of(sheet, sheet.settings | sheet.reference)
        distances = np.sqrt(((frames - exact) ** 2).sum(axis=2).mean(axis=1))
        figures["mm from the reference"] = 1e3 * float(distances.mean())
    return figures


def of_hostile(name: str) -> dict[str, float | str]:
    """Counts of a hostile scene, and its failures."""
    name, _, size = name.partition("@")
    recipe = RECIPES[name]
    scene = recipe.build(int(size) if size else recipe.quick.size, recipe.quick.seconds)
    result = Run(name, scene, None, threads=1).go(round(recipe.quick.seconds * scene.frame_rate))
    counts = ("steps", "rejected", "newton", "linear")
    figures = {count: sum(getattr(frame, count) for frame in result.frames) for count in counts}
    return figures | {"failures": "; ".join(result.failures) or "none"}


def of_rest(name: str) -> dict[str, float]:
    """Figures of a measure at rest or of friction."""
    return {figure.name: figure.value for figure in MEASURES[name](True)}


def main() -> None:
    kinds = {"sheet": of_sheet, "hostile": of_hostile, "rest": of_rest}
    for wanted in sys.argv[1:]:
        kind, _, name = wanted.partition("/")
        print(wanted)
        for figure, value in kinds[kind](name).items():
            print(
                f"  {figure}: {value:.6g}" if isinstance(value, float) else f"  {figure}: {value}"
            )


if __name__ == "__main__":
    main()
