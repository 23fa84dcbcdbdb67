# SPDX-License-Identifier: MIT OR Apache-2.0
"""Etzmuss 2002, section 2.7: trimmed surfaces and curvilinear patterns against other meshes."""

import numpy as np
from page import AGREES, DIFFERS, Finding, Table

from . import panels

EDGE_LENGTH, COARSE = 0.015, 0.025  # m
ALIKE = 0.02  # what the task of the comparison allows
# Outline, and height in m above which it is held. Outlines cross that line steeply: a vertex of a
# grid that is held beyond an outline holds all cloth in its cells.
HUNG = {
    "circle": (panels.CIRCLE, 0.05),
    "trouser front": (panels.TROUSER_FRONT, 0.93),
    "sleeve": (panels.SLEEVE, 0.36),
}
STARTS = {
    "over the edge of a table": panels.over_edge,
    "around a cylinder": panels.around_cylinder,
}
HEAD = ["panel", "held", "vertices, trimmed", "meshed", "mean distance, %", "largest, %"]


def held_line(sheet: panels.Sheet, height: float) -> float:
    """The row of a grid nearest to a height, in m."""
    rows = np.unique(np.round(sheet.flat[:, 1], 9))
    return float(rows[np.argmin(np.abs(rows - height))])


def both_ways(name: str, edge_length: float) -> tuple[panels.Sheet, panels.Sheet, float]:
    """A panel trimmed and meshed, and the line with vertices of both above which it is held."""
    outline, height = HUNG[name]
    trimmed = panels.trimmed(panels.pattern(outline), edge_length)
    held = held_line(trimmed, height)
    return trimmed, panels.meshed(panels.pattern(outline, held), edge_length), held


def trimmed_surfaces() -> Finding:
    """A circle, a trouser front and a sleeve, in a grid and meshed."""
    rows, largest = [], 0.0
    for name in HUNG:
        *sheets, held = both_ways(name, EDGE_LENGTH)
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


def between_sides(edge_length: float) -> tuple[panels.Sheet, panels.Sheet, float]:
    """The front of a skirt on curvilinear coordinates and meshed, and the line that holds it."""
    sheet = panels.curvilinear(panels.pattern(panels.SKIRT_FRONT), edge_length)
    middle = sheet.flat[np.abs(sheet.flat[:, 0]) < 0.5 * edge_length, 1]
    held = float(middle[np.argmin(np.abs(middle - 0.52))])
    return sheet, panels.meshed(panels.pattern(panels.SKIRT_FRONT, held), edge_length), held


def curvilinear_pattern() -> Finding:
    """The front of a skirt between its four sides, and meshed."""
    rows, largest = [], 0.0
    *sheets, held = between_sides(COARSE)
    counts = [len(sheet.flat) for sheet in sheets]
    for place, start in STARTS.items():
        found = panels.compared(sheets, held, start)
        largest = max(largest, found.largest)
        rows.append(("skirt front", place, *counts, 100.0 * found.mean, 100.0 * found.largest))
    head = [*HEAD[:2], "vertices, curvilinear", *HEAD[3:]]
    return Finding(
        name="The front of a skirt on curvilinear coordinates",
        source="Etzmuss 2002, section 2.7, figure 2.9",
        statement="Most clothes can be assembled from quadrilateral patterns, whose faces are "
        "close to rectangles such that we still get a fairly good approximation.",
        measured=f"It hangs as it does meshed: no point is more than {100.0 * largest:.2g} % of "
        "the hanging length away.",
        verdict=AGREES if largest < ALIKE else DIFFERS,
        why="The particle system measures along the yarns and not along the lines of the grid, "
        "which are curved and converge by half here.",
        tables=[Table("Distances at rest, over the length below the held line", head, rows)],
    )


ALL = (trimmed_surfaces, curvilinear_pattern)
