# SPDX-License-Identifier: MIT OR Apache-2.0
"""Garments made in Blender: of outlines, around a figure, of revolution, of a modelled one."""

import json
import math
from itertools import pairwise

import bmesh
import bpy
import figure
import numpy as np
import pytest
import small_scenes

from addon.authoring.body_sections import BodySections, convex_hull
from addon.blender import mesh_arrays
from addon.checks.intersection import Surface, self_intersections
from addon.garment import seams
from addon.garment.dressed import welding
from addon.simulation import bridge

WEDGE = math.radians(320.0)


def make_active(obj):
    bpy.ops.object.select_all(action="DESELECT")
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj


def made(operator, source=None, **options):
    """The garment that an operator makes of an object."""
    if source is not None:
        make_active(source)
    assert getattr(bpy.ops.weft, operator)(**options) == {"FINISHED"}
    return bpy.context.object


def pattern(garment):
    return bridge.library().Pattern(garment.weft.garment.pattern)


def corners(garment):
    """Places of the corners of all triangles in space and on the UV map, `(triangles, 3, ...)`."""
    mesh = garment.data
    mesh.calc_loop_triangles()
    loops = np.array([triangle.loops[:] for triangle in mesh.loop_triangles])
    points = mesh_arrays.coordinates(mesh).astype(float)
    uv = mesh_arrays.active_uv(mesh).astype(float)
    return points[mesh_arrays.corner_vertices(mesh)[loops]], uv[loops]


def stretches(garment):
    """Principal stretches of each triangle against the UV map."""
    sides = [np.stack([s[:, k] - s[:, 0] for k in (1, 2)], axis=2) for s in corners(garment)]
    return np.linalg.svd(sides[0] @ np.linalg.inv(sides[1]), compute_uv=False)


def area(garment):
    sides = [np.stack([s[:, k] - s[:, 0] for k in (1, 2)], axis=2) for s in corners(garment)[1:]]
    return float(np.linalg.det(sides[0]).sum() / 2.0)


def crosses_itself(garment):
    points = mesh_arrays.coordinates(garment.data).astype(float)
    return len(self_intersections(Surface(points, mesh_arrays.triangles(garment.data)))) > 0


def world(garment):
    matrix = np.array(garment.matrix_world)
    return mesh_arrays.transformed(mesh_arrays.coordinates(garment.data), matrix)


# --- outlines ---------------------------------------------------------------------------------


def circle(radius, **place):
    bpy.ops.curve.primitive_bezier_circle_add(radius=radius, **place)
    return bpy.context.object


def add_square(curve, half):
    spline = curve.data.splines.new("POLY")
    spline.points.add(3)
    for point, (x, y) in zip(spline.points, ((-1, -1), (1, -1), (1, 1), (-1, 1)), strict=True):
        point.co = (half * x, half * y, 0.0, 1.0)
    spline.use_cyclic_u = True


def test_a_closed_curve_becomes_a_cloth_where_it_is():
    upright = circle(0.5, rotation=(math.pi / 2.0, 0.0, 0.0), location=(1.0, -2.0, 3.0))
    cloth = made("cloth_from_outline", upright, edge_length=0.05)
    points = world(cloth)
    assert points.min(axis=0) == pytest.approx([0.5, -2.0, 2.5], abs=1e-3)
    assert points.max(axis=0) == pytest.approx([1.5, -2.0, 3.5], abs=1e-3)
    assert area(cloth) == pytest.approx(math.pi * 0.25, rel=0.01)
    assert stretches(cloth) == pytest.approx(1.0, abs=1e-4)
    assert cloth.weft.role == "CLOTH" and cloth.weft.rest_shape == "PATTERN"


def test_an_outline_within_another_is_cut_out_and_the_next_one_is_a_panel():
    target = circle(0.5)
    add_square(target, 0.2)
    add_square(target, 0.1)
    cloth = made("cloth_from_outline", target, edge_length=0.04)
    assert area(cloth) == pytest.approx(math.pi * 0.25 - 0.16 + 0.04, rel=0.01)
    assert [panel["name"] for panel in pattern(cloth).panels] == ["panel_1", "panel_2"]


