# SPDX-License-Identifier: MIT OR Apache-2.0
"""The example scenes build, bake, and show what they are to show."""

import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
import small_scenes
from drawn import crossings

sys.path.insert(0, str(Path(__file__).parents[3] / "examples"))
import scenes

FRAMES = {"flag": 30, "curtain": 30, "tablecloth": 20, "cape": 30, "cushion": 20, "skirt": 26}
FRAMES |= {"dress": 20, "trousers": 30, "fur": 24}


@pytest.fixture(params=scenes.SCENES)
def baked(request):
    cloth = scenes.SCENES[request.param](detail=14)
    bpy.context.scene.frame_end = FRAMES[request.param]
    assert bpy.ops.weft.check_scene() == {"FINISHED"}
    assert not [f for f in bpy.context.window_manager.weft.findings if f.severity == "ERROR"]
    assert bpy.ops.weft.bake() == {"FINISHED"}
    assert not cloth.weft.result.warnings, cloth.weft.result.warnings
    return request.param, cloth, small_scenes.cached_frames(cloth).astype(float)


def distance_of_roots(cloth: bpy.types.Object, frame: int) -> float:
    """Largest distance of a hair's root from the cloth as drawn, in m."""
    bpy.context.scene.frame_set(frame)
    drawn = cloth.evaluated_get(bpy.context.evaluated_depsgraph_get())
    fur = drawn.particle_systems[0]
    roots = [fur.co_hair(drawn, particle_no=k, step=0) for k in range(0, fur.settings.count, 25)]
    inverse = drawn.matrix_world.inverted()
    return max(
        (drawn.closest_point_on_mesh(inverse @ root)[1] - inverse @ root).length for root in roots
    )


def test_an_example(baked):
    name, cloth, frames = baked
    assert len(frames) == FRAMES[name]
    first, last = frames[0], frames[-1]
    moved = np.linalg.norm(last - first, axis=1)
    if name == "flag":
        assert moved[:14].max() > 0.1 and np.ptp(last[:, 1]) > 0.1
    elif name == "curtain":
        assert last[-1, 0] < 0.9 * first[-1, 0]
    elif name == "tablecloth":
        assert last[:, 2].max() > 0.75 and last[:, 2].min() < 0.65
    elif name == "cape":
        matrix = np.array(cloth.matrix_world)
        bpy.context.scene.frame_set(FRAMES[name])
        assert np.abs(np.array(cloth.matrix_world)[:3, 3] - matrix[:3, 3]).max() < 3.0
        assert last[:, 2].min() > -0.05
    elif name == "cushion":
        assert np.ptp(last[:, 2]) > 2.0 * np.ptp(first[:, 2])
    elif name in ("dress", "trousers"):
        garment = cloth.weft.garment
        assert garment.panels_mesh is not None and not garment.has_failed, garment.report
        bodies = [one for one in bpy.data.objects if one.weft.role == "COLLIDER"]
        for frame in (1, 10, FRAMES[name]):
            bpy.context.scene.frame_set(frame)
            assert not crossings([cloth], bodies).counts
        drop = (first - last)[:, 2] if name == "dress" else np.zeros(1)
        assert drop.max() < 0.1 and moved.max() > 0.05
    elif name == "fur":
        assert last[:, 2].max() > 0.55 and last[:, 2].min() < 0.45
        # Blender has roots on a bilinear patch of each quad, not on its triangles.
        assert distance_of_roots(cloth, FRAMES[name]) < 0.01
    else:
        seams = np.array([edge.vertices[:] for edge in cloth.data.edges if edge.is_loose])
        gaps = np.linalg.norm(last[seams[:, 0]] - last[seams[:, 1]], axis=1)
        assert len(seams) == 28 and gaps.max() < 5e-3
