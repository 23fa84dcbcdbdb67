# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs Blender's own cloth and Weft in turn on the garments of a walking body, and judges them.

Prints a table and writes it to out/garments.md. Needs `human_walk.blend`.
"""

import argparse
import os
import platform
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from compare import result

ROOT = Path(__file__).resolve().parents[3]
SCENE = Path(os.environ.get("WEFT_SHARED", ROOT.parent / "shared")) / "data/scenes/human_walk.blend"
PROGRAMS = ("blender", "weft")
HEADER = (
    "| garment | vertices | program | ms/frame | slowest frame over median | ratio "
    "| frames with crossings | the last | edges through the garment, at most | through another "
    "| through the body "
    "| vertices in the body | stretch p99, median frame | p99, worst frame | of any edge |\n"
    "|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
)
NOTES = """
Both programs move the same body, with pins led by its armature and self collision. Time: Blender,
that of setting each frame; Weft, that of the bake with the operator of its add-on, which reads the
scene, solves, and makes the result. Blender: default cloth, quality 5, default distances but for
that of self collision, 0.3 of an edge. Weft: cotton preset, default settings. Every frame is judged
as Blender evaluates it, in the triangles that it draws, by exact predicates: edges that go through
faces, but for faces of the body that cross the body there. Nothing is prepared for the judge.
Stretch: edge length over length in the first frame. Trousers: the body's own surface from waist to
ankles, moved outwards by an ease, so that they start crossed where legs meet, after the fix of
*Check Scene* for concave faces; they are led at the waistband. Garments over each other, the outer
one first, start as they are, and may cross; layers are set in their order.
"""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blender-python", required=True, help="a Python that imports bpy")
    parser.add_argument("--garments", default="Dress,Tshirt", help="A+B: A over B")
    parser.add_argument("--cuts", default="0,1", help="of every edge, comma separated")
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--frames", type=int, default=120)
    parser.add_argument("--ease", type=float, default=0.016, help="of Trousers, in m")
    parser.add_argument("--touching", type=float, default=0.0, help="thicken thighs by, in m")
    parser.add_argument("--out", type=Path, default=Path("out"))
    return parser.parse_args()


def one_run(wanted: argparse.Namespace, program: str, garment: str, cuts: int) -> dict:
    """A garment with a program, in a process of its own."""
    options = ["--cuts", str(cuts), "--frames", str(wanted.frames)]
    options += ["--ease", str(wanted.ease), "--touching", str(wanted.touching)]
    row = result(wanted.blender_python, "garments/walk_run.py", program, garment, *options)
    frames = row["frames"]
    row |= {name: np.array([frame[name] for frame in frames]) for name in frames[0]}
    row["seconds"] = row["reading"] + row["solving"]
    print(f"  {row['program']}, {garment}: {row['seconds'].mean():.3f} s a frame", flush=True)
    return row


def table_line(garment: str, row: dict, first: dict) -> str:
    """Results of one program beside those of the program that ran first."""
    seconds = row["seconds"]
    ratio = first["seconds"].mean() / seconds.mean()
    crossed = 2 + np.flatnonzero(row["itself"] + row["other"] + row["body"])
    cells = [garment, str(row["vertices"]), row["program"], f"{1e3 * seconds.mean():.0f}"]
    cells.append(f"{seconds.max() / np.median(seconds):.1f}")
    cells += ["" if row is first else f"**{ratio:.1f}**", str(len(crossed))]
    cells.append(str(crossed[-1]) if len(crossed) else "")
    cells += [str(int(row[figure].max())) for figure in ("itself", "other", "body", "inside")]
    stretches = (np.median(row["stretch"]), row["stretch"].max(), row["max_stretch"].max())
    cells += [f"{100.0 * stretch:.1f} %" for stretch in stretches]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    wanted = arguments()
    if not SCENE.is_file():
        print(f"weft: no '{SCENE}': set WEFT_SHARED to the folder that has data/scenes")
        return
    lines = []
    for cuts in map(int, wanted.cuts.split(",")):
        for garment in wanted.garments.split(","):
            rows = [
                one_run(wanted, program, garment, cuts) for program in wanted.programs.split(",")
            ]
            lines += [table_line(garment, row, rows[0]) for row in rows]
    cores = len(os.sched_getaffinity(0))
    title = f"# Garments on a walking body, {wanted.frames} frames\n"
    text = "\n".join([title, f"{cores} cores, {platform.platform()}\n", HEADER, *lines, NOTES])
    wanted.out.mkdir(exist_ok=True)
    (wanted.out / "garments.md").write_text(text, encoding="utf-8")
    print("\n" + text)


if __name__ == "__main__":
    main()
