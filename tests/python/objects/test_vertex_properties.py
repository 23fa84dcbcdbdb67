# SPDX-License-Identifier: MIT OR Apache-2.0
"""Properties by vertex: stiffness, friction, contact filters, soft pins."""

import numpy as np
import pytest
import weft
from small_cloths import FRAME, SIDE, cloth, floor, grid, raised
from test_models import MODELS

COUNT = SIDE * SIDE
STILL = {"air_density": 0.0}


def sag(**options: object) -> float:
    """How low the square hangs after three seconds, clamped at one side, in m."""
    settings = weft.Settings(integrator="implicit_euler")
    scene = weft.Simulation([cloth(**options)], settings=settings)
    scene.set_pins(0, list(range(2 * SIDE)))
    for _ in range(72):
        scene.advance(FRAME)
    return -scene.positions()[:, 2].min()


def extended(**options: object) -> float:
    """How far a hanging square stretches, in m."""
    positions, quads = grid()
    positions = positions[:, [1, 2, 0]] * (1.0, 1.0, -1.0)  # hangs down from z = 0
    material = weft.Material.preset("cotton").replace(stretch_warp=40.0, stretch_weft=40.0)
    hung = weft.Cloth(positions, quads, material, **options)
    settings = weft.Settings(integrator="implicit_euler", **STILL)
    scene = weft.Simulation([hung], settings=settings)
    scene.set_pins(0, list(range(SIDE)))
    for _ in range(48):
        scene.advance(FRAME)
    return -scene.positions()[:, 2].min() - 1.0


def test_a_factor_on_stretch_is_that_on_the_modulus():
    plain = extended()
    assert extended(stretch_scale=np.full(COUNT, 2.0)) == pytest.approx(plain / 2.0, rel=0.05)
    ones = np.ones(COUNT)
    assert extended(stretch_scale=ones, shear_scale=ones, bend_scale=ones) == pytest.approx(
        plain, rel=1e-6
    )


def test_factors_are_those_of_a_material_as_stiff():
    """Everywhere alike, they are another material, to rounding."""
    stiff = weft.Material.preset("cotton")
    shear = stiff.replace(shear=3.0 * stiff.shear)
    twist = stiff.to_dict()["bend_twist"]
    bend = stiff.replace(
        bend_warp=5.0 * stiff.bend_warp,
        bend_weft=5.0 * stiff.bend_weft,
        bend_twist=None if twist is None else 5.0 * twist,
    )
    positions, quads = grid()
    for material, options in [
        (shear, {"shear_scale": np.full(COUNT, 3.0)}),
        (bend, {"bend_scale": np.full(COUNT, 5.0)}),
    ]:
        results = []
        for one in (
            weft.Cloth(positions, quads, material),
            weft.Cloth(positions, quads, weft.Material.preset("cotton"), **options),
        ):
            scene = weft.Simulation([one], settings=weft.Settings(tolerance=1e-6, **STILL))
            scene.set_pins(0, [0, SIDE - 1])
            for _ in range(6):
                scene.advance(FRAME)
            results.append(scene.positions())
        assert np.abs(results[0] - results[1]).max() < 1e-4


def test_a_factor_on_bending_holds_where_it_is():
    """A cantilever that is stiff at its root hangs less."""
    positions = grid()[0]
    root, tip = positions[:, 0] < 0.5, positions[:, 0] > 0.5
    plain = sag()
    assert sag(bend_scale=np.where(root, 1e5, 1.0)) < plain - 0.3
    assert sag(bend_scale=np.where(tip, 2000.0, 1.0)) > plain - 0.1


def test_factors_survive_another_material():
    scene = weft.Simulation([cloth(bend_scale=np.full(COUNT, 50.0))])
    other = weft.Simulation([cloth(bend_scale=np.full(COUNT, 50.0))])
    scene.set_material(0, weft.Material.preset("silk"))
    scene.set_material(0, weft.Material.preset("cotton"))
    for one in (scene, other):
        one.set_pins(0, [0])
        one.advance(FRAME)
    assert np.abs(scene.positions() - other.positions()).max() < 1e-12


