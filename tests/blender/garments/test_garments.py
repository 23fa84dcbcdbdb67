# SPDX-License-Identifier: MIT OR Apache-2.0
"""From the file of a pattern to a garment that is worn and baked."""

import bag_pattern
import bpy
import numpy as np
import pytest
import small_scenes

from addon.blender import mesh_arrays
from addon.checks.intersection import Surface, intersections, self_intersections
from addon.fabrics import presets
from addon.garment import dressing, open_seams, seams
from addon.garment.dressed import shape_key, welding
from addon.simulation import bridge


def crossings(garment, box, points):
    """Triangles that cross others of the garment, whose seams are one, and those of the box."""
    triangles = mesh_arrays.triangles(garment.data)
    matrix = np.array(box.matrix_world)
    solid = mesh_arrays.transformed(mesh_arrays.coordinates(box.data), matrix)
    own = Surface(points.astype(float), triangles)
    other = Surface(solid, mesh_arrays.triangles(box.data))
    return len(self_intersections(own)), len(intersections(own, other)[0])


def is_welded(garment):
    """Whether the mesh has the UVs of its panels, cut at marked seams, and no sewing edges."""
    mesh, panels = garment.data, garment.weft.garment.panels_mesh
    uv, corners = mesh_arrays.active_uv(mesh), mesh_arrays.corner_vertices(mesh)
    assert np.array_equal(uv, mesh_arrays.active_uv(panels))
    first = np.zeros((len(mesh.vertices), 2), np.float32)
    first[corners] = uv
    cut = {int(vertex) for vertex in corners[(first[corners] != uv).any(axis=1)]}
    marked = {vertex for edge in mesh.edges if edge.use_seam for vertex in edge.vertices}
    return bool(cut) and cut == marked and not len(mesh_arrays.loose_edges(mesh))


def gaps(garment, points):
    ends = points[mesh_arrays.loose_edges(garment.data)]
    return np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)


# --- import -----------------------------------------------------------------------------------


def test_a_pattern_becomes_a_cloth_in_metres_where_its_file_places_it(tmp_path):
    garment = bag_pattern.imported(tmp_path)
    assert garment.name == "bag" and garment == bpy.context.object
    points = mesh_arrays.coordinates(garment.data)
    assert np.ptp(points, axis=0) == pytest.approx([0.4, 0.4, 0.5], abs=1e-6)
    assert {len(face.vertices) for face in garment.data.polygons} >= {4}
    settings = garment.weft
    assert (settings.role, settings.rest_shape, settings.use_sewing) == ("CLOTH", "PATTERN", True)
    front = mesh_arrays.grouped_vertices(garment, "front")
    assert points[front, 1] == pytest.approx(-0.2)  # Blender's front is -y
    panels = np.empty(len(garment.data.polygons), np.int32)
    garment.data.attributes["panel"].data.foreach_get("value", panels)
    assert [panel.name for panel in settings.garment.panels] == ["front", "back"]
    assert set(panels) == {0, 1}
    found = seams.of(garment)
    assert set(found.numbers) == {1, 2, 3}
    assert found.names[1] == "seam 1 ('front' to 'back')"
    assert gaps(garment, points) == pytest.approx(0.4, abs=1e-6)


def test_a_pattern_of_many_thousand_edges_is_imported(tmp_path):
    """Blender 5.2 crashes where `mesh.edges.add` adds to as many."""
    garment = bag_pattern.imported(tmp_path, edge_length=0.005)
    assert len(garment.data.edges) > 30_000
    found = seams.of(garment)
    points = mesh_arrays.coordinates(garment.data)
    assert set(found.numbers) == {1, 2, 3} and len(found.pairs) > 250
    assert np.diff(found.numbers).min() == 0  # seam after seam, and along each of them
    sides = [points[found.pairs[found.numbers == number, 0]] for number in (1, 2, 3)]
    assert max(np.linalg.norm(np.diff(side, axis=0), axis=1).max() for side in sides) < 0.006


