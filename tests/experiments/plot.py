# SPDX-License-Identifier: MIT OR Apache-2.0
"""Plots as SVG, so that a page needs nothing else: lines over axes, and sheets from a side."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

WIDTH, HEIGHT = 560, 340
LEFT, RIGHT, TOP, BOTTOM = 78, 14, 30, 48
COLOURS = ("#1668b8", "#d1495b", "#2e8b57", "#b8741a", "#7a4fb5", "#5b6770", "#0aa2a8", "#8a1c4a")
STYLE = "font-family='sans-serif' font-size='12'"


@dataclass
class Line:
    """A line of a plot; `dots` marks its points."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    dots: bool = False
    dashed: bool = False


@dataclass
class Axis:
    """One axis: what it shows, and whether it is logarithmic."""

    label: str
    log: bool = False

    def place(self, values: np.ndarray) -> np.ndarray:
        """Values as they are spaced along the axis."""
        return np.log10(values) if self.log else values

    def ticks(self, low: float, high: float) -> list[tuple[float, str]]:
        """Places and labels between two places."""
        if self.log:
            return _log_ticks(low, high)
        step = 10.0 ** math.floor(math.log10((high - low) / 4.0))
        step *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (factor * step) <= 6.0)
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        return [(index * step, f"{index * step:.6g}") for index in range(first, last + 1)]


def _log_ticks(low: float, high: float) -> list[tuple[float, str]]:
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    if last - first >= 2:
        step = max(1, (last - first) // 6)
        return [(power, f"{10.0**power:g}") for power in range(first, last + 1, step)]
    values = [
        digit * 10.0**power
        for power in range(math.floor(low), math.ceil(high) + 1)
        for digit in (1, 2, 5)
    ]
    placed = [(math.log10(value), f"{value:g}") for value in values]
    return [(place, label) for place, label in placed if low - 1e-9 <= place <= high + 1e-9]


def _range(values: list[np.ndarray], log: bool) -> tuple[float, float]:
    everything = np.concatenate(values)
    low, high = float(everything.min()), float(everything.max())
    margin = 0.05 * (high - low) or 0.5 * abs(high) or 1.0
    if not log and low >= 0.0 and low - margin < 0.0:
        return 0.0, high + margin
    return low - margin, high + margin


def lines(title: str, x: Axis, y: Axis, members: list[Line]) -> str:
    """A plot of lines; values that an axis cannot show are left out."""
    shown = []
    for line in members:
        xs, ys = np.asarray(line.x, float), np.asarray(line.y, float)
        good = np.isfinite(xs) & np.isfinite(ys)
        good &= (xs > 0.0) if x.log else True
        good &= (ys > 0.0) if y.log else True
        if good.any():
            shown.append((line, x.place(xs[good]), y.place(ys[good])))
    if not shown:
        return f"<p>{escape(title)}: nothing to show</p>"
    ranges = _range([xs for _, xs, _ in shown], x.log), _range([ys for *_, ys in shown], y.log)
    parts = [_frame(title, x, y, ranges)]
    for index, (line, xs, ys) in enumerate(shown):
        parts.append(_line(line, *_pixels(xs, ys, ranges), COLOURS[index % len(COLOURS)]))
    parts.append(_legend([line for line, *_ in shown]))
    height = HEIGHT + 18 * math.ceil(len(shown) / 2)
    head = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' "
    return head + f"width='{WIDTH}' height='{height}' {STYLE}>" + "".join(parts) + "</svg>"


def _pixels(xs: np.ndarray, ys: np.ndarray, ranges: tuple) -> tuple[np.ndarray, np.ndarray]:
    (x_low, x_high), (y_low, y_high) = ranges
    across = LEFT + (xs - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT)
    return across, HEIGHT - BOTTOM - (ys - y_low) / (y_high - y_low) * (HEIGHT - TOP - BOTTOM)


def _frame(title: str, x: Axis, y: Axis, ranges: tuple) -> str:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = [
        f"<rect width='{WIDTH}' height='{HEIGHT + 200}' fill='white'/>",
        f"<text x='{LEFT}' y='18' font-weight='bold'>{escape(title)}</text>",
        f"<text x='{(LEFT + right) / 2}' y='{HEIGHT - 12}' text-anchor='middle'>"
        f"{escape(x.label)}</text>",
        f"<text transform='translate(16 {(TOP + bottom) / 2}) rotate(-90)' "
        f"text-anchor='middle'>{escape(y.label)}</text>",
    ]
    for place, label in x.ticks(*ranges[0]):
        at = _pixels(np.array([place]), np.array([ranges[1][0]]), ranges)[0][0]
        parts.append(f"<path d='M{at:.1f} {TOP}V{bottom}' stroke='#e3e3e3'/>")
        parts.append(f"<text x='{at:.1f}' y='{bottom + 16}' text-anchor='middle'>{label}</text>")
    for place, label in y.ticks(*ranges[1]):
        at = _pixels(np.array([ranges[0][0]]), np.array([place]), ranges)[1][0]
        parts.append(f"<path d='M{LEFT} {at:.1f}H{right}' stroke='#e3e3e3'/>")
        parts.append(f"<text x='{LEFT - 6}' y='{at + 4:.1f}' text-anchor='end'>{label}</text>")
    frame = f"<path d='M{LEFT} {TOP}V{bottom}H{right}' fill='none' stroke='#444'/>"
    return "".join(parts) + frame


def _line(line: Line, xs: np.ndarray, ys: np.ndarray, colour: str) -> str:
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(xs, ys, strict=True))
    dash = " stroke-dasharray='6 4'" if line.dashed else ""
    drawn = f"<polyline points='{points}' fill='none' stroke='{colour}' stroke-width='1.8'{dash}/>"
    if line.dots:
        pairs = zip(xs, ys, strict=True)
        drawn += "".join(
            f"<circle cx='{a:.1f}' cy='{b:.1f}' r='3' fill='{colour}'/>" for a, b in pairs
        )
    return drawn


