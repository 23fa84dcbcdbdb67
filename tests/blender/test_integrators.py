# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every integrator, solver and model of the library in a bake."""

import bpy
import pytest
import small_scenes

from addon import bridge
from addon.scene_properties import INTEGRATORS, MODELS, SOLVERS

CHOICES = [
    (field, item[0])
    for field, items in (("integrator", INTEGRATORS), ("solver", SOLVERS), ("model", MODELS))
    for item in items
]


def test_the_menus_have_all_that_the_library_has_and_explain_it():
    for field, items in (("integrator", INTEGRATORS), ("solver", SOLVERS), ("model", MODELS)):
        assert {item[0] for item in items} == bridge.choices(field)
        assert items[0][0] == getattr(bridge.library().Settings(), field)
        assert all(len(item[2]) > 20 for item in items)


@pytest.mark.parametrize(("field", "name"), CHOICES)
def test_a_pinned_and_a_falling_sheet_are_baked(field, name):
    setattr(bpy.context.scene.weft, field, name)
    hung = small_scenes.add_cloth("Hung", count=6)
    falling = small_scenes.add_cloth("Falling", count=6, pinned=False)
    falling.location = (3.0, 0.0, 0.03)
    floor = small_scenes.add_floor(size=8.0)
    small_scenes.set_frames(1, 6)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    frames = small_scenes.cached_frames(hung)
    assert frames.shape == (6, 36, 3)
    assert abs(frames[:, :6, 2]).max() < 1e-6
    assert frames[-1, -6:, 2].max() < -1e-3
    bpy.context.scene.frame_set(6)
    height = small_scenes.evaluated_world(falling)[:, 2]
    assert height.min() > floor.location.z
    assert height.max() < 0.03
