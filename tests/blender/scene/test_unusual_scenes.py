# SPDX-License-Identifier: MIT OR Apache-2.0
"""Modifiers that multiply a cloth, meshes and units that no cloth can have: one sentence each."""

import bmesh
import bpy
import numpy as np
import pytest
import small_scenes
from small_scenes import add_cloth
from test_checks import fix, found, good_cloth, titles


def half(name="Half"):
    """The half of a sheet from x = 0 on, whose modifier makes the other half."""
    points, faces = small_scenes.grid(7)
    cloth = small_scenes.add_mesh(name, np.add(points, (0.5, 0.0, 1.0)), faces)
    cloth.weft.role = "CLOTH"
    return cloth


# --- modifiers --------------------------------------------------------------------------------


def mirror(cloth):
    cloth.modifiers.new("Other half", "MIRROR")


def array(cloth):
    modifier = cloth.modifiers.new("Row", "ARRAY")
    modifier.use_merge_vertices = True


def screw(cloth):
    cloth.modifiers.new("Turned", "SCREW")


def skin(cloth):
    cloth.modifiers.new("Thick", "SKIN")


@pytest.mark.parametrize("add", [mirror, array, screw])
def test_a_modifier_that_continues_the_mesh_is_refused_by_name_and_applied(add):
    cloth = half()
    add(cloth)
    name = cloth.modifiers[0].name
    with pytest.raises(RuntimeError, match=f"modifier '{name}' of 'Half' makes a part"):
        bpy.ops.weft.bake()
    before = len(cloth.data.vertices)
    fix(found("it cannot be baked"))
    assert not cloth.modifiers and len(cloth.data.vertices) > 1.8 * before
    assert not any("cannot be baked" in title for title in titles())


def test_a_mirrored_sheet_falls_as_a_whole_once_it_is_applied():
    cloth = half()
    mirror(cloth)
    fix(found("it cannot be baked"))
    small_scenes.set_frames(1, 4)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    last = small_scenes.cached_frames(cloth)[-1]
    assert len(last) == 49 + 42 and last[:, 0].min() < -0.9


def test_a_skin_is_refused_by_name():
    cloth = half()
    skin(cloth)
    with pytest.raises(RuntimeError, match="the Skin modifier 'Thick' of 'Half'"):
        bpy.ops.weft.bake()


def test_copies_that_do_not_hang_together_are_told_and_baked(capfd):
    cloth = half()
    cloth.location.x = 1.0
    cloth.modifiers.new("Row", "ARRAY")
    assert found("the modifier 'Row' makes is not simulated").severity == "INFO"
    small_scenes.set_frames(1, 3)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    assert "what the modifier 'Row' of 'Half' makes is a copy" in capfd.readouterr().out
    cloth.modifiers["Row"].show_viewport = cloth.modifiers["Row"].show_render = False
    assert not any("'Row'" in title for title in titles())


def test_nodes_that_make_geometry_are_told():
    cloth = good_cloth()
    group, source, target = small_scenes.node_group("More")
    node = group.nodes.new("GeometryNodeSubdivideMesh")
    group.links.new(source, node.inputs[0])
    group.links.new(node.outputs[0], target)
    small_scenes.add_nodes(cloth, group)
    assert found("the nodes 'More' change its mesh").severity == "WARNING"


# --- meshes -----------------------------------------------------------------------------------


def test_a_mesh_of_edges_only_keeps_its_edges():
    net = bpy.data.objects.new("Net", bpy.data.meshes.new("Net"))
    net.data.from_pydata([(k, 0, 0) for k in range(4)], [(0, 1), (1, 2), (2, 3)], [])
    bpy.context.scene.collection.objects.link(net)
    net.weft.role = "CLOTH"
    finding = found("Net: edges only")
    assert finding.severity == "ERROR" and not finding.fix
    assert not any("no face" in title for title in titles()[1:])


def test_sewing_hooks_are_told_and_never_deleted():
    cloth = good_cloth(count=4)
    mesh = cloth.data
    mesh.vertices.add(2)
    small_scenes.add_edges(mesh, (0, 16))
    finding = found("1 vertices at edges without a face")
    assert not finding.fix and finding.indices.tolist() == [16]
    fix(found("1 vertices in no face"))
    assert len(mesh.vertices) == 17 and any(16 in edge.vertices for edge in mesh.edges)


def test_a_mirrored_scale_is_told_as_that():
    good_cloth().scale = (-1.0, 1.0, 1.0)
    assert found("scale -1, 1, 1 is not applied").severity == "WARNING"


def test_a_cloth_wholly_inside_a_closed_body_is_told():
    cloth = add_cloth(count=8, pinned=False)
    shape = bmesh.new()
    bmesh.ops.create_uvsphere(shape, u_segments=16, v_segments=8, radius=2.0)
    body = small_scenes.add_shape("Body", shape)
    body.weft.role, body.location.z = "COLLIDER", 1.0
    words = "it starts wholly inside the collider 'Body'"
    assert found(words).severity == "WARNING"
    cloth.location.x = 3.0
    assert not any(words in title for title in titles())
    cloth.location.x = 0.0
    body.data.polygons.foreach_set("hide", np.zeros(len(body.data.polygons), bool))
    open_body = bmesh.new()
    open_body.from_mesh(body.data)
    open_body.faces.ensure_lookup_table()
    bmesh.ops.delete(open_body, geom=[open_body.faces[0]], context="FACES")
    open_body.to_mesh(body.data)
    open_body.free()
    assert not any(words in title for title in titles())


# --- units ------------------------------------------------------------------------------------


def test_gravity_that_stayed_in_the_unit_of_metres_is_told_and_set():
    good_cloth()
    scene = bpy.context.scene
    scene.unit_settings.scale_length = 0.001
    fix(found("Gravity is 0.00981 m/s²"))
    assert scene.gravity[2] == pytest.approx(-9810.0)
    assert not any("Gravity" in title for title in titles())
    scene.weft.use_scene_gravity = False
    scene.weft.gravity = (0.0, 0.0, -900.0)
    assert found("Gravity is 900 m/s²").fix == ""


def test_a_figure_of_170_metres_and_a_thickness_of_a_metre_are_told():
    cloth = add_cloth(count=8)
    cloth.scale = (170.0, 170.0, 170.0)
    assert "it is 170 m large" in found("it is 170 m large").title
    cloth.scale = (1.0, 1.0, 1.0)
    cloth.weft.material.thickness = 1.0
    fix(found("edges are shorter than the cloth is thick"))
    assert cloth.weft.material.thickness < 0.1
