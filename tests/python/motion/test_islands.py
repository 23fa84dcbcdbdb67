# SPDX-License-Identifier: MIT OR Apache-2.0
"""Scenes side by side have the bits of each alone: positions, iterations and report."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import pytest
import weft

FRAME = 1.0 / 24.0  # s
FRAMES = 12
SIDE = 11  # vertices along a side


@dataclass
class Part:
    """Cloths and colliders of a scene, and what is done to each cloth after it was built."""

    cloths: list[weft.Cloth]
    colliders: list[weft.Collider] = field(default_factory=list)
    prepare: Callable[[weft.Simulation, int], None] = lambda simulation, first: None


def grid(width: float, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions of a level square around a point, in m, and its quads."""
    line = np.linspace(-0.5 * width, 0.5 * width, SIDE)
    points = np.array([(x, y, 0.0) for x in line for y in line]) + start
    corner = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    quads = [corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:], corner[:-1, 1:]]
    return points, np.stack(quads, -1).reshape(-1, 4)


def sheet(width: float, start: np.ndarray, fabric: str = "cotton", **rest: object) -> weft.Cloth:
    return weft.Cloth(*grid(width, start), weft.Material.preset(fabric), **rest)


def hung(start: np.ndarray) -> Part:
    def pin(simulation: weft.Simulation, first: int) -> None:
        simulation.set_pins(first, [0, SIDE - 1])

    return Part([sheet(0.5, start)], prepare=pin)


def on_a_box(start: np.ndarray) -> Part:
    corners = np.array([(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [one for a, b, c, d in faces for one in ((a, b, c), (a, c, d))]
    return Part(
        [sheet(0.5, start + np.array((0.0, 0.0, 0.12)), "silk")],
        [weft.Collider(corners + start, np.array(triangles))],
    )


def two_layers(start: np.ndarray) -> Part:
    """A sheet that falls on another one, which is held by its rim."""

    def pin(simulation: weft.Simulation, first: int) -> None:
        index = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
        rim = np.concatenate([index[0], index[-1], index[1:-1, 0], index[1:-1, -1]])
        simulation.set_pins(first, rim)

    return Part(
        [sheet(0.5, start), sheet(0.3, start + np.array((0.01, 0.02, 0.05)), "denim")], prepare=pin
    )


def pulled(start: np.ndarray) -> Part:
    """A sheet whose edge is led upwards through the first frame."""

    def pin(simulation: weft.Simulation, first: int) -> None:
        edge = np.arange(SIDE)
        up = simulation.positions(first)[edge] + (0.0, 0.0, 0.05)
        simulation.set_pins(first, edge, up)

    return Part([sheet(0.4, start, "felt")], prepare=pin)


SCENES = [hung, on_a_box, two_layers, pulled]


def run(parts: list[Part], threads: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Final positions of all cloths, and counts of every frame."""
    cloths = [cloth for part in parts for cloth in part.cloths]
    colliders = [collider for part in parts for collider in part.colliders]
    simulation = weft.Simulation(cloths, colliders, weft.Settings(threads=threads))
    first = 0
    for part in parts:
        part.prepare(simulation, first)
        first += len(part.cloths)
    counts = []
    for _ in range(FRAMES):
        report = simulation.advance(FRAME)
        assert report.unresolved_contacts == 0
        of_frame = (report.steps, report.rejected_steps, report.newton_iterations)
        counts.append(np.array([*of_frame, report.linear_iterations, report.contacts]))
    return [simulation.positions(cloth) for cloth in range(len(cloths))], counts


@pytest.mark.parametrize(
    "pair", list(combinations(SCENES, 2)), ids=lambda pair: "-".join(one.__name__ for one in pair)
)
def test_two_scenes_side_by_side_have_the_bits_of_each_alone(pair):
    parts = [make(np.array([x, 0.0, 0.5])) for make, x in zip(pair, (-0.6, 0.6), strict=True)]
    alone = [run([part], 1) for part in parts]
    for threads in (1, 2, 7):
        positions, counts = run(parts, threads)
        for found, wanted in zip(positions, alone[0][0] + alone[1][0], strict=True):
            assert found.tobytes() == wanted.tobytes()
        for found, one, other in zip(counts, alone[0][1], alone[1][1], strict=True):
            assert np.array_equal(found, one + other)
