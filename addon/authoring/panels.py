# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels and stitches written as a sewing pattern, in the form of GarmentCode, in m."""

import json
import math
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from mathutils import Matrix

# From the axes of a pattern, y up and z to the front, to those of Blender.
UPRIGHT = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
SHARP = math.radians(25.0)  # turn of an outline that is a corner, as in DXF files without them
LEAST_EDGES = 2  # of an outline


@dataclass(frozen=True)
class Curve:
    """What is between both ends of an edge: controls of a `cubic`, points of a `polyline`."""

    kind: str
    points: np.ndarray  # (points, dimensions)


@dataclass(frozen=True)
class Contour:
    """A closed chain of edges: edge k from corner k to the next one, a line without a curve."""

    corners: np.ndarray  # (edges, dimensions)
    curves: list[Curve | None]

    def mapped(self, function) -> "Contour":
        """The contour with another place for each of its points."""
        curves = [each and Curve(each.kind, function(each.points)) for each in self.curves]
        return Contour(function(self.corners), curves)

    def turned(self) -> "Contour":
        """The contour run through the other way, from the same corner."""
        curves = [each and Curve(each.kind, each.points[::-1]) for each in self.curves[::-1]]
        return Contour(np.roll(self.corners[::-1], 1, axis=0), curves)

    def samples(self) -> np.ndarray:
        """Points along the contour, close enough for areas and for what is inside."""
        ends = np.roll(self.corners, -1, axis=0)
        pieces = map(_sampled, self.corners, self.curves, ends)
        return np.concatenate(list(pieces))


@dataclass(frozen=True)
class Panel:
    """A panel in its plane, the right side towards its z, and where the plane is in the scene."""

    name: str
    outline: Contour
    placement: np.ndarray  # (4, 4), in m
    cutouts: list[Contour] = field(default_factory=list)
    grain: float | None = None  # direction of the warp, degrees from x to y


@dataclass(frozen=True)
class Side:
    """One side of a stitch: edges that follow each other, of the outline or of a cut-out."""

    panel: str
    edges: list[int]
    cutout: int | None = None


def contour_of(points: np.ndarray, splits: list[int] | None = None) -> Contour:
    """A contour through points, with edges between corners; `splits` are corners besides those at
    which it turns.
    """
    corners = sorted({*(splits or []), *np.flatnonzero(turns(points) > SHARP).tolist()})
    while len(corners) < LEAST_EDGES:
        start = corners[0] if corners else 0
        corners = sorted({start, (start + len(points) // 2) % len(points)})
    corners = np.array(corners)
    ends = np.roll(corners, -1) + len(points) * (np.arange(len(corners)) == len(corners) - 1)
    inner = [np.arange(a + 1, b) % len(points) for a, b in zip(corners, ends, strict=True)]
    curves = [Curve("polyline", points[each]) if len(each) else None for each in inner]
    return Contour(points[corners], curves)


def turns(points: np.ndarray) -> np.ndarray:
    """Angle by which a closed chain of points turns at each of them, in rad, 0 to pi."""
    before, after = points - np.roll(points, 1, axis=0), np.roll(points, -1, axis=0) - points
    lengths = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    cosines = (before * after).sum(axis=1) / np.maximum(lengths, 1e-30)
    return np.arccos(np.clip(cosines, -1.0, 1.0))


def panel_name(number: int) -> str:
    """Name of a panel, by its number from 0 on."""
    return f"panel_{number + 1}"


def signed_area(points: np.ndarray) -> float:
    """Area within plane points, in m², less than 0 where they run clockwise."""
    x, y = points.T
    return 0.5 * float(x @ np.roll(y, -1) - np.roll(x, -1) @ y)


def text(panels: list[Panel], stitches: list[tuple[Side, Side]]) -> str:
    """The pattern as JSON, right sides forming one surface."""
    content = {
        "pattern": {
            "panels": {panel.name: _panel(panel) for panel in panels},
            "stitches": [[_side(side) for side in stitch] for stitch in stitches],
            "panel_order": [panel.name for panel in panels],
        },
        "properties": {"curvature_coords": "relative", "units_in_meter": 1.0},
    }
    return json.dumps(content)


def _panel(panel: Panel) -> dict:
    rotation = Matrix((UPRIGHT.T @ panel.placement[:3, :3]).tolist()).to_euler("XYZ")
    written = {
        "translation": (UPRIGHT.T @ panel.placement[:3, 3]).tolist(),
        "rotation": [math.degrees(angle) for angle in rotation],
        **_contour(panel.outline),
    }
    if panel.cutouts:
        written["cutouts"] = [_contour(each) for each in panel.cutouts]
    if panel.grain is not None:
        written["grain"] = panel.grain
    return written


def _side(side: Side) -> dict:
    cutout = {} if side.cutout is None else {"cutout": side.cutout}
    return {"panel": side.panel, "edges": side.edges, **cutout}


def _contour(contour: Contour) -> dict:
    count, edges = len(contour.corners), []
    for number, curve in enumerate(contour.curves):
        ends = [number, (number + 1) % count]
        edge = {"endpoints": ends}
        if curve is not None:
            params = _relative(curve.points, *contour.corners[ends])
            edge["curvature"] = {"type": curve.kind, "params": params.tolist()}
        edges.append(edge)
    return {"vertices": contour.corners.tolist(), "edges": edges}


def _relative(points: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Points as parts of an edge: along it, and to its left."""
    along = end - start
    left = np.array((-along[1], along[0]))
    return (points - start) @ np.stack([along, left], axis=1) / (along @ along)


def _sampled(start: np.ndarray, curve: Curve | None, end: np.ndarray) -> np.ndarray:
    """Points from the start of an edge on, without its end."""
    if curve is None:
        return start[None]
    if curve.kind == "polyline":
        return np.concatenate([start[None], curve.points])
    share = np.linspace(0.0, 1.0, 16, endpoint=False)[:, None]
    points = [start, *curve.points, end]
    while len(points) > 1:  # de Casteljau
        points = [(1.0 - share) * one + share * other for one, other in pairwise(points)]
    return points[0]
