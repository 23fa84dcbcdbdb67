# SPDX-License-Identifier: MIT OR Apache-2.0
"""Garments made of what is mirrored, modified, leaning, degenerate, linked or far too large."""

import math

import bpy
import figure
import numpy as np
import pytest
import small_scenes
from test_authoring import (
    add_square,
    circle,
    corners,
    made,
    make_active,
    modelled_tube,
    pattern,
    refused,
    stretches,
    world,
)

from addon.authoring.body_sections import BodySections
from addon.blender import mesh_arrays
from addon.garment import pattern_mesh


def facing(garment, outwards):
    """Least component of the normals of faces along a direction for each face middle."""
    points, _ = corners(garment)
    normals = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    return ((normals * outwards(points.mean(axis=1))).sum(axis=1)).min()


def from_axis(points):
    return points * (1.0, 1.0, 0.0)


def quads(*heights, flipped=()):
    """Level squares beside each other, each with its own island of the UV map."""
    points, faces = [], []
    for number, height in enumerate(heights):
        x = float(number)
        square = [(x, 0, height), (x + 1, 0, height), (x + 1, 1, height), (x, 1, height)]
        points += square
        face = tuple(range(4 * number, 4 * number + 4))
        faces.append(face[::-1] if number in flipped else face)
    return small_scenes.add_mesh("Quads", points, faces)


# --- outlines ---------------------------------------------------------------------------------


def test_right_sides_are_those_of_the_faces():
    cloth = made("cloth_from_outline", quads(0.0, 0.0, flipped=(1,)), edge_length=0.2)
    sides = {(face.center.x < 1.0, round(face.normal.z)) for face in cloth.data.polygons}
    assert sides == {(True, 1), (False, -1)}


def test_panels_that_nearly_touch_stay_apart():
    points = [(x, y, z) for z in (0.0, 0.004) for x, y in ((0, 0), (0.5, 0), (0.5, 0.5), (0, 0.5))]
    pillow = small_scenes.add_mesh("Pillow", points, [(3, 2, 1, 0), (4, 5, 6, 7)])
    cloth = made("cloth_from_outline", pillow, edge_length=0.1)
    sides = {(round(f.center.z, 4), round(f.normal.z)) for f in cloth.data.polygons}
    assert sides == {(0.0, -1), (0.004, 1)}


def test_outlines_across_the_plane_of_a_curve_face_the_front_alike():
    target = circle(0.3)
    for knot in target.data.splines[0].bezier_points:
        knot.handle_left_type = knot.handle_right_type = "FREE"
        for name in ("co", "handle_left", "handle_right"):
            x, y, _ = getattr(knot, name)
            setattr(knot, name, (x, 0.0, y))
    cloth = made("cloth_from_outline", target, edge_length=0.1)
    assert {round(face.normal.y) for face in cloth.data.polygons} == {-1}


def test_modifiers_and_shape_keys_have_effect():
    half = small_scenes.add_mesh(
        "Half", [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2, 3)]
    )
    half.modifiers.new("Mirror", "MIRROR")
    cloth = made("cloth_from_outline", half, edge_length=0.2)
    assert np.ptp(world(cloth), axis=0)[:2] == pytest.approx([2.0, 1.0], abs=1e-6)
    tube = modelled_tube()
    tube.shape_key_add(name="Basis")
    key = tube.shape_key_add(name="Wide")
    for point in key.data:
        point.co *= 2.0
    key.value = 1.0
    garment = made("cloth_from_model", tube, edge_length=0.1)
    assert np.ptp(world(garment)[:, 2]) == pytest.approx(1.2, abs=0.01)


def test_points_that_lie_on_each_other_are_one():
    target = circle(0.5)
    spline = target.data.splines[0]
    places = [
        [knot.co[:], knot.handle_left[:], knot.handle_right[:]] for knot in spline.bezier_points
    ]
    start = places[0][0]
    places.append([start, places[0][1], start])
    places[0][1] = start
    spline.bezier_points.add(1)
    for knot, (place, left, right) in zip(spline.bezier_points, places, strict=True):
        knot.handle_left_type = knot.handle_right_type = "FREE"
        knot.co, knot.handle_left, knot.handle_right = place, left, right
    cloth = made("cloth_from_outline", target, edge_length=0.1)
    assert np.ptp(world(cloth), axis=0)[:2] == pytest.approx([1.0, 1.0], abs=1e-3)


