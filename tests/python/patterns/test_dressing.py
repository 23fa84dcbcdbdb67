# SPDX-License-Identifier: MIT OR Apache-2.0
"""Garments are sewn around bodies, hang on them, and say which seam stays open."""

import json

import numpy as np
import pytest
import weft
from others import body, pattern

FRAME = 1.0 / 24.0
BAG_WIDTH, BAG_HEIGHT = 40.0, 50.0  # cm


def bag() -> weft.PatternMesh:
    """Two panels in front of and behind the origin, sewn along the sides and the top."""
    corners = [[0, 0], [BAG_WIDTH, 0], [BAG_WIDTH, BAG_HEIGHT], [0, BAG_HEIGHT]]
    square = {"vertices": corners, "edges": [{"endpoints": [k, (k + 1) % 4]} for k in range(4)]}
    half = BAG_WIDTH / 2
    front = {**square, "translation": [-half, 0, 20], "rotation": [0, 0, 0]}
    back = {**square, "translation": [half, 0, -20], "rotation": [0, 180, 0]}
    seams = [(1, 3), (3, 1), (2, 2)]
    stitches = [[{"panel": "front", "edge": a}, {"panel": "back", "edge": b}] for a, b in seams]
    panels = {"panels": {"front": front, "back": back}, "stitches": stitches}
    return weft.Pattern(json.dumps({"pattern": panels})).mesh(edge_length=0.04)


def box(half_width: float, half_depth: float, top: float) -> weft.Collider:
    sides = [(x, y) for x in (-half_width, half_width) for y in (-half_depth, half_depth)]
    points = [(x, y, z) for x, y in sides for z in (-0.5, top)]
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return weft.Collider(points, [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])


def sewn(mesh: weft.PatternMesh, collider: weft.Collider) -> weft.Simulation:
    lift = weft.Dressing.lift(cloth_of(mesh, mesh.positions), [collider])
    start = np.add(mesh.positions, (0.0, 0.0, lift))
    return weft.Simulation([cloth_of(mesh, start)], [collider])


def cloth_of(mesh: weft.PatternMesh, positions: np.ndarray) -> weft.Cloth:
    flat = np.column_stack([mesh.flat, np.zeros(len(mesh.flat))])
    return weft.Cloth(
        positions,
        mesh.triangles,
        weft.Material(),
        rest_positions=flat,
        uv=mesh.uv,
        sewing=mesh.seams,
        sewing_time=4.0,
    )


def dressed(simulation: weft.Simulation) -> weft.Dressing:
    dressing = weft.Dressing(simulation)
    while not dressing.is_over:
        dressing.advance(FRAME)
    return dressing


def gaps(simulation: weft.Simulation, mesh: weft.PatternMesh) -> np.ndarray:
    points = simulation.positions()
    return np.linalg.norm(points[mesh.seams[:, 0]] - points[mesh.seams[:, 1]], axis=1)


def test_a_bag_is_sewn_around_a_box_and_hangs_on_it():
    mesh = bag()
    top = 0.4
    simulation = sewn(mesh, box(0.1, 0.06, top))
    dressing = dressed(simulation)
    assert dressing.phase == "worn"
    assert dressing.open_pairs() == []
    assert gaps(simulation, mesh).max() < 1e-4
    before = simulation.positions()
    for _ in range(12):
        simulation.advance(FRAME)
    points = simulation.positions()
    assert np.abs(points - before).max() < 0.02
    assert top < points[:, 2].max() < top + 0.07  # a ridge stands, as the bag is wider
    inside = (np.abs(points) < (0.1, 0.06, top)).all(axis=1) & (points[:, 2] > -0.5)
    assert not inside.any()
    with pytest.raises(ValueError, match="dressing: worn"):
        dressing.advance(FRAME)


def welded(mesh: weft.PatternMesh, points: np.ndarray) -> weft.Cloth:
    """The garment with one vertex for those of a closed seam."""
    places = np.zeros((mesh.welded.max() + 1, 3))
    np.add.at(places, mesh.welded, points)
    flat = np.column_stack([mesh.flat, np.zeros(len(mesh.flat))])
    return weft.Cloth(
        places / np.bincount(mesh.welded)[:, None],
        mesh.welded[mesh.triangles],
        weft.Material(),
        rest_positions=flat[mesh.triangles].reshape(-1, 3),
        uv=mesh.uv[mesh.triangles].reshape(-1, 2),
    )


