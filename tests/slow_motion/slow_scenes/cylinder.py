# SPDX-License-Identifier: MIT OR Apache-2.0
"""A strip over a horizontal cylinder, both ends hanging down, and its closed forms.

The strip is a chain of equal links: CORNERS corners of equal angles lead it around, the links
between them touch in their middles, so that both legs hang along tangents. Contacts are thin: the
work that compresses them must be small against that of the imbalance (with 1 mm on either side
contacts that come and go drive a strip with an imbalance of 20 mm too far by 10 %).
"""

import numpy as np
import weft
from slow_scenes.common import FRAME, GRAVITY, IN_VACUUM, simulation, strip

RADIUS, HALF_LENGTH, SEGMENTS = 0.03, 0.1, 96  # of the cylinder
THIN = 0.0005  # m, contact thickness of either side
MIDDLE = RADIUS + 2.0 * THIN  # radius at which the strip lies
CORNERS, COLUMNS = 10, 4
LINK = 2.0 * MIDDLE * np.tan(0.5 * np.pi / CORNERS)  # m, about 10 mm


def cylinder(friction: float) -> weft.Collider:
    """Around the y axis, without lids."""
    angle = 2.0 * np.pi * np.arange(SEGMENTS) / SEGMENTS
    ring = RADIUS * np.stack([np.cos(angle), 0.0 * angle, np.sin(angle)], axis=-1)
    side = np.array((0.0, HALF_LENGTH, 0.0))
    first = np.arange(SEGMENTS)
    second = np.roll(first, -1)
    halves = [(first, second + SEGMENTS, second), (first, first + SEGMENTS, second + SEGMENTS)]
    triangles = np.concatenate([np.stack(half, axis=-1) for half in halves])
    return weft.Collider(
        np.concatenate([ring - side, ring + side]), triangles, friction=friction, thickness=THIN
    )


def tensions(short: int, long: int) -> np.ndarray:
    """Force per width in every link of a strip that is about to slide, in N/m."""
    links = short + CORNERS - 1 + long
    middle = np.arange(links) + 0.5
    left, right = np.minimum(middle, short), np.minimum(links - middle, long)
    around = np.clip((middle - short) / (CORNERS - 1), 0.0, 1.0)
    return IN_VACUUM.density * GRAVITY * LINK * (left + (right - left) * around)


def profile(short: int, long: int) -> np.ndarray:
    """Ends of the links in the plane (x, z), stretched by their tensions."""
    links = short + CORNERS - 1 + long
    passed = np.clip(np.arange(links) - short + 1, 0, CORNERS)
    angle = 0.5 * np.pi - passed * np.pi / CORNERS
    lengths = LINK * (1.0 + tensions(short, long) / IN_VACUUM.stretch_warp)
    steps = lengths[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    points = np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])
    return points + np.array((-MIDDLE, MIDDLE - points[:, 1].max()))


class Hanging:
    """`short` and `long` links hang from the corners at both sides."""

    def __init__(self, short: int, long: int, friction: float, **settings: object) -> None:
        links = short + CORNERS - 1 + long
        self.length = links * LINK
        rest, quads = strip(links + 1, COLUMNS, self.length, (COLUMNS - 1) * LINK)
        self.start = rest.copy()
        self.start[:, [0, 2]] = np.repeat(profile(short, long), COLUMNS, axis=0)
        fabric = IN_VACUUM.replace(friction=friction, thickness=THIN)
        cloth = weft.Cloth(self.start, quads, fabric, rest_positions=rest)
        self.simulation = simulation([cloth], [cylinder(friction)], settings)

    def way(self) -> float:
        """How far the strip has run, in m: the mean of what both ends have risen and sunk by."""
        risen = (self.simulation.positions() - self.start)[:, 2]
        return 0.5 * float(risen[:COLUMNS].mean() - risen[-COLUMNS:].mean())

    def path(self, frames: int) -> np.ndarray:
        ways = []
        for _ in range(frames):
            self.simulation.advance(FRAME)
            ways.append(self.way())
        return np.array(ways)


SHORT_PEG, FRICTION, SHORT_CAPSTAN = 40, 0.3, 36  # links, coefficient, links
FIRST_PART = 0.3  # m of the path of a capstan strip


def capstan_limit(short: float) -> float:
    """Length of the long leg that slides, in m: (short + q) e^(μπ) + q, q = 2μR/(1 + μ²)."""
    q = 2.0 * FRICTION * MIDDLE / (1.0 + FRICTION**2)
    return (short + q) * np.exp(FRICTION * np.pi) + q


def capstan(factor: float, **settings: object) -> Hanging:
    """A long leg of so many times the limit; half a link of either leg lies above the tangent."""
    limit = capstan_limit((SHORT_CAPSTAN - 0.5) * LINK)
    return Hanging(SHORT_CAPSTAN, round(factor * limit / LINK + 0.5), FRICTION, **settings)
