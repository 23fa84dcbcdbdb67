# SPDX-License-Identifier: MIT OR Apache-2.0
"""The triangles that faces are cut into: told, taken, and guarded whichever way they are drawn."""

import numpy as np
import pytest
import weft
from small_cloths import FRAME, grid

COTTON = weft.Material.preset("cotton")
PENTAGON = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.4, 0.8, 0.0], [0.5, 1.5, 0.0], [-0.4, 0.8, 0.0]]


def as_sets(triangles) -> set[frozenset[int]]:
    return {frozenset(map(int, one)) for one in triangles}


def test_a_cloth_tells_its_triangles_face_by_face():
    positions, quads = grid()
    triangles = weft.Cloth(positions, quads, COTTON).triangles
    assert triangles.dtype == np.int64 and triangles.shape == (2 * len(quads), 3)
    pairs = triangles.reshape(-1, 6)
    assert all(set(pair) == set(quad) for pair, quad in zip(pairs.tolist(), quads, strict=True))


@pytest.mark.parametrize("diagonal", [[[0, 1, 2], [0, 2, 3]], [[0, 1, 3], [1, 2, 3]]])
def test_a_cloth_takes_triangles_and_its_own_again(diagonal):
    positions, quads = grid()
    wanted = np.asarray(quads)[:, diagonal].reshape(-1, 3)
    cloth = weft.Cloth(positions, quads, COTTON, triangles=wanted)
    assert as_sets(cloth.triangles) == as_sets(wanted)
    again = weft.Cloth(positions, quads, COTTON, triangles=cloth.triangles)
    np.testing.assert_array_equal(again.triangles, cloth.triangles)


def test_triangles_of_a_pentagon_are_those_given():
    given = [[1, 2, 3], [1, 3, 4], [4, 0, 1]]
    cloth = weft.Cloth(PENTAGON, [[0, 1, 2, 3, 4]], COTTON, triangles=given)
    assert as_sets(cloth.triangles) == as_sets(given)


@pytest.mark.parametrize(
    ("triangles", "words"),
    [
        ([[0, 1, 2]], "triangles: 1 triangles"),
        ([[0, 1, 2], [0, 2, 7]], "triangle 1"),
        ([[0, 1, 2], [1, 2, 3]], "triangle 0"),
        ([[0, 1, 2], [0, 2, 2]], "triangle 1"),
    ],
)
def test_triangles_that_do_not_cut_the_faces_are_refused(triangles, words):
    square = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [2.0, 0.0, 0.0]]
    with pytest.raises(ValueError, match="triangles") as refused:
        weft.Cloth(square[:4], [[0, 1, 2, 3]], COTTON, triangles=triangles)
    assert words in str(refused.value)
    with pytest.raises(ValueError, match="triangles"):
        weft.Collider(square[:4], triangles, faces=[[0, 1, 2, 3]])


def heights_over_a_folded_quad(**options: object) -> np.ndarray:
    """Heights of a small triangle after a second. It falls on a quad, over the middle: one diagonal
    is a valley there, and the other a ridge.
    """
    corners = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.2], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.2]]
    ground = weft.Collider(corners, [[0, 1, 2], [0, 2, 3]], friction=1.0, **options)
    positions = [[-0.05, -0.05, 0.3], [0.05, -0.05, 0.3], [0.0, 0.05, 0.3]]
    cloth = weft.Cloth(positions, [[0, 1, 2]], COTTON)
    simulation = weft.Simulation([cloth], [ground])
    for _ in range(24):
        simulation.advance(FRAME)
    return simulation.positions()[:, 2]


def test_cloth_is_kept_off_the_other_cut_of_a_face_that_is_known():
    assert heights_over_a_folded_quad().max() < 0.1
    assert heights_over_a_folded_quad(faces=[[0, 1, 2, 3]]).min() > 0.19


def test_faces_of_a_collider_keep_what_triangles_alone_do():
    """On level ground both cuts are one surface."""
    corners = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]]
    shapes = []
    for options in ({}, {"faces": [[0, 1, 2, 3]]}):
        ground = weft.Collider(corners, [[0, 1, 2], [0, 2, 3]], **options)
        positions, quads = grid()
        cloth = weft.Cloth(np.asarray(positions) + np.array([0.0, 0.0, 0.05]), quads, COTTON)
        simulation = weft.Simulation([cloth], [ground])
        for _ in range(24):
            simulation.advance(FRAME)
        shapes.append(simulation.positions())
    np.testing.assert_allclose(shapes[0], shapes[1], atol=1e-5)


def test_cloth_that_starts_across_the_other_cut_comes_free():
    corners = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.2], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.2]]
    ground = weft.Collider(corners, [[0, 1, 2], [0, 2, 3]], faces=[[0, 1, 2, 3]])
    positions, quads = grid()
    positions = np.asarray(positions) * 0.5 + np.array([0.02, 0.01, 0.15])
    simulation = weft.Simulation([weft.Cloth(positions, quads, COTTON)], [ground])
    crossings = [simulation.advance(FRAME).unresolved_contacts for _ in range(24)]
    assert crossings[0] > 0 and crossings[-1] == 0, crossings
