# SPDX-License-Identifier: MIT OR Apache-2.0
"""Baking with the real library: what plays, what stops it, and what goes on."""

import resource

import bpy
import numpy as np
import pytest
import small_scenes

from addon.bake import job
from addon.cache import checkpoint, pc2
from addon.storage import cache_paths

GRAVITY = 9.81


def bake_all():
    assert bpy.ops.weft.bake() == {"FINISHED"}


def run_until(frame):
    """A bake through its own interface, stopped after a frame has been simulated."""
    running = job.Bake(bpy.context, resume=False)
    while running.frame < frame and not running.is_done:
        running.pump(0.01)
        running.wait(0.005)
    running.stop()
    return running.finish(bpy.context)


def result_of(obj):
    return small_scenes.cached_frames(obj)


def checkpoints_of(obj):
    name = pc2.read_description(small_scenes.stem(obj)).bake
    return checkpoint.paths(cache_paths.directory(bpy.context.scene), name)


# --- what plays -------------------------------------------------------------------------------


def test_what_plays_is_what_is_in_the_cache():
    cloth = small_scenes.add_cloth()
    small_scenes.set_frames(3, 15)
    bake_all()
    frames = result_of(cloth)
    assert frames.shape == (13, 64, 3)
    small_scenes.assert_plays(cloth, frames, 3)
    assert bpy.context.scene.frame_current == 20  # where assert_plays left it


def test_a_pinned_sheet_swings_and_its_pins_stay():
    cloth = small_scenes.add_cloth(count=10)
    small_scenes.set_frames(1, 25)
    bake_all()
    frames = result_of(cloth)
    assert frames[:, :10] == pytest.approx(np.broadcast_to(frames[0, :10], (25, 10, 3)), abs=1e-6)
    assert frames[0, :, 2] == pytest.approx(0.0)
    assert frames[-1, -10:, 2].max() < -0.3
    lengths = np.linalg.norm(np.diff(frames[-1].reshape(10, 10, 3), axis=0), axis=2)
    assert lengths == pytest.approx(1 / 9, rel=0.1)


@pytest.mark.parametrize("scale_length", [1.0, 0.01])
def test_a_free_sheet_falls_as_bodies_fall(scale_length):
    cloth = small_scenes.add_cloth(pinned=False)
    scene = bpy.context.scene
    scene.weft.air_density = 0.0
    scene.unit_settings.scale_length = scale_length
    cloth.scale = (1.0 / scale_length,) * 3
    scene.gravity.z = -GRAVITY / scale_length
    scene.weft.time_step = 1 / 480
    small_scenes.set_frames(1, 13)
    bake_all()
    fallen = -result_of(cloth)[:, :, 2].mean(axis=1)  # the scales cancel
    time = np.arange(13) / 24
    # Second order in time; the largest error of the first step of either integrator.
    tolerance = GRAVITY * time[-1] / 480 + 1e-5
    assert fallen == pytest.approx(GRAVITY * time**2 / 2, abs=tolerance)


def test_frames_are_as_long_as_the_scene_says():
    cloth = small_scenes.add_cloth(pinned=False)
    scene = bpy.context.scene
    scene.weft.air_density, scene.weft.time_step = 0.0, 1 / 960
    scene.render.fps, scene.render.fps_base = 60, 1.001
    small_scenes.set_frames(1, 31)
    bake_all()
    time = 30 * 1.001 / 60
    expected = GRAVITY * time**2 / 2
    assert -result_of(cloth)[-1, :, 2].mean() == pytest.approx(
        expected, abs=GRAVITY * time / 960 + 1e-5
    )


def test_a_sheet_comes_to_rest_on_a_collider():
    cloth = small_scenes.add_cloth(pinned=False)
    cloth.location.z = 0.1
    floor = small_scenes.add_floor()
    small_scenes.set_frames(1, 30)
    bake_all()
    bpy.context.scene.frame_set(30)
    height = small_scenes.evaluated_world(cloth)[:, 2]
    gap = cloth.weft.material.thickness + floor.weft.thickness
    assert height.min() > 0.0
    assert height.max() < gap + 0.01
    assert "contacts" in cloth.weft.result.statistic


