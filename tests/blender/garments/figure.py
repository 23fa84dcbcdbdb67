# SPDX-License-Identifier: MIT OR Apache-2.0
"""A figure of tubes: legs, a body with waist and hips, arms that hang aslant, a neck and a head."""

import math
from itertools import pairwise

import bmesh
import bpy
import small_scenes
from mathutils import Matrix, Vector

ARM_ANGLE = math.radians(40.0)  # from the vertical
# Height, half width and half depth of the body, in m.
BODY = (
    *((0.76, 0.16, 0.11), (0.9, 0.18, 0.12), (1.1, 0.13, 0.1), (1.28, 0.16, 0.11)),
    *((1.4, 0.17, 0.09), (1.45, 0.06, 0.06), (1.5, 0.05, 0.05), (1.58, 0.08, 0.09)),
    *((1.68, 0.07, 0.08), (1.72, 0.02, 0.02)),
)


def add(with_arms: bool = True) -> bpy.types.Object:
    """The figure as a collider, its front to -y."""
    shape = bmesh.new()
    _add_rings(shape, [(Vector((0.0, 0.0, z)), x, y) for z, x, y in BODY], Matrix())
    for side in (-1.0, 1.0):
        leg = [(Vector((0.1 * side, 0.0, z)), 0.06, 0.06) for z in (0.0, 0.4, 0.8)]
        _add_rings(shape, leg, Matrix())
        turn = Matrix.Rotation(-side * ARM_ANGLE, 4, "Y")
        place = Matrix.Translation((0.15 * side, 0.0, 1.36)) @ turn
        arm = [(Vector((0.0, 0.0, -z)), 0.045, 0.045) for z in (-0.02, 0.3, 0.6)]
        if with_arms:
            _add_rings(shape, arm, place)
    figure = small_scenes.add_shape("Figure", shape)
    figure.weft.role, figure.weft.friction = "COLLIDER", 0.6
    return figure


def _add_rings(shape: bmesh.types.BMesh, rings: list, place: Matrix) -> None:
    """A closed tube through ellipses with middle, half width and half depth."""
    count = 24
    angles = [2.0 * math.pi * k / count for k in range(count)]
    rows = [
        [
            shape.verts.new(place @ (middle + Vector((x * math.cos(a), y * math.sin(a), 0.0))))
            for a in angles
        ]
        for middle, x, y in rings
    ]
    is_up = rings[-1][0].z > rings[0][0].z
    for one, other in pairwise(rows):
        for k in range(count):
            ends = [one[k], one[k - 1], other[k - 1], other[k]]
            shape.faces.new(ends[::-1] if is_up else ends)
    shape.faces.new(rows[0][::-1] if is_up else rows[0])
    shape.faces.new(rows[-1] if is_up else rows[-1][::-1])
