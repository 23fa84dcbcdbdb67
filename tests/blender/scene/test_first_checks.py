# SPDX-License-Identifier: MIT OR Apache-2.0
"""Check Scene: what those who begin with cloth run into."""

import bpy
import numpy as np
import pytest
import small_scenes
from small_scenes import add_cloth, add_mesh, grid
from test_checks import check, fix, found, good_cloth, select, selected, titles

from addon.checks import operators, resolution


def add_disc():
    angles = np.linspace(0.0, 2.0 * np.pi, 32, endpoint=False)
    points = np.stack([np.cos(angles), np.sin(angles), 1.0 + 0.0 * angles], axis=1)
    disc = add_mesh("Disc", points, [range(32)])
    disc.weft.role = "CLOTH"
    return disc


# --- meshes -----------------------------------------------------------------------------------


def test_a_plane_of_one_face_is_subdivided_for_the_folds_of_its_fabric():
    plane = add_mesh("Plane", *grid(2, 2.0))
    plane.weft.role = "CLOTH"
    finding = found("faces of 2 m are too coarse")
    assert finding.severity == "WARNING"
    fix(finding)
    assert 3000 < len(plane.data.vertices) < 20000
    assert not any("too coarse" in title for title in titles())
    assert all(len(face.vertices) == 4 for face in plane.data.polygons)


def test_a_mesh_that_only_blurs_the_folds_is_a_note():
    cloth = add_cloth(count=21)  # 5 cm
    assert found("faces of 5 cm are too coarse").severity == "INFO"
    cloth.weft.material.bend_warp_micro = cloth.weft.material.bend_weft_micro = 1e3
    assert not any("too coarse" in title for title in titles())


def test_a_disc_of_one_face_is_found_and_becomes_cloth_that_can_fold():
    disc = add_disc()
    assert "are too coarse" in found("are too coarse").title
    found("concave or have many corners")
    fix(found("are too coarse"))
    assert not any("Disc: " in title and "coarse" in title for title in titles())
    assert len(disc.data.vertices) > 2000


def test_subdividing_leaves_seams_and_weights():
    cloth = good_cloth(count=3)
    mesh = cloth.data
    mesh.vertices.add(1)
    small_scenes.add_edges(mesh, (0, 9))
    cloth.weft.material.bend_warp_micro = cloth.weft.material.bend_weft_micro = 100.0
    resolution.subdivide(bpy.context, cloth)
    loose = [e for e in mesh.edges if 9 in e.vertices]
    assert len(loose) == 1 and 0 in loose[0].vertices
    weights = [any(g.weight > 0.99 for g in v.groups) for v in mesh.vertices]
    assert sum(weights) == sum(abs(v.co.y + 0.5) < 1e-6 for v in mesh.vertices) > 3


def test_blenders_cloth_on_the_same_object_is_found_and_removed():
    cloth = good_cloth()
    cloth.modifiers.new("Cloth", "CLOTH")
    fix(found("Blender's own Cloth modifier"))
    assert not cloth.modifiers and titles() == []


def test_weights_that_a_modifier_writes_are_told_where_they_do_not_count():
    cloth = good_cloth()
    cloth.modifiers.new("Edit", "VERTEX_WEIGHT_EDIT").vertex_group = "pin"
    assert not any("'Edit'" in title for title in titles())
    cloth.weft.density_group = "pin"
    assert found("the modifier 'Edit' changes its density group").severity == "WARNING"


# --- what holds a cloth -----------------------------------------------------------------------


@pytest.mark.parametrize("place", [(0.0, 0.0, 0.0), (5.0, 0.0, 0.0), (0.0, 0.0, 3.0)])
def test_a_cloth_with_nothing_below_and_no_pins_is_found(place):
    good_cloth(pinned=False)
    assert found("nothing holds it").severity == "WARNING"
    floor = small_scenes.add_floor(size=2.0)
    floor.location = place
    is_below = place == (0.0, 0.0, 0.0)
    assert any("nothing holds it" in title for title in titles()) != is_below
    bpy.context.scene.use_gravity = False
    assert not any("nothing holds it" in title for title in titles())