def test_grain_is_an_angle_from_the_horizontal_of_the_panel():
    """A warp that runs up is along u: the panel is 2 m high on the UV map's u."""
    cloth = made("cloth_from_outline", sheet((1.0, 2.0)), edge_length=0.1)
    assert np.ptp(mesh_arrays.active_uv(cloth.data), axis=0) == pytest.approx([2.0, 1.0], abs=1e-5)
    turned = made("cloth_from_outline", sheet((1.0, 2.0)), edge_length=0.1, grain=0.0)
    assert np.ptp(mesh_arrays.active_uv(turned.data), axis=0) == pytest.approx([1.0, 2.0], abs=1e-5)


def sheet(size):
    """An upright rectangle of one face, seen from the front."""
    x, z = size
    points = [(0.0, 0.0, 0.0), (x, 0.0, 0.0), (x, 0.0, z), (0.0, 0.0, z)]
    return small_scenes.add_mesh("Sheet", points, [(0, 1, 2, 3)])


@pytest.mark.parametrize("kind", ["nurbs", "poly"])
def test_splines_without_handles_are_outlines_too(kind):
    if kind == "nurbs":
        bpy.ops.curve.primitive_nurbs_circle_add(radius=0.5)
        target = bpy.context.object
    else:
        target = circle(0.5)
        add_square(target, 0.4)
        target.data.splines.remove(target.data.splines[0])
    drawn = len(bpy.data.objects), len(bpy.data.curves)
    cloth = made("cloth_from_outline", target, edge_length=0.05)
    assert (len(bpy.data.objects), len(bpy.data.curves)) == (drawn[0] + 1, drawn[1])
    wanted = {"nurbs": math.pi * 0.25, "poly": 0.64}[kind]
    assert area(cloth) == pytest.approx(wanted, rel=0.02)


def test_front_and_back_of_one_mesh_face_outwards_and_are_sewn_by_hand():
    points = [(x, y, z) for y in (0.0, 0.3) for x, z in ((0, 0), (0.5, 0), (0.5, 0.5), (0, 0.5))]
    target = small_scenes.add_mesh("Bag", points, [(0, 1, 2, 3), (7, 6, 5, 4)])
    cloth = made("cloth_from_outline", target, edge_length=0.1)
    found = [panel["name"] for panel in pattern(cloth).panels]
    assert found == ["panel_1", "panel_2"]
    normals = {round(face.center.y, 3): face.normal.y for face in cloth.data.polygons}
    assert normals == pytest.approx({0.0: -1.0, 0.3: 1.0})


def test_a_scene_in_centimetres_gets_the_same_panel():
    bpy.context.scene.unit_settings.scale_length = 0.01
    cloth = made("cloth_from_outline", circle(50.0), edge_length=0.05)
    assert np.ptp(world(cloth), axis=0)[:2] == pytest.approx([100.0, 100.0], abs=0.1)
    assert area(cloth) == pytest.approx(math.pi * 0.25, rel=0.01)


