# SPDX-License-Identifier: MIT OR Apache-2.0
"""Renaming, duplicating, deleting, undoing, saving and loading, and what the panel says of it."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
import small_scenes
from small_scenes import baked, state

import addon
from addon.bake import job, status
from addon.blender import object_identity
from addon.cache import pc2
from addon.result import shape_keys
from addon.storage import cache_paths


def duplicate(obj, *, linked=False):
    bpy.ops.object.select_all(action="DESELECT")
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.duplicate(linked=linked)
    return bpy.context.view_layer.objects.active


# --- identity ---------------------------------------------------------------------------------


def test_a_renamed_object_keeps_its_cache():
    cloth = baked()
    cloth.name = "Something Else"
    assert state(cloth).problems == ()
    small_scenes.assert_plays(cloth, small_scenes.cached_frames(cloth), 1)


@pytest.mark.parametrize(
    "name", ["../../up", "a/b\\c:d*e?", "Kleid für Ölfass", "..", "CON", "x" * 60]
)
def test_any_name_makes_a_safe_file(name, cache_folder):
    cloth = baked(name, last=2)
    stem = small_scenes.stem(cloth)
    assert stem.parent == cache_folder
    assert stem.name.replace("_", "").isalnum() and stem.name.isascii() and len(stem.name) < 60
    assert len(small_scenes.cached_frames(cloth)) == 2


def test_a_duplicate_gets_a_cache_of_its_own():
    cloth = baked()
    frames = small_scenes.cached_frames(cloth)
    copy = duplicate(cloth)
    bpy.context.view_layer.update()
    assert copy.weft.identity != cloth.weft.identity
    assert state(cloth).problems == ()
    assert "there is no cache" in state(copy).problems[0]
    small_scenes.assert_plays(copy, frames, 1)
    bpy.ops.weft.free(only_active=True)
    assert copy.data.shape_keys is None
    small_scenes.assert_plays(cloth, frames, 1)
    assert np.array_equal(small_scenes.cached_frames(cloth), frames)


def test_original_and_duplicate_bake_side_by_side():
    cloth = baked()
    copy = duplicate(cloth)
    copy.location.x = 3.0
    assert bpy.ops.weft.bake() == {"FINISHED"}
    for obj in (cloth, copy):
        small_scenes.assert_plays(obj, small_scenes.cached_frames(obj), 1)


def test_names_that_collide_after_cleaning_do_not_share_a_file():
    first, second = small_scenes.add_cloth("a/b"), small_scenes.add_cloth("a:b")
    assert object_identity.ensure(first) != object_identity.ensure(second)


def test_a_deleted_objects_cache_is_there_when_the_deletion_is_undone():
    cloth = baked()
    bpy.ops.ed.undo_push(message="baked")
    name, frames = cloth.name, small_scenes.cached_frames(cloth)
    bpy.data.objects.remove(cloth)
    bpy.ops.ed.undo_push(message="deleted")
    bpy.ops.ed.undo()
    cloth = bpy.data.objects[name]
    assert state(cloth).problems == ()
    small_scenes.assert_plays(cloth, frames, 1)


def test_caches_of_deleted_objects_go_when_asked(cache_folder):
    kept, deleted = baked("Kept"), small_scenes.add_cloth("Deleted")
    assert bpy.ops.weft.bake() == {"FINISHED"}
    bpy.data.objects.remove(deleted)
    scene = bpy.context.scene
    assert [stem.name[:8] for stem in cache_paths.orphans(scene)] == ["Deleted_"]
    assert bpy.ops.weft.remove_orphans() == {"FINISHED"}
    assert cache_paths.orphans(scene) == []
    assert state(kept).problems == ()
    assert len(list(cache_folder.glob("*.pc2"))) == 1
    endings = {path.suffix for path in small_scenes.files_in(cache_folder)}
    assert endings == {".json", ".pc2", ".record", ".state"}


def test_freeing_all_leaves_the_caches_of_deleted_objects_for_undo(cache_folder):
    baked("Kept")
    bpy.data.objects.remove(baked("Deleted"))
    assert bpy.ops.weft.free() == {"FINISHED"}
    assert [path.name[:8] for path in cache_folder.glob("*.pc2")] == ["Deleted_"]
    assert bpy.ops.weft.remove_orphans() == {"FINISHED"}
    assert small_scenes.files_in(cache_folder) == []


def test_caches_of_another_file_in_the_folder_are_not_orphans(tmp_path, cache_folder):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "one.blend"))
    bpy.context.scene.weft.cache_directory = str(cache_folder)
    bpy.data.objects.remove(baked("Other"))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "two.blend"))
    assert cache_paths.orphans(bpy.context.scene) == []
    assert bpy.ops.weft.free() == {"FINISHED"}
    assert len(list(cache_folder.glob("*.pc2"))) == 1


# --- undo, saving, loading --------------------------------------------------------------------


def test_a_bake_is_undone_and_redone():
    cloth = small_scenes.add_cloth()
    small_scenes.set_frames(1, 5)
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.weft.bake()
    frames = small_scenes.cached_frames(cloth)
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    cloth = bpy.data.objects["Sheet"]
    assert cloth.data.shape_keys is None
    assert any("not shown" in note for note in state(cloth).notes)
    bpy.ops.ed.redo()
    cloth = bpy.data.objects["Sheet"]
    small_scenes.assert_plays(cloth, frames, 1)
    assert state(cloth).problems == ()


def test_freeing_is_undone_and_redone_with_the_cache(cache_folder):
    cloth = baked()
    frames, files = small_scenes.cached_frames(cloth), small_scenes.files_in(cache_folder)
    bpy.ops.ed.undo_push(message="baked")
    bpy.ops.weft.free()
    assert small_scenes.files_in(cache_folder) == []
    bpy.ops.ed.undo_push(message="freed")
    for _twice in range(2):
        bpy.ops.ed.undo()
        cloth = bpy.data.objects["Sheet"]
        assert small_scenes.files_in(cache_folder) == files
        assert state(cloth).problems == ()
        small_scenes.assert_plays(cloth, frames, 1)
        bpy.ops.ed.redo()
        assert small_scenes.files_in(cache_folder) == []
        assert bpy.data.objects["Sheet"].data.shape_keys is None
    bpy.ops.ed.undo()
    bpy.context.scene.frame_end = 8
    assert bpy.ops.weft.resume() == {"FINISHED"}  # its checkpoints are back as well
    assert np.array_equal(small_scenes.cached_frames(bpy.data.objects["Sheet"])[:5], frames)


def test_undoing_an_older_free_leaves_a_new_bake_alone(cache_folder):
    cloth = baked()
    bpy.ops.ed.undo_push(message="baked")
    bpy.ops.weft.free()
    bpy.ops.ed.undo_push(message="freed")
    cloth = bpy.data.objects["Sheet"]
    cloth.weft.material.density = 0.4
    assert bpy.ops.weft.bake() == {"FINISHED"}
    frames = small_scenes.cached_frames(cloth)
    bpy.ops.ed.undo_push(message="baked again")
    for _step in range(2):
        bpy.ops.ed.undo()
    for _step in range(2):
        bpy.ops.ed.redo()
    assert np.array_equal(small_scenes.cached_frames(bpy.data.objects["Sheet"]), frames)
    assert state(bpy.data.objects["Sheet"]).problems == ()


def test_freed_caches_go_with_the_file_and_after_a_crash(cache_folder, tmp_path):
    baked()
    small_scenes.save(tmp_path / "scene.blend")
    assert bpy.ops.weft.free() == {"FINISHED"}
    (kept,) = cache_folder.glob("freed/*")
    shutil.copytree(kept, tmp_path / "crashed")
    small_scenes.save(tmp_path / "scene.blend")
    small_scenes.reopen(tmp_path / "scene.blend")
    assert not (cache_folder / "freed").exists()
    shutil.copytree(tmp_path / "crashed", cache_folder / "freed" / "left")
    shutil.copytree(tmp_path / "crashed", cache_folder / "freed" / "another")
    (path,) = (cache_folder / "freed" / "another").glob("*.json")
    description = pc2.read_description(path.with_suffix(""))
    description.file = "another"
    pc2.write_description(path.with_suffix(""), description)
    small_scenes.reopen(tmp_path / "scene.blend")
    assert [folder.name for folder in cache_folder.glob("freed/*")] == ["another"]


def test_a_saved_result_plays_after_loading_and_goes_on(tmp_path):
    cloth = baked()
    frames = small_scenes.cached_frames(cloth)
    path = str(tmp_path / "scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    cloth = bpy.data.objects["Sheet"]
    small_scenes.assert_plays(cloth, frames, 1)
    assert state(cloth) == status.Status("", (), state(cloth).notes)
    bpy.context.scene.frame_end = 9
    assert bpy.ops.weft.resume() == {"FINISHED"}
    assert np.array_equal(small_scenes.cached_frames(cloth)[:5], frames)
    bpy.ops.weft.free()
    assert cloth.data.shape_keys is None


def test_a_result_plays_without_the_add_on(tmp_path):
    cloth = baked()
    frames = small_scenes.cached_frames(cloth)
    path = str(tmp_path / "scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    addon.unregister()
    try:
        bpy.ops.wm.open_mainfile(filepath=path)
        small_scenes.assert_plays(bpy.data.objects["Sheet"], frames, 1)
    finally:
        addon.register()


def test_a_file_saved_during_a_bake_opens_in_order(tmp_path):
    cloth = baked()
    frames = small_scenes.cached_frames(cloth)
    cloth.modifiers.new("Subdivision", "SUBSURF")
    path = str(tmp_path / "during.blend")
    small_scenes.set_frames(1, 300)
    running = job.Bake(bpy.context, resume=False)
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    running.stop()
    running.finish(bpy.context)
    bpy.ops.wm.open_mainfile(filepath=path)
    cloth = bpy.data.objects["Sheet"]
    assert cloth.modifiers["Subdivision"].show_viewport
    cloth.modifiers.clear()
    small_scenes.assert_plays(cloth, frames, 1)


def test_loading_another_file_ends_the_bake_and_keeps_its_frames(tmp_path):
    small_scenes.add_cloth()
    small_scenes.set_frames(1, 500)
    path = str(tmp_path / "scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    running = job.Bake(bpy.context, resume=False)
    while running.frame < 4:
        running.pump(0.01)
        running.wait(0.005)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=path)
    assert job.running() is None and running.is_done
    cloth = bpy.data.objects["Sheet"]
    bpy.context.scene.frame_end = running.frame + 2
    assert bpy.ops.weft.resume() == {"FINISHED"}
    assert len(small_scenes.cached_frames(cloth)) == running.frame + 2


def test_undoing_during_a_bake_cancels_it():
    small_scenes.add_cloth()
    small_scenes.set_frames(1, 500)
    bpy.ops.ed.undo_push(message="one")
    bpy.context.scene.weft.wind[0] = 1.0
    bpy.ops.ed.undo_push(message="two")
    running = job.Bake(bpy.context, resume=False)
    while running.frame < 3:
        running.pump(0.01)
        running.wait(0.005)
    bpy.ops.ed.undo()
    while not running.is_done:
        running.pump(0.01)
        running.wait(0.01)
    outcome = running.finish(bpy.context)
    assert outcome.cancelled
    cloth = bpy.data.objects["Sheet"]
    small_scenes.assert_plays(cloth, small_scenes.cached_frames(cloth), 1)


def test_disabling_the_add_on_during_a_bake_ends_it_and_restores_the_scene():
    cloth = small_scenes.add_cloth()
    cloth.modifiers.new("Subdivision", "SUBSURF")
    small_scenes.set_frames(1, 500)
    bpy.context.scene.frame_set(7)
    running = job.Bake(bpy.context, resume=False)
    running.pump(0.05)
    addon.unregister()
    try:
        assert running.is_done and bpy.context.scene.frame_current == 7
        assert cloth.modifiers["Subdivision"].show_viewport
    finally:
        addon.register()


def test_appending_a_cloth_to_its_own_file_makes_a_second_identity(tmp_path):
    cloth = baked()
    path = str(tmp_path / "copy.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    with bpy.data.libraries.load(path) as (source, target):
        target.objects = list(source.objects)
    copy = target.objects[0]
    bpy.context.scene.collection.objects.link(copy)
    bpy.context.view_layer.update()
    assert copy.weft.identity != cloth.weft.identity
    assert state(cloth).problems == ()


KILLED_BLENDER = """
import os, signal, sys
import bpy
import addon
from addon.bake import job

