# SPDX-License-Identifier: GPL-3.0-or-later
"""Skirts, tubes and capes: equal panels, sewn to a cone on which they keep their lengths."""

import math
from dataclasses import dataclass

import numpy as np

from .panels import Contour, Curve, Panel, Side, panel_name

APART = 0.05  # m, from the cone to the panels that are put outside of it
ARC_POINTS = 24  # between the ends of an arc


@dataclass(frozen=True)
class Cone:
    """A part of a cone about z, its upper rim at height 0, in m and rad.

    It opens to the front, -y, where it does not go all round.
    """

    upper_radius: float
    lower_radius: float
    length: float  # from rim to rim, on the cone
    angle: float  # that it goes round, up to 2 pi
    count: int  # of panels

    @property
    def slope(self) -> float:
        """Increase of the radius over the length."""
        return (self.lower_radius - self.upper_radius) / self.length

    @property
    def is_closed(self) -> bool:
        return self.angle > 2.0 * math.pi - 1e-6

    def check(self) -> None:
        if abs(self.slope) > 1.0:
            widths = f"{abs(self.lower_radius - self.upper_radius):.3g} m"
            raise ValueError(
                f"the radii differ by {widths}, more than the length of {self.length:.3g} m"
            )
        if self.turn > 2.0 * math.pi - 0.1:
            raise ValueError("a panel would go all round in its plane: ask for two panels or more")

    @property
    def turn(self) -> float:
        """Angle of a panel in its plane, in rad; 0 for a rectangle."""
        return self.angle * abs(self.slope) / self.count

    def panels(self) -> list[Panel]:
        """All panels, the first on the right of the front as it is worn."""
        outline = self._outline()
        width = float(np.ptp(outline.samples()[:, 0]))
        around = width / (2.0 * math.tan(math.pi / self.count)) if self.count > 2 else 0.0
        distance = max(self.upper_radius, self.lower_radius, around) + APART
        placements = (_tangent(angle, distance) for angle in self._middles())
        return [
            Panel(panel_name(number), outline, placement)
            for number, placement in enumerate(placements)
        ]

    def stitches(self) -> list[tuple[Side, Side]]:
        """Right sides of panels, edge 1, to the left sides of the next, edge 3."""
        last = self.count if self.is_closed else self.count - 1
        return [
            (Side(panel_name(number), [1]), Side(panel_name((number + 1) % self.count), [3]))
            for number in range(last)
        ]

    def shape(self, flat: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Points of all panels on the cone; `starts` as of `weft.PatternMesh`."""
        middles = np.repeat(self._middles(), np.diff(starts))
        along, across = self._unrolled(flat)
        angles, radii = middles + across, self.upper_radius + self.slope * along
        heights = -along * math.sqrt(1.0 - self.slope**2)
        return np.column_stack([radii * np.sin(angles), -radii * np.cos(angles), heights])

    def _unrolled(self, flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Length from the upper rim, and angle about the axis from the middle of the panel."""
        if not self.slope:
            return -flat[:, 1], flat[:, 0] / self.upper_radius
        apex = self.upper_radius / self.slope  # m above the upper rim, below it where negative
        x, y = flat[:, 0], apex - flat[:, 1]
        distances = np.sign(apex) * np.hypot(x, y)
        return distances - apex, np.arctan2(np.sign(apex) * x, np.sign(apex) * y) / self.slope

    def _outline(self) -> Contour:
        """Lower rim from left to right, right side, upper rim at y = 0, left side."""
        lower, upper = self._rim(self.length), self._rim(0.0)[::-1]
        corners = np.stack([lower[0], lower[-1], upper[0], upper[-1]])
        if not self.slope:
            return Contour(corners, [None] * 4)
        rims = [Curve("polyline", rim[1:-1]) for rim in (lower, upper)]
        return Contour(corners, [rims[0], None, rims[1], None])

    def _rim(self, along: float) -> np.ndarray:
        """Points of a panel at a length from the upper rim, from left to right."""
        share = np.linspace(-0.5, 0.5, ARC_POINTS)
        across = share * self.angle / self.count
        if not self.slope:
            return np.column_stack([across * self.upper_radius, np.full(ARC_POINTS, -along)])
        apex, turned = self.upper_radius / self.slope, across * self.slope
        distance = apex + along
        return np.column_stack([distance * np.sin(turned), apex - distance * np.cos(turned)])

    def _middles(self) -> np.ndarray:
        """Angle of the middle of each panel from the front."""
        share = (np.arange(self.count) + 0.5) / self.count - 0.5
        return math.pi + share * self.angle


def _tangent(angle: float, distance: float) -> np.ndarray:
    """An upright plane at an angle from the front, seen from outside."""
    sine, cosine = math.sin(angle), math.cos(angle)
    placed = np.eye(4)
    placed[:3, 0], placed[:3, 1] = (cosine, sine, 0.0), (0.0, 0.0, 1.0)
    placed[:3, 2] = (sine, -cosine, 0.0)
    placed[:3, 3] = distance * placed[:3, 2]
    return placed
