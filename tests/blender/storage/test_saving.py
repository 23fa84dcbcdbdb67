# SPDX-License-Identifier: MIT OR Apache-2.0
"""Mesh Cache modifiers play through saving, copying, appending and undoing, also without Weft."""

import subprocess
import sys

import bpy
import numpy as np
import pytest
import small_scenes
from small_scenes import assert_in_order, baked, new_file, reopen, save, state

from addon.storage import cache_paths


def baked_as_modifier(folder=None):
    """A cloth of an untitled file that a modifier shows, and its frames."""
    new_file(folder)
    bpy.context.scene.weft.result_kind = "MODIFIER"
    cloth = baked()
    return cloth, small_scenes.cached_frames(cloth)


def duplicate(cloth):
    copy = cloth.copy()
    copy.data = cloth.data.copy()
    bpy.context.scene.collection.objects.link(copy)
    bpy.context.view_layer.update()
    return copy


def played(cloth):
    return cloth.modifiers[0].filepath


def session_files():
    folder = cache_paths.session_directory()
    return small_scenes.files_in(folder)


PLAIN_BLENDER = """
import sys
import bpy
import numpy as np

bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
frames = np.load(sys.argv[2])
obj = bpy.data.objects["Sheet"]
for number, expected in enumerate(frames, start=1):
    bpy.context.scene.frame_set(number)
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    points = np.empty((len(mesh.vertices), 3), np.float32)
    mesh.vertices.foreach_get("co", points.ravel())
    assert np.abs(points - expected).max() < 1e-6, number
"""


def assert_plays_elsewhere(path, frames, tmp_path):
    """In another process, without Weft and without the folder of this session."""
    np.save(tmp_path / "frames.npy", frames)
    command = [sys.executable, "-c", PLAIN_BLENDER, str(path), str(tmp_path / "frames.npy")]
    assert not session_files()
    subprocess.run(command, check=True)


# --- the first save ---------------------------------------------------------------------------


@pytest.mark.parametrize("absolute", [False, True])
def test_a_file_that_was_saved_once_plays_everywhere(absolute, tmp_path, cache_folder):
    cloth, frames = baked_as_modifier(cache_folder if absolute else None)
    save(tmp_path / "scene.blend")
    assert_in_order(cloth, frames)
    assert_plays_elsewhere(tmp_path / "scene.blend", frames, tmp_path)
    cloth = reopen(tmp_path / "scene.blend")
    assert_in_order(cloth, frames)
    bpy.context.scene.frame_end = 7
    assert bpy.ops.weft.resume() == {"FINISHED"}


def test_duplicates_of_what_was_baked_before_the_first_save_play(tmp_path):
    cloth, frames = baked_as_modifier()
    copy, orphan = duplicate(cloth), duplicate(cloth)
    copy.name, orphan.name = "Aaa", "Sheet of another"
    bpy.data.objects.remove(cloth)
    orphan.name = "Sheet"
    save(tmp_path / "scene.blend")
    assert_plays_elsewhere(tmp_path / "scene.blend", frames, tmp_path)
    reopen(tmp_path / "scene.blend")
    for obj in bpy.data.objects:
        small_scenes.assert_plays(obj, frames, 1)
    assert cache_paths.orphans(bpy.context.scene) == []


def test_a_first_save_that_fails_changes_nothing(tmp_path):
    cloth, frames = baked_as_modifier()
    before, files = played(cloth), session_files()
    (tmp_path / "scene.blend@").mkdir()  # what Blender writes first is called so
    for path in (tmp_path / "scene.blend", tmp_path / "nowhere" / "scene.blend"):
        with pytest.raises(RuntimeError):
            save(path)
    assert played(cloth) == before and session_files() == files
    assert_in_order(cloth, frames)
    assert list((tmp_path / "weft_cache").glob("*.pc2")) == []
    save(tmp_path / "other.blend")
    assert_plays_elsewhere(tmp_path / "other.blend", frames, tmp_path)


def test_a_first_save_whose_cache_cannot_be_copied_is_made_up_for(tmp_path):
    cloth, frames = baked_as_modifier()
    (tmp_path / "weft_cache").write_text("in the way")
    save(tmp_path / "scene.blend")
    assert_in_order(cloth, frames)
    (tmp_path / "weft_cache").unlink()
    save(tmp_path / "scene.blend")
    assert_in_order(cloth, frames)
    assert_plays_elsewhere(tmp_path / "scene.blend", frames, tmp_path)


def test_a_copy_of_an_untitled_file_plays_and_so_does_the_file(tmp_path):
    cloth, frames = baked_as_modifier()
    before, files = played(cloth), session_files()
    save(tmp_path / "copy.blend", copy=True)
    assert bpy.data.filepath == "" and played(cloth) == before and session_files() == files
    assert_in_order(cloth, frames)
    (tmp_path / "other").mkdir()
    save(tmp_path / "other" / "scene.blend")
    for path in (tmp_path / "copy.blend", tmp_path / "other" / "scene.blend"):
        assert_plays_elsewhere(path, frames, tmp_path)
        assert_in_order(reopen(path), frames)


def test_undoing_to_before_the_first_save(tmp_path):
    cloth, frames = baked_as_modifier()
    bpy.ops.ed.undo_push(message="baked")
    save(tmp_path / "scene.blend")
    cloth.location.x = 1.0
    bpy.ops.ed.undo_push(message="moved")
    bpy.ops.ed.undo()
    cloth = bpy.data.objects["Sheet"]
    assert cloth.location.x == 0.0
    assert_in_order(cloth, frames)


