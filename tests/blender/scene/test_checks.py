# SPDX-License-Identifier: MIT OR Apache-2.0
"""Check Scene: what it finds, what it does not, what Select selects and Fix mends."""

from fractions import Fraction

import bpy
import numpy as np
import pytest
import small_scenes
from small_scenes import push_down, ramped, whiten

from addon.checks import intersection, operators


def check():
    assert bpy.ops.weft.check_scene() == {"FINISHED"}
    return operators._findings


def titles():
    return [finding.title for finding in check()]


def found(part):
    """The one finding whose title has these words."""
    matching = [finding for finding in check() if part in finding.title]
    assert len(matching) == 1, [finding.title for finding in operators._findings]
    return matching[0]


def index_of(finding):
    return operators._findings.index(finding)


def select(finding):
    assert bpy.ops.weft.finding_select(index=index_of(finding)) == {"FINISHED"}


def fix(finding):
    assert bpy.ops.weft.finding_fix(index=index_of(finding)) == {"FINISHED"}


def selected(kind):
    obj = bpy.context.view_layer.objects.active
    assert obj.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    return [element.index for element in getattr(obj.data, kind) if element.select]


def good_cloth(name="Sheet", **options):
    """A cloth that nothing is to be said about."""
    cloth = small_scenes.add_cloth(name, **options)
    cloth.data.uv_layers.new(name="yarns")
    cloth.weft.material.bend_warp_micro = cloth.weft.material.bend_weft_micro = 1e5  # wide folds
    return cloth


# --- nothing ----------------------------------------------------------------------------------


def test_a_good_scene_has_no_findings():
    cloth, floor = good_cloth(), small_scenes.add_floor()
    small_scenes.set_frames(1, 5)
    assert titles() == []
    bpy.ops.weft.bake()
    assert titles() == []
    assert cloth.weft.result.shown and floor.mode == "OBJECT"
    window = bpy.context.window_manager.weft
    assert len(window.findings) == 0 and window.checked == "Scene"


def test_checking_changes_nothing():
    cloth = good_cloth()
    cloth.modifiers.new("Subdivision", "SUBSURF")
    small_scenes.add_floor().hide_viewport = True
    bpy.context.scene.frame_set(7)
    check()
    assert bpy.context.scene.frame_current == 7
    assert cloth.modifiers["Subdivision"].show_viewport and bpy.data.objects["Floor"].hide_viewport


def key(owner, path, value):
    """Keys the value that is there at frame 1, and then sets another without a key."""
    owner.keyframe_insert(path, frame=1)
    holder, _dot, name = path.rpartition(".")
    setattr(owner.path_resolve(holder) if holder else owner, name, value)


def test_checking_keeps_poses_that_are_not_keyed():
    cloth, floor = good_cloth(), small_scenes.add_floor()
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.new("a.b").tail.z = 1.0
    bpy.ops.object.mode_set(mode="OBJECT")
    cloth["slack"], rig.pose.bones["a.b"]["bend"] = 0.0, (0.0, 1.0)
    material = bpy.data.materials.new("Cloth")
    if material.node_tree is None:
        material.use_nodes = True
    wave = cloth.modifiers.new("Wave", "WAVE")
    key(cloth, "location", (0.0, 0.5, 1.0))
    key(cloth, 'modifiers["Wave"].height', 0.25)
    key(rig, 'pose.bones["a.b"].rotation_quaternion', (0.0, 1.0, 0.0, 0.0))
    key(rig, 'pose.bones["a.b"].rotation_mode', "XYZ")
    key(material.node_tree, 'nodes["Principled BSDF"].inputs[0].default_value', (0, 0, 1, 1))
    cloth.keyframe_insert('["slack"]', frame=1)
    rig.keyframe_insert('pose.bones["a.b"]["bend"]', frame=1)
    cloth["slack"], rig.pose.bones["a.b"]["bend"] = 2.0, (3.0, 4.0)
    floor.keyframe_insert("location", frame=1)
    push_down(floor)
    bpy.context.view_layer.update()
    floor.location.z = -2.0
    small_scenes.set_frames(1, 5)
    check()
    assert cloth.evaluated_get(bpy.context.evaluated_depsgraph_get()).location.y == 0.5
    bone = rig.pose.bones["a.b"]
    assert cloth.location.y == 0.5 and cloth["slack"] == 2.0 and wave.height == 0.25
    assert tuple(bone.rotation_quaternion) == (0.0, 1.0, 0.0, 0.0) and bone.rotation_mode == "XYZ"
    assert tuple(bone["bend"]) == (3.0, 4.0) and floor.location.z == -2.0
    shader = material.node_tree.nodes["Principled BSDF"]
    assert tuple(shader.inputs[0].default_value) == (0.0, 0.0, 1.0, 1.0)


