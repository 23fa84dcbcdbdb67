# SPDX-License-Identifier: MIT OR Apache-2.0
"""Force fields, held to Blender's own evaluation of them: the acceleration of its particles."""

import bpy
import numpy as np
import pytest
import small_scenes
from particles import VELOCITY, particle_accelerations, particle_places
from small_scenes import baked_accelerations, limp_sheet, state, whole_and_resumed

from addon.bake import job
from addon.force_fields import forces, formulas, snapshot
from addon.force_fields.field import Effect

PLACE = {"location": (0.2, -0.1, 0.3), "rotation_euler": (0.4, 0.7, 0.2)}
KINDS = ("FORCE", "WIND", "VORTEX", "MAGNET", "HARMONIC", "TURBULENCE", "DRAG", "CHARGE")


def add_field(kind, obj=None, **settings):
    """An empty, or an object, with a force field."""
    if obj is None:
        bpy.ops.object.effector_add(type=kind)
        obj = bpy.context.object
    else:
        bpy.context.view_layer.objects.active = obj
        bpy.ops.object.forcefield_toggle()
        obj.field.type = kind
    obj.field.falloff_power = 0.0
    for name, value in (PLACE | settings).items():
        setattr(obj if name in PLACE else obj.field, name, value)
    bpy.context.view_layer.update()
    return obj


