# SPDX-License-Identifier: MIT OR Apache-2.0
"""Takes: kept by name, chosen again, removed, saved."""

import shutil
from pathlib import Path

import bpy
import numpy as np
import pytest
import small_scenes
from sheet_with_takes import (
    KINDS,
    bake,
    chosen,
    copies,
    frames_of,
    hung,
    keep,
    step,
    take_stem,
    two_takes,
)
from small_scenes import assert_plays, cached_frames, state

from addon.cache import pc2
from addon.fabrics import presets
from addon.storage import cache_paths, transfer
from addon.takes import results

# --- keeping ----------------------------------------------------------------------------------


def test_a_take_is_a_copy_of_the_result_that_later_bakes_leave_alone(cache_folder):
    cloth = hung()
    cotton = bake(cloth)
    take = keep(cloth)
    assert take.name == "Cotton"
    assert take_stem(take).parent == cache_folder and take_stem(take) != small_scenes.stem(cloth)
    assert chosen(cloth) == ["Cotton"]
    bake(cloth, "denim")
    assert chosen(cloth) == []
    assert np.array_equal(frames_of(cloth.weft.takes[0]), cotton)
    assert bpy.ops.weft.free(only_active=True) == {"FINISHED"}
    assert np.array_equal(frames_of(cloth.weft.takes[0]), cotton)


def test_names_of_takes_are_unique_when_kept_and_when_renamed():
    cloth = hung()
    bake(cloth)
    for _time in range(2):
        keep(cloth)
    assert [take.name for take in cloth.weft.takes] == ["Cotton", "Cotton.001"]
    cloth.weft.takes[1].name = "Cotton"
    assert cloth.weft.takes[1].name == "Cotton.001"
    cloth.weft.takes[1].name = "Première"
    assert cloth.weft.takes[1].name == "Première"
    cloth.weft.takes[0].name = " "
    assert cloth.weft.takes[0].name == "Take"


def test_what_is_no_result_of_the_settings_is_not_kept():
    cloth = hung()
    with pytest.raises(RuntimeError, match="'Sheet' has no result to keep"):
        bpy.ops.weft.take_keep()
    bake(cloth)
    presets.apply(cloth.weft.material, "silk")
    with pytest.raises(RuntimeError, match="the material of 'Sheet' has changed since the bake"):
        bpy.ops.weft.take_keep()
    presets.apply(cloth.weft.material, "cotton")
    pc2.data_path(small_scenes.stem(cloth)).unlink()
    with pytest.raises(RuntimeError, match="the frames of the cache are missing"):
        bpy.ops.weft.take_keep()
    assert not cloth.weft.takes


def test_a_full_disk_leaves_nothing_of_a_take(cache_folder, monkeypatch):
    cloth = hung()
    bake(cloth)
    before = small_scenes.files_in(cache_folder)

    def full(*_arguments):
        raise OSError(28, "No space left on device", "disk")

    monkeypatch.setattr(transfer.pc2, "write_description", full)
    with pytest.raises(RuntimeError, match="No space left on device"):
        bpy.ops.weft.take_keep()
    assert small_scenes.files_in(cache_folder) == before
    assert not cloth.weft.takes


# --- choosing ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_chosen_take_is_the_result_again_to_the_bit_and_up_to_date(kind):
    cloth, cotton, denim = two_takes(kind)
    for name, frames, fabric in (("Light", cotton, "cotton"), ("Heavy", denim, "denim")):
        index = cloth.weft.takes.find(name)
        assert bpy.ops.weft.take_choose(index=index) == {"FINISHED"}
        assert chosen(cloth) == [name]
        assert cloth.weft.material.fabric == fabric
        assert presets.changed_fields(cloth.weft.material) == set()
        assert np.array_equal(cached_frames(cloth), frames)
        assert_plays(cloth, frames, 1)
        assert (state(cloth).outdated, state(cloth).problems) == ("", ())