def _legend(members: list[Line]) -> str:
    parts = []
    for index, line in enumerate(members):
        left = LEFT + (index % 2) * (WIDTH - LEFT) / 2
        height = HEIGHT + 8 + 18 * (index // 2)
        colour = COLOURS[index % len(COLOURS)]
        dash = " stroke-dasharray='6 4'" if line.dashed else ""
        stroke = f"stroke='{colour}' stroke-width='2.5'{dash}"
        parts.append(f"<path d='M{left} {height - 4}h22' {stroke}/>")
        parts.append(f"<text x='{left + 28}' y='{height}'>{escape(line.label)}</text>")
    return "".join(parts)


def sheet(
    title: str, positions: np.ndarray, quads: np.ndarray, view: Sequence[float], size: int = 270
) -> str:
    """A sheet seen along a direction, shaded by its normals; z points up."""
    ahead = np.asarray(view, float) / np.linalg.norm(view)
    right = np.cross(ahead, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    up = np.cross(right, ahead)
    flat = np.stack([positions @ right, -(positions @ up)], axis=1)
    low, high = flat.min(axis=0), flat.max(axis=0)
    scale = (size - 40) / max(high - low)
    flat = (flat - 0.5 * (low + high)) * scale + (0.5 * size, 0.5 * size + 10)
    corners = positions[quads]
    normals = np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals /= np.where(lengths > 0.0, lengths, 1.0)
    light = 0.45 * up + 0.3 * right - ahead
    bright = np.abs(normals @ light) / np.linalg.norm(light)
    order = np.argsort(-(corners.mean(axis=1) @ ahead))
    faces = []
    for face in order:
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in flat[quads[face]])
        red, green, blue = (int(v * (0.25 + 0.75 * bright[face])) for v in (120, 170, 225))
        colour = f"rgb({red},{green},{blue})"
        faces.append(f"<polygon points='{points}' fill='{colour}' stroke='{colour}'/>")
    head = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {size} {size + 20}' "
    head += f"width='{size}' height='{size + 20}' {STYLE}>"
    label = f"<text x='8' y='16' font-weight='bold'>{escape(title)}</text>"
    back = f"<rect width='{size}' height='{size + 20}' fill='white'/>"
    return head + back + label + "".join(faces) + "</svg>"
