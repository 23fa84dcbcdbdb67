# SPDX-License-Identifier: MIT OR Apache-2.0
"""Scenes that cannot be baked: each is refused in words that name the object, nothing is lost."""

import bpy
import numpy as np
import pytest
import small_scenes

from addon.bake import job
from addon.checks import operators


def assert_refused(words):
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.weft.bake()
    assert job.running() is None
    assert bpy.context.scene.frame_current == 1


def spoil(index, value):
    cloth = small_scenes.add_cloth()
    cloth.data.vertices[index].co.z = value
    return cloth


def test_a_scene_without_cloth():
    small_scenes.add_floor()
    assert_refused("no object of the scene 'Scene' has the role Cloth")


def test_an_empty_frame_range():
    small_scenes.add_cloth()
    scene = bpy.context.scene.weft
    scene.use_scene_range, scene.frame_start, scene.frame_end = False, 10, 9
    assert_refused("the frame range is empty: it ends at 9, before its start 10")


def test_a_cloth_without_vertices():
    small_scenes.add_mesh("Empty", [], []).weft.role = "CLOTH"
    assert_refused("'Empty'")


def test_a_cloth_without_faces():
    small_scenes.add_mesh("Points", [(0, 0, 0), (1, 0, 0)], []).weft.role = "CLOTH"
    assert_refused("'Points'")


def test_a_collider_without_faces_is_no_error():
    small_scenes.add_cloth()
    small_scenes.add_mesh("Points", [(0, 0, 0)], []).weft.role = "COLLIDER"
    small_scenes.set_frames(1, 2)
    assert bpy.ops.weft.bake() == {"FINISHED"}


def test_a_cloth_with_a_coordinate_that_is_no_number():
    spoil(13, float("nan"))
    assert_refused("'Sheet': .*vertex 13")


def test_a_cloth_with_an_endless_coordinate():
    spoil(13, float("inf"))  # Blender makes the largest float32 of it
    assert_refused("'Sheet': .*face 4")


def test_a_collider_with_a_coordinate_that_is_no_number():
    small_scenes.add_cloth()
    small_scenes.add_floor().data.vertices[2].co.x = float("nan")
    assert_refused("'Floor'.*2")


def test_a_cloth_with_a_degenerate_face():
    cloth = small_scenes.add_mesh("Flat", [(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1, 2)])
    cloth.weft.role = "CLOTH"
    assert_refused("'Flat'.*face 0")


def test_a_cloth_with_three_faces_at_an_edge():
    points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1)]
    faces = [(0, 1, 2), (1, 0, 3), (0, 1, 4)]
    small_scenes.add_mesh("Book", points, faces).weft.role = "CLOTH"
    assert_refused("'Book'")


def test_a_missing_pin_group():
    small_scenes.add_cloth().weft.pin_group = "pim"
    assert_refused("'Sheet' has no vertex group 'pim'")


def test_a_mesh_with_two_users():
    cloth = small_scenes.add_cloth()
    twin = bpy.data.objects.new("Twin", cloth.data)
    bpy.context.scene.collection.objects.link(twin)
    assert_refused("the mesh 'Sheet' of 'Sheet' has 2 users")


def test_a_linked_cloth(tmp_path):
    small_scenes.add_cloth()
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (source, target):
        target.objects = list(source.objects)
    bpy.context.scene.collection.objects.link(target.objects[0])
    assert_refused("'Sheet' is linked from another file")


@pytest.mark.parametrize("kind", ["KEYS", "MODIFIER"])
@pytest.mark.parametrize("only_mesh", [False, True])
def test_a_library_override(kind, only_mesh, tmp_path):
    small_scenes.add_cloth()
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.weft.cache_directory = str(tmp_path / "cache")
    bpy.context.scene.weft.result_kind = kind
    with bpy.data.libraries.load(path, link=True) as (source, target):
        target.objects = list(source.objects)
    bpy.context.scene.collection.objects.link(target.objects[0])
    cloth = target.objects[0].override_create(remap_local_usages=True)
    cloth.data.override_create(remap_local_usages=True)
    if only_mesh:
        cloth.make_local()
    words = "the mesh 'Sheet' of 'Sheet' is a library" if only_mesh else "'Sheet' is a library"
    assert_refused(f"{words} override: .* must be local")
    bpy.ops.weft.check_scene()
    (finding,) = [f for f in operators._findings if "it cannot be baked" in f.title]
    assert words in finding.meaning
    cloth.select_set(True)
    bpy.context.view_layer.objects.active = cloth
    assert bpy.ops.object.make_local(type="SELECT_OBDATA") == {"FINISHED"}
    small_scenes.set_frames(1, 3)
    assert bpy.ops.weft.bake() == {"FINISHED"}


def link_floor(tmp_path, **settings):
    """A collider that is linked from another file, where it has these settings."""
    floor = small_scenes.add_floor()
    for name, value in settings.items():
        setattr(floor, name, value)
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.weft.cache_directory = str(tmp_path / "cache")
    with bpy.data.libraries.load(path, link=True) as (source, target):
        target.objects = list(source.objects)
    bpy.context.scene.collection.objects.link(target.objects[0])


def test_a_linked_collider_that_is_disabled(tmp_path):
    link_floor(tmp_path, hide_viewport=True)
    small_scenes.add_cloth()
    assert_refused("'Floor' is not evaluated.* disabled in viewports in 'library.blend', which")


def test_a_linked_collider_is_welcome(tmp_path):
    link_floor(tmp_path)
    small_scenes.add_cloth(pinned=False).location.z = 0.05
    small_scenes.set_frames(1, 8)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    bpy.context.scene.frame_set(8)
    assert small_scenes.evaluated_world(bpy.data.objects["Sheet"])[:, 2].min() > 0.0


def test_a_cloth_deformed_by_its_parent():
    cloth = small_scenes.add_cloth()
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(armature)
    cloth.parent, cloth.parent_type = armature, "ARMATURE"
    assert_refused("'Sheet' is deformed by its parent 'Rig'")


def test_a_cloth_scaled_to_nothing():
    small_scenes.add_cloth().scale.y = 0.0
    assert_refused("'Sheet'")


def test_a_material_that_the_library_refuses():
    settings = small_scenes.add_cloth().weft.material
    settings.poisson, settings.stretch_warp, settings.stretch_weft = 0.9, 100.0, 1000.0
    assert_refused("'Sheet'.*poisson")


def test_a_cloth_in_a_disabled_collection():
    cloth = small_scenes.add_cloth()
    collection = bpy.data.collections.new("Off")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(cloth)
    bpy.context.scene.collection.objects.unlink(cloth)
    collection.hide_viewport = True
    assert_refused("'Sheet' is not evaluated by Blender")


def test_nothing_of_a_refused_object_changes():
    cloth = spoil(13, float("nan"))
    cloth.modifiers.new("Subdivision", "SUBSURF")
    cloth.modifiers.new("Wave", "WAVE")
    assert_refused("'Sheet'")
    assert [m.show_viewport for m in cloth.modifiers] == [True, True]
    assert cloth.data.shape_keys is None and cloth.weft.result.frame_count == 0
    assert np.isnan(cloth.data.vertices[13].co.z)
