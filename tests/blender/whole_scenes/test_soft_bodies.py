# SPDX-License-Identifier: MIT OR Apache-2.0
"""Soft bodies by *Internal Springs*: a glass and a donut fall on stairs, and a cloth over them
(Cords 2004, section 6.4).
"""

import bpy
import numpy as np
import pytest
import small_scenes
from drawn import crossings
from penetration import evaluated_world_mesh

from addon.scene.rest_shape import InternalSprings
from addon.simulation import bridge

FRAMES = 36
AROUND = 20
# Radius and height in m along the outline of a glass, from the middle of its foot around the wall
# to the middle of its inside.
OUTLINE = (
    *((0.07, 0.0), (0.14, 0.0), (0.14, 0.04), (0.14, 0.11), (0.14, 0.18), (0.14, 0.25)),
    *((0.14, 0.32), (0.1, 0.32), (0.1, 0.25), (0.1, 0.18), (0.1, 0.11), (0.1, 0.05), (0.05, 0.05)),
)


def stairs() -> bpy.types.Object:
    """Three steps as a solid."""
    profile = [(-0.8, 0.0), (-0.8, 0.6), (-0.3, 0.6), (-0.3, 0.4), (0.2, 0.4), (0.2, 0.2)]
    profile += [(1.6, 0.2), (1.6, 0.0)]
    count = len(profile)
    points = [(x, y, z) for y in (-1.0, 1.0) for x, z in profile]
    faces = [list(range(count)), list(range(2 * count - 1, count - 1, -1))]
    faces += [[i, i + count, (i + 1) % count + count, (i + 1) % count] for i in range(count)]
    solid = small_scenes.add_mesh("Stairs", points, faces)
    solid.weft.role = "COLLIDER"
    return solid


def glass() -> bpy.types.Object:
    angles = 2.0 * np.pi * np.arange(AROUND) / AROUND
    rings = [(r * np.cos(a), r * np.sin(a), z) for r, z in OUTLINE for a in angles]
    last = len(OUTLINE) - 1
    points = [*rings, (0.0, 0.0, 0.0), (0.0, 0.0, OUTLINE[-1][1])]
    faces = []
    for i in range(AROUND):
        j = (i + 1) % AROUND
        faces += [
            [k * AROUND + i, k * AROUND + j, (k + 1) * AROUND + j, (k + 1) * AROUND + i]
            for k in range(last)
        ]
        faces.append([j, i, len(rings)])
        faces.append([last * AROUND + i, last * AROUND + j, len(rings) + 1])
    return small_scenes.add_mesh("Glass", points, faces)


def soft(obj: bpy.types.Object, location: tuple, tilt: float, stiffness: float) -> bpy.types.Object:
    obj.location, obj.rotation_euler = location, (tilt, 0.4 * tilt, 0.0)
    obj.weft.role = "CLOTH"
    obj.weft.material.density = 1.0
    obj.weft.use_internal_springs = True
    obj.weft.internal_tension = obj.weft.internal_compression = stiffness
    obj.weft.use_pressure, obj.weft.pressure = True, 0.0
    obj.weft.use_volume, obj.weft.volume_stiffness = True, 500000.0
    return obj


def volume(obj: bpy.types.Object) -> float:
    positions, triangles = evaluated_world_mesh(obj, bpy.context.evaluated_depsgraph_get())
    a, b, c = (positions[triangles[:, corner]].astype(float) for corner in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def test_a_glass_and_a_donut_fall_on_stairs_and_under_a_cloth():
    solid = stairs()
    cup = soft(glass(), (-0.1, -0.4, 0.75), 0.5, 1e5)
    bpy.ops.mesh.primitive_torus_add(
        major_radius=0.22, minor_radius=0.09, major_segments=28, minor_segments=12
    )
    donut = soft(bpy.context.object, (-0.1, 0.4, 0.95), 0.7, 2e4)
    sheet = small_scenes.add_mesh("Sheet", *small_scenes.grid(21, 1.6))
    sheet.weft.role, sheet.location = "CLOTH", (0.1, 0.0, 1.4)
    small_scenes.set_frames(1, FRAMES)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    start = {}
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        found = crossings([cup, donut, sheet], [solid])
        assert not found.counts, (frame, found.counts)
        for body in (cup, donut):
            now = volume(body)
            assert now == pytest.approx(start.setdefault(body.name, now), rel=0.02), (frame, body)
    for body in (cup, donut, sheet):
        height = evaluated_world_mesh(body, bpy.context.evaluated_depsgraph_get())[0][:, 2]
        assert height.min() < 0.62, body.name


def test_internal_springs_hold_a_shape_that_the_fabric_alone_would_lose():
    """Without them the tube of the donut is an empty bag."""
    heights = []
    for with_springs in (False, True):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.ops.mesh.primitive_torus_add(
            major_radius=0.22, minor_radius=0.09, major_segments=28, minor_segments=12
        )
        donut = soft(bpy.context.object, (0.0, 0.0, 0.1), 0.0, 2e4)
        donut.weft.use_pressure, donut.weft.use_internal_springs = False, with_springs
        small_scenes.add_floor(size=4.0)
        small_scenes.set_frames(1, 30)
        assert bpy.ops.weft.bake() == {"FINISHED"}
        bpy.context.scene.frame_set(30)
        positions, _ = evaluated_world_mesh(donut, bpy.context.evaluated_depsgraph_get())
        heights.append(np.ptp(positions[:, 2]))
    assert heights[1] > 0.95 * 0.18, heights
    assert heights[0] < 0.9 * heights[1], heights


@pytest.mark.parametrize("diversion", [0.0, 0.5])
def test_springs_turn_from_the_normals_by_the_diversion_at_most(diversion):
    """Straight springs of a ball go through its centre."""
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=1.0)
    ball = bpy.context.object
    ball.weft.role, ball.weft.use_internal_springs = "CLOTH", True
    ball.weft.internal_spring_max_diversion = diversion
    points, triangles = evaluated_world_mesh(ball, bpy.context.evaluated_depsgraph_get())
    search = InternalSprings.of(ball, np.ones(len(points))).search
    library = bridge.library()
    cloth = library.Cloth(points.astype(float), triangles, library.Material())
    pairs = cloth.internal_springs(**search)
    assert len(pairs) >= len(points) / 2
    one, other = points[pairs[:, 0]], points[pairs[:, 1]]
    along = (other - one) / np.linalg.norm(other - one, axis=1)[:, None]
    sines = np.linalg.norm(np.cross(one, along), axis=1)
    # Ends are vertices, not the points that the rays meet.
    assert sines.max() < np.sin(diversion) + 0.1
    assert sines.max() > 0.9 * np.sin(diversion)
