# SPDX-License-Identifier: MIT OR Apache-2.0
"""Rest shapes, shrinking, density groups, pressure and sewing."""

import bpy
import numpy as np
import pytest
import small_scenes
from test_scene_reader import read

from addon.blender import mesh_arrays
from addon.simulation import bridge


def weight_group(obj, name, weights):
    group = obj.vertex_groups.new(name=name)
    for index, weight in enumerate(weights):
        group.add([index], float(weight), "REPLACE")
    return group


def weightless():
    scene = bpy.context.scene
    scene.use_gravity, scene.weft.air_density = False, 0.0


def baked(cloth, last):
    small_scenes.set_frames(1, last)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    return small_scenes.cached_frames(cloth).astype(float)


# --- rest shape -------------------------------------------------------------------------------


def test_a_shape_key_can_be_the_rest_shape():
    cloth = small_scenes.add_cloth(count=4)
    cloth.shape_key_add(name="Basis", from_mix=False)
    key = cloth.shape_key_add(name="Wide", from_mix=False)
    key.value = 0.0
    for point in key.points:
        point.co.x *= 1.5
    cloth.weft.rest_shape, cloth.weft.rest_key = "KEY", "Wide"
    source = read().cloths[0]
    assert np.ptp(source.rest_positions[:, 0]) == pytest.approx(1.5)
    assert np.ptp(source.positions[:, 0]) == pytest.approx(1.0)
    cloth.weft.rest_key = "Gone"
    with pytest.raises(ValueError, match="'Sheet' has no shape key 'Gone', its rest shape"):
        read()


def test_the_uv_map_can_be_the_rest_shape_in_metres_whatever_the_scale_of_the_object():
    cloth = small_scenes.add_cloth(count=4)
    layer = cloth.data.uv_layers.new(name="pattern")
    corners = mesh_arrays.corner_vertices(cloth.data)
    local = mesh_arrays.coordinates(cloth.data)
    layer.uv.foreach_set("vector", (local[corners, :2] * (0.5, 0.25)).ravel())
    cloth.weft.rest_shape, cloth.weft.pattern_size = "PATTERN", 2.0
    cloth.scale = (3.0, 3.0, 3.0)
    rest = read().cloths[0].rest_positions
    assert rest[:, :2] == pytest.approx(local[:, :2] * (1.0, 0.5), abs=1e-6)
    assert (rest[:, 2] == 0.0).all()


def test_a_pattern_that_is_cut_where_the_mesh_is_not_gives_every_face_its_shape():
    cloth = small_scenes.add_cloth(count=4)
    cloth.weft.rest_shape = "PATTERN"
    with pytest.raises(ValueError, match="'Sheet' has no UV map, its rest shape"):
        read()
    cloth.data.uv_layers.new(name="pattern")  # every face on its own
    cloth.weft.pattern_size = 0.5
    (found,) = read().cloths
    faces = found.rest_corners.reshape(len(found.faces), -1, 3)
    sides = np.linalg.norm(faces - np.roll(faces, 1, axis=1), axis=2)
    assert sides == pytest.approx(0.5)
    assert found.rest_positions == pytest.approx(found.positions)
    areas = bridge.lumped_areas(found)
    assert areas.sum() == pytest.approx(0.25 * len(faces), rel=1e-5)


def test_a_shrunk_cloth_gets_shorter_and_not_lighter():
    cloth = small_scenes.add_cloth(count=5, pinned=False)
    weightless()
    plain = bridge.lumped_areas(read().cloths[0])
    cloth.weft.shrink = 0.2
    assert bridge.lumped_areas(read().cloths[0]) == pytest.approx(plain, rel=1e-5)
    cloth.weft.material.stretch_damping = 0.05
    last = baked(cloth, 30)[-1].reshape(5, 5, 3)
    for corner in (last[0, -1], last[-1, 0]):
        assert np.linalg.norm(corner - last[0, 0]) == pytest.approx(0.8, abs=0.02)


def test_parts_shrink_by_a_vertex_group():
    cloth = small_scenes.add_cloth(count=7, pinned=False)
    weightless()
    left = [v.index for v in cloth.data.vertices if v.co.x < 1e-3]
    cloth.vertex_groups.new(name="cuff").add(left, 1.0, "REPLACE")
    before = bridge.lumped_areas(read().cloths[0])
    cloth.weft.shrink_group, cloth.weft.shrink_max = "cuff", 0.3
    source = read().cloths[0]
    assert source.rest_scale[left] == pytest.approx(0.7)
    assert np.delete(source.rest_scale, left, axis=0) == pytest.approx(1.0)
    assert bridge.lumped_areas(source) == pytest.approx(before, rel=1e-5)
    cloth.weft.material.stretch_damping = 0.05
    last = baked(cloth, 30)[-1].reshape(7, 7, 3)
    widths = np.linalg.norm(np.diff(last, axis=1), axis=2).mean(axis=0)
    assert widths[0] == pytest.approx(0.7 / 6, rel=0.05)
    assert widths[-1] == pytest.approx(1.0 / 6, rel=0.05)
    for yarns, wanted in (("WARP", [0.7, 1.0]), ("WEFT", [1.0, 0.7])):
        cloth.weft.shrink_yarns = yarns
        assert read().cloths[0].rest_scale[left[0]] == pytest.approx(wanted)
    cloth.weft.shrink_group = ""
    assert read().cloths[0].rest_scale is None