def test_what_is_no_outline_is_refused_by_name():
    bpy.ops.mesh.primitive_cube_add()
    refused("cloth_from_outline", bpy.context.object, "'Cube' has no closed outline")
    opened = circle(0.5)
    opened.data.splines[0].use_cyclic_u = False
    refused("cloth_from_outline", opened, "no spline is cyclic")
    bent = circle(0.5)
    bent.data.splines[0].bezier_points[0].co.z = 0.3
    refused("cloth_from_outline", bent, "does not lie in a plane")
    eight = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (-1, 0, 0), (0, -1, 0)]
    touching = small_scenes.add_mesh("Bow", eight, [(0, 1, 2), (0, 3, 4)])
    refused("cloth_from_outline", touching, "4 edges of the outline of 'Bow' meet at vertex 0")
    bow = [(-1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (1.0, -1.0, 0.0), (-1.0, 0.5, 0.0)]
    crossed = small_scenes.add_mesh("Crossed", bow, [])
    small_scenes.add_edges(crossed.data, (0, 1), (1, 2), (2, 3), (3, 0))
    refused("cloth_from_outline", crossed, "cross")


def refused(operator, source, message, **options):
    """What an operator says, while nothing is added."""
    make_active(source)
    before = set(bpy.data.objects), len(bpy.data.meshes)
    with pytest.raises(RuntimeError, match=message):
        getattr(bpy.ops.weft, operator)(**options)
    assert (set(bpy.data.objects), len(bpy.data.meshes)) == before


# --- revolution -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cone",
    [
        {"upper_radius": 0.13, "lower_radius": 0.3, "length": 0.6},
        {"upper_radius": 0.2, "lower_radius": 0.2, "length": 0.8},
        {"upper_radius": 0.2, "lower_radius": 0.2, "length": 0.8, "count": 1},
        {"upper_radius": 0.12, "lower_radius": 0.75, "length": 0.9, "angle": WEDGE},
        {"upper_radius": 0.3, "lower_radius": 0.1, "length": 0.5, "count": 3},
        {"upper_radius": 0.1, "lower_radius": 0.6, "length": 0.5, "count": 4},
    ],
)
def test_a_cone_is_sewn_and_unstretched(cone):
    """Its panels are as large as the part of a cone, and lie on it at their lengths."""
    bpy.context.scene.cursor.location = (1.0, 2.0, 3.0)
    cloth = made("cloth_revolution", edge_length=0.04, **cone)
    upper, lower, length = (cone[name] for name in ("upper_radius", "lower_radius", "length"))
    angle, count = cone.get("angle", 2.0 * math.pi), cone.get("count", 2)
    assert area(cloth) == pytest.approx(0.5 * angle * (upper + lower) * length, rel=2e-3)
    # Chords of the smallest radius are shorter than their arcs by a share of about l²/24r².
    sagging = (0.06 / min(upper, lower)) ** 2 / 20.0
    assert stretches(cloth) == pytest.approx(1.0, abs=1e-3 + sagging)
    points = world(cloth) - (1.0, 2.0, 3.0)
    height = math.sqrt(length**2 - (upper - lower) ** 2)
    assert np.ptp(points[:, 2]) == pytest.approx(height, abs=2e-3)
    radii = np.linalg.norm(points[:, :2], axis=1)
    assert radii.min() == pytest.approx(min(upper, lower), abs=2e-3)
    assert radii.max() == pytest.approx(max(upper, lower), abs=2e-3)
    is_round = "angle" not in cone
    assert len(pattern(cloth).stitches) == count - (not is_round)
    assert not len(mesh_arrays.loose_edges(cloth.data)) and not crosses_itself(cloth)
    # Seams are closed: what is round has two borders, what is open one.
    borders = mesh_arrays.edges(cloth.data)[mesh_arrays.edge_uses(cloth.data) == 1]
    labels = welding.labels(borders, len(points))[borders.ravel()]
    assert len(np.unique(labels)) == (2 if is_round else 1)


def test_a_cape_opens_to_the_front():
    cloth = made("cloth_revolution", angle=math.radians(270.0), edge_length=0.05)
    points = world(cloth)
    ahead = np.abs(np.arctan2(points[:, 0], -points[:, 1]))
    assert ahead.min() == pytest.approx(math.radians(45.0), abs=0.01)


def test_a_garment_of_revolution_is_undressed_baked_and_undone():
    cloth = made("cloth_revolution", edge_length=0.06)
    worn = world(cloth)
    cloth.vertex_groups.new(name="pin").add(
        np.flatnonzero(worn[:, 2] > -0.01).tolist(), 1.0, "REPLACE"
    )
    cloth.weft.pin_group = "pin"
    small_scenes.set_frames(1, 6)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    bpy.context.scene.frame_set(6)
    fallen = cloth.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    moved = mesh_arrays.coordinates(fallen) - mesh_arrays.coordinates(cloth.data)
    assert 1e-4 < np.abs(moved).max() < 0.2
    assert bpy.ops.weft.free() == {"FINISHED"}
    assert bpy.ops.weft.undress() == {"FINISHED"}
    assert len(mesh_arrays.loose_edges(cloth.data)) and len(cloth.data.vertices) > len(worn)
    assert stretches(cloth) == pytest.approx(1.0, abs=1e-4) and not crosses_itself(cloth)


def test_rims_that_no_cone_has_are_refused():
    floor = small_scenes.add_floor()
    wide = {"upper_radius": 0.1, "lower_radius": 0.8, "length": 0.5}
    refused("cloth_revolution", floor, "radii differ by 0.7 m", **wide)
    flat = {"upper_radius": 0.1, "lower_radius": 0.6, "length": 0.5, "count": 1}
    refused("cloth_revolution", floor, "two panels or more", **flat)


# --- around a figure --------------------------------------------------------------------------


