# SPDX-License-Identifier: MIT OR Apache-2.0
"""Pins whose strength is keyed, vertices that are attached to objects and faces, and release."""

import bmesh
import bpy
import numpy as np
import pytest
import small_scenes
from mathutils import Matrix
from mathutils.bvhtree import BVHTree

from addon.blender import fcurves
from addon.scene.reader import SceneReader

LAST = 12


def key(owner, name, *values):
    """Keys a property of an object's settings with constant interpolation."""
    for frame, value in values:
        setattr(owner, name, value)
        owner.id_data.keyframe_insert(owner.path_from_id(name), frame=frame)
    for curve in fcurves.curves(owner.id_data):
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"


def heights(cloth, last=LAST):
    """Height of the vertices in world space at every frame of a bake."""
    small_scenes.set_frames(1, last)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    return small_scenes.cached_frames(cloth)[:, :, 2] + cloth.location.z


def attached(target, follow="OBJECT", count=8):
    """A sheet at z = 1 whose first row is attached."""
    cloth = small_scenes.add_cloth(count=count, pinned=False)
    attachment = cloth.weft.attachments.add()
    attachment.vertex_group, attachment.target, attachment.follow = "pin", target, follow
    return cloth, attachment


def empty(**values):
    obj = bpy.data.objects.new("Handle", None)
    bpy.context.scene.collection.objects.link(obj)
    for name, value in values.items():
        setattr(obj, name, value)
    return obj


@pytest.mark.parametrize("weight", [0.5, 1.0])
def test_a_cape_drops_at_its_frame_whatever_the_weight(weight):
    cloth = small_scenes.add_cloth()
    cloth.vertex_groups["pin"].add(list(range(8)), weight, "REPLACE")
    cloth.weft.pin_stiffness = 1e5
    key(cloth.weft, "pin_strength", (1, 1.0), (7, 0.0))
    row = heights(cloth)[:, :8]
    assert (row[:6] > 0.99).all()
    dropped = 0.5 * 9.81 * (6 / 24) ** 2
    assert row[-1].mean() < 1.0 - 0.7 * dropped  # air holds it up


def test_strength_between_draws_and_comes_back_to_hold():
    cloth = small_scenes.add_cloth()
    key(cloth.weft, "pin_strength", (1, 0.5), (10, 1.0))
    row = heights(cloth)[:, :8]
    assert (row[4:9] < 0.999).any()
    assert row[-1] == pytest.approx(1.0, abs=1e-6)


def test_release_keys_the_strength_at_the_current_frame():
    cloth = small_scenes.add_cloth()
    bpy.context.view_layer.objects.active = cloth
    bpy.context.scene.frame_set(6)
    assert bpy.ops.weft.release() == {"FINISHED"}
    assert cloth.weft.pin_strength == 1.0
    row = heights(cloth)[:, :8]
    assert row[:6] == pytest.approx(1.0, abs=1e-6) and row[-1].mean() < 0.9


def test_a_hard_pin_of_constant_strength_is_what_it_was():
    cloth = small_scenes.add_cloth()
    before = heights(cloth)
    key(cloth.weft, "pin_strength", (1, 1.0))
    assert np.array_equal(heights(cloth), before)


def test_vertices_are_attached_to_an_object_that_turns():
    handle = empty(location=(0.0, -0.5, 1.0))
    cloth, attachment = attached(handle)
    handle.keyframe_insert("rotation_euler", frame=1)
    handle.rotation_euler.z = 0.6
    handle.keyframe_insert("rotation_euler", frame=LAST)
    heights(cloth)
    bpy.context.scene.frame_set(LAST)
    turn = Matrix.Translation(handle.location) @ Matrix.Rotation(0.6, 4, "Z")
    matrix = np.array(turn @ Matrix.Translation(handle.location).inverted())
    rest = np.add([v.co for v in cloth.data.vertices[:8]], (0, 0, 1))
    expected = rest @ matrix[:3, :3].T + matrix[:3, 3]
    shown = small_scenes.evaluated_world(cloth)[:8]
    assert shown == pytest.approx(expected, abs=1e-5)
    attachment.strength = 0.0
    assert heights(cloth)[-1].max() < 0.9


