# SPDX-License-Identifier: MIT OR Apache-2.0
"""Which .blend file a cache belongs to: no file deletes, changes or plays what is another's."""

import json
import shutil

import bpy
import numpy as np
import pytest
import small_scenes
from small_scenes import assert_in_order, baked, new_file, reopen, save, state

from addon import checks, handlers
from addon.bake import job
from addon.cache import pc2
from addon.storage import cache_paths


def contents(folder):
    """All files of a folder, so that any change shows."""
    return {path.name: path.read_bytes() for path in small_scenes.files_in(folder)}


def bake_with(cloth, wind):
    """A bake that differs from that with other wind; its frames."""
    bpy.context.scene.weft.wind[1] = wind
    assert bpy.ops.weft.bake() == {"FINISHED"}
    return small_scenes.cached_frames(cloth)


def two_versions(tmp_path, kind="MODIFIER"):
    """`a.blend` with a result, saved as `b.blend`, which is open; the cloth and its frames."""
    new_file()
    bpy.context.scene.weft.result_kind = kind
    save(tmp_path / "a.blend")
    cloth = baked()
    frames = small_scenes.cached_frames(cloth)
    save(tmp_path / "a.blend")
    save(tmp_path / "b.blend")
    return cloth, frames


# --- whose caches are deleted -----------------------------------------------------------------


def test_files_of_the_same_name_may_share_a_folder(tmp_path, cache_folder):
    for name in ("p", "q"):
        (tmp_path / name).mkdir()
        new_file(cache_folder)
        save(tmp_path / name / "shot.blend")
        cloth = baked()
        save(tmp_path / name / "shot.blend")
        if name == "p":
            others = contents(cache_folder)
    assert bpy.ops.weft.free() == {"FINISHED"}
    bpy.data.objects.remove(cloth)
    assert cache_paths.orphans(bpy.context.scene) == []
    assert bpy.ops.weft.remove_orphans() == {"FINISHED"}
    assert contents(cache_folder) == others


def test_untitled_files_do_not_own_what_other_untitled_files_baked(tmp_path, cache_folder):
    baked()
    save(tmp_path / "named.blend")
    before = contents(cache_folder)
    new_file(cache_folder)
    assert cache_paths.orphans(bpy.context.scene) == []
    bpy.data.objects.remove(baked("Other"))
    assert [stem.name[:6] for stem in cache_paths.orphans(bpy.context.scene)] == ["Other_"]
    assert bpy.ops.weft.free() == {"FINISHED"}
    assert bpy.ops.weft.remove_orphans() == {"FINISHED"}
    assert contents(cache_folder) == before
    assert state(reopen(tmp_path / "named.blend")).problems == ()


@pytest.mark.parametrize("reopened", [False, True])
@pytest.mark.parametrize("absolute", [False, True])
def test_what_was_baked_before_the_first_save_is_the_files(
    absolute, reopened, tmp_path, cache_folder
):
    new_file(cache_folder if absolute else None)
    cloth = baked()
    save(tmp_path / "scene.blend")
    if reopened:
        cloth = reopen(tmp_path / "scene.blend")
    bpy.data.objects.remove(cloth)
    assert [stem.name[:6] for stem in cache_paths.orphans(bpy.context.scene)] == ["Sheet_"]
    assert bpy.ops.weft.remove_orphans() == {"FINISHED"}
    assert small_scenes.files_in(cache_paths.directory(bpy.context.scene)) == []


def test_a_cache_that_a_duplicate_plays_is_no_orphan(cache_folder):
    bpy.context.scene.weft.result_kind = "MODIFIER"
    cloth = baked()
    frames = small_scenes.cached_frames(cloth)
    copy = cloth.copy()
    copy.data = cloth.data.copy()
    bpy.context.scene.collection.objects.link(copy)
    bpy.context.view_layer.update()
    bpy.data.objects.remove(cloth)
    assert cache_paths.orphans(bpy.context.scene) == []
    small_scenes.assert_plays(copy, frames, 1)


# --- two files with one identity --------------------------------------------------------------


@pytest.mark.parametrize("kind", ["KEYS", "MODIFIER"])
def test_each_version_of_a_file_keeps_its_own_cache(kind, tmp_path):
    cloth, frames = two_versions(tmp_path, kind)
    assert_in_order(cloth, frames)
    other = bake_with(cloth, 5.0)
    assert np.abs(other - frames).max() > 1e-3
    save(tmp_path / "b.blend")
    assert_in_order(reopen(tmp_path / "a.blend"), frames)
    assert_in_order(reopen(tmp_path / "b.blend"), other)
    bpy.context.scene.frame_end = 7
    assert bpy.ops.weft.resume() == {"FINISHED"}