# --- meshes -----------------------------------------------------------------------------------


def test_unapplied_scale_is_found_and_applied():
    cloth = good_cloth()
    cloth.scale = (2.0, 1.0, 0.5)
    before = small_scenes.evaluated_world(cloth)
    finding = found("scale 2, 1, 0.5 is not applied")
    assert finding.severity == "WARNING"
    fix(finding)
    assert tuple(cloth.scale) == (1.0, 1.0, 1.0)
    assert small_scenes.evaluated_world(cloth) == pytest.approx(before, abs=1e-6)
    assert titles() == []


def test_a_shared_mesh_is_found_and_made_single():
    cloth = good_cloth()
    twin = bpy.data.objects.new("Twin", cloth.data)
    bpy.context.scene.collection.objects.link(twin)
    fix(found("it cannot be baked"))
    assert cloth.data != twin.data
    assert titles() == []


def test_an_even_scale_is_only_a_note_and_an_animated_one_is_not_mended():
    cloth = good_cloth()
    cloth.scale = (2.0, 2.0, 2.0)
    assert found("is not applied").severity == "INFO"
    cloth.keyframe_insert("scale", frame=1)
    assert found("is not applied").fix == ""


def test_an_edge_with_three_faces_is_found_and_selected():
    points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1)]
    book = small_scenes.add_mesh("Book", points, [(0, 1, 2), (1, 0, 3), (0, 1, 4)])
    book.weft.role = "CLOTH"
    finding = found("edges with three or more faces")
    assert finding.severity == "ERROR" and finding.title == (
        "Book: 1 edges with three or more faces"
    )
    select(finding)
    (edge,) = selected("edges")
    assert set(book.data.edges[edge].vertices) == {0, 1}


def test_tiny_and_flat_faces_are_found():
    cloth = good_cloth(count=6)
    points = [vertex.co.copy() for vertex in cloth.data.vertices]
    mesh = cloth.data
    mesh.vertices[7].co = points[0] + (points[7] - points[0]) * 1e-3
    mesh.vertices[1].co = points[0] + (points[1] - points[0]) * 1e-3
    mesh.vertices[6].co = points[0] + (points[6] - points[0]) * 1e-3
    mesh.update()
    select(found("1 tiny faces"))
    assert selected("polygons") == [0]
    mesh.vertices[7].co = mesh.vertices[1].co = points[0]
    mesh.update()
    assert found("faces without area").severity == "ERROR"


def test_loose_vertices_are_found_and_deleted():
    cloth = good_cloth(count=4)
    cloth.data.vertices.add(2)
    finding = found("2 vertices in no face")
    select(finding)
    assert selected("vertices") == [16, 17]
    fix(finding)
    assert len(cloth.data.vertices) == 16 and len(cloth.data.polygons) == 9
    assert titles() == []


def test_a_cloth_thicker_than_its_edges_is_found_and_thinned():
    cloth = good_cloth(count=30)
    cloth.weft.material.thickness = 0.05
    finding = found("edges are shorter than the cloth is thick")
    assert "10 cm" in finding.meaning
    fix(finding)
    assert 0.001 < cloth.weft.material.thickness < 0.02
    assert titles() == []


def test_yarns_without_a_uv_map_are_noted_only_for_fabrics_that_have_yarns():
    fabric = small_scenes.add_cloth().weft.material
    assert found("no UV map").severity == "INFO"
    fabric.stretch_weft, fabric.bend_weft = fabric.stretch_warp, fabric.bend_warp
    assert not any("no UV map" in title for title in titles())