def test_the_uv_map_is_the_pattern_in_metres_with_panels_side_by_side(tmp_path):
    garment = bag_pattern.imported(tmp_path)
    mesh = garment.data
    uv, corners = mesh_arrays.active_uv(mesh), mesh_arrays.corner_vertices(mesh)
    flat = np.zeros((len(mesh.vertices), 2))
    flat[corners] = uv
    points = mesh_arrays.coordinates(mesh)
    edges = np.delete(mesh_arrays.edges(mesh), mesh_arrays.loose_edge_indices(mesh), axis=0)
    lengths = [np.linalg.norm(p[edges[:, 0]] - p[edges[:, 1]], axis=1) for p in (points, flat)]
    assert lengths[0] == pytest.approx(lengths[1], abs=1e-6)
    boxes = []
    for name in ("front", "back"):
        own = flat[mesh_arrays.grouped_vertices(garment, name)]
        boxes.append((own.min(axis=0), own.max(axis=0)))
        assert np.sort(np.ptp(own, axis=0)) == pytest.approx([0.4, 0.5], abs=1e-6)
    (low, high), (other_low, other_high) = boxes
    assert (high < other_low).any() or (other_high < low).any()


def test_a_scene_in_centimetres_gets_the_same_garment(tmp_path):
    bpy.context.scene.unit_settings.scale_length = 0.01
    garment = bag_pattern.imported(tmp_path)
    assert np.ptp(mesh_arrays.coordinates(garment.data), axis=0)[2] == pytest.approx(50.0)
    assert np.ptp(mesh_arrays.active_uv(garment.data), axis=0).max() < 1.0


def test_what_is_wrong_with_a_pattern_is_told_and_nothing_is_added(tmp_path):
    content = bag_pattern.pattern()
    content["pattern"]["stitches"].append(content["pattern"]["stitches"][0])
    path = bag_pattern.write(tmp_path, content)
    with pytest.raises(RuntimeError, match="in stitch 0, too"):
        bpy.ops.weft.pattern_import(filepath=path)
    with pytest.raises(RuntimeError, match="the file of the pattern cannot be used"):
        bpy.ops.weft.pattern_import(filepath=str(tmp_path / "none.json"))
    assert not bpy.data.objects and not bpy.data.meshes


def test_panels_far_from_the_colliders_are_told(tmp_path, capfd):
    box = bag_pattern.box(0.1, 0.1, 0.4)
    box.location.x = 30.0
    bag_pattern.imported(tmp_path)
    assert 'panel "front"' in capfd.readouterr().out


@pytest.mark.parametrize("name", ["drawn.svg", "drawn.dxf"])
def test_drawings_without_seams_are_imported_as_they_lie(tmp_path, name):
    if name.endswith("svg"):
        text = (
            '<svg xmlns="http://www.w3.org/2000/svg" width="400mm" height="300mm" '
            'viewBox="0 0 400 300"><path id="piece" d="M0 0H400V300H0Z"/></svg>'
        )
    else:
        corners = ((0, 0), (400, 0), (400, 300), (0, 300))
        points = "".join(f"0\nVERTEX\n8\n1\n10\n{x}\n20\n{y}\n" for x, y in corners)
        text = (
            "0\nSECTION\n2\nBLOCKS\n0\nBLOCK\n8\n1\n2\npiece\n0\nTEXT\n8\n1\n1\nUnits: METRIC\n"
            f"0\nPOLYLINE\n8\n1\n66\n1\n70\n1\n{points}0\nSEQEND\n0\nENDBLK\n0\nENDSEC\n0\nEOF\n"
        )
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert bpy.ops.weft.pattern_import(filepath=str(tmp_path / name)) == {"FINISHED"}
    garment = bpy.context.object
    extent = np.ptp(mesh_arrays.coordinates(garment.data), axis=0)
    assert extent == pytest.approx([0.4, 0.0, 0.3], abs=1e-6)
    assert len(mesh_arrays.loose_edges(garment.data)) == 0
    with pytest.raises(RuntimeError, match="has no sewing edges"):
        bpy.ops.weft.dress()


