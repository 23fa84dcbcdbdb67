# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels bent around a body, at their widths: nearly closed, and inside of its arms."""

from collections.abc import Callable

import numpy as np

from .body_sections import Section, convex_hull

CLEARANCE = 0.015  # m, least distance from the hull of the body
OFFSETS = 65  # of a table, from the middle of a panel to both sides


class WrappedBody:
    """Hulls of sections, widened to the girths that a garment has at their heights."""

    def __init__(
        self, sections: list[Section], half_width: Callable[[float], float], middle: float
    ) -> None:
        self._heights = np.array([section.height for section in sections])
        widths = np.array([half_width(height) for height in self._heights])
        self._offsets = np.linspace(-1.0, 1.0, OFFSETS) * widths.max()
        hulls = [
            _widened(section, 4.0 * width) for section, width in zip(sections, widths, strict=True)
        ]
        # Places by section and offset, in front and behind.
        self._tables = [
            np.stack([_along(hull, middle, side, self._offsets) for hull in hulls])
            for side in (-1.0, 1.0)
        ]

    def bent(self, flat: np.ndarray, is_back: bool) -> np.ndarray:
        """Places of points of the front or back panel: x from its middle, y its height."""
        table = self._tables[int(is_back)]
        row, above, up = _between(self._heights, flat[:, 1])
        column, beside, over = _between(self._offsets, flat[:, 0])
        up, over = up[:, None], over[:, None]
        lower = (1.0 - over) * table[row, column] + over * table[row, beside]
        upper = (1.0 - over) * table[above, column] + over * table[above, beside]
        return np.column_stack([(1.0 - up) * lower + up * upper, flat[:, 1]])


def _between(values: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices of the values below and above, and the share of the second; ends are kept."""
    places = np.interp(wanted, values, np.arange(len(values)))
    below = np.floor(places).astype(int)
    return below, np.minimum(below + 1, len(values) - 1), places - below


def _widened(section: Section, girth: float) -> np.ndarray:
    """The hull of a section, scaled about its middle to a girth or to the clearance."""
    hull = convex_hull(section.points)
    middle = (hull.min(axis=0) + hull.max(axis=0)) / 2.0
    wanted = max(girth, section.girth + 2.0 * np.pi * CLEARANCE)
    return middle + (hull - middle) * wanted / section.girth


def _along(hull: np.ndarray, middle: float, side: float, offsets: np.ndarray) -> np.ndarray:
    """Points of a hull at lengths from where its front (-1) or back (1) is at `middle`.

    The lengths run counter-clockwise.
    """
    closed = np.concatenate([hull, hull[:1]])
    steps = np.linalg.norm(np.diff(closed, axis=0), axis=1)
    lengths = np.concatenate([[0.0], np.cumsum(steps)])
    x, y = closed.T
    if not x.min() < middle < x.max():  # a leaning body
        middle = (x.min() + x.max()) / 2.0
    is_crossed = (x[:-1] > middle) != (x[1:] > middle)
    edges = np.flatnonzero(is_crossed)
    shares = (middle - x[edges]) / (x[edges + 1] - x[edges])
    heights = y[edges] + shares * (y[edges + 1] - y[edges])
    start = int((side * heights).argmax())
    origin = lengths[edges[start]] + shares[start] * steps[edges[start]]
    at = (origin + offsets) % lengths[-1]
    return np.column_stack([np.interp(at, lengths, axis) for axis in (x, y)])