def test_all_settings_come_back_with_a_take():
    cloth = hung()
    post = small_scenes.add_mesh("Post", *small_scenes.grid(2))
    for name in ("bodies", "winds"):
        bpy.context.scene.collection.children.link(bpy.data.collections.new(name))
    settings = cloth.weft
    attachment = settings.attachments.add()
    attachment.vertex_group, attachment.target, attachment.strength = "pin", post, 0.7
    settings.layer, settings.use_uv, settings.shrink = 3, False, 0.0123
    settings.collision_collection = bpy.data.collections["bodies"]
    settings.field_weights.collection = bpy.data.collections["winds"]
    settings.field_weights.wind, settings.material.bend_warp = 0.3, 7.7e-6
    frames = bake(cloth, "wool")
    keep(cloth)
    settings.attachments.clear()
    for owner, names in (
        (settings, ("layer", "use_uv", "shrink", "collision_collection")),
        (settings.field_weights, ("wind", "collection")),
    ):
        for name in names:
            owner.property_unset(name)
    bpy.data.collections["bodies"].name = "Renamed"
    bake(cloth, "silk")
    assert bpy.ops.weft.take_choose() == {"FINISHED"}
    assert (settings.layer, settings.use_uv) == (3, False)
    assert settings.shrink == pytest.approx(0.0123)
    assert [(a.target, a.vertex_group) for a in settings.attachments] == [(post, "pin")]
    assert settings.attachments[0].strength == pytest.approx(0.7)
    assert settings.collision_collection.name == "Renamed"
    assert settings.field_weights.collection.name == "winds"
    assert settings.material.fabric == "wool"
    assert_plays(cloth, frames, 1)
    assert state(cloth).outdated == ""


def test_a_freed_take_stays_and_undo_shows_it_again():
    cloth, cotton, _denim = two_takes()
    assert bpy.ops.weft.take_choose(index=0) == {"FINISHED"}
    step("chosen")
    assert bpy.ops.weft.free(only_active=True) == {"FINISHED"}
    step("freed")
    assert cloth.weft.result.frame_count == 0
    assert np.array_equal(frames_of(cloth.weft.takes[0]), cotton)
    bpy.ops.ed.undo()
    cloth = bpy.data.objects["Sheet"]
    assert chosen(cloth) == ["Light"]
    assert_plays(cloth, cotton, 1)
    assert state(cloth).problems == ()


def test_a_take_of_another_scene_is_marked():
    cloth, *_frames = two_takes()
    bpy.context.scene.weft.wind = (0.0, 3.0, 0.0)
    assert bpy.ops.weft.take_choose(index=0) == {"FINISHED"}
    assert "settings of the scene have changed" in state(cloth).outdated


@pytest.mark.parametrize("kind", KINDS)
def test_choosing_is_undone_and_redone(kind):
    cloth, cotton, denim = two_takes(kind)
    step("kept")
    assert bpy.ops.weft.take_choose(index=0) == {"FINISHED"}
    step("chosen")
    for action, name, frames in (
        (bpy.ops.ed.undo, "Heavy", denim),
        (bpy.ops.ed.redo, "Light", cotton),
    ):
        action()
        cloth = bpy.data.objects["Sheet"]
        assert chosen(cloth) == [name]
        assert cloth.weft.material.fabric == ("denim" if name == "Heavy" else "cotton")
        assert_plays(cloth, frames, 1)
        assert (state(cloth).outdated, state(cloth).problems) == ("", ())


@pytest.mark.parametrize("kind", KINDS)
def test_a_chosen_take_goes_on_in_a_copy(kind):
    cloth, cotton, _denim = two_takes(kind)
    assert bpy.ops.weft.take_choose(index=0) == {"FINISHED"}
    small_scenes.set_frames(1, 8)
    assert bpy.ops.weft.resume() == {"FINISHED"}
    longer = cached_frames(cloth)
    assert len(longer) == 8 and np.array_equal(longer[:5], cotton)
    assert np.array_equal(frames_of(cloth.weft.takes[0]), cotton)
    assert chosen(cloth) == []
    assert bpy.ops.weft.bake() == {"FINISHED"}
    assert np.array_equal(cached_frames(cloth), longer)


def test_a_rebake_changes_no_take():
    cloth = hung(last=8)
    bpy.context.scene.weft.checkpoint_interval = 2
    cotton = bake(cloth)
    keep(cloth)
    bpy.context.scene.frame_set(4)
    presets.apply(cloth.weft.material, "denim")
    assert bpy.ops.weft.rebake() == {"FINISHED"}
    assert not np.array_equal(cached_frames(cloth), cotton)
    assert chosen(cloth) == []
    assert bpy.ops.weft.take_choose() == {"FINISHED"}
    small_scenes.set_frames(1, 10)
    assert bpy.ops.weft.resume() == {"FINISHED"}
    longer = cached_frames(cloth)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    assert np.array_equal(cached_frames(cloth), longer)


def test_a_take_of_another_mesh_is_refused_by_name():
    cloth, *_frames = two_takes()
    assert bpy.ops.weft.free() == {"FINISHED"}
    cloth.data.vertices.add(1)
    with pytest.raises(RuntimeError, match="'Light' cannot be chosen: it has 64 vertices, and"):
        bpy.ops.weft.take_choose(index=0)