def test_sections_find_waist_arms_and_neck():
    body = figure.add()
    points = mesh_arrays.coordinates(body.data).astype(float)
    sections = BodySections(points, mesh_arrays.triangles(body.data))
    assert sections.waist.height == pytest.approx(1.1, abs=0.01)
    assert sections.neck.height == pytest.approx(1.5, abs=0.01)
    assert 1.2 < sections.arms.height < 1.36
    assert sections.arms.width < 0.36
    # An ellipse with these half axes, of 24 corners.
    assert sections.waist.girth == pytest.approx(0.727, rel=0.01)
    knees = sections.at(0.4)
    assert knees.width == pytest.approx(0.32, abs=0.002)  # both legs, no hands


@pytest.mark.parametrize("arms", [None, 25.0, 60.0, 90.0])
def test_a_neck_is_found_whatever_the_arms_do(arms, monkeypatch):
    monkeypatch.setattr(figure, "ARM_ANGLE", math.radians(arms or 0.0))
    body = figure.add(with_arms=arms is not None)
    points = mesh_arrays.coordinates(body.data).astype(float)
    sections = BodySections(points, mesh_arrays.triangles(body.data))
    assert sections.neck.height == pytest.approx(1.5, abs=0.01)
    assert 1.14 < sections.arms.height < 1.4
    # A figure that ends at its neck has it there.
    kept = points[:, 2] < 1.505
    headless = BodySections(np.where(kept[:, None], points, [0, 0, 1.5]), sections._triangles)
    assert headless.neck.height == pytest.approx(1.5, abs=0.015)


def test_a_hull_is_that_of_all_points():
    points = np.random.default_rng(1).uniform(-1.0, 1.0, (200, 2))
    hull = convex_hull(points)
    sides = np.roll(hull, -1, axis=0) - hull
    offsets = points[None] - hull[:, None]
    assert (
        sides[:, None, 0] * offsets[:, :, 1] - sides[:, None, 1] * offsets[:, :, 0]
    ).min() > -1e-12
    square = np.array([(0, 0), (1, 0), (1, 1), (0, 1), (0.5, 0.5), (0.5, 0.0)], float)
    assert convex_hull(square).tolist() == [[0, 0], [1, 0], [1, 1], [0, 1]]


def test_a_top_around_a_figure_is_dressed_on_its_shoulders():
    body = figure.add()
    garment = made("cloth_around", body, edge_length=0.04, length=0.5)
    assert [panel["name"] for panel in pattern(garment).panels] == ["front", "back"]
    assert len(pattern(garment).stitches) == 4
    places = world(garment)
    front, back = (
        places[mesh_arrays.grouped_vertices(garment, name), 1] for name in ("front", "back")
    )
    assert front.min() < -0.12 and back.max() > 0.12
    assert bpy.ops.weft.dress() == {"FINISHED"}
    told = garment.weft.garment
    assert not told.has_failed, told.report
    worn = world(garment)
    assert 1.38 < worn[:, 2].max() < 1.48 and worn[:, 2].min() < 1.03
    assert np.median(stretches(garment)[:, 0]) < 1.02 and not crosses_itself(garment)


PROFILE = ((0.02, 0.0), (0.2, 0.02), (0.2, 1.2), (0.06, 1.35), (0.05, 1.4), (0.08, 1.6))


def test_a_straight_body_without_arms_gets_a_top():
    turn = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    points = [(r * np.cos(a), r * np.sin(a), z) for r, z in PROFILE for a in turn]
    sides = [(24 * row + k, 24 * row + (k + 1) % 24) for row in range(5) for k in range(24)]
    faces = [(one, other, other + 24, one + 24) for one, other in sides]
    ends = [tuple(range(120, 144)), tuple(range(23, -1, -1))]
    body = small_scenes.add_mesh("Bottle", points, [*faces, *ends])
    garment = made("cloth_around", body, edge_length=0.05)
    assert body.weft.role == "COLLIDER" and len(pattern(garment).stitches) == 4
    assert bpy.ops.weft.dress() == {"FINISHED"}
    assert not garment.weft.garment.has_failed, garment.weft.garment.report