# --- the deformed mesh as the rest shape ------------------------------------------------------


def widening(cloth, frames, factor):
    """A shape key that makes a cloth wider, keyed from the first frame to another."""
    cloth.shape_key_add(name="Basis", from_mix=False)
    key = cloth.shape_key_add(name="Wide", from_mix=False)
    for point in key.points:
        point.co.x *= factor
    for frame, value in ((1, 0.0), (frames, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)


def test_the_rest_shape_can_follow_the_deformed_mesh():
    cloth = small_scenes.add_cloth(count=7, pinned=False)
    weightless()
    widening(cloth, 12, 0.7)
    cloth.weft.rest_shape = "DEFORMED"
    cloth.weft.material.stretch_damping = 0.05
    frames = baked(cloth, 36)
    widths = np.ptp(frames.reshape(len(frames), -1, 3)[..., 0], axis=1)
    assert widths[0] == pytest.approx(1.0, abs=1e-6)
    assert widths[-1] == pytest.approx(0.7, abs=0.02)
    depths = np.ptp(frames.reshape(len(frames), -1, 3)[..., 1], axis=1)
    assert depths[-1] == pytest.approx(1.0, abs=0.02)


def test_a_modifier_that_deforms_the_rest_shape_is_followed_and_a_bake_resumes_there():
    cloth = small_scenes.add_cloth(count=6)
    deform = cloth.modifiers.new("Taper", "SIMPLE_DEFORM")
    deform.deform_method, deform.factor = "TAPER", 0.0
    deform.keyframe_insert("factor", frame=1)
    deform.factor = 0.5
    deform.keyframe_insert("factor", frame=16)
    plain = baked(cloth, 16)
    cloth.weft.rest_shape = "DEFORMED"
    whole = baked(cloth, 16)
    assert np.abs(whole - plain).max() > 0.01
    bpy.context.scene.frame_set(12)
    assert bpy.ops.weft.rebake() == {"FINISHED"}
    assert np.array_equal(small_scenes.cached_frames(cloth).astype(float), whole)


# --- masses -----------------------------------------------------------------------------------


def test_the_areas_of_vertices_are_those_of_their_faces():
    cloth = small_scenes.add_cloth(count=5)
    cloth.scale = (2.0, 1.0, 1.0)
    bpy.context.view_layer.update()
    areas = bridge.lumped_areas(read().cloths[0])
    assert areas.sum() == pytest.approx(2.0, rel=1e-5)
    assert areas.reshape(5, 5)[1:-1, 1:-1] == pytest.approx(2.0 / 16, rel=0.35)


def test_a_density_group_makes_parts_heavier():
    cloth = small_scenes.add_cloth(count=4, pinned=False)
    weight_group(cloth, "hem", [1.0] * 4 + [0.5] * 4 + [0.0] * 8)
    cloth.weft.density_group, cloth.weft.density_max = "hem", 0.45
    scale = read().cloths[0].mass_scale
    assert scale == pytest.approx([3.0] * 4 + [2.0] * 4 + [1.0] * 8)
    cloth.weft.density_group = ""
    assert read().cloths[0].mass_scale is None


def test_a_heavy_hem_hangs_lower():
    lowest = []
    for heavy in (False, True):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.context.scene.weft.cache_directory = bpy.app.tempdir + "hem"
        cloth = small_scenes.add_cloth(count=6)
        cloth.rotation_euler.x = -np.pi / 2
        fabric = cloth.weft.material
        fabric.stretch_warp = fabric.stretch_weft = 60.0
        fabric.stretch_damping = 0.05
        weight_group(cloth, "hem", [0.0] * 30 + [1.0] * 6)
        if heavy:
            cloth.weft.density_group, cloth.weft.density_max = "hem", 3.0
        lowest.append(baked(cloth, 20)[-1][:, 1].max())
    assert lowest[1] > lowest[0] + 0.01


@pytest.mark.parametrize("use", ["density", "pressure", "shrink"])
def test_a_missing_group_is_refused_by_its_use(use):
    cloth = small_scenes.add_cloth()
    setattr(cloth.weft, f"{use}_group", "gone")
    with pytest.raises(RuntimeError, match=f"'Sheet' has no vertex group 'gone', its {use} group"):
        bpy.ops.weft.bake()


# --- pressure ---------------------------------------------------------------------------------


def add_ball(radius=0.5):
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=2, radius=radius)
    ball = bpy.context.object
    ball.weft.role = "CLOTH"
    weightless()
    return ball