# --- removing ---------------------------------------------------------------------------------


def test_removing_deletes_the_cache_and_undo_brings_it_back(cache_folder):
    cloth, cotton, _denim = two_takes()
    kept = take_stem(cloth.weft.takes[0])
    bake_name = cloth.weft.takes[0].bake
    step("kept")
    assert bpy.ops.weft.take_compare() == {"FINISHED"}
    step("compared")
    assert bpy.ops.weft.take_remove(index=0) == {"FINISHED"}
    step("removed")
    assert [take.name for take in cloth.weft.takes] == ["Heavy"]
    assert [copy.name for copy in copies()] == ["Heavy"]
    left = small_scenes.files_in(cache_folder)
    assert not [path for path in left if path.name.startswith((kept.name, bake_name))]
    bpy.ops.ed.undo()
    cloth = bpy.data.objects["Sheet"]
    assert np.array_equal(frames_of(cloth.weft.takes["Light"]), cotton)
    bpy.ops.ed.redo()
    assert not pc2.data_path(kept).exists()
    small_scenes.new_file(cache_folder)
    assert not (cache_folder / "freed").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_stays_when_its_take_is_removed(kind):
    cloth, cotton, _denim = two_takes(kind)
    assert bpy.ops.weft.take_choose(index=0) == {"FINISHED"}
    assert bpy.ops.weft.take_remove(index=0) == {"FINISHED"}
    assert np.array_equal(cached_frames(cloth), cotton)
    assert_plays(cloth, cotton, 1)
    assert (state(cloth).outdated, state(cloth).problems) == ("", ())


def test_keeping_is_undone_with_the_cache_and_redone(cache_folder):
    cloth = hung()
    cotton = bake(cloth)
    step("baked")
    before = small_scenes.files_in(cache_folder)
    keep(cloth)
    step("kept")
    bpy.ops.ed.undo()
    assert not bpy.data.objects["Sheet"].weft.takes
    assert small_scenes.files_in(cache_folder) == before
    bpy.ops.ed.redo()
    assert np.array_equal(frames_of(bpy.data.objects["Sheet"].weft.takes[0]), cotton)


def test_a_duplicate_shares_the_takes_of_its_original():
    cloth, cotton, _denim = two_takes()
    bpy.ops.object.select_all(action="DESELECT")
    cloth.select_set(True)
    bpy.ops.object.duplicate()
    copy = bpy.context.view_layer.objects.active
    bpy.context.view_layer.update()
    assert bpy.ops.weft.take_remove(index=0) == {"FINISHED"}
    assert np.array_equal(frames_of(cloth.weft.takes["Light"]), cotton)
    bpy.data.objects.remove(cloth)
    assert take_stem(copy.weft.takes["Heavy"]) not in cache_paths.orphans(bpy.context.scene)
    bpy.context.view_layer.objects.active = copy
    assert bpy.ops.weft.take_choose(index=0) == {"FINISHED"}
    assert chosen(copy) == ["Heavy"]


def test_a_take_that_no_cloth_names_is_removed_with_the_caches_of_deleted_objects():
    cloth, *_frames = two_takes()
    kept = take_stem(cloth.weft.takes[0])
    assert cache_paths.orphans(bpy.context.scene) == []
    cloth.weft.takes.remove(0)  # as a file that was closed without saving
    assert cache_paths.orphans(bpy.context.scene) == [kept]
    bpy.ops.weft.remove_orphans()
    assert not pc2.data_path(kept).exists()
    assert frames_of(cloth.weft.takes[0]).shape == (5, 64, 3)


# --- files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_takes_survive_the_first_save_and_reopening(kind, tmp_path):
    small_scenes.new_file()
    cloth, cotton, denim = two_takes(kind)
    assert bpy.ops.weft.take_choose(index=0) == {"FINISHED"}
    assert bpy.ops.weft.take_compare() == {"FINISHED"}
    small_scenes.save(tmp_path / "scene.blend")
    cloth = small_scenes.reopen(tmp_path / "scene.blend")
    assert {take_stem(take).parent for take in cloth.weft.takes} == {tmp_path / "weft_cache"}
    assert chosen(cloth) == ["Light"]
    for take, frames in zip(cloth.weft.takes, (cotton, denim), strict=True):
        assert np.array_equal(frames_of(take), frames)
        assert_plays(bpy.data.objects[take.name], frames, 1)
    assert_plays(cloth, cotton, 1)
    assert (state(cloth).outdated, state(cloth).problems) == ("", ())
    assert cache_paths.orphans(bpy.context.scene) == []
    assert bpy.ops.weft.take_choose(index=1) == {"FINISHED"}
    assert_plays(cloth, denim, 1)
    assert not list(cache_paths.session_directory().glob("*_take_*"))


