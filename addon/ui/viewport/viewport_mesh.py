# SPDX-License-Identifier: GPL-3.0-or-later
"""Coloured triangle meshes and lines in the 3D viewport."""

import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix

DEPTH_OFFSET = 2e-4  # depth offset, in front of the mesh that Blender draws


def batch(positions: np.ndarray, triangles: np.ndarray, colors: np.ndarray) -> gpu.types.GPUBatch:
    """GPU batch of vertices `(n, 3)`, colours `(n, 4)` and triangles."""
    shader = gpu.shader.from_builtin("SMOOTH_COLOR")
    content = {
        "pos": np.ascontiguousarray(positions, np.float32),
        "color": np.ascontiguousarray(colors, np.float32),
    }
    return batch_for_shader(shader, "TRIS", content, indices=np.ascontiguousarray(triangles))


def line_batch(positions: np.ndarray, colors: np.ndarray) -> gpu.types.GPUBatch:
    """GPU batch of lines between each two of the vertices `(2 n, 3)`, with colours `(2 n, 4)`."""
    shader = gpu.shader.from_builtin("SMOOTH_COLOR")
    content = {
        "pos": np.ascontiguousarray(positions, np.float32),
        "color": np.ascontiguousarray(colors, np.float32),
    }
    return batch_for_shader(shader, "LINES", content)


def draw(batches: list[gpu.types.GPUBatch], matrix: Matrix | None = None) -> None:
    """Draws batches with a depth offset towards the viewer."""
    shader = gpu.shader.from_builtin("SMOOTH_COLOR")
    nearer = Matrix.Identity(4)
    nearer[2][3] = -DEPTH_OFFSET
    gpu.state.depth_test_set("LESS_EQUAL")
    gpu.state.blend_set("ALPHA")
    gpu.matrix.push_projection()
    gpu.matrix.load_projection_matrix(nearer @ gpu.matrix.get_projection_matrix())
    if matrix is not None:
        gpu.matrix.push()
        gpu.matrix.multiply_matrix(matrix)
    try:
        for each in batches:
            each.draw(shader)
    finally:
        if matrix is not None:
            gpu.matrix.pop()
        gpu.matrix.pop_projection()
        gpu.state.blend_set("NONE")
        gpu.state.depth_test_set("NONE")
