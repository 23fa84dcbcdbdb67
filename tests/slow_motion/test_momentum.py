# SPDX-License-Identifier: MIT OR Apache-2.0
"""Momentum of cloth in vacuum: it changes by what acts from outside alone."""

import numpy as np
import weft
from slow_scenes.common import (
    FRAME,
    GRAVITY,
    IN_VACUUM,
    advance,
    ball,
    masses,
    moved,
    simulation,
    strip,
    triangles_of,
)

EXACT = 1e-6  # m/s
FALL = np.array((0.0, 0.0, -GRAVITY))


def mean_velocity(scene: weft.Simulation, weights: np.ndarray) -> np.ndarray:
    return weights @ scene.velocities() / weights.sum()


def largest_error_of_a_fall(scene: weft.Simulation, weights: np.ndarray, frames: int) -> float:
    """Of the mean velocity in free fall, in m/s."""
    worst = 0.0
    for _ in range(frames):
        scene.advance(FRAME)
        worst = max(worst, np.abs(mean_velocity(scene, weights) - FALL * scene.time).max())
    return worst


def test_a_wrinkled_and_strained_sheet_falls_freely():
    rest, _ = strip(21, 21, 0.5, 0.5)
    triangles = triangles_of(21, 21)
    start = rest + np.random.default_rng(1).normal(0.0, 2e-4, rest.shape)
    start[:, 2] += 0.005 * np.sin(40.0 * rest[:, 0])
    cloth = weft.Cloth(start, triangles, IN_VACUUM, rest_positions=rest)
    weights = masses(rest, triangles, IN_VACUUM.density)
    assert largest_error_of_a_fall(simulation([cloth], [], {}), weights, 24) < EXACT


def spiral_radius(angle: np.ndarray | float) -> np.ndarray | float:
    """30 mm inside, and 4 mm from one turn to the next."""
    return 0.03 + 0.004 * angle / (2.0 * np.pi)


def roll(along: np.ndarray, across: np.ndarray, columns: int) -> np.ndarray:
    """A spiral of the same length."""
    angles = [0.0]
    for edge in np.diff(along[::columns]):
        angles.append(angles[-1] + 2.0 * np.arcsin(0.5 * edge / spiral_radius(angles[-1])))
    angle = np.repeat(angles, columns)
    radius = spiral_radius(angle)
    return np.stack([radius * np.sin(angle), across, -radius * np.cos(angle)], axis=-1)


def test_a_sheet_that_rolls_up_falls_freely():
    """Flat at first, a roll at rest: it springs into it and touches itself."""
    flat, _ = strip(41, 9, 0.6, 0.12)
    triangles = triangles_of(41, 9)
    rest = roll(flat[:, 0], flat[:, 1], 9)
    fabric = IN_VACUUM.replace(bend_warp=2e-4, bend_weft=2e-4)
    scene = simulation([weft.Cloth(flat, triangles, fabric, rest_positions=rest)], [], {})
    weights = masses(rest, triangles, fabric.density)
    assert largest_error_of_a_fall(scene, weights, 48) < EXACT
    assert np.ptp(scene.positions()[:, 0]) < 0.2


def test_a_sheet_that_has_slid_off_a_ball_falls_freely():
    """From frame to frame without contact the velocity changes by gh.

    Once the ball is a metre away: BDF(2) hands over two thirds of an impulse in the step in which
    it acts, and two thirds of the rest in each that follows.
    """
    start, _ = strip(17, 17, 0.3, 0.3)
    triangles = triangles_of(17, 17)
    fabric = IN_VACUUM.replace(friction=0.1)
    cloth = weft.Cloth(moved(start, x=-0.05, z=0.12), triangles, fabric)
    scene = simulation([cloth], [weft.Collider(*ball(0.1, 16), friction=0.1)], {})
    weights = masses(start, triangles, fabric.density)
    errors, velocity, touched = [], None, True
    for _ in range(36):
        touches = scene.advance(FRAME).contacts > 0
        before, velocity = velocity, mean_velocity(scene, weights)
        is_far = np.linalg.norm(scene.positions(), axis=1).min() > 1.0
        if before is not None and is_far and not touches and not touched:
            errors.append(np.abs(velocity - before - FALL * FRAME).max())
        touched = touches
    assert len(errors) > 6
    assert max(errors) < EXACT


def test_a_sheet_that_hits_a_ball_of_cloth_hands_its_momentum_over():
    """At 2 m/s, without gravity."""
    start, _ = strip(17, 17, 0.4, 0.4)
    triangles = triangles_of(17, 17)
    start = moved(start, x=-0.2, z=0.3)
    solid, faces = ball(0.1, 8)
    stiff = IN_VACUUM.replace(stretch_warp=3e3, stretch_weft=3e3, shear=1e3, bend_warp=1e-3)
    cloths = [weft.Cloth(start, triangles, IN_VACUUM), weft.Cloth(solid, faces, stiff)]
    scene = simulation(cloths, [], {"gravity": (0.0, 0.0, 0.0)})
    scene.set_guided_velocity(0, np.arange(len(start)), np.eye(3), (0.0, 0.0, -2.0))
    advance(scene, 1)
    scene.release_pins(0)
    weights = [
        masses(start, triangles, IN_VACUUM.density),
        masses(solid, faces, stiff.density),
    ]

    def momentum() -> np.ndarray:
        return sum(weights[cloth] @ scene.velocities(cloth) for cloth in (0, 1))

    before = momentum()
    for _ in range(24):
        scene.advance(FRAME)
        assert np.abs(momentum() - before).max() < EXACT * weights[0].sum()
    assert np.linalg.norm(weights[1] @ scene.velocities(1)) > 0.1 * np.linalg.norm(before)