@pytest.mark.parametrize("touching", [True, False])
def test_cloths_keep_off_each_other_where_that_is_wanted(touching):
    upper, lower = small_scenes.add_cloth("Upper", 5, pinned=False), small_scenes.add_cloth("Lower")
    lower.vertex_groups["pin"].add(list(range(64)), 1.0, "REPLACE")
    lower.location.z = 0.9
    bpy.context.scene.weft.self_collision = touching
    small_scenes.set_frames(1, 10)
    bake_all()
    lowest = result_of(upper)[-1][:, 2].min() + 1.0
    assert (lowest > 0.9) == touching


def test_only_colliders_of_the_collection_take_part():
    cloth, floor = small_scenes.add_cloth(pinned=False), small_scenes.add_floor()
    floor.location.z = 0.95
    chosen = bpy.data.collections.new("Colliders")
    bpy.context.scene.weft.collider_collection = chosen
    small_scenes.set_frames(1, 10)
    bake_all()
    assert result_of(cloth)[-1][:, 2].max() < -0.1
    chosen.objects.link(floor)
    bake_all()
    assert result_of(cloth)[-1][:, 2].min() > -0.05


def test_a_moving_collider_lifts_the_sheet():
    cloth = small_scenes.add_cloth(pinned=False)
    cloth.location.z = 0.05
    floor = small_scenes.add_floor()
    small_scenes.slide(floor, 2, (1, 0.0), (21, 0.5))
    small_scenes.set_frames(1, 21)
    bake_all()
    bpy.context.scene.frame_set(21)
    assert small_scenes.evaluated_world(cloth)[:, 2].min() > 0.5


def test_animated_pins_are_reached_at_every_frame():
    cloth = small_scenes.add_cloth()
    cloth.rotation_euler.x = 0.4
    small_scenes.slide(cloth, 0, (1, 0.0), (13, 0.6))
    small_scenes.set_frames(1, 13)
    bake_all()
    for frame in (1, 5, 13):
        bpy.context.scene.frame_set(frame)
        pins = small_scenes.evaluated_world(cloth)[:8]
        assert pins[:, 0].mean() == pytest.approx(0.6 * (frame - 1) / 12, abs=1e-5)
    assert small_scenes.evaluated(cloth)[8:, 0].mean() < -0.01  # the free part trails behind


def test_pins_follow_a_deforming_modifier_once_and_not_twice():
    cloth = small_scenes.add_cloth()
    displace = cloth.modifiers.new("Displace", "DISPLACE")
    displace.direction, displace.mid_level = "X", 0.0
    for frame, strength in ((1, 0.0), (11, 0.4)):
        displace.strength = strength
        displace.keyframe_insert("strength", frame=frame)
    small_scenes.set_frames(1, 11)
    rest = np.array([vertex.co[:] for vertex in cloth.data.vertices])
    bake_all()
    bpy.context.scene.frame_set(11)
    assert small_scenes.evaluated(cloth)[:8] == pytest.approx(
        np.add(rest[:8], (0.4, 0, 0)), abs=1e-5
    )
    small_scenes.assert_plays(cloth, result_of(cloth), 1)
    bpy.ops.weft.free()
    bpy.context.scene.frame_set(11)
    assert small_scenes.evaluated(cloth) == pytest.approx(np.add(rest, (0.4, 0, 0)), abs=1e-5)


def test_all_cloths_are_baked_together():
    cloths = [small_scenes.add_cloth("One"), small_scenes.add_cloth("Two", count=5)]
    small_scenes.set_frames(1, 5)
    bake_all()
    for cloth in cloths:
        small_scenes.assert_plays(cloth, result_of(cloth), 1)
    bakes = {pc2.read(small_scenes.stem(cloth)).description.bake for cloth in cloths}
    assert len(bakes) == 1