def test_panels_get_their_fabrics(tmp_path, capfd):
    garment = bag_pattern.imported(tmp_path, front="denim", back="silk")
    settings = garment.weft
    front, back = (mesh_arrays.grouped_vertices(garment, name) for name in ("front", "back"))
    fabric = settings.material
    weights = mesh_arrays.group_weights(garment, settings.density_group)
    densities = fabric.density + weights * (settings.density_max - fabric.density)
    wanted = {name: presets.find(name).fields["density"] for name in ("denim", "silk")}
    assert densities[front] == pytest.approx(wanted["denim"], rel=1e-5)
    assert densities[back] == pytest.approx(wanted["silk"], rel=1e-5)
    bag_pattern.imported(tmp_path, front="moonlight")
    assert "there is no fabric 'moonlight'" in capfd.readouterr().out


def test_the_pattern_is_exported_as_it_was_imported(tmp_path):
    bag_pattern.imported(tmp_path)
    for name in ("cut.svg", "cut.json"):
        path = tmp_path / name
        assert bpy.ops.weft.pattern_export(filepath=str(path)) == {"FINISHED"}
        again = bridge.library().Pattern.read(str(path))
        assert [panel["area"] for panel in again.panels] == pytest.approx([0.2, 0.2])
        assert len(again.stitches) == 3
    small_scenes.add_cloth()
    bpy.context.view_layer.objects.active = bpy.data.objects["Sheet"]
    with pytest.raises(RuntimeError, match="was not imported from a sewing pattern"):
        bpy.ops.weft.pattern_export(filepath=str(tmp_path / "no.svg"))


# --- dressing ---------------------------------------------------------------------------------


def test_a_garment_is_dressed_and_baked_from_there(tmp_path):
    box = bag_pattern.box(0.1, 0.06, 0.4)
    garment = bag_pattern.imported(tmp_path)
    flat, panels = small_scenes.evaluated(garment), garment.data
    bpy.context.scene.frame_set(7)
    assert bpy.ops.weft.dress() == {"FINISHED"}
    assert not garment.weft.garment.has_failed
    assert garment.weft.garment.report.startswith("Dressed in")
    assert bpy.context.scene.frame_current == 1 and garment.display_type == "TEXTURED"
    worn = small_scenes.evaluated(garment)
    assert 0.4 < worn[:, 2].max() < 0.47 and np.abs(worn[:, :2]).max() < 0.25
    assert is_welded(garment) and garment.data.shape_keys is None
    assert crossings(garment, box, worn) == (0, 0)
    small_scenes.set_frames(1, 12)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    frames = small_scenes.cached_frames(garment)
    assert frames[0] == pytest.approx(worn, abs=1e-6)
    for frame in frames:
        assert crossings(garment, box, frame) == (0, 0)
    assert np.abs(frames[-1] - worn).max() < 0.03
    assert not bpy.ops.weft.dress.poll()  # a result is shown
    assert bpy.ops.weft.free() == {"FINISHED"}
    assert small_scenes.evaluated(garment) == pytest.approx(worn, abs=1e-6)
    assert bpy.ops.weft.undress() == {"FINISHED"}
    assert np.array_equal(small_scenes.evaluated(garment), flat)
    assert garment.data == panels and len(bpy.data.meshes) == 2  # the box has one
    assert garment.data.shape_keys is None and not bpy.ops.weft.undress.poll()


