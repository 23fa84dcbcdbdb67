# SPDX-License-Identifier: MIT OR Apache-2.0
"""Settings with keyframes act frame by frame; what could not act cannot be given keyframes."""

import bpy
import numpy as np
import pytest
import small_scenes
from small_scenes import whole_and_resumed

from addon import properties
from addon.bake import fingerprint
from addon.properties.fabric import MATERIAL_FIELDS
from addon.properties.object import WEIGHTS
from addon.properties.scene import FRAME_SETTINGS
from addon.scene import participants
from addon.scene.reader import SceneReader


def animate(owner, name, first, last):
    """Keyframes one property at frames 1 and 11."""
    for frame, value in ((1, first), (11, last)):
        setattr(owner, name, value)
        assert owner.keyframe_insert(name, frame=frame)


def read(cloth):
    bpy.context.view_layer.update()
    cloths, colliders = participants.participants(bpy.context.scene, bpy.context.view_layer)
    return SceneReader(bpy.context, cloths, colliders, 1)


@pytest.mark.parametrize("field", MATERIAL_FIELDS)
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
    whole_and_resumed(cloth)


@pytest.mark.parametrize(
    ("group", "acting"),
    [
        (
            properties.WeftScene,
            {"gravity", "wind", "speed", "use_scene_gravity", *FRAME_SETTINGS},
        ),
        (properties.WeftObject, {*fingerprint.NUMBERS, *fingerprint.SURFACE}),
        (properties.WeftFieldWeights, set(WEIGHTS)),
    ],
)
def test_only_what_acts_frame_by_frame_can_be_keyframed(group, acting):
    values = {"FLOAT", "INT", "BOOLEAN", "ENUM"}
    own = [p for p in group.bl_rna.properties if p.type in values]
    assert {p.identifier for p in own if p.is_animatable} == acting


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [("time_step", 0.01, 0.002), ("tolerance", 0.02, 0.001), ("air_density", 1.0, 900.0)],
)
def test_a_keyframed_setting_of_the_scene_is_read_at_every_frame(name, first, last):
    cloth = small_scenes.add_cloth()
    animate(bpy.context.scene.weft, name, first, last)
    reader = read(cloth)
    assert reader.first.settings[name] == pytest.approx(first)
    middle = reader.read_frame(6).settings[name]
    assert min(first, last) < middle < max(first, last)
    assert reader.read_frame(11).settings[name] == pytest.approx(last)


def test_thicker_air_stops_a_fall_and_shorter_steps_take_effect():
    cloth = small_scenes.add_cloth(pinned=False)
    plain = whole_and_resumed(cloth)
    animate(bpy.context.scene.weft, "air_density", 1.2, 1000.0)
    slower = whole_and_resumed(cloth)
    assert slower[-1, :, 2].mean() > plain[-1, :, 2].mean() + 0.1
    animate(bpy.context.scene.weft, "time_step", 0.01, 0.001)
    steps = small_scenes.stem(cloth), whole_and_resumed(cloth)
    assert not np.array_equal(steps[1], slower)
    assert np.abs(steps[1] - slower).max() < 0.02


def test_a_cloth_shrinks_while_it_moves():
    cloth = small_scenes.add_cloth(count=5, pinned=False)
    scene = bpy.context.scene
    scene.use_gravity, scene.weft.air_density = False, 0.0
    cloth.weft.material.stretch_damping = 0.02
    animate(cloth.weft, "shrink", 0.0, 0.3)
    frames = whole_and_resumed(cloth).reshape(-1, 5, 5, 3)
    widths = np.linalg.norm(frames[:, 2, -1] - frames[:, 2, 0], axis=1)
    assert widths[0] == pytest.approx(1.0, abs=1e-3)
    assert widths[-1] == pytest.approx(0.7, abs=0.05)
    assert (np.diff(widths[1:]) < 0.01).all()


def test_a_cuff_shrinks_while_it_moves():
    cloth = small_scenes.add_cloth(count=5, pinned=False)
    scene = bpy.context.scene
    scene.use_gravity, scene.weft.air_density = False, 0.0
    cloth.vertex_groups.new(name="cuff").add(list(range(5)), 1.0, "REPLACE")
    cloth.weft.shrink_group = "cuff"
    animate(cloth.weft, "shrink_max", 0.0, 0.4)
    first = read(cloth)
    assert first.first.rest_scales[0] is None
    scale = first.read_frame(11).rest_scales[0]
    assert scale[:5] == pytest.approx(0.6) and scale[5:] == pytest.approx(1.0)
    last = whole_and_resumed(cloth)[-1].reshape(5, 5, 3)
    assert np.linalg.norm(last[0, -1] - last[0, 0]) < 0.8
    assert np.linalg.norm(last[-1, -1] - last[-1, 0]) > 0.9


def test_a_pin_lets_go_as_its_stiffness_goes():
    cloth = small_scenes.add_cloth(pinned=False)
    group = cloth.vertex_groups.new(name="soft")
    group.add(list(range(64)), 0.9, "REPLACE")
    cloth.weft.pin_group = "soft"
    held = whole_and_resumed(cloth)
    animate(cloth.weft, "pin_stiffness", 100.0, 0.0)
    let_go = whole_and_resumed(cloth)
    assert held[-1, :, 2].min() > -0.02
    assert let_go[-1, :, 2].min() < held[-1, :, 2].min() - 0.01


def test_a_collider_gets_slippery():
    cloth = small_scenes.add_cloth(pinned=False)
    cloth.location.z = 0.003
    floor = small_scenes.add_floor()
    for obj in (cloth, floor):
        obj.rotation_euler.y = 0.3
    slid = []
    for last in (0.9, 0.0):
        animate(floor.weft, "friction", 0.9, last)
        slid.append(np.abs(whole_and_resumed(cloth)[-1, :, 0]).max())
    assert slid[1] > slid[0] + 0.02
