# SPDX-License-Identifier: MIT OR Apache-2.0
"""What users do while a bake runs: it ends with a result, or with words, and leaves nothing odd."""

import shutil
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
import small_scenes

from addon.bake import job, modal
from addon.blender import object_identity
from addon.cache import pc2
from addon.storage import cache_paths


@pytest.fixture
def as_in_a_window(monkeypatch):
    monkeypatch.setattr(job, "app", SimpleNamespace(background=False))


def started(frame=3, last=40):
    """A bake that has come to this frame."""
    small_scenes.set_frames(1, last)
    running = job.Bake(bpy.context)
    while running.frame < frame:
        running.pump(0.01)
        running.wait(0.005)
    return running


def ended(running):
    while not running.is_done:
        running.pump(0.02)
        running.wait(0.01)
    return running.finish(bpy.context)


def test_renaming():
    cloth = small_scenes.add_cloth()
    running = started()
    cloth.name = "布 ünder another name"
    assert not ended(running).error
    assert cloth.weft.result.frame_count == 40
    small_scenes.assert_plays(cloth, small_scenes.cached_frames(cloth), 1)
    assert bpy.ops.weft.resume() == {"FINISHED"}


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.usefixtures("as_in_a_window")
def test_duplicating(linked):
    cloth = small_scenes.add_cloth()
    cloth.modifiers.new("Thickness", "SOLIDIFY")
    cloth.select_set(True)
    bpy.context.view_layer.objects.active = cloth
    running = started()
    bpy.ops.object.duplicate(linked=linked)
    copy = bpy.context.object
    assert copy != cloth
    assert not ended(running).error
    assert cloth.weft.result.frame_count == 40
    assert copy.weft.result.frame_count == 0
    for obj in (cloth, copy):
        assert [modifier.name for modifier in obj.modifiers] == ["Thickness"]
        assert obj.modifiers["Thickness"].show_viewport
    if linked:
        with pytest.raises(RuntimeError, match="has 2 users"):
            bpy.ops.weft.bake()
        return
    object_identity.resolve_duplicates()
    assert copy.weft.identity != cloth.weft.identity
    assert bpy.ops.weft.bake() == {"FINISHED"}


def test_deleting_a_collider():
    cloth = small_scenes.add_cloth()
    floor = small_scenes.add_floor()
    running = started()
    bpy.data.objects.remove(floor)
    assert "'Floor' was deleted before frame" in ended(running).error
    assert 3 <= cloth.weft.result.frame_count < 40


def test_renaming_the_view_layer():
    small_scenes.add_cloth()
    running = started()
    bpy.context.view_layer.name = "Another name"
    bpy.context.scene.view_layers.new("ViewLayer")
    assert not ended(running).error


def test_deleting_the_view_layer():
    scene = bpy.context.scene
    small_scenes.add_cloth()
    running = started()
    other = scene.view_layers.new("Other")
    bpy.context.window.view_layer = other
    scene.view_layers.remove(scene.view_layers["ViewLayer"])
    assert "the view layer 'ViewLayer' was deleted before frame" in ended(running).error


def test_every_setting_may_be_changed(tmp_path):
    cloth, settings = small_scenes.add_cloth(), bpy.context.scene.weft
    before = cache_paths.directory(bpy.context.scene)
    running = started()
    cloth.weft.material.density, cloth.weft.pin_group, cloth.weft.role = 1.0, "", "NONE"
    bpy.context.scene.frame_end, settings.time_step = 10, 1e-3
    settings.cache_directory = str(tmp_path / "elsewhere")
    outcome = ended(running)
    assert not outcome.error
    assert cloth.weft.result.frame_count == 40
    assert small_scenes.stem(cloth).parent == before
    small_scenes.assert_plays(cloth, small_scenes.cached_frames(cloth), 1)


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("kind", ["KEYS", "MODIFIER"])
def test_saving_the_file_for_the_first_time(kind, again, tmp_path):
    scene = bpy.context.scene
    scene.weft.property_unset("cache_directory")
    scene.weft.result_kind = kind
    cloth = small_scenes.add_cloth(pinned=False)
    running = started()
    path = str(tmp_path / "scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    assert not ended(running).error
    assert small_scenes.stem(cloth).parent == tmp_path / "weft_cache"
    frames = small_scenes.cached_frames(cloth)
    small_scenes.assert_plays(cloth, frames, 1)
    assert bpy.ops.weft.resume() == {"FINISHED"}
    if again:
        bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=path)
    cloth = bpy.data.objects["Sheet"]
    if not again:  # the file is from before there was a result
        assert any("not shown" in note for note in small_scenes.state(cloth).notes)
        assert bpy.ops.weft.resume() == {"FINISHED"}
    small_scenes.assert_plays(cloth, frames, 1)
    assert small_scenes.state(cloth).problems == ()


def test_deleting_the_cache():
    cloth = small_scenes.add_cloth()
    running = started()
    shutil.rmtree(cache_paths.directory(bpy.context.scene))
    outcome = ended(running)
    assert "cannot be" in outcome.error
    assert cloth.weft.result.frame_count in {0, 40}
    assert bpy.ops.weft.bake() == {"FINISHED"}