def test_a_seam_that_stays_open_is_told_with_its_reason(tmp_path):
    bag_pattern.box(0.3, 0.15, 1.2)  # 1.8 m around, the bag 0.8 m
    garment = bag_pattern.imported(tmp_path, 0.08)
    assert bpy.ops.weft.dress() == {"FINISHED"}
    assert garment.weft.garment.has_failed
    lines = garment.weft.garment.report.splitlines()
    told = "\n".join(lines)
    assert "Seam 1 ('front' to 'back') stays open by" in told
    assert "'Box' is between its sides" in told or "stretched by" in told
    assert shape_key.find(garment) is not None  # its state is kept
    assert bpy.ops.weft.seam_select() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    selected = [edge.index for edge in garment.data.edges if edge.select]
    assert selected
    assert set(selected) <= set(mesh_arrays.loose_edge_indices(garment.data).tolist())


def test_dressing_keeps_other_shape_keys_and_goes_on_from_where_it_is(tmp_path, monkeypatch):
    bag_pattern.box(0.1, 0.06, 0.4)
    garment = bag_pattern.imported(tmp_path, 0.08)
    garment.shape_key_add(name="Basis")
    garment.shape_key_add(name="Higher").value = 1.0
    for point in garment.data.shape_keys.key_blocks["Higher"].points:
        point.co.z += 0.05
    monkeypatch.setattr(dressing.Dressing, "wait", lambda self, _seconds: self.stop())
    assert bpy.ops.weft.dress() == {"FINISHED"}
    assert garment.weft.garment.has_failed and shape_key.find(garment) is not None
    early = small_scenes.evaluated(garment)
    assert early[:, 2].max() == pytest.approx(0.55, abs=0.02)
    monkeypatch.undo()
    assert bpy.ops.weft.dress() == {"FINISHED"}
    assert not garment.weft.garment.has_failed
    worn = small_scenes.evaluated(garment)
    assert 0.4 < worn[:, 2].max() < 0.48
    assert is_welded(garment)
    names = [key.name for key in garment.data.shape_keys.key_blocks]
    assert names == ["Basis", "Higher"]
    garment.data.shape_keys.key_blocks["Higher"].value = 0.0
    assert small_scenes.evaluated(garment) == pytest.approx(worn - (0.0, 0.0, 0.05), abs=1e-6)


def test_a_welded_garment_is_dressed_again_and_keeps_what_it_was_given(tmp_path):
    bag_pattern.box(0.1, 0.06, 0.4)
    garment = bag_pattern.imported(tmp_path, 0.08)
    flat = small_scenes.evaluated(garment)
    assert bpy.ops.weft.dress() == {"FINISHED"}
    worn = small_scenes.evaluated(garment)
    garment.vertex_groups.new(name="hem").add(np.flatnonzero(worn[:, 2] < 0.1).tolist(), 0.5, "ADD")
    garment.data.materials.append(bpy.data.materials.new("dyed"))
    garment.shape_key_add(name="Basis")
    garment.shape_key_add(name="Wider").value = 0.5
    for point in garment.data.shape_keys.key_blocks["Wider"].points:
        point.co.x *= 1.02
    garment.data.shape_keys.key_blocks["Wider"].value = 0.0
    assert bpy.ops.weft.dress() == {"FINISHED"}
    assert is_welded(garment) and not garment.weft.garment.has_failed
    again = small_scenes.evaluated(garment)
    assert again == pytest.approx(worn, abs=0.02)
    low = mesh_arrays.grouped_vertices(garment, "hem")
    assert set(low) == set(np.flatnonzero(worn[:, 2] < 0.1))
    assert [key.name for key in garment.data.shape_keys.key_blocks] == ["Basis", "Wider"]
    assert bpy.ops.weft.undress() == {"FINISHED"}
    assert small_scenes.evaluated(garment) == pytest.approx(flat, abs=1e-6)
    assert len(mesh_arrays.grouped_vertices(garment, "hem")) > len(low)  # both sides of its seams
    assert [one.name for one in garment.data.materials] == ["dyed"]
    assert len(seams.of(garment).pairs)


