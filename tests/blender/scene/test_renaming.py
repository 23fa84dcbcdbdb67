# SPDX-License-Identifier: MIT OR Apache-2.0
"""What Weft switched off while a result is shown is given back under whatever name it has then."""

import bpy
import pytest
import small_scenes
from small_scenes import add_nodes, moving, state

from addon.blender import modifier_state


@pytest.fixture(params=["KEYS", "MODIFIER"])
def kind(request):
    bpy.context.scene.weft.result_kind = request.param
    return request.param


def add_key(cloth, name, value=1.0):
    if cloth.data.shape_keys is None:
        cloth.shape_key_add(name="Basis", from_mix=False)
    key = cloth.shape_key_add(name=name, from_mix=False)
    for point in key.points:
        point.co.z += 0.1
    key.value = value
    return key


def bake():
    small_scenes.set_frames(1, 4)
    assert bpy.ops.weft.bake() == {"FINISHED"}


def switched(cloth):
    return [(m.name, m.show_viewport, m.show_render) for m in cloth.modifiers]


def muted(cloth):
    return [block.name for block in cloth.data.shape_keys.key_blocks if block.mute]


def test_modifiers_and_keys_that_were_renamed_come_back(kind):
    cloth = small_scenes.add_cloth()
    cloth.modifiers.new("Wave", "WAVE").show_render = False
    add_nodes(cloth, moving())
    add_key(cloth, "Fit")
    add_key(cloth, "Muted").mute = True
    bake()
    frames = small_scenes.cached_frames(cloth)
    cloth.modifiers["Wave"].name = "Flutter"
    if kind == "MODIFIER":
        cloth.modifiers["Weft"].name = "Result"
    for old, new in (("Fit", "Tight"), ("Muted", "Quiet")):
        cloth.data.shape_keys.key_blocks[old].name = new
    assert state(cloth).outdated == "" and state(cloth).problems == ()
    cloth.modifiers["Move"].name = "Shift"
    assert modifier_state.is_deforming(cloth.modifiers["Shift"])
    small_scenes.assert_plays(cloth, frames, 1)
    bpy.ops.weft.free()
    assert switched(cloth) == [("Flutter", True, False), ("Shift", True, True)]
    assert muted(cloth) == ["Quiet"]


def test_a_renamed_result_is_replaced(kind):
    cloth = small_scenes.add_cloth()
    wave = cloth.modifiers.new("Wave", "WAVE")
    bake()
    for modifier in cloth.modifiers:
        modifier.name += " renamed"
    bake()
    assert len(cloth.modifiers) == (2 if kind == "MODIFIER" else 1) and not wave.show_viewport
    small_scenes.assert_plays(cloth, small_scenes.cached_frames(cloth), 1)
    bpy.ops.weft.free()
    assert switched(cloth) == [("Wave renamed", True, True)]


def test_names_that_went_to_others(kind):
    cloth = small_scenes.add_cloth()
    cloth.modifiers.new("Wave", "WAVE")
    add_key(cloth, "Fit")
    bake()
    cloth.modifiers["Wave"].name = cloth.data.shape_keys.key_blocks["Fit"].name = "Old"
    cloth.modifiers.new("Wave", "CAST").show_viewport = False
    add_key(cloth, "Fit")
    bpy.ops.weft.free()
    assert switched(cloth) == [("Old", True, True), ("Wave", False, True)]
    assert muted(cloth) == []


def test_a_file_without_numbers_is_read_by_names(kind):
    cloth = small_scenes.add_cloth()
    cloth.modifiers.new("Wave", "WAVE")
    add_nodes(cloth, moving())
    add_key(cloth, "Fit")
    bake()
    settings = cloth.weft
    for memory in (*settings.muted_modifiers, *settings.deforming_nodes):
        memory.property_unset("uid")
    for memory in settings.result.muted_keys:
        memory.property_unset("place")
    settings.result.property_unset("modifier_uid")
    assert state(cloth).outdated == "" and state(cloth).problems == ()
    bpy.ops.weft.free()
    assert switched(cloth) == [("Wave", True, True), ("Move", True, True)]
    assert muted(cloth) == []
