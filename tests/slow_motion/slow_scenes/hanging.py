# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sheets of 1 m that come to rest hanging, in air."""

import numpy as np
import weft
from slow_scenes.common import COTTON, FRAME, about_y, simulation, strip

SIDE = 26
FRAMES = 192
SWING = 70.0  # degrees below the level at which the swinging sheet starts


def swing(**settings: object) -> np.ndarray:
    """How far a sheet is aside that is held by its upper edge and let go at 20°, in m."""
    rest, quads = strip(SIDE, SIDE, 1.0, 1.0)
    cloth = weft.Cloth(rest @ about_y(SWING).T, quads, COTTON, rest_positions=rest)
    scene = simulation([cloth], [], settings)
    scene.set_pins(0, np.arange(SIDE))
    ways = []
    for _ in range(FRAMES):
        scene.advance(FRAME)
        ways.append(scene.positions()[:, 0].mean())
    return np.array(ways)


def by_two_corners(**settings: object) -> np.ndarray:
    """Energy of a sheet that starts level, held by two corners, in J."""
    scene = simulation([weft.Cloth(*strip(SIDE, SIDE, 1.0, 1.0), COTTON)], [], settings)
    scene.set_pins(0, [0, SIDE - 1])
    energies = []
    for _ in range(FRAMES):
        scene.advance(FRAME)
        energies.append(scene.energy()["total"])
    return np.array(energies)


def swing_decay(ways: np.ndarray) -> float:
    """Rate in 1/s at which the amplitude falls from the first 3 s to the last 5."""
    early, late = ways[:72], ways[72:]
    return float(np.log(np.sqrt((early**2).mean() / (late**2).mean())) / 5.5)


def energy_decay(energies: np.ndarray, at_rest: float) -> float:
    """Rate in 1/s at which the energy comes down from the second to the fifth second."""
    second, fifth = energies[24:48].mean(), energies[96:120].mean()
    return float(np.log((second - at_rest) / (fifth - at_rest)) / 3.0)
