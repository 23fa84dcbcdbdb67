# SPDX-License-Identifier: MIT OR Apache-2.0
"""Reports, energies and errors of a simulation."""

from time import perf_counter

import numpy as np
import pytest
import weft
from small_cloths import FRAME, SIDE, cloth, floor, grid, simulation

COTTON = weft.Material.preset("cotton")
ENERGIES = ["kinetic", "stretch", "shear", "bend", "gravity", "total"]


def at_rest(positions: np.ndarray) -> weft.Simulation:
    """The square deformed into `positions`."""
    rest, quads = grid()
    return weft.Simulation([weft.Cloth(positions, quads, COTTON, rest_positions=rest)])


def test_a_report_accounts_for_a_frame():
    settings = weft.Settings(time_step=0.5 * FRAME)
    scene = weft.Simulation([cloth()], [weft.Collider(*floor(-0.01))], settings)
    report = [scene.advance(FRAME) for _ in range(4)][-1]
    assert report.steps >= 2
    assert report.rejected_steps == sum(report.rejections.values())
    assert report.newton_iterations >= report.steps
    assert report.linear_iterations >= 0
    assert report.contacts > 0
    assert report.unresolved_contacts == 0
    assert report.converged is True
    assert 0.0 <= report.residual <= weft.Settings().tolerance
    assert isinstance(report.max_stretch, float)
    assert f"{report.steps} steps" in repr(report)


def test_a_report_never_changes():
    report = simulation().advance(FRAME)
    with pytest.raises(AttributeError, match="steps"):
        report.steps = 0


def test_times_are_by_stage_and_in_all():
    seconds = simulation(20).advance(FRAME).seconds
    total = seconds.pop("total")
    assert {"broad_phase", "contact", "forces", "assembly", "preconditioner"} <= seconds.keys()
    assert "linear_solve" in seconds
    assert all(time >= 0.0 for time in seconds.values())
    assert 0.0 < sum(seconds.values()) <= total


def test_steps_are_never_longer_than_the_longest():
    scene = simulation(time_step=FRAME / 5.0)
    assert scene.advance(FRAME).steps == 5
    assert scene.advance(FRAME / 10.0).steps == 1


def test_what_is_not_solved_is_reported_and_not_raised():
    # One Newton iteration cannot stretch a sheet to twice its length.
    scene = simulation(max_iterations=1, tolerance=1e-12)
    far = grid()[0][-SIDE:] + np.array((1.0, 0.0, 0.5))
    scene.set_pins(0, np.arange(SIDE))
    scene.set_pins(0, np.arange(SIDE * (SIDE - 1), SIDE * SIDE), far)
    report = scene.advance(FRAME)
    assert report.converged is False
    assert report.rejected_steps > 0
    assert report.rejections == {"newton_step": report.rejected_steps}
    assert report.residual > 1e-12
    assert scene.time == pytest.approx(FRAME)
    assert np.isfinite(scene.positions()).all()


def test_rejected_steps_are_counted_by_their_reasons_in_alphabetical_order():
    scene = simulation(max_iterations=3)
    force = np.zeros((SIDE * SIDE, 3))
    force[0, 2] = 1e12
    scene.set_pins(0, [SIDE * SIDE - 1])
    scene.set_vertex_forces(0, force)
    report = scene.advance(FRAME)
    assert len(report.rejections) > 1
    assert list(report.rejections) == sorted(report.rejections)
    assert sum(report.rejections.values()) == report.rejected_steps
    assert all(count > 0 for count in report.rejections.values())


@pytest.mark.parametrize(
    ("factors", "stretch"), [((1.02, 1.0, 1.0), 0.02), ((1.0, 1.03, 1.0), 0.03)]
)
def test_the_largest_stretch_is_that_of_the_shape(factors, stretch):
    positions = grid()[0] * factors
    scene = at_rest(positions)
    scene.set_pins(0, np.arange(SIDE * SIDE), positions)
    assert scene.advance(FRAME).max_stretch == pytest.approx(stretch, rel=1e-9)


def test_energies_have_the_names_of_the_contract_and_add_up():
    scene = simulation()
    scene.set_pins(0, [0, SIDE - 1])
    scene.advance(FRAME)
    energy = scene.energy()
    assert list(energy) == ENERGIES
    assert energy["total"] == pytest.approx(sum(energy[name] for name in ENERGIES[:-1]))
    assert energy["kinetic"] > 0.0
    assert energy["stretch"] > 0.0


