# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs Blender's own cloth and Weft in turn on the same sheets and cores, and prints the ratios.

Writes every run to out/bench.json and the table to out/bench.md. Each time is the median over
the runs; quality figures are the worst of the runs.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

import sheets

FOLDER = Path(__file__).resolve().parent
SINGLE_RUN_FROM = 200  # vertices a side: Blender takes minutes there, and varies by less
# After its first product NumPy keeps a core busy for a tenth of a second, in either program.
WITHOUT_THREADS = {"OPENBLAS_NUM_THREADS": "1"}
HEADER = (
    "| sheet | vertices | runs | Blender ms/frame | Weft ms/frame | Blender / Weft | by CPU "
    "| kB a vertex, Blender | Weft "
    "| stretch p99, Blender | Weft | stretch max, Blender | Weft | inside, Blender | Weft "
    "| crossings, Blender | Weft |\n"
    "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
)
STAGES = ("broad_phase", "contact", "forces", "assembly", "preconditioner", "linear_solve")
PROFILE_HEADER = (
    "\nWhere Weft's time goes, in ms a frame:\n\n"
    "| sheet | vertices | steps a frame | Newton iterations a step | linear ones each | "
    + " | ".join(stage.replace("_", " ") for stage in STAGES)
    + " | us a vertex and Newton iteration |\n|---|--:|--:|--:|--:|"
    + "--:|" * (len(STAGES) + 1)
)
NOTES = """
Both programs start from the same polygons and run the same frames at 24 a second, one after the
other on the same cores. Only the simulation is timed: by the clock, and by the CPU seconds of all
threads, which depend less on what else runs. Blender: default cloth, quality 5; with self collision
its distance is 0.3 of an edge, as its default makes such sheets blow up. Weft: cotton preset,
default settings, through its Python module. Self collision in both where the sheet is called so, in
neither elsewhere. NumPy, which both processes load, is kept from starting threads of its own.
Memory: what the process takes at most in the run more than before the sheet was made, without what
the benchmark keeps; Blender's has its cache of all frames (24 bytes a vertex and frame).
Stretch: edge length over length at rest; the last frame first, the worst frame in brackets.
Distances from a converged motion: of the pinned sheet of 2 500 vertices, the root mean square of
all vertices, from the same program with steps that are much finer.
Inside: cloth vertices inside the polygonal sphere in the worst frame. Crossings: edges that go
through faces in the worst of 24 frames, by exact predicates on the triangles that Blender draws of
the quads, in single precision; of the sheet with itself only where it collides with itself.
"""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blender-python", required=True, help="a Python that imports bpy")
    parser.add_argument("--sizes", default="50,100,200", help="vertices a side, comma separated")
    parser.add_argument("--cases", default=",".join(sheets.CASES))
    parser.add_argument("--frames", type=int, default=120)
    parser.add_argument(
        "--runs", type=int, default=3, help=f"of each; one from {SINGLE_RUN_FROM} a side"
    )
    parser.add_argument("--floor", type=Path, help="a page of the machine's floor, to be added")
    parser.add_argument("--out", type=Path, default=Path("out"))
    return parser.parse_args()