def test_wind_blows_the_sheet_along():
    still, blown = [], []
    for wind, means in ((0.0, still), (8.0, blown)):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        cloth = small_scenes.add_cloth()
        bpy.context.scene.weft.cache_directory = bpy.app.tempdir + "wind"
        bpy.context.scene.weft.wind = (0.0, wind, 0.0)
        cloth.rotation_euler.x = -np.pi / 2  # hanging in the xz plane, pins on top
        small_scenes.set_frames(1, 15)
        bake_all()
        bpy.context.scene.frame_set(15)
        means.append(small_scenes.evaluated_world(cloth)[:, 1].mean())
    assert abs(still[0]) < 0.01
    assert blown[0] > still[0] + 0.02


def test_a_bake_is_repeated_bit_for_bit():
    cloth = small_scenes.add_cloth()
    small_scenes.set_frames(1, 8)
    bake_all()
    first = result_of(cloth)
    bake_all()
    assert np.array_equal(result_of(cloth), first)


def test_edit_mode_is_left_with_the_edits_kept():
    cloth = small_scenes.add_cloth()
    bpy.context.view_layer.objects.active = cloth
    cloth.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.transform.translate(value=(0.0, 0.0, 0.5))
    small_scenes.set_frames(1, 3)
    bake_all()
    assert cloth.mode == "OBJECT"
    assert result_of(cloth)[0, :, 2] == pytest.approx(0.5, abs=1e-6)


def test_an_unsaved_file_bakes_into_a_temporary_folder_and_saving_brings_it_along(tmp_path):
    scene = bpy.context.scene
    scene.weft.property_unset("cache_directory")
    cloth = small_scenes.add_cloth()
    small_scenes.set_frames(1, 4)
    bake_all()
    assert cache_paths.is_temporary(scene)
    assert small_scenes.stem(cloth).is_relative_to(bpy.app.tempdir)
    frames = result_of(cloth)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    assert small_scenes.stem(cloth).parent == tmp_path / "weft_cache"
    assert np.array_equal(result_of(cloth), frames)
    scene.frame_end = 6
    assert bpy.ops.weft.resume() == {"FINISHED"}
    assert len(result_of(cloth)) == 6


def test_progress_is_told_in_the_background(capfd):
    small_scenes.add_cloth()
    small_scenes.set_frames(1, 40)
    bake_all()
    lines = [line for line in capfd.readouterr().out.splitlines() if line.startswith("Weft:")]
    assert 2 <= len(lines) <= 10
    assert lines[-1].startswith("Weft: frame 40 of 40")


# --- freeing ----------------------------------------------------------------------------------


def test_freeing_removes_everything(cache_folder):
    cloth = small_scenes.add_cloth()
    small_scenes.set_frames(1, 4)
    bake_all()
    endings = sorted(path.suffix for path in small_scenes.files_in(cache_folder))
    assert endings == [".json", ".pc2", ".record", ".state"]
    assert bpy.ops.weft.free() == {"FINISHED"}
    assert small_scenes.files_in(cache_folder) == []
    assert cloth.data.shape_keys is None and len(bpy.data.actions) == 0
    assert cloth.weft.result.statistic == ""


def test_freeing_one_cloth_leaves_the_others(cache_folder):
    first, second = small_scenes.add_cloth("First"), small_scenes.add_cloth("Second")
    small_scenes.set_frames(1, 4)
    bake_all()
    bpy.context.view_layer.objects.active = first
    assert bpy.ops.weft.free(only_active=True) == {"FINISHED"}
    assert first.data.shape_keys is None
    small_scenes.assert_plays(second, result_of(second), 1)
    assert len(list(cache_folder.glob("*.state"))) == 1


def test_files_of_others_in_the_folder_are_left_alone(cache_folder):
    cache_folder.mkdir()
    for name in ("notes.json", "other.state", "model.pc2"):
        (cache_folder / name).write_text("mine")
    small_scenes.add_cloth()
    small_scenes.set_frames(1, 3)
    bake_all()
    bpy.ops.weft.free()
    names = sorted(path.name for path in small_scenes.files_in(cache_folder))
    assert names == ["model.pc2", "notes.json", "other.state"]