def test_each_deformation_costs_its_own_energy():
    flat = grid()[0]
    x = flat[:, 0]
    scale = COTTON.stretch_warp
    angle = 2.0 * (x - 0.5)
    shapes = {
        "stretch": flat * (1.01, 1.0, 1.0),
        "shear": flat + np.outer(flat[:, 1], (0.02, 0.0, 0.0)),
        "bend": np.column_stack([0.5 * np.sin(angle), flat[:, 1], 0.5 * np.cos(angle)]),
    }
    for name, shape in shapes.items():
        energy = at_rest(shape).energy()
        assert energy[name] > 0.0, name
        assert energy["kinetic"] == 0.0
    assert at_rest(shapes["stretch"]).energy()["bend"] == pytest.approx(0.0, abs=1e-15 * scale)
    assert at_rest(shapes["stretch"]).energy()["shear"] == pytest.approx(0.0, abs=1e-15 * scale)
    resting = at_rest(flat).energy()
    assert [resting[name] for name in shapes] == pytest.approx([0.0] * 3, abs=1e-15 * scale)


def test_kinetic_and_gravity_energy_are_those_of_the_mass():
    mass = COTTON.density * 1.0  # of one square metre
    scene = simulation(air_density=0.0, tolerance=1e-9)
    scene.advance(0.25)
    energy, height = scene.energy(), scene.positions()[:, 2].mean()
    assert energy["kinetic"] == pytest.approx(0.5 * mass * (9.81 * 0.25) ** 2, rel=1e-6)
    assert energy["gravity"] == pytest.approx(mass * 9.81 * height, rel=1e-6)
    assert energy["total"] == pytest.approx(0.0, abs=1e-6)


def test_a_vertex_that_is_no_number_is_named_and_the_state_kept():
    scene = simulation()
    scene.set_pins(0, [0])
    scene.advance(FRAME)
    positions, velocities, time = scene.positions(), scene.velocities(), scene.time
    # In a frame of this length the speed there overflows.
    scene.set_pins(0, [0], [(1e308, 0.0, 0.0)])
    with pytest.raises(weft.NotFiniteError, match=r"cloth 0: vertex \d+: .*0\.0416") as raised:
        scene.advance(1e-3)
    assert isinstance(raised.value, RuntimeError)
    np.testing.assert_array_equal(scene.positions(), positions)
    np.testing.assert_array_equal(scene.velocities(), velocities)
    assert scene.time == time
    scene.set_pins(0, [0], positions[:1])
    scene.advance(FRAME)
    assert np.isfinite(scene.positions()).all()


def test_forces_that_are_no_numbers_from_the_start_are_told():
    """It used to come to rest in each of hundreds of steps, for ever."""
    endless = COTTON.replace(stretch_warp=1e308, stretch_weft=1e308)
    positions, quads = grid()
    sheet = weft.Cloth(positions, quads, endless, rest_positions=0.5 * positions)
    for go_on in (lambda scene: scene.advance(FRAME), lambda scene: scene.step(FRAME)):
        scene = weft.Simulation([sheet])
        scene.set_vertex_forces(0, np.full_like(positions, 1e-3))
        with pytest.raises(weft.NotFiniteError, match=r"cloth 0: vertex \d+: .* from 0 s"):
            go_on(scene)
        assert np.array_equal(scene.positions(), positions)
        assert scene.time == 0.0


@pytest.mark.parametrize(
    "integrator", ["euler", "symplectic_euler", "midpoint", "rk4", "verlet", "heun"]
)
def test_a_step_that_throws_the_cloth_away_is_refused_at_once(integrator):
    """With cloth all over space everything is near everything: that took seconds for a step."""
    scene = simulation(22, integrator=integrator, threads=1)
    scene.set_pins(0, [0])
    started = perf_counter()
    with pytest.raises(weft.NotFiniteError, match="not a finite number, or thrown away"):
        for _ in range(20):
            scene.step(FRAME)
    assert perf_counter() - started < 2.0
    assert np.isfinite(scene.positions()).all()


@pytest.mark.parametrize("given_later", [False, True])
def test_stretch_is_that_of_the_lengths_at_rest_as_they_are_scaled(given_later):
    scale = np.full((SIDE * SIDE, 2), 1.3)
    options = {} if given_later else {"rest_scale": scale}
    still = weft.Settings(gravity=(0.0, 0.0, 0.0))
    positions, quads = grid()
    sheet = weft.Cloth(1.3 * positions, quads, COTTON, rest_positions=positions, **options)
    scene = weft.Simulation([sheet], settings=still)
    if given_later:
        scene.set_rest_scale(0, scale)
    assert scene.advance(FRAME).max_stretch == pytest.approx(0.0, abs=1e-6)


def test_objects_say_what_they_are():
    scene = weft.Simulation([cloth()], [weft.Collider(*floor(-1.0), friction=0.5)])
    scene.advance(0.5)
    assert "64 vertices, 98 triangles" in repr(cloth())
    assert "4 vertices, friction 0.5, thickness 0.001 m" in repr(
        weft.Collider(*floor(0.0), friction=0.5)
    )
    assert "1 cloths, 1 colliders, 0.5 s" in repr(scene)
    assert cloth().vertex_count == 64
    assert weft.Collider(*floor(0.0)).vertex_count == 4


def test_the_version_is_that_of_the_package():
    from importlib.metadata import version

    assert weft.__version__ == version("weft")
