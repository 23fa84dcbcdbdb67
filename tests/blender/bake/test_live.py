# SPDX-License-Identifier: MIT OR Apache-2.0
"""Live simulation: frames are simulated as they are played, and what is changed meanwhile acts."""

import time

import bpy
import numpy as np
import pytest
import small_scenes

from addon.bake import live


def play(session, frame):
    """Plays up to a frame."""
    for _attempt in range(10_000):
        if bpy.context.scene.frame_current >= frame:
            return
        assert not session.is_done
        if not session.step(bpy.context):
            time.sleep(0.002)
    raise AssertionError("the frame never comes")


def started(frame, last=20):
    small_scenes.set_frames(1, last)
    session = live.start(bpy.context)
    play(session, frame)
    return session


def edited():
    """What Blender calls after an edit."""
    bpy.context.view_layer.update()
    live.session().note_change()


def test_every_frame_is_shown_as_it_is_simulated_and_is_that_of_a_bake():
    cloth, scene = small_scenes.add_cloth(), bpy.context.scene
    small_scenes.add_floor()
    cloth.modifiers.new("Thickness", "SOLIDIFY")
    small_scenes.set_frames(1, 12)
    session, seen = live.start(bpy.context), {}
    while scene.frame_current < 12:
        if session.step(bpy.context):
            seen[scene.frame_current] = small_scenes.evaluated(cloth)[: len(cloth.data.vertices)]
    live.end(bpy.context)
    assert cloth.weft.result.is_live and cloth.weft.result.frame_count == 12
    small_scenes.assert_plays_below_modifiers(cloth, seen)
    lived = small_scenes.cached_frames(cloth)
    bpy.ops.weft.free()
    assert bpy.ops.weft.bake() == {"FINISHED"}
    assert np.array_equal(small_scenes.cached_frames(cloth), lived)


def test_it_goes_on_where_it_was_stopped():
    cloth = small_scenes.add_cloth()
    started(6)
    live.end(bpy.context)
    assert bpy.context.scene.frame_current == 6
    session = live.start(bpy.context)
    assert session.frame == 6
    play(session, 20)
    live.end(bpy.context)
    lived = small_scenes.cached_frames(cloth)
    bpy.ops.weft.free()
    bpy.ops.weft.bake()
    assert np.array_equal(small_scenes.cached_frames(cloth), lived)


def test_playing_again_simulates_nothing():
    small_scenes.add_cloth()
    session = started(20)
    simulated = session.frame
    assert session.step(bpy.context) and bpy.context.scene.frame_current == 1
    for frame in range(2, 21):
        assert session.step(bpy.context) and bpy.context.scene.frame_current == frame
    assert session.frame == simulated == 20
    live.end(bpy.context)


def test_bake_completes_what_is_missing():
    cloth = small_scenes.add_cloth()
    started(8)
    live.end(bpy.context)
    lived = small_scenes.cached_frames(cloth)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    whole = small_scenes.cached_frames(cloth)
    assert len(whole) == 20 and np.array_equal(whole[:8], lived)
    assert not cloth.weft.result.is_live
    assert len(cloth.data.shape_keys.key_blocks) == 21  # the kind of result that is chosen
    assert small_scenes.state(cloth).outdated == ""


def test_a_changed_fabric_acts_at_once_and_marks_what_was_before():
    cloth = small_scenes.add_cloth(pinned=False)
    session = started(5, last=12)
    cloth.weft.material.air_drag = 1000.0
    edited()
    play(session, 12)
    frames = small_scenes.cached_frames_so_far(cloth)[:, :, 2].mean(axis=1)
    falls = -np.diff(frames)
    assert falls[3] > falls[2] > falls[1] > 0.0
    assert falls[-1] < 0.5 * falls[3]  # braked by the air
    assert not session.step(bpy.context) and session.needs_restart
    session = live.restart(bpy.context)
    assert session.frame == 1 and bpy.context.scene.frame_current == 1
    play(session, 4)
    live.end(bpy.context)
    assert small_scenes.state(cloth).outdated == ""


def test_what_is_simulated_is_outdated_after_a_change_in_the_middle():
    cloth = small_scenes.add_cloth()
    session = started(5)
    cloth.weft.material.density *= 2.0
    edited()
    play(session, 8)
    live.end(bpy.context)
    assert "the material of 'Sheet'" in small_scenes.state(cloth).outdated


def test_a_change_while_the_cache_plays_simulates_again_from_there():
    cloth = small_scenes.add_cloth()
    session = started(20)
    bpy.context.scene.frame_set(12)
    before = small_scenes.cached_frames_so_far(cloth)
    cloth.weft.material.bend_warp_micro *= 100.0
    edited()
    assert not session.step(bpy.context)
    assert session.rewind_to == 12
    session = live.restart(bpy.context)
    assert session.frame == 11 == bpy.context.scene.frame_current  # of the last checkpoint
    play(session, 20)
    live.end(bpy.context)
    after = small_scenes.cached_frames(cloth)
    assert np.array_equal(before[:11], after[:11])
    assert np.abs(before[-1] - after[-1]).max() > 1e-5
    assert "up to frame 11 was simulated before a change" in small_scenes.state(cloth).outdated


def test_a_changed_mesh_begins_anew():
    cloth = small_scenes.add_cloth()
    session = started(5)
    cloth.data.vertices[-1].co.z += 0.1
    cloth.data.update()
    edited()
    assert not session.step(bpy.context)
    assert session.needs_restart
    assert live.restart(bpy.context).frame == 1
    live.end(bpy.context)