def test_pins_far_from_their_rest_are_found_and_selected():
    cloth = good_cloth()
    hook = bpy.data.objects.new("Hook", None)
    bpy.context.scene.collection.objects.link(hook)
    modifier = cloth.modifiers.new("Hook", "HOOK")
    modifier.object, modifier.vertex_group = hook, "pin"
    bpy.context.view_layer.update()
    hook.location.y = -1.2
    finding = found("at pins that are far from their rest")
    select(finding)
    edges = selected("edges")
    assert sorted(edges) == sorted(finding.indices.tolist()) and len(edges) == 8


def test_a_start_that_shape_keys_stretch_is_found_with_that_reason():
    cloth = good_cloth(pinned=False)
    cloth.shape_key_add(name="Basis", from_mix=False)
    key = cloth.shape_key_add(name="Large", from_mix=False)
    for point in key.points:
        point.co *= 2.0
    key.value = 1.0
    finding = found("start stretched by up to 100 %")
    assert "Shape keys or modifiers" in finding.meaning


def test_a_duplicate_on_the_pins_of_its_original_is_found():
    good_cloth("First")
    second = good_cloth("Second")
    finding = found("pinned vertices are where 'First' has pinned ones")
    select(finding)
    assert selected("vertices") == list(range(8))
    second.location.x = 3.0
    assert not any("has pinned ones" in title for title in titles())


def test_hidden_colliders_are_noted():
    good_cloth()
    floor = small_scenes.add_floor()
    floor.hide_set(True)
    assert found("Floor: it is hidden").severity == "INFO"
    bpy.context.scene.weft.only_visible = True
    assert titles() == []
    assert small_scenes.state(bpy.data.objects["Sheet"]).outdated == ""
    floor.hide_set(False)
    assert titles() == []


def test_a_hidden_collider_can_be_left_out():
    cloth, floor = small_scenes.add_cloth(pinned=False), small_scenes.add_floor()
    floor.location.z = 0.95
    small_scenes.set_frames(1, 10)
    floor.hide_viewport = True
    lowest = []
    for bpy.context.scene.weft.only_visible in (False, True):
        assert bpy.ops.weft.bake() == {"FINISHED"}
        lowest.append(small_scenes.cached_frames(cloth)[-1, :, 2].min())
    assert lowest[0] > -0.06 and lowest[1] < -0.2
    floor.hide_viewport = False
    assert small_scenes.state(cloth).outdated == "'Floor' takes part now"


def test_seams_between_pinned_vertices_are_found_and_selected():
    cloth = good_cloth()
    mesh = cloth.data
    cloth.vertex_groups["pin"].add([63], 1.0, "REPLACE")
    small_scenes.add_edges(mesh, (1, 62), (0, 63))
    cloth.weft.use_sewing = True
    finding = found("1 seams cannot close: both ends are pinned")
    select(finding)
    assert selected("edges") == [len(mesh.edges) - 1]


def test_pins_that_are_drawn_apart_later_are_found_with_their_frame():
    cloth = good_cloth()
    hand = bpy.data.objects.new("Hand", None)
    bpy.context.scene.collection.objects.link(hand)
    end = cloth.vertex_groups.new(name="end")
    end.add([15], 1.0, "REPLACE")
    attachment = cloth.weft.attachments.add()
    attachment.vertex_group, attachment.target = "end", hand
    small_scenes.slide(hand, 2, (1, 0.0), (11, 1.0))
    small_scenes.set_frames(1, 11)
    finding = found("pinned vertices are drawn apart at frame 3")
    select(finding)
    assert selected("vertices") == [7, 15]


# --- the list ---------------------------------------------------------------------------------


def test_findings_vanish_when_the_scene_changes_and_not_by_selecting():
    cloth, floor = good_cloth(pinned=False), small_scenes.add_floor()
    floor.location.x = 9.0
    check()
    select(found("nothing holds it"))
    bpy.context.view_layer.update()
    assert operators.are_current(bpy.context)
    floor.location.x = 0.0
    bpy.context.view_layer.update()
    assert not operators.are_current(bpy.context)
    floor.location.x = 9.0
    bpy.context.view_layer.update()
    assert operators.are_current(bpy.context)
    cloth.weft.material.density = 0.5
    assert not operators.are_current(bpy.context)