def test_a_factor_on_friction_lets_slide_or_holds():
    """On a slope of 20 degrees cotton holds by its friction, and slides without."""
    displacements = {}
    for factor in (0.0, 1.0):
        scene = weft.Simulation(
            [cloth(friction_scale=np.full(COUNT, factor))],
            [weft.Collider(*floor(-0.002), friction=0.6)],
            weft.Settings(
                gravity=(9.81 * np.sin(0.35), 0.0, -9.81 * np.cos(0.35)), air_density=0.0
            ),
        )
        for _ in range(12):
            scene.advance(FRAME)
        displacements[factor] = scene.positions()[:, 0].mean() - 0.5
    assert displacements[1.0] < 0.02
    assert displacements[0.0] == pytest.approx(0.5 * 9.81 * np.sin(0.35) * 0.25, rel=0.1)


def test_what_is_left_out_passes_through_colliders_and_cloth():
    ground = weft.Collider(*floor(-0.05))
    lowest = {}
    for name, options in {
        "all": {},
        "free": {"free_of_colliders": np.arange(COUNT)},
        "ignored": {"ignored_colliders": [0]},
        "other": {"free_of_cloth": np.arange(COUNT)},
    }.items():
        scene = weft.Simulation([cloth(**options)], [ground])
        for _ in range(12):
            scene.advance(FRAME)
        lowest[name] = scene.positions()[:, 2].min()
    assert lowest["all"] > -0.05
    assert lowest["other"] > -0.05
    assert lowest["free"] < -0.5
    assert lowest["ignored"] < -0.5


def test_cloth_left_out_passes_through_cloth():
    positions, quads = grid()
    heights = {}
    for free in (False, True):
        options = {"free_of_cloth": np.arange(COUNT)} if free else {}
        upper = weft.Cloth(
            raised(positions, 0.05), quads, weft.Material.preset("cotton"), **options
        )
        scene = weft.Simulation([cloth(), upper], settings=weft.Settings(**STILL))
        scene.set_pins(0, list(range(COUNT)))
        for _ in range(12):
            scene.advance(FRAME)
        heights[free] = scene.positions(1)[:, 2].mean()
    assert heights[False] > -0.01
    assert heights[True] < -0.5


def test_a_half_left_out_falls_alone():
    scene = weft.Simulation(
        [cloth(free_of_colliders=np.flatnonzero(grid()[0][:, 0] > 0.5))],
        [weft.Collider(*floor(-0.01))],
    )
    for _ in range(24):
        scene.advance(FRAME)
    points, start = scene.positions(), grid()[0]
    assert points[start[:, 0] < 0.4, 2].min() > -0.01
    assert points[start[:, 0] > 0.9, 2].max() < -0.2


def test_ignored_colliders_have_to_exist():
    with pytest.raises(ValueError, match=r"cloths\[0\].ignored_colliders: collider 1"):
        weft.Simulation([cloth(ignored_colliders=[1])], [weft.Collider(*floor(-1.0))])


def test_friction_is_not_scaled_below_zero():
    with pytest.raises(ValueError, match="friction_scale: vertex 0: -1"):
        cloth(friction_scale=np.full(COUNT, -1.0))


@pytest.mark.parametrize("model", MODELS)
def test_factors_hold_with_every_model_and_with_quality(model):
    lossy = weft.Material.preset("cotton").replace(
        stretch_warp=40.0, stretch_weft=40.0, quality={"q": 10.0, "low": 0.1, "high": 10.0}
    )
    positions, quads = grid()
    positions = positions[:, [1, 2, 0]] * (1.0, 1.0, -1.0)  # hangs down from z = 0
    longer = []
    for factor in (1.0, 10.0):
        hung = weft.Cloth(positions, quads, lossy, stretch_scale=np.full(COUNT, factor))
        settings = weft.Settings(integrator="implicit_euler", model=model, **STILL)
        scene = weft.Simulation([hung], settings=settings)
        scene.set_pins(0, list(range(SIDE)))
        for _ in range(48):
            scene.advance(FRAME)
        longer.append(-scene.positions()[:, 2].min() - 1.0)
    assert 0.0 < longer[1] < 0.4 * longer[0]


# --- soft pins --------------------------------------------------------------------------------


def test_a_soft_pin_is_a_spring():
    """A cloth that hangs by springs alone comes to rest its weight by their stiffness lower."""
    weight = weft.Material.preset("cotton").density * 9.81  # N, of a square metre
    scene = weft.Simulation([cloth()], settings=weft.Settings(integrator="implicit_euler", **STILL))
    start = scene.positions()
    counts = np.bincount(grid()[1].ravel(), minlength=COUNT)
    share = 50.0 * counts / counts.sum()  # N/m, 50 in all, as the mass is
    scene.set_pins(0, np.arange(COUNT), stiffness=share)
    for _ in range(96):
        scene.advance(FRAME)
    lower = (start - scene.positions())[:, 2].mean()
    assert lower == pytest.approx(weight / 50.0, rel=0.02)
    energy = scene.energy()["pins"]
    assert energy == pytest.approx(0.5 * 50.0 * (weight / 50.0) ** 2, rel=0.1)