@pytest.mark.parametrize("yaw", [0.0, 2.0])
def test_an_open_top_is_as_wide_as_the_figure_and_its_ease_and_flare(yaw):
    body = figure.add()
    body.rotation_euler.z = yaw
    bpy.context.view_layer.update()
    options = {"kind": "OPEN", "length": 0.5, "ease": 0.05, "flare": 0.3, "edge_length": 0.04}
    garment = made("cloth_around", body, **options)
    outline = json.loads(garment.weft.garment.pattern)["pattern"]["panels"]["front"]["vertices"]
    widths = np.ptp(np.array(outline).reshape(2, 2, 2)[:, :, 0], axis=1)
    waist, knees = 0.727, 2 * 0.2 + 2.0 * math.pi * 0.06
    assert sorted(4.0 * widths / 200.0) == pytest.approx(
        sorted([2 * (waist + 0.05) / 2, 2 * (knees + 0.35) / 2]), rel=0.02
    )
    front = world(garment)[mesh_arrays.grouped_vertices(garment, "front")]
    assert (front[:, :2] @ (math.sin(yaw), -math.cos(yaw))).min() > -0.02
    assert np.ptp(world(garment)[:, 2]) == pytest.approx(0.5, abs=1e-3)
    # Bent around the figure, its sides are nearly closed and it keeps its widths.
    ends = world(garment)[seams.of(garment).pairs]
    assert np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).max() < 0.08
    assert np.median(stretches(garment)[:, 0]) < 1.03


def test_what_is_no_figure_is_refused():
    low = small_scenes.add_floor()
    refused("cloth_around", low, "no height")
    bpy.ops.mesh.primitive_cylinder_add(radius=0.2, depth=1.6)
    refused("cloth_around", bpy.context.object, "no shoulders below a neck")
    refused("cloth_around", figure.add(), "below the figure", kind="OPEN", length=1.5)


# --- of a modelled garment --------------------------------------------------------------------


def modelled_tube(count=24, rows=9, radius=0.2, height=0.6):
    """A tube with a cap, unwrapped: a rectangle in m and a disc of half its size."""
    shape = bmesh.new()
    rings = [
        [shape.verts.new((radius * math.cos(a), radius * math.sin(a), z)) for a in angles(count)]
        for z in np.linspace(0.0, height, rows)
    ]
    uv = shape.loops.layers.uv.new("Mine")
    width = 2.0 * radius * math.sin(math.pi / count)
    for low, (one, other) in enumerate(pairwise(rings)):
        for k in range(count):
            ends = ((k, one), (k + 1, one), (k + 1, other), (k, other))
            face = shape.faces.new([ring[j % count] for j, ring in ends])
            step = height / (rows - 1)
            for loop, (j, ring) in zip(face.loops, ends, strict=True):
                loop[uv].uv = (j * width, (low + (ring is other)) * step)
    cap = shape.faces.new(rings[-1])
    for loop in cap.loops:
        loop[uv].uv = (3.0 + loop.vert.co.x / 2.0, loop.vert.co.y / 2.0)
    return small_scenes.add_shape("Tube", shape)


def angles(count):
    return [2.0 * math.pi * k / count for k in range(count)]


def test_islands_become_panels_that_are_sewn_in_the_shape_of_the_model():
    model = modelled_tube()
    model.location, model.weft.role = (1.0, 0.0, 0.5), "CLOTH"
    bpy.context.view_layer.update()
    garment = made("cloth_from_model", model, edge_length=0.05)
    assert model.hide_get() and model.weft.role == "NONE"
    content = json.loads(garment.weft.garment.pattern)["pattern"]
    assert sorted(len(panel["edges"]) for panel in content["panels"].values()) == [2, 4]
    assert len(content["stitches"]) == 2  # the tube to itself, and to its cap
    assert not len(mesh_arrays.loose_edges(garment.data)) and not crosses_itself(garment)
    # The cap has its own area, whatever the scale of its island.
    chords = 24.0 * 0.2**2 * math.sin(math.pi / 12.0) / 2.0
    around = 24.0 * 2.0 * 0.2 * math.sin(math.pi / 24.0) * 0.6
    assert area(garment) == pytest.approx(chords + around, rel=2e-3)
    assert np.percentile(np.abs(stretches(garment) - 1.0), 99.0) < 0.02
    points = world(garment) - (1.0, 0.0, 0.5)
    assert points.min(axis=0) == pytest.approx([-0.2, -0.2, 0.0], abs=5e-3)
    assert points.max(axis=0) == pytest.approx([0.2, 0.2, 0.6], abs=5e-3)
    borders = mesh_arrays.edges(garment.data)[mesh_arrays.edge_uses(garment.data) == 1]
    assert points[borders, 2].max() == pytest.approx(0.0, abs=1e-6)  # the lower rim alone


