# SPDX-License-Identifier: MIT OR Apache-2.0
"""Stokes drag and Rayleigh damping, against closed forms."""

import numpy as np
import pytest
import weft
from small_cloths import FRAME, SIDE, grid, simulation

IMPLICIT = ("bdf2", "implicit_euler", "implicit_midpoint", "imex_euler", "sbdf2")
IMPLICIT += ("imex_midpoint",)
EXPLICIT = ("symplectic_euler", "midpoint", "verlet", "rk4", "heun")
EXPLICIT += ("midpoint_cromer", "heun_cromer", "rk4_cromer")
GRAVITY = 9.81  # m/s²


def falling(**settings: object) -> weft.Simulation:
    """A sheet without air around it; its masses differ from vertex to vertex."""
    return simulation(air_density=0.0, self_collision=False, **settings)


@pytest.mark.parametrize("integrator", IMPLICIT + EXPLICIT)
def test_mass_damping_leaves_a_fall_its_terminal_velocity(integrator):
    rate, time, frames = 4.0, 0.25, 6
    scene = falling(integrator=integrator, mass_damping=rate, tolerance=1e-6, time_step=0.0025)
    for _ in range(frames):
        scene.advance(time / frames)
    wanted = -GRAVITY / rate * (1.0 - np.exp(-rate * time))
    assert scene.velocities()[:, 2] == pytest.approx(wanted, rel=0.02)


@pytest.mark.parametrize("integrator", ["bdf2", "implicit_euler", "rk4", "sbdf2"])
def test_stokes_drag_carries_the_weight_at_the_speed_of_cords(integrator):
    """At last the drag of all vertices together is the weight: v = Mg/(nk)."""
    drag = 0.01
    scene = falling(integrator=integrator, stokes_drag=drag, time_step=0.01)
    mass = scene.matrices()["masses"].sum()
    for _ in range(int(12.0 * mass / (SIDE * SIDE * drag) / FRAME)):
        scene.advance(FRAME)
    wanted = -mass * GRAVITY / (SIDE * SIDE * drag)
    assert scene.velocities()[:, 2].mean() == pytest.approx(wanted, rel=0.01)


def ringing(integrator: str, **settings: object) -> float:
    """Energy of a stretching oscillation after a fifth of a second, over that at the start."""
    rest, quads = grid()
    options = {"stretch_warp": 20.0, "stretch_weft": 20.0, "shear": 8.0, "poisson": 0.0}
    still = {"stretch_damping": 0.0, "shear_damping": 0.0, "bend_damping": 0.0}
    fabric = weft.Material(density=0.2, **options, **still)
    # The first mode of a bar with free ends: frequency pi/L * sqrt(E/density) = 31.4/s.
    start = rest + 1e-4 * np.cos(np.pi * rest[:, :1]) * (1.0, 0.0, 0.0)
    piece = weft.Cloth(start, quads, fabric, rest_positions=rest, uv=rest[:, :2])
    scene = weft.Simulation(
        [piece],
        settings=weft.Settings(
            integrator=integrator,
            gravity=(0.0, 0.0, 0.0),
            air_density=0.0,
            tolerance=1e-8,
            **settings,
        ),
    )
    before = scene.energy()["total"]
    for _ in range(1000):
        scene.step(2e-4)
    return scene.energy()["total"] / before


@pytest.mark.parametrize("integrator", ["bdf2", "rk4"])
def test_rayleigh_damping_damps_a_mode_by_both_of_its_parts(integrator):
    """The energy falls by the exponential of -(alpha + beta * frequency²) * t."""
    alpha, beta, squared = 3.0, 4e-3, np.pi**2 * 20.0 / 0.2
    bare = ringing(integrator)
    assert bare == pytest.approx(1.0, rel=2e-2)
    by_mass = ringing(integrator, mass_damping=alpha) / bare
    by_stiffness = ringing(integrator, stiffness_damping=beta) / bare
    assert -np.log(by_mass) == pytest.approx(0.2 * alpha, rel=0.1)
    assert -np.log(by_stiffness) == pytest.approx(0.2 * beta * squared, rel=0.1)


def test_rayleigh_damping_is_the_matrix_of_the_document():
    alpha, beta, drag = 3.0, 4e-3, 0.02
    sparse = pytest.importorskip("scipy.sparse")
    rest, quads = grid()
    still = {"stretch_damping": 0.0, "shear_damping": 0.0, "bend_damping": 0.0}
    piece = weft.Cloth(rest, quads, weft.Material(**still))
    options = {"mass_damping": alpha, "stiffness_damping": beta, "stokes_drag": drag}
    # The stabilisation of bending in "fem" is elastic alone.
    settings = weft.Settings(model="particles", **options)
    found = weft.Simulation([piece], settings=settings).matrices()
    damping, stiffness = (sparse.csr_array(found[name]) for name in ("damping", "stiffness"))
    masses = np.repeat(found["masses"], 3)
    wanted = beta * stiffness + sparse.diags_array(alpha * masses + drag)
    assert abs(damping - wanted).max() < 1e-5 * abs(wanted).max()


def test_a_fabric_set_later_is_damped_as_well():
    still = {"stretch_damping": 0.0, "shear_damping": 0.0, "bend_damping": 0.0}
    scene = simulation(stiffness_damping=4e-3)
    scene.set_material(0, weft.Material(**still))
    damping, stiffness = (abs(scene.matrices()[name][0]).max() for name in ("damping", "stiffness"))
    assert damping == pytest.approx(4e-3 * stiffness, rel=1e-4)


def test_long_steps_of_explicit_schemes_stay_stable_under_strong_drag():
    """Without its part in the longest stable step h·k/m would be far beyond 2."""
    rest, quads = grid()
    options = {"stretch_warp": 1.0, "stretch_weft": 1.0, "shear": 0.4, "bend_damping": 0.0}
    fabric = weft.Material(**options, stretch_damping=0.0, shear_damping=0.0)
    piece = weft.Cloth(rest, quads, fabric)
    settings = weft.Settings(integrator="symplectic_euler", mass_damping=2000.0, air_density=0.0)
    scene = weft.Simulation([piece], settings=settings)
    for _ in range(12):
        scene.advance(FRAME)
    assert scene.velocities()[:, 2] == pytest.approx(-GRAVITY / 2000.0, rel=0.01)


@pytest.mark.parametrize("name", ["stokes_drag", "mass_damping", "stiffness_damping"])
def test_what_is_no_damping_is_refused(name):
    for value in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=f"{name}: .* 0 or more"):
            weft.Settings(**{name: value})
