# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs one sheet of cotton with Weft, with its default settings but for self collision."""

import hashlib

import run
import sheets
import weft

MATERIAL = "cotton"


def begin(case: str, side: int, **settings: object) -> weft.Simulation:
    """The sheet at its first frame."""
    start = sheets.sheet(side, sheets.start_height(case))
    cloth = weft.Cloth(*start, weft.Material.preset(MATERIAL))
    colliders = [weft.Collider(*sheets.sphere())] if sheets.has_sphere(case) else []
    settings = weft.Settings(self_collision=sheets.meets_itself(case), **settings)
    simulation = weft.Simulation([cloth], colliders, settings)
    if case == "pinned":
        simulation.set_pins(0, sheets.pinned_corners(side))
    return simulation


def main() -> None:
    wanted = run.arguments()
    begin(wanted.case, run.WARM_SIDE).advance(1.0 / sheets.FRAMES_PER_SECOND)
    before = run.memory("VmRSS")
    simulation = begin(wanted.case, wanted.side, threads=wanted.threads)
    reports = []
    timing, frames = run.timed(
        wanted.frames,
        lambda _frame: reports.append(simulation.advance(1.0 / sheets.FRAMES_PER_SECOND)),
        simulation.positions,
        before,
    )
    work = {
        count: sum(getattr(report, count) for report in reports)
        for count in ("steps", "rejected_steps", "newton_iterations", "linear_iterations")
    }
    work["stages"] = {
        stage: sum(report.seconds[stage] for report in reports) for stage in reports[0].seconds
    }
    work["digest"] = hashlib.sha256(frames.tobytes()).hexdigest()
    work["frames_not_converged"] = sum(not report.converged for report in reports)
    measured = {} if wanted.unmeasured else sheets.measure(frames, wanted.case, wanted.side)
    program = f"Weft {weft.__version__}"
    run.report({"program": program, "material": MATERIAL, **timing, **work, **measured})


if __name__ == "__main__":
    main()
