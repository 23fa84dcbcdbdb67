# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checkpoints: continuing from one gives the same bits; invalid ones are refused."""

import numpy as np
import pytest
import weft
from small_cloths import FRAME, SIDE, cloth, floor, grid, raised

FLOOR = floor(-0.02)


def build(side: int = SIDE, colliders: int = 1) -> weft.Simulation:
    return weft.Simulation([cloth(side)], [weft.Collider(*FLOOR)] * colliders)


def drive(scene: weft.Simulation, frames: range) -> None:
    """Everything that a caller can change changes, and by frame 3 the cloth lies on the floor."""
    for frame in frames:
        if frame == 1:
            scene.set_material(0, weft.Material.preset("silk"))
            scene.set_gravity((0.1, 0.0, -8.0))
            scene.set_wind((1.0, 0.5, 0.0))
            scene.set_vertex_forces(0, np.full((SIDE * SIDE, 3), 1e-4))
            scene.set_guided_velocity(0, [SIDE * SIDE - 1], [(1.0, 0.0, 0.0)], (0.1, 0.0, 0.0))
        scene.set_pins(0, [0], raised(grid()[0][:1], 0.002 * frame))
        scene.set_collider(0, raised(FLOOR[0], 0.001 * frame))
        scene.advance(FRAME)


def bits(scene: weft.Simulation) -> tuple[bytes, bytes, float]:
    return scene.positions().tobytes(), scene.velocities().tobytes(), scene.time


@pytest.fixture(scope="module")
def checkpoint() -> bytes:
    scene = build()
    drive(scene, range(4))
    return scene.state()


@pytest.fixture(scope="module")
def goal() -> tuple[bytes, bytes, float]:
    scene = build()
    drive(scene, range(8))
    return bits(scene)


def test_the_scene_of_these_tests_touches_the_floor():
    scene = build()
    drive(scene, range(4))
    assert scene.advance(FRAME).contacts > 0


def test_taking_a_checkpoint_changes_nothing(goal):
    scene = build()
    for frame in range(8):
        drive(scene, range(frame, frame + 1))
        scene.state()
    assert bits(scene) == goal


def test_another_simulation_goes_on_with_the_same_bits(checkpoint, goal):
    scene = build()
    scene.restore(checkpoint)
    assert scene.state() == checkpoint
    drive(scene, range(4, 8))
    assert bits(scene) == goal


def test_a_simulation_that_has_moved_goes_back(checkpoint, goal):
    scene = build()
    drive(scene, range(6))
    scene.restore(checkpoint)
    drive(scene, range(4, 8))
    assert bits(scene) == goal


def test_a_checkpoint_between_a_target_and_its_frame_keeps_the_target():
    targets = raised(grid()[0][:1], 0.01)
    first, second = build(), build()
    first.set_pins(0, [0], targets)
    second.restore(first.state())
    second.advance(FRAME)
    np.testing.assert_array_equal(second.positions()[0], targets[0])


@pytest.mark.parametrize("kind", [bytes, bytearray])
def test_bytes_may_be_mutable(kind, checkpoint):
    scene = build()
    scene.restore(kind(checkpoint))
    assert scene.state() == checkpoint