def test_degenerate_outlines_are_refused():
    twice = circle(0.5)
    twice.data.splines.remove(twice.data.splines[0])
    add_square(twice, 0.3)
    add_square(twice, 0.3)
    refused("cloth_from_outline", twice, "coincide")
    flat = circle(0.5)
    flat.scale = (0.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    refused("cloth_from_outline", flat, "no size|fewer than 3 points|two points or more")


def test_a_spline_of_a_curve_with_shape_keys_is_an_outline():
    bpy.ops.curve.primitive_nurbs_circle_add(radius=0.5)
    target = bpy.context.object
    add_square(target, 0.2)
    target.shape_key_add(name="Basis")
    target.shape_key_add(name="Other")
    cloth = made("cloth_from_outline", target, edge_length=0.1)
    assert len(pattern(cloth).panels) == 1


# --- of a modelled garment --------------------------------------------------------------------


def test_faces_with_opposite_sides_up_are_refused():
    joined = small_scenes.add_mesh(
        "Joined",
        [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0), (2, 1, 0)],
        [(0, 1, 2, 3), (1, 2, 5, 4)],
    )
    uv = joined.data.uv_layers.new(name="UV")
    for loop in joined.data.loops:
        place = joined.data.vertices[loop.vertex_index].co
        uv.data[loop.index].uv = (place.x + 3.0 * (loop.index > 3), place.y)
    refused("cloth_from_model", joined, "opposite sides up")


@pytest.mark.parametrize("scale", [1.0, -1.0])
def test_a_mirrored_model_keeps_its_outside(scale):
    tube = modelled_tube()
    tube.scale.x = scale
    bpy.context.view_layer.update()
    garment = made("cloth_from_model", tube, edge_length=0.1)
    sides = facing(garment, from_axis)
    assert sides > -1e-6
    assert np.percentile(np.abs(stretches(garment) - 1.0), 95.0) < 0.03


def test_uv_coordinates_that_differ_by_rounding_are_one():
    tube = modelled_tube()
    generator = np.random.default_rng(3)
    for entry in tube.data.uv_layers.active.data:
        entry.uv = np.array(entry.uv) + generator.uniform(-1e-7, 1e-7, 2)
    garment = made("cloth_from_model", tube, edge_length=0.1)
    assert len(pattern(garment).panels) == 2


def test_what_fails_late_leaves_nothing_behind(monkeypatch):
    def fail(*_arguments):
        raise ValueError("it does not lie there")

    monkeypatch.setattr(pattern_mesh.PatternGarment, "place", fail)
    refused("cloth_revolution", small_scenes.add_floor(), "it does not lie there")


# --- around a figure --------------------------------------------------------------------------


def test_a_mirrored_figure_keeps_its_front():
    body = figure.add()
    body.scale.x = -1.0
    bpy.context.view_layer.update()
    garment = made("cloth_around", body, edge_length=0.05)
    front = world(garment)[mesh_arrays.grouped_vertices(garment, "front")]
    assert np.median(front[:, 1]) < 0.0


@pytest.mark.parametrize("lean", [0.15, 0.35])
def test_a_leaning_figure_gets_a_skirt(lean):
    body = figure.add()
    body.rotation_euler.y = lean
    bpy.context.view_layer.update()
    garment = made("cloth_around", body, kind="OPEN", length=0.4, edge_length=0.05)
    assert np.isfinite(world(garment)).all()


def test_what_is_beside_the_figure_does_not_matter():
    body = figure.add()
    for x, z in ((50.0, 1.0), (0.0, -3.0), (0.0, 5.0)):
        body.data.vertices.add(1)
        body.data.vertices[-1].co = (x, 0.0, z)
    garment = made("cloth_around", body, edge_length=0.05)
    assert 1.3 < world(garment)[:, 2].max() < 1.5


def test_sections_scale_with_the_figure():
    body = figure.add()
    points = mesh_arrays.coordinates(body.data).astype(float)
    triangles = mesh_arrays.triangles(body.data)
    small, large = BodySections(points, triangles), BodySections(100.0 * points, triangles)
    assert len(small.all) == len(large.all)
    assert large.waist.girth == pytest.approx(100.0 * small.waist.girth)


def test_a_top_above_the_figure_is_refused_and_its_role_stays():
    body = figure.add()
    body.weft.role = "NONE"
    refused("cloth_around", body, "above the figure", kind="OPEN", top=3.0)
    refused("cloth_around", body, "no area|cells|edge", edge_length=10.0)
    assert body.weft.role == "NONE"


def test_a_garment_measured_at_another_frame_says_so(capfd):
    body = figure.add()
    small_scenes.set_frames(1, 20)
    bpy.context.scene.frame_set(5)
    made("cloth_around", body, edge_length=0.05)
    assert "measured at frame 5" in capfd.readouterr().out


def test_a_yaw_turns_the_garment_with_the_figure():
    body = figure.add()
    body.rotation_euler.z = math.pi / 2.0
    bpy.context.view_layer.update()
    make_active(body)
    garment = made("cloth_around", body, edge_length=0.05)
    front = world(garment)[mesh_arrays.grouped_vertices(garment, "front")]
    assert np.median(front[:, 0]) > 0.05