def test_a_bag_settles_and_hangs_welded_as_sewn():
    mesh, collider = bag(), box(0.1, 0.06, 0.4)
    assert len(mesh.welded) - mesh.welded.max() - 1 == len(mesh.seams)
    assert (mesh.welded[mesh.seams[:, 0]] == mesh.welded[mesh.seams[:, 1]]).all()
    sewn_bag = sewn(mesh, collider)
    dressing = weft.Dressing(sewn_bag)
    while dressing.phase == "sewing":
        dressing.advance(FRAME)
    simulation = weft.Simulation([welded(mesh, sewn_bag.positions())], [collider])
    assert weft.Dressing(simulation).phase == "settling"
    assert dressed(simulation).phase == "worn"
    before = simulation.positions()[mesh.welded]
    while not dressing.is_over:
        dressing.advance(FRAME)
    assert np.median(np.linalg.norm(before - sewn_bag.positions(), axis=1)) < 0.02
    for _ in range(24):
        simulation.advance(FRAME)
    after = simulation.positions()[mesh.welded]
    assert np.abs(after - before).max() < 0.03
    assert np.median(np.linalg.norm(after - before, axis=1)) < 0.005
    areas = simulation.matrices()["masses"].sum() / weft.Material().density
    assert areas == pytest.approx(2.0 * 0.4 * 0.5)  # at rest, not as it hangs


def test_rest_positions_of_corners_are_refused_by_number():
    mesh = bag()
    with pytest.raises(ValueError, match=r"rest_positions: .* rows"):
        weft.Cloth(mesh.positions, mesh.triangles, weft.Material(), rest_positions=np.zeros((7, 3)))


def test_gravity_acts_after_a_dressing_as_before():
    mesh = bag()
    simulation = sewn(mesh, box(0.02, 0.02, -0.4))  # nothing to hang on
    dressing = weft.Dressing(simulation)
    height = simulation.positions()[:, 2].mean()
    for _ in range(10):
        dressing.advance(FRAME)
    assert dressing.phase == "sewing"
    assert abs(simulation.positions()[:, 2].mean() - height) < 0.02  # free fall is 0.85 m
    dressing.cancel()
    assert dressing.phase == "open"
    assert dressing.open_pairs()
    simulation.advance(0.2)
    fallen = height - simulation.positions()[:, 2].mean()
    assert 0.1 < fallen < 0.5 * 9.81 * 0.2**2


def test_a_garment_that_cannot_close_says_which_seam():
    mesh = bag()
    simulation = sewn(mesh, box(0.3, 0.15, 1.2))  # 1.8 m around, the bag 0.8 m
    dressing = dressed(simulation)
    assert dressing.phase == "open"
    open_pairs = dressing.open_pairs()
    distances = gaps(simulation, mesh)
    assert {entry["pair"] for entry in open_pairs} == set(np.flatnonzero(distances > 5e-4))
    assert {mesh.stitch_of_seam[entry["pair"]] for entry in open_pairs} >= {0, 1}
    for entry in open_pairs:
        assert entry["gap"] == pytest.approx(distances[entry["pair"]])


def solid(profile: list[tuple[float, float]], count: int = 32) -> weft.Collider:
    """A body of revolution through radii and heights in m, from below."""
    angles = 2.0 * np.pi * np.arange(count) / count
    around = np.column_stack([np.cos(angles), np.sin(angles)])
    rings = [np.column_stack([r * around, np.full(count, z)]) for r, z in profile]
    triangles = []
    for ring in range(len(rings) - 1):
        for k in range(count):
            a, b = ring * count + k, ring * count + (k + 1) % count
            triangles += [(a, b, b + count), (a, b + count, a + count)]
    last = (len(rings) - 1) * count
    for k in range(1, count - 1):
        triangles += [(0, k + 1, k), (last, last + k, last + k + 1)]
    return weft.Collider(np.concatenate(rings), triangles)