def test_a_stiffer_pin_follows_its_target_closer():
    lags = []
    for stiffness in (0.5, 5.0, 500.0):
        scene = weft.Simulation([cloth()], settings=weft.Settings(**STILL))
        start = scene.positions()[:SIDE]
        for frame in range(24):
            target = raised(start, 0.5 * (frame + 1) / 24)
            scene.set_pins(0, np.arange(SIDE), target, np.full(SIDE, stiffness))
            scene.advance(FRAME)
        lags.append(np.linalg.norm(scene.positions()[:SIDE] - target, axis=1).max())
    assert lags[0] > lags[1] > lags[2]
    assert lags[2] < 1e-3


def test_soft_pins_are_released_become_hard_and_go_into_checkpoints():
    def build() -> weft.Simulation:
        scene = weft.Simulation([cloth()])
        scene.set_pins(0, [0, 7], stiffness=[3.0, 4.0])
        scene.advance(FRAME)
        return scene

    scene, other = build(), weft.Simulation([cloth()])
    other.restore(scene.state())
    assert scene.energy() == other.energy()
    for one in (scene, other):
        one.advance(FRAME)
    assert scene.positions().tobytes() == other.positions().tobytes()
    scene.set_pins(0, [0])
    pinned = scene.positions()[0]
    scene.advance(FRAME)
    assert np.array_equal(scene.positions()[0], pinned)
    scene.release_pins(0)
    before = scene.positions()[:, 2].mean()
    scene.advance(FRAME)
    assert scene.positions()[:, 2].mean() < before
    assert "pins" not in scene.energy()


@pytest.mark.parametrize(
    ("stiffness", "message"),
    [
        ([0.0, 1.0], "stiffness: entry 0: 0"),
        ([1.0], "stiffness: 1 rows"),
        ([1.0, np.inf], "entry 1"),
    ],
)
def test_bad_stiffness_of_pins_is_refused(stiffness, message):
    with pytest.raises(ValueError, match=message):
        weft.Simulation([cloth()]).set_pins(0, [0, 1], stiffness=stiffness)


SOFT = weft.Material(
    density=0.2, stretch_warp=60.0, stretch_weft=60.0, shear=20.0, poisson=0.2,
    bend_warp=1e-5, bend_weft=1e-5,
    stretch_damping=1e-3, shear_damping=1e-3, bend_damping=1e-3,
)  # fmt: skip
WAYS = [(name, "newton") for name in ("implicit_midpoint", "imex_euler", "sbdf2", "imex_midpoint")]
WAYS += [(name, "newton") for name in ("euler", "symplectic_euler", "midpoint", "verlet", "rk4")]
WAYS += [("bdf2", "fixed_point"), ("implicit_midpoint", "fixed_point"), ("bdf2", "linearised")]


@pytest.mark.parametrize(("integrator", "solver"), WAYS)
def test_soft_pins_draw_with_every_integrator_and_solver_as_with_bdf2(integrator, solver):
    def drawn(integrator: str, solver: str, time_step: float) -> tuple[np.ndarray, float]:
        options = {"integrator": integrator, "solver": solver, "time_step": time_step}
        settings = weft.Settings(tolerance=1e-4, **options, **STILL)
        scene = weft.Simulation([weft.Cloth(*grid(), SOFT)], settings=settings)
        start = scene.positions()[:SIDE]
        for frame in range(8):
            target = raised(start, 0.2 * (frame + 1) / 8)
            scene.set_pins(0, np.arange(SIDE), target, np.full(SIDE, 2.0))
            assert scene.advance(FRAME).converged
        return scene.positions(), scene.energy()["pins"]

    # Of first order, with a matrix that is stiffer than the cloth in most directions.
    time_step, allowed = (2.5e-5, 0.02) if integrator == "imex_euler" else (5e-4, 0.005)
    points, energy = drawn(integrator, solver, time_step)
    wanted, wanted_energy = drawn("bdf2", "newton", 2.5e-4)
    assert np.abs(points - wanted).max() < allowed
    assert energy == pytest.approx(wanted_energy, rel=0.1)


