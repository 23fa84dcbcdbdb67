# SPDX-License-Identifier: MIT OR Apache-2.0
"""Smoothness of draped sheets over mesh size, fabric and scene: `make smoothness` prints the table.

The index is the correlation of neighbouring second differences of the positions along grid lines:
1 is smooth, -2/3 noise, -1 a zigzag from vertex to vertex.
"""

import argparse
import dataclasses

import numpy as np
import weft

FRAMES_PER_SECOND = 24
DURATION = 2.5  # s
LANDING = 0.75  # s
BALL_RADIUS = 0.3  # m
TABLE_HALF_WIDTH = 0.25  # m


@dataclasses.dataclass(frozen=True)
class Drape:
    """A square sheet at rest on something."""

    positions: np.ndarray
    side: int
    iterations: float
    landing_iterations: float

    def smoothness(self, stride: int = 1) -> float:
        """The index, of every vertex or of fewer."""
        grid = self.positions.reshape(self.side, self.side, 3)[::stride, ::stride]
        product = square = 0.0
        for lines in (grid, grid.transpose(1, 0, 2)):
            second = lines[2:] - 2.0 * lines[1:-1] + lines[:-2]
            product += (second[1:] * second[:-1]).sum()
            square += 0.5 * ((second[1:] ** 2).sum() + (second[:-1] ** 2).sum())
        return float(product / square)

    def mean_height(self) -> float:
        """In m."""
        return float(self.positions[:, 2].mean())

    def lowest(self) -> float:
        """In m."""
        return float(self.positions[:, 2].min())

    def silhouette(self, pixel: float = 0.004) -> float:
        """Area of the sheet as seen from above, in m²."""
        level = self.positions[:, :2].reshape(self.side, self.side, 2)
        longest = max(np.linalg.norm(np.diff(level, axis=axis), axis=-1).max() for axis in (0, 1))
        steps = np.linspace(0.0, 1.0, 2 + int(2.0 * longest / pixel))
        a, b, c, d = level[:-1, :-1], level[1:, :-1], level[1:, 1:], level[:-1, 1:]
        pixels = set()
        for u in steps:
            for v in steps:
                point = (1 - v) * ((1 - u) * a + u * b) + v * ((1 - u) * d + u * c)
                pixels.update(map(tuple, np.floor(point.reshape(-1, 2) / pixel).astype(int)))
        return len(pixels) * pixel**2


def sheet(size: float, edge: float, height: float) -> tuple[np.ndarray, np.ndarray, int]:
    """A level square around the origin: positions, quads and vertices a side."""
    side = round(size / edge) + 1
    line = np.linspace(-0.5 * size, 0.5 * size, side)
    x, y = np.meshgrid(line, line)
    positions = np.stack([x.ravel(), y.ravel(), np.full(side * side, height)], axis=1)
    index = np.arange(side * side).reshape(side, side)
    corners = (index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1])
    return positions, np.stack([corner.ravel() for corner in corners], axis=1), side


def ball() -> tuple[np.ndarray, np.ndarray]:
    """A sphere around the origin: positions and triangles."""
    segments, rings = 64, 32
    polar = np.pi * np.arange(1, rings) / rings
    around = 2.0 * np.pi * np.arange(segments) / segments
    polar, around = np.meshgrid(polar, around, indexing="ij")
    circles = np.stack(
        [np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar)], axis=-1
    ).reshape(-1, 3)
    poles = [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]
    north, south, last = len(circles), len(circles) + 1, (rings - 2) * segments
    triangles = []
    for segment in range(segments):
        following = (segment + 1) % segments
        triangles += [(north, segment, following), (south, last + following, last + segment)]
        for ring in range(0, last, segments):
            a, b = ring + segment, ring + following
            triangles += [(a, b + segments, b), (a, a + segments, b + segments)]
    return BALL_RADIUS * np.concatenate([circles, poles]), np.array(triangles)


def table() -> tuple[np.ndarray, np.ndarray]:
    """A box whose top is at the origin: positions and triangles."""
    half = (-TABLE_HALF_WIDTH, TABLE_HALF_WIDTH)
    positions = np.array([(x, y, z) for x in half for y in half for z in (-1.0, 0.0)])
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return positions, np.array([t for a, b, c, d in faces for t in ((a, b, c), (a, c, d))])


def drape(fabric: str, scene: str, size: float, edge: float) -> Drape:
    """A sheet that falls by 20 mm onto a "ball" or a "table", at default settings."""
    is_ball = scene == "ball"
    positions, quads, side = sheet(size, edge, 0.02 + (BALL_RADIUS if is_ball else 0.0))
    cloth = weft.Cloth(positions, quads, weft.Material.preset(fabric))
    solid = weft.Collider(*(ball() if is_ball else table()))
    simulation = weft.Simulation([cloth], [solid])
    frames = range(int(DURATION * FRAMES_PER_SECOND))
    counts = [simulation.advance(1.0 / FRAMES_PER_SECOND).newton_iterations for _ in frames]
    landing = counts[: int(LANDING * FRAMES_PER_SECOND)]
    return Drape(simulation.positions(), side, float(np.mean(counts)), float(np.mean(landing)))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fabrics", default="cotton,silk,denim")
    parser.add_argument("--edges", default="0.05,0.04,0.02,0.01")
    arguments = parser.parse_args()
    print("| fabric | scene | edge | index | mean height | lowest | silhouette | landing |")
    print("| --- | --- | --: | --: | --: | --: | --: | --: |")
    for fabric in arguments.fabrics.split(","):
        for scene, size in (("ball", 1.0), ("ball", 2.0), ("table", 1.0)):
            for edge in map(float, arguments.edges.split(",")):
                found = drape(fabric, scene, size, edge)
                heights = f"{1e3 * found.mean_height():.1f} mm | {1e3 * found.lowest():.1f} mm"
                print(
                    f"| {fabric} | {scene}, {size:.0f} m | {100 * edge:.0f} cm "
                    f"| {found.smoothness():+.2f} | {heights} | {found.silhouette():.3f} m² "
                    f"| {found.landing_iterations:.1f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