sys.path.insert(0, "tests/blender")
import small_scenes

bpy.ops.wm.read_factory_settings(use_empty=True)
addon.register()
small_scenes.add_cloth()
scene = bpy.context.scene
scene.weft.cache_directory, scene.weft.checkpoint_interval = sys.argv[2], 3
small_scenes.set_frames(1, 400)
bpy.context.view_layer.update()
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[1])
running = job.Bake(bpy.context, resume=False)
while running.frame < 12:
    running.pump(0.01)
    running.wait(0.005)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_bake_that_was_killed_with_blender_goes_on_in_the_saved_file(tmp_path, cache_folder):
    path = tmp_path / "scene.blend"
    command = [sys.executable, "-c", KILLED_BLENDER, path, cache_folder]
    child = subprocess.run(command, cwd=Path(__file__).parents[3], check=False)
    assert child.returncode == -signal.SIGKILL
    bpy.ops.wm.open_mainfile(filepath=str(path))
    cloth = bpy.data.objects["Sheet"]
    kept = small_scenes.cached_frames(cloth)
    assert len(kept) >= 10
    assert any("not shown" in note for note in state(cloth).notes)
    bpy.context.scene.frame_end = 30
    assert bpy.ops.weft.resume() == {"FINISHED"}
    resumed = small_scenes.cached_frames(cloth)
    assert len(resumed) >= 30 and np.array_equal(resumed[: len(kept)], kept)
    small_scenes.assert_plays(cloth, resumed, 1)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    assert np.array_equal(small_scenes.cached_frames(cloth), resumed[:30])


