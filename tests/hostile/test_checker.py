# SPDX-License-Identifier: MIT OR Apache-2.0
"""The judge is judged: known configurations, rational arithmetic, another program's answer."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judge.intersections import Scenery, segments_through_triangles, unique_edges
from judge.predicates import orientation_2d, orientation_3d
from judge.sides import is_closed, winding_numbers
from meshes import ball, box, grid, torus, vector

TRIANGLE = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)])
TINY = 1e-12
# Easy and hard numbers for a test of signs: equal, nearly equal, tiny and huge numbers.
AWKWARD = st.sampled_from([0.0, 1.0, 0.1, 0.3, 1 / 3, 0.1 + 0.2, 1e-17, 1e-160, 1e6]) | st.floats(
    -1.0, 1.0
)
POINT = st.tuples(AWKWARD, AWKWARD, AWKWARD)


def meets(segment: object, triangle: object = TRIANGLE) -> bool:
    return bool(segments_through_triangles(np.array([segment]), np.array([triangle]))[0][0])


def exact_determinant(rows: list[list[Fraction]]) -> Fraction:
    (a, b, c), (d, e, f), (g, h, i) = rows
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


def rational(points: object) -> list[list[Fraction]]:
    return [[Fraction(float(x)) for x in point] for point in points]


def exact_orientation(points: object) -> int:
    a, b, c, d = rational(points)
    value = exact_determinant([[x - y for x, y in zip(p, d, strict=True)] for p in (a, b, c)])
    return (value > 0) - (value < 0)


def meets_in_fractions(segment: object, triangle: object) -> bool:
    """Whether a segment that is not coplanar meets a triangle: where they do, in fractions."""
    (p, q), (a, b, c) = rational(segment), rational(triangle)
    columns = [
        [x - y for x, y in zip(b, a, strict=True)],
        [x - y for x, y in zip(c, a, strict=True)],
        [x - y for x, y in zip(p, q, strict=True)],
    ]
    right = [x - y for x, y in zip(p, a, strict=True)]
    whole = exact_determinant(columns)
    u, v, t = (
        exact_determinant([right if i == j else columns[j] for j in range(3)]) / whole
        for i in range(3)
    )
    return u >= 0 and v >= 0 and u + v <= 1 and 0 <= t <= 1


@settings(max_examples=600, deadline=None, derandomize=True)
@given(st.tuples(POINT, POINT, POINT, POINT))
def test_orientation_in_space_is_that_of_fractions(points):
    rows = [np.array([point]) for point in points]
    assert orientation_3d(*rows)[0] == exact_orientation(points)


def test_orientation_of_nearly_coplanar_points():
    generator = np.random.default_rng(1)
    a, b, c = generator.normal(size=(3, 400, 3))
    weights = generator.dirichlet((1.0, 1.0, 1.0), 400)
    d = weights[:, :1] * a + weights[:, 1:2] * b + weights[:, 2:] * c
    found = orientation_3d(a, b, c, d)
    assert found.tolist() == [exact_orientation(p) for p in zip(a, b, c, d, strict=True)]
    assert len(set(found.tolist())) > 1


def test_orientation_in_the_plane_next_to_a_line():
    step = 2.0**-53
    i, j = np.meshgrid(np.arange(64), np.arange(64))
    a = np.stack([0.5 + i.ravel() * step, 0.5 + j.ravel() * step], axis=1)
    b, c = np.broadcast_to((12.0, 12.0), a.shape), np.broadcast_to((24.0, 24.0), a.shape)
    expected = np.sign(i.ravel() - j.ravel())
    # Left of the line is positive: above the diagonal is j > i, seen from a towards b.
    assert np.array_equal(orientation_2d(a, b, c), expected) or np.array_equal(
        orientation_2d(a, b, c), -expected
    )


@pytest.mark.parametrize(
    ("end", "expected"),
    [(-1.0, True), (-TINY, True), (0.0, True), (5e-324, False), (TINY, False), (0.5, False)],
)
def test_a_segment_from_above_meets_the_face_only_if_it_reaches_it(end, expected):
    assert meets([(0.2, 0.2, 1.0), (0.2, 0.2, end)]) is expected


@pytest.mark.parametrize("beside", [TINY, np.finfo(float).eps])
def test_a_segment_close_to_the_rim(beside):
    assert meets([(0.2, 0.0, 1.0), (0.2, 0.0, -1.0)])
    assert meets([(0.2, beside, 1.0), (0.2, beside, -1.0)])
    assert not meets([(0.2, -beside, 1.0), (0.2, -beside, -1.0)])
    assert meets([(0.5, 0.5, 1.0), (0.5, 0.5, -1.0)])
    assert not meets([(0.5, 0.5 + beside, 1.0), (0.5, 0.5 + beside, -1.0)])


@pytest.mark.parametrize(
    ("segment", "expected"),
    [
        ([(-0.5, 0.5, 0.0), (0.5, 0.5, 0.0)], True),  # through a side, in the plane
        ([(0.2, 0.2, 0.0), (0.3, 0.3, 0.0)], True),  # inside
        ([(-0.5, 0.0, 0.0), (0.0, 0.0, 0.0)], True),  # ends at a corner
        ([(-0.5, 0.0, 0.0), (-TINY, 0.0, 0.0)], False),
        ([(2.0, 0.0, 0.0), (3.0, 0.0, 0.0)], False),  # on the line of a side
        ([(-1.0, 0.5, 0.0), (-0.5, 2.0, 0.0)], False),
        ([(1.0, 1.0, 0.0), (0.6, 0.6, 0.0)], False),
        ([(0.2, 0.2, 0.0), (0.2, 0.2, 0.0)], True),  # a point
        ([(0.7, 0.7, 0.0), (0.7, 0.7, 0.0)], False),
    ],
)
def test_segments_in_the_plane_of_the_face(segment, expected):
    assert meets(segment) is expected
    turned = np.roll(np.array(segment), 1, axis=1)
    assert meets(turned, np.roll(TRIANGLE, 1, axis=1)) is expected


def test_a_face_without_area_is_met_by_nothing():
    line = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.5, 0.0, 0.0)]
    assert not meets([(0.5, 0.0, 1.0), (0.5, 0.0, -1.0)], line)
    assert not meets([(0.2, 0.0, 0.0), (0.4, 0.0, 0.0)], [(0.3, 0.0, 0.0)] * 3)


def test_direction_is_that_of_the_normal():
    up = np.array([[(0.2, 0.2, -1.0), (0.2, 0.2, 1.0)]])
    assert segments_through_triangles(up, TRIANGLE[None])[1][0] == 1
    assert segments_through_triangles(up[:, ::-1], TRIANGLE[None])[1][0] == -1


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.tuples(POINT, POINT), st.tuples(POINT, POINT, POINT))
def test_segments_and_faces_as_fractions_have_it(segment, triangle):
    ends = [exact_orientation([*triangle, point]) for point in segment]
    if ends[0] == 0 and ends[1] == 0:
        return
    expected = ends[0] * ends[1] <= 0 and meets_in_fractions(segment, triangle)
    assert meets(segment, triangle) is expected


def soup(seed: int, count: int = 40, size: float = 0.4) -> tuple[np.ndarray, np.ndarray]:
    """Separate random triangles in a unit cube."""
    generator = np.random.default_rng(seed)
    middles = generator.uniform(size=(count, 1, 3))
    corners = middles + generator.uniform(-0.5 * size, 0.5 * size, size=(count, 3, 3))
    return corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3)


def all_pairs(positions: np.ndarray, triangles: np.ndarray) -> set[tuple[int, ...]]:
    """The answer without a tree."""
    found = set()
    for edge in unique_edges(triangles).tolist():
        for face in triangles.tolist():
            if not set(edge) & set(face) and meets(positions[edge], positions[face]):
                found.add((*edge, *face))
    return found


def as_scenery(positions: np.ndarray, triangles: np.ndarray) -> Scenery:
    scenery = Scenery()
    scenery.add("soup", len(positions), triangles, is_cloth=True)
    return scenery


@pytest.mark.parametrize("seed", range(4))
def test_the_tree_loses_no_pair(seed):
    positions, triangles = soup(seed)
    found = as_scenery(positions, triangles).intersections(positions)
    expected = all_pairs(positions, triangles)
    assert {(*intersection.edge, *intersection.face) for intersection in found} == expected
    assert expected


def test_touching_soup_on_a_lattice():
    # Corners on few places: shared points, coplanar faces, sides on sides.
    generator = np.random.default_rng(5)
    positions = generator.integers(0, 4, size=(90, 3)) / 3.0
    triangles = np.arange(90).reshape(-1, 3)
    found = as_scenery(positions, triangles).intersections(positions)
    assert {(*intersection.edge, *intersection.face) for intersection in found} == all_pairs(
        positions, triangles
    )
    assert {intersection.crosses for intersection in found} == {False, True}


@pytest.mark.parametrize("seed", range(8))
def test_random_soups_as_ipctk_has_them(seed):
    ipctk = pytest.importorskip("ipctk", reason="ipctk has no wheel for this Python or machine")
    size = 0.1 if seed % 2 else 0.3
    positions, triangles = soup(seed, 120 if seed % 2 else 50, size)
    edges = unique_edges(triangles).astype(np.int32)
    mesh = ipctk.CollisionMesh(positions, edges, triangles.astype(np.int32))
    ours = as_scenery(positions, triangles).intersections(positions)
    assert ipctk.has_intersections(mesh, np.asfortranarray(positions)) is bool(ours)
    for intersection in ours:
        assert ipctk.is_edge_intersecting_triangle(
            *intersection.edge_points, *intersection.face_points
        )
    theirs = sum(
        ipctk.is_edge_intersecting_triangle(*positions[edge], *positions[face])
        for edge in edges
        for face in triangles
        if not set(edge.tolist()) & set(face.tolist())
    )
    assert theirs == len(ours)


def test_a_flat_sheet_a_ball_and_a_torus_cross_nothing():
    for positions, triangles in (grid(20), ball(0.3, 2), torus(0.3, 0.1)):
        assert not as_scenery(positions, triangles).intersections(positions)


@pytest.mark.parametrize("offset", [0.0, TINY, -TINY, 1e-6])
def test_two_sheets_that_touch_or_nearly_do(offset):
    lower, triangles = grid(6)
    upper = lower + vector(0.013, 0.017, offset)
    scenery = Scenery()
    scenery.add("lower", len(lower), triangles, is_cloth=True)
    scenery.add("upper", len(upper), triangles, is_cloth=True)
    found = scenery.intersections(np.concatenate([lower, upper]))
    assert bool(found) is (offset == 0.0)


def test_what_is_reported_of_a_crossing():
    sheet, triangles = grid(3)
    needle = np.array([(0.1, 0.2, -1.0), (0.1, 0.2, 1.0), (0.1, 5.0, 1.0)])
    scenery = Scenery()
    scenery.add("sheet", len(sheet), triangles, is_cloth=True)
    scenery.add("needle", 3, np.array([(0, 1, 2)]), is_cloth=False)
    found = scenery.intersections(np.concatenate([sheet, needle]))
    straight = next(c for c in found if c.edge == (0, 1) and c.edge_of == "needle")
    assert straight.crosses
    assert straight.face_of == "sheet"
    assert set(straight.face) in [set(face) for face in triangles.tolist()]
    assert "edge (0, 1) of needle passes through face" in str(straight)


def test_colliders_may_cross_each_other():
    scenery = Scenery()
    positions, triangles = ball(0.3, 1)
    scenery.add("one", len(positions), triangles, is_cloth=False)
    scenery.add("other", len(positions), triangles, is_cloth=False)
    assert not scenery.intersections(np.concatenate([positions, positions + 0.1]))


def test_winding_numbers_of_a_ball_are_exact_up_to_its_faces():
    positions, triangles = ball(0.5, 2)
    assert is_closed(triangles)
    centroids = positions[triangles].mean(axis=1)
    assert (winding_numbers(centroids * (1.0 - 1e-12), positions, triangles) == 1).all()
    assert (winding_numbers(centroids * (1.0 + 1e-12), positions, triangles) == 0).all()


def test_winding_numbers_of_a_torus_and_of_a_surface_that_crosses_itself():
    positions, triangles = torus(0.3, 0.1)
    points = np.array([(0.0, 0.0, 0.0), (0.3, 0.0, 0.0), (0.0, -0.3, 0.05), (0.3, 0.0, 0.11)])
    assert winding_numbers(points, positions, triangles).tolist() == [0, 1, 1, 0]
    twice = np.concatenate([positions, positions + vector(0.05, 0.0, 0.0)])
    both = np.concatenate([triangles, triangles + len(positions)])
    assert winding_numbers(points[1:2], twice, both).tolist() == [2]


def test_rays_through_edges_and_corners_are_replaced():
    positions, triangles = box((1.0, 1.0, 1.0))
    line = np.linspace(-0.75, 0.75, 7)
    points = np.stack(np.meshgrid(line, line, line), axis=-1).reshape(-1, 3)
    inside = (np.abs(points) < 0.5).all(axis=1)
    found = winding_numbers(points, positions, triangles)
    assert np.array_equal(found == 1, inside)


def test_every_three_corners_of_a_tetrahedron_are_sides_of_it():
    corners = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)])
    triangles = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    assert is_closed(triangles)
    assert not is_closed(triangles[:3])
    assert winding_numbers(np.array([(0.1, 0.1, 0.1)]), corners, triangles)[0] == 1
    assert len(unique_edges(triangles)) == len(list(combinations(range(4), 2)))