def test_vertices_are_attached_to_faces_that_bend():
    body = small_scenes.add_mesh("Body", *small_scenes.grid(4, 2.0))
    body.location.z = 0.8
    body.modifiers.new("Wave", "WAVE").height = 0.3
    cloth, _attachment = attached(body, "SURFACE")
    small_scenes.set_frames(1, LAST)
    reader = SceneReader(bpy.context, [cloth], [], 1)
    targets = reader.read_frame(LAST).pins[0].targets
    assert reader.first.pins[0].targets == pytest.approx(reader.cloths[0].positions[:8], abs=1e-6)
    bpy.context.scene.frame_set(LAST)
    surface = small_scenes.evaluated_world(body)
    faces = [tuple(p.vertices) for p in body.data.polygons]
    tree = BVHTree.FromPolygons(surface.tolist(), faces)
    bpy.context.scene.frame_set(1)
    start = BVHTree.FromPolygons(small_scenes.evaluated_world(body).tolist(), faces)
    first = [start.find_nearest(p)[3] for p in reader.cloths[0].positions[:8].tolist()]
    last = [tree.find_nearest(p)[3] for p in targets.tolist()]
    assert last == pytest.approx(first, abs=2e-3)  # quads are cut in two ways
    assert np.abs(targets - reader.first.pins[0].targets).max() > 0.02


def test_the_selected_vertices_are_attached_by_a_button():
    handle, cloth = empty(), small_scenes.add_cloth(pinned=False)
    bpy.context.view_layer.objects.active = cloth
    cloth.select_set(True)
    with pytest.raises(RuntimeError, match="select one object beside the cloth"):
        bpy.ops.weft.attach()
    handle.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.context.tool_settings.mesh_select_mode = (True, False, False)
    mesh = bmesh.from_edit_mesh(cloth.data)
    for vertex in mesh.verts:
        vertex.select_set(vertex.index in (3, 5))
    mesh.select_flush_mode()
    bmesh.update_edit_mesh(cloth.data)
    assert bpy.ops.weft.attach() == {"FINISHED"}
    assert cloth.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    (attachment,) = cloth.weft.attachments
    assert attachment.target == handle and attachment.follow == "OBJECT"
    reader = SceneReader(bpy.context, [cloth], [], 1)
    assert reader.cloths[0].pinned.tolist() == [3, 5]
    assert bpy.ops.weft.detach(index=0) == {"FINISHED"}
    assert not cloth.weft.attachments


def test_a_moved_target_outdates_the_result():
    handle = empty()
    cloth, _attachment = attached(handle)
    heights(cloth, 3)
    assert small_scenes.state(cloth).outdated == ""
    handle.location.x = 1.0
    assert "motion or the modifiers of 'Sheet'" in small_scenes.state(cloth).outdated


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c, a: setattr(a, "target", None), "'pin' of 'Sheet' has no target"),
        (
            lambda c, a: setattr(a, "vertex_group", "x"),
            "has no vertex group 'x', which is attached",
        ),
        (lambda c, a: setattr(a, "follow", "SURFACE"), "'Handle', which is no mesh"),
        (lambda c, a: setattr(a, "target", small_scenes.add_cloth("B")), "first, then 'Sheet'"),
    ],
)
def test_what_cannot_be_followed_is_refused_by_name(change, words):
    cloth, attachment = attached(empty())
    change(cloth, attachment)
    with pytest.raises(RuntimeError, match=words):
        heights(cloth, 2)


def test_weights_that_a_modifier_writes_hold():
    cloth = small_scenes.add_cloth()
    cloth.vertex_groups["pin"].add(list(range(64)), 0.0, "REPLACE")
    modifier = cloth.modifiers.new("Edit", "VERTEX_WEIGHT_EDIT")
    modifier.vertex_group, modifier.invert_falloff = "pin", True
    assert heights(cloth, 4) == pytest.approx(1.0, abs=1e-6)
    modifier.show_viewport = False
    assert heights(cloth, 4).min() < 0.95
