# SPDX-License-Identifier: MIT OR Apache-2.0
"""Panels, and how they hang: inscribed in a grid, meshed, or between four sides."""

import json
from dataclasses import dataclass

import numpy as np
import weft

from .statics import settle

LINE = None


def curve(*points: tuple[float, float]) -> dict:
    """A curve through controls relative to its edge: along it, and to the left."""
    kinds = {1: "quadratic", 2: "cubic"}
    return {"type": kinds[len(points)], "params": [list(point) for point in points]}


ARC = {"type": "circle", "params": [25.0, 0, 1]}
# Corners in cm with the curvature of the edge that starts there, right side up.
CIRCLE = [(-25, 0, ARC), (25, 0, ARC)]
TROUSER_FRONT = [
    (4, 0, LINE),
    (24, 0, curve((0.5, 0.03))),
    (33, 72, curve((0.1, 0.14), (0.5, 0.1))),
    (27, 100, LINE),
    (3, 99, curve((0.25, -0.04), (0.55, -0.01))),
]
SLEEVE = [
    (9, 0, LINE),
    (31, 0, LINE),
    (42, 40, curve((0.35, 0.12), (0.65, -0.22))),
    (20, 54, curve((0.35, -0.22), (0.65, 0.12))),
    (-2, 40, LINE),
]
SKIRT_FRONT = [
    (-30, 0, LINE),
    (30, 0, curve((0.6, 0.06))),
    (17, 60, LINE),
    (-17, 60, curve((0.4, 0.06))),
]


def pattern(outline: list, line: float | None = None) -> weft.Pattern:
    """A pattern of one panel, with vertices along a line of some height in m where one is given."""
    count = len(outline)
    edges = [{"endpoints": [k, (k + 1) % count]} for k in range(count)]
    for edge, (_, _, curvature) in zip(edges, outline, strict=True):
        if curvature:
            edge["curvature"] = curvature
    panel = {"vertices": [[x, y] for x, y, _ in outline], "edges": edges}
    if line is not None:
        ends = [[-100, 100 * line], [100, 100 * line]]
        panel["internal_lines"] = [{"vertices": ends, "edges": [{"endpoints": [0, 1]}]}]
    data = {"pattern": {"panels": {"panel": panel}, "stitches": []}}
    return weft.Pattern(json.dumps(data | {"properties": {"units_in_meter": 100}}))


FABRIC = weft.Material(
    density=0.4,
    stretch_warp=1000.0,
    stretch_weft=800.0,
    shear=60.0,
    bend_warp=4.0e-4,
    bend_weft=3.0e-4,
)


CYLINDER, EDGE = 0.12, 0.04  # radii that panels start around, in m
# Until it hangs: longer steps of implicit Euler leap into other folds.
FALLING_STEP, FALLING_STEPS = 0.04, 25  # s


@dataclass
class Sheet:
    """A panel to be simulated."""

    flat: np.ndarray
    faces: np.ndarray
    model: str
    options: dict
    visible: weft.TrimmedMesh | None = None
    row_height: float = 1e-6  # how far in m vertices of one row are from a straight line

    @property
    def triangles(self) -> np.ndarray:
        """What is drawn."""
        if self.visible is not None:
            return self.visible.visible_triangles
        a, b, c, d = (self.faces[:, corner % self.faces.shape[1]] for corner in range(4))
        halves = [(a, b, c), (a, c, d)] if self.faces.shape[1] == 4 else [(a, b, c)]
        return np.concatenate([np.column_stack(half) for half in halves])

    @property
    def drawn_flat(self) -> np.ndarray:
        """Vertices of what is drawn, in the plane of the panel."""
        return self.flat if self.visible is None else self.visible.visible_flat

    def drawn(self, positions: np.ndarray) -> np.ndarray:
        """Vertices of what is drawn."""
        return positions if self.visible is None else self.visible.visible_positions(positions)


def trimmed(cut: weft.Pattern, edge_length: float) -> Sheet:
    """Inscribed in a grid."""
    mesh = cut.trimmed_mesh(edge_length)
    options = {"triangles": mesh.triangles, "uv": mesh.uv, "corner_coverage": mesh.corner_coverage}
    return Sheet(mesh.flat, mesh.cells, "particles", options, mesh)


