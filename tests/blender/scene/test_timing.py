# SPDX-License-Identifier: MIT OR Apache-2.0
"""Scenes that are stretched in time: bakes happen in the frames of the animation."""

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
