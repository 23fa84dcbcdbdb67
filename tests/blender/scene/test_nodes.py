# SPDX-License-Identifier: MIT OR Apache-2.0
"""Cloths with geometry nodes: what moves them is followed, what makes new meshes works on them."""

import bpy
import numpy as np
import pytest
import small_scenes
from small_scenes import add_nodes, moving, node_group

from addon.bake import job


def subdividing():
    group, source, target = node_group("Subdivide")
    node = group.nodes.new("GeometryNodeSubdivideMesh")
    group.links.new(source, node.inputs[0])
    group.links.new(node.outputs[0], target)
    return group


def painting():
    group, source, target = node_group("Paint")
    node = group.nodes.new("GeometryNodeSetMaterial")
    group.links.new(source, node.inputs[0])
    group.links.new(node.outputs[0], target)
    return group


def deforming(obj):
    job.prepare(bpy.context)
    return [known.name for known in obj.weft.deforming_nodes]


def test_nodes_are_told_apart_by_what_they_do_to_the_mesh():
    cloth = small_scenes.add_cloth()
    for group in (painting(), subdividing(), moving()):
        add_nodes(cloth, group)
    assert deforming(cloth) == ["Move"]
    assert all(modifier.show_viewport for modifier in cloth.modifiers)
    assert len(cloth.weft.muted_modifiers) == 0


def test_nodes_that_do_not_move_anything_yet_count_by_their_nodes():
    cloth = small_scenes.add_cloth()
    add_nodes(cloth, moving((0.0, 0.0, 0.0)))
    assert deforming(cloth) == ["Move"]


def test_nodes_within_a_group_count():
    cloth = small_scenes.add_cloth()
    group, source, target = node_group("Outer")
    inner = group.nodes.new("GeometryNodeGroup")
    inner.node_tree = moving((0.0, 0.0, 0.0), "Inner")
    group.links.new(source, inner.inputs[0])
    group.links.new(inner.outputs[0], target)
    add_nodes(cloth, group)
    assert deforming(cloth) == ["Outer"]


def test_nodes_that_are_switched_off_take_no_part():
    cloth = small_scenes.add_cloth()
    add_nodes(cloth, moving()).show_viewport = False
    assert deforming(cloth) == []


def test_pins_follow_geometry_nodes_once_and_not_twice():
    cloth = small_scenes.add_cloth()
    group = moving()
    add_nodes(cloth, group)
    add_nodes(cloth, subdividing())
    offset = group.nodes["Set Position"].inputs["Offset"]
    for frame, x in ((1, 0.0), (11, 0.4)):
        offset.default_value = (x, 0.0, 0.0)
        offset.keyframe_insert("default_value", frame=frame)
    small_scenes.set_frames(1, 11)
    rest = np.array([vertex.co[:] for vertex in cloth.data.vertices])
    assert bpy.ops.weft.bake() == {"FINISHED"}
    bpy.context.scene.frame_set(11)
    assert not cloth.modifiers["Move"].show_viewport
    assert cloth.modifiers["Subdivide"].show_viewport
    shown = small_scenes.evaluated(cloth)
    assert len(shown) > 64
    assert shown[:8] == pytest.approx(np.add(rest[:8], (0.4, 0, 0)), abs=1e-5)
    assert bpy.ops.weft.bake() == {"FINISHED"}  # with a result shown, too
    assert small_scenes.cached_frames(cloth)[-1][:8] == pytest.approx(
        np.add(rest[:8], (0.4, 0, 0)), abs=1e-5
    )
    bpy.ops.weft.free()
    assert all(modifier.show_viewport for modifier in cloth.modifiers)
