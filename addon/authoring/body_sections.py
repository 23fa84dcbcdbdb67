# SPDX-License-Identifier: GPL-3.0-or-later
"""Level sections of a figure, without arms that are apart: girths, widths, waist, arms, neck."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..garment.arrangement.sections import curves_at

COUNT = 170  # of sections: 1 cm apart in a person
# Least part by which a head is wider than its neck: those of two figures are by 47 and 80 %, while
# their bodies have no such place between START and the arms.
HEAD = 0.2
LEAST_HEIGHT = 0.04  # m, of a figure
START = 2.0 / 3.0  # of the height, where the body is one piece and arms are apart from it


@dataclass(frozen=True)
class Section:
    """What belongs to the body at one height: its curves, without arms that are apart."""

    height: float
    points: np.ndarray  # (points, 2)

    @property
    def width(self) -> float:
        return float(np.ptp(self.points[:, 0]))

    @property
    def middle(self) -> float:
        """Middle of the width, along x."""
        return float(self.points[:, 0].min() + self.points[:, 0].max()) / 2.0

    def within(self, middle: float, half_width: float) -> "Section":
        """What is not farther from the middle along x; all of it where nothing is so near."""
        is_near = np.abs(self.points[:, 0] - middle) <= half_width
        return Section(self.height, self.points[is_near]) if is_near.any() else self

    def with_points(self, others: list["Section"]) -> "Section":
        """A section here that is around others as well."""
        points = [self.points, *(other.points for other in others)]
        return Section(self.height, convex_hull(np.concatenate(points)))

    @property
    def girth(self) -> float:
        """Length of a tape around the section, in m."""
        return girth(self.points)


class BodySections:
    """Sections from the lowest to the highest point of triangles, in m."""

    def __init__(self, points: np.ndarray, triangles: np.ndarray) -> None:
        self._points, self._triangles = points, triangles
        used = points[np.unique(triangles)]
        lowest, highest = float(used[:, 2].min()), float(used[:, 2].max())
        if not highest - lowest > LEAST_HEIGHT:
            raise ValueError("the figure has no height: a garment hangs on an upright one")
        heights = points[triangles, 2]
        self._extents = heights.min(axis=1), heights.max(axis=1)
        step = (highest - lowest) / COUNT
        heights = lowest + step * (np.arange(COUNT) + 0.5)
        start = int(START * COUNT)
        first = self._first(heights[start], used[:, :2].mean(axis=0))
        below = self._tracked(first, heights[:start][::-1])
        self.all = [*below[::-1], first, *self._tracked(first, heights[start + 1 :])]
        self.lowest = self.all[0].height - step / 2.0
        self.highest = self.all[-1].height + step / 2.0
        self._start = len(below)

    @property
    def waist(self) -> Section:
        """The narrowest between the middle of the height and the arms."""
        return min(self.all[len(self.all) // 2 : self._arms], key=lambda one: one.girth)

    @property
    def arms(self) -> Section:
        """The last section below the arms."""
        return self.all[self._arms - 1]

    @property
    def neck(self) -> Section:
        """The narrowest below the head, or the highest of a figure without one."""
        return self.all[self._neck]

    @cached_property
    def _neck(self) -> int:
        """Index of the section whose surroundings above and below are wider by the largest part."""
        girths = np.array([section.girth for section in self.all[self._start :]])
        below, above = np.maximum.accumulate(girths), np.maximum.accumulate(girths[::-1])[::-1]
        widening = np.minimum(below, above) / girths - 1.0
        if widening.max() < HEAD:
            return len(self.all) - 1
        return self._start + int(widening.argmax())

    @cached_property
    def _arms(self) -> int:
        """Index of the section that arms join: the largest increase of the width below the neck."""
        widths = np.array([section.width for section in self.all[self._start : self._neck + 1]])
        if len(widths) < 2:
            raise ValueError("the figure has no shoulders below a neck: choose an open top")
        return self._start + 1 + int(np.diff(widths).argmax())

    def between(self, low: float, high: float) -> list[Section]:
        """Sections from a height to another, at least the nearest one."""
        found = [section for section in self.all if low <= section.height <= high]
        return found or [self.at(low)]

    def at(self, height: float) -> Section:
        return min(self.all, key=lambda section: abs(section.height - height))

    def arm_girth(self, x: float) -> float:
        """Length of a tape around the shoulder and below the arm, in the upright plane at x, in
        m; 0 where nothing is there.
        """
        around = self._upright_section(x)
        is_arm = (around[:, 1] > self.arms.height) & (around[:, 1] < self.neck.height)
        return girth(around[is_arm])

    def top_at(self, x: float) -> float:
        """Height of the figure below the neck, in the upright plane at x."""
        heights = self._upright_section(x)[:, 1]
        return float(heights[heights < self.neck.height].max(initial=self.lowest))

    def _upright_section(self, x: float) -> np.ndarray:
        """Points of the curves in the upright plane at x: along y and z."""
        origin, side = np.array((x, 0.0, 0.0)), np.array((1.0, 0.0, 0.0))
        curves = curves_at(self._points, self._triangles, origin, side)
        return np.concatenate([np.zeros((0, 3)), *curves])[:, 1:]

    def _first(self, height: float, middle: np.ndarray) -> Section:
        """The curve nearest to the middle of the figure."""
        curves = self._curves(height)
        if not curves:
            raise ValueError(f"the figure has a gap at a height of {height:.3g} m")
        distance = lambda curve: np.linalg.norm(curve - middle, axis=1).max()  # noqa: E731
        return Section(height, min(curves, key=distance))

    def _tracked(self, first: Section, heights: np.ndarray) -> list[Section]:
        """Sections from the first one on, as far as the body goes on."""
        found = [first]
        for height in heights:
            curves = self._beside(height, found[-1])
            if not curves:
                break
            found.append(Section(height, np.concatenate(curves)))
        return found[1:]

    def _beside(self, height: float, neighbour: Section) -> list[np.ndarray]:
        """What goes on from the next section: curves whose middle is within its extents."""
        low, high = neighbour.points.min(axis=0), neighbour.points.max(axis=0)
        middles = lambda curve: (curve.min(axis=0) + curve.max(axis=0)) / 2.0  # noqa: E731
        return [
            curve
            for curve in self._curves(height)
            if ((low <= middles(curve)) & (middles(curve) <= high)).all()
        ]

    def _curves(self, height: float) -> list[np.ndarray]:
        origin, up = np.array((0.0, 0.0, height)), np.array((0.0, 0.0, 1.0))
        low, high = self._extents
        cut = self._triangles[(low <= height) & (height <= high)]
        return [curve[:, :2] for curve in curves_at(self._points, cut, origin, up)]


def girth(points: np.ndarray) -> float:
    """Length of a tape around plane points, in m."""
    if not len(points):
        return 0.0
    hull = convex_hull(points)
    return float(np.linalg.norm(hull - np.roll(hull, 1, axis=0), axis=1).sum())


def convex_hull(points: np.ndarray) -> np.ndarray:
    """Corners of the hull of plane points, counter-clockwise (Andrew's monotone chain)."""
    ordered = np.unique(points, axis=0).tolist()
    if len(ordered) < 3:
        return np.array(ordered)
    return np.array(_half_hull(ordered)[:-1] + _half_hull(ordered[::-1])[:-1])


def _half_hull(ordered: list[list[float]]) -> list[list[float]]:
    hull: list[list[float]] = []
    for x, y in ordered:
        while len(hull) > 1 and _turn(hull[-2], hull[-1], (x, y)) <= 0.0:
            hull.pop()
        hull.append([x, y])
    return hull


def _turn(a: list[float], b: list[float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
