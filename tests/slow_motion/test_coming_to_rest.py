# SPDX-License-Identifier: MIT OR Apache-2.0
"""How cloth comes to rest, and that it stays calm."""

import numpy as np
import pytest
import weft
from slow_scenes import hanging
from slow_scenes.common import (
    COTTON,
    FRAME,
    about_z,
    advance,
    assert_below,
    ball,
    converged,
    floor,
    moved,
    simulation,
    strip,
)

CALM = 1e-3  # m/s


def test_a_sheet_held_by_its_edge_swings_and_settles_as_the_equations_say():
    ways, reference = hanging.swing(), converged("swing")
    decay = hanging.swing_decay
    assert abs(decay(ways) / decay(reference) - 1.0) < 0.1
    assert np.sqrt(((ways - reference) ** 2).mean() / (reference**2).mean()) < 0.1


def test_a_sheet_held_by_two_corners_settles_at_the_rate_of_the_equations():
    energies, reference = hanging.by_two_corners(), converged("by two corners")
    at_rest = reference[-1]
    rates = [hanging.energy_decay(each, at_rest) for each in (energies, reference)]
    assert_below(0.1, reached=0.18, value=abs(rates[0] / rates[1] - 1.0))


def on_the_floor() -> tuple[list[weft.Cloth], list[weft.Collider]]:
    positions, quads = strip(26, 26, 0.5, 0.5)
    positions = moved(positions @ about_z(0.3).T, z=0.03)
    return [weft.Cloth(positions, quads, COTTON)], [floor()]


def on_a_ball() -> tuple[list[weft.Cloth], list[weft.Collider]]:
    positions, quads = strip(21, 21, 0.6, 0.6)
    return [weft.Cloth(moved(positions, x=-0.3, z=0.33), quads, COTTON)], [
        weft.Collider(*ball(0.3, 16))
    ]


def ten_layers() -> tuple[list[weft.Cloth], list[weft.Collider]]:
    positions, quads = strip(9, 9, 0.24, 0.24)
    positions = moved(positions, x=-0.12)
    turned = [moved(positions @ about_z(0.1 * k).T, z=0.004 * (k + 1)) for k in range(10)]
    return [weft.Cloth(each, quads, COTTON) for each in turned], [floor()]


@pytest.mark.parametrize(
    ("scene", "reached"),
    # Folds over a ball swing on in air, as converged ones do.
    [(on_the_floor, CALM), (on_a_ball, 0.02), (ten_layers, CALM)],
)
def test_what_lies_is_calm_after_three_seconds(scene: object, reached: float):
    cloths, colliders = scene()
    lying = simulation(cloths, colliders, {})
    advance(lying, 72)
    speeds = []
    for _ in range(12):
        lying.advance(FRAME)
        for cloth in range(len(cloths)):
            speeds.append(np.linalg.norm(lying.velocities(cloth), axis=1).max())
    assert_below(CALM, reached=reached, value=max(speeds))