def test_a_file_and_its_takes_can_be_moved_together(tmp_path):
    cloth, cotton, _denim = two_takes()
    bpy.context.scene.weft.cache_directory = "//weft_cache/"
    bake(cloth, "silk")
    keep(cloth)
    (tmp_path / "here").mkdir()
    small_scenes.save(tmp_path / "here/scene.blend")
    cloth.weft.takes[2].name = "Fine"
    bake(cloth, "silk")
    keep(cloth, "Beside")
    small_scenes.save(tmp_path / "here/scene.blend")
    shutil.move(tmp_path / "here", tmp_path / "there")
    cloth = small_scenes.reopen(tmp_path / "there/scene.blend")
    assert take_stem(cloth.weft.takes["Beside"]).parent == tmp_path / "there/weft_cache"
    assert take_stem(cloth.weft.takes["Fine"]).parent == tmp_path / "there/weft_cache"
    assert np.array_equal(frames_of(cloth.weft.takes["Light"]), cotton)


def test_a_file_that_shares_takes_deletes_none(tmp_path):
    cloth, cotton, _denim = two_takes()
    small_scenes.save(tmp_path / "first.blend")
    kept = take_stem(cloth.weft.takes[0])
    small_scenes.save(tmp_path / "second.blend")
    assert bpy.ops.weft.take_remove(index=0) == {"FINISHED"}
    assert cache_paths.orphans(bpy.context.scene) == []
    cloth = small_scenes.reopen(tmp_path / "first.blend")
    assert take_stem(cloth.weft.takes[0]) == kept
    assert np.array_equal(frames_of(cloth.weft.takes[0]), cotton)


def test_a_failed_save_leaves_takes_where_they_were(tmp_path):
    small_scenes.new_file()
    cloth, cotton, _denim = two_takes()
    with pytest.raises(RuntimeError):
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "missing/scene.blend"))
    assert bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "c.blend"), copy=True)
    assert take_stem(cloth.weft.takes[0]).parent == cache_paths.session_directory()
    assert np.array_equal(frames_of(cloth.weft.takes[0]), cotton)


@pytest.mark.parametrize("ending", [".pc2", ".json"])
def test_a_missing_cache_is_told_by_the_name_of_its_take(ending):
    cloth, cotton, _denim = two_takes()
    stem = take_stem(cloth.weft.takes["Heavy"])
    Path(f"{stem}{ending}").unlink()
    scene = bpy.context.scene
    assert results.problem(scene, cloth.weft.takes["Light"]) == ""
    assert "The take 'Heavy' has no cache in" in results.problem(scene, cloth.weft.takes["Heavy"])
    assert bpy.ops.weft.take_choose(index=0) == {"FINISHED"}
    with pytest.raises(RuntimeError, match="'Heavy' cannot be chosen"):
        bpy.ops.weft.take_choose(index=1)
    assert_plays(cloth, cotton, 1)
    assert cloth.weft.material.fabric == "cotton"
    assert bpy.ops.weft.take_compare() == {"FINISHED"}
    assert [copy.name for copy in copies()] == ["Light"]
    cloth.weft.takes["Light"].is_compared = False
    with pytest.raises(RuntimeError, match="the take 'Heavy' cannot be compared: "):
        bpy.ops.weft.take_compare()
    assert bpy.ops.weft.take_remove(index=1) == {"FINISHED"}
    assert [take.name for take in cloth.weft.takes] == ["Light"]


def test_the_intact_frames_of_a_damaged_take_are_shown():
    cloth, cotton, _denim = two_takes()
    path = pc2.data_path(take_stem(cloth.weft.takes[0]))
    path.write_bytes(path.read_bytes()[:-100])
    assert bpy.ops.weft.take_choose(index=0) == {"FINISHED"}
    assert cloth.weft.result.frame_count == 4
    assert_plays(cloth, cotton[:4], 1)
    path.write_bytes(path.read_bytes()[: pc2.HEADER.size])
    with pytest.raises(RuntimeError, match="'Light' cannot be chosen: the frames of the cache are"):
        bpy.ops.weft.take_choose(index=0)