def test_freeing_one_version_leaves_the_other_as_it_was(tmp_path):
    cloth, frames = two_versions(tmp_path, "KEYS")
    before = contents(tmp_path / "weft_cache")
    assert bpy.ops.weft.free() == {"FINISHED"}
    assert cloth.data.shape_keys is None and contents(tmp_path / "weft_cache") == before
    cloth = reopen(tmp_path / "a.blend")
    assert_in_order(cloth, frames)
    bpy.context.scene.frame_end = 7
    assert bpy.ops.weft.resume() == {"FINISHED"}
    assert bpy.ops.weft.free() == {"FINISHED"}
    assert small_scenes.files_in(tmp_path / "weft_cache") == []


@pytest.mark.parametrize("kind", ["KEYS", "MODIFIER"])
def test_a_version_whose_cache_was_baked_anew_by_the_other_is_told(kind, tmp_path):
    two_versions(tmp_path, kind)
    cloth = reopen(tmp_path / "a.blend")
    bake_with(cloth, 5.0)
    save(tmp_path / "a.blend")
    cloth = reopen(tmp_path / "b.blend")
    assert "of another bake" in state(cloth).problems[0]
    assert any("of another bake" in each.title for each in checks.check_scene(bpy.context))


@pytest.mark.parametrize("rebake", [False, True])
def test_a_version_goes_on_from_a_copy_of_the_others_cache(rebake, tmp_path):
    cloth, frames = two_versions(tmp_path)
    before = contents(tmp_path / "weft_cache")
    bpy.context.scene.frame_end = 8
    bpy.context.scene.frame_set(5)
    assert (bpy.ops.weft.rebake() if rebake else bpy.ops.weft.resume()) == {"FINISHED"}
    found = small_scenes.cached_frames(cloth)
    assert len(found) == 8 and np.array_equal(found[:5], frames)
    assert_in_order(cloth, found)
    after = contents(tmp_path / "weft_cache")
    assert after | before == after and len(after) > len(before)
    save(tmp_path / "b.blend")
    assert bpy.ops.weft.bake() == {"FINISHED"}
    assert len(list((tmp_path / "weft_cache").glob("*.pc2"))) == 2
    assert_in_order(reopen(tmp_path / "a.blend"), frames)


def test_files_that_one_garment_was_appended_to_keep_their_own_caches(tmp_path):
    new_file()
    small_scenes.add_cloth()
    bpy.context.view_layer.update()  # gives it its identity
    save(tmp_path / "asset.blend")
    frames = {}
    for name, wind in (("sh010", 0.0), ("sh020", 5.0)):
        new_file()
        bpy.context.scene.weft.result_kind = "MODIFIER"
        with bpy.data.libraries.load(str(tmp_path / "asset.blend")) as (_source, target):
            target.objects = ["Sheet"]
        bpy.context.scene.collection.objects.link(target.objects[0])
        save(tmp_path / f"{name}.blend")
        small_scenes.set_frames(1, 5)
        assert not state(bpy.data.objects["Sheet"]).notes
        frames[name] = bake_with(bpy.data.objects["Sheet"], wind)
        save(tmp_path / f"{name}.blend")
    for name, expected in frames.items():
        assert_in_order(reopen(tmp_path / f"{name}.blend"), expected)


def test_the_result_of_an_earlier_bake_is_told_when_the_file_was_not_saved(tmp_path):
    new_file()
    bpy.context.scene.weft.result_kind = "MODIFIER"
    save(tmp_path / "a.blend")
    cloth = baked()
    save(tmp_path / "a.blend")
    bake_with(cloth, 5.0)
    cloth = reopen(tmp_path / "a.blend")
    assert "of another bake" in state(cloth).problems[0]
    bake_with(cloth, 0.0)
    assert state(cloth).problems == ()
    assert len(list((tmp_path / "weft_cache").glob("*.pc2"))) == 1


def test_a_bake_over_another_versions_result_is_undone(tmp_path):
    cloth, frames = two_versions(tmp_path)
    bpy.ops.ed.undo_push(message="before")
    bake_with(cloth, 5.0)
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    assert_in_order(bpy.data.objects["Sheet"], frames)


# --- files that were copied, moved, made from others ------------------------------------------


