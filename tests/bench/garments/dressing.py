# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sewing patterns of others on the body that they were drawn for: sewn, worn and judged.

Weft with the operators of its add-on, Blender's own cloth with its sewing springs. Prints a table
and writes it to out/dressing.md after every run. Needs `shared/data/patterns`.
"""

import argparse
import math
import os
import platform
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from compare import result

ROOT = Path(__file__).resolve().parents[3]
FOLDER = Path(os.environ.get("WEFT_SHARED", ROOT.parent / "shared")) / "data/patterns"
PATTERNS = ("shirt_mean", "hoody_mean", "dress_pencil", "js_mean_all")
HOOD, WAIST = "hoody", 1.1  # name of what is over the head; height of the body's waist in m
NEAR = {
    "shoulders": (-0.01, 0.03),
    "head": (0.0, 0.05),
    "waist": (-0.05, 0.05),
}  # m, beside the body
CLOSED, STRETCH = 1e-5, 0.03  # widest gap of a closed seam in m, largest median stretch
HEADER = (
    "| pattern | edge, cm | vertices sewn | program | start | verdict | s sewing | s in all "
    "| s a frame afterwards | crossings worn: itself, body | frames with crossings, the most "
    "| gap at the weld, mm | widest gap, mm | stretch: median, p99 | lowest, highest, m "
    "| over the shoulders, mm | top of the lower panels, m |\n"
    "|---|--:|--:|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
)
NOTES = """
Start: 1 as in the file, others displaced at random: each panel by up to 10 mm along each axis and
turned by up to 2 degrees, or each vertex by up to 1.5 mm, which stretches the panels. Judged when
worn and at every frame afterwards, as Blender evaluates it, in the triangles that it draws, by
exact predicates: edges that go through faces, but for faces of the body that cross the body there,
and for an edge and a face that are sewn together. Gap: distance of two vertices that are sewn
together; welded ones have none. Stretch: largest principal stretch of a triangle against its panel,
in the last frame, as are heights. Worn where it belongs: the highest vertex of the torso on each
shoulder from 1 cm below to 3 cm above that of the body there, a hood up to 5 cm over the head, the
top of skirts and trousers within 5 cm of the waist at 1.1 m. The verdict asks for no crossing, gaps
up to 0.01 mm, a median stretch of less than 3 % and that place in all frames. Blender: quality 5,
collision quality 2, sewing force 5; 84 frames without gravity, 12 with it, then the frames
afterwards.
"""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blender-python", required=True, help="a Python that imports bpy")
    parser.add_argument("--patterns", default=",".join(PATTERNS))
    parser.add_argument("--edge-lengths", default="0.02", help="in m, comma separated")
    parser.add_argument("--seeds", default="1", help="of the start; 1 as in the file")
    parser.add_argument("--moved", default="panels", help="by the seed: vertices, panels")
    parser.add_argument("--programs", default="weft", help="weft, blender")
    parser.add_argument("--frames", type=int, default=48, help="after the dressing")
    parser.add_argument("--out", type=Path, default=Path("out"))
    parser.add_argument("--save", action="store_true", help="a .blend file of each run beside it")
    return parser.parse_args()


def faults(pattern: str, row: dict) -> list[str]:
    """What keeps a garment from being worn as it should, in all frames."""
    found, figures = [], row["figures"]
    if (figures["itself"] + figures["body"]).any():
        found.append("crosses")
    if figures["gap"].max() > CLOSED:
        found.append("open")
    if figures["median"].max() >= STRETCH:
        found.append("stretched")
    if not all(is_in_place(pattern, frame) for frame in row["frames"]):
        found.append("elsewhere")
    return found


def is_in_place(pattern: str, frame: dict) -> bool:
    """Whether the garment lies on shoulders, head and waist, as far as it should."""
    places = [("shoulders", height) for height in frame["shoulders"]]
    if pattern.startswith(HOOD):
        places.append(("head", frame["highest"] - frame["head"]))
    if math.isfinite(frame["waist"]):
        places.append(("waist", frame["waist"] - WAIST))
    return all(NEAR[name][0] <= height <= NEAR[name][1] for name, height in places)


def rounded(value: float, digits: int) -> str:
    """A figure with so many decimals, nothing for one that there is not."""
    return f"{value:.{digits}f}" if math.isfinite(value) else ""


def table_line(pattern: str, edge_length: float, seed: int, row: dict) -> str:
    """Results of one run."""
    figures, last = row["figures"], row["frames"][-1]
    crossed = figures["itself"] + figures["body"]
    gap = row.get("weld_gap", math.nan)
    cells = [pattern, f"{100.0 * edge_length:g}", str(row["vertices"]), row["program"], str(seed)]
    cells += [", ".join(faults(pattern, row)) or "worn", rounded(row["sewing"], 0)]
    cells += [f"{figures['seconds'][0]:.0f}", f"{figures['seconds'][1:].mean():.2f}"]
    cells.append(f"{figures['itself'][0]}, {figures['body'][0]}")
    cells.append(f"{np.count_nonzero(crossed[1:])}, {crossed[1:].max(initial=0)}")
    cells += [rounded(1e3 * gap, 3), f"{1e3 * figures['gap'].max():.3f}"]
    cells.append(f"{100.0 * last['median']:.1f} %, {100.0 * last['p99']:.1f} %")
    cells.append(f"{last['lowest']:.2f}, {last['highest']:.2f}")
    cells.append(", ".join(f"{1e3 * height:.0f}" for height in last["shoulders"]))
    cells.append(rounded(last["waist"], 2))
    return "| " + " | ".join(cells) + " |"


def one_run(wanted: argparse.Namespace, program: str, pattern: str, length: str, seed: str) -> dict:
    """A pattern with a program, in a process of its own."""
    options = ["--edge-length", length, "--seed", seed, "--frames", str(wanted.frames)]
    options += ["--moved", wanted.moved]
    if wanted.save:
        name = f"dressing_{program}_{pattern}_{length}_{wanted.moved}_{seed}.blend"
        options += ["--save", str((wanted.out / name).resolve())]
    row = result(wanted.blender_python, "garments/dressing_run.py", program, pattern, *options)
    frames, names = row["frames"], ("seconds", "itself", "body", "gap", "median")
    row["figures"] = {name: np.array([frame[name] for frame in frames]) for name in names}
    return row


def written(wanted: argparse.Namespace, lines: list[str]) -> str:
    """The page so far."""
    title = f"# Sewing patterns on their body, {wanted.frames} frames afterwards\n"
    machine = f"{len(os.sched_getaffinity(0))} cores, {platform.platform()}\n"
    text = "\n".join([title, machine, HEADER, *lines, NOTES])
    wanted.out.mkdir(exist_ok=True)
    (wanted.out / "dressing.md").write_text(text, encoding="utf-8")
    return text


def main() -> None:
    wanted, lines = arguments(), []
    if not FOLDER.is_dir():
        print(f"weft: no '{FOLDER}': set WEFT_SHARED to the folder that has data/patterns")
        return
    cases = [
        (program, pattern, length, seed)
        for program in wanted.programs.split(",")
        for length in wanted.edge_lengths.split(",")
        for seed in wanted.seeds.split(",")
        for pattern in wanted.patterns.split(",")
        if program == "weft" or seed == "1"  # Blender takes the start as the shape at rest
    ]
    for program, pattern, length, seed in cases:
        row = one_run(wanted, program, pattern, length, seed)
        lines.append(table_line(pattern, float(length), int(seed), row))
        print(lines[-1], row["told"], flush=True)
        written(wanted, lines)
    print("\n" + written(wanted, lines))


if __name__ == "__main__":
    main()
