# SPDX-License-Identifier: MIT OR Apache-2.0
"""A sleeve that is modelled flat: both sides in one place."""

import bmesh
import bpy
import pytest
import small_scenes
from drawn import crossings_by_frame
from mathutils import Matrix

AROUND, ALONG = 20, 15


def add_sleeve(*, noise: float) -> bpy.types.Object:
    """A tube that lies flat, moved by some m so that both sides get mixed."""
    shape = bmesh.new()
    bmesh.ops.create_grid(shape, x_segments=AROUND, y_segments=ALONG, size=0.2)
    for vertex in shape.verts:
        across = (vertex.co.x / 0.4 + 0.5) * 2.0
        vertex.co.x = 0.2 * min(across, 2.0 - across)
        vertex.co.z = noise * ((7 * vertex.index) % 5 - 2)
    seam = [vertex for vertex in shape.verts if vertex.co.x < 1e-6]
    bmesh.ops.remove_doubles(shape, verts=seam, dist=1e-4)
    sleeve = small_scenes.add_shape("Sleeve", shape)
    sleeve.matrix_world = Matrix.Translation((0.1, 0.2, 0.1)) @ Matrix.Rotation(0.1, 4, (1, 2, 3))
    sleeve.weft.role = "CLOTH"
    return sleeve


@pytest.mark.parametrize("noise", [0.0, 1e-8, 1e-6])
def test_a_flat_sleeve_is_free_from_the_first_frame(noise):
    sleeve = add_sleeve(noise=noise)
    floor = small_scenes.add_floor()
    bpy.context.view_layer.update()
    small_scenes.set_frames(1, 13)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    bpy.context.scene.frame_start = 2
    assert crossings_by_frame([sleeve], [floor]) == {}
