# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs one sheet of cotton with Weft, with its default settings but for self collision."""

import run
import sheets
import weft

MATERIAL = "cotton"


def main() -> None:
    wanted = run.arguments()
    cloth = weft.Cloth(
        *sheets.sheet(wanted.side, sheets.start_height(wanted.case)), weft.Material.preset(MATERIAL)
    )
    colliders = [weft.Collider(*sheets.sphere())] if sheets.has_sphere(wanted.case) else []
    settings = weft.Settings(self_collision=sheets.meets_itself(wanted.case))
    simulation = weft.Simulation([cloth], colliders, settings)
    if wanted.case == "pinned":
        simulation.set_pins(0, sheets.pinned_corners(wanted.side))
    reports = []
    timing, frames = run.timed(
        wanted.frames,
        lambda _frame: reports.append(simulation.advance(1.0 / sheets.FRAMES_PER_SECOND)),
        simulation.positions,
    )
    work = {
        count: sum(getattr(report, count) for report in reports)
        for count in ("steps", "rejected_steps", "newton_iterations", "linear_iterations")
    }
    work["stages"] = {
        stage: sum(report.seconds[stage] for report in reports) for stage in reports[0].seconds
    }
    work["frames_not_converged"] = sum(not report.converged for report in reports)
    measured = sheets.measure(frames, wanted.case, wanted.side)
    program = f"Weft {weft.__version__}"
    run.report({"program": program, "material": MATERIAL, **timing, **work, **measured})


if __name__ == "__main__":
    main()
