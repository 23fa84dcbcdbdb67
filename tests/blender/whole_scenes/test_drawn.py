# SPDX-License-Identifier: MIT OR Apache-2.0
"""Nothing crosses in the triangles that Blender draws, whichever way it cuts quads and n-gons.

WEFT_REAL_SCENES=1 bakes larger grids as well, for minutes.
"""

import math
import os
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
import small_scenes
from drawn import crossings, crossings_by_frame
from penetration import evaluated_world_mesh

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
import sheets

WHOLE = bool(os.environ.get("WEFT_REAL_SCENES"))


def add_ball() -> bpy.types.Object:
    bpy.ops.mesh.primitive_uv_sphere_add(segments=32, ring_count=16, radius=0.3)
    return bpy.context.object


def add_edge() -> bpy.types.Object:
    """A box that has an edge on top."""
    bpy.ops.mesh.primitive_cube_add(size=0.4, rotation=(0.0, math.pi / 4, 0.1))
    return bpy.context.object


def add_floor() -> bpy.types.Object:
    bpy.ops.mesh.primitive_plane_add(size=4.0, location=(0.0, 0.0, -0.3))
    return bpy.context.object


PLACES = {"ball": add_ball, "edge": add_edge, "floor": add_floor}


def add_sheet(place: str, count: int) -> bpy.types.Object:
    """A square metre of silk; over the floor it stands on edge, a little bent."""
    positions, quads = small_scenes.grid(count)
    if place == "floor":
        positions = positions[:, [2, 0, 1]] + [0.0, 0.0, 0.25]
        positions[:, 0] = 0.02 * np.sin(7.0 * positions[:, 1])
    else:
        positions[:, 2] = 0.35
    sheet = small_scenes.add_mesh("Sheet", positions, quads)
    sheet.weft.role = "CLOTH"
    bpy.context.view_layer.objects.active = sheet
    bpy.ops.weft.preset_apply(name="silk")
    return sheet


def bake(frames: int) -> None:
    small_scenes.set_frames(1, frames)
    assert bpy.ops.weft.bake() == {"FINISHED"}


def test_the_benchmark_knows_how_blender_cuts_quads():
    positions, quads = small_scenes.grid(40)
    positions += np.random.default_rng(1).normal(scale=0.02, size=positions.shape)
    sheet = small_scenes.add_mesh("Sheet", positions, quads)
    _, drawn = evaluated_world_mesh(sheet, bpy.context.evaluated_depsgraph_get())
    known = sheets.drawn_triangles(positions, quads)
    assert {frozenset(one) for one in drawn.tolist()} == {frozenset(one) for one in known.tolist()}
    assert 100 < (np.sort(known)[:, None] == np.sort(quads[:, [1, 2, 3]])).all(axis=2).sum() < 1500


def test_an_edge_through_a_face_that_it_is_sewn_to_does_not_count():
    points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0.2, 0.2, 0.1), (0.2, 0.2, -1), (3, 3, 0)]
    cloth = small_scenes.add_mesh("Sewn", points, [(0, 1, 2), (3, 4, 5)])
    bpy.context.view_layer.update()
    assert crossings([cloth], []).of_itself("Sewn") == 2
    labels = np.array([0, 1, 2, 0, 4, 5])
    assert crossings([cloth], [], {"Sewn": labels}).of_itself("Sewn") == 1
    assert crossings([cloth], [], {"Sewn": np.arange(6)}).of_itself("Sewn") == 2


GRIDS = [("ball", 20, 48), ("edge", 20, 48), ("floor", 20, 40), ("ball", 50, 24)]
if WHOLE:
    GRIDS = [(place, n, 72) for n in (20, 30, 50, 100) for place in PLACES]


@pytest.mark.parametrize(("place", "count", "frames"), GRIDS)
def test_a_grid_of_quads_crosses_nothing(place, count, frames):
    collider = PLACES[place]()
    collider.weft.role = "COLLIDER"
    sheet = add_sheet(place, count)
    bake(frames)
    assert crossings_by_frame([sheet], [collider]) == {}
    # The same frames as the other kind of result.
    bpy.context.scene.weft.result_kind = "MODIFIER"
    assert bpy.ops.weft.resume() == {"FINISHED"}
    assert sheet.data.shape_keys is None and sheet.modifiers
    assert crossings_by_frame([sheet], [collider]) == {}


def tiling(outlines) -> tuple[list, list]:
    """Positions and faces of polygons in the plane, given by their corners."""
    known, faces = {}, []
    for outline in outlines:
        rounded = [(round(x, 6), round(y, 6), 0.0) for x, y in outline]
        faces.append([known.setdefault(place, len(known)) for place in rounded])
    return list(known), faces


def honeycomb(count: int, size: float) -> tuple[list, list]:
    """Hexagons."""
    radius = size / (count * math.sqrt(3.0))
    angles = [math.radians(60 * corner + 30) for corner in range(6)]
    return tiling(
        [
            (
                radius * (math.sqrt(3.0) * (i + 0.5 * (j % 2) - count / 2) + math.cos(angle)),
                radius * (1.5 * (j - count / 2) + math.sin(angle)),
            )
            for angle in angles
        ]
        for j in range(count)
        for i in range(count)
    )


def octagons(count: int, size: float) -> tuple[list, list]:
    """Octagons, and squares between them."""
    width = size / count
    near, far = width / (2.0 + math.sqrt(2.0)), width - width / (2.0 + math.sqrt(2.0))
    eight = [(near, 0), (far, 0), (width, near), (width, far)]
    eight += [(far, width), (near, width), (0, far), (0, near)]
    four = [(near, 0), (0, near), (-near, 0), (0, -near)]
    cells = [
        (i * width - size / 2, j * width - size / 2) for j in range(count) for i in range(count)
    ]
    inner = [(x, y) for x, y in cells if min(x, y) > -size / 2]
    return tiling(
        [(x + dx, y + dy) for dx, dy in shape]
        for places, shape in ((cells, eight), (inner, four))
        for x, y in places
    )


@pytest.mark.parametrize("tiles", [honeycomb, octagons])
def test_faces_with_many_corners_cross_nothing(tiles):
    collider = add_ball()
    collider.weft.role = "COLLIDER"
    sheet = small_scenes.add_mesh("Sheet", *tiles(12, 0.9))
    sheet.location.z = 0.35
    sheet.weft.role = "CLOTH"
    bake(36)
    assert crossings_by_frame([sheet], [collider]) == {}


def test_cloth_on_a_collider_whose_quads_bend_crosses_nothing():
    """Level ground becomes a pattern of peaks and pits, so steep that Blender cuts its quads along
    the other diagonal.
    """
    positions, quads = small_scenes.grid(9, 1.6)
    ground = small_scenes.add_mesh("Ground", positions, quads)
    ground.shape_key_add(name="Basis")
    key = ground.shape_key_add(name="Peaks")
    for index, point in enumerate(key.data):
        point.co.z = 0.1 if sum(divmod(index, 9)) % 2 else -0.1
    for frame, value in ((1, 0.0), (14, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    ground.weft.role = "COLLIDER"
    sheet = add_sheet("ball", 25)
    sheet.location.z = -0.25
    bake(24)
    at = [evaluated_world_mesh(ground, depsgraph_at(frame))[1] for frame in (1, 24)]
    assert not np.array_equal(*at)
    assert crossings_by_frame([sheet], [ground]) == {}


def depsgraph_at(frame: int) -> bpy.types.Depsgraph:
    bpy.context.scene.frame_set(frame)
    return bpy.context.evaluated_depsgraph_get()
