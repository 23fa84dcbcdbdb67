# SPDX-License-Identifier: MIT OR Apache-2.0
"""Fast turns are read in subframes; jumps are found, told and bridged."""

import bpy
import numpy as np
import pytest
import small_scenes

from addon.blender import fcurves
from addon.checks import operators
from addon.scene.reader import SceneReader


def body_with_skirt():
    """A square tube that turns 150 degrees a frame, and a ring of cloth held around it."""
    angles = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    rows = [(0.3 * np.cos(a), 0.3 * np.sin(a)) for a in angles]
    faces = [(k, (k + 1) % 24, 24 + (k + 1) % 24, 24 + k) for k in range(24)]
    rings = []
    for name, radius, low, high in (("Body", 0.9, 0.2, 1.6), ("Skirt", 1.1, 0.8, 1.0)):
        points = [(radius * x, radius * y, z) for z in (high, low) for x, y in rows]
        rings.append(small_scenes.add_mesh(name, points, faces))
    body, skirt = rings
    body.weft.role, skirt.weft.role = "COLLIDER", "CLOTH"
    group = skirt.vertex_groups.new(name="waist")
    group.add(list(range(24)), 1.0, "REPLACE")
    attachment = skirt.weft.attachments.add()
    attachment.vertex_group, attachment.target = "waist", body
    return body, skirt


def turn(obj, degrees_per_frame, last):
    for frame in (1, last):
        obj.rotation_euler.z = np.radians(degrees_per_frame) * (frame - 1)
        obj.keyframe_insert("rotation_euler", index=2, frame=frame)
    make_linear(obj)


def make_linear(obj):
    for curve in fcurves.curves(obj):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"


def test_a_body_that_turns_150_degrees_a_frame_does_not_collapse():
    body, skirt = body_with_skirt()
    turn(body, 150.0, 6)
    small_scenes.set_frames(1, 6)
    reader = SceneReader(bpy.context, [skirt], [body], 1)
    second = reader.read_frame(2)
    assert 4 <= len(second.between) <= 15
    radii = [np.linalg.norm(part.pins[0].targets[:, :2], axis=1) for part in second.between]
    assert np.array(radii) == pytest.approx(0.33, rel=1e-4)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    assert "stretched" not in skirt.weft.result.warnings
    frames = small_scenes.cached_frames(skirt)
    lengths = np.linalg.norm(frames[:, :24] - np.roll(frames[:, :24], 1, axis=1), axis=2)
    assert np.ptp(lengths) < 1e-4


def test_ordinary_motion_needs_no_subframes():
    body, skirt = body_with_skirt()
    turn(body, 12.0, 6)
    small_scenes.slide(body, 0, (1, 0.0), (6, 8.0))
    reader = SceneReader(bpy.context, [skirt], [body], 1)
    for frame in range(2, 7):
        current = reader.read_frame(frame)
        assert current.between == () and current.jumps == ()


def jumping():
    """The body jumps by 10 m from frame 5 to 6, and turns by a right angle meanwhile."""
    body, skirt = body_with_skirt()
    for frame, x, angle in ((1, 0.0, 0.0), (5, 0.0, 0.0), (6, 10.0, 90.0), (9, 10.0, 90.0)):
        body.location.x, body.rotation_euler.z = x, np.radians(angle)
        body.keyframe_insert("location", frame=frame)
        body.keyframe_insert("rotation_euler", frame=frame)
    make_linear(body)
    small_scenes.set_frames(1, 9)
    return body, skirt


def test_cloth_goes_along_with_a_jump_and_the_frame_is_told():
    _body, skirt = jumping()
    assert bpy.ops.weft.bake() == {"FINISHED"}
    warning = "Colliders or pins jumped to frame 6: cloth went along"
    assert warning in skirt.weft.result.warnings
    assert "stretched" not in skirt.weft.result.warnings
    frames = small_scenes.cached_frames(skirt).astype(float)
    before, after = frames[4], frames[5]
    turned = np.stack([10.0 - before[:, 1], before[:, 0], before[:, 2]], axis=1)
    assert after == pytest.approx(turned, abs=1e-4)
    middle = frames[5:].mean(axis=1)
    assert np.abs(middle - middle[0]).max() < 0.05


def test_a_bake_resumed_before_and_after_a_jump_is_the_same():
    _body, skirt = jumping()
    for until in (4, 7):
        small_scenes.whole_and_resumed(skirt, last=9, until=until)


def test_check_scene_tells_jumps_by_frame():
    jumping()
    bpy.ops.weft.check_scene()
    titles = [finding.title for finding in operators._findings]
    assert "Body: it jumps from frame 5 to 6" in titles
    assert "Skirt: it jumps from frame 5 to 6" in titles


def test_what_flies_steadily_does_not_jump():
    ball, cloth = small_scenes.add_floor("Ball", 0.2), small_scenes.add_cloth()
    for frame, x in ((1, -9.0), (4, -9.0), (10, 9.0)):
        ball.location.x = x
        ball.keyframe_insert("location", frame=frame)
    make_linear(ball)
    reader = SceneReader(bpy.context, [cloth], [ball], 1)
    assert all(reader.read_frame(frame).jumps == () for frame in range(2, 11))
