# SPDX-License-Identifier: MIT OR Apache-2.0
"""Growth of time and memory with the vertices of a sheet, and speed-up by a second thread.

Prints tables and writes them to out/growth.md. The power is that of the line that fits best, both
scales being logarithmic. Runs with one and with two threads must give the same bits.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import sheets
from compare import result

THREADS = (1, 2)
PAIRED_TO = 100  # vertices a side: larger sheets are not run with one thread


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="50,100,200,400", help="vertices a side")
    parser.add_argument("--cases", default=",".join(sheets.CASES))
    parser.add_argument("--frames", type=int, default=120)
    parser.add_argument("--early", type=int, default=24, help="first frames that are looked at too")
    parser.add_argument("--out", type=Path, default=Path("out"))
    return parser.parse_args()


def one_run(case: str, side: int, frames: int, threads: int = 0) -> dict:
    """One sheet, in a process of its own."""
    options = ("--frames", str(frames), "--threads", str(threads), "--unmeasured")
    row = result(sys.executable, "weft_run.py", case, str(side), *options)
    print(f"  {case} {side}x{side}, {frames} frames: {row['seconds']:.2f} s", flush=True)
    return row


def power(vertices: list[int], seconds: list[float]) -> float:
    """With which power of the number of vertices time grows."""
    return float(np.polyfit(np.log(vertices), np.log(seconds), 1)[0])


def growth_lines(case: str, sides: list[int], wanted: argparse.Namespace) -> list[str]:
    """Time and memory of one case at all sizes, and the powers."""
    lines, times, early = [], [], []
    for side in sides:
        row = one_run(case, side, wanted.frames)
        times.append(row["seconds"] / (wanted.frames - 1))
        early.append(float(np.mean(row["frame_seconds"][: wanted.early])))
        memory = row["memory"] / side**2
        cells = [case, f"{side**2}", f"{1e3 * times[-1]:.1f}", f"{1e3 * early[-1]:.1f}"]
        cells += [f"{row['newton_iterations'] / (wanted.frames - 1):.1f}", f"{memory / 1e3:.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
    counts = [side**2 for side in sides]
    if len(counts) > 1:
        powers = [f"**{power(counts, seconds):.2f}**" for seconds in (times, early)]
        lines.append(f"| power | | {powers[0]} | {powers[1]} | | |")
    return lines


def thread_line(case: str, side: int, frames: int) -> str:
    """Speed-up by a second thread, measured twice so that a busy moment does not decide."""
    rows = [one_run(case, side, frames, threads) for _ in range(2) for threads in THREADS]
    if len({row["digest"] for row in rows}) > 1:
        sys.exit(f"weft: {case} {side}x{side} depends on the number of threads")
    one, two = (min(row["seconds"] for row in rows[start::2]) for start in range(2))
    times = [f"{1e3 * seconds / (frames - 1):.1f}" for seconds in (one, two)]
    return f"| {case} | {side**2} | {times[0]} | {times[1]} | **{one / two:.2f}** |"


def main() -> None:
    wanted = arguments()
    sides = [int(side) for side in wanted.sizes.split(",")]
    cases = wanted.cases.split(",")
    lines = [
        f"# Weft, {wanted.frames} frames\n",
        f"| sheet | vertices | ms a frame | in the first {wanted.early} "
        "| Newton iterations a frame | kB a vertex |\n|---|--:|--:|--:|--:|--:|",
    ]
    for case in cases:
        lines += growth_lines(case, sides, wanted)
    lines.append(
        "\n| sheet | vertices | ms a frame, one thread | two | ratio |\n|---|--:|--:|--:|--:|"
    )
    for case in cases:
        paired = [side for side in sides if side <= PAIRED_TO]
        lines += [thread_line(case, side, wanted.frames) for side in paired]
    text = "\n".join([*lines, ""])
    wanted.out.mkdir(exist_ok=True)
    (wanted.out / "growth.md").write_text(text, encoding="utf-8")
    print("\n" + text)


if __name__ == "__main__":
    main()
