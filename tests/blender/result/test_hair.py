# SPDX-License-Identifier: MIT OR Apache-2.0
"""Hair on cloth follows a bake: curves and particles (Cords 2004, sections 4.4.3 and 5.6)."""

import bpy
import numpy as np
import pytest
import small_scenes
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from addon.checks import run

COUNT = 8
LENGTH = 0.05
LAST = 12


def cloth_with_uv():
    cloth = small_scenes.add_cloth(count=COUNT)
    points = np.array([tuple(vertex.co) for vertex in cloth.data.vertices])
    layer = cloth.data.uv_layers.new(name="UVMap")
    for corner in cloth.data.loops:
        layer.uv[corner.index].vector = points[corner.vertex_index, :2] + 0.5
    cloth.add_rest_position_attribute = True
    return cloth


def deforming_nodes():
    group, source, target = small_scenes.node_group("Deform")
    node = group.nodes.new("GeometryNodeDeformCurvesOnSurface")
    group.links.new(source, node.inputs[0])
    group.links.new(node.outputs[0], target)
    return group


def hair_curves(cloth):
    """A hair in the middle of every second face."""
    roots = [tuple(face.center) for face in cloth.data.polygons][::2]
    data = bpy.data.hair_curves.new("Hair")
    data.add_curves([2] * len(roots))
    points = np.repeat(np.array(roots), 2, axis=0)
    points[1::2, 2] += LENGTH
    data.attributes["position"].data.foreach_set("vector", points.astype(np.float32).ravel())
    places = data.attributes.new("surface_uv_coordinate", "FLOAT2", "CURVE")
    uv = points[::2, :2] + 0.5
    places.data.foreach_set("vector", uv.astype(np.float32).ravel())
    data.surface, data.surface_uv_map = cloth, "UVMap"
    hair = bpy.data.objects.new("Hair", data)
    hair.parent = cloth
    bpy.context.scene.collection.objects.link(hair)
    small_scenes.add_nodes(hair, deforming_nodes())
    return hair


def ends_of_curves(hair):
    """Roots and tips of all hairs in world space, as drawn."""
    bpy.context.view_layer.update()
    evaluated = hair.evaluated_get(bpy.context.evaluated_depsgraph_get())
    points = np.empty(3 * len(evaluated.data.points), np.float32)
    evaluated.data.attributes["position"].data.foreach_get("vector", points)
    matrix = np.array(evaluated.matrix_world)
    points = points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
    return points[::2], points[1::2]


def distances(cloth, points):
    depsgraph = bpy.context.evaluated_depsgraph_get()
    tree = BVHTree.FromObject(cloth, depsgraph)
    inverse = cloth.matrix_world.inverted()
    return np.array([tree.find_nearest(inverse @ Vector(map(float, p)))[3] for p in points])


@pytest.mark.parametrize("kind", ["MODIFIER", "KEYS"])
def test_curves_follow_a_bake(kind):
    bpy.context.scene.weft.result_kind = kind
    cloth = cloth_with_uv()
    hair = hair_curves(cloth)
    small_scenes.set_frames(1, LAST)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    bpy.context.scene.frame_set(1)
    first, _ = ends_of_curves(hair)
    bpy.context.scene.frame_set(LAST)
    roots, tips = ends_of_curves(hair)
    assert np.linalg.norm(roots - first, axis=1).max() > 0.1
    assert distances(cloth, roots).max() < 1e-3
    lengths = np.linalg.norm(tips - roots, axis=1)
    np.testing.assert_allclose(lengths, LENGTH, rtol=0.02)


def test_particle_hair_follows_a_bake():
    cloth = cloth_with_uv()
    system = cloth.modifiers.new("Fur", "PARTICLE_SYSTEM").particle_system
    system.settings.type, system.settings.count = "HAIR", 60
    system.settings.hair_length = LENGTH
    small_scenes.set_frames(1, LAST)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    places = {}
    for frame in (1, LAST):
        bpy.context.scene.frame_set(frame)
        evaluated = cloth.evaluated_get(bpy.context.evaluated_depsgraph_get())
        hairs = evaluated.particle_systems[0]
        places[frame] = np.array(
            [tuple(hairs.co_hair(evaluated, particle_no=k, step=0)) for k in range(60)]
        )
    assert np.linalg.norm(places[LAST] - places[1], axis=1).max() > 0.1
    # Blender has them on a bilinear patch of each quad, not on its triangles.
    assert distances(cloth, places[LAST]).max() < 5e-3


def findings():
    return [found.title for found in run.check_scene(bpy.context) if "follow" in found.title]


def test_a_check_names_what_keeps_curves_from_following():
    cloth = cloth_with_uv()
    hair = hair_curves(cloth)
    assert findings() == []
    cloth.add_rest_position_attribute = False
    (title,) = findings()
    assert title.startswith("Sheet") and "Add Rest Position" in title
    cloth.add_rest_position_attribute = True
    hair.data.surface_uv_map = "Gone"
    (title,) = findings()
    assert title.startswith("Hair") and "'Gone'" in title
    hair.data.surface_uv_map = ""
    (title,) = findings()
    assert "without a UV map" in title
    hair.data.surface_uv_map = "UVMap"
    hair.modifiers.clear()
    (title,) = findings()
    assert "no modifier" in title
