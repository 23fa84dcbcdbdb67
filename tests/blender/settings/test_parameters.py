# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every parameter of the panels changes what is simulated, in the direction its tooltip says."""

import bpy
import numpy as np
import pytest
import small_scenes
from parameter_cases import (
    FABRIC,
    OBJECT,
    SCENE,
    Look,
    hanging,
    on_floor,
    on_slope,
    plain,
    with_keys,
)

from addon import properties
from addon.bake import fingerprint
from addon.properties.fabric import WeftMaterial
from addon.properties.object import WEIGHTS

# --- what they show ---------------------------------------------------------------------------


def look(owner, name, value, build, folder, frames=18):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.weft.cache_directory = str(folder)
    cloth = build()
    group = {"scene": bpy.context.scene.weft, "fabric": cloth.weft.material}
    setattr(group.get(owner, cloth.weft), name, value)
    small_scenes.set_frames(1, frames)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    found = small_scenes.cached_frames(cloth).astype(float)
    matrix = np.array(cloth.matrix_world)
    return Look(cloth, found @ matrix[:3, :3].T + matrix[:3, 3])


CASES = [
    pytest.param(owner, *case, id=case[0])
    for owner, cases in (("fabric", FABRIC), ("object", OBJECT), ("scene", SCENE))
    for case in cases
]


@pytest.mark.parametrize(("owner", "name", "first", "second", "build", "measure", "grows"), CASES)
def test_the_direction_of(owner, name, first, second, build, measure, grows, tmp_path):
    values = []
    for number, value in enumerate((first, second)):
        found = look(owner, name, value, build, tmp_path / str(number))
        values.append(getattr(found, measure))
    assert (values[1] > values[0]) == grows, values
    least = 1e-3 if measure != "lowest" or name != "thickness" else 1e-4
    assert abs(values[1] - values[0]) > least * max(map(abs, values)), values


def test_the_rest_shape_is_what_the_cloth_goes_to(tmp_path):
    # Before it has turned by much: drawn in at once, it gets some spin from what the tolerance
    # leaves, and boxes grow with that.
    extents = [
        look("object", "rest_shape", kind, build, tmp_path / kind, frames=6).extent
        for kind, build in (("MESH", with_keys), ("KEY", lambda: named(with_keys())))
    ]
    assert extents[1] < 0.9 * extents[0]


def named(cloth):
    cloth.weft.rest_key = "Small"
    return cloth


def two_floors():
    """A floor in a collection of its own, and a lower one."""
    cloth = plain()
    cloth.location.z = 0.02
    upper, lower = small_scenes.add_floor("Upper"), small_scenes.add_floor("Lower")
    lower.location.z = -0.1
    chosen = bpy.data.collections.new("Chosen")
    bpy.context.scene.collection.children.link(chosen)
    chosen.objects.link(lower)
    bpy.context.scene.collection.objects.unlink(lower)
    assert upper.weft.role == "COLLIDER"
    return cloth


@pytest.mark.parametrize("owner", ["cloth", "scene"])
def test_a_collection_chooses_what_stops_a_cloth(owner, tmp_path):
    lowest = []
    for use in (False, True):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        scene = bpy.context.scene
        scene.weft.cache_directory = str(tmp_path / str(use))
        cloth = two_floors()
        if use:
            chosen = bpy.data.collections["Chosen"]
            if owner == "cloth":
                cloth.weft.collision_collection = chosen
            else:
                scene.weft.collider_collection = chosen
        small_scenes.set_frames(1, 12)
        assert bpy.ops.weft.bake() == {"FINISHED"}
        lowest.append(small_scenes.cached_frames(cloth)[-1, :, 2].min() + cloth.location.z)
    assert lowest[0] > 0.0 and -0.1 < lowest[1] < -0.09


