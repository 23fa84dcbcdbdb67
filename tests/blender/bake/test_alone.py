# SPDX-License-Identifier: MIT OR Apache-2.0
"""The bake of one cloth: others are obstacles that move as their results do."""

import bpy
import numpy as np
import pytest
import small_scenes
from small_scenes import state

LANDED, FALLEN = -0.3, -0.45  # of the middle of the upper sheet after 12 frames


@pytest.fixture
def layers():
    """A sheet held at two sides, and a smaller one that falls onto it."""
    lower = small_scenes.add_cloth("Lower", 9, pinned=False)
    lower.vertex_groups["pin"].remove(range(81))
    lower.vertex_groups["pin"].add([*range(9), *range(72, 81)], 1.0, "REPLACE")
    lower.weft.pin_group = "pin"
    upper = small_scenes.add_mesh("Upper", *small_scenes.grid(7, 0.4))
    upper.location.z, upper.weft.role = 1.05, "CLOTH"
    for cloth in (lower, upper):
        cloth.weft.material.thickness = 0.004
    small_scenes.set_frames(1, 12)
    return lower, upper


def bake_alone(obj):
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.weft.bake(only_active=True) == {"FINISHED"}
    return small_scenes.cached_frames(obj)


def test_one_cloth_is_baked_and_rests_on_the_result_of_the_other(layers):
    lower, upper = layers
    below = bake_alone(lower)
    assert not upper.weft.result.shown
    above = bake_alone(upper)
    assert np.array_equal(small_scenes.cached_frames(lower), below)
    small_scenes.assert_plays(lower, below, 1)
    small_scenes.assert_plays(upper, above, 1)
    assert (above[-1][:, 2] + 0.05 > below[-1][:, 2].min()).all()
    assert above[-1][24, 2] > LANDED
    assert [state(obj).outdated for obj in layers] == ["", ""]


def test_a_cloth_without_a_result_takes_no_part(layers):
    _lower, upper = layers
    above = bake_alone(upper)
    assert above[-1][24, 2] < FALLEN


def test_self_collision_decides_whether_others_are_obstacles(layers):
    lower, upper = layers
    bake_alone(lower)
    upper.weft.use_collision = False  # of colliders
    assert bake_alone(upper)[-1][24, 2] > LANDED
    upper.weft.use_self_collision = False
    assert bake_alone(upper)[-1][24, 2] < FALLEN


def test_a_new_result_of_the_other_outdates_and_resume_goes_on_alone(layers):
    lower, upper = layers
    bake_alone(lower)
    above = bake_alone(upper)
    bpy.context.scene.frame_end = 15
    below = small_scenes.cached_frames(lower)
    assert bpy.ops.weft.resume() == {"FINISHED"}
    resumed = small_scenes.cached_frames(upper)
    assert len(resumed) == 15 and np.array_equal(resumed[:12], above)
    assert np.array_equal(small_scenes.cached_frames(lower), below)
    bpy.context.view_layer.objects.active = lower
    assert bpy.ops.weft.resume() == {"FINISHED"}  # the upper one was no obstacle to it
    assert np.array_equal(small_scenes.cached_frames(lower)[:12], below)
    assert [state(obj).outdated for obj in layers] == ["", ""]
    bake_alone(lower)
    assert state(upper).outdated == "the result of 'Lower' has changed"
    with pytest.raises(RuntimeError, match="no cloth of the view layer"):
        bpy.context.view_layer.objects.active = small_scenes.add_floor()
        bpy.ops.weft.bake(only_active=True)
