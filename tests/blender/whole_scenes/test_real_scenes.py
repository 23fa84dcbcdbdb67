# SPDX-License-Identifier: MIT OR Apache-2.0
"""The real scenes of the reference material, baked for some frames. Minutes: only when asked for.

WEFT_REAL_SCENES=1 python -m pytest tests/blender/whole_scenes/test_real_scenes.py
"""

import os
from pathlib import Path

import bpy
import numpy as np
import pytest
import small_scenes
from drawn import crossings_by_frame
from penetration import ClosedSurface, evaluated_world_mesh

ROOT = Path(__file__).parents[3]
SCENES = Path(os.environ.get("WEFT_SHARED", ROOT.parent / "shared")) / "data/scenes"

TABLE_FRAMES = 117

pytestmark = [
    pytest.mark.skipif(
        not os.environ.get("WEFT_REAL_SCENES"), reason="takes minutes: set WEFT_REAL_SCENES=1"
    ),
    pytest.mark.skipif(
        not SCENES.is_dir(), reason=f"no scenes in '{SCENES}': set WEFT_SHARED to their folder"
    ),
]


def open_scene(name, cache_folder, frames):
    bpy.ops.wm.open_mainfile(filepath=str(SCENES / name))
    bpy.context.scene.weft.cache_directory = str(cache_folder)
    small_scenes.set_frames(1, frames)


def take_part(cloth, collider, pin_group):
    cloth.weft.role, collider.weft.role = "CLOTH", "COLLIDER"
    cloth.weft.pin_group = pin_group
    bpy.context.view_layer.objects.active = cloth
    bpy.ops.weft.preset_apply(name="cotton")


def assert_outside(cloth, collider, frames):
    """No vertex of the cloth ends a frame inside the collider, by an independent measure."""
    for frame in range(1, frames + 1):
        bpy.context.scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        surface = ClosedSurface(*evaluated_world_mesh(collider, depsgraph))
        points, _triangles = evaluated_world_mesh(cloth, depsgraph)
        inside = np.flatnonzero(surface.depths(points) > 0.0)
        assert len(inside) == 0, f"frame {frame}: vertices {inside[:10]}"


@pytest.mark.parametrize("kind", ["KEYS", "MODIFIER"])
def test_the_tablecloth_falls_on_its_table(kind, cache_folder, capsys):
    open_scene("table_cloth.blend", cache_folder, TABLE_FRAMES)
    bpy.context.scene.weft.result_kind = kind
    cloth, table = bpy.data.objects["Tablecloth"], bpy.data.objects["Table"]
    take_part(cloth, table, "")
    assert bpy.ops.weft.bake() == {"FINISHED"}
    with capsys.disabled():
        print(f"\nTablecloth: {cloth.weft.result.statistic}")
    small_scenes.assert_plays(cloth, small_scenes.cached_frames(cloth), 1)
    assert_outside(cloth, table, TABLE_FRAMES)
    assert crossings_by_frame([cloth], [table]) == {}
    height = small_scenes.evaluated_world(cloth)[:, 2]
    assert height.max() < 0.78 and height.min() < 0.6  # the middle lies, the rim hangs


def test_the_dress_walks_with_its_body(cache_folder, capsys):
    open_scene("human_walk.blend", cache_folder, 20)
    dress, body = bpy.data.objects["Dress"], bpy.data.objects["Body"]
    armature = dress.modifiers.new("Armature", "ARMATURE")
    armature.object, armature.vertex_group = bpy.data.objects["Armature"], "pin"
    take_part(dress, body, "pin")
    assert bpy.ops.weft.bake() == {"FINISHED"}
    with capsys.disabled():
        print(f"\nDress: {dress.weft.result.statistic}")
    assert not armature.show_viewport
    small_scenes.assert_plays(dress, small_scenes.cached_frames(dress), 1)
    assert_outside(dress, body, 20)
    bpy.ops.weft.free()
    assert armature.show_viewport and dress.data.shape_keys is None
