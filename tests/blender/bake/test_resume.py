# SPDX-License-Identifier: MIT OR Apache-2.0
"""Stopping a bake and going on with it: Resume, and Rebake from a frame."""

import dataclasses

import bpy
import numpy as np
import pytest
import small_scenes
from test_bake import bake_all, checkpoints_of, result_of, run_until

from addon.bake import status
from addon.cache import checkpoint, pc2
from addon.result import shape_keys


def test_cancelling_keeps_the_finished_frames():
    cloth = small_scenes.add_cloth()
    small_scenes.set_frames(1, 500)
    outcome = run_until(5)
    assert outcome.cancelled and not outcome.error
    frames = result_of(cloth)
    assert 5 <= len(frames) < 500
    small_scenes.assert_plays(cloth, frames, 1)


def test_resuming_gives_the_same_as_one_bake():
    cloth = small_scenes.add_cloth()
    floor = small_scenes.add_floor()
    floor.location.z = 0.6
    small_scenes.slide(floor, 2, (1, 0.6), (30, 0.9))
    small_scenes.slide(cloth, 0, (1, 0.0), (30, 0.5))
    small_scenes.set_frames(1, 30)
    bake_all()
    whole = result_of(cloth)
    run_until(11)
    assert len(result_of(cloth)) < 30
    cloth.name, floor.name = "Aaa", "Renamed"
    assert bpy.ops.weft.resume() == {"FINISHED"}
    assert np.array_equal(result_of(cloth), whole)
    small_scenes.assert_plays(cloth, whole, 1)


def test_resuming_several_cloths_keeps_their_order():
    cloths = [small_scenes.add_cloth(name, count=n) for name, n in (("One", 4), ("Two", 5))]
    cloths[1].location.x = 3.0
    small_scenes.set_frames(1, 12)
    bake_all()
    whole = [result_of(cloth) for cloth in cloths]
    run_until(5)
    cloths[0].name = "Zzz"
    assert bpy.ops.weft.resume() == {"FINISHED"}
    for cloth, frames in zip(cloths, whole, strict=True):
        assert np.array_equal(result_of(cloth), frames)


def test_a_longer_range_is_baked_on():
    cloth = small_scenes.add_cloth()
    small_scenes.set_frames(1, 20)
    bake_all()
    whole = result_of(cloth)
    small_scenes.set_frames(1, 8)
    bake_all()
    small_scenes.set_frames(1, 20)
    assert bpy.ops.weft.resume() == {"FINISHED"}
    assert np.array_equal(result_of(cloth), whole)
    assert cloth.weft.result.statistic.startswith("19 frames")


def test_resuming_after_a_crash_continues_from_the_last_checkpoint():
    """The state on disk that a killed Blender leaves: later frames, but no later checkpoint."""
    cloth = small_scenes.add_cloth()
    bpy.context.scene.weft.checkpoint_interval = 4
    small_scenes.set_frames(1, 9)
    bake_all()
    assert list(checkpoints_of(cloth)) == [9, 5]
    small_scenes.set_frames(1, 14)
    bpy.ops.weft.resume()
    whole = result_of(cloth)
    for frame, path in checkpoints_of(cloth).items():
        if frame > 9:
            path.unlink()
    description = pc2.read_description(small_scenes.stem(cloth))
    description.truncate(12)
    writer = pc2.Writer(small_scenes.stem(cloth), description)
    writer.sync()
    writer.close()
    assert bpy.ops.weft.resume() == {"FINISHED"}
    assert np.array_equal(result_of(cloth), whole)


def test_resuming_a_complete_bake_only_shows_it():
    cloth = small_scenes.add_cloth()
    small_scenes.set_frames(1, 6)
    bake_all()
    frames = result_of(cloth)
    shape_keys.remove(cloth)
    assert bpy.ops.weft.resume() == {"FINISHED"}
    small_scenes.assert_plays(cloth, frames, 1)


def test_rebaking_keeps_the_frames_before_and_computes_the_rest_with_what_is_set_now():
    cloth = small_scenes.add_cloth()
    scene = bpy.context.scene
    scene.weft.checkpoint_interval = 4
    small_scenes.set_frames(1, 14)
    bake_all()
    before = result_of(cloth)
    assert list(checkpoints_of(cloth)) == [14, 13, 9, 5]
    scene.frame_set(11)
    assert bpy.ops.weft.rebake() == {"FINISHED"}
    assert np.array_equal(result_of(cloth), before)
    scene.weft.wind = (0.0, 9.0, 0.0)
    scene.frame_set(11)
    assert bpy.ops.weft.rebake() == {"FINISHED"}
    after = result_of(cloth)
    assert np.array_equal(after[:9], before[:9])  # frame 9 was the last checkpoint before
    assert np.abs(after[13] - before[13]).max() > 1e-3
    small_scenes.assert_plays(cloth, after, 1)
    assert status.of(scene, bpy.context.view_layer, cloth).outdated == ""
    small_scenes.set_frames(1, 16)
    assert bpy.ops.weft.resume() == {"FINISHED"}
    assert np.array_equal(result_of(cloth)[:14], after)


def test_rebaking_needs_a_checkpoint_and_the_same_objects():
    cloth = small_scenes.add_cloth()
    scene = bpy.context.scene
    scene.weft.keep_checkpoints = False
    small_scenes.set_frames(1, 12)
    bake_all()
    scene.frame_set(5)
    with pytest.raises(RuntimeError, match="no checkpoint to continue from up to frame 5"):
        bpy.ops.weft.rebake()
    assert len(result_of(cloth)) == 12
    small_scenes.add_floor()
    scene.frame_set(12)
    with pytest.raises(RuntimeError, match="other objects take part"):
        bpy.ops.weft.rebake()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: setattr(c.weft.material, "density", 0.3), "material of 'Sheet' has changed"),
        (lambda c: setattr(c, "scale", (1, 1, 2)), "motion or the modifiers of 'Sheet'"),
        (lambda c: small_scenes.add_floor(), "'Floor' takes part now"),
        (lambda c: bpy.ops.weft.free(), "Nothing to resume: there is no cache of a cloth"),
        (lambda c: small_scenes.add_cloth("Other"), "'Other' cannot be resumed: there is no"),
    ],
)
def test_a_changed_scene_is_not_resumed(change, words):
    cloth = small_scenes.add_cloth()
    small_scenes.set_frames(1, 5)
    bake_all()
    bpy.context.scene.frame_end = 8
    change(cloth)
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.weft.resume()


def test_a_checkpoint_of_another_version_is_not_resumed():
    cloth = small_scenes.add_cloth()
    small_scenes.set_frames(1, 5)
    bake_all()
    (path,) = checkpoints_of(cloth).values()
    dataclasses.replace(checkpoint.read(path), library="0.0.9").write(path)
    bpy.context.scene.frame_end = 8
    with pytest.raises(RuntimeError, match=r"the checkpoint is of Weft 0\.0\.9"):
        bpy.ops.weft.resume()
    path.unlink()
    with pytest.raises(RuntimeError, match="there is no checkpoint to continue from"):
        bpy.ops.weft.resume()


def test_cloths_baked_apart_are_not_resumed_together():
    first = small_scenes.add_cloth("First")
    small_scenes.set_frames(1, 4)
    bake_all()
    first.weft.role = "NONE"
    second = small_scenes.add_cloth("Second")
    bake_all()
    first.weft.role = "CLOTH"
    bpy.context.scene.frame_end = 6
    with pytest.raises(RuntimeError, match="cannot be resumed"):
        bpy.ops.weft.resume()
    assert len(result_of(first)) == len(result_of(second)) == 4