def test_pairs_that_cannot_be_welded_stay_sewn(tmp_path):
    bag_pattern.imported(tmp_path, 0.08)
    garment = bpy.context.object
    pairs = seams.of(garment).pairs
    face = garment.data.polygons[0].vertices
    spoilt = np.array([[face[0], face[2]]])
    shape_key.write(garment, mesh_arrays.coordinates(garment.data))
    welding.weld(garment, welding.weldable(garment.data, np.concatenate([pairs, spoilt])))
    assert len(garment.data.vertices) == len(garment.weft.garment.panels_mesh.vertices) - len(pairs)


def test_undo_takes_each_step_back(tmp_path):
    bag_pattern.box(0.1, 0.06, 0.4)
    bpy.ops.ed.undo_push(message="empty")
    bag_pattern.imported(tmp_path, 0.08)
    bpy.ops.ed.undo_push(message="imported")
    flat = small_scenes.evaluated(bpy.data.objects["bag"])
    bpy.ops.weft.dress()
    bpy.ops.ed.undo_push(message="dressed")
    worn = small_scenes.evaluated(bpy.data.objects["bag"])
    bpy.ops.ed.undo()
    garment = bpy.data.objects["bag"]
    assert np.array_equal(small_scenes.evaluated(garment), flat)
    assert not garment.weft.garment.report and not welding.is_dressed(garment)
    bpy.ops.ed.undo()
    assert "bag" not in bpy.data.objects
    bpy.ops.ed.redo()
    bpy.ops.ed.redo()
    assert np.array_equal(small_scenes.evaluated(bpy.data.objects["bag"]), worn)


def test_a_dressed_garment_is_an_obstacle_to_the_next(tmp_path):
    bag_pattern.box(0.1, 0.06, 0.4)
    inner = bag_pattern.imported(tmp_path, 0.08)
    assert bpy.ops.weft.dress() == {"FINISHED"}
    outer = bag_pattern.imported(tmp_path, 0.08)
    outer.location.z = 0.05
    assert bpy.ops.weft.dress() == {"FINISHED"}
    assert not outer.weft.garment.has_failed
    depsgraph = bpy.context.evaluated_depsgraph_get()
    points = small_scenes.evaluated_world(outer)
    assert crossings(outer, inner.evaluated_get(depsgraph), points)[1] == 0
    top = small_scenes.evaluated_world(inner)[:, 2].max()
    assert points[:, 2].max() > top


def test_a_garment_that_closes_on_its_own_cloth_is_sewn_again(monkeypatch):
    """Two panels over a floor, with a flap that hangs between the sides of their seam."""
    (panel, quads), (flap, flaps) = small_scenes.grid(9, 0.16), small_scenes.grid(4, 0.06)
    count, flap = len(panel), flap[:, [2, 1, 0]] + [0.12, 0.0, -0.005]
    points = np.vstack([panel, panel + np.array([0.24, 0.0, 0.0]), flap])
    points[:, 2] += 0.15
    faces = [*quads, *(quads + count), *(flaps + 2 * count)]
    right, left = (np.flatnonzero(np.isclose(panel[:, 0], x)) for x in (0.08, -0.08))
    mesh = bpy.data.meshes.new("Panels")
    sewing = np.column_stack([right, left + count]).tolist()
    mesh.from_pydata(points.tolist(), sewing, [face.tolist() for face in faces])
    garment = bpy.data.objects.new("Panels", mesh)
    bpy.context.scene.collection.objects.link(garment)
    garment.weft.role, garment.weft.sewing_time = "CLOTH", 0.8
    bpy.ops.mesh.primitive_plane_add(size=2.0)
    bpy.context.object.weft.role = "COLLIDER"
    bpy.context.view_layer.objects.active = garment
    begun, build = [], bridge.dressing_builder

    def noted(*arguments):
        begin = build(*arguments)

        def begin_noted(cloth, guards_seams):
            begun.append(guards_seams)
            return begin(cloth, guards_seams)

        return begin_noted

    monkeypatch.setattr(bridge, "dressing_builder", noted)
    assert bpy.ops.weft.dress() == {"FINISHED"}
    assert not garment.weft.garment.has_failed, garment.weft.garment.report
    assert begun == [False, True, True]  # sewn, sewn again, welded
    worn = small_scenes.evaluated_world(garment)
    triangles = mesh_arrays.triangles(garment.data)
    assert len(self_intersections(Surface(worn.astype(float), triangles))) == 0


