# SPDX-License-Identifier: MIT OR Apache-2.0
"""Garments that begin as faces of the body: in the same place, but for the rounding of matrices."""

import bmesh
import bpy
import numpy as np
import pytest
import small_scenes
from mathutils import Matrix

RADIUS = 0.25


def add_ball() -> bpy.types.Object:
    shape = bmesh.new()
    bmesh.ops.create_icosphere(shape, subdivisions=4, radius=RADIUS)
    ball = small_scenes.add_shape("Ball", shape)
    ball.matrix_world = Matrix.Translation((0.1, 0.2, 1.3)) @ Matrix.Rotation(0.7, 4, (1, 2, 3))
    ball.weft.role = "COLLIDER"
    return ball


def add_copy(ball: bpy.types.Object, *, divided: bool) -> bpy.types.Object:
    """Cloth of the faces in the upper half of a ball, in an object with another matrix."""
    matrix = Matrix.Translation((-0.3, 0.1, 0.9)) @ Matrix.Rotation(-1.1, 4, (3, 1, 2))
    shape = bmesh.new()
    shape.from_mesh(ball.data)
    shape.transform(ball.matrix_world)
    height = ball.matrix_world.translation.z + 0.05
    lower = [vertex for vertex in shape.verts if vertex.co.z < height]
    bmesh.ops.delete(shape, geom=lower, context="VERTS")
    if divided:
        bmesh.ops.subdivide_edges(shape, edges=shape.edges[:], cuts=1, use_grid_fill=True)
    shape.transform(matrix.inverted())
    copy = small_scenes.add_shape("Copy", shape)
    copy.matrix_world = matrix
    copy.weft.role = "CLOTH"
    return copy


def heights(ball: bpy.types.Object, points: np.ndarray) -> np.ndarray:
    """How far points in the world are outside of the ball, in m; negative inside."""
    matrix = np.array(ball.matrix_world)
    local = (points - matrix[:3, 3]) @ matrix[:3, :3]
    normals = np.array([face.normal for face in ball.data.polygons])
    centers = np.array([face.center for face in ball.data.polygons])
    return (local @ normals.T - np.einsum("ij,ij->i", normals, centers)).max(axis=1)


@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("divided", [False, True])
def test_a_garment_copied_from_its_body_is_free_from_the_first_frame(divided, moving):
    ball = add_ball()
    copy = add_copy(ball, divided=divided)
    if moving:
        small_scenes.slide(ball, 0, (1, ball.location.x), (7, ball.location.x + 0.1))
    bpy.context.view_layer.update()
    small_scenes.set_frames(1, 7)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    for frame in range(2, 8):
        bpy.context.scene.frame_set(frame)
        above = heights(ball, small_scenes.evaluated_world(copy))
        assert above.min() > 1e-4, f"frame {frame}"
        assert np.median(above) < 0.05, f"frame {frame}"
