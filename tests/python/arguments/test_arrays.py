# SPDX-License-Identifier: MIT OR Apache-2.0
"""Arrays: every dtype, layout and sequence that means the same gives the same bits."""

import numpy as np
import pytest
import weft
from small_cloths import FRAME, SIDE, grid, simulation

COTTON = weft.Material.preset("cotton")
CORNERS = [0, SIDE - 1]


def on_float32_grid() -> tuple[np.ndarray, np.ndarray]:
    positions, quads = grid()
    return positions.astype(np.float32).astype(np.float64), quads


def moved(cloth: weft.Cloth) -> np.ndarray:
    """Where the cloth is after two frames on two pins."""
    scene = weft.Simulation([cloth])
    scene.set_pins(0, CORNERS)
    scene.advance(FRAME)
    scene.advance(FRAME)
    return scene.positions()


@pytest.fixture(scope="module")
def expected() -> np.ndarray:
    positions, quads = on_float32_grid()
    return moved(weft.Cloth(positions, quads, COTTON))


def read_only(array: np.ndarray) -> np.ndarray:
    array = array.copy()
    array.flags.writeable = False
    return array


def every_second(array: np.ndarray) -> np.ndarray:
    return np.repeat(array, 2, axis=0)[::2]


def backwards(array: np.ndarray) -> np.ndarray:
    return array[::-1, ::-1].copy()[::-1, ::-1]


def unaligned(array: np.ndarray) -> np.ndarray:
    record = np.dtype([("flag", "u1"), ("row", array.dtype, array.shape[1:])])
    records = np.zeros(len(array), record)
    records["row"] = array
    return records["row"]


LAYOUTS = {
    "float32": lambda array: array.astype(np.float32),
    "Fortran order": np.asfortranarray,
    "read-only": read_only,
    "every second row": every_second,
    "negative strides": backwards,
    "unaligned": unaligned,
    "big-endian": lambda array: array.astype(array.dtype.newbyteorder(">")),
    "lists": np.ndarray.tolist,
    "tuples": lambda array: tuple(map(tuple, array.tolist())),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_the_layout_of_positions_does_not_matter(layout, expected):
    positions, quads = on_float32_grid()
    result = moved(weft.Cloth(layout(positions), quads, COTTON))
    np.testing.assert_array_equal(result, expected)


INTEGERS = [f"{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)]
INDEX_LAYOUTS = {name: layout for name, layout in LAYOUTS.items() if name != "float32"}


@pytest.mark.parametrize("dtype", INTEGERS)
def test_the_dtype_of_faces_does_not_matter(dtype, expected):
    positions, quads = on_float32_grid()
    result = moved(weft.Cloth(positions, quads.astype(dtype), COTTON))
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("layout", INDEX_LAYOUTS.values(), ids=INDEX_LAYOUTS.keys())
def test_the_layout_of_faces_does_not_matter(layout, expected):
    positions, quads = on_float32_grid()
    result = moved(weft.Cloth(positions, layout(quads), COTTON))
    np.testing.assert_array_equal(result, expected)


def test_faces_of_different_sizes_may_be_mixed():
    positions = np.array([(0, 0, 0), (1, 0, 0), (2, 0, 0), (2, 1, 0), (1, 1, 0), (0, 1, 0)], float)
    mixed = [[0, 1, 4, 5], np.array([1, 2, 3], np.uint16), (1, 3, 4)]
    assert "6 vertices, 4 triangles" in repr(weft.Cloth(positions, mixed, COTTON))
    hexagon = weft.Cloth(positions, [range(6)], COTTON)
    assert "6 vertices, 4 triangles" in repr(hexagon)


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda v: np.array(v, np.uint8), iter])
def test_vertices_to_pin_may_be_any_integers(kind):
    scene = simulation()
    before = scene.positions()
    scene.set_pins(0, kind(CORNERS))
    scene.advance(FRAME)
    np.testing.assert_array_equal(scene.positions()[CORNERS], before[CORNERS])


def test_no_vertices_to_pin_are_no_vertices():
    scene = simulation()
    scene.set_pins(0, [])
    scene.set_pins(0, np.array([], np.int32), np.zeros((0, 3)))
    scene.advance(FRAME)
    assert (scene.positions()[:, 2] < 0.0).all()


def test_coordinates_per_corner_and_per_vertex_give_the_same_yarns():
    positions, quads = on_float32_grid()
    turned = positions[:, [1, 0]]
    per_vertex = moved(weft.Cloth(positions, quads, COTTON, uv=turned))
    per_corner = moved(weft.Cloth(positions, quads, COTTON, uv=turned[quads.ravel()]))
    np.testing.assert_array_equal(per_corner, per_vertex)


def test_the_warp_follows_u(expected):
    positions, quads = on_float32_grid()
    along_x = moved(weft.Cloth(positions, quads, COTTON, uv=positions[:, :2]))
    along_y = moved(weft.Cloth(positions, quads, COTTON, uv=positions[:, [1, 0]]))
    np.testing.assert_allclose(along_x, expected, atol=1e-9)
    assert np.abs(along_y - along_x).max() > 1e-6


def test_as_many_coordinates_as_vertices_are_one_per_vertex():
    # A lone triangle has three vertices and three corners, here in another order.
    positions = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)])
    stretched = 1.01 * positions
    uv = np.array([(0.0, 0.0), (0.0, 1.0), (1.0, 0.0)])
    energies = []
    for faces in ([(0, 1, 2)], [(1, 2, 0)]):
        cloth = weft.Cloth(
            stretched * (1.0, 1.1, 1.0), faces, COTTON, rest_positions=positions, uv=uv
        )
        energies.append(weft.Simulation([cloth]).energy()["stretch"])
    assert energies[0] == pytest.approx(energies[1], rel=1e-12)


def test_arrays_that_come_out_are_fresh_copies():
    scene = simulation()
    first = scene.positions()
    assert first.dtype == np.float64
    assert first.shape == (SIDE * SIDE, 3)
    assert first.flags.c_contiguous
    assert first.flags.writeable
    assert first.flags.owndata
    first[:] = 7.0
    scene.velocities()[:] = 7.0
    np.testing.assert_array_equal(scene.positions(), grid()[0])
    np.testing.assert_array_equal(scene.velocities(), 0.0)


def test_arrays_that_went_in_may_change_afterwards():
    positions, quads = grid()
    cloth = weft.Cloth(positions, quads, COTTON)
    scene = weft.Simulation([cloth])
    targets = positions[CORNERS]
    scene.set_pins(0, CORNERS, targets)
    expected = targets.copy()
    positions[:] = 5.0
    quads[:] = 0
    targets[:] = 5.0
    scene.advance(FRAME)
    np.testing.assert_array_equal(scene.positions()[CORNERS], expected)