def test_cloth_between_the_sides_of_a_seam_is_caught():
    """Two pairs: a triangle through the first, and two that are sewn to the second."""
    first = [(0, 0, 0), (0, 0, 1), (-1, -1, 0.5), (2, -1, 0.5), (-1, 2, 0.5)]
    second = [(9, 0, 0), (9, 0, 1), (8, -1, 0.5), (10, -1, 0.5), (9, 0, 2), (9, 2, 0.5)]
    points = np.array([*first, *second], float)
    pairs, through = np.array([(0, 1), (5, 6), (6, 9)]), (2, 3, 4)
    beside = [(7, 8, 9), (5, 8, 10)]

    def caught(*triangles):
        return open_seams.caught(pairs, np.arange(3), np.array(triangles), points).tolist()

    assert caught(through, *beside) == [True, False, False]
    assert caught(*beside) == [False, False, False]
    assert caught((7, 8, 10)) == [False, True, False]


# --- panels -----------------------------------------------------------------------------------


def choose(garment, *names):
    for panel in garment.weft.garment.panels:
        panel.is_chosen = panel.name in names


def mean_edge_length(garment, panel):
    edges = np.delete(
        mesh_arrays.edges(garment.data), mesh_arrays.loose_edge_indices(garment.data), axis=0
    )
    own = np.isin(edges, mesh_arrays.grouped_vertices(garment, panel)).all(axis=1)
    ends = mesh_arrays.coordinates(garment.data)[edges[own]]
    return np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).mean()


def test_panels_are_meshed_again_with_edge_lengths_of_their_own(tmp_path):
    garment = bag_pattern.imported(tmp_path)
    before = mean_edge_length(garment, "back")
    choose(garment, "front")
    assert bpy.ops.weft.panel_edge_length(edge_length=0.02) == {"FINISHED"}
    assert mean_edge_length(garment, "front") == pytest.approx(0.02, rel=0.3)
    assert mean_edge_length(garment, "back") > 1.3 * mean_edge_length(garment, "front")
    assert set(seams.of(garment).numbers) == {1, 2, 3}
    assert len(bpy.data.meshes) == 1
    path = tmp_path / "again.json"
    assert bpy.ops.weft.pattern_export(filepath=str(path)) == {"FINISHED"}
    panels = bridge.library().Pattern.read(str(path)).panels
    assert [panel["edge_length"] for panel in panels] == [pytest.approx(0.02), None]
    choose(garment, "front")
    assert bpy.ops.weft.panel_edge_length(edge_length=0.0) == {"FINISHED"}
    assert mean_edge_length(garment, "front") == pytest.approx(before, rel=0.05)
    garment.shape_key_add(name="Basis")
    with pytest.raises(RuntimeError, match="no dressed shape"):
        bpy.ops.weft.panel_edge_length(edge_length=0.02)


