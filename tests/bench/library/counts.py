# SPDX-License-Identifier: MIT OR Apache-2.0
"""Counts the instructions of the hot kernels with valgrind, and compares them with those kept.

A count hardly depends on what else the machine does. It depends on the compiler and on the
registers that valgrind offers, so both are kept along with the counts. Differences are reported
and never an error. `--keep` keeps the new counts; `--only product` counts some kernels.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
KEPT = FOLDER / "counts.json"
TOLERANCE = 0.03
BUILD = "cargo bench --no-default-features --no-run --bench kernels --message-format json"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", action="store_true", help=f"into {KEPT.name}")
    parser.add_argument("--only", default="", help="kernels, comma separated")
    parser.add_argument("--out", type=Path, default=Path("out"))
    return parser.parse_args()


def build() -> str:
    """Builds the bench and returns its executable."""
    done = subprocess.run(BUILD.split(), stdout=subprocess.PIPE, text=True, check=False)
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    built = [message["executable"] for message in messages if message.get("executable")]
    if done.returncode or not built:
        sys.exit("weft: the bench of the kernels cannot be built")
    return built[-1]


def count(executable: str, kernel: str) -> int:
    """Instructions of one run of a kernel, on one thread."""
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "profile"
        command = ["valgrind", "--tool=callgrind", "--toggle-collect=*counted_region*"]
        command += [f"--callgrind-out-file={profile}", executable, "--count", kernel]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        text = profile.read_text(encoding="utf-8") if profile.exists() else ""
    found = re.search(r"^(?:summary|totals): (\d+)", text, re.MULTILINE)
    if done.returncode or not found or found[1] == "0":
        sys.exit(f"weft: valgrind cannot count {kernel}:\n{done.stdout}{done.stderr[-2000:]}")
    return int(found[1])


def line(kernel: str, new: int, old: int | None, vertices: int) -> str:
    """One line of the table."""
    change = new / old - 1.0 if old else 0.0
    cells = [kernel, f"{new}", f"{new / vertices:.0f}", f"{old}" if old else ""]
    cells.append(f"{100.0 * change:+.1f} %" if old else "new")
    cells.append("" if abs(change) <= TOLERANCE else "**more**" if change > 0.0 else "less")
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    wanted = arguments()
    if not shutil.which("valgrind"):
        print("weft: no valgrind, so instructions are not counted (Debian: apt install valgrind)")
        return
    executable = build()
    listed = subprocess.run([executable, "--names"], capture_output=True, text=True, check=True)
    vertices, *kernels = listed.stdout.split()
    only = [name for name in wanted.only.split(",") if name]
    counts = {name: count(executable, name) for name in kernels if not only or name in only}
    compiler = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True)
    valgrind = subprocess.run(["valgrind", "--version"], capture_output=True, text=True, check=True)
    setting = f"{compiler.stdout.strip()}, {valgrind.stdout.strip()}, {vertices} vertices"
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {"counts": {}}
    text = f"Instructions of one run on one thread; {setting}:\n\n"
    if kept.get("setting", setting) != setting:
        text += f"Those kept are from another setting: {kept['setting']}.\n\n"
    text += "| kernel | instructions | a vertex | kept | change | |\n|---|--:|--:|--:|--:|---|\n"
    old = kept["counts"]
    text += "\n".join(line(name, new, old.get(name), int(vertices)) for name, new in counts.items())
    print("\n" + text)
    wanted.out.mkdir(exist_ok=True)
    (wanted.out / "counts.md").write_text(text + "\n", encoding="utf-8")
    if wanted.keep:
        content = {"setting": setting, "counts": {**old, **counts}}
        KEPT.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