# --- later saves ------------------------------------------------------------------------------


def saved_in(folder):
    """A file in a folder with a cloth that a modifier shows, and the frames."""
    folder.mkdir()
    cloth, frames = baked_as_modifier()
    save(folder / "scene.blend")
    return cloth, frames


def test_saving_into_another_folder(tmp_path):
    cloth, frames = saved_in(tmp_path / "p")
    (tmp_path / "q").mkdir()
    save(tmp_path / "q" / "other.blend")
    assert played(cloth).startswith("//../p/weft_cache/")
    assert_in_order(cloth, frames)
    assert_plays_elsewhere(tmp_path / "q" / "other.blend", frames, tmp_path)
    cloth = reopen(tmp_path / "q" / "other.blend")
    assert_in_order(cloth, frames)
    assert any(str(tmp_path / "p" / "weft_cache") in note for note in state(cloth).notes)
    bpy.context.scene.frame_end = 7
    assert bpy.ops.weft.resume() == {"FINISHED"}
    assert small_scenes.stem(cloth).parent == tmp_path / "q" / "weft_cache"
    assert_in_order(reopen(tmp_path / "p" / "scene.blend"), frames)


def test_saving_into_another_folder_without_remapping_is_mended(tmp_path):
    _cloth, frames = saved_in(tmp_path / "p")
    (tmp_path / "q").mkdir()
    save(tmp_path / "q" / "other.blend", relative_remap=False)
    assert_in_order(reopen(tmp_path / "q" / "other.blend"), frames)


def test_a_saved_duplicate_plays(tmp_path):
    cloth, frames = saved_in(tmp_path / "p")
    copy = duplicate(cloth)
    copy.name = "Copy"
    save(tmp_path / "p" / "scene.blend")
    small_scenes.assert_plays(copy, frames, 1)
    reopen(tmp_path / "p" / "scene.blend")
    small_scenes.assert_plays(bpy.data.objects["Copy"], frames, 1)


def test_what_was_appended_plays_when_it_is_saved_elsewhere(tmp_path):
    _cloth, frames = saved_in(tmp_path / "p")
    new_file()
    with bpy.data.libraries.load(str(tmp_path / "p" / "scene.blend")) as (_source, target):
        target.objects = ["Sheet"]
    cloth = target.objects[0]
    bpy.context.scene.collection.objects.link(cloth)
    (tmp_path / "q").mkdir()
    save(tmp_path / "q" / "shot.blend")
    small_scenes.assert_plays(cloth, frames, 1)
    cloth = reopen(tmp_path / "q" / "shot.blend")
    small_scenes.assert_plays(cloth, frames, 1)
    assert bpy.ops.weft.free() == {"FINISHED"}
    assert_in_order(reopen(tmp_path / "p" / "scene.blend"), frames)


def test_what_is_linked_is_left_alone(tmp_path):
    cloth, frames = saved_in(tmp_path / "p")
    before = played(cloth)
    new_file()
    with bpy.data.libraries.load(str(tmp_path / "p" / "scene.blend"), link=True) as (_from, to):
        to.scenes = ["Scene"]
    (tmp_path / "q").mkdir()
    save(tmp_path / "q" / "shot.blend")
    linked = bpy.data.scenes["Scene", str(bpy.data.libraries[0].filepath)]
    assert played(linked.objects[0]) == before
    assert_in_order(reopen(tmp_path / "p" / "scene.blend"), frames)


@pytest.mark.parametrize("kind", ["KEYS", "MODIFIER"])
def test_a_changed_folder_changes_where_the_next_bake_goes(kind, tmp_path):
    cloth, frames = saved_in(tmp_path / "p")
    bpy.context.scene.weft.result_kind = kind
    assert bpy.ops.weft.resume() == {"FINISHED"}
    bpy.context.scene.weft.cache_directory = "//elsewhere/"
    save(tmp_path / "p" / "scene.blend")
    assert_in_order(cloth, frames)
    cloth = reopen(tmp_path / "p" / "scene.blend")
    assert_in_order(cloth, frames)
    bpy.context.scene.frame_end = 7
    assert bpy.ops.weft.resume() == {"FINISHED"}
    assert small_scenes.files_in(tmp_path / "p" / "weft_cache") == []
    bpy.context.scene.weft.cache_directory = "//third/"
    assert bpy.ops.weft.bake() == {"FINISHED"}
    assert small_scenes.files_in(tmp_path / "p" / "elsewhere") == []
    bpy.context.scene.weft.property_unset("cache_directory")
    save(tmp_path / "p" / "scene.blend")
    assert bpy.ops.weft.free() == {"FINISHED"}
    assert small_scenes.files_in(tmp_path / "p" / "third") == []


def test_a_modifier_without_a_file_is_told(tmp_path):
    cloth, _frames = saved_in(tmp_path / "p")
    cloth.modifiers[0].filepath = "//gone.pc2"
    assert any("finds no frames" in problem for problem in state(cloth).problems)
    assert bpy.ops.weft.resume() == {"FINISHED"}
    assert state(cloth).problems == ()


def test_a_modifier_of_the_user_is_no_bake():
    cloth = small_scenes.add_cloth()
    modifier = cloth.modifiers.new("Own", "MESH_CACHE")
    modifier.filepath = "//nowhere.pc2"
    bpy.context.view_layer.update()
    assert state(cloth).is_empty