def skirt(waist: float, hem: float, length: float, top: float) -> weft.PatternMesh:
    """Two panels of a skirt, sewn along the sides, with the waist at height `top`; in m."""
    corners = [[-hem, 0], [hem, 0], [waist, 4 * length], [-waist, 4 * length]]
    panel = {
        "vertices": [[25.0 * x, 25.0 * y] for x, y in corners],
        "edges": [{"endpoints": [k, (k + 1) % 4]} for k in range(4)],
    }
    height = 100.0 * (top - length)
    front = {**panel, "translation": [0, height, 25], "rotation": [0, 0, 0]}
    back = {**panel, "translation": [0, height, -25], "rotation": [0, 180, 0]}
    stitches = [
        [{"panel": "front", "edge": a}, {"panel": "back", "edge": b}] for a, b in ((1, 3), (3, 1))
    ]
    panels = {"panels": {"front": front, "back": back}, "stitches": stitches}
    return weft.Pattern(json.dumps({"pattern": panels})).mesh(edge_length=0.04)


def largest_stretches(mesh: weft.PatternMesh, points: np.ndarray) -> np.ndarray:
    sides = [
        np.stack([x[mesh.triangles[:, k]] - x[mesh.triangles[:, 0]] for k in (1, 2)], axis=2)
        for x in (mesh.flat, points)
    ]
    gradients = sides[1] @ np.linalg.inv(sides[0])
    return np.linalg.svd(gradients, compute_uv=False)[:, 0] - 1.0


def test_a_tight_skirt_that_closes_on_the_hips_slides_up_to_the_waist():
    figure = solid([(0.1, 0.3), (0.17, 0.8), (0.1, 1.1), (0.12, 1.4)])
    mesh = skirt(0.7, 1.2, 0.45, 0.92)  # the figure is 0.9 m around at 0.92 m
    simulation = sewn(mesh, figure)
    dressing = dressed(simulation)
    assert dressing.phase == "worn"
    points = simulation.positions()
    waist = points[mesh.positions[:, 2] > 0.91]
    assert waist[:, 2].min() > 1.0
    assert np.quantile(largest_stretches(mesh, points), 0.99) < 0.05
    for _ in range(24):
        simulation.advance(FRAME)
    moved = np.linalg.norm(simulation.positions() - points, axis=1)
    assert np.median(moved) < 0.005  # friction holds it again


def test_panels_are_lifted_until_nothing_is_between_their_sides():
    mesh = bag()  # from 0 to 0.5 m
    cloth = cloth_of(mesh, mesh.positions)
    lift = weft.Dressing.lift
    assert lift(cloth, [box(0.1, 0.06, 0.4)]) == 0.0
    assert lift(cloth, []) == 0.0
    assert 0.03 < lift(cloth, [box(0.1, 0.06, 0.53)]) < 0.06
    assert 0.03 < lift(cloth, [box(0.1, 0.06, 0.53)], (0, 0, 5)) < 0.06
    assert lift(cloth, [box(0.1, 0.06, 0.9)]) == 0.0  # out of reach
    with pytest.raises(ValueError, match="up: "):
        lift(cloth, [], (0, 0, 0))


def test_a_simulation_without_seams_settles_at_once():
    cloth = weft.Cloth([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)], weft.Material())
    simulation = weft.Simulation([cloth])
    dressing = weft.Dressing(simulation)
    assert dressing.phase == "settling" and dressing.open_pairs() == []
    dressing.advance(FRAME)
    assert simulation.velocities()[:, 2].max() < -0.01  # gravity acts
    dressing.cancel()
    assert dressing.phase == "moving"


def test_a_hood_of_others_is_worn_on_head_and_shoulders():
    mesh = pattern("hoody_mean").mesh(0.02)
    simulation = sewn(mesh, body())
    dressing = dressed(simulation)
    assert dressing.phase == "worn"
    assert dressing.open_pairs() == []
    heights = simulation.positions()[:, 2]
    assert 1.70 < heights.max() < 1.80  # the body is 1.72 m tall
    assert 0.9 < heights.min() < 1.1  # its waist is at 1.1 m


def test_a_jumpsuit_of_others_is_worn_over_both_shoulders():
    mesh = pattern("js_mean_all").mesh(0.03)
    simulation = sewn(mesh, body())
    dressing = dressed(simulation)
    assert dressing.phase == "worn"
    points = simulation.positions()
    assert np.median(largest_stretches(mesh, points)) < 0.01
    for side in (-1, 1):  # the shoulders of the body are at 1.44 m
        assert 1.42 < points[side * points[:, 0] > 0.05][:, 2].max() < 1.5
