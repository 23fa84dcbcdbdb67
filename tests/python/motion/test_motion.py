# SPDX-License-Identifier: MIT OR Apache-2.0
"""Loads and boundary conditions: gravity, air, forces, pins, velocities, colliders, materials."""

import numpy as np
import pytest
import weft
from small_cloths import FRAME, SIDE, cloth, floor, grid, raised, simulation, single_triangle

GRAVITY = 9.81
EDGE = 1.0 / (SIDE - 1)  # m, the side of a quad
CORNERS = [0, SIDE - 1]
VACUUM = {"air_density": 0.0, "gravity": (0.0, 0.0, 0.0)}
# One-step: the velocity follows a force that changes suddenly without a memory of the one before.
ONE_STEP = VACUUM | {"integrator": "implicit_euler", "tolerance": 1e-9}


@pytest.mark.parametrize(("integrator", "lag"), [("bdf2", 0.0), ("implicit_euler", 0.5)])
def test_free_fall_is_that_of_the_scheme(integrator, lag):
    # BDF(2) and its start are exact for a parabola; implicit Euler falls g·t·h/2 further.
    step, tolerance = FRAME / 2.0, 1e-9
    scene = simulation(integrator=integrator, air_density=0.0, time_step=step, tolerance=tolerance)
    reports = [scene.advance(FRAME) for _ in range(12)]
    time = scene.time
    assert time == pytest.approx(12 * FRAME, rel=1e-12)
    fallen = -0.5 * GRAVITY * time**2 - lag * GRAVITY * time * step
    steps = sum(report.steps for report in reports)
    assert steps == 24
    # Each step may leave the fraction of an edge that the tolerance allows, and a velocity from it.
    left = tolerance * EDGE * steps**2
    np.testing.assert_allclose(scene.positions(), raised(grid()[0], fallen), atol=left)
    velocities = np.broadcast_to((0.0, 0.0, -GRAVITY * time), scene.velocities().shape)
    np.testing.assert_allclose(scene.velocities(), velocities, atol=left / step)


def test_pins_reach_their_targets_in_a_straight_line_and_stay():
    scene = simulation()
    start = scene.positions()[CORNERS]
    targets = start + np.array((0.01, 0.02, 0.03))
    scene.set_pins(0, CORNERS, targets)
    scene.advance(FRAME)
    np.testing.assert_array_equal(scene.positions()[CORNERS], targets)
    # The last of several steps had the mean velocity: the path was straight and even.
    speed = (targets - start) / FRAME
    np.testing.assert_allclose(scene.velocities()[CORNERS], speed, rtol=1e-9)
    scene.advance(FRAME)
    np.testing.assert_array_equal(scene.positions()[CORNERS], targets)
    np.testing.assert_array_equal(scene.velocities()[CORNERS], 0.0)


def test_pins_without_targets_stay_where_they_are():
    scene = simulation()
    scene.advance(FRAME)
    here = scene.positions()[CORNERS]
    scene.set_pins(0, CORNERS)
    scene.advance(FRAME)
    np.testing.assert_array_equal(scene.positions()[CORNERS], here)
    assert (scene.positions()[:, 2] < here[0, 2] - 0.01).any()


def test_pins_that_are_let_go_fall():
    scene = simulation()
    scene.set_pins(0, CORNERS)
    scene.advance(FRAME)
    scene.release_pins(0, CORNERS[:1])
    scene.advance(FRAME)
    start = grid()[0]
    assert scene.positions()[CORNERS[0], 2] < 0.0
    np.testing.assert_array_equal(scene.positions()[CORNERS[1]], start[CORNERS[1]])
    scene.release_pins(0)
    scene.advance(FRAME)
    assert (scene.positions()[:, 2] < 0.0).all()


def test_pins_belong_to_their_cloth():
    apart = weft.Settings(self_collision=False)  # both lie in the same place
    scene = weft.Simulation([cloth(4), cloth(5)], settings=apart)
    scene.set_pins(1, [7])
    scene.advance(FRAME)
    assert scene.positions(0).shape == (16, 3)
    assert (scene.positions(0)[:, 2] < 0.0).all()
    np.testing.assert_array_equal(scene.positions(1)[7], grid(5)[0][7])


def test_a_guided_velocity_leaves_the_other_directions_free():
    scene = simulation(air_density=0.0)
    everything = np.arange(SIDE * SIDE)
    scene.set_guided_velocity(0, everything, [(2.0, 0.0, 0.0)], (0.5, 0.0, 7.0))
    scene.advance(FRAME)
    moved = scene.positions() - grid()[0]
    np.testing.assert_allclose(moved[:, 0], 0.5 * FRAME, rtol=1e-9)
    np.testing.assert_allclose(moved[:, 2], -0.5 * GRAVITY * FRAME**2, rtol=1e-3)


def test_a_collider_pushes_cloth_along_and_is_not_passed():
    positions, triangles = floor(-0.01)
    scene = weft.Simulation(
        [cloth()], [weft.Collider(positions, triangles)], weft.Settings(**VACUUM)
    )
    lifted = raised(positions, 0.21)  # in one frame, through where the cloth is
    scene.set_collider(0, lifted)
    scene.advance(FRAME)
    assert (scene.positions()[:, 2] >= 0.2).all()
    height = scene.positions()[:, 2].max()
    scene.advance(FRAME)
    # The collider stays; the cloth goes on upwards as it was thrown, and falls no more below.
    assert (scene.positions()[:, 2] >= 0.2).all()
    assert scene.positions()[:, 2].min() >= height - 0.21


