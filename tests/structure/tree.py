# SPDX-License-Identifier: MIT OR Apache-2.0
"""Files of the project, without what is built from them."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILT = {"target", "out", "wheels", "__pycache__"}
BINARY = {".png", ".jpg"}


def entries(folder: Path) -> list[Path]:
    """Files and folders in a folder, sorted by name."""
    kept = (path for path in folder.iterdir() if path.name not in BUILT and path.name[0] != ".")
    return sorted(kept)


def folders(root: Path = ROOT) -> list[Path]:
    """All folders below `root`, itself included."""
    return [root, *(f for path in entries(root) if path.is_dir() for f in folders(path))]


def files(*suffixes: str, below: Path = ROOT) -> list[Path]:
    """All files below a folder, with one of the suffixes if any are given."""
    found = (path for folder in folders(below) for path in entries(folder) if path.is_file())
    return [path for path in found if not suffixes or path.suffix in suffixes]


def name(path: Path) -> str:
    """A path relative to the project."""
    return path.relative_to(ROOT).as_posix()


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def layers(part: str) -> dict[str, int]:
    """Rank of each folder of `src` or `addon` by docs/architecture.md, 0 at the top.

    Folders in one row of the table of `src` share a rank.
    """
    page = text(ROOT / "docs/architecture.md")
    if part == "src":
        table = page.split("## Folders of `src`")[1].split("\n## ")[0]
        rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    else:
        rows = re.split(",", page.split(f"folders of `{part}`, from the top: ")[1].split(". ")[0])
    return {folder: rank for rank, row in enumerate(rows) for folder in re.findall(r"`(\w+)`", row)}
