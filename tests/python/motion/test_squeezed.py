# SPDX-License-Identifier: MIT OR Apache-2.0
"""Cloth that is pressed from both sides keeps its place, and is not thrown when it is released."""

import numpy as np
import pytest
import weft

FRAME = 1.0 / 48.0  # s
FRAMES = 24  # until what presses goes away
CLOSED = 12  # until it has come down
UP = np.array((0.0, 0.0, 1.0))


def sheet(side: int, width: float) -> tuple[np.ndarray, np.ndarray]:
    """Positions of a level square, in m, and its triangles."""
    line = np.linspace(-0.5 * width, 0.5 * width, side)
    positions = np.array([(x, y, 0.0) for x in line for y in line])
    cells = [column * side + row for column in range(side - 1) for row in range(side - 1)]
    corners = [((a, a + side, a + side + 1), (a, a + side + 1, a + 1)) for a in cells]
    return positions, np.array(corners).reshape(-1, 3)


def squeezed(time_step: float, room: float) -> tuple[float, float]:
    """A sheet between two pinned ones, 1 mm thick each, with so much room in m between these.

    The mean height of the one in the middle, in m, and the mean speed at which it goes up once
    the upper one has gone, in m/s.
    """
    cotton = weft.Material.preset("cotton")
    pinned, triangles = sheet(12, 0.33)
    small, _ = sheet(12, 0.165)
    # Nothing is above anything else, nor in one line with it.
    shifts = np.array([(0.0, 0.0, 0.0), (0.003, 0.001, 0.002), (0.004, 0.003, 0.0)])
    starts = [pinned, small + shifts[1], pinned + shifts[2] + 0.0041 * UP]
    cloths = [weft.Cloth(start, triangles, cotton) for start in starts]
    settings = weft.Settings(time_step=time_step, air_density=0.0)
    scene = weft.Simulation(cloths, settings=settings)
    everything = np.arange(len(pinned))
    scene.set_pins(0, everything)
    scene.set_pins(2, everything)

    def advance(height: float) -> None:
        scene.set_pins(2, everything, pinned + shifts[2] + height * UP)
        report = scene.advance(FRAME)
        assert report.unresolved_contacts == 0

    for frame in range(FRAMES):
        advance(np.interp(frame + 1, (0, CLOSED), (0.0041, room)))
    middle = scene.positions(1)[:, 2].mean()
    fastest = 0.0
    for frame in range(12):
        advance(room + 0.1 * (frame + 1))
        fastest = max(fastest, scene.velocities(1)[:, 2].mean())
    return middle, fastest


@pytest.mark.parametrize("room", [0.0026, 0.0012])
def test_what_is_squeezed_keeps_its_place_whatever_the_steps_and_is_not_thrown(room):
    found = [squeezed(time_step, room) for time_step in (1.0 / 24.0, 1.0 / 240.0)]
    for middle, fastest in found:
        # Between both, of which the lower one carries the weight.
        assert abs(middle / (0.5 * room) - 1.0) < 0.1
        # By no more than the speed that separates cloth within the thickness: 2 mm in .1 s.
        assert fastest < 0.04
    assert abs(found[0][0] / found[1][0] - 1.0) < 0.06