def test_cloth_comes_to_rest_on_a_collider():
    thickness = 0.002
    collider = weft.Collider(*floor(-0.05), thickness=thickness)
    scene = weft.Simulation([cloth()], [collider])
    reports = [scene.advance(FRAME) for _ in range(24)]
    assert reports[-1].contacts >= SIDE * SIDE
    gap = thickness + weft.Material.preset("cotton").thickness
    heights = scene.positions()[:, 2]
    assert (heights > -0.05).all()
    assert (heights < -0.05 + 2.0 * gap).all()
    assert np.abs(scene.velocities()).max() < 0.01


def test_gravity_from_now_on():
    scene = simulation(**ONE_STEP)
    scene.advance(FRAME)
    np.testing.assert_allclose(scene.positions(), grid()[0], atol=1e-12)
    scene.set_gravity((3.0, 0.0, 0.0))
    scene.advance(FRAME)
    np.testing.assert_allclose(scene.velocities()[:, 0], 3.0 * FRAME, rtol=1e-3)


def test_wind_drives_cloth_in_air_but_not_in_a_vacuum():
    for air_density, moves in ((1.2, True), (0.0, False)):
        scene = simulation(gravity=(0.0, 0.0, 0.0), air_density=air_density)
        scene.set_wind((0.0, 0.0, 5.0))
        scene.advance(0.1)
        upwards = scene.velocities()[:, 2]
        assert ((upwards > 0.1) & (upwards < 5.0)).all() if moves else not upwards.any()


def test_still_air_slows_a_fall():
    scenes = [simulation(air_density=density) for density in (0.0, 1.2)]
    for scene in scenes:
        scene.advance(0.25)
    vacuum, air = (scene.positions()[:, 2] for scene in scenes)
    assert (air > vacuum + 0.01).all()


def test_forces_act_until_they_are_changed():
    force, time = 0.2, 0.0  # N
    scene = weft.Simulation([single_triangle()], settings=weft.Settings(**ONE_STEP))
    scene.set_vertex_forces(0, np.tile((0.0, 0.0, force), (3, 1)))
    acceleration = force / (weft.Material.preset("cotton").density * 0.5 / 3.0)
    for _ in range(3):
        scene.advance(FRAME)
        time += FRAME
        np.testing.assert_allclose(scene.velocities()[:, 2], acceleration * time, rtol=1e-3)
    scene.set_vertex_forces(0, np.zeros((3, 3)))
    scene.advance(FRAME)
    np.testing.assert_allclose(scene.velocities()[:, 2], acceleration * time, rtol=1e-3)


def test_a_material_from_now_on():
    scene = simulation()
    scene.set_pins(0, CORNERS)
    for _ in range(6):
        scene.advance(FRAME)
    light = scene.energy()
    cotton = weft.Material.preset("cotton")
    scene.set_material(0, cotton.replace(density=2.0 * cotton.density))
    assert scene.energy()["gravity"] == pytest.approx(2.0 * light["gravity"], rel=1e-12)
    assert scene.energy()["stretch"] == pytest.approx(light["stretch"], rel=1e-12)
    scene.set_material(0, cotton.replace(stretch_warp=3000.0, stretch_weft=1800.0))
    # Yarns that buckle carry the load of their bending, whatever their modulus.
    assert scene.energy()["stretch"] == pytest.approx(2.0 * light["stretch"], rel=5e-3)


def test_masses_may_be_scaled_by_vertex():
    scale = np.ones(SIDE * SIDE)
    scale[SIDE:] = 3.0
    heights = np.zeros(SIDE * SIDE)
    positions, quads = grid()
    positions[:, 2] = heights + 1.0
    cotton = weft.Material.preset("cotton")
    plain = weft.Simulation([weft.Cloth(positions, quads, cotton)]).energy()["gravity"]
    tripled = weft.Cloth(positions, quads, cotton, vertex_mass_scale=np.full(len(scale), 3.0))
    partly = weft.Cloth(positions, quads, cotton, vertex_mass_scale=scale)
    assert plain == pytest.approx(0.15 * GRAVITY, rel=1e-12)
    assert weft.Simulation([tripled]).energy()["gravity"] == pytest.approx(3.0 * plain, rel=1e-12)
    # The first row holds half a strip of quads, in every triangulation.
    first_row = 0.5 * EDGE
    expected = plain * (first_row + 3.0 * (1.0 - first_row))
    assert weft.Simulation([partly]).energy()["gravity"] == pytest.approx(expected, rel=1e-12)


def test_the_rest_shape_is_what_cloth_goes_back_to():
    positions, quads = grid()
    cotton = weft.Material.preset("cotton")
    stretched = weft.Cloth(1.05 * positions, quads, cotton, rest_positions=positions)
    scene = weft.Simulation([stretched], settings=weft.Settings(**VACUUM, time_step=1e-3))
    before = scene.energy()["stretch"]
    scene.advance(0.5)
    assert before > 0.0
    width = np.ptp(scene.positions()[:, 0])
    assert abs(width - 1.0) < 0.05
    assert scene.energy()["stretch"] < 0.5 * before


def test_exactly_one_step():
    scene = simulation()
    targets = raised(scene.positions()[CORNERS], 0.01)
    scene.set_pins(0, CORNERS, targets)
    report = scene.step(0.1)  # longer than Settings.time_step
    assert report.steps == 1
    assert scene.time == 0.1
    np.testing.assert_array_equal(scene.positions()[CORNERS], targets)