def flipped(data: bytes, place: int) -> bytes:
    """One bit changed at a fraction of the length, in thousandths."""
    damaged = bytearray(data)
    damaged[(len(data) - 1) * place // 1000] ^= 0x10
    return bytes(damaged)


DAMAGES = {
    "empty": lambda data: b"",
    "a few bytes": lambda data: data[:12],
    "the head alone": lambda data: data[:16],
    "half of it": lambda data: data[: len(data) // 2],
    "the last byte missing": lambda data: data[:-1],
    "something behind it": lambda data: data + b"\0",
    "something before it": lambda data: b"\0" + data,
    "another file": lambda data: b"\x89PNG\r\n\x1a\n" + bytes(len(data)),
    "another version": lambda data: data[:8] + b"\xff\0\0\0" + data[12:],
    "zeros": lambda data: bytes(len(data)),
    **{
        f"a bit at {place} thousandths": lambda data, place=place: flipped(data, place)
        for place in (0, 1, 2, 10, 250, 500, 999, 1000)
    },
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_checkpoint_is_refused_and_changes_nothing(damage, checkpoint, goal):
    scene = build()
    drive(scene, range(4))
    before = scene.state()
    with pytest.raises(ValueError, match="checkpoint: "):
        scene.restore(damage(checkpoint))
    assert scene.state() == before
    drive(scene, range(4, 8))
    assert bits(scene) == goal


@pytest.mark.parametrize("foreign", [build(SIDE + 1), build(colliders=2), build(colliders=0)])
def test_a_checkpoint_of_another_scene_is_refused(foreign, checkpoint):
    before = foreign.state()
    with pytest.raises(ValueError, match="checkpoint: made by a simulation of other meshes"):
        foreign.restore(checkpoint)
    assert foreign.state() == before


OTHERS = {
    "masses": {"vertex_mass_scale": np.full(SIDE * SIDE, 2.0)},
    "friction": {"friction_scale": np.full(SIDE * SIDE, 0.5)},
    "vertices free of colliders": {"free_of_colliders": [3]},
    "vertices free of cloth": {"free_of_cloth": [3]},
    "ignored colliders": {"ignored_colliders": [0]},
    "seams": {"sewing": [(0, 20)]},
}


@pytest.mark.parametrize("options", OTHERS.values(), ids=OTHERS.keys())
def test_a_checkpoint_of_another_cloth_is_refused(options, checkpoint):
    foreign = weft.Simulation([cloth(**options)], [weft.Collider(*FLOOR)])
    with pytest.raises(ValueError, match="checkpoint: made by a simulation of other meshes"):
        foreign.restore(checkpoint)


def test_a_checkpoint_of_other_seams_colliders_or_equations_is_refused():
    seam = {"sewing": [(0, 20)], "sewing_time": 0.5}
    settings = weft.Settings(preconditioner="block_jacobi")
    turned = FLOOR[1][:, ::-1]

    def built(triangles=FLOOR[1], settings=None, **options) -> weft.Simulation:
        collider = weft.Collider(FLOOR[0], triangles)
        return weft.Simulation([cloth(**seam | options)], [collider], settings)

    kept = built().state()
    built().restore(kept)
    others = {"sewing_time": 0.6}, {"sewing_force": 1.0}, {"triangles": turned}
    for other in (*others, {"settings": settings}):
        with pytest.raises(ValueError, match="checkpoint: made by a simulation of other meshes"):
            built(**other).restore(kept)


def test_what_a_checkpoint_holds_or_nothing_depends_on_may_be_another(checkpoint, goal):
    others = {"gravity": (1.0, 0.0, 0.0), "wind": (0.0, 3.0, 0.0), "air_density": 0.5}
    settings = weft.Settings(**others, max_iterations=7, threads=2)
    below = weft.Collider(raised(FLOOR[0], -0.5), FLOOR[1])
    positions, quads = grid()
    cotton = weft.Material.preset("cotton")
    higher = weft.Cloth(raised(positions, 0.5), quads, cotton, rest_positions=positions)
    scene = weft.Simulation([higher], [below], settings)
    scene.restore(checkpoint)
    drive(scene, range(4, 8))
    assert bits(scene) == goal
    alone = weft.Settings(self_collision=False)
    weft.Simulation([cloth()], [weft.Collider(*FLOOR)], alone).restore(checkpoint)


def test_a_draft_is_continued_with_the_accuracy_of_the_simulation_that_goes_on(checkpoint, goal):
    """As if its accuracy had been changed there."""
    accuracy = {"time_step": FRAME / 3, "tolerance": 1e-3}
    settings = weft.Settings(**accuracy, linear_tolerance=0.01)
    close = weft.Simulation([cloth()], [weft.Collider(*FLOOR)], settings)
    close.restore(checkpoint)
    draft = build()
    draft.restore(checkpoint)
    assert bits(close) == bits(draft)
    drive(close, range(4, 8))
    draft.set_settings(**accuracy)
    drive(draft, range(4, 8))
    # What the linear tolerance alone changes is far less than what the step and the tolerance do.
    as_drafted = np.frombuffer(goal[0]).reshape(-1, 3)
    others, own = (
        np.linalg.norm(close.positions() - positions, axis=1).max()
        for positions in (as_drafted, draft.positions())
    )
    assert own < 0.01 * others
    assert close.advance(FRAME).steps == draft.advance(FRAME).steps == 3


def test_cloth_that_began_inside_of_a_solid_belongs_there_after_a_checkpoint_as_well():
    """Where it begins in the simulation that goes on, it is outside."""
    corners = [(x, y, z) for x in (-0.6, 0.6) for y in (-0.6, 0.6) for z in (-0.25, 0.25)]
    sides = (0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)
    box = weft.Collider(corners, [t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))])
    flat, quads = grid()
    flat = flat - (0.5, 0.5, 0.0)
    everything = np.arange(SIDE * SIDE)

    def begun(height: float) -> weft.Simulation:
        sheet = weft.Cloth(
            raised(flat, height), quads, weft.Material.preset("cotton"), rest_positions=flat
        )
        return weft.Simulation([sheet], [box], weft.Settings(gravity=(0.0, 0.0, 0.0)))

    scene, other = begun(0.0), begun(3.0)
    for height in (0.125, 0.25, 0.27):
        scene.set_pins(0, everything, raised(flat, height))
        scene.advance(FRAME)
    other.restore(scene.state())
    for one in (scene, other):
        one.release_pins(0)
        for _ in range(6):
            one.advance(FRAME)
    assert scene.positions()[:, 2].mean() < 0.25
    assert bits(scene) == bits(other)


MODELS = ("particles", "particles_membrane", "baraff_witkin", "choi_ko", "mass_spring")


def test_curves_and_quality_are_remembered():
    """The past of the material is in a checkpoint; curves of bending need a model that bends."""
    shear = {
        "load": [(-0.1, -3.0), (0.0, 0.4), (0.1, 3.0)],
        "unload": [(-0.1, -3.0), (0.0, -0.4), (0.1, 3.0)],
    }
    material = weft.Material(shear_curve=shear, quality={"q": 5.0, "low": 0.1, "high": 10.0})

    def begin(settings: weft.Settings) -> weft.Simulation:
        scene = weft.Simulation([weft.Cloth(*grid(), material)], settings=settings)
        scene.set_pins(0, [0])
        return scene

    for options in ({}, *({"model": model} for model in MODELS), {"integrator": "verlet"}):
        settings = weft.Settings(**options)
        first = begin(settings)
        for _ in range(4):
            first.advance(FRAME)
        second = begin(settings)
        second.restore(first.state())
        for _ in range(4):
            first.advance(FRAME)
            second.advance(FRAME)
        assert bits(first) == bits(second), options
    bent = material.replace(bend_warp_curve=[(-50.0, -1e-4), (50.0, 1e-4)])
    settings = weft.Settings(model="mass_spring")
    refusal = "material: bend_warp_curve with the model mass_spring, .*; wanted .*fem"
    with pytest.raises(ValueError, match=rf"cloths\[0\]\.{refusal}"):
        weft.Simulation([weft.Cloth(*grid(), bent)], settings=settings)
    scene = weft.Simulation([cloth()], settings=settings)
    with pytest.raises(ValueError, match=refusal):
        scene.set_material(0, bent)
