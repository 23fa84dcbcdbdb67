# SPDX-License-Identifier: MIT OR Apache-2.0
"""Etzmuss 2002, section 2.7: trimmed surfaces and curvilinear patterns against other meshes."""

from functools import partial

import numpy as np
from page import AGREES, DIFFERS, Finding, Table

from . import panels

EDGE_LENGTH = 0.015
ALIKE = 0.02  # what the task of the comparison allows
# Outline, height in m above which it is held, and length that it hangs down.
HUNG = {
    "circle": (panels.CIRCLE, 0.15),
    "trouser front": (panels.TROUSER_FRONT, 0.93),
    "sleeve": (panels.SLEEVE, 0.47),
}
STARTS = {
    "over the edge of a table": panels.level,
    "from a cylinder of 12 cm": partial(panels.around_cylinder, radius=0.12),
}
HEAD = ["panel", "held", "vertices, trimmed", "meshed", "mean distance, %", "largest, %"]


def held_line(sheet: panels.Sheet, height: float) -> float:
    """The middle between two rows of a grid near a height, so that both meshes hold one row."""
    rows = np.unique(np.round(sheet.flat[:, 1], 9))
    row = int(np.argmin(np.abs(rows - height)))
    return float(0.5 * (rows[row - 1] + rows[row]))


def trimmed_surfaces() -> Finding:
    """A circle, a trouser front and a sleeve, in a grid and meshed."""
    rows, largest = [], 0.0
    for name, (outline, height) in HUNG.items():
        cut = panels.pattern(outline)
        sheets = panels.trimmed(cut, EDGE_LENGTH), panels.meshed(cut, EDGE_LENGTH)
        held = held_line(sheets[0], height)
        counts = [len(sheet.flat) for sheet in sheets]
        for place, start in STARTS.items():
            found = panels.compared(sheets, held, start)
            largest = max(largest, found.largest)
            rows.append((name, place, *counts, 100.0 * found.mean, 100.0 * found.largest))
    return Finding(
        name="Trimmed and meshed panels",
        source="Etzmuss 2002, section 2.7, figure 2.8",
        statement="For surfaces topologically equivalent to a disc the restriction to rectangular "
        "meshes can be overcome by trimmed surfaces: a triangle mesh inscribed in a rectangular "
        "one, which moves with it.",
        measured=f"A circle, a trouser front and a sleeve hang as they do meshed: no point is more "
        f"than {100.0 * largest:.2g} % of the hanging length away.",
        verdict=AGREES if largest < ALIKE else DIFFERS,
        why="The document inscribes a mesh and says nothing of the cloth beyond the outline. Here "
        "the corners of a cell have the mass and stiffness of the cloth that they share, by the "
        "integrals of their shape functions. The particle system has the grid, linear triangles "
        "(fem) the other mesh, so both models are compared as well. Panels with cut-outs do, too; "
        "the document excludes them.",
        tables=[Table("Distances at rest, over the length below the held line", HEAD, rows)],
    )


def curvilinear_pattern() -> Finding:
    """The front of a dress between its four sides, and inscribed in a grid."""
    rows, largest = [], 0.0
    cut = panels.pattern(panels.DRESS_FRONT)
    sheets = panels.trimmed(cut, EDGE_LENGTH), panels.curvilinear(cut, EDGE_LENGTH)
    held = held_line(sheets[0], 0.48)
    counts = [len(sheet.flat) for sheet in sheets]
    for place, start in STARTS.items():
        found = panels.compared(sheets, held, start)
        largest = max(largest, found.largest)
        rows.append(("dress front", place, *counts, 100.0 * found.mean, 100.0 * found.largest))
    head = [*HEAD[:3], "curvilinear", *HEAD[4:]]
    return Finding(
        name="The front of a dress on curvilinear coordinates",
        source="Etzmuss 2002, section 2.7, figure 2.9",
        statement="Most clothes can be assembled from quadrilateral patterns, whose faces are close "
        "to rectangles such that the approximation of the physical properties is fairly good.",
        measured=f"It hangs as on a regular grid along the yarns: no point is more than "
        f"{100.0 * largest:.2g} % of the hanging length away.",
        verdict=AGREES if largest < ALIKE else DIFFERS,
        why="The particle system measures along the yarns and not along the lines of the grid.",
        tables=[Table("Distances at rest, over the length below the held line", head, rows)],
    )


ALL = (trimmed_surfaces, curvilinear_pattern)
