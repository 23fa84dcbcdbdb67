# SPDX-License-Identifier: MIT OR Apache-2.0
"""One choice of quality sets solver, step, tolerance and subdivision, and is read off them."""

import bpy
import pytest
import small_scenes

from addon.properties.quality import QUALITIES


@pytest.mark.parametrize("chosen", QUALITIES, ids=lambda each: each.identifier)
def test_a_quality_is_what_its_settings_are(chosen):
    settings = bpy.context.scene.weft
    assert settings.quality == "GOOD"  # the defaults
    settings.quality = chosen.identifier
    assert settings.solver == chosen.solver and settings.integrator == chosen.integrator
    assert settings.tolerance == pytest.approx(chosen.tolerance)
    assert settings.time_step == pytest.approx(chosen.time_step)
    assert settings.quality == chosen.identifier
    settings.tolerance = 0.0123
    assert settings.quality == "CUSTOM"
    settings.quality = "CUSTOM"
    assert settings.tolerance == pytest.approx(0.0123)


def test_it_sets_what_is_drawn_of_the_subdivision_and_not_what_is_rendered():
    cloth, floor = small_scenes.add_cloth(), small_scenes.add_floor()
    for obj in (cloth, floor):
        modifier = obj.modifiers.new("Subdivision", "SUBSURF")
        modifier.levels, modifier.render_levels = 2, 3
    levels = {}
    for each in QUALITIES:
        bpy.context.scene.weft.quality = each.identifier
        levels[each.identifier] = cloth.modifiers[0].levels
    assert levels == {"DRAFT": 0, "GOOD": 1, "FINAL": 3}
    assert cloth.modifiers[0].render_levels == 3
    assert floor.modifiers[0].levels == 2


def test_every_quality_keeps_cloth_out_of_a_collider():
    cloth = small_scenes.add_cloth(pinned=False)
    cloth.location.z = 0.3
    small_scenes.add_floor()
    for each in QUALITIES:
        bpy.context.scene.weft.quality = each.identifier
        small_scenes.set_frames(1, 15)
        assert bpy.ops.weft.bake() == {"FINISHED"}
        heights = small_scenes.cached_frames(cloth)[:, :, 2] + 0.3
        assert heights.min() > 0.0
        assert heights[-1].mean() < 0.05
