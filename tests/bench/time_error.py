# SPDX-License-Identifier: MIT OR Apache-2.0
"""How far the steps of either program lead the swinging sheet from its own converged motion.

One process for one program, started by compare.py: with a Python that has the `weft` module, or
one that has `bpy`. Distances are the root mean squares of all vertices, in mm.
"""

import argparse
from collections.abc import Iterator

import numpy as np
import run
import sheets

FRAMES = 72
SHOWN = range(12, FRAMES + 1, 12)
SIDE = 50


def of_weft(time_step: float, tolerance: float = 0.02) -> np.ndarray:
    import weft_run

    simulation = weft_run.begin("pinned", SIDE, time_step=time_step, tolerance=tolerance)
    frames = []
    for _ in range(FRAMES):
        simulation.advance(1.0 / sheets.FRAMES_PER_SECOND)
        frames.append(simulation.positions())
    return np.array(frames)


def of_blender(quality: int) -> np.ndarray:
    import blender_baseline
    import bpy

    thing = blender_baseline.begin("pinned", SIDE, FRAMES + 1, quality)
    frames = []
    for frame in range(2, FRAMES + 2):
        bpy.context.scene.frame_set(frame)
        frames.append(blender_baseline.evaluated_positions(thing))
    return np.array(frames, dtype=np.float64)


def motions(program: str) -> Iterator[tuple[str, np.ndarray]]:
    """The converged motion first, then those of coarser steps."""
    if program == "weft":
        yield "Weft, steps of 1/768 s", of_weft(1 / 768, 1e-4)
        for parts in (24, 48, 96):
            yield f"Weft, steps of 1/{parts} s", of_weft(1 / parts)
    else:
        yield "Blender, quality 80", of_blender(80)
        for quality in (5, 10, 20, 40):
            yield f"Blender, quality {quality}", of_blender(quality)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", choices=("weft", "blender"))
    each = motions(parser.parse_args().program)
    name, converged = next(each)
    lines = {}
    for coarser, motion in each:
        squares = ((motion - converged) ** 2).sum(axis=2).mean(axis=1)
        lines[coarser] = [1e3 * float(np.sqrt(squares[frame - 1])) for frame in SHOWN]
    seconds = [frame / sheets.FRAMES_PER_SECOND for frame in SHOWN]
    run.report({"converged": name, "seconds": seconds, "distances": lines})


if __name__ == "__main__":
    main()
