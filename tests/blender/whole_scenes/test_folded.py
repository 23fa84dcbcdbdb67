# SPDX-License-Identifier: MIT OR Apache-2.0
"""A sleeve that is modelled flat: both sides in one place."""

import bmesh
import bpy
import pytest
import small_scenes
from mathutils import Matrix
from mathutils.bvhtree import BVHTree

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
    # Of a bent quad Blender may draw the other diagonal.
    bmesh.ops.triangulate(shape, faces=shape.faces[:])
    sleeve = small_scenes.add_shape("Sleeve", shape)
    sleeve.matrix_world = Matrix.Translation((0.1, 0.2, 0.1)) @ Matrix.Rotation(0.1, 4, (1, 2, 3))
    sleeve.weft.role = "CLOTH"
    return sleeve


def crossing(obj: bpy.types.Object) -> list[tuple[int, int]]:
    """Pairs of triangles without a corner in common that Blender finds to overlap."""
    obj.data.calc_loop_triangles()
    triangles = [tuple(triangle.vertices) for triangle in obj.data.loop_triangles]
    points = [tuple(point) for point in small_scenes.evaluated(obj).astype(float)]
    tree = BVHTree.FromPolygons(points, triangles, all_triangles=True)
    return [
        (one, other)
        for one, other in tree.overlap(tree)
        if one < other and not set(triangles[one]) & set(triangles[other])
    ]


@pytest.mark.parametrize("noise", [0.0, 1e-8, 1e-6])
def test_a_flat_sleeve_is_free_from_the_first_frame(noise):
    sleeve = add_sleeve(noise=noise)
    small_scenes.add_floor()
    bpy.context.view_layer.update()
    small_scenes.set_frames(1, 13)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    for frame in range(2, 14):
        bpy.context.scene.frame_set(frame)
        assert not crossing(sleeve), f"frame {frame}"
