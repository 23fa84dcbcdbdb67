# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs hostile scenes at length and writes a table of the results.

    python tests/hostile/soak.py                       everything, into out/soak.md
    python tests/hostile/soak.py --quick               in the form that the tests use
    python tests/hostile/soak.py --scene ten_layers --frames 48 --sizes 10,20,30
    python tests/hostile/soak.py --scene chance_still --sizes 129      (of these a size is a seed)
    python tests/hostile/soak.py --chance 600 --first 1000             (seeds from 1000 on, 600 s)
    python tests/hostile/soak.py --measure friction_on_cloth

Each scene runs in a process of its own, so that none can end the others. Beside the table lie, in
out/hostile, a line of JSON for every frame, and the first frame that failed. `python
tests/hostile/look.py` makes pictures of such files, and of those that --record keeps.
"""

import argparse
import itertools
import json
import subprocess
import sys
import time
import traceback
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

import numpy as np
from families import RECIPES
from harness import PATIENCE, Frame, Result, Run, frames_as_arrays
from rest import MEASURES, Figure

CHANCE = "chance_"  # prefix of scenes whose size is a seed
HEADER = (
    "| scene | vertices | frames | s/frame | steps | rejected | Newton/step | most Newton a frame "
    "| contacts | stretch | intersections | strayed | verdict |"
)


@dataclass
class Row:
    """A line of the table; sums and largest values over all frames."""

    scene: str
    vertices: int
    frames: int
    seconds_per_frame: float
    steps: int
    rejected: int
    newton_per_step: float
    most_newton: int
    contacts: int
    stretch: float
    intersections: int
    strayed: int
    verdict: str

    def __str__(self) -> str:
        values = [getattr(self, each.name) for each in fields(self)]
        return "| " + " | ".join(_shown(value) for value in values) + " |"


def _shown(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def row(result: Result) -> Row:
    """The line of a scene that was run."""
    frames = result.frames
    steps = sum(frame.steps for frame in frames)

    def largest(name: str) -> float:
        return max((getattr(frame, name) for frame in frames), default=0)

    return Row(
        scene=result.scene,
        vertices=result.vertices,
        frames=len(frames),
        seconds_per_frame=sum(frame.wall for frame in frames) / max(1, len(frames)),
        steps=steps,
        rejected=sum(frame.rejected for frame in frames),
        newton_per_step=sum(frame.newton for frame in frames) / max(1, steps),
        most_newton=largest("newton"),
        contacts=largest("contacts"),
        stretch=float(largest("max_stretch")),
        intersections=max(largest("intersections"), largest("intersections_float32")),
        strayed=largest("strayed"),
        verdict=result.verdict,
    )


def run_here(options: argparse.Namespace, size: int) -> Result:
    """Runs one scene in this process."""
    recipe = RECIPES[options.scene]
    length = recipe.quick if options.quick else recipe.soak
    scene = recipe.build(size, length.seconds)
    frames = options.frames or round(length.seconds * scene.frame_rate)
    folder = options.out / "hostile"
    run = Run(options.scene, scene, folder, **json.loads(options.settings))
    result = run.go(
        frames,
        record=options.record,
        patience=options.patience,
        tell=lambda failure: print(failure, flush=True),
    )
    if options.record:
        path = folder / f"{run.label}.npz"
        np.savez_compressed(path, **frames_as_arrays(scene, run.recorded))
        print(f"kept {len(run.recorded)} frames in {path}")
    return result


def run_alone(options: argparse.Namespace) -> bool:
    """Runs one scene in one or several sizes, prints what failed, and the lines of the table."""
    recipe = RECIPES[options.scene]
    usual = (recipe.quick if options.quick else recipe.soak).size
    rows = []
    for size in options.sizes or [usual]:
        result = run_here(options, size)
        rows.append(row(result))
    if options.row:
        options.row.write_text(json.dumps([asdict(each) for each in rows]))
    else:
        print(HEADER, *rows, sep="\n")
    return all(each.verdict == "ok" for each in rows)


def measure_alone(options: argparse.Namespace) -> bool:
    """Takes one group of figures and prints them."""
    figures = MEASURES[options.measure](options.quick)
    if options.row:
        options.row.write_text(json.dumps([asdict(figure) for figure in figures]))
    print(*figures, sep="\n")
    return all(figure.ok for figure in figures)


def in_process(kind: str, name: str, options: argparse.Namespace, *more: str) -> list[dict] | str:
    """Runs a scene or a measure in another process, which may end as it likes.

    `more` are arguments for it. Returns its answer, or a sentence on why there is none.
    """
    answer = options.out / "hostile" / f"{name}.answer"
    for stale in [answer, *answer.parent.glob(f"{name}-*.jsonl")]:
        stale.unlink(missing_ok=True)
    command = [sys.executable, __file__, f"--{kind}", name, "--row", str(answer)]
    command += ["--out", str(options.out), "--settings", options.settings]
    command += ["--patience", str(options.patience), *["--quick"] * options.quick]
    command += ["--frames", str(options.frames)] if options.frames else []
    command += more
    with (options.out / "hostile" / f"{name}.log").open("w") as log:
        try:
            done = subprocess.run(
                command, stdout=log, stderr=subprocess.STDOUT, timeout=options.limit, check=False
            )
        except subprocess.TimeoutExpired:
            return f"not done in {options.limit:.0f} s"
    if not answer.exists():
        return f"ended with {done.returncode}"
    found = json.loads(answer.read_text())
    answer.unlink()
    return found


def scene_in_process(name: str, options: argparse.Namespace, *more: str) -> list[Row]:
    found = in_process("scene", name, options, *more)
    if isinstance(found, str):
        so_far = row(written(name, options.out / "hostile"))
        return [replace(so_far, verdict=f"{found}; {so_far.verdict} so far")]
    return [Row(**each) for each in found]


def written(name: str, folder: Path) -> Result:
    """Lines that a failed run had written, and the end of its log."""
    result = Result(name, 0)
    told = (folder / f"{name}.log").read_text().splitlines()
    result.failures = [line for line in told if line.startswith("frame ")]
    for path in folder.glob(f"{name}-*.jsonl"):
        result.vertices = int(path.stem.rpartition("-")[2])
        accounts = [json.loads(line) for line in path.read_text().splitlines()]
        for account in accounts:
            del account["scene"]
        result.frames = [Frame(**account) for account in accounts]
    return result


def measure_in_process(name: str, options: argparse.Namespace) -> list[Figure]:
    found = in_process("measure", name, options)
    if isinstance(found, str):
        return [Figure(f"{name}: {found}", float("nan"), 0.0, 0.0)]
    return [Figure(**each | {"name": f"{name}: {each['name']}"}) for each in found]


def write_table(path: Path, rows: list[Row], figures: list[Figure], seconds: float) -> None:
    """The tables so far."""
    good = sum(each.verdict == "ok" for each in rows)
    lines = [
        "# Hostile scenes",
        "",
        f"{good} of {len(rows)} hold, in {seconds / 60.0:.1f} minutes. Contacts, intersections and "
        "strayed are the largest number in any frame, most of them counted in float64 and after "
        "rounding to float32. What was found in each frame is in `hostile/`.",
        "",
        HEADER,
        "|" + " --- |" * (HEADER.count("|") - 1),
        *map(str, rows),
        "",
        "| figure | value | from | to | verdict |",
        "| --- | --- | --- | --- | --- |",
        *(
            f"| {each.name} | {each.value:.6g} | {each.low:.6g} | {each.high:.6g} "
            f"| {'ok' if each.ok else 'out of range'} |"
            for each in figures
        ),
    ]
    path.write_text("\n".join(lines) + "\n")


def run_all(options: argparse.Namespace) -> bool:
    """Runs everything, whatever happens, and writes the tables after each."""
    (options.out / "hostile").mkdir(parents=True, exist_ok=True)
    rows, figures, clock = [], [], time.monotonic()
    for name in [name for name in RECIPES if options.match in name]:
        rows += scene_in_process(name, options)
        print(rows[-1], flush=True)
        write_table(options.out / "soak.md", rows, figures, time.monotonic() - clock)
    for name in [name for name in MEASURES if options.match in name]:
        figures += measure_in_process(name, options)
        print(*figures[-1:], sep="\n", flush=True)
        write_table(options.out / "soak.md", rows, figures, time.monotonic() - clock)
    return all(each.verdict == "ok" for each in rows) and all(each.ok for each in figures)


def run_by_chance(options: argparse.Namespace) -> bool:
    """Runs scenes by chance, seed after seed, until the time is up; tells those that failed."""
    (options.out / "hostile").mkdir(parents=True, exist_ok=True)
    names = [name for name in RECIPES if name.startswith(CHANCE) and options.match in name]
    end, count, bad = time.monotonic() + options.chance, 0, 0
    for seed in itertools.count(options.first):
        for name in names:
            (found,) = scene_in_process(name, options, "--sizes", str(seed))
            count += 1
            if found.verdict != "ok":
                bad += 1
                print(replace(found, scene=f"--scene {name} --sizes {seed}"), flush=True)
        if time.monotonic() >= end:
            break
    print(f"{count} scenes by chance, from seed {options.first} on: {bad} failed")
    return bad == 0


def sizes(text: str) -> list[int]:
    """Numbers with commas between."""
    return [int(each) for each in text.split(",")]


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scene", choices=RECIPES, help="only this one, in this process")
    parser.add_argument("--measure", choices=MEASURES, help="only these figures")
    parser.add_argument("--match", default="", help="only what has this in its name")
    parser.add_argument("--frames", type=int, help="instead of the usual number")
    parser.add_argument("--sizes", type=sizes, help="vertices along a side, with commas between")
    parser.add_argument("--chance", type=float, help="s for scenes by chance, and only those")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first of them")
    parser.add_argument("--quick", action="store_true", help="in the short form of the tests")
    parser.add_argument("--settings", default="{}", help='more settings, such as {"threads": 1}')
    parser.add_argument("--record", action="store_true", help="keep all frames, for look.py")
    parser.add_argument("--patience", type=int, default=PATIENCE, help="stalled frames to bear")
    parser.add_argument("--limit", type=float, default=1800.0, help="s for a scene among all")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for what is written")
    parser.add_argument("--row", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--list", action="store_true", help="names of everything")
    return parser.parse_args(arguments)


def main() -> int:
    options = parsed(sys.argv[1:])
    if options.list:
        print(*RECIPES, *MEASURES, sep="\n")
        return 0
    try:
        if options.scene:
            good = run_alone(options)
        elif options.chance is not None:
            good = run_by_chance(options)
        else:
            good = measure_alone(options) if options.measure else run_all(options)
    except Exception:
        traceback.print_exc()
        return 2
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
