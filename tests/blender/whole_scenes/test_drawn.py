# SPDX-License-Identifier: MIT OR Apache-2.0
"""Nothing crosses in the triangles that Blender draws, whichever way it cuts quads and n-gons.

WEFT_REAL_SCENES=1 bakes larger grids as well, for minutes.
"""

import math
import os

import bmesh
import bpy
import numpy as np
import pytest
import small_scenes
from drawn import crossings_by_frame

WHOLE = bool(os.environ.get("WEFT_REAL_SCENES"))
KINDS = ("KEYS", "MODIFIER")


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


def bake(kind: str, frames: int) -> None:
    bpy.context.scene.weft.result_kind = kind
    small_scenes.set_frames(1, frames)
    assert bpy.ops.weft.bake() == {"FINISHED"}


GRIDS = [(place, count, kind, 48) for place in PLACES for count in (20,) for kind in KINDS]
GRIDS += [("ball", 50, "KEYS", 24)]
if WHOLE:
    GRIDS = [(place, n, kind, 72) for place in PLACES for n in (20, 30, 50, 100) for kind in KINDS]


@pytest.mark.parametrize(("place", "count", "kind", "frames"), GRIDS)
def test_a_grid_of_quads_crosses_nothing(place, count, kind, frames):
    collider = PLACES[place]()
    collider.weft.role = "COLLIDER"
    sheet = add_sheet(place, count)
    bake(kind, frames)
    assert crossings_by_frame([sheet], [collider]) == {}


@pytest.mark.parametrize("corners", [5, 6, 8])
def test_faces_with_many_corners_cross_nothing(corners):
    """A sheet of strips whose borders have more vertices than their ends."""
    collider = add_ball()
    collider.weft.role = "COLLIDER"
    shape = bmesh.new()
    bmesh.ops.create_grid(shape, x_segments=14, y_segments=14, size=0.4)
    along = [edge for edge in shape.edges if abs(edge.verts[0].co.y - edge.verts[1].co.y) < 1e-6]
    inner = [edge for edge in along if len(edge.link_faces) == 2]
    # Faces joined in pairs have six corners, cut edges add more.
    across = [edge for edge in shape.edges if edge not in set(along)]
    columns = sorted({round(edge.verts[0].co.x, 5) for edge in across})
    joined = [edge for edge in across if columns.index(round(edge.verts[0].co.x, 5)) % 2 == 1]
    joined = [edge for edge in joined if len(edge.link_faces) == 2]
    if corners >= 6:
        bmesh.ops.dissolve_edges(shape, edges=joined, use_verts=False)
    if corners == 5:
        rows = [edge for edge in inner if edge.index % 3 == 0]
        bmesh.ops.subdivide_edges(shape, edges=rows, cuts=1)
    if corners == 8:
        left = [edge for edge in shape.edges if len(edge.link_faces) == 2]
        left = [edge for edge in left if abs(edge.verts[0].co.x - edge.verts[1].co.x) < 1e-6]
        bmesh.ops.subdivide_edges(shape, edges=left, cuts=1)
    for vertex in shape.verts:
        vertex.co.z = 0.35
        vertex.co.x *= 1.0 + 0.1 * vertex.co.y
    sheet = small_scenes.add_shape("Sheet", shape)
    assert max(len(face.vertices) for face in sheet.data.polygons) >= min(corners, 6)
    sheet.weft.role = "CLOTH"
    bake("KEYS", 30)
    assert crossings_by_frame([sheet], [collider]) == {}


def test_cloth_on_a_collider_whose_quads_bend_crosses_nothing():
    """A coarse ground of quads that bends up and down below the sheet."""
    positions, quads = small_scenes.grid(9, 1.6)
    ground = small_scenes.add_mesh("Ground", positions, quads)
    ground.shape_key_add(name="Basis")
    for number in range(2):
        key = ground.shape_key_add(name=f"Wave {number}")
        for place, point in zip(positions, key.data, strict=True):
            x, y, _ = place
            sign = 1.0 if number else -1.0
            point.co.z = 0.06 * math.sin(9.0 * x + sign * 7.0 * y)
        for frame, value in ((1, 0.0), (8, 1.0 - number), (16, number), (24, 1.0 - number)):
            key.value = value
            key.keyframe_insert("value", frame=frame)
    ground.weft.role = "COLLIDER"
    sheet = add_sheet("ball", 25)
    sheet.location.z = -0.25
    bake("KEYS", 30)
    assert crossings_by_frame([sheet], [ground]) == {}
