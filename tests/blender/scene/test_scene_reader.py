# SPDX-License-Identifier: MIT OR Apache-2.0
"""What is read of a scene, against positions worked out by hand."""

import math

import bpy
import numpy as np
import pytest
import small_scenes
from mathutils import Matrix

from addon.blender import mesh_arrays
from addon.scene import evaluation_state, participants
from addon.scene.reader import SceneReader


def taking_part():
    bpy.context.view_layer.update()
    return participants.participants(bpy.context.scene, bpy.context.view_layer)


def read():
    """Prepares, reads the first frame and leaves the scene as it was."""
    cloths, colliders = taking_part()
    evaluation_state.prepare(bpy.context, cloths, colliders)
    try:
        return SceneReader(bpy.context, cloths, colliders, 1)
    finally:
        evaluation_state.restore()


def transformed(obj, matrix):
    points = mesh_arrays.coordinates(obj.data).astype(float)
    matrix = np.array(matrix)
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def test_a_cloth_is_read_in_world_space():
    cloth = small_scenes.add_cloth(count=4)
    cloth.location, cloth.scale = (1.0, -2.0, 3.0), (2.0, 1.0, 0.5)
    cloth.rotation_euler = (0.3, -0.7, 1.1)
    bpy.context.view_layer.update()
    source = read().cloths[0]
    expected = transformed(cloth, cloth.matrix_world)
    assert source.rest_positions == pytest.approx(expected, abs=1e-6)
    assert source.positions == pytest.approx(expected, abs=1e-6)


def test_a_parents_transform_counts():
    cloth = small_scenes.add_cloth(count=4)
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.rotation_euler.z, parent.location.x = math.pi / 2, 5.0
    cloth.parent = parent
    source = read().cloths[0]
    local = mesh_arrays.coordinates(cloth.data)
    expected = np.stack([5.0 - local[:, 1], local[:, 0], local[:, 2] + 1.0], axis=1)
    assert source.positions == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("scale", [0.01, 2.5])
def test_lengths_are_metres_whatever_the_unit_scale(scale):
    cloth = small_scenes.add_cloth(count=4)
    bpy.context.scene.unit_settings.scale_length = scale
    reader = read()
    expected = transformed(cloth, Matrix.Translation((0, 0, 1))) * scale
    assert reader.cloths[0].positions == pytest.approx(expected, rel=1e-6, abs=1e-9)
    back = reader.first.world_to_object[0]
    restored = reader.cloths[0].positions @ back[:3, :3].T + back[:3, 3]
    assert restored == pytest.approx(mesh_arrays.coordinates(cloth.data), abs=1e-6)


def test_world_to_object_undoes_the_transform_of_its_frame():
    cloth = small_scenes.add_cloth(count=4)
    cloth.rotation_euler.x, cloth.scale = 0.8, (1.0, 3.0, 0.2)
    small_scenes.slide(cloth, 0, (1, 0.0), (11, 10.0))
    reader = read()
    later = reader.read_frame(6)
    bpy.context.scene.frame_set(6)
    world = small_scenes.evaluated_world(cloth)
    back = later.world_to_object[0]
    assert world @ back[:3, :3].T + back[:3, 3] == pytest.approx(
        mesh_arrays.coordinates(cloth.data), abs=1e-6
    )
    assert world[:, 0].mean() == pytest.approx(5.0, abs=1e-5)


def test_whole_weights_are_pins_and_others_draw():
    cloth = small_scenes.add_cloth(count=4, pinned=False)
    group = cloth.vertex_groups.new(name="held")
    for index, weight in ((0, 0.5), (1, 0.75), (2, 1.0), (3, 0.0)):
        group.add([index], weight, "REPLACE")
    cloth.weft.pin_group = "held"
    reader = read()
    source, pins = reader.cloths[0], reader.first.pins[0]
    assert source.pinned[pins.hard].tolist() == [2]
    assert source.pinned[pins.soft].tolist() == [0, 1]
    areas = mesh_arrays.vertex_areas(source.rest_positions, source.triangles)
    stiffness = pins.spring_stiffness(source.pin_areas)
    assert stiffness == pytest.approx(100.0 * areas[:2] * (1.0, 3.0), rel=1e-5)
    assert areas.sum() == pytest.approx(1.0)


def test_pins_follow_the_objects_animation():
    cloth = small_scenes.add_cloth(count=4)
    small_scenes.slide(cloth, 0, (1, 0.0), (11, 1.0))
    reader = read()
    local = mesh_arrays.coordinates(cloth.data)[:4]
    targets = reader.read_frame(6).pins[0].targets
    assert targets == pytest.approx(np.add(local, (0.5, 0, 1)), abs=1e-6)