@pytest.mark.parametrize(("size", "words"), [(1e-3, "it is 1 mm large"), (500.0, "500 m large")])
def test_an_unlikely_size_is_found(size, words):
    cloth = good_cloth()
    for vertex in cloth.data.vertices:
        vertex.co *= size
    cloth.data.update()
    cloth.weft.material.thickness = 1e-6
    assert words in found("large").title


def test_a_pin_group_that_holds_nothing_is_found():
    cloth = good_cloth()
    cloth.vertex_groups.new(name="empty")
    cloth.weft.pin_group = "empty"
    assert found("holds nothing").severity == "WARNING"
    cloth.weft.pin_group = "gone"
    assert any("no pin group 'gone'" in title for title in titles())


# --- the scene --------------------------------------------------------------------------------


def test_seams_are_noted_where_they_do_nothing_and_missed_where_there_are_none():
    cloth = good_cloth(count=4)
    cloth.weft.use_sewing = True
    assert found("nothing to sew").severity == "WARNING"
    small_scenes.add_edges(cloth.data, (0, 15))
    assert not any("sew" in title for title in titles())
    cloth.weft.use_sewing = False
    seam = found("1 edges in no face")
    assert seam.severity == "INFO"
    select(seam)
    assert selected("edges") == [len(cloth.data.edges) - 1]


def test_a_scene_without_cloth():
    assert found("There is no cloth").severity == "ERROR"


def test_unlikely_settings_are_found():
    good_cloth()
    scene = bpy.context.scene
    scene.gravity.z = -981.0
    scene.render.fps = 6
    scene.weft.use_scene_range, scene.weft.frame_start, scene.weft.frame_end = False, 5, 4
    found("Gravity is 981 m/s²")
    found("Frames are long: 6 a second")
    scene.render.fps, scene.weft.speed = 24, 4.0
    found("Frames are long: 6 a second")
    found("The frame range is empty")
    scene.use_gravity = False
    found("There is no gravity")


def test_force_fields_that_do_not_act_on_cloth_are_noted():
    good_cloth()
    bpy.ops.object.effector_add(type="BOID")
    assert found("force field 'Boid' does not act on cloth").severity == "INFO"
    bpy.context.object.field.type = "FORCE"
    assert titles() == []


def instance_of(name, *objects):
    """An instance of a collection that holds these objects and is nowhere else."""
    collection = bpy.data.collections.new(name)
    for obj in objects:
        collection.objects.link(obj)
        bpy.context.scene.collection.objects.unlink(obj)
    instance = bpy.data.objects.new(name, None)
    instance.instance_type, instance.instance_collection = "COLLECTION", collection
    bpy.context.scene.collection.objects.link(instance)
    return instance


def test_a_collider_within_an_instance_is_missed_until_it_is_made_real(capfd):
    cloth, floor = good_cloth(pinned=False), small_scenes.add_floor()
    floor.location.z = 0.9
    outer = instance_of("Set", instance_of("Inner", floor))
    finding = found("Set: it holds the collider 'Floor', which is not seen")
    assert finding.severity == "WARNING"
    small_scenes.set_frames(1, 8)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    words = "Warning: the instance 'Set' holds the collider 'Floor', which is not seen"
    assert words in capfd.readouterr().out
    for name in ("Set", "Inner"):
        for obj in bpy.context.view_layer.objects:
            obj.select_set(obj.name.startswith(name))
        bpy.ops.object.duplicates_make_real()
    assert outer.instance_type == "NONE"
    assert bpy.ops.weft.bake() == {"FINISHED"}
    assert "which is not seen" not in capfd.readouterr().out
    assert small_scenes.cached_frames(cloth)[-1, :, 2].min() + cloth.location.z > 0.9
    assert titles() == []


def test_a_collider_within_an_instance_that_is_not_in_the_collection_is_not_missed():
    good_cloth()
    instance_of("Set", small_scenes.add_floor())
    bpy.context.scene.weft.collider_collection = bpy.data.collections.new("Colliders")
    assert titles() == []