def test_the_stiffness_of_a_pin_bounds_the_step_of_an_explicit_scheme():
    def steps(stiffness: float) -> int:
        settings = weft.Settings(integrator="rk4")
        scene = weft.Simulation([weft.Cloth(*grid(), SOFT)], settings=settings)
        scene.set_pins(0, [0], stiffness=[stiffness])
        return scene.advance(FRAME).steps

    assert steps(1e5) > 10 * steps(1.0)
    with pytest.raises(ValueError, match=r"integrator: rk4 needs steps of .* implicit"):
        steps(1e9)


# --- what changes while a simulation goes on --------------------------------------------------


def test_settings_change_from_now_on():
    scene = weft.Simulation([cloth()], settings=weft.Settings(time_step=0.01))
    assert scene.advance(0.1).steps == 10
    scene.set_settings(time_step=0.1)
    assert scene.advance(0.1).steps < 10
    scene.set_settings(time_step=0.002, tolerance=1e-3)
    assert scene.advance(0.1).steps == 50
    before = scene.velocities()[:, 2].mean()
    scene.set_settings(air_density=2000.0)
    scene.advance(0.1)
    assert scene.velocities()[:, 2].mean() > 0.5 * before  # slower down
    with pytest.raises(ValueError, match="time_step: 0"):
        scene.set_settings(time_step=0.0)
    with pytest.raises(ValueError, match="max_iterations: 0"):
        scene.set_settings(max_iterations=0)
    with pytest.raises(TypeError):
        scene.set_settings(threads=2)


def test_a_colliders_surface_changes_from_now_on():
    scene = weft.Simulation(
        [cloth()],
        [weft.Collider(*floor(-0.002), friction=5.0)],
        weft.Settings(gravity=(3.0, 0.0, -9.0), air_density=0.0),
    )
    for _ in range(6):
        scene.advance(FRAME)
    assert np.abs(scene.positions()[:, 0].mean() - 0.5) < 0.02
    scene.set_collider_surface(0, 0.0, 0.001)
    for _ in range(6):
        scene.advance(FRAME)
    assert scene.positions()[:, 0].mean() > 0.55
    for arguments in [(1, 0.0, 0.0), (0, -1.0, 0.0), (0, 0.0, np.nan)]:
        with pytest.raises(ValueError, match=r"collider|friction|thickness"):
            scene.set_collider_surface(*arguments)


def test_a_cloth_shrinks_from_now_on():
    settings = weft.Settings(gravity=(0.0, 0.0, 0.0))
    material = weft.Material.preset("cotton").replace(stretch_damping=0.05)
    scene = weft.Simulation([weft.Cloth(*grid(), material)], settings=settings)
    scene.set_rest_scale(0, np.tile((0.8, 1.1), (COUNT, 1)))
    for _ in range(48):
        scene.advance(FRAME)
    # The sheet may turn: sides, not extents.
    corners = scene.positions()[[0, SIDE - 1, COUNT - 1]]
    sides = np.linalg.norm(np.diff(corners, axis=0), axis=1)
    assert sorted(sides) == pytest.approx([0.8, 1.1], abs=0.03)
    with pytest.raises(ValueError, match="rest_scale: vertex 0: 0"):
        scene.set_rest_scale(0, np.zeros((COUNT, 2)))


def test_changes_are_in_checkpoints():
    def build() -> weft.Simulation:
        return weft.Simulation([cloth()], [weft.Collider(*floor(-0.02))])

    scene, other = build(), build()
    scene.set_settings(time_step=0.004, tolerance=1e-3, max_iterations=20, air_density=3.0)
    scene.set_collider_surface(0, 0.9, 0.004)
    scene.set_rest_scale(0, np.tile((0.9, 1.0), (COUNT, 1)))
    for _ in range(3):
        scene.advance(FRAME)
    other.restore(scene.state())
    for one in (scene, other):
        for _ in range(4):
            one.advance(FRAME)
    assert scene.positions().tobytes() == other.positions().tobytes()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sewing": [(0, 20), (0, 2**40)]}, f"sewing: pair 1: vertex {2**40}; wanted indices"),
        ({"free_of_cloth": [3, 2**40]}, f"free_of_cloth: entry 1: vertex {2**40}; wanted an index"),
        ({"ignored_colliders": [2**40]}, f"ignored_colliders: entry 0: collider {2**40}; wanted"),
    ],
)
def test_an_index_beyond_32_bits_is_named_as_it_came(options, words):
    with pytest.raises(ValueError, match=words):
        cloth(**options)