def meshed(cut: weft.Pattern, edge_length: float) -> Sheet:
    """Regular cells inside, and a strip of triangles."""
    mesh = cut.mesh(edge_length)
    return Sheet(mesh.flat, mesh.triangles, "fem", {"uv": mesh.uv})


def curvilinear(cut: weft.Pattern, edge_length: float) -> Sheet:
    """Quads between four sides."""
    mesh = cut.curvilinear_mesh(edge_length)
    return Sheet(mesh.flat, mesh.cells, "particles", {"uv": mesh.uv}, row_height=0.3 * edge_length)


def around_cylinder(flat: np.ndarray, _held_above: float) -> np.ndarray:
    """The panel upright around a cylinder, which leaves all its lengths."""
    angles = flat[:, 0] / CYLINDER
    across, height = CYLINDER * np.sin(angles), CYLINDER * (1.0 - np.cos(angles))
    return np.column_stack([across, height, flat[:, 1]])


def over_edge(flat: np.ndarray, held_above: float) -> np.ndarray:
    """The panel level above a line, and bent down below it."""
    below = np.maximum(held_above - flat[:, 1], 0.0)
    angle = np.minimum(below / EDGE, 0.5 * np.pi)
    straight = below - EDGE * angle
    y = np.maximum(flat[:, 1], held_above) - EDGE * np.sin(angle)
    return np.column_stack([flat[:, 0], y, -EDGE * (1.0 - np.cos(angle)) - straight])


def level(flat: np.ndarray) -> np.ndarray:
    """The panel in its own plane."""
    return np.column_stack([flat, np.zeros(len(flat))])


def hang(sheet: Sheet, held_above: float, start: np.ndarray) -> np.ndarray:
    """Where the drawn vertices come to rest when the panel is held above a line of its plane."""
    flat = np.column_stack([sheet.flat, np.zeros(len(sheet.flat))])
    cloth = weft.Cloth(start, sheet.faces, FABRIC, rest_positions=flat, **sheet.options)
    settings = weft.Settings(
        integrator="implicit_euler",
        model=sheet.model,
        air_density=0.0,
        time_step=10.0,
        tolerance=1e-5,
        max_iterations=200,
        self_collision=False,
    )
    simulation = weft.Simulation([cloth], settings=settings)
    simulation.set_pins(0, np.flatnonzero(sheet.flat[:, 1] > held_above - sheet.row_height))
    for _ in range(FALLING_STEPS):
        simulation.advance(FALLING_STEP)
    settle(simulation)
    return sheet.drawn(simulation.positions())


def interpolated(at: np.ndarray, sheet: Sheet, positions: np.ndarray) -> np.ndarray:
    """The drawn shape of a sheet at points of its panel."""
    triangles = sheet.triangles
    a, b, c = (sheet.drawn_flat[triangles[:, corner]] for corner in range(3))
    (ax, ay), (bx, by) = (b - a).T, (c - a).T
    doubled = ax * by - ay * bx
    places = np.empty((len(at), 3))
    for index, point in enumerate(at):
        x, y = (point - a).T
        weights = np.column_stack([(x * by - y * bx) / doubled, (y * ax - x * ay) / doubled])
        weights = np.column_stack([1.0 - weights.sum(axis=1), weights])
        nearest = np.argmax(weights.min(axis=1))
        places[index] = weights[nearest] @ positions[triangles[nearest]]
    return places


@dataclass
class Likeness:
    """Distances between two shapes of one panel, as parts of its length below the held line."""

    mean: float
    largest: float
    drop: float  # from the highest point to the lowest, over the length of the panel


def compared(sheets: tuple[Sheet, Sheet], held_above: float, start: callable) -> Likeness:
    """Both hung alike."""
    first, second = (hang(sheet, held_above, start(sheet.flat, held_above)) for sheet in sheets)
    here = sheets[0].drawn_flat
    distances = np.linalg.norm(first - interpolated(here, sheets[1], second), axis=1)
    length = held_above - here[:, 1].min()
    drop = (first[:, 2].max() - first[:, 2].min()) / np.ptp(here[:, 1])
    below = distances[here[:, 1] < held_above]
    return Likeness(float(below.mean() / length), float(below.max() / length), float(drop))