def result(python: str, script: str, *arguments: str) -> dict:
    """Runs a script in a process of its own and returns what it reports."""
    command = [python, FOLDER / script, *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | WITHOUT_THREADS
    )
    rows = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    if done.returncode or len(rows) != 1:
        sys.exit(f"weft: {script} {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    return json.loads(rows[0].removeprefix("RESULT "))


def one_run(python: str, script: str, case: str, side: int, frames: int) -> dict:
    """One sheet with one program."""
    row = result(python, script, case, str(side), "--frames", str(frames))
    row |= {"case": case, "side": side, "frames": frames}
    print(f"  {row['program']:18} {case} {side}x{side}: {row['seconds']:.2f} s", flush=True)
    return row


def table_line(case: str, side: int, blender: list[dict], weft: list[dict]) -> str:
    """One line of the table from the runs of both programs."""

    def pair(figure: str, form: str) -> list[str]:
        if figure not in blender[0]:
            return ["", ""]
        return [form.format(max(row[figure] for row in rows)) for rows in (blender, weft)]

    def stretch(figure: str) -> list[str]:
        last, worst = pair(figure, "{:.4f}"), pair(f"{figure}_worst_frame", "({:.4f})")
        return [f"{at_last} {at_worst}" for at_last, at_worst in zip(last, worst, strict=True)]

    def medians(figure: str) -> list[float]:
        return [statistics.median(row[figure] for row in rows) for rows in (blender, weft)]

    times, cpu_times = medians("seconds"), medians("cpu_seconds")
    frames = blender[0]["frames"] - 1
    cells = [case, f"{side * side}", f"{len(weft)}"]
    cells += [f"{1000.0 * seconds / frames:.1f}" for seconds in times]
    cells += [f"**{times[0] / times[1]:.2f}**", f"{cpu_times[0] / cpu_times[1]:.2f}"]
    cells += [f"{memory / (1e3 * side * side):.1f}" for memory in medians("memory")]
    cells += stretch("stretch_p99") + stretch("stretch_max")
    cells += pair("vertices_inside_worst_frame", "{}") + pair("crossings_worst_frame", "{}")
    return "| " + " | ".join(cells) + " |"


def profile_line(case: str, side: int, row: dict) -> str:
    """One line of the table of stages, from a run of Weft."""
    frames = row["frames"] - 1
    newton = max(row["newton_iterations"], 1)
    cells = [case, f"{side * side}", f"{row['steps'] / frames:.1f}"]
    cells += [f"{newton / row['steps']:.1f}", f"{row['linear_iterations'] / newton:.1f}"]
    cells += [f"{1e3 * row['stages'].get(stage, 0.0) / frames:.1f}" for stage in STAGES]
    cells.append(f"{1e6 * row['seconds'] / newton / (side * side):.2f}")
    return "| " + " | ".join(cells) + " |"


def time_error_lines(row: dict) -> list[str]:
    """Steps and iterations of one program as a table."""
    seconds = [f"{second:g} s" for second in row["seconds"]]
    lines = [f"\n| mm from {row['converged']}, after | " + " | ".join(seconds) + " |"]
    lines.append("|---|" + "--:|" * len(seconds))
    for name, distances in row["distances"].items():
        cells = [name, *(f"{distance:.1f}" for distance in distances)]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    wanted = arguments()
    rows, lines, profile = [], [], []
    floor = [wanted.floor.read_text(encoding="utf-8")] if wanted.floor else []
    for side in map(int, wanted.sizes.split(",")):
        for case in wanted.cases.split(","):
            blender, weft = [], []
            for _ in range(wanted.runs if side < SINGLE_RUN_FROM else 1):
                common = (case, side, wanted.frames)
                blender.append(one_run(wanted.blender_python, "blender_baseline.py", *common))
                weft.append(one_run(sys.executable, "weft_run.py", *common))
            rows += blender + weft
            lines.append(table_line(case, side, blender, weft))
            profile.append(profile_line(case, side, weft[-1]))
    programs = " and ".join(sorted({row["program"] for row in rows}))
    cores = len(os.sched_getaffinity(0))
    title = f"# {programs}, {wanted.frames} frames\n\n{cores} cores, {platform.platform()}\n"
    errors = [
        line
        for python, program in ((wanted.blender_python, "blender"), (sys.executable, "weft"))
        for line in time_error_lines(result(python, "time_error.py", program))
    ]
    text = "\n".join([title, HEADER, *lines, PROFILE_HEADER, *profile, *errors, NOTES, *floor])
    wanted.out.mkdir(exist_ok=True)
    (wanted.out / "bench.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    (wanted.out / "bench.md").write_text(text, encoding="utf-8")
    print("\n" + text)


if __name__ == "__main__":
    main()