def volumes(ball, frames):
    corners = np.asarray(frames)[:, mesh_arrays.triangles(ball.data)]
    a, b, c = (corners[:, :, corner] for corner in range(3))
    return np.einsum("fij,fij->f", a, np.cross(b, c)) / 6.0


def test_a_ball_under_pressure_is_blown_up_and_comes_to_rest():
    ball = add_ball()
    fabric = ball.weft.material
    fabric.stretch_warp = fabric.stretch_weft = 500.0
    fabric.shear, fabric.poisson, fabric.stretch_damping = 200.0, 0.2, 0.05
    ball.weft.use_pressure, ball.weft.pressure = True, 100.0
    found = volumes(ball, baked(ball, 40))
    # Laplace: p R / 2 = E h / (1 - nu) * strain, to first order in the strain.
    strain = 100.0 * 0.5 / 2 * (1 - 0.2) / 500.0
    assert found[-1] / found[0] == pytest.approx((1 + strain) ** 3, rel=0.02)
    assert np.ptp(found[-5:]) < 1e-3 * found[0]


@pytest.mark.parametrize("stiffness", [2000.0, 101325.0])
def test_however_stiff_a_volume_is_it_comes_to_rest(stiffness):
    ball = add_ball()
    fabric = ball.weft.material
    fabric.stretch_warp = fabric.stretch_weft = 300.0
    fabric.stretch_damping = 0.05
    ball.weft.use_pressure = ball.weft.use_volume = True
    ball.weft.pressure, ball.weft.volume_stiffness = 0.0, stiffness
    ball.weft.target_volume = 0.6
    found = volumes(ball, baked(ball, 40))
    # Laplace, with the tension of a surface that is strained alike in all directions.
    radius = np.cbrt(found[-1] / found[0])
    tension = 300.0 / (1.0 - fabric.poisson) * (radius - 1.0)
    wanted = 0.6 * (1.0 - 2.0 * tension / (0.5 * radius) / stiffness)
    assert found[-1] == pytest.approx(wanted, rel=0.02)
    assert np.ptp(found[-5:]) < 1e-3 * found[0]


def test_a_ball_keeps_its_volume_when_it_is_pressed():
    kept = []
    for use in (False, True):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.context.scene.weft.cache_directory = bpy.app.tempdir + "ball"
        ball = add_ball()
        ball.weft.material.stretch_damping = 0.02
        top = [v.index for v in ball.data.vertices if v.co.z > 0.49]
        bottom = [v.index for v in ball.data.vertices if v.co.z < -0.49]
        ball.vertex_groups.new(name="pin").add(top + bottom, 1.0, "REPLACE")
        ball.weft.pin_group = "pin"
        key = ball.shape_key_add(name="Basis", from_mix=False)
        key = ball.shape_key_add(name="Pressed", from_mix=False)
        for point in key.points:
            point.co.z *= 0.5
        for frame, value in ((1, 0.0), (11, 1.0)):
            key.value = value
            key.keyframe_insert("value", frame=frame)
        ball.weft.use_pressure, ball.weft.use_volume = use, True
        ball.weft.pressure, ball.weft.volume_stiffness = 0.0, 2000.0
        found = volumes(ball, baked(ball, 16))
        kept.append(found[-1] / found[0])
    assert kept[1] > 0.93 and 1.0 - kept[1] < 0.7 * (1.0 - kept[0])


def test_pressure_can_be_animated():
    ball = add_ball()
    ball.weft.material.stretch_damping = 0.05
    ball.weft.use_pressure = True
    for frame, pressure in ((1, 0.0), (9, 200.0)):
        ball.weft.pressure = pressure
        ball.weft.keyframe_insert("pressure", frame=frame)
    reader = read()
    assert reader.first.pressures[0].pressure == 0.0
    assert 0.0 < reader.read_frame(5).pressures[0].pressure < 200.0
    found = volumes(ball, baked(ball, 10))
    assert found[-1] > 1.05 * found[0]


