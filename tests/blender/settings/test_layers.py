# SPDX-License-Identifier: MIT OR Apache-2.0
"""The order of garments: what crosses at the start comes apart as the layers say."""

import bpy
import pytest
import small_scenes


def crossing_sheets(layers):
    """A level sheet and one that is tilted through it, above a floor; how high each comes to be."""
    small_scenes.add_floor()
    sheets = []
    for name, layer in zip(("Level", "Tilted"), layers, strict=True):
        sheet = small_scenes.add_mesh(name, *small_scenes.grid(14, 0.5))
        sheet.weft.role, sheet.location = "CLOTH", (0.0, 0.0, 0.06)
        sheet.weft.layer = layer
        sheets.append(sheet)
    sheets[1].rotation_euler.x = 0.15
    sheets[1].location.x, sheets[1].location.y = 0.013, 0.007
    small_scenes.set_frames(1, 54)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    bpy.context.scene.frame_set(54)
    return [small_scenes.evaluated_world(sheet)[:, 2].mean() for sheet in sheets]


@pytest.mark.parametrize("layers", [(0, 1), (1, 0), (5, 2)])
def test_crossed_sheets_come_apart_in_the_order_of_their_layers(layers):
    level, tilted = crossing_sheets(layers)
    assert (tilted > level + 1e-3) == (layers[1] > layers[0]), (level, tilted)
    assert abs(tilted - level) > 1e-3


def test_a_layer_of_its_own_outdates_a_result_and_none_does_not():
    cloth = small_scenes.baked(last=3)
    assert small_scenes.state(cloth).outdated == ""
    cloth.weft.layer = 2
    assert "'Sheet'" in small_scenes.state(cloth).outdated
