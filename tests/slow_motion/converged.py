# SPDX-License-Identifier: MIT OR Apache-2.0
"""Computes `converged.json`: what the scenes without a closed form do when their equations are
solved far more closely than by default.

    PYTHONPATH=out/library python tests/slow_motion/converged.py

The same solver computes them: they judge how closely it solves, not whether its equations hold.
Its step is at most a frame, too, but steps are rejected and halved more often than by default. So
paths have converged in the tolerance (1e-4 against 1e-5: within 2 %, capstan strips at 1.1 times
the limit 6 %; the amplitude has been computed at 1e-5 alone), not in time: with steps of 1/96 s the
strip on the table is up to a quarter behind, and the capstan strip at 1.1 is 7 % ahead.
"""

import json

import numpy as np
from slow_scenes import hanging, sliding
from slow_scenes.buckling import OnEdge, amplitude, growth_rate
from slow_scenes.common import TABLE
from slow_scenes.cylinder import FIRST_PART, capstan

CAPSTAN_FRAMES = 24


def capstan_path(factor: float) -> np.ndarray:
    """Over the first part, while it grows."""
    path = capstan(factor, tolerance=1e-5).path(CAPSTAN_FRAMES)
    return path[: int((path > FIRST_PART).argmax())]


def edge_rate(factor: float) -> float:
    strip = OnEdge(factor)
    return growth_rate(strip.begin(tolerance=1e-6), 1, strip.rate)


def main() -> None:
    values = {f"capstan {factor}": capstan_path(factor) for factor in (1.1, 1.3, 2.0)}
    values |= {f"on edge {factor}": edge_rate(factor) for factor in (1.1, 1.25, 1.5)}
    values["amplitude"] = amplitude(tolerance=1e-5)
    values["off the table"] = sliding.off_the_table(tolerance=1e-5)
    values["over another sheet"] = sliding.over_another_sheet(tolerance=1e-5)
    values["swing"] = hanging.swing(tolerance=1e-5)
    values["by two corners"] = hanging.by_two_corners(tolerance=1e-5)
    lines = [f'"{name}": {json.dumps(np.round(each, 7).tolist())}' for name, each in values.items()]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
