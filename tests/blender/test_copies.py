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
    mesh = bpy.data.meshes.new("Ball")
    shape = bmesh.new()
    bmesh.ops.create_icosphere(shape, subdivisions=4, radius=RADIUS)
    shape.to_mesh(mesh)
    shape.free()
    ball = bpy.data.objects.new("Ball", mesh)
    bpy.context.scene.collection.objects.link(ball)
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
    mesh = bpy.data.meshes.new("Copy")
    shape.to_mesh(mesh)
    shape.free()
    copy = bpy.data.objects.new("Copy", mesh)
    bpy.context.scene.collection.objects.link(copy)
    copy.matrix_world = matrix
    copy.weft.role = "CLOTH"
    return copy


@pytest.mark.parametrize("divided", [False, True])
def test_a_garment_copied_from_its_body_comes_free(divided):
    ball = add_ball()
    copy = add_copy(ball, divided=divided)
    bpy.context.view_layer.update()
    small_scenes.set_frames(1, 13)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    bpy.context.scene.frame_set(13)
    away = small_scenes.evaluated_world(copy) - np.array(ball.matrix_world.translation)
    corners = np.array([vertex.co for vertex in ball.data.vertices])
    faces = np.array([list(face.vertices) for face in ball.data.polygons])
    least = np.linalg.norm(corners[faces].mean(axis=1), axis=1).min()
    distances = np.linalg.norm(away, axis=1)
    assert distances.min() > least + 1e-4
    assert np.median(distances) < RADIUS + 0.05