def test_pins_follow_an_armature():
    cloth = small_scenes.add_cloth(count=4)
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    bone = armature.data.edit_bones.new("pin")
    bone.head, bone.tail = (0, 0, 0), (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    pose = armature.pose.bones["pin"]
    pose.keyframe_insert("location", frame=1)
    pose.location.y = 2.0  # along the bone, upwards
    pose.keyframe_insert("location", frame=11)
    modifier = cloth.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature
    reader = read()
    rest = reader.cloths[0].rest_positions
    assert reader.first.pins[0].targets == pytest.approx(rest[:4], abs=1e-6)
    assert reader.read_frame(11).pins[0].targets == pytest.approx(
        np.add(rest[:4], (0, 0, 2)), abs=1e-5
    )


def test_the_start_has_the_users_shape_keys_and_the_rest_shape_has_not():
    cloth = small_scenes.add_cloth(count=4)
    cloth.shape_key_add(name="Basis", from_mix=False)
    key = cloth.shape_key_add(name="Raised", from_mix=False)
    for point in key.points:
        point.co.z += 2.0
    key.value = 0.5
    source = read().cloths[0]
    assert source.rest_positions[:, 2] == pytest.approx(1.0)
    assert source.positions[:, 2] == pytest.approx(2.0)


def test_generative_modifiers_of_a_cloth_are_left_out_and_put_back():
    cloth = small_scenes.add_cloth(count=4)
    cloth.modifiers.new("Subdivision", "SUBSURF")
    cloth.modifiers.new("Solidify", "SOLIDIFY").show_render = False
    assert len(read().cloths[0].positions) == 16
    shown = [(m.show_viewport, m.show_render) for m in cloth.modifiers]
    assert shown == [(True, True), (True, False)]
    assert len(cloth.weft.muted_modifiers) == 0


def test_deforming_modifiers_behind_generative_ones_still_move_the_cloth():
    cloth = small_scenes.add_cloth(count=4)
    cloth.modifiers.new("Subdivision", "SUBSURF")
    displace = cloth.modifiers.new("Displace", "DISPLACE")
    displace.direction, displace.mid_level, displace.strength = "Z", 0.0, 0.25
    assert read().cloths[0].positions[:, 2] == pytest.approx(1.25)


@pytest.mark.parametrize(
    ("faces", "kind"),
    [
        ([(0, 1, 2), (0, 2, 3)], (2, 3)),
        ([(0, 1, 2, 3)], (1, 4)),
        ([(0, 1, 2, 3, 4)], [[0, 1, 2, 3, 4]]),
        ([(0, 1, 2, 3), (0, 3, 4)], [[0, 1, 2, 3], [0, 3, 4]]),
    ],
)
def test_faces_are_the_polygons_of_the_mesh(faces, kind):
    points = [(1, 0, 0), (0, 1, 0), (-1, 0, 0), (0, -1, 0), (0.9, -0.9, 0)]
    cloth = small_scenes.add_mesh("Faces", points, faces)
    cloth.weft.role = "CLOTH"
    found = read().cloths[0].faces
    if isinstance(kind, tuple):
        assert found.shape == kind and found.tolist() == [list(face) for face in faces]
    else:
        assert found == kind


def test_uvs_are_read_per_corner_and_only_when_wanted():
    cloth = small_scenes.add_cloth(count=3)
    assert read().cloths[0].uv is None
    layer = cloth.data.uv_layers.new(name="yarns")
    corners = mesh_arrays.corner_vertices(cloth.data)
    uv = mesh_arrays.coordinates(cloth.data)[corners, :2]
    layer.uv.foreach_set("vector", uv.ravel())
    assert np.array_equal(read().cloths[0].uv, uv)
    cloth.weft.use_uv = False
    assert read().cloths[0].uv is None


# --- colliders --------------------------------------------------------------------------------


def test_a_collider_is_read_with_all_its_modifiers_and_triangulated():
    small_scenes.add_cloth()
    floor = small_scenes.add_floor(size=2.0)
    array = floor.modifiers.new("Array", "ARRAY")
    array.count, array.relative_offset_displace[0] = 2, 1.0
    floor.location.z = 0.5
    source = read().colliders[0]
    assert source.triangles.shape == (16, 3)
    low, high = source.positions.min(axis=0), source.positions.max(axis=0)
    assert low.tolist() == [-1, -1, 0.5] and high.tolist() == [3, 1, 0.5]
    corners = source.positions[source.triangles]
    areas = np.linalg.norm(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
    )
    assert areas.sum() / 2 == pytest.approx(8.0)


def test_a_collider_moves_with_its_animation():
    small_scenes.add_cloth()
    floor = small_scenes.add_floor()
    small_scenes.slide(floor, 2, (1, 0.0), (11, 1.0))
    reader = read()
    assert reader.read_frame(4).collider_positions[0][:, 2] == pytest.approx(0.3, abs=1e-6)


def test_an_n_gon_collider_covers_its_face():
    small_scenes.add_cloth()
    angle = np.linspace(0, 2 * np.pi, 6, endpoint=False)
    points = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    disk = small_scenes.add_mesh("Disk", points, [range(6)])
    disk.weft.role = "COLLIDER"
    assert read().colliders[0].triangles.shape == (4, 3)


def test_an_object_disabled_in_viewports_takes_part_and_is_disabled_again():
    cloth, floor = small_scenes.add_cloth(), small_scenes.add_floor()
    floor.hide_viewport = True
    small_scenes.slide(floor, 2, (1, 0.0), (11, 1.0))
    objects = ([cloth], [floor])
    evaluation_state.prepare(bpy.context, *objects)
    reader = SceneReader(bpy.context, *objects, 1)
    assert reader.read_frame(11).collider_positions[0][:, 2] == pytest.approx(1.0)
    evaluation_state.restore()
    assert floor.hide_viewport


def test_a_collider_in_a_disabled_collection_is_refused_by_name():
    small_scenes.add_cloth()
    floor = small_scenes.add_floor()
    collection = bpy.data.collections.new("Off")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(floor)
    bpy.context.scene.collection.objects.unlink(floor)
    collection.hide_viewport = True
    with pytest.raises(ValueError, match=r"'Floor' is not evaluated.*collection is disabled"):
        read()


def test_a_collider_whose_topology_changes_is_refused_with_the_frame():
    small_scenes.add_cloth()
    floor = small_scenes.add_floor()
    array = floor.modifiers.new("Array", "ARRAY")
    array.count = 1
    array.keyframe_insert("count", frame=1)
    array.count = 2
    array.keyframe_insert("count", frame=5)
    reader = SceneReader(bpy.context, *taking_part(), 1)
    reader.read_frame(2)
    with pytest.raises(RuntimeError, match="'Floor' changes its topology at frame 5: 18 vertices"):
        reader.read_frame(5)


def test_a_collider_that_only_changes_its_faces_is_refused_too():
    small_scenes.add_cloth()
    quads = small_scenes.grid(3)[1]
    floor = small_scenes.add_floor()
    reader = SceneReader(bpy.context, *taking_part(), 1)
    floor.data.clear_geometry()
    points = [(x, y, 0) for x, y, _ in small_scenes.grid(3, 4.0)[0]]
    floor.data.from_pydata(points, [], [face[::-1].tolist() for face in quads])
    with pytest.raises(RuntimeError, match="'Floor' changes its topology at frame 2"):
        reader.read_frame(2)


# --- the scene --------------------------------------------------------------------------------


def test_gravity_is_what_blender_shows_in_metres():
    small_scenes.add_cloth()
    scene = bpy.context.scene
    assert read().first.gravity == (0.0, 0.0, -9.81)
    scene.gravity, scene.unit_settings.scale_length = (0, 0, -981.0), 0.01
    assert read().first.gravity == (0.0, 0.0, -9.81)
    scene.use_gravity = False
    assert read().first.gravity == (0.0, 0.0, 0.0)
    scene.weft.use_scene_gravity, scene.weft.gravity = False, (1.0, 0.0, -1.62)
    assert read().first.gravity == (1.0, 0.0, -1.62)


def test_animated_wind_and_gravity_are_read_frame_by_frame():
    small_scenes.add_cloth()
    scene = bpy.context.scene
    for frame, wind, pull in ((1, 0.0, -9.81), (11, 10.0, 0.0)):
        scene.weft.wind = (wind, 0.0, 0.0)
        scene.weft.keyframe_insert("wind", frame=frame)
        scene.gravity = (0.0, 0.0, pull)
        scene.keyframe_insert("gravity", frame=frame)
    reader = read()
    assert reader.first.wind == (0.0, 0.0, 0.0)
    later = reader.read_frame(11)
    assert (later.wind, later.gravity) == ((10.0, 0.0, 0.0), (0.0, 0.0, 0.0))


def test_a_cloth_scaled_to_nothing_is_refused_with_the_frame():
    cloth = small_scenes.add_cloth()
    cloth.scale.z = 0.0
    with pytest.raises(RuntimeError, match="'Sheet' is scaled to nothing at frame 1"):
        read()


def test_a_mesh_is_read_in_edit_mode_as_in_object_mode():
    """In Edit Mode Blender hands out no attributes to read in one piece."""
    cloth = small_scenes.add_cloth(count=4)

    def read_all():
        return mesh_arrays.coordinates(cloth.data), mesh_arrays.corner_vertices(cloth.data)

    expected = read_all()
    assert cloth.data.attributes.get("position") is not None
    bpy.context.view_layer.objects.active = cloth
    bpy.ops.object.mode_set(mode="EDIT")
    try:
        assert cloth.data.attributes.get("position") is None
        found = read_all()
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")
    for ours, theirs in zip(found, expected, strict=True):
        assert np.array_equal(ours, theirs)
    assert expected[0].any() and expected[1].any()