def test_a_longer_range_is_no_change():
    small_scenes.add_cloth()
    session = started(20)
    bpy.context.scene.frame_end = 24
    edited()
    play(session, 24)
    assert session.frame == 24 and not session.needs_restart
    live.end(bpy.context)


def test_cloth_that_has_the_result_of_a_bake_plays_as_it_is():
    cloth = small_scenes.baked(last=5)
    assert not live.plays_by_itself(bpy.context)
    bpy.ops.weft.free()
    assert live.plays_by_itself(bpy.context)
    session = started(5, last=8)
    live.end(bpy.context)
    assert live.plays_by_itself(bpy.context)  # three frames are missing
    play(live.start(bpy.context), 8)
    live.end(bpy.context)
    assert session is not None and not live.plays_by_itself(bpy.context)
    cloth.weft.material.density *= 2.0
    assert live.plays_by_itself(bpy.context)


def test_a_complete_bake_stays_as_it_is_when_it_is_simulated_live():
    cloth = small_scenes.baked(last=5)
    bpy.context.scene.frame_set(3)
    session = live.start(bpy.context)
    assert session.frame == 5
    play(session, 5)
    live.end(bpy.context)
    assert len(cloth.data.shape_keys.key_blocks) == 6 and not cloth.weft.result.is_live


@pytest.mark.parametrize("saves", [False, True])
def test_saving_and_undoing_end_it(saves, tmp_path):
    cloth = small_scenes.add_cloth()
    bpy.ops.ed.undo_push(message="before")
    started(5)
    if saves:
        small_scenes.save(tmp_path / "scene.blend")
        assert cloth.weft.result.frame_count == 5
    else:
        bpy.ops.ed.undo_push(message="during")
        bpy.ops.ed.undo()
    assert live.session() is None
    sheet = bpy.data.objects["Sheet"]
    assert [m.name for m in sheet.modifiers if m.show_viewport] == (["Weft"] if saves else [])


# --- dragging ---------------------------------------------------------------------------------


def drag_of(cloth, point, target):
    """Drags a place in a face, beside its middle."""
    face = cloth.data.polygons[point]
    place = cloth.matrix_world @ (
        0.7 * face.center + 0.3 * cloth.data.vertices[face.vertices[0]].co
    )
    shown = small_scenes.evaluated_world(cloth)[face.vertices[0]]
    place.z = shown[2]
    return live.session().grabbed(cloth, place).moved(target, 1.0)


def test_what_is_grabbed_is_the_place_in_a_triangle_under_the_mouse():
    cloth = small_scenes.add_cloth(pinned=False)
    bpy.context.scene.unit_settings.scale_length = 0.5
    session = started(1)
    place = np.array((0.11, 0.07, 1.2))
    found = session.grabbed(cloth, place)
    corners = small_scenes.evaluated_world(cloth)[found.vertices]
    assert found.weights @ corners == pytest.approx((0.11, 0.07, 1.0), abs=1e-6)
    assert found.weights.min() > 0.0
    assert found.target == pytest.approx(0.5 * place)  # in m
    assert found.mass == pytest.approx(0.5**2 * cloth.weft.material.density, rel=1e-4)
    assert session.grabbed(small_scenes.add_floor(), place) is None
    live.end(bpy.context)


def test_a_dragged_point_goes_where_the_mouse_is_and_is_let_go():
    cloth = small_scenes.add_cloth(pinned=False)
    session = started(3)
    drag = drag_of(cloth, 24, (0.3, 0.2, 1.5))
    session.drag(drag)
    play(session, 15)
    frames = small_scenes.cached_frames_so_far(cloth) + np.array((0.0, 0.0, 1.0))
    point = drag.weights @ frames[-1][drag.vertices]
    assert np.linalg.norm(point - drag.target) < 0.05
    session.drag(None)
    play(session, 20)
    live.end(bpy.context)
    frames = small_scenes.cached_frames(cloth)[:, :, 2].mean(axis=1)
    assert frames[-1] < frames[-2] < frames[-3]  # it falls again
    assert "dragged by the mouse at frame 3" in small_scenes.state(cloth).outdated


def test_pins_stay_where_they_are_when_cloth_is_dragged():
    cloth = small_scenes.add_cloth()
    session = started(3)
    session.drag(drag_of(cloth, 0, (0.0, -1.0, 1.5)))  # at two pins
    play(session, 8)
    session.drag(None)
    play(session, 12)
    live.end(bpy.context)
    frames = small_scenes.cached_frames(cloth)
    assert np.array_equal(frames[:, :8], np.broadcast_to(frames[0, :8], frames[:, :8].shape))


def test_what_is_grabbed_while_the_cache_plays_is_simulated_from_there():
    cloth = small_scenes.add_cloth(pinned=False)
    session = started(20)
    bpy.context.scene.frame_set(14)
    drag = drag_of(cloth, 24, (0.0, 0.0, 1.2))
    session.simulate_from_here(bpy.context)
    session.drag(drag)
    assert not session.step(bpy.context) and session.rewind_to == 14
    session = live.restart(bpy.context)
    assert session.frame == 11
    play(session, 13)
    session.drag(drag)
    play(session, 20)
    live.end(bpy.context)
    frames = small_scenes.cached_frames(cloth)[:, :, 2].mean(axis=1)
    assert frames[-1] > frames[13]