# --- trouble ----------------------------------------------------------------------------------


def test_a_full_disk_ends_the_bake_and_keeps_the_finished_frames():
    cloth = small_scenes.add_cloth(count=40)
    small_scenes.set_frames(1, 60)
    frame_bytes = 12 * len(cloth.data.vertices)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    running = job.Bake(bpy.context, resume=False)
    resource.setrlimit(resource.RLIMIT_FSIZE, (32 + 4 * frame_bytes + 99, limits[1]))
    try:
        while not running.is_done:
            running.pump(0.01)
            running.wait(0.01)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    outcome = running.finish(bpy.context)
    assert "the cache cannot be written: File too large" in outcome.error
    frames = result_of(cloth)
    assert len(frames) == 4
    small_scenes.assert_plays(cloth, frames, 1)


def test_an_object_that_is_deleted_during_the_bake_ends_it_in_words():
    cloth, other = small_scenes.add_cloth("Cloth"), small_scenes.add_cloth("Other")
    small_scenes.set_frames(1, 400)
    running = job.Bake(bpy.context, resume=False)
    while running.frame < 4:
        running.pump(0.01)
        running.wait(0.005)
    bpy.data.objects.remove(other)
    while not running.is_done:
        running.pump(0.01)
        running.wait(0.01)
    outcome = running.finish(bpy.context)
    assert "'Other' was deleted before frame" in outcome.error
    frames = result_of(cloth)
    assert 4 <= len(frames) < 400
    small_scenes.assert_plays(cloth, frames, 1)


def test_a_collider_whose_topology_changes_ends_the_bake_with_the_frames_before():
    cloth, floor = small_scenes.add_cloth(), small_scenes.add_floor()
    array = floor.modifiers.new("Array", "ARRAY")
    for frame, count in ((6, 1), (7, 2)):
        array.count = count
        array.keyframe_insert("count", frame=frame)
    small_scenes.set_frames(1, 20)
    with pytest.raises(RuntimeError, match="'Floor' changes its topology at frame 7"):
        bpy.ops.weft.bake()
    small_scenes.assert_plays(cloth, result_of(cloth), 1)
    assert len(result_of(cloth)) == 6


def test_a_refused_bake_leaves_the_earlier_result():
    cloth = small_scenes.add_cloth()
    small_scenes.set_frames(1, 6)
    bake_all()
    frames = result_of(cloth)
    broken = small_scenes.add_mesh("Broken", [(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1, 2)])
    broken.weft.role = "CLOTH"
    with pytest.raises(RuntimeError, match="'Broken'"):
        bpy.ops.weft.bake()
    small_scenes.assert_plays(cloth, frames, 1)
    assert job.running() is None


def test_an_unforeseen_error_leaves_no_bake_behind(monkeypatch):
    cloth = small_scenes.add_cloth()
    cloth.modifiers.new("Subdivision", "SUBSURF")
    small_scenes.set_frames(1, 50)

    def fail(*_arguments):
        raise ZeroDivisionError("unforeseen")

    monkeypatch.setattr(job.Bake, "pump", fail)
    with pytest.raises(RuntimeError, match="unforeseen"):
        bpy.ops.weft.bake()
    assert job.running() is None
    assert cloth.modifiers["Subdivision"].show_viewport


def test_a_second_bake_is_refused_while_one_runs():
    small_scenes.add_cloth()
    small_scenes.set_frames(1, 300)
    running = job.Bake(bpy.context, resume=False)
    try:
        with pytest.raises(RuntimeError, match="running already"):
            job.Bake(bpy.context, resume=False)
        assert not bpy.ops.weft.bake.poll()
        assert bpy.ops.weft.bake_cancel() == {"FINISHED"}
    finally:
        running.stop()
        running.finish(bpy.context)
    assert bpy.ops.weft.bake.poll()