@pytest.mark.parametrize(
    ("name", "first", "second", "grows"),
    [("friction", 0.0, 1.0, False), ("thickness", 1e-3, 0.02, True)],
)
def test_the_direction_of_a_colliders(name, first, second, grows, tmp_path):
    values = []
    for number, value in enumerate((first, second)):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.context.scene.weft.cache_directory = str(tmp_path / str(number))
        cloth = on_slope(friction=0.8) if name == "friction" else on_floor()
        setattr(bpy.data.objects["Floor"].weft, name, value)
        small_scenes.set_frames(1, 18)
        assert bpy.ops.weft.bake() == {"FINISHED"}
        frames = small_scenes.cached_frames(cloth)
        found = Look(cloth, frames)
        values.append(found.slid if name == "friction" else found.lowest)
    assert (values[1] > values[0]) == grows, values


def test_tighter_tolerances_are_nearer_to_the_solution(tmp_path):
    def last(tolerance, iterations=60):
        def build():
            bpy.context.scene.weft.max_iterations = iterations
            return on_slope(friction=0.8)

        return look("scene", "tolerance", tolerance, build, tmp_path / f"{tolerance}").last

    reference = last(1e-5)
    rough, fine = (np.abs(last(t) - reference).max() for t in (0.3, 1e-3))
    assert fine < rough


def test_fewer_corrections_mean_more_and_shorter_steps(tmp_path):
    finals = [
        look("scene", "max_iterations", value, lambda: hanging(density=1.0), tmp_path / str(value))
        for value in (1, 60)
    ]
    assert not np.array_equal(finals[0].last, finals[1].last)
    assert np.abs(finals[0].last - finals[1].last).max() < 0.05


@pytest.mark.parametrize(("name", "values"), [("threads", (1, 2)), ("checkpoint_interval", (1, 7))])
def test_what_must_not_change_the_result_does_not(name, values, tmp_path):
    finals = [look("scene", name, value, hanging, tmp_path / str(value)).last for value in values]
    assert np.array_equal(*finals)


# Parameters that no case above names: those of the collider and the field weights, what other tests
# are about, and what changes no simulation.
ELSEWHERE = {
    "role": "test_lifecycle.py",
    "rest_shape": "above",
    "collision_collection": "above",
    "attachments": "test_pins.py",
    "friction": "above",
    "thickness": "above",
    "field_weights": "test_fields.py: test_weights_scale_the_fields",
    "collider_collection": "above",
    "only_visible": "test_first_checks.py",
    "tolerance": "above",
    "max_iterations": "above",
    "threads": "above",
    "checkpoint_interval": "above",
    "layer": "test_layers.py",
    "solver": "test_integrators.py",
    "model": "test_integrators.py",
    "use_scene_range": "test_bake.py",
    "frame_start": "test_bake.py",
    "frame_end": "test_bake.py",
    "quality": "test_quality.py",
    "simulate_on_play": "tests/gui",
    "result_kind": "test_results.py",
    "internal_spring_max_diversion": "test_soft_bodies.py",
    "cache_directory": "test_cache.py",
    "keep_checkpoints": "test_resume.py",
    "stiffness": "test_fabrics.py",
    "weight": "test_fabrics.py",
    "stretchiness": "test_fabrics.py",
    "damping": "test_fabrics.py",
    "identity": "not a setting",
    "fabric": "not a setting",
}
VIEWS = {"bend_warp", "bend_weft", "bend_twist"}  # of the numbers in µN·m


def test_no_parameter_is_forgotten():
    tested = {case[0] for case in (*FABRIC, *OBJECT, *SCENE)} | ELSEWHERE.keys() | VIEWS
    for group in (WeftMaterial, properties.WeftObject, properties.WeftScene):
        for prop in group.bl_rna.properties:
            if prop.identifier not in {"rna_type", "name"} and prop.description:
                assert prop.identifier in tested, prop.identifier
    assert set(fingerprint.NUMBERS) <= tested
    assert WEIGHTS