def own_accelerations(points, velocity=VELOCITY):
    """What Weft says of the same, without Blender's part for surfaces facing the wind."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    velocities = np.tile(velocity, (len(points), 1))
    total = np.zeros_like(points)
    for field in snapshot.read(bpy.context.view_layer, depsgraph):
        random = np.random.default_rng(1)
        found = formulas.effect(field, points, velocities, snapshot.evaluate_texture, random)
        total += found.acceleration(velocities)
    return total


def points_around(count=40, seed=1):
    return np.random.default_rng(seed).uniform(-1.5, 1.5, (count, 3))


def assert_as_blender(points=None, velocity=VELOCITY):
    """Within 0.2 % and what float32 leaves of a thousandth of a second."""
    points = points_around() if points is None else points
    expected = particle_accelerations(points, velocity)
    found = own_accelerations(points, velocity)
    size = np.abs(expected).max()
    assert found == pytest.approx(expected, abs=2e-3 * size + 3e-4)
    return size


# --- laws -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", ["POINT", "LINE", "PLANE"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_type_and_shape(kind, shape):
    if (kind, shape) == ("VORTEX", "LINE"):
        pytest.skip("Blender has no vortex of this shape")
    add_field(kind, shape=shape, strength=2.0, size=0.6 if kind == "TURBULENCE" else 0.0)
    size = assert_as_blender()
    assert size > 0.1 or kind == "CHARGE"


@pytest.mark.parametrize("falloff_type", ["SPHERE", "TUBE", "CONE"])
@pytest.mark.parametrize(
    "settings",
    [
        {"falloff_power": 2.0},
        {"falloff_power": 1.5, "use_min_distance": True, "distance_min": 0.5},
        {"falloff_power": 1.0, "use_max_distance": True, "distance_max": 1.2},
        {"radial_falloff": 0.3, "use_radial_min": True, "radial_min": 0.4},
        {"radial_falloff": 0.3, "use_radial_max": True, "radial_max": 0.9},
        {"z_direction": "POSITIVE"},
        {"z_direction": "NEGATIVE"},
    ],
)
def test_every_falloff(falloff_type, settings):
    add_field("FORCE", strength=2.0, falloff_type=falloff_type, **settings)
    assert_as_blender()


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("FORCE", {"use_gravity_falloff": True}),
        ("FORCE", {"flow": 1.5, "falloff_power": 1.0}),
        ("WIND", {"flow": 1.5}),
        ("TURBULENCE", {"size": 0.3, "flow": 1.0}),
        ("TURBULENCE", {"size": 0.3, "use_global_coords": True}),
        ("HARMONIC", {"rest_length": 0.5, "harmonic_damping": 0.3}),
        ("DRAG", {"linear_drag": 0.7, "quadratic_drag": 0.3, "falloff_power": 1.0}),
        ("DRAG", {"linear_drag": 5.7, "quadratic_drag": 3.3}),
        ("WIND", {"strength": -3.0, "shape": "PLANE", "falloff_power": 2.0}),
    ],
)
def test_settings_of_their_own(kind, settings):
    add_field(kind, **{"strength": 2.0} | settings)
    assert_as_blender()


@pytest.mark.parametrize("mode", ["RGB", "GRADIENT", "CURL"])
@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("CLOUDS", {}),
        ("CLOUDS", {"cloud_type": "COLOR"}),
        ("CLOUDS", {"use_color_ramp": True}),
        ("MAGIC", {}),
        ("WOOD", {}),
        ("VORONOI", {"color_mode": "POSITION"}),
    ],
)
def test_textures(kind, settings, mode):
    texture = bpy.data.textures.new("Texture", kind)
    for name, value in settings.items():
        setattr(texture, name, value)
    add_field("TEXTURE", strength=2.0, texture_mode=mode, texture_nabla=0.05, texture=texture)
    assert assert_as_blender() > 0.1


@pytest.mark.parametrize("setting", ["use_object_coords", "use_2d_force"])
def test_texture_coordinates(setting):
    texture = bpy.data.textures.new("Texture", "MAGIC")
    add_field("TEXTURE", strength=2.0, texture=texture, **{setting: True})
    assert_as_blender()


@pytest.mark.parametrize("kind", ["FORCE", "HARMONIC", "VORTEX", "TURBULENCE", "DRAG", "MAGNET"])
def test_fields_that_act_from_every_vertex(kind):
    bpy.ops.mesh.primitive_torus_add(major_segments=6, minor_segments=4)
    try:
        add_field(kind, bpy.context.object, shape="POINTS", strength=1.5, falloff_power=1.0)
    except TypeError:
        pytest.skip("Blender has no such field of this shape")
    assert_as_blender()


@pytest.mark.parametrize("kind", ["FORCE", "WIND", "HARMONIC"])
def test_fields_that_act_from_a_surface(kind):
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=0.5)
    add_field(kind, bpy.context.object, shape="SURFACE", strength=1.5, falloff_power=1.0)
    # Far from edges, where the nearest face is not a matter of rounding.
    mesh = bpy.context.object.data
    centres = np.array([polygon.center for polygon in mesh.polygons])[::29] * 2.0
    matrix = np.array(bpy.context.object.matrix_world)
    assert_as_blender(centres @ matrix[:3, :3].T + matrix[:3, 3])


def test_noise_is_distributed_as_blenders():
    add_field("WIND", strength=0.0, noise=4.0)
    points = points_around(3000)
    axis = np.array(bpy.context.object.matrix_world.col[2][:3])
    expected = particle_accelerations(points) @ axis
    found = own_accelerations(points) @ axis
    for statistic in (np.mean, np.std, np.max, np.min):
        assert statistic(found) == pytest.approx(statistic(expected), abs=0.15)


# --- means over a frame -----------------------------------------------------------------------


def test_drag_and_spin_are_averaged_exactly():
    velocities = np.array([(1.0, 2.0, 3.0), (-1.0, 0.5, 0.0)])
    push, drag = np.array([(4.0, 0.0, 1.0)] * 2), np.array([3.0, 500.0])
    seconds = 0.1
    found = forces.mean_acceleration(Effect(push, drag, 0 * push), velocities, seconds)
    fade = np.exp(-drag * seconds)[:, None]
    after = velocities * fade + push / drag[:, None] * (1 - fade)
    assert velocities + seconds * found == pytest.approx(after)
    spin = np.array([(0.0, 0.0, 40.0)] * 2)
    found = forces.mean_acceleration(Effect(0 * push, 0 * drag, spin), velocities, seconds)
    turned = velocities + seconds * found
    assert np.linalg.norm(turned, axis=1) == pytest.approx(np.linalg.norm(velocities, axis=1))
    # A spin bends the way of what pushes, too, in many short steps as in one.
    one = velocities + seconds * forces.mean_acceleration(
        Effect(push, 0 * drag, spin), velocities, seconds, (0.0, 0.0, -9.0)
    )
    many = velocities
    for _ in range(2000):
        step = seconds / 2000
        found = np.cross(many, spin) + push + (0.0, 0.0, -9.0)
        many = many + step * (found + 0.5 * step * np.cross(found, spin))
    assert one == pytest.approx(many + seconds * np.array((0.0, 0.0, 9.0)), rel=1e-4)
    small = forces.mean_acceleration(Effect(0 * push, 0 * drag, spin), velocities, 1e-7)
    assert small == pytest.approx(np.cross(velocities, spin), abs=1e-3)


# --- bakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["FORCE", "WIND", "VORTEX", "HARMONIC", "TURBULENCE", "TEXTURE"])
def test_free_vertices_are_accelerated_as_blenders_particles(kind):
    cloth = limp_sheet(count=6)
    obj = add_field(kind, strength=1.0, size=0.7 if kind == "TURBULENCE" else 0.0)
    # What brakes would do so more over the whole frame than in its first moment.
    obj.field.wind_factor = obj.field.flow = obj.field.harmonic_damping = 0.0
    obj.field.shape = "POINT"
    if kind == "TEXTURE":
        obj.field.texture = bpy.data.textures.new("Texture", "MAGIC")
    points = small_scenes.evaluated_world(cloth).astype(float)
    expected = particle_accelerations(points, (0.0, 0.0, 0.0))
    found = baked_accelerations(cloth)
    size = np.abs(expected).max()
    assert size > 0.1
    assert found == pytest.approx(expected, abs=0.02 * size)


@pytest.mark.parametrize("scale", [0.01, 10.0])
def test_fields_are_in_blender_units_whatever_the_unit_scale(scale):
    cloth = limp_sheet(count=4)
    add_field("FORCE", strength=1.0, falloff_power=1.0)
    plain = baked_accelerations(cloth)
    bpy.context.scene.unit_settings.scale_length = scale
    assert baked_accelerations(cloth) == pytest.approx(plain, rel=0.02, abs=1e-3)


def test_wind_pushes_across_the_fabric_as_far_as_its_factor_says():
    cloth = limp_sheet(count=4)
    field = add_field(
        "WIND", strength=2.0, wind_factor=1.0, flow=0.0, rotation_euler=(0.7, 0.0, 0.0)
    )
    across = baked_accelerations(cloth)
    assert across == pytest.approx(np.tile((0, 0, 2.0 * np.cos(0.7)), (16, 1)), abs=1e-3)
    field.field.wind_factor = 0.0
    along = baked_accelerations(cloth)
    assert along[:, 1] == pytest.approx(-2.0 * np.sin(0.7), abs=1e-3)


@pytest.mark.parametrize(
    ("name", "factor"), [("force", 0.5), ("all", 0.25), ("wind", 1.0), ("force", -1.0)]
)
def test_weights_scale_the_fields(name, factor):
    cloth = limp_sheet(count=4)
    add_field("FORCE", strength=1.0)
    plain = baked_accelerations(cloth)
    setattr(cloth.weft.field_weights, name, factor if name != "wind" else 0.0)
    assert baked_accelerations(cloth) == pytest.approx(factor * plain, abs=2e-4)


def test_the_effector_collection_chooses_fields():
    cloth = limp_sheet(count=4)
    field = add_field("FORCE", strength=1.0)
    chosen = bpy.data.collections.new("Effectors")
    cloth.weft.field_weights.collection = chosen
    assert baked_accelerations(cloth) == pytest.approx(0.0, abs=1e-6)
    chosen.objects.link(field)
    assert np.abs(baked_accelerations(cloth)).max() > 0.5


def test_the_weight_of_gravity():
    cloth = limp_sheet(count=4)
    bpy.context.scene.use_gravity = True
    cloth.weft.field_weights.gravity = 0.25
    assert baked_accelerations(cloth)[:, 2] == pytest.approx(-0.25 * 9.81, rel=1e-3)


def test_an_animated_field_is_followed():
    cloth = limp_sheet(count=4)
    field = add_field("WIND", strength=0.0, wind_factor=0.0, rotation_euler=(0, 0, 0))
    for frame, strength in ((1, 0.0), (11, 10.0)):
        field.field.strength = strength
        field.keyframe_insert("field.strength", frame=frame)
    small_scenes.set_frames(1, 11)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    height = small_scenes.cached_frames(cloth)[:, :, 2].mean(axis=1)
    speeds = np.diff(height) * 24
    assert (np.diff(speeds) > 0).all() and speeds[-1] > 1.0


def test_a_bake_with_fields_is_resumed_bit_for_bit():
    cloth = small_scenes.add_cloth()
    texture = bpy.data.textures.new("Texture", "MAGIC")
    add_field("TURBULENCE", strength=3.0, size=0.5, noise=1.0, seed=5)
    add_field("TEXTURE", strength=2.0, texture=texture)
    whole_and_resumed(cloth, last=10, until=6)


def test_cancelling_while_a_texture_is_asked_for():
    cloth = small_scenes.add_cloth()
    texture = bpy.data.textures.new("Texture", "MAGIC")
    add_field("TEXTURE", strength=2.0, texture=texture)
    small_scenes.set_frames(1, 500)
    running = job.Bake(bpy.context)
    while running.frame < 3:
        running.pump(0.01)
        running.wait(0.005)
    running.pump(0.01)
    running.stop()
    outcome = running.finish(bpy.context)
    assert outcome.cancelled and not outcome.error
    kept = small_scenes.cached_frames(cloth)
    bpy.context.scene.frame_end = len(kept) + 2
    assert bpy.ops.weft.resume() == {"FINISHED"}
    assert np.array_equal(small_scenes.cached_frames(cloth)[: len(kept)], kept)


def test_a_changed_field_marks_the_result_outdated():
    cloth = small_scenes.add_cloth()
    field = add_field("FORCE", strength=1.0)
    small_scenes.set_frames(1, 3)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    assert state(cloth).outdated == ""
    field.field.strength = 2.0
    field.update_tag()
    assert state(cloth).outdated == "the force field of 'Force' has changed"


def test_changed_weights_mark_the_result_outdated():
    cloth = small_scenes.add_cloth()
    small_scenes.set_frames(1, 3)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    cloth.weft.field_weights.turbulence = 0.5
    assert "material of 'Sheet'" in state(cloth).outdated


def test_kinds_that_do_not_act_on_cloth_are_known():
    add_field("BOID")
    found = list(snapshot.unsupported(bpy.context.view_layer))
    assert [kind for _obj, kind in found] == ["BOID"]
    assert snapshot.read(bpy.context.view_layer, bpy.context.evaluated_depsgraph_get()) == []


# --- over a second ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("MAGNET", {"strength": 2.0}),
        ("DRAG", {"linear_drag": 0.7, "quadratic_drag": 0.3}),
        ("VORTEX", {"strength": 1.0}),
        ("HARMONIC", {"strength": 4.0, "harmonic_damping": 0.3}),
        ("CHARGE", {"strength": 5.0}),
        ("TURBULENCE", {"strength": 2.0, "size": 2.0, "flow": 0.5}),
    ],
)
def test_paths_are_those_of_blenders_particles(kind, settings):
    """What depends on the velocity shows only on the way: a wind sets everything going."""
    cloth = limp_sheet(count=5)
    last = 16
    small_scenes.set_frames(1, last)
    wind = {"strength": 2.0, "flow": 0.0, "wind_factor": 0.0, "rotation_euler": (0.7, 0.0, 0.3)}
    add_field("WIND", **wind)
    points = small_scenes.evaluated_world(cloth).astype(float)
    without = particle_places(points, last)
    field = add_field(kind, **settings)
    field.field.wind_factor = 0.0
    expected = particle_places(points, last)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    matrix = np.array(cloth.matrix_world)
    found = small_scenes.cached_frames(cloth)[-1].astype(float) @ matrix[:3, :3].T + matrix[:3, 3]
    size = np.linalg.norm(expected - points, axis=1).max()
    assert size > 0.1
    assert found == pytest.approx(expected, abs=0.02 * size)
    bends = np.linalg.norm(expected - without, axis=1).max()
    assert (bends > 0.05 * size) == (kind != "CHARGE")


@pytest.mark.parametrize("kind", ["CHARGE", "LENNARDJ"])
def test_what_does_not_move_blenders_cloth_does_not_move_ours(kind):
    cloth = limp_sheet(count=5)
    add_field(kind, strength=100.0, falloff_power=0.0)
    assert baked_accelerations(cloth) == pytest.approx(0.0, abs=1e-6)
    bpy.ops.weft.free()
    cloth.modifiers.new("Cloth", "CLOTH").settings.effector_weights.gravity = 0.0
    rest = small_scenes.evaluated(cloth)
    for frame in range(1, 6):
        bpy.context.scene.frame_set(frame)
    assert small_scenes.evaluated(cloth) == pytest.approx(rest, abs=1e-6)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("VORTEX", "vortex"),
        ("HARMONIC", "harmonic"),
        ("TURBULENCE", "turbulence"),
        ("WIND", "wind"),
        ("TEXTURE", "texture"),
    ],
)
def test_every_weight_scales_its_own_type(kind, name):
    cloth = limp_sheet(count=4)
    field = add_field(kind, strength=1.0, size=0.7 if kind == "TURBULENCE" else 0.0)
    if kind == "TEXTURE":
        field.field.texture = bpy.data.textures.new("Texture", "MAGIC")
    field.field.wind_factor = field.field.flow = field.field.harmonic_damping = 0.0
    plain = baked_accelerations(cloth)
    assert np.abs(plain).max() > 0.1
    setattr(cloth.weft.field_weights, name, 0.5)
    assert baked_accelerations(cloth) == pytest.approx(0.5 * plain, abs=0.01)
    setattr(cloth.weft.field_weights, name, 0.0)
    assert baked_accelerations(cloth) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(("kind", "name"), [("MAGNET", "magnetic"), ("DRAG", "drag")])
def test_weights_of_what_acts_on_motion(kind, name):
    cloth = limp_sheet(count=4)
    small_scenes.set_frames(1, 12)
    add_field("WIND", strength=2.0, flow=0.0, wind_factor=0.0)
    finals = []
    for weight in (None, 0.0, 1.0):
        if weight is not None:
            field = bpy.data.objects.get(kind.title()) or add_field(kind, strength=2.0)
            field.name = kind.title()
            if kind == "DRAG":
                field.field.linear_drag = 2.0
            setattr(cloth.weft.field_weights, name, weight)
        assert bpy.ops.weft.bake() == {"FINISHED"}
        finals.append(small_scenes.cached_frames(cloth)[-1])
    assert np.array_equal(finals[0], finals[1])
    assert np.abs(finals[2] - finals[0]).max() > 0.02