def test_undressed_panels_of_a_model_lie_flat_outside_of_it():
    garment = made("cloth_from_model", modelled_tube(), edge_length=0.05)
    assert bpy.ops.weft.undress() == {"FINISHED"}
    assert stretches(garment) == pytest.approx(1.0, abs=1e-4)
    assert len(seams.of(garment).pairs)
    cap = min((p["name"] for p in pattern(garment).panels), key=lambda n: reach(garment, n))
    assert world(garment)[mesh_arrays.grouped_vertices(garment, cap), 2].min() > 0.61


def reach(garment, name):
    return np.ptp(world(garment)[mesh_arrays.grouped_vertices(garment, name)], axis=0).max()


def test_a_dart_and_a_mirrored_island_are_sewn_to_themselves():
    """A cone of one island, whose legs meet at its tip; mirrored, its right side stays outside."""
    shape = bmesh.new()
    uv = shape.loops.layers.uv.new("Mine")
    count, radius, side = 24, 0.3, 0.5
    tip = shape.verts.new((0.0, 0.0, math.sqrt(side**2 - radius**2)))
    rim = [
        shape.verts.new((radius * math.cos(a), radius * math.sin(a), 0.0)) for a in angles(count)
    ]
    turn = 2.0 * math.asin(radius / side * math.sin(math.pi / count))
    for k in range(count):
        face = shape.faces.new((rim[k], rim[(k + 1) % count], tip))
        places = [(side * math.cos(t * turn), side * math.sin(t * turn)) for t in (k, k + 1)]
        for loop, (x, y) in zip(face.loops, [*places, (0.0, 0.0)], strict=True):
            loop[uv].uv = (-x, y)
    garment = made("cloth_from_model", small_scenes.add_shape("Hat", shape), edge_length=0.05)
    found = pattern(garment)
    assert (len(found.panels), len(found.stitches)) == (1, 1)
    assert np.percentile(np.abs(stretches(garment) - 1.0), 95.0) < 0.03  # its tip is coarse
    assert min(face.normal.z for face in garment.data.polygons) > 0.0
    borders = mesh_arrays.edges(garment.data)[mesh_arrays.edge_uses(garment.data) == 1]
    assert world(garment)[borders, 2].max() == pytest.approx(0.0, abs=1e-6)


def test_two_discs_sewn_all_round_become_a_cushion():
    shape = bmesh.new()
    uv = shape.loops.layers.uv.new("Mine")
    rim = [shape.verts.new((0.3 * math.cos(a), 0.3 * math.sin(a), 0.0)) for a in angles(16)]
    middles = [shape.verts.new((0.0, 0.0, z)) for z in (-0.1, 0.1)]
    for side, middle in enumerate(middles):
        for k in range(16):
            ends = (rim[k], rim[(k + 1) % 16], middle)
            face = shape.faces.new(ends if side else ends[::-1])
            for loop in face.loops:
                loop[uv].uv = (loop.vert.co.x + side, loop.vert.co.y * (1 if side else -1))
    garment = made("cloth_from_model", small_scenes.add_shape("Cushion", shape), edge_length=0.05)
    assert (len(pattern(garment).panels), len(pattern(garment).stitches)) == (2, 1)
    assert (mesh_arrays.edge_uses(garment.data) == 2).all()


def test_models_that_no_pattern_is_of_are_refused():
    refused("cloth_from_model", small_scenes.add_cloth(), "no UV map")
    bpy.ops.mesh.primitive_uv_sphere_add()
    ball = bpy.context.object
    layer = ball.data.uv_layers.active
    corner = mesh_arrays.corner_vertices(ball.data)
    points = mesh_arrays.coordinates(ball.data)[corner]
    layer.uv.foreach_set("vector", np.ascontiguousarray(points[:, :2]).ravel())
    refused("cloth_from_model", ball, "no area|no border")
    layer.uv.foreach_set("vector", np.zeros(2 * len(points), np.float32))
    refused("cloth_from_model", ball, "no area|no border")


def test_each_way_is_undone_in_one_step():
    body = figure.add()
    bpy.ops.ed.undo_push(message="figure")
    garment = made("cloth_around", body, edge_length=0.05).name
    bpy.ops.ed.undo_push(message="garment")
    made("cloth_revolution", edge_length=0.06)
    bpy.ops.ed.undo_push(message="revolution")
    assert len(bpy.data.objects) == 3
    bpy.ops.ed.undo()
    assert garment in bpy.data.objects and len(bpy.data.objects) == 2
    bpy.ops.ed.undo()
    assert list(bpy.data.objects.keys()) == ["Figure"]