def test_a_file_copied_outside_of_blender_is_another_file(tmp_path):
    cloth, frames = two_versions(tmp_path)
    shutil.copy(tmp_path / "a.blend", tmp_path / "c.blend")
    before = contents(tmp_path / "weft_cache")
    cloth = reopen(tmp_path / "c.blend")
    assert_in_order(cloth, frames)
    other = bake_with(cloth, 5.0)
    save(tmp_path / "c.blend")
    bpy.data.objects.remove(cloth)
    assert len(cache_paths.orphans(bpy.context.scene)) == 1
    assert bpy.ops.weft.remove_orphans() == {"FINISHED"}
    assert contents(tmp_path / "weft_cache") == before
    assert_in_order(reopen(tmp_path / "a.blend"), frames)
    assert len(other) == 5


def test_a_renamed_file_keeps_its_caches(tmp_path):
    new_file()
    save(tmp_path / "a.blend")
    baked()
    save(tmp_path / "a.blend")
    (tmp_path / "a.blend").rename(tmp_path / "renamed.blend")
    cloth = reopen(tmp_path / "renamed.blend")
    assert state(cloth).problems == ()
    assert bpy.ops.weft.bake() == {"FINISHED"}
    assert len(list((tmp_path / "weft_cache").glob("*.pc2"))) == 1
    assert bpy.ops.weft.free() == {"FINISHED"}
    assert small_scenes.files_in(tmp_path / "weft_cache") == []


@pytest.mark.parametrize("moved", [False, True])
def test_a_project_is_moved_or_copied_with_its_caches(moved, tmp_path):
    (tmp_path / "p").mkdir()
    new_file()
    bpy.context.scene.weft.result_kind = "MODIFIER"
    save(tmp_path / "p" / "a.blend")
    cloth = baked()
    frames = small_scenes.cached_frames(cloth)
    save(tmp_path / "p" / "a.blend")
    new_file()
    (shutil.move if moved else shutil.copytree)(tmp_path / "p", tmp_path / "q")
    cloth = reopen(tmp_path / "q" / "a.blend")
    assert_in_order(cloth, frames)
    assert small_scenes.stem(cloth).parent == tmp_path / "q" / "weft_cache"
    assert bpy.ops.weft.free() == {"FINISHED"}
    assert small_scenes.files_in(tmp_path / "q" / "weft_cache") == []
    assert moved or len(small_scenes.files_in(tmp_path / "p" / "weft_cache")) > 1


def test_a_saved_copy_is_another_file(tmp_path):
    new_file()
    save(tmp_path / "a.blend")
    cloth = baked()
    frames = small_scenes.cached_frames(cloth)
    save(tmp_path / "copy.blend", copy=True)
    word = bpy.context.scene.weft.file
    save(tmp_path / "a.blend")
    assert bpy.context.scene.weft.file == word
    reopen(tmp_path / "copy.blend")
    assert bpy.context.scene.weft.file not in {"", word}
    assert bpy.ops.weft.free() == {"FINISHED"}
    assert_in_order(reopen(tmp_path / "a.blend"), frames)


def test_saving_under_another_name_is_not_undone(tmp_path):
    new_file()
    cloth = baked()
    save(tmp_path / "a.blend")
    bpy.ops.ed.undo_push(message="baked")
    save(tmp_path / "b.blend")
    word = bpy.context.scene.weft.file
    cloth.location.x = 1.0
    bpy.ops.ed.undo_push(message="moved")
    bpy.ops.ed.undo()  # to before saving
    assert bpy.data.objects["Sheet"].location.x == 0.0
    assert bpy.context.scene.weft.file == word
    reopen(tmp_path / "a.blend")
    assert bpy.context.scene.weft.file not in {"", word}


def test_a_new_file_from_a_startup_file_is_another_file(tmp_path):
    new_file()
    small_scenes.add_cloth()
    bpy.context.view_layer.update()  # gives it its identity
    save(tmp_path / "template.blend")
    word = bpy.context.scene.weft.file
    bpy.ops.wm.read_homefile(filepath=str(tmp_path / "template.blend"))
    assert bpy.data.filepath == ""
    assert bpy.context.scene.weft.file not in {"", word}


def test_saving_during_a_bake_under_another_name(tmp_path):
    new_file()
    cloth = small_scenes.add_cloth()
    small_scenes.set_frames(1, 30)
    bpy.context.view_layer.update()  # gives it its identity
    save(tmp_path / "a.blend")
    running = job.Bake(bpy.context)
    running.pump(0.01)
    save(tmp_path / "b.blend")
    while not running.is_done:
        running.pump(0.02)
        running.wait(0.01)
    assert not running.finish(bpy.context).error
    frames = small_scenes.cached_frames(cloth)
    assert_in_order(cloth, frames)
    save(tmp_path / "b.blend")
    bake_with(cloth, 5.0)
    cloth = reopen(tmp_path / "a.blend")
    assert bpy.ops.weft.resume() == {"FINISHED"}
    assert_in_order(cloth, frames)


