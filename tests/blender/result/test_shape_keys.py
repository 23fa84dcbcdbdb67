# SPDX-License-Identifier: MIT OR Apache-2.0
"""Results as shape keys: exact at every frame, and nothing of the user's is lost."""

import bpy
import numpy as np
import pytest
import small_scenes

from addon.blender import fcurves
from addon.result import shape_keys

FIRST = 5


@pytest.fixture
def sheet():
    return small_scenes.add_cloth(count=6)


@pytest.fixture
def frames(sheet):
    count = len(sheet.data.vertices)
    return np.random.default_rng(3).normal(size=(12, count, 3)).astype(np.float32)


def add_key(obj, name, offset, value):
    if obj.data.shape_keys is None:
        obj.shape_key_add(name="Basis", from_mix=False)
    key = obj.shape_key_add(name=name, from_mix=False)
    for point in key.points:
        point.co.z += offset
    key.value = value
    return key


def test_keys_play_the_frames_and_hold_still_outside(sheet, frames):
    shape_keys.write(sheet, FIRST, frames)
    small_scenes.assert_plays(sheet, frames, FIRST)
    names = [block.name for block in sheet.data.shape_keys.key_blocks]
    assert names[:2] == ["Basis", "weft_0005"] and names[-1] == "weft_0016"


def test_between_frames_the_cloth_moves_linearly(sheet, frames):
    shape_keys.write(sheet, FIRST, frames)
    bpy.context.scene.frame_set(FIRST + 3, subframe=0.25)
    expected = 0.75 * frames[3] + 0.25 * frames[4]
    assert small_scenes.evaluated(sheet) == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("first", [1, 0, -30, 99995])
def test_any_first_frame_plays(sheet, frames, first):
    shape_keys.write(sheet, first, frames[:3])
    small_scenes.assert_plays(sheet, frames[:3], first)


def test_one_frame_alone_holds(sheet, frames):
    shape_keys.write(sheet, FIRST, frames[:1])
    small_scenes.assert_plays(sheet, frames[:1], FIRST)


def test_a_second_result_replaces_the_first(sheet, frames):
    shape_keys.write(sheet, FIRST, frames)
    shape_keys.write(sheet, FIRST + 2, frames[:4][::-1])
    small_scenes.assert_plays(sheet, frames[:4][::-1], FIRST + 2)
    assert len(sheet.data.shape_keys.key_blocks) == 5
    (track,) = fcurves.tracks(sheet.data.shape_keys)
    assert len(fcurves.strip_curves(track.strips[0])) == 4 and len(bpy.data.actions) == 1


def test_removing_leaves_a_mesh_without_keys_and_no_action(sheet, frames):
    before = small_scenes.evaluated(sheet)
    shape_keys.write(sheet, FIRST, frames)
    shape_keys.remove(sheet)
    assert sheet.data.shape_keys is None
    assert len(bpy.data.actions) == 0
    assert np.array_equal(small_scenes.evaluated(sheet), before)
    assert sheet.weft.result.frame_count == 0


def test_the_users_keys_do_not_add_to_the_result_and_come_back(sheet, frames):
    add_key(sheet, "User", 2.0, 1.0)
    muted = add_key(sheet, "Muted", 3.0, 0.5)
    muted.mute = True
    before = small_scenes.evaluated(sheet)
    shape_keys.write(sheet, FIRST, frames)
    small_scenes.assert_plays(sheet, frames, FIRST)
    shape_keys.remove(sheet)
    blocks = sheet.data.shape_keys.key_blocks
    assert [block.name for block in blocks] == ["Basis", "User", "Muted"]
    assert [block.mute for block in blocks] == [False, False, True]
    assert [block.value for block in blocks[1:]] == [1.0, 0.5]
    assert np.array_equal(small_scenes.evaluated(sheet), before)