def test_another_blender_that_bakes_the_same_file():
    cloth = small_scenes.add_cloth()
    running = started(last=500)
    stem = small_scenes.stem(cloth)
    cache_paths.remove_stem(stem)
    description = pc2.Description("Sheet", "", 64, 1, "1", "bake_of_another", {})
    others = pc2.Writer(stem, description)
    others.append(np.zeros((64, 3), np.float32))
    others.sync()
    outcome = ended(running)
    others.close()
    assert "another Blender has begun a bake of this file" in outcome.error
    assert len(small_scenes.cached_frames(cloth)) == 1 and cloth.weft.result.frame_count == 0
    assert bpy.ops.weft.bake() == {"FINISHED"}


def test_entering_edit_mode_and_adding_shape_keys():
    cloth = small_scenes.add_cloth()
    bpy.context.view_layer.objects.active = cloth
    running = started()
    for name in ("One", "Two"):
        cloth.shape_key_add(name=name)
    bpy.ops.object.mode_set(mode="EDIT")
    assert not ended(running).error
    assert cloth.mode == "OBJECT"
    bpy.ops.weft.free()
    assert [key.name for key in cloth.data.shape_keys.key_blocks] == ["One", "Two"]


def test_adding_a_modifier_that_subdivides_ends_it_with_the_reason():
    cloth = small_scenes.add_cloth()
    running = started()
    cloth.modifiers.new("Subdivision", "SUBSURF")
    assert "changes its topology at frame" in ended(running).error
    assert cloth.weft.result.frame_count >= 3


def test_going_to_another_frame_and_another_scene():
    cloth = small_scenes.add_cloth()
    scene, other = bpy.context.scene, bpy.data.scenes.new("Other")
    running = started()
    scene.frame_set(77)
    bpy.context.window.scene = other
    assert not ended(running).error
    bpy.context.window.scene = scene
    small_scenes.assert_plays(cloth, small_scenes.cached_frames(cloth), 1)


def test_cancelling_before_the_first_frame():
    cloth = small_scenes.add_cloth()
    small_scenes.set_frames(1, 30)
    running = job.Bake(bpy.context)
    running.stop()
    outcome = ended(running)
    assert outcome.cancelled and not outcome.error
    assert bpy.ops.weft.resume() == {"FINISHED"}
    assert cloth.weft.result.frame_count == 30


def test_the_longest_range_that_blender_has():
    cloth = small_scenes.add_cloth()
    running = started(last=1048574)
    running.stop()
    assert not ended(running).error
    assert 3 <= cloth.weft.result.frame_count < 1000


# --- what a bake has prepared -----------------------------------------------------------------


def prepared_scene():
    """A cloth, a disabled floor and something else, at a frame that is not the first."""
    cloth, floor = small_scenes.add_cloth(), small_scenes.add_floor()
    cloth.modifiers.new("Subdivision", "SUBSURF")
    floor.hide_viewport = True
    empty = bpy.data.objects.new("Empty", None)
    bpy.context.scene.collection.objects.link(empty)
    bpy.context.scene.frame_set(17)
    bpy.ops.ed.undo_push(message="before")
    return empty


def assert_as_it_was():
    cloth, floor = bpy.data.objects["Sheet"], bpy.data.objects["Floor"]
    subdivision = cloth.modifiers["Subdivision"]
    assert len(cloth.modifiers) == 1 and floor.hide_viewport
    assert subdivision.show_viewport and subdivision.show_render
    assert bpy.context.scene.frame_current == 17


@pytest.mark.usefixtures("as_in_a_window")
def test_undoing_to_a_step_that_was_made_during_a_bake():
    empty = prepared_scene()
    running = started()
    empty.location.x = 1.0
    bpy.ops.ed.undo_push(message="moved during the bake")
    assert not ended(running).error
    bpy.ops.ed.undo_push(message="baked")
    for step in (bpy.ops.ed.undo, bpy.ops.ed.undo, bpy.ops.ed.redo):
        step()
        assert_as_it_was()
    assert bpy.data.objects["Empty"].location.x == 1.0
    assert not ended(started()).error
    assert_as_it_was()
    bpy.ops.weft.free()
    assert_as_it_was()


@pytest.mark.usefixtures("as_in_a_window")
def test_a_file_that_was_saved_during_a_bake_is_as_it_was(tmp_path):
    prepared_scene()
    running = started()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "during.blend"), copy=True)
    running.stop()
    ended(running)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "during.blend"))
    assert_as_it_was()


@pytest.mark.usefixtures("as_in_a_window")
def test_closing_the_window_of_a_bake():
    prepared_scene()
    running = started()
    modal.BakeOperator.cancel(None, bpy.context)  # as Blender does
    assert running.is_done and job.running() is None
    assert_as_it_was()
    assert bpy.ops.weft.resume() == {"FINISHED"}