# --- caches of versions before each said whose it is ------------------------------------------


def made_old(cloth, blend):
    """Turns a cache and a result into what earlier versions of Weft wrote."""
    stem = small_scenes.stem(cloth)
    body = json.loads(pc2.description_path(stem).read_bytes())
    body = {k: v for k, v in body.items() if k not in {"file", "identity", "format", "checksum"}}
    body["blend"] = blend
    old = stem.with_name(cloth.weft.identity)
    text = json.dumps({"format": 2, **body, "checksum": pc2._checksum(body)})
    pc2.description_path(old).write_text(text)
    pc2.data_path(stem).rename(pc2.data_path(old))
    pc2.description_path(stem).unlink()
    cloth.weft.result.cache = cloth.weft.result.bake = ""
    if cloth.weft.result.modifier:
        cloth.modifiers[0].filepath = f"//weft_cache/{old.name}.pc2"


def old_file(tmp_path, kind="KEYS", folder=None):
    """`a.blend`, with a result, as an earlier version of Weft saved it; the frames."""
    new_file(folder)
    bpy.context.scene.weft.result_kind = kind
    save(tmp_path / "a.blend")
    cloth = baked()
    frames = small_scenes.cached_frames(cloth)
    made_old(cloth, "a.blend")
    bpy.context.scene.weft.file = ""
    bpy.app.handlers.save_pre.remove(handlers._before_save)
    try:
        save(tmp_path / "a.blend")
    finally:
        bpy.app.handlers.save_pre.append(handlers._before_save)
    return frames


@pytest.mark.parametrize("kind", ["KEYS", "MODIFIER"])
def test_an_old_file_goes_on_with_its_cache(kind, tmp_path):
    frames = old_file(tmp_path, kind)
    cloth = reopen(tmp_path / "a.blend")
    assert_in_order(cloth, frames)
    bpy.context.scene.frame_end = 8
    assert bpy.ops.weft.resume() == {"FINISHED"}
    assert np.array_equal(small_scenes.cached_frames(cloth)[:5], frames)
    assert state(cloth).problems == ()
    assert bpy.ops.weft.bake() == {"FINISHED"}
    assert len(list((tmp_path / "weft_cache").glob("*.pc2"))) == 1
    save(tmp_path / "a.blend")
    assert state(reopen(tmp_path / "a.blend")).problems == ()


def test_an_old_cache_beside_its_file_is_the_files(tmp_path):
    old_file(tmp_path)
    cloth = reopen(tmp_path / "a.blend")
    bpy.data.objects.remove(cloth)
    assert len(cache_paths.orphans(bpy.context.scene)) == 1
    assert bpy.ops.weft.remove_orphans() == {"FINISHED"}
    assert small_scenes.files_in(tmp_path / "weft_cache") == []


@pytest.mark.parametrize("bake_anew", [False, True])
def test_an_old_cache_in_a_shared_folder_may_be_another_files(bake_anew, tmp_path, cache_folder):
    frames = old_file(tmp_path, "KEYS", cache_folder)
    before = contents(cache_folder)
    cloth = reopen(tmp_path / "a.blend")  # the folder is another than each file has beside it
    assert_in_order(cloth, frames)
    if bake_anew:
        assert bpy.ops.weft.bake() == {"FINISHED"}
        assert state(cloth).problems == ()
    assert bpy.ops.weft.free() == {"FINISHED"}
    bpy.data.objects.remove(cloth)
    assert cache_paths.orphans(bpy.context.scene) == []
    assert contents(cache_folder) == before


def test_another_version_of_an_old_file_leaves_its_cache(tmp_path):
    frames = old_file(tmp_path, "MODIFIER")
    before = contents(tmp_path / "weft_cache")
    cloth = reopen(tmp_path / "a.blend")
    save(tmp_path / "b.blend")
    bake_with(cloth, 5.0)
    bpy.data.objects.remove(cloth)
    assert bpy.ops.weft.remove_orphans() == {"FINISHED"}
    assert contents(tmp_path / "weft_cache") == before
    assert_in_order(reopen(tmp_path / "a.blend"), frames)


def test_an_old_file_whose_modifier_plays_the_folder_of_a_session_is_mended(tmp_path):
    frames = old_file(tmp_path, "MODIFIER")
    cloth = reopen(tmp_path / "a.blend")
    cloth.modifiers[0].filepath = "//../../../blender_gone/weft_cache/x.pc2"
    save(tmp_path / "a.blend")
    assert_in_order(reopen(tmp_path / "a.blend"), frames)
