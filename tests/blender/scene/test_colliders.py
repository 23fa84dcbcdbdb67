# SPDX-License-Identifier: MIT OR Apache-2.0
"""Colliders of every type that Blender draws as a surface, and of instances."""

import bpy
import numpy as np
import pytest
import small_scenes
from test_checks import fix, found, good_cloth, titles

from addon.scene import geometry
from addon.scene.reader import SceneReader


def link(name, data):
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def curve():
    data = bpy.data.curves.new("Curve", "CURVE")
    data.dimensions, data.extrude = "3D", 1.0
    spline = data.splines.new("POLY")
    spline.points.add(1)
    for point, y in zip(spline.points, (-2.0, 2.0), strict=True):
        point.co = (0.0, y, 0.0, 1.0)
    obj = link("Curve", data)
    obj.rotation_euler.y = np.pi / 2  # its band lies flat
    return obj


def text():
    data = bpy.data.curves.new("Text", "FONT")
    data.body, data.size, data.extrude = "III", 3.0, 0.05
    data.align_x, data.align_y = "CENTER", "CENTER"
    return link("Text", data)


def surface():
    bpy.ops.surface.primitive_nurbs_surface_surface_add(radius=1.0)
    bpy.context.object.scale.z = 0.01
    return bpy.context.object


def metaball():
    data = bpy.data.metaballs.new("Meta")
    data.elements.new(type="BALL").radius = 1.5
    data.resolution = 0.2
    obj = link("Meta", data)
    obj.location.z = -0.7
    return obj


def collection(*, nested=False):
    floor = small_scenes.add_floor("Within", 2.0)
    floor.weft.role = "NONE"
    inner = bpy.data.collections.new("Inner")
    inner.objects.link(floor)
    bpy.context.scene.collection.objects.unlink(floor)
    held = inner
    if nested:
        held = bpy.data.collections.new("Outer")
        middle = bpy.data.objects.new("Middle", None)
        middle.instance_type, middle.instance_collection = "COLLECTION", inner
        held.objects.link(middle)
    instance = link("Set", None)
    instance.instance_type, instance.instance_collection = "COLLECTION", held
    return instance


def nested_collection():
    return collection(nested=True)


def nodes():
    """A floor that geometry nodes instance at the vertices of another mesh."""
    floor = small_scenes.add_floor("Tile", 0.7)
    floor.weft.role = "NONE"
    floor.location.x = 9.0
    obj = small_scenes.add_mesh("Points", *small_scenes.grid(3, 1.0))
    group, source, target = small_scenes.node_group("Instances")
    instances = group.nodes.new("GeometryNodeInstanceOnPoints")
    info = group.nodes.new("GeometryNodeObjectInfo")
    info.inputs["Object"].default_value = floor
    group.links.new(source, instances.inputs["Points"])
    group.links.new(info.outputs["Geometry"], instances.inputs["Instance"])
    group.links.new(instances.outputs[0], target)
    small_scenes.add_nodes(obj, group)
    return obj


KINDS = [curve, text, surface, metaball, collection, nested_collection, nodes]


@pytest.mark.parametrize("make", KINDS)
def test_a_collider_of_any_type_stops_cloth(make):
    collider = make()
    cloth = small_scenes.add_cloth(count=12, pinned=False)
    bpy.context.view_layer.update()
    collider.weft.role = "COLLIDER"
    collider.location.z += 0.9
    small_scenes.set_frames(1, 14)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    middle = small_scenes.cached_frames(cloth)[-1][66:78, 2]
    collider.weft.role = "NONE"
    assert bpy.ops.weft.bake() == {"FINISHED"}
    free = small_scenes.cached_frames(cloth)[-1][66:78, 2]
    assert middle.max() > free.max() + 0.2
    assert collider.hide_viewport is False


@pytest.mark.parametrize("make", KINDS)
def test_its_motion_is_followed_and_outdates(make):
    collider = make()
    cloth = small_scenes.add_cloth()
    collider.weft.role = "COLLIDER"
    small_scenes.slide(collider, 0, (1, 0.0), (11, 1.0))
    small_scenes.set_frames(1, 3)
    reader = SceneReader(bpy.context, [cloth], [collider], 1)
    moved = reader.read_frame(11).collider_positions[0] - reader.colliders[0].positions
    assert moved == pytest.approx(np.tile((1.0, 0.0, 0.0), (len(moved), 1)), abs=1e-5)
    collider.animation_data_clear()
    assert bpy.ops.weft.bake() == {"FINISHED"}
    assert small_scenes.state(cloth).outdated == ""
    collider.location.z -= 0.5
    assert "the motion or the modifiers of" in small_scenes.state(cloth).outdated


def test_instances_are_counted_once_each():
    obj = nodes()
    bpy.context.view_layer.update()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    surface = geometry.read(obj.evaluated_get(depsgraph), depsgraph, 1.0)
    assert len(surface.points) == 9 * 9 and len(surface.triangles) == 9 * 8
    assert surface.faces.shape == (9 * 4, 4)


def test_an_empty_mesh_takes_no_part_and_is_told():
    cloth, nothing = good_cloth(), small_scenes.add_mesh("Nothing", [], [])
    nothing.weft.role = "COLLIDER"
    assert found("Nothing: it has no faces").severity == "WARNING"
    small_scenes.set_frames(1, 4)
    small_scenes.whole_and_resumed(cloth, last=6, until=4)
    nothing.weft.role = "NONE"
    assert titles() == ["Sheet: its result is outdated: 'Nothing' takes no part any more"]


def test_a_collection_instance_is_made_a_collider_by_fix():
    good_cloth()
    instance = collection()
    bpy.data.objects["Within"].weft.role = "COLLIDER"
    finding = found("Set: it holds the collider 'Within', which is not seen")
    fix(finding)
    assert instance.weft.role == "COLLIDER"
    assert not any("not seen" in title for title in titles())