def test_panels_get_other_fabrics_and_their_old_ones_back(tmp_path):
    garment = bag_pattern.imported(tmp_path)
    settings = garment.weft
    own = settings.material.density
    choose(garment, "back")
    assert bpy.ops.weft.panel_fabric(fabric="denim") == {"FINISHED"}
    front, back = (mesh_arrays.grouped_vertices(garment, name) for name in ("front", "back"))

    def densities(vertices):
        weights = mesh_arrays.group_weights(garment, settings.density_group)[vertices]
        return settings.material.density * (1 - weights) + weights * settings.density_max

    wanted = presets.find("denim").fields["density"]
    assert densities(back) == pytest.approx(wanted, rel=1e-5)
    assert densities(front).max() < 0.9 * wanted
    assert settings.material.density <= own
    assert bpy.ops.weft.panel_fabric(fabric="NONE") == {"FINISHED"}
    assert not settings.density_group
    assert [group.name for group in garment.vertex_groups] == ["front", "back"]


def test_fabrics_of_panels_come_back_with_a_take(tmp_path):
    garment = bag_pattern.imported(tmp_path, front="denim", back="silk")
    settings = garment.weft

    def weights():
        return mesh_arrays.group_weights(garment, settings.density_group)

    settings.use_sewing = False
    small_scenes.set_frames(1, 2)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    assert bpy.ops.weft.take_keep(name="Lined") == {"FINISHED"}
    assert small_scenes.state(garment).outdated == ""
    kept = weights()
    assert bpy.ops.weft.free() == {"FINISHED"}
    choose(garment, "back")
    assert bpy.ops.weft.panel_fabric(fabric="denim") == {"FINISHED"}
    assert not settings.density_group
    assert bpy.ops.weft.take_choose() == {"FINISHED"}
    assert [panel.fabric for panel in settings.garment.panels] == ["denim", "silk"]
    assert np.array_equal(weights(), kept) and kept.any()
    assert small_scenes.state(garment).outdated == ""


def test_panels_are_wrapped_around_the_limb_beside_them(tmp_path):
    points, faces = tube(0.06, 0.0, 0.6)
    body = small_scenes.add_mesh("Limb", np.add(points, (0.1, 0.02, 0.0)), faces)
    body.weft.role = "COLLIDER"
    garment = bag_pattern.imported(tmp_path)
    flat = mesh_arrays.coordinates(garment.data).astype(float)
    choose(garment, "front", "back")
    assert bpy.ops.weft.panel_wrap(clearance=0.01) == {"FINISHED"}
    bent = mesh_arrays.coordinates(garment.data).astype(float)
    radii = np.linalg.norm(bent[:, :2] - (0.1, 0.02), axis=1)
    assert radii == pytest.approx(radii[0], abs=1e-3)
    assert 0.8 / (2 * np.pi) < radii[0] < 0.14  # both panels fit around it, 0.4 m each
    edges = np.delete(
        mesh_arrays.edges(garment.data), mesh_arrays.loose_edge_indices(garment.data), axis=0
    )
    lengths = [np.linalg.norm(p[edges[:, 0]] - p[edges[:, 1]], axis=1) for p in (flat, bent)]
    assert lengths[1] == pytest.approx(lengths[0], rel=0.02)
    assert bent[:, 2] == pytest.approx(flat[:, 2], abs=1e-3)
    front = mesh_arrays.grouped_vertices(garment, "front")
    assert bent[front, 1].mean() < 0.0  # on its side
    assert gaps(garment, bent).max() < 0.42 and np.median(gaps(garment, bent)) < 0.1
    own = Surface(bent, mesh_arrays.triangles(garment.data))
    assert len(self_intersections(own)) == 0
    body.location.z = 3.0
    with pytest.raises(RuntimeError, match="no collider is beside"):
        bpy.ops.weft.panel_wrap()


def tube(radius, low, high, count=24):
    """A closed cylinder about z."""
    angles = 2 * np.pi * np.arange(count) / count
    ring = radius * np.column_stack([np.cos(angles), np.sin(angles)])
    points = np.concatenate([np.column_stack([ring, np.full(count, z)]) for z in (low, high)])
    sides = [(k, (k + 1) % count, count + (k + 1) % count, count + k) for k in range(count)]
    caps = [tuple(range(count))[::-1], tuple(range(count, 2 * count))]
    return points, [*sides, *caps]