# --- caches that went wrong -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda s: pc2.description_path(s).unlink(), "there is no cache"),
        (lambda s: pc2.data_path(s).unlink(), "frames of the cache are missing"),
        (lambda s: pc2.data_path(s).write_bytes(b"x" * 400), "not a PC2 file of Weft"),
        (lambda s: os.truncate(pc2.data_path(s), 1000), "truncated"),
        (lambda s: pc2.description_path(s).write_text(json.dumps({"format": 9})), "version"),
    ],
)
def test_a_spoilt_cache_is_told_and_the_keys_still_play(spoil, words):
    cloth = baked()
    frames = small_scenes.cached_frames(cloth)
    spoil(small_scenes.stem(cloth))
    addon.handlers._after_save("")  # what makes the panel look at once
    assert words in state(cloth).problems[0]
    small_scenes.assert_plays(cloth, frames, 1)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    assert state(cloth).problems == ()
    assert np.array_equal(small_scenes.cached_frames(cloth), frames)


def test_deleted_shape_keys_are_told_and_come_back():
    cloth = baked()
    cloth.shape_key_clear()
    assert "shape keys of the result are gone" in state(cloth).problems[0]
    assert bpy.ops.weft.resume() == {"FINISHED"}
    small_scenes.assert_plays(cloth, small_scenes.cached_frames(cloth), 1)
    assert state(cloth).problems == ()


@pytest.mark.parametrize("folder", ["file", "file/below", "/proc/weft"])
def test_a_cache_folder_that_cannot_be_used_is_refused(folder, tmp_path):
    (tmp_path / "file").write_text("in the way")
    bpy.context.scene.weft.cache_directory = str(tmp_path / folder)
    cloth = small_scenes.add_cloth()
    cloth.modifiers.new("Subdivision", "SUBSURF")
    with pytest.raises(RuntimeError, match="the cache folder cannot be used: "):
        bpy.ops.weft.bake()
    assert state(cloth) == status.Status("", (), ())
    assert cloth.data.shape_keys is None and cloth.modifiers["Subdivision"].show_viewport


def test_keys_are_told_apart_after_a_linked_duplicate():
    cloth = baked()
    copy = duplicate(cloth, linked=True)
    assert copy.data == cloth.data
    with pytest.raises(RuntimeError, match="has 2 users"):
        bpy.ops.weft.bake()
    bpy.data.objects.remove(copy)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    assert shape_keys.own_keys(cloth)
