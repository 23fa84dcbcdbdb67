# SPDX-License-Identifier: GPL-3.0-or-later
"""A front and a back panel around a figure: as wide as its girths and an ease.

What is open at the top hangs on what is wider below it; what is sewn over the shoulders has
armholes and an opening for the neck.
"""

from dataclasses import dataclass

import numpy as np

from .body_sections import BodySections, Section
from .panels import Contour, Curve, Panel, Side
from .wrapped_body import WrappedBody

APART = 0.08  # m, in front of the figure and behind it
SPACING = 0.03  # m, between the points of a side
DROPS = {"front": 0.08, "back": 0.02}  # m, of the neckline below the neck
NECK_EASE = 0.02  # m, beside the neck, on each side
SHOULDER_SHARE = 0.95  # of the width below the arms, from shoulder to shoulder
NECK_SHARE = 0.7  # of that, at most


@dataclass(frozen=True)
class Cut:
    """What is asked for, in m."""

    is_open: bool  # at the top
    # Height of an open top above the lowest point of the figure; None for its waist.
    top: float | None
    length: float  # from the top down
    ease: float  # beyond the girth of the figure
    flare: float  # beyond that at the hem


class TwoPanels:
    """Panels and stitches of a garment around a figure."""

    def __init__(self, sections: BodySections, cut: Cut) -> None:
        self._sections, self._cut = sections, cut
        self.top = self._top()
        self.hem = self.top - cut.length
        if self.hem < sections.lowest:
            raise ValueError(
                f"a length of {cut.length:.3g} m reaches {sections.lowest - self.hem:.3g} m below "
                "the figure"
            )
        self._upper = self.top if cut.is_open else self._armhole_end()
        if not self._upper > self.hem:
            raise ValueError(f"the armholes end {self.hem - self._upper:.3g} m below the hem")
        self._middle = sections.at(self.top).middle if cut.is_open else sections.arms.middle

    def panels(self) -> list[Panel]:
        """Front and back, outside of the body."""
        outlines = {name: self._outline(name) for name in DROPS}
        sections = self._sections.between(self.hem, self.top)
        y = np.concatenate([section.points[:, 1] for section in sections])
        placements = {
            "front": _upright(self._middle, y.min() - APART, 1.0),
            "back": _upright(self._middle, y.max() + APART, -1.0),
        }
        return [Panel(name, outlines[name], where) for name, where in placements.items()]

    def shape(self, flat: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Both panels bent around the figure, in m; `starts` as of `weft.PatternMesh`."""
        around = WrappedBody(self._wrapped(), self._half_width, self._middle)
        front, back = flat[: starts[1]], flat[starts[1] :]
        return np.concatenate([around.bent(front, False), around.bent(back, True)])

    def stitches(self) -> list[tuple[Side, Side]]:
        """Both sides, and the shoulders of what has some: edges as in `_outline`."""
        last = 3 if self._cut.is_open else 7
        sewn = (1, 3) if self._cut.is_open else (1, 3, 5, 7)
        return [(Side("front", [k]), Side("back", [last + 1 - k])) for k in sewn]

    def _top(self) -> float:
        if not self._cut.is_open:
            return self._shoulder_points()[0, 1]
        if self._cut.top is None:
            return self._sections.waist.height
        top = self._sections.lowest + self._cut.top
        if top > self._sections.highest:
            above = top - self._sections.highest
            raise ValueError(f"the top is {above:.3g} m above the figure")
        return top

    def _outline(self, name: str) -> Contour:
        """Edges: 0 hem, 1 side, then the top and 3 side; or 2 armhole, 3 shoulder, 4 neck,
        5 shoulder, 6 armhole, 7 side.
        """
        cut, count = self._cut, round((self._upper - self.hem) / SPACING) + 1
        heights = np.linspace(self.hem, self._upper, max(2, count))
        side = np.column_stack([[self._half_width(z) for z in heights], heights])
        rise = np.zeros((0, 2)) if cut.is_open else self._shoulder_points()[::-1]
        right = np.concatenate([side[[0, -1]], rise])
        corners = np.concatenate([right[:1] * (-1.0, 1.0), right, right[:0:-1] * (-1.0, 1.0)])
        inner = side[1:-1]
        left = inner[::-1] * (-1.0, 1.0)
        curves = [None, _polyline(inner), *[None] * (len(corners) - 3), _polyline(left)]
        if not cut.is_open:
            curves[2], curves[6] = _armhole(*corners[2:4]), _armhole(*corners[[7, 6]])
            curves[4] = _neckline(corners[4], corners[5], DROPS[name])
        return Contour(corners, curves)

    def _half_width(self, height: float) -> float:
        """A quarter of the girth that the garment has at a height, at the armholes above these."""
        level = min(height, self._upper)
        share = (self.top - level) / self._cut.length
        girth = self._sections.at(level).girth + self._cut.ease + share * self._cut.flare
        return girth / 4.0

    def _armhole_end(self) -> float:
        """Height of the lower end of the armholes: on both panels they are as long as a tape around
        the shoulder and an ease.
        """
        sections, (wide, shoulder) = self._sections, self._shoulder_points()[1]
        around = sections.arm_girth(sections.arms.middle + wide) + self._cut.ease
        return min(shoulder - around / 2.0, sections.arms.height)

    def _wrapped(self) -> list[Section]:
        """Sections that the panels are bent around: from the armholes up of chest and back alone,
        so that they rise straight and away from the arms.
        """
        inner, found = self._sections.arms.width / 4.0, []
        for section in self._sections.between(self.hem, self.top):
            if section.height > self._upper:
                section = section.within(self._middle, inner).with_points(found[-1:])
            found.append(section)
        return found

    def _shoulder_points(self) -> np.ndarray:
        """Beside the neck and at the arm: x from the middle, and height on the figure."""
        sections, neck = self._sections, self._sections.neck
        wide = SHOULDER_SHARE * sections.arms.width / 2.0
        beside = min(neck.width / 2.0 + NECK_EASE, NECK_SHARE * wide)
        middle = sections.arms.middle
        heights = [sections.top_at(middle + x) for x in (beside, wide)]
        if min(heights) < sections.arms.height:
            raise ValueError("the figure has no shoulders below a neck: choose an open top")
        return np.column_stack([(beside, wide), heights])


def _neckline(start: np.ndarray, end: np.ndarray, drop: float) -> Curve:
    """From one side of the neck to the other, so far below."""
    return Curve("cubic", np.stack([start, end]) - (0.0, drop * 4.0 / 3.0))


def _armhole(below: np.ndarray, shoulder: np.ndarray) -> Curve:
    """Level at the side, upright at the shoulder."""
    return Curve("quadratic", np.array([[shoulder[0], below[1]]]))


def _polyline(points: np.ndarray) -> Curve | None:
    return Curve("polyline", points) if len(points) else None


def _upright(x: float, y: float, side: float) -> np.ndarray:
    """A plane at y whose right side is to the front (1) or to the back (-1)."""
    placed = np.diag((side, 1.0, 1.0, 1.0))
    placed[:3, 1], placed[:3, 2] = (0.0, 0.0, 1.0), (0.0, -side, 0.0)
    placed[:3, 3] = (x, y, 0.0)
    return placed
