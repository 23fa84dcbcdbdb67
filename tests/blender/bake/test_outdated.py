# SPDX-License-Identifier: MIT OR Apache-2.0
"""Changes that no setting of an object shows: NLA strips, drivers, nodes, other objects."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
import small_scenes
from small_scenes import add_nodes, moving, push_down, ramped, whiten

from addon.bake import fingerprint, status
from addon.scene import dependencies
from addon.storage import frame_record


def empty(name="Empty"):
    obj = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def outdated(obj):
    bpy.context.view_layer.update()
    return status.of(bpy.context.scene, bpy.context.view_layer, obj).outdated


def baked(cloth, last=5):
    small_scenes.set_frames(1, last)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    bpy.context.scene.frame_set(3)
    assert outdated(cloth) == ""
    return cloth


def test_a_moved_nla_strip():
    cloth, floor = small_scenes.add_cloth(), small_scenes.add_floor()
    small_scenes.slide(floor, 2, (1, 0.0), (9, 0.2))
    strip = push_down(floor)
    baked(cloth)
    for frame in (1, 4, 30):
        bpy.context.scene.frame_set(frame)
        assert outdated(cloth) == ""
    strip.scale = 2.0
    assert "the motion or the modifiers of 'Floor'" in outdated(cloth)


def test_a_changed_driver():
    cloth, floor = small_scenes.add_cloth(), small_scenes.add_floor()
    curve = floor.driver_add("location", 2)
    curve.driver.expression = "frame / 100"
    baked(cloth)
    bpy.context.scene.frame_set(4)
    assert outdated(cloth) == ""
    curve.driver.expression = "frame / 50"
    assert "the motion or the modifiers of 'Floor'" in outdated(cloth)


def test_a_changed_value_that_a_driver_reads():
    cloth, floor, lever = small_scenes.add_cloth(), small_scenes.add_floor(), empty("Lever")
    lever["height"] = -0.5
    curve = floor.driver_add("location", 2)
    curve.driver.expression = "var"
    variable = curve.driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = lever, '["height"]'
    baked(cloth)
    lever["height"] = -0.4
    lever.update_tag()
    assert "the motion or the modifiers of 'Floor'" in outdated(cloth)


def test_a_changed_node_input():
    cloth, floor = small_scenes.add_cloth(), small_scenes.add_floor()
    group = moving((0.0, 0.0, -0.1))
    add_nodes(floor, group)
    baked(cloth)
    group.nodes["Set Position"].inputs["Offset"].default_value = (0.0, 0.0, -0.2)
    assert "the motion or the modifiers of 'Floor'" in outdated(cloth)


def test_a_changed_node_of_a_cloth():
    cloth = small_scenes.add_cloth()
    group = moving((0.1, 0.0, 0.0))
    add_nodes(cloth, group)
    baked(cloth)
    group.nodes["Set Position"].inputs["Offset"].default_value = (0.2, 0.0, 0.0)
    assert "the motion or the modifiers of 'Sheet'" in outdated(cloth)


def test_a_changed_object_that_a_node_reads():
    cloth, floor = small_scenes.add_cloth(), small_scenes.add_floor()
    source = small_scenes.add_mesh("Source", *small_scenes.grid(3, 2.0))
    group = moving((0.0, 0.0, 0.0))
    info = group.nodes.new("GeometryNodeObjectInfo")
    info.inputs["Object"].default_value = source
    join = group.nodes.new("GeometryNodeJoinGeometry")
    group.links.new(info.outputs["Geometry"], join.inputs[0])
    group.links.new(group.nodes["Set Position"].outputs[0], join.inputs[0])
    group.links.new(join.outputs[0], group.nodes["Group Output"].inputs[0])
    add_nodes(floor, group)
    baked(cloth)
    source.data.vertices[0].co.z = -0.5
    source.data.update()
    assert "'Floor'" in outdated(cloth)


def rigged(cloth):
    """An armature of one bone that moves a cloth."""
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones.new("bone")
    bone.head, bone.tail = (0, 0, 0), (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    cloth.modifiers.new("Armature", "ARMATURE").object = rig
    return rig


def test_a_moved_target_of_a_constraint_of_a_bone():
    cloth, target = small_scenes.add_cloth(), empty("Target")
    constraint = rigged(cloth).pose.bones["bone"].constraints.new("COPY_LOCATION")
    constraint.target = target
    baked(cloth)
    constraint.influence = 0.5
    assert "the motion or the modifiers of 'Sheet'" in outdated(cloth)


def test_one_static_channel_of_an_animated_object():
    cloth, floor = small_scenes.add_cloth(), small_scenes.add_floor()
    small_scenes.slide(floor, 2, (1, -0.5), (9, -0.4))
    baked(cloth)
    floor.rotation_euler.x = 0.3
    assert "the motion or the modifiers of 'Floor'" in outdated(cloth)


def test_a_pose_that_is_left_for_the_rest():
    cloth = small_scenes.add_cloth()
    rig = rigged(cloth)
    baked(cloth)
    rig.data.pose_position = "REST"
    assert "the motion or the modifiers of 'Sheet'" in outdated(cloth)


def test_what_only_shows_or_keeps_things_changes_nothing():
    cloth, floor = small_scenes.add_cloth(), small_scenes.add_floor()
    rig, camera = rigged(cloth), bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    bpy.context.scene.collection.objects.link(camera)
    bone = rig.pose.bones["bone"]
    constraints = [bone.constraints.new("COPY_ROTATION") for _ in range(2)]
    constraints[0].target = camera
    smooth = floor.modifiers.new("Subdivision", "SUBSURF")
    group = moving((0.0, 0.0, -0.1))
    add_nodes(floor, group)
    baked(cloth)
    rig.data.display_type, rig.data.use_mirror_x = "STICK", True
    rig.data.use_fake_user = group.use_fake_user = True
    constraints[0].active = constraints[0].show_expanded = False
    constraints[1].active = True
    camera.data.lens = 20.0
    smooth.render_levels, smooth.uv_smooth = 5, "NONE"
    node = group.nodes["Set Position"]
    node.name, node.label, node.hide, node.location.x = "Renamed", "Label", True, 300.0
    group.nodes.new("NodeFrame")
    assert outdated(cloth) == ""
    bpy.context.scene.frame_end = 8
    assert bpy.ops.weft.resume() == {"FINISHED"}


def test_the_animated_influence_of_a_strip():
    cloth, floor = small_scenes.add_cloth(), small_scenes.add_floor()
    small_scenes.slide(floor, 2, (1, 0.0), (9, 0.2))
    strip = push_down(floor)
    strip.use_animated_influence = True
    for frame, influence in ((1, 0.0), (9, 1.0)):
        strip.influence = influence
        strip.keyframe_insert("influence", frame=frame)
    baked(cloth)
    for frame in (1, 4, 9):
        bpy.context.scene.frame_set(frame)
        assert outdated(cloth) == ""
    strip.influence = 0.5
    strip.keyframe_insert("influence", frame=9)
    assert "the motion or the modifiers of 'Floor'" in outdated(cloth)


def baked_in_another_blender(cloth, monkeypatch):
    """A bake whose modifiers had other settings than those of this Blender have."""
    with monkeypatch.context() as other:
        other.setattr(fingerprint, "app", SimpleNamespace(version=(3, 6, 0)))
        other.setattr(dependencies, "WITHOUT_MOTION", frozenset(("levels",)))
        return baked(cloth)


def test_another_blender_is_judged_by_where_things_are(monkeypatch):
    cloth, floor = small_scenes.add_cloth(), small_scenes.add_floor()
    floor.modifiers.new("Subdivision", "SUBSURF")
    baked_in_another_blender(cloth, monkeypatch)
    bpy.context.scene.frame_end = 8
    assert bpy.ops.weft.resume() == {"FINISHED"}
    baked_in_another_blender(cloth, monkeypatch)
    floor.location.z = -0.3
    assert outdated(cloth) == "'Floor' at frame 3 is not where it was"
    bpy.context.scene.frame_end = 8
    with pytest.raises(RuntimeError, match="resumed: 'Floor' at frame 1 is not where it was"):
        bpy.ops.weft.resume()


def test_without_a_record_is_not_resumed():
    cloth = baked(small_scenes.add_cloth())
    bpy.context.scene.frame_end = 8
    (path,) = small_scenes.stem(cloth).parent.glob("*.record")
    path.unlink()
    with pytest.raises(RuntimeError, match="no record of where everything was at frame 5"):
        bpy.ops.weft.resume()
    bpy.context.scene.frame_set(5)
    assert bpy.ops.weft.rebake() == {"FINISHED"}
    bpy.context.scene.frame_end = 10
    assert bpy.ops.weft.resume() == {"FINISHED"}


def test_what_only_the_evaluation_shows():
    cloth, floor = small_scenes.add_cloth(), small_scenes.add_floor()
    texture = ramped(floor)
    baked(cloth)
    whiten(texture)
    floor.update_tag()
    assert outdated(cloth) == "'Floor' at frame 3 is not where it was"


def test_a_changed_material_animation():
    cloth = small_scenes.add_cloth()
    for frame, density in ((1, 0.1), (9, 0.2)):
        cloth.weft.material.density = density
        cloth.weft.material.keyframe_insert("density", frame=frame)
    baked(cloth)
    bpy.context.scene.frame_set(4)
    assert outdated(cloth) == ""
    cloth.weft.material.density = 0.9
    cloth.weft.material.keyframe_insert("density", frame=9)
    assert "the material of 'Sheet'" in outdated(cloth)


def test_a_changed_wind_animation():
    cloth = small_scenes.add_cloth()
    settings = bpy.context.scene.weft
    for frame, wind in ((1, 0.0), (9, 2.0)):
        settings.wind[0] = wind
        settings.keyframe_insert("wind", frame=frame)
    baked(cloth)
    settings.wind[0] = 5.0
    settings.keyframe_insert("wind", frame=9)
    assert "settings of the scene" in outdated(cloth)


def test_what_moves_otherwise_is_not_resumed():
    cloth, floor = small_scenes.add_cloth(), small_scenes.add_floor()
    texture = ramped(floor)
    baked(cloth)
    bpy.context.scene.frame_end = 8
    whiten(texture)
    with pytest.raises(RuntimeError, match="resumed: 'Floor' at frame 1 is not where it was"):
        bpy.ops.weft.resume()
    assert len(small_scenes.cached_frames(cloth)) == 5


def test_the_sums_tell_small_changes_from_rounding():
    points = np.random.default_rng(5).normal(size=(10_000, 3))
    then = {"a": frame_record.signature(points)}
    rounded = points * (1 + 1e-7 * np.random.default_rng(6).normal(size=points.shape))
    assert frame_record.difference(then, {"a": frame_record.signature(rounded)}) == ""
    points[4321, 1] += 0.01
    assert frame_record.difference(then, {"a": frame_record.signature(points)}) == "a"
    assert frame_record.difference(then, {"b": frame_record.signature(points)}) == ""


def test_a_record_is_kept_to_a_frame_and_goes_on(tmp_path):
    path = tmp_path / "bake.record"
    recorder = frame_record.Recorder(path)
    for frame in range(1, 6):
        recorder.append(frame, {"still": (1.0, 2.0, 3.0), "moving": (frame, 0.0, 1.0)})
    recorder.close()
    assert frame_record.read(path, 4) == {"still": (1.0, 2.0, 3.0), "moving": (4.0, 0.0, 1.0)}
    assert path.read_text().count("still") == 1
    recorder = frame_record.Recorder(path, keep_to=3)
    assert frame_record.read(path, 3)["moving"][0] == 3.0  # already, should Blender be killed now
    recorder.append(4, {"still": (1.0, 2.0, 3.0), "moving": (9.0, 0.0, 1.0)})
    recorder.close()
    assert frame_record.read(path, 4)["moving"][0] == 9.0
    assert frame_record.read(path, 5) == {} == frame_record.read(tmp_path / "none.record", 1)
    path.write_text(path.read_text() + "[7, {")
    assert frame_record.read(path, 4)["moving"][0] == 9.0
