# SPDX-License-Identifier: MIT OR Apache-2.0
"""Takes beside their cloth in the viewport."""

import bpy
import numpy as np
import pytest
import small_scenes
from sheet_with_takes import KINDS, bake, copies, hung, keep, two_takes
from small_scenes import assert_plays, cached_frames, state


@pytest.mark.parametrize("kind", KINDS)
def test_compared_takes_play_beside_the_cloth_and_apart(kind):
    cloth, cotton, denim = two_takes(kind)
    cloth.modifiers.new("Thick", "SOLIDIFY").show_viewport = False
    small_scenes.slide(cloth, 2, (1, 1.0), (5, 2.0))
    assert bpy.ops.weft.take_compare() == {"FINISHED"}
    shown = {copy.name: copy for copy in copies()}
    assert set(shown) == {"Light", "Heavy"}
    assert {copy.data for copy in shown.values()} == {cloth.data}
    assert all("Thick" in copy.modifiers for copy in shown.values())
    (collection,) = (each for each in bpy.data.collections if each.objects)
    assert set(collection.objects) == set(shown.values())
    assert_plays(shown["Light"], cotton, 1)
    assert_plays(shown["Heavy"], denim, 1)
    for frame in range(1, 6):
        bpy.context.scene.frame_set(frame)
        row = (cloth, shown["Light"], shown["Heavy"])
        boxes = [small_scenes.evaluated_world(obj) for obj in row]
        ends = [(points[:, 0].min(), points[:, 0].max()) for points in boxes]
        assert ends[0][1] < ends[1][0] < ends[1][1] < ends[2][0]
        assert np.ptp([points[:, 2].max() for points in boxes]) < 1e-5
    assert bpy.ops.weft.take_compare_end() == {"FINISHED"}
    assert copies() == []
    assert not any(each.name.startswith("Weft Comparison") for each in bpy.data.collections)
    assert cloth.data.users == 1


def test_only_ticked_takes_are_compared_and_anew_each_time():
    cloth, *_frames = two_takes()
    cloth.weft.takes["Light"].is_compared = False
    for _time in range(2):
        assert bpy.ops.weft.take_compare() == {"FINISHED"}
        assert [copy.name for copy in copies()] == ["Heavy"]
    cloth.weft.takes["Heavy"].is_compared = False
    with pytest.raises(RuntimeError, match="no take of 'Sheet' is ticked"):
        bpy.ops.weft.take_compare()


def test_copies_take_part_in_no_bake_and_hinder_none():
    cloth, _cotton, denim = two_takes()
    cloth.modifiers.new("Collision", "COLLISION")
    assert bpy.ops.weft.take_compare() == {"FINISHED"}
    for copy in copies():
        assert copy.weft.role == "NONE"
        assert [modifier.type for modifier in copy.modifiers] == ["MESH_CACHE"]
    assert state(cloth).outdated == ""
    caches = len(list(small_scenes.stem(cloth).parent.glob("*.pc2")))
    assert bpy.ops.weft.bake() == {"FINISHED"}
    assert np.array_equal(cached_frames(cloth), denim)
    assert len(list(small_scenes.stem(cloth).parent.glob("*.pc2"))) == caches
    twin = bpy.data.objects.new("Twin", cloth.data)
    bpy.context.scene.collection.objects.link(twin)
    with pytest.raises(RuntimeError, match="has 2 users"):
        bpy.ops.weft.bake()


def test_copies_are_apart_with_what_modifiers_add():
    cloth, *_frames = two_takes()
    cloth.modifiers.new("Row", "ARRAY").count = 3
    bpy.context.view_layer.update()
    assert bpy.ops.weft.take_compare() == {"FINISHED"}
    row = (cloth, bpy.data.objects["Light"], bpy.data.objects["Heavy"])
    points = [small_scenes.evaluated_world(obj)[:, 0] for obj in row]
    assert all(len(each) == 3 * 64 for each in points)
    assert points[0].max() < points[1].min() and points[1].max() < points[2].min()


def test_copies_have_no_force_field_and_no_motion_of_their_own():
    cloth = hung()
    bpy.ops.object.forcefield_toggle()
    cloth.field.type, cloth.field.strength = "FORCE", 0.1
    small_scenes.slide(cloth, 0, (1, 0.0), (5, 1.0))
    cloth.delta_location.y = 0.5
    bake(cloth)
    keep(cloth)
    assert bpy.ops.weft.take_compare() == {"FINISHED"}
    (copy,) = copies()
    assert (cloth.field.type, copy.field.type) == ("FORCE", "NONE")
    apart = []
    for frame in (1, 5):
        bpy.context.scene.frame_set(frame)
        apart.append(copy.matrix_world.translation - cloth.matrix_world.translation)
    assert (apart[0] - apart[1]).length < 1e-6 and abs(apart[0].y) < 1e-6
    assert state(cloth).outdated == ""


def test_a_renamed_take_renames_its_copy():
    cloth, *_frames = two_takes()
    other = bpy.data.objects.new("Label", None)
    other.parent = cloth
    assert bpy.ops.weft.take_compare() == {"FINISHED"}
    cloth.weft.takes["Light"].name = "Summer"
    assert {copy.name for copy in copies()} == {"Summer", "Heavy"}
    assert other.name == "Label"


def test_an_upright_sheet_is_compared_sideways():
    """Its x axis is vertical, and it has no width along y."""
    cloth = hung()
    cloth.rotation_euler = (0.0, np.pi / 2, 0.0)
    bake(cloth)
    keep(cloth)
    assert bpy.ops.weft.take_compare() == {"FINISHED"}
    bpy.context.view_layer.update()
    moved = copies()[0].matrix_world.translation - cloth.matrix_world.translation
    assert abs(moved.z) < 1e-6 and moved.length > 1.0
