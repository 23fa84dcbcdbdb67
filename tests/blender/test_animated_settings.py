# SPDX-License-Identifier: MIT OR Apache-2.0
"""Settings with keyframes act frame by frame; what could not act cannot be given keyframes."""

import bpy
import numpy as np
import pytest
import small_scenes

from addon import material, object_properties, properties, scene_reader
from addon.scene_reader import SceneReader


def animate(owner, name, first, last):
    """Keyframes one property at frames 1 and 11."""
    for frame, value in ((1, first), (11, last)):
        setattr(owner, name, value)
        assert owner.keyframe_insert(name, frame=frame)


def read(cloth):
    bpy.context.view_layer.update()
    cloths, colliders = scene_reader.participants(bpy.context.scene, bpy.context.view_layer)
    return SceneReader(bpy.context, cloths, colliders, 1)


@pytest.mark.parametrize("field", material.MATERIAL_FIELDS)
def test_a_keyframed_material_field_is_read_at_every_frame(field):
    cloth = small_scenes.add_cloth()
    settings = cloth.weft.material
    settings.use_bend_twist = True
    stored = f"{field}_micro" if hasattr(settings, f"{field}_micro") else field
    scale = 1e-6 if stored != field else 1.0
    animate(settings, stored, 0.25, 0.5)
    reader = read(cloth)
    assert reader.cloths[0].material[field] == pytest.approx(0.25 * scale)
    middle = reader.read_frame(6).materials[0][field]
    assert 0.26 * scale < middle < 0.49 * scale
    assert reader.read_frame(11).materials[0][field] == pytest.approx(0.5 * scale)


def test_a_driven_material_field_is_read_at_every_frame():
    cloth = small_scenes.add_cloth()
    curve = cloth.driver_add("weft.material.density")
    curve.driver.expression = "frame / 10"
    reader = read(cloth)
    assert reader.read_frame(3).materials[0]["density"] == pytest.approx(0.3)


def test_a_sheet_that_grows_heavier_stretches_more():
    lowest = []
    for last in (0.15, 15.0):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.context.scene.weft.cache_directory = bpy.app.tempdir + "heavier"
        cloth = small_scenes.add_cloth()
        cloth.rotation_euler.x = -np.pi / 2
        cloth.weft.material.stretch_damping = 0.02
        animate(cloth.weft.material, "density", 0.15, last)
        small_scenes.set_frames(1, 14)
        assert bpy.ops.weft.bake() == {"FINISHED"}
        bpy.context.scene.frame_set(14)
        lowest.append(small_scenes.evaluated_world(cloth)[:, 2].min())
    assert lowest[1] < lowest[0] - 0.02


def test_resuming_goes_on_with_the_material_of_its_frame():
    cloth = small_scenes.add_cloth()
    animate(cloth.weft.material, "air_drag", 1.0, 40.0)
    small_scenes.set_frames(1, 12)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    whole = small_scenes.cached_frames(cloth)
    small_scenes.set_frames(1, 7)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    small_scenes.set_frames(1, 12)
    assert bpy.ops.weft.resume() == {"FINISHED"}
    assert np.array_equal(small_scenes.cached_frames(cloth), whole)


@pytest.mark.parametrize(
    ("group", "acting"),
    [
        (properties.WeftScene, {"gravity", "wind", "use_scene_gravity"}),
        (properties.WeftObject, {"pressure", "target_volume", "volume_stiffness"}),
        (properties.WeftFieldWeights, set(object_properties.WEIGHTS)),
    ],
)
def test_only_what_acts_frame_by_frame_can_be_keyframed(group, acting):
    values = {"FLOAT", "INT", "BOOLEAN", "ENUM"}
    own = [p for p in group.bl_rna.properties if p.type in values]
    assert {p.identifier for p in own if p.is_animatable} == acting