def test_a_rest_shape_that_is_not_there_is_found():
    cloth = good_cloth()
    cloth.weft.rest_shape, cloth.weft.rest_key = "KEY", "Gone"
    assert found("no shape key 'Gone'").title.startswith("The first frame cannot be read")


def test_a_collider_that_changes_its_topology_is_found():
    good_cloth()
    array = small_scenes.add_floor().modifiers.new("Array", "ARRAY")
    for frame, count in ((1, 1), (6, 2)):
        array.count = count
        array.keyframe_insert("count", frame=frame)
    small_scenes.set_frames(1, 10)
    finding = found("end before frame 4: the mesh of the collider 'Floor' changes its topology")
    assert finding.severity == "ERROR" and "Vertices and faces must stay" in finding.meaning


def test_a_cloth_that_is_scaled_to_nothing_later_is_found():
    cloth = good_cloth()
    for frame, scale in ((1, 1.0), (6, 0.0)):
        cloth.scale = (scale,) * 3
        cloth.keyframe_insert("scale", frame=frame)
    small_scenes.set_frames(1, 6)
    finding = found("end before frame 6: 'Sheet' is scaled to nothing")
    assert finding.severity == "ERROR" and "Vertices and faces" not in finding.meaning


def test_what_the_library_refuses_is_found():
    cloth = good_cloth()
    fabric = cloth.weft.material
    fabric.poisson, fabric.stretch_warp, fabric.stretch_weft = 0.9, 100.0, 1000.0
    assert "poisson" in found("The library refuses: 'Sheet'").title


def test_an_outdated_result_is_found_even_at_frames_that_are_not_shown():
    good_cloth()
    floor = small_scenes.add_floor()
    floor.location.z = -0.5
    texture = ramped(floor)
    small_scenes.set_frames(1, 5)
    bpy.ops.weft.bake()
    bpy.context.scene.frame_set(30)
    assert titles() == []
    whiten(texture)
    assert found("'Floor' at frame").severity == "WARNING"


def test_caches_of_deleted_objects_are_found_and_removed():
    from addon.storage import cache_paths

    small_scenes.set_frames(1, 3)
    good_cloth("Kept")
    deleted = good_cloth("Deleted")
    deleted.location.x = 5.0
    bpy.ops.weft.bake()
    bpy.data.objects.remove(deleted)
    bpy.ops.weft.bake()
    fix(found("caches of deleted objects take"))
    assert cache_paths.orphans(bpy.context.scene) == []


# --- intersections ----------------------------------------------------------------------------


