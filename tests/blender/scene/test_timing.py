# SPDX-License-Identifier: MIT OR Apache-2.0
"""Scenes and cloth in slow motion: bakes happen in the frames of the animation."""

import bpy
import numpy as np
import pytest
import small_scenes

from addon.blender import scene_time


def stretch(old, new):
    bpy.context.scene.render.frame_map_old = old
    bpy.context.scene.render.frame_map_new = new


@pytest.mark.parametrize(("old", "new"), [(100, 100), (100, 200), (100, 50), (30, 70)])
def test_a_frame_of_the_animation_is_found(old, new):
    stretch(old, new)
    scene = bpy.context.scene
    for frame in (-3, 0, 1, 7, 40):
        scene_time.go_to(scene, frame)
        assert scene_time.current(scene) == pytest.approx(frame, abs=1e-4)


def test_the_range_covers_what_the_timeline_shows():
    small_scenes.set_frames(1, 21)
    assert scene_time.frame_range(bpy.context.scene) == (1, 21)
    stretch(100, 200)
    assert scene_time.frame_range(bpy.context.scene) == (0, 11)
    bpy.context.scene.weft.use_scene_range = False
    bpy.context.scene.weft.frame_start, bpy.context.scene.weft.frame_end = 3, 5
    assert scene_time.frame_range(bpy.context.scene) == (3, 5)


def test_slow_motion_shows_the_same_cloth_at_half_the_speed():
    cloth = small_scenes.add_cloth()
    small_scenes.slide(cloth, 0, (1, 0.0), (11, 0.5))
    scene = bpy.context.scene.weft
    scene.use_scene_range, scene.frame_start, scene.frame_end = False, 1, 11
    assert bpy.ops.weft.bake() == {"FINISHED"}
    frames = small_scenes.cached_frames(cloth)
    stretch(100, 200)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    assert np.array_equal(small_scenes.cached_frames(cloth), frames)
    for frame in (2, 12, 22):  # of the timeline
        bpy.context.scene.frame_set(frame)
        expected = frames[frame // 2 - 1]
        assert small_scenes.evaluated(cloth) == pytest.approx(expected, abs=1e-5)


def baked_at(cloth, speed, last):
    bpy.context.scene.weft.speed = speed
    small_scenes.set_frames(1, last)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    return small_scenes.cached_frames(cloth)


@pytest.mark.parametrize("pinned", [False, True])
def test_at_half_the_speed_cloth_takes_twice_the_frames(pinned):
    cloth = small_scenes.add_cloth(pinned=pinned)
    bpy.context.scene.weft.time_step = 1 / 48  # a frame at half the speed, half of one otherwise
    small_scenes.slide(cloth, 0, (1, 0.0), (11, 0.5))
    whole = baked_at(cloth, 1.0, 11)
    cloth.animation_data_clear()
    small_scenes.slide(cloth, 0, (1, 0.0), (21, 0.5))
    slow = baked_at(cloth, 0.5, 21)
    assert slow[::2] == pytest.approx(whole, abs=2e-5)
    assert np.ptp(whole[:, :, 2]) > 0.2


def test_a_keyframed_speed_counts_the_seconds_of_each_frame():
    cloth = small_scenes.limp_sheet()
    scene = bpy.context.scene
    scene.use_gravity = True
    for frame, speed in ((3, 1.0), (9, 0.25)):
        scene.weft.speed = speed
        scene.weft.keyframe_insert("speed", frame=frame)
    frames = small_scenes.whole_and_resumed(cloth)
    seconds = 0.0
    for frame in range(2, 13):
        scene.frame_set(frame)
        seconds += scene.weft.speed / 24
        fallen = frames[0, :, 2] - frames[frame - 1, :, 2]
        assert fallen == pytest.approx(0.5 * 9.81 * seconds**2, rel=1e-3), frame
    assert seconds < 0.3


def test_another_speed_makes_a_result_outdated():
    cloth = small_scenes.baked()
    assert small_scenes.state(cloth).outdated == ""
    bpy.context.scene.weft.speed = 0.5
    assert "settings" in small_scenes.state(cloth).outdated
    bpy.context.scene.weft.speed = 1.0
    assert small_scenes.state(cloth).outdated == ""
