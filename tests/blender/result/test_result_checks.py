# SPDX-License-Identifier: MIT OR Apache-2.0
"""Check Scene measures on baked frames what modifiers make cross, and the gap that is enough."""

import bpy
import pytest
import small_scenes

TITLE = "vertices where modifiers make the result cross"


def cloth_on_floor(gap=0.001):
    """A baked sheet that lies on a floor."""
    cloth = small_scenes.add_cloth(count=6, pinned=False)
    cloth.location.z = 0.05
    cloth.weft.material.thickness = gap
    small_scenes.add_floor().weft.thickness = gap
    bake()
    return cloth


def bake():
    small_scenes.set_frames(1, 20)
    assert bpy.ops.weft.bake() == {"FINISHED"}


def thicken(cloth, thickness=0.01, offset=0.0):
    modifier = cloth.modifiers.new("Thickness", "SOLIDIFY")
    modifier.thickness, modifier.offset = thickness, offset
    return modifier


def findings():
    bpy.ops.weft.check_scene()
    found = bpy.context.window_manager.weft.findings
    return [(k, each) for k, each in enumerate(found) if TITLE in each.title]


def test_nothing_is_said_where_nothing_crosses():
    cloth = cloth_on_floor()
    assert not findings()
    modifier = thicken(cloth, 0.0005)
    assert not findings()
    modifier.thickness, modifier.offset = 0.02, 1.0  # outwards, away from the floor
    assert not findings()


def test_thickness_into_a_collider_is_found_and_the_gap_is_enough():
    cloth = cloth_on_floor()
    thicken(cloth)  # 5 mm to either side, with a gap of 2 mm
    bpy.context.scene.frame_set(7)
    ((index, found),) = findings()
    assert bpy.context.scene.frame_current == 7
    assert "Thickness" in found.meaning and "Offset 1" in found.meaning
    assert bpy.ops.weft.finding_fix(index=index) == {"FINISHED"}
    assert cloth.weft.material.thickness == pytest.approx(0.006, rel=0.05)
    bake()
    assert not findings()


def test_a_cloth_without_a_result_is_not_looked_at():
    cloth = small_scenes.add_cloth()
    thicken(cloth)
    assert not findings()