def test_a_ball_of_fluid_falls_or_rises_as_its_density_is():
    ball = add_ball()
    bpy.context.scene.use_gravity = True
    bpy.context.scene.weft.tolerance = 1e-4
    ball.weft.use_pressure, ball.weft.pressure = True, 0.0
    mass = ball.weft.material.density * sum(face.area for face in ball.data.polygons)
    for density, weight in ((3.0, 1.0), (-2.0, 1.0), (3.0, 0.0)):
        ball.weft.fluid_density, ball.weft.field_weights.gravity = density, weight
        frames = baked(ball, 5)
        volume = volumes(ball, frames).mean()
        fallen = (frames[-1] - frames[0])[:, 2].mean()
        wanted = -0.5 * 9.81 * weight * (1.0 + density * volume / mass) * (4 / 24) ** 2
        assert fallen == pytest.approx(wanted, rel=0.02, abs=1e-4)


def test_the_density_of_a_fluid_can_be_animated():
    ball = add_ball()
    bpy.context.scene.use_gravity = True
    ball.weft.use_pressure = True
    for frame, density in ((1, 0.0), (9, 5.0)):
        ball.weft.fluid_density = density
        ball.weft.keyframe_insert("fluid_density", frame=frame)
    reader = read()
    assert reader.first.pressures[0].fluid_density == 0.0
    assert 0.0 < reader.read_frame(5).pressures[0].fluid_density < 5.0
    keyed = baked(ball, 9)[-1, :, 2].mean()
    ball.animation_data_clear()
    ball.weft.fluid_density = 0.0
    assert keyed < baked(ball, 9)[-1, :, 2].mean() - 0.1


def test_a_bake_with_pressure_is_resumed_bit_for_bit_and_follows_its_pins():
    ball = add_ball()
    ball.vertex_groups.new(name="pin").add([0], 1.0, "REPLACE")
    ball.weft.pin_group = "pin"
    ball.weft.use_pressure = True
    small_scenes.slide(ball, 0, (1, 0.0), (9, 0.5))
    whole = baked(ball, 9)
    assert whole[:, 0] == pytest.approx(np.tile(whole[0, 0], (9, 1)), abs=1e-5)
    baked(ball, 5)
    small_scenes.set_frames(1, 9)
    assert bpy.ops.weft.resume() == {"FINISHED"}
    assert np.array_equal(small_scenes.cached_frames(ball).astype(float), whole)


# --- sewing -----------------------------------------------------------------------------------


def test_loose_edges_are_the_seams():
    cloth = small_scenes.add_cloth(count=4)
    assert len(mesh_arrays.loose_edges(cloth.data)) == 0
    small_scenes.add_edges(cloth.data, (0, 15))
    assert mesh_arrays.loose_edges(cloth.data).tolist() == [[0, 15]]
    cloth.weft.use_sewing = True
    assert read().cloths[0].sewing.tolist() == [[0, 15]]


def two_panels():
    """Two squares with a gap of 0.2 m, joined by loose edges; the left border is pinned."""
    points, quads = small_scenes.grid(5, 0.5)
    count = len(points)
    edges = [(row * 5 + 4, row * 5 + count) for row in range(5)]
    mesh = bpy.data.meshes.new("Panels")
    both = [tuple(p) for p in points] + [(p[0] + 0.7, p[1], p[2]) for p in points]
    faces = [tuple(map(int, quad)) for quad in [*quads, *(quads + count)]]
    mesh.from_pydata(both, edges, faces)
    obj = bpy.data.objects.new("Panels", mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.weft.role = "CLOTH"
    return obj, np.array(edges)


def test_sewing_edges_are_drawn_together_within_their_time():
    cloth, edges = two_panels()
    weightless()
    plain = baked(cloth, 20)
    cloth.weft.use_sewing, cloth.weft.sewing_time = True, 0.5
    sewn = baked(cloth, 20)

    def gap(frame):
        return np.linalg.norm(frame[edges[:, 0]] - frame[edges[:, 1]], axis=1).max()

    assert gap(plain[-1]) == pytest.approx(0.2, abs=1e-4)
    assert 0.02 < gap(sewn[5]) < 0.19
    assert gap(sewn[13]) < 1e-3 and gap(sewn[-1]) < 1e-3
    cloth.weft.sewing_time = 5.0
    assert gap(baked(cloth, 20)[-1]) > 0.1


def test_a_seam_opens_under_more_than_its_force():
    cloth, edges = two_panels()
    cloth.vertex_groups.new(name="pin").add([0, 5, 10, 15, 20], 1.0, "REPLACE")
    cloth.weft.pin_group, cloth.weft.use_sewing, cloth.weft.sewing_time = "pin", True, 0.3
    gaps = {}
    for force in (0.0, 0.005):
        cloth.weft.sewing_force = force
        last = baked(cloth, 30)[-1]
        gaps[force] = np.linalg.norm(last[edges[:, 0]] - last[edges[:, 1]], axis=1).max()
    assert gaps[0.0] < 1e-3 and gaps[0.005] > 0.05
