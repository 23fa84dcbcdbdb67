# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels bent around a limb: plane pieces on a cylinder, whose lengths stay as they are."""

from dataclasses import dataclass

import numpy as np

from .sections import curves_at

SECTIONS = 9  # of a limb, evenly along the panels
GAP = 0.005  # m, between panels beside each other


@dataclass(frozen=True)
class Limb:
    """A cylinder around a part of a body, in m."""

    center: np.ndarray
    axis: np.ndarray
    radius: float


@dataclass(frozen=True)
class FlatPanel:
    """A panel: its vertices along and across the limb in m, and where it is as a plane."""

    along: np.ndarray
    across: np.ndarray
    center: np.ndarray
    along_axis: np.ndarray
    across_axis: np.ndarray

    @property
    def width(self) -> float:
        return float(np.ptp(self.across))


def flat_panel(flat: np.ndarray, points: np.ndarray, is_along_warp: bool) -> FlatPanel:
    """A panel from its vertices on the pattern, warp first, and in space, in m.

    The middle of its extents is the origin.
    """
    plane = flat - (flat.min(axis=0) + flat.max(axis=0)) / 2.0
    terms = np.column_stack([plane, np.ones(len(plane))])
    warp, weft, center = np.linalg.lstsq(terms, points, rcond=None)[0]
    warp, weft = _unit(warp), _unit(weft)
    if is_along_warp:
        return FlatPanel(plane[:, 0], plane[:, 1], center, warp, weft)
    return FlatPanel(plane[:, 1], plane[:, 0], center, weft, warp)


def limb(points: np.ndarray, triangles: np.ndarray, panels: list[FlatPanel]) -> Limb:
    """The limb that panels are around: of sections across them, the nearest closed ones.

    `ValueError` where nothing of the body is beside them.
    """
    first = panels[0].along_axis
    axis = _unit(sum(p.along_axis * _sign(p.along_axis @ first) for p in panels))
    middle = np.mean([panel.center for panel in panels], axis=0)
    length = max(float(np.ptp(panel.along)) for panel in panels)
    shares = (np.arange(SECTIONS) + 0.5) / SECTIONS - 0.5
    origins = [middle + axis * share * length for share in shares]
    found = [(origin, curves_at(points, triangles, origin, axis)) for origin in origins]
    sections = [min(curves, key=lambda c, o=o: _reach(c, o)) for o, curves in found if curves]
    if not sections:
        raise ValueError("no collider is beside the chosen panels: move them to the limb first")
    centers = np.array([(s.min(axis=0) + s.max(axis=0)) / 2.0 for s in sections])
    center = centers.mean(axis=0)
    if len(sections) > 1:
        fitted = np.linalg.svd(centers - center)[2][0]
        axis = fitted * _sign(fitted @ axis)
    around = np.concatenate(sections) - center
    distances = np.linalg.norm(around - np.outer(around @ axis, axis), axis=1)
    return Limb(center, axis, float(distances.max()))


def wrapped(panels: list[FlatPanel], around: Limb, clearance: float) -> list[np.ndarray]:
    """Vertices of panels bent around a limb, each with its middle on the side where it is.

    Panels that would overlap are moved around the limb, on a cylinder that is wide enough for all.
    """
    widths = np.array([panel.width + GAP for panel in panels])
    radius = max(around.radius + clearance, float(widths.sum()) / (2.0 * np.pi))
    outwards = [_outward(panel, around) for panel in panels]
    side = np.cross(around.axis, outwards[0])
    angles = np.array([np.arctan2(start @ side, start @ outwards[0]) for start in outwards])
    angles = _apart(angles, widths / radius)
    starts = np.outer(np.cos(angles), outwards[0]) + np.outer(np.sin(angles), side)
    return [
        _bent(panel, around, start, radius) for panel, start in zip(panels, starts, strict=True)
    ]


def _apart(angles: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Angles of panels of some widths, all in rad, as they are if none overlaps the next; else in
    their order with equal spaces, turned so that they are moved least.
    """
    order = np.argsort(angles, kind="stable")
    steps = (widths[order] + widths[np.roll(order, -1)]) / 2.0
    turns = np.diff(angles[order], append=angles[order[0]] + 2.0 * np.pi)
    if (turns >= steps).all():
        return angles
    space = (2.0 * np.pi - widths.sum()) / len(angles)
    even = np.empty_like(angles)
    even[order] = np.concatenate([[0.0], np.cumsum(steps + space)[:-1]])
    return even + np.angle(np.exp(1j * (angles - even)).sum())


def _bent(panel: FlatPanel, around: Limb, start: np.ndarray, radius: float) -> np.ndarray:
    axis = around.axis * _sign(panel.along_axis @ around.axis)
    side = np.cross(axis, start)
    side *= _sign(side @ panel.across_axis)
    angles = panel.across / radius
    height = (panel.center - around.center) @ axis
    radial = np.outer(np.cos(angles), start) + np.outer(np.sin(angles), side)
    return around.center + np.outer(panel.along + height, axis) + radius * radial


def _outward(panel: FlatPanel, around: Limb) -> np.ndarray:
    """Unit vector from the axis to the middle of a panel."""
    offset = panel.center - around.center
    offset = offset - (offset @ around.axis) * around.axis
    if np.linalg.norm(offset) > GAP:
        return _unit(offset)
    normal = np.cross(around.axis, panel.across_axis)  # it goes through the middle of the limb
    return _unit(normal)


def _reach(curve: np.ndarray, origin: np.ndarray) -> float:
    """Distance of the farthest point of a curve."""
    return float(np.linalg.norm(curve - origin, axis=1).max())


def _sign(value: float) -> float:
    return -1.0 if value < 0.0 else 1.0


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)
