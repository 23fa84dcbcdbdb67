# SPDX-License-Identifier: MIT OR Apache-2.0
"""The order of garments: cloths that cross at the start come apart as their layers say."""

import numpy as np
import pytest
import weft
from small_cloths import FRAME, floor, grid

TILT = 0.15


def heights(layers: tuple[int, int], shift: float) -> list[float]:
    """How high a level sheet and one tilted through it, higher by `shift`, come to lie, in m."""
    positions, quads = grid()
    positions = 0.5 * (positions - positions.mean(axis=0))
    tilted = positions.copy()
    tilted[:, 2] = np.sin(TILT) * positions[:, 1]
    places = (positions, tilted + np.array((0.013, 0.007, shift)))
    cotton = weft.Material.preset("cotton")
    cloths = [
        weft.Cloth(points + np.array((0.0, 0.0, 0.06)), quads, cotton, layer=layer)
        for points, layer in zip(places, layers, strict=True)
    ]
    scene = weft.Simulation(cloths, [weft.Collider(*floor(0.0))])
    for _ in range(54):
        report = scene.advance(FRAME)
    assert report.unresolved_contacts == 0
    return [float(scene.positions(index)[:, 2].mean()) for index in range(2)]


@pytest.mark.parametrize("shift", [-0.02, 0.0, 0.02])
@pytest.mark.parametrize("layers", [(0, 1), (3, 2)])
def test_the_higher_layer_comes_to_lie_on_the_side_of_the_normals(layers, shift):
    level, tilted = heights(layers, shift)
    assert (tilted > level + 1e-3) == (layers[1] > layers[0]), (level, tilted)
    assert abs(tilted - level) > 1e-3


def test_layers_of_the_same_number_part_to_where_most_of_each_is():
    assert heights((2, 2), -0.02)[0] > heights((2, 2), -0.02)[1]


def test_a_layer_is_a_whole_number():
    positions, quads = grid()
    for wrong in (-1, 1.5, True):
        with pytest.raises((TypeError, ValueError), match="layer"):
            weft.Cloth(positions, quads, weft.Material.preset("cotton"), layer=wrong)