def test_the_users_key_animation_survives(sheet, frames):
    key = add_key(sheet, "User", 2.0, 0.0)
    key.keyframe_insert("value", frame=1)
    key.value = 1.0
    key.keyframe_insert("value", frame=10)
    keys = sheet.data.shape_keys
    action = fcurves.action_of(keys)
    shape_keys.write(sheet, FIRST, frames)
    small_scenes.assert_plays(sheet, frames, FIRST)
    for _before_and_after in range(2):
        assert fcurves.action_of(keys) == action
        assert [curve.data_path for curve in fcurves.curves(keys)] == ['key_blocks["User"].value']
        shape_keys.remove(sheet)
    assert fcurves.tracks(keys) == [] and list(bpy.data.actions) == [action]
    bpy.context.scene.frame_set(10)
    assert small_scenes.evaluated(sheet)[:, 2] == pytest.approx(2.0)


def test_absolute_keys_come_back_absolute(sheet, frames):
    add_key(sheet, "User", 2.0, 0.0)
    keys = sheet.data.shape_keys
    keys.use_relative = False
    keys.eval_time = 10.0
    before = small_scenes.evaluated(sheet)
    shape_keys.write(sheet, FIRST, frames)
    small_scenes.assert_plays(sheet, frames, FIRST)
    shape_keys.remove(sheet)
    assert not sheet.data.shape_keys.use_relative
    assert np.array_equal(small_scenes.evaluated(sheet), before)


def test_a_pinned_active_key_comes_back(sheet, frames):
    add_key(sheet, "User", 2.0, 0.0)
    sheet.active_shape_key_index = 1
    sheet.show_only_shape_key = True
    shape_keys.write(sheet, FIRST, frames)
    small_scenes.assert_plays(sheet, frames, FIRST)
    shape_keys.remove(sheet)
    assert sheet.show_only_shape_key and sheet.active_shape_key_index == 1


def test_keys_of_the_user_that_are_named_like_ours_are_told_apart(sheet, frames):
    add_key(sheet, "weft_0005", 2.0, 1.0)
    shape_keys.write(sheet, FIRST, frames)
    small_scenes.assert_plays(sheet, frames, FIRST)
    shape_keys.remove(sheet)
    assert [block.name for block in sheet.data.shape_keys.key_blocks] == ["Basis", "weft_0005"]


def test_deforming_modifiers_rest_while_the_result_is_shown(sheet, frames):
    wave = sheet.modifiers.new("Wave", "WAVE")
    hidden = sheet.modifiers.new("Cast", "CAST")
    hidden.show_viewport, hidden.factor = False, 0.9
    shape_keys.write(sheet, FIRST, frames)
    small_scenes.assert_plays(sheet, frames, FIRST)
    assert not wave.show_render and not hidden.show_render
    shape_keys.remove(sheet)
    assert (wave.show_viewport, wave.show_render) == (True, True)
    assert (hidden.show_viewport, hidden.show_render) == (False, True)


def test_generative_modifiers_work_on_the_result(sheet, frames):
    sheet.modifiers.new("Subdivision", "SUBSURF").subdivision_type = "SIMPLE"
    shape_keys.write(sheet, FIRST, frames)
    bpy.context.scene.frame_set(FIRST + 2)
    shown = small_scenes.evaluated(sheet)
    assert len(shown) == 121
    assert shown[: len(frames[2])] == pytest.approx(frames[2], abs=1e-6)


def test_hiding_gives_everything_back_and_showing_plays_again(sheet, frames):
    add_key(sheet, "User", 2.0, 1.0)
    before = small_scenes.evaluated(sheet)
    shape_keys.write(sheet, FIRST, frames)
    shape_keys.disable(sheet)
    bpy.context.scene.frame_set(FIRST + 1)
    assert np.array_equal(small_scenes.evaluated(sheet), before)
    shape_keys.enable(sheet)
    small_scenes.assert_plays(sheet, frames, FIRST)


def test_keys_that_the_user_deleted_do_not_stop_removing(sheet, frames):
    shape_keys.write(sheet, FIRST, frames)
    sheet.modifiers.new("Wave", "WAVE")
    sheet.shape_key_clear()
    shape_keys.remove(sheet)
    assert sheet.data.shape_keys is None and sheet.weft.result.frame_count == 0