def test_two_crossing_cloths_are_found_and_their_faces_selected():
    flat, upright = good_cloth("Flat", count=7), good_cloth("Upright", count=8)
    upright.rotation_euler.x = np.pi / 2
    finding = found("faces cross 'Upright'")
    select(finding)
    assert bpy.context.view_layer.objects.active == flat
    rows = {index // 6 for index in selected("polygons")}
    assert rows == {2, 3} and len(finding.indices) == 12
    found("Upright: 7 faces cross 'Flat'")


def test_a_cloth_that_crosses_itself_is_found():
    cloth = good_cloth(count=9)
    for vertex in cloth.data.vertices:
        x, y, _z = vertex.co
        if y > 0.2:
            vertex.co = (x, 0.45 - y, 0.1 - 0.3 * y)  # folded over and through
    cloth.data.update()
    assert len(found("faces cross each other").indices) > 0


def test_a_cloth_in_a_collider_is_found_and_one_above_is_not():
    cloth, floor = good_cloth(), small_scenes.add_floor()
    floor.rotation_euler.x, floor.location.z = 0.1, 1.0
    assert found("faces cross the collider 'Floor'").severity == "WARNING"
    floor.location.z = 0.5
    assert titles() == []
    cloth.location.z, floor.rotation_euler.x = 0.5 + 1e-3, 0.0
    assert found("start closer to 'Floor'").domain == "VERT"


def test_a_collider_that_crosses_itself_is_a_note():
    good_cloth()
    bpy.ops.mesh.primitive_cube_add(location=(0, 0, -3))
    first = bpy.context.object
    bpy.ops.mesh.primitive_cube_add(location=(0.7, 0.7, -3.5))
    second = bpy.context.object
    bpy.ops.object.select_all(action="DESELECT")
    first.select_set(True)
    second.select_set(True)
    bpy.ops.object.join()
    bpy.context.object.weft.role = "COLLIDER"
    assert found("triangles cross each other").severity == "INFO"


def exact_volume(a, b, c, d):
    u, v, w = ([Fraction(x) - Fraction(y) for x, y in zip(p, d, strict=True)] for p in (a, b, c))
    return sum(
        u[i] * (v[(i + 1) % 3] * w[(i + 2) % 3] - v[(i + 2) % 3] * w[(i + 1) % 3]) for i in range(3)
    )


def test_sides_are_exact_next_to_the_plane():
    random = np.random.default_rng(3)
    a, b, c = random.normal(size=(3, 400, 3))
    weights = random.dirichlet((1, 1, 1), size=400)
    d = weights[:, :1] * a + weights[:, 1:2] * b + weights[:, 2:] * c
    d[::2] += 1e-17 * random.normal(size=(200, 3))
    signs = intersection.orient3d(a, b, c, d)
    exact = [exact_volume(*(p[i].tolist() for p in (a, b, c, d))) for i in range(400)]
    assert signs.tolist() == [(v > 0) - (v < 0) for v in exact]
    assert 0 < np.count_nonzero(signs) <= 400


def test_crossings_are_those_of_a_brute_force_search():
    random = np.random.default_rng(11)
    points = random.uniform(-1, 1, size=(90, 3))
    triangles = np.arange(90).reshape(-1, 3)
    expected = set()
    for i in range(30):
        for j in range(i + 1, 30):
            if brute_force(points[triangles[i]], points[triangles[j]]):
                expected |= {i, j}
    assert (
        set(intersection.self_intersections(intersection.Surface(points, triangles)).tolist())
        == expected
    )
    half = intersection.Surface(points[:45], triangles[:15])
    other = intersection.Surface(points[45:], triangles[:15])
    first, second = intersection.intersections(half, other)
    pairs = [(i, j) for i in range(15) for j in range(15)]
    hit = [(i, j) for i, j in pairs if brute_force(points[3 * i :][:3], points[45 + 3 * j :][:3])]
    assert first.tolist() == sorted({i for i, _ in hit})
    assert second.tolist() == sorted({j for _, j in hit})


def brute_force(one, other):
    """Whether an edge of one triangle passes through the other, by solving for the point."""
    for first, second in ((one, other), (other, one)):
        for start, end in ((0, 1), (1, 2), (2, 0)):
            matrix = np.stack(
                [first[end] - first[start], second[0] - second[1], second[0] - second[2]], axis=1
            )
            t, u, v = np.linalg.solve(matrix, second[0] - first[start])
            if 0 <= t <= 1 and u >= 0 and v >= 0 and u + v <= 1:
                return True
    return False


def test_faces_with_more_corners_than_are_guarded_are_cut():
    angles = np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)
    outline = np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=1)
    sheet = small_scenes.add_mesh("Disc", outline, [range(12)])
    sheet.weft.role = "CLOTH"
    finding = found("concave or have many corners")
    select(finding)
    assert selected("polygons") == [0]
    fix(found("concave or have many corners"))
    assert len(sheet.data.polygons) == 10
    assert not [title for title in titles() if "many corners" in title]


def test_a_concave_face_is_cut_as_blender_may_draw_it_otherwise():
    dart = [(0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.03, 0.03, 0.0), (0.0, 0.1, 0.0)]
    square = [(0.2, 0.0, 0.0), (0.3, 0.0, 0.0), (0.3, 0.1, 0.0), (0.2, 0.1, 0.0)]
    sheet = small_scenes.add_mesh("Dart", dart + square, [range(4), range(4, 8)])
    sheet.weft.role = "CLOTH"
    fix(found("concave or have many corners"))
    sizes = sorted(len(face.vertices) for face in sheet.data.polygons)
    assert sizes == [3, 3, 4]
    assert not [title for title in titles() if "concave" in title]
