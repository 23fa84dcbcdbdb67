# SPDX-License-Identifier: MIT OR Apache-2.0
"""Patterns that others drew, and the body that they were drawn for, where they are present."""

import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import weft

ROOT = Path(__file__).resolve().parents[3]
FOLDER = Path(os.environ.get("WEFT_SHARED", ROOT.parent / "shared")) / "data/patterns"
NAMES = ("shirt_mean", "dress_pencil", "hoody_mean", "js_mean_all")
COUNTS = {
    "shirt_mean": (8, 18),
    "dress_pencil": (6, 23),
    "hoody_mean": (6, 12),
    "js_mean_all": (12, 57),
}


def path(name: str) -> Path:
    """A file of theirs; skips the test where there is none."""
    if not FOLDER.is_dir():
        pytest.skip(f"no patterns in {FOLDER}: set WEFT_SHARED")
    return FOLDER / name


def pattern(name: str) -> weft.Pattern:
    return weft.Pattern.read(path(f"{name}_specification.json"))


def body() -> weft.Collider:
    """The body, y up in its file and z up here."""
    lines = path("mean_all.obj").read_text(encoding="utf-8").splitlines()
    words = [line.split() for line in lines]
    points = np.array([word[1:4] for word in words if word[:1] == ["v"]], dtype=float)
    corners = [[int(c.split("/")[0]) - 1 for c in word[1:]] for word in words if word[:1] == ["f"]]
    triangles = [[face[0], *pair] for face in corners for pair in pairwise(face[1:])]
    return weft.Collider(points[:, [0, 2, 1]] * (1, -1, 1), triangles)
