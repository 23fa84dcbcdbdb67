# SPDX-License-Identifier: MIT OR Apache-2.0
"""Changes of settings and meshes mark a result outdated, and nothing else does."""

import bpy
import pytest
import small_scenes
from small_scenes import baked, state

from addon.bake import status


def assert_outdated(obj, words):
    assert words in state(obj).outdated


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c, s: setattr(c.weft.material, "bend_warp", 1e-4), "the material of 'Sheet'"),
        (lambda c, s: setattr(c.weft.material, "use_bend_twist", True), "the material of 'Sheet'"),
        (lambda c, s: setattr(c.weft, "pin_group", ""), "the pins or the yarns of 'Sheet'"),
        (lambda c, s: c.vertex_groups["pin"].add([20], 1.0, "REPLACE"), "the pins or the yarns"),
        (lambda c, s: setattr(c.location, "x", 0.5), "the motion or the modifiers of 'Sheet'"),
        (lambda c, s: c.modifiers.new("Wave", "WAVE"), "the motion or the modifiers of 'Sheet'"),
        (lambda c, s: c.keyframe_insert("location", frame=3), "the motion or the modifiers"),
        (lambda c, s: setattr(s.weft, "time_step", 0.003), "the settings of the scene"),
        (lambda c, s: setattr(s.weft, "integrator", "implicit_euler"), "the settings"),
        (lambda c, s: setattr(s.weft, "wind", (1, 0, 0)), "the settings of the scene"),
        (lambda c, s: setattr(s.gravity, "z", -1.0), "the settings of the scene"),
        (lambda c, s: setattr(s, "frame_start", 2), "the settings of the scene"),
        (lambda c, s: setattr(s.render, "fps", 30), "the settings of the scene"),
        (lambda c, s: setattr(s.unit_settings, "scale_length", 0.1), "the settings of the scene"),
        (lambda c, s: small_scenes.add_floor(), "'Floor' takes part now"),
        (lambda c, s: small_scenes.add_cloth("New"), "'New' takes part now"),
    ],
)
def test_a_changed_setting_marks_the_result_outdated(change, words):
    cloth = baked()
    assert state(cloth).outdated == ""
    change(cloth, bpy.context.scene)
    assert_outdated(cloth, words)


def test_a_changed_mesh_marks_the_result_outdated():
    cloth = baked()
    cloth.data.shape_keys.reference_key.points[5].co.z += 0.1
    cloth.data.update()
    assert_outdated(cloth, "the mesh of 'Sheet' has changed")


def test_a_changed_user_key_marks_the_result_outdated():
    cloth = small_scenes.add_cloth()
    cloth.shape_key_add(name="Basis", from_mix=False)
    key = cloth.shape_key_add(name="User", from_mix=False)
    small_scenes.set_frames(1, 3)
    bpy.ops.weft.bake()
    assert state(cloth).outdated == ""
    key.value = 0.5
    assert_outdated(cloth, "the mesh of 'Sheet' has changed")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: setattr(f.weft, "friction", 0.9), "the material of 'Floor'"),
        (lambda f: setattr(f.weft, "role", "NONE"), "'Floor'"),
        (lambda f: setattr(f.location, "z", -0.5), "the motion or the modifiers of 'Floor'"),
        (lambda f: f.modifiers.new("Subdivision", "SUBSURF"), "the modifiers of 'Floor'"),
        (lambda f: setattr(f.data.vertices[0].co, "z", 0.1), "the mesh of 'Floor'"),
    ],
)
def test_a_changed_collider_marks_the_result_outdated(change, words):
    floor = small_scenes.add_floor()
    cloth = baked()
    assert state(cloth).outdated == ""
    change(floor)
    floor.data.update()
    assert_outdated(cloth, words)


def test_a_changed_armature_action_marks_the_result_outdated():
    cloth = small_scenes.add_cloth()
    hook = bpy.data.objects.new("Hook", None)
    bpy.context.scene.collection.objects.link(hook)
    small_scenes.slide(hook, 0, (1, 0.0), (5, 1.0))
    cloth.modifiers.new("Hook", "HOOK").object = hook
    small_scenes.set_frames(1, 5)
    bpy.ops.weft.bake()
    assert state(cloth).outdated == ""
    hook.location.x = 2.0
    hook.keyframe_insert("location", frame=5)
    assert_outdated(cloth, "the motion or the modifiers of 'Sheet' have changed")


def test_what_does_not_change_the_result_does_not_mark_it():
    cloth = baked()
    scene = bpy.context.scene
    scene.weft.threads, scene.weft.checkpoint_interval = 1, 3
    cloth.name = "Other"
    cloth.modifiers.new("Subdivision", "SUBSURF")
    scene.frame_set(4)
    assert state(cloth).outdated == ""


def test_changing_back_is_no_change():
    cloth = baked()
    density = cloth.weft.material.density
    cloth.weft.material.density = 1.0
    assert state(cloth).outdated
    cloth.weft.material.density = density
    assert state(cloth).outdated == ""


def test_animated_objects_are_not_outdated_at_other_frames():
    cloth = small_scenes.add_cloth()
    floor = small_scenes.add_floor()
    small_scenes.slide(cloth, 0, (1, 0.0), (9, 1.0))
    small_scenes.slide(floor, 2, (1, 0.0), (9, 0.2))
    small_scenes.set_frames(1, 5)
    bpy.ops.weft.bake()
    for frame in (1, 4, 30):
        bpy.context.scene.frame_set(frame)
        assert state(cloth).outdated == ""


def test_a_range_that_grew_is_told_as_incomplete():
    cloth = baked(last=5)
    bpy.context.scene.frame_end = 20
    found = state(cloth)
    assert found.outdated == ""
    assert found.problems == ("Incomplete: baked to frame 5 of 20, Resume goes on",)


def test_a_cloth_that_was_never_baked_has_nothing_to_say():
    assert state(small_scenes.add_cloth()) == status.Status("", (), ())
