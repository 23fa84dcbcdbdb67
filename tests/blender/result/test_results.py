# SPDX-License-Identifier: MIT OR Apache-2.0
"""Results as Mesh Cache modifiers, bakes of several scenes, exports."""

import bpy
import numpy as np
import pytest
import small_scenes
from small_scenes import baked, state

from addon.bake import job, status
from addon.blender import fcurves
from addon.checks import operators
from addon.result import shape_keys


def as_modifier():
    bpy.context.scene.weft.result_kind = "MODIFIER"


# --- mesh cache -------------------------------------------------------------------------------


def test_a_result_can_be_a_mesh_cache_modifier():
    as_modifier()
    cloth = baked()
    assert cloth.data.shape_keys is None and cloth.modifiers[0].type == "MESH_CACHE"
    small_scenes.assert_plays(cloth, small_scenes.cached_frames(cloth), 1)
    assert state(cloth).notes[0] == "Mesh Cache modifier: frames 1 to 5"
    assert state(cloth).outdated == "" and state(cloth).problems == ()
    assert bpy.ops.weft.free() == {"FINISHED"}
    assert len(cloth.modifiers) == 0 and cloth.weft.result.modifier == ""


def test_the_modifier_comes_first_and_deforming_ones_rest():
    as_modifier()
    cloth = small_scenes.add_cloth()
    displace = cloth.modifiers.new("Displace", "DISPLACE")
    displace.direction, displace.mid_level, displace.strength = "X", 0.0, 0.3
    cloth.modifiers.new("Subdivision", "SUBSURF")
    small_scenes.set_frames(1, 4)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    assert [m.name for m in cloth.modifiers] == ["Weft", "Displace", "Subdivision"]
    assert [m.show_viewport for m in cloth.modifiers] == [True, False, True]
    frames = small_scenes.cached_frames(cloth)
    assert frames[-1][:8, 0].mean() == pytest.approx(0.3, abs=1e-5)
    assert bpy.ops.weft.bake() == {"FINISHED"}  # with the result shown
    assert np.array_equal(small_scenes.cached_frames(cloth), frames)
    assert len(cloth.modifiers) == 3 and state(cloth).outdated == ""
    bpy.ops.weft.free()
    assert [m.show_viewport for m in cloth.modifiers] == [True, True]


def test_one_kind_of_result_replaces_the_other():
    cloth = baked()
    assert shape_keys.own_keys(cloth)
    as_modifier()
    assert bpy.ops.weft.resume() == {"FINISHED"}  # the cache is complete: it is shown anew
    assert cloth.data.shape_keys is None and cloth.modifiers[0].name == "Weft"
    small_scenes.assert_plays(cloth, small_scenes.cached_frames(cloth), 1)
    bpy.context.scene.weft.result_kind = "KEYS"
    assert bpy.ops.weft.resume() == {"FINISHED"}
    assert len(cloth.modifiers) == 0 and len(shape_keys.own_keys(cloth)) == 5
    small_scenes.assert_plays(cloth, small_scenes.cached_frames(cloth), 1)


def test_the_users_keys_are_overwritten_and_back_after_freeing():
    as_modifier()
    cloth = small_scenes.add_cloth()
    cloth.shape_key_add(name="Basis", from_mix=False)
    key = cloth.shape_key_add(name="User", from_mix=False)
    for point in key.points:
        point.co.z += 0.2
    key.value = 1.0
    small_scenes.set_frames(1, 3)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    small_scenes.assert_plays(cloth, small_scenes.cached_frames(cloth), 1)
    bpy.ops.weft.free()
    assert [block.name for block in cloth.data.shape_keys.key_blocks] == ["Basis", "User"]
    assert small_scenes.evaluated(cloth)[:, 2] == pytest.approx(0.2)


def test_a_deleted_modifier_is_told_and_comes_back():
    as_modifier()
    cloth = baked()
    cloth.modifiers.clear()
    assert "Mesh Cache modifier of the result is gone" in state(cloth).problems[0]
    assert bpy.ops.weft.resume() == {"FINISHED"}
    small_scenes.assert_plays(cloth, small_scenes.cached_frames(cloth), 1)
    assert state(cloth).problems == ()


def test_the_modifier_follows_the_cache_when_the_file_is_saved(tmp_path):
    as_modifier()
    bpy.context.scene.weft.property_unset("cache_directory")
    cloth = baked()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    played = f"//weft_cache/{small_scenes.stem(cloth).name}.pc2"
    assert cloth.modifiers[0].filepath == played
    small_scenes.assert_plays(cloth, small_scenes.cached_frames(cloth), 1)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    cloth = bpy.data.objects["Sheet"]
    assert cloth.modifiers[0].filepath == played
    small_scenes.assert_plays(cloth, small_scenes.cached_frames(cloth), 1)


def test_a_cancelled_bake_leaves_a_modifier_that_plays():
    as_modifier()
    cloth = small_scenes.add_cloth()
    small_scenes.set_frames(1, 500)
    running = job.Bake(bpy.context)
    while running.frame < 4:
        running.pump(0.01)
        running.wait(0.005)
    running.stop()
    assert running.finish(bpy.context).cancelled
    small_scenes.assert_plays(cloth, small_scenes.cached_frames(cloth), 1)


# --- an action of several cloths --------------------------------------------------------------


def with_a_key(name, x):
    """A cloth with an animated shape key."""
    cloth = small_scenes.add_cloth(name)
    cloth.location.x = x
    cloth.shape_key_add(name="Basis", from_mix=False)
    cloth.shape_key_add(name="Fit", from_mix=False).keyframe_insert("value", frame=1)
    return cloth


def animate_alike(cloth, other):
    """The keys of the one play the action of the other."""
    source = other.data.shape_keys.animation_data
    data = cloth.data.shape_keys.animation_data_create()
    data.action = source.action
    if hasattr(data, "action_slot"):
        data.action_slot = source.action_slot


def test_an_action_of_two_cloths_stays_theirs():
    first, second = with_a_key("First", 0.0), with_a_key("Second", 3.0)
    animate_alike(second, first)
    action = fcurves.action_of(first.data.shape_keys)
    small_scenes.set_frames(1, 3)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    for cloth in (first, second):
        small_scenes.assert_plays(cloth, small_scenes.cached_frames(cloth), 1)
    for _before_and_after in range(2):
        for cloth in (first, second):
            (curve,) = fcurves.curves(cloth.data.shape_keys)
            assert curve.data_path == 'key_blocks["Fit"].value'
            assert fcurves.action_of(cloth.data.shape_keys) == action
        bpy.ops.weft.free()


def test_one_cloth_that_cannot_take_its_result_does_not_keep_the_others_from_theirs(monkeypatch):
    first, second = small_scenes.add_cloth("First"), small_scenes.add_cloth("Second")
    second.location.x = 3.0
    small_scenes.set_frames(1, 3)
    write = shape_keys.write

    def fail_for_first(obj, *arguments):
        if obj == first:
            raise RuntimeError("no more keys")
        write(obj, *arguments)

    monkeypatch.setattr(shape_keys, "write", fail_for_first)
    with pytest.raises(RuntimeError, match=r"'First' cannot take its result.*no more keys"):
        bpy.ops.weft.bake()
    assert first.data.shape_keys is None
    small_scenes.assert_plays(second, small_scenes.cached_frames(second), 1)
    monkeypatch.setattr(shape_keys, "write", write)
    assert bpy.ops.weft.resume() == {"FINISHED"}
    for cloth in (first, second):
        small_scenes.assert_plays(cloth, small_scenes.cached_frames(cloth), 1)


def test_a_result_of_earlier_versions_is_replaced_and_freed():
    """Its curves are in the action of the keys, beside those of the user."""
    cloth = with_a_key("Sheet", 0.0)
    small_scenes.set_frames(1, 3)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    frames = small_scenes.cached_frames(cloth)
    keys = cloth.data.shape_keys
    (track,) = fcurves.tracks(keys)
    for curve in fcurves.strip_curves(track.strips[0]):
        (curves,) = fcurves.curve_collections(keys)
        copy = curves.new(curve.data_path)
        for point in curve.keyframe_points:
            copy.keyframe_points.insert(*point.co).interpolation = "LINEAR"
    fcurves.remove_track(keys, track)
    small_scenes.assert_plays(cloth, frames, 1)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    for _before_and_after in range(2):
        (curve,) = fcurves.curves(keys)
        assert curve.data_path == 'key_blocks["Fit"].value'
        bpy.ops.weft.free()


def test_the_panel_recommends_mesh_cache_for_a_long_result(monkeypatch):
    cloth = baked(last=3)
    assert not any("Mesh Cache" in note for note in state(cloth).notes)
    monkeypatch.setattr(status, "LARGE_KEYS", 1e-3)
    status.forget()
    assert "MB in the file: Mesh Cache" in state(cloth).notes[0]


def test_nla_that_was_off_is_off_again():
    cloth = with_a_key("Sheet", 0.0)
    data = cloth.data.shape_keys.animation_data
    data.use_nla = False
    small_scenes.set_frames(1, 3)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    small_scenes.assert_plays(cloth, small_scenes.cached_frames(cloth), 1)
    bpy.ops.weft.free()
    assert not data.use_nla


def test_half_a_result_is_taken_back(monkeypatch):
    cloth = with_a_key("Sheet", 0.0)

    def fail(*_arguments):
        raise RuntimeError("no more curves")

    monkeypatch.setattr(fcurves, "add_track", fail)
    small_scenes.set_frames(1, 3)
    with pytest.raises(RuntimeError, match=r"'Sheet' cannot take its result.*no more curves"):
        bpy.ops.weft.bake()
    blocks = cloth.data.shape_keys.key_blocks
    assert [(block.name, block.mute) for block in blocks] == [("Basis", False), ("Fit", False)]


@pytest.mark.parametrize(("is_keyed", "is_freed"), [(True, True), (False, True), (False, False)])
def test_a_copy_that_plays_the_action_of_its_original_leaves_it_alone(is_keyed, is_freed):
    original = with_a_key("Sheet", 0.0) if is_keyed else small_scenes.add_cloth()
    small_scenes.set_frames(1, 4)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    frames = small_scenes.cached_frames(original)
    copy = original.copy()
    copy.data = original.data.copy()  # its keys are copied, and play the same action
    bpy.context.scene.collection.objects.link(copy)
    bpy.context.view_layer.objects.active = copy
    bpy.context.view_layer.update()
    if is_freed:
        assert bpy.ops.weft.free(only_active=True) == {"FINISHED"}
        small_scenes.assert_plays(original, frames, 1)
    copy.location.x = 3.0
    assert bpy.ops.weft.bake() == {"FINISHED"}
    for cloth in (original, copy):
        small_scenes.assert_plays(cloth, small_scenes.cached_frames(cloth), 1)


# --- several scenes ---------------------------------------------------------------------------


def test_all_scenes_with_a_cloth_are_baked(tmp_path):
    first = baked(last=3)
    bpy.ops.weft.free()
    other = bpy.data.scenes.new("Other")
    empty = bpy.data.scenes.new("Empty")
    other.weft.cache_directory = str(tmp_path / "other")
    other.frame_start, other.frame_end = 2, 4
    mesh = first.data.copy()
    second = bpy.data.objects.new("Second", mesh)
    second.weft.role = "CLOTH"
    other.collection.objects.link(second)
    assert bpy.ops.weft.bake_all() == {"FINISHED"}
    assert bpy.context.window.scene.name == "Scene"
    assert first.weft.result.frame_count == 3
    assert (second.weft.result.frame_start, second.weft.result.frame_count) == (2, 3)
    assert len(list((tmp_path / "other").glob("*.pc2"))) == 1
    assert empty.frame_current == 1


def add_scene(name, folder, *objects):
    scene = bpy.data.scenes.new(name)
    scene.weft.cache_directory = str(folder / name)
    scene.frame_start, scene.frame_end = 1, 3
    for obj in objects:
        scene.collection.objects.link(obj)
    return scene


def new_cloth(name):
    """A cloth in no scene."""
    cloth = small_scenes.add_cloth(name)
    bpy.context.scene.collection.objects.unlink(cloth)
    return cloth


def exclude_all(scene):
    """Moves the objects of a scene into a collection that its view layer excludes."""
    collection = bpy.data.collections.new("Excluded")
    scene.collection.children.link(collection)
    for obj in list(scene.collection.objects):
        collection.objects.link(obj)
        scene.collection.objects.unlink(obj)
    scene.view_layers[0].update()
    scene.view_layers[0].layer_collection.children["Excluded"].exclude = True


def test_a_scene_whose_cloth_is_excluded_is_passed_over(tmp_path, capfd):
    small_scenes.set_frames(1, 3)
    first, last = small_scenes.add_cloth("First"), new_cloth("Last")
    exclude_all(add_scene("B", tmp_path, new_cloth("Hidden")))
    add_scene("C", tmp_path, last)
    assert bpy.ops.weft.bake_all() == {"FINISHED"}
    assert first.weft.result.frame_count == last.weft.result.frame_count == 3
    words = "Warning: scene 'B': 'Hidden' takes no part: its collection is excluded from the view"
    assert words in capfd.readouterr().out


def test_where_all_cloths_are_excluded_that_is_said():
    small_scenes.add_cloth("Hidden")
    exclude_all(bpy.context.scene)
    for operator in (bpy.ops.weft.bake, bpy.ops.weft.bake_all):
        with pytest.raises(RuntimeError, match="'Hidden' takes no part: its collection is exclu"):
            operator()
    bpy.ops.weft.check_scene()
    titles = [finding.title for finding in operators._findings]
    assert titles == ["Hidden: its collection is excluded from the view layer"]


def test_a_scene_that_is_refused_does_not_keep_the_others_from_being_baked(tmp_path):
    small_scenes.set_frames(1, 3)
    first, spoilt, last = small_scenes.add_cloth("First"), new_cloth("Spoilt"), new_cloth("Last")
    spoilt.weft.pin_group = "gone"
    add_scene("B", tmp_path, spoilt)
    add_scene("C", tmp_path, last)
    with pytest.raises(RuntimeError, match="scene 'B': 'Spoilt' has no vertex group 'gone'"):
        bpy.ops.weft.bake_all()
    assert first.weft.result.frame_count == last.weft.result.frame_count == 3
    assert bpy.context.window.scene.name == "Scene"


def test_a_cloth_of_two_scenes_is_baked_with_the_first(tmp_path, capfd):
    small_scenes.set_frames(1, 5)
    shared, last = small_scenes.add_cloth("Shared"), new_cloth("Last")
    add_scene("Second", tmp_path, shared)
    add_scene("Third", tmp_path, last)
    assert bpy.ops.weft.bake_all() == {"FINISHED"}
    assert shared.weft.result.frame_count == 5 and last.weft.result.frame_count == 3
    words = "Warning: scene 'Second': 'Shared' is in the scene 'Scene' as well and can have one"
    assert words in capfd.readouterr().out
    bpy.context.window.scene = bpy.data.scenes["Second"]
    assert bpy.ops.weft.bake() == {"FINISHED"}
    assert shared.weft.result.frame_count == 3


def test_scenes_of_other_files_are_left_out(tmp_path):
    small_scenes.add_cloth("Linked")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.context.scene.weft.cache_directory = str(tmp_path / "cache")
    cloth = small_scenes.add_cloth("Own")
    small_scenes.set_frames(1, 3)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_there, wanted):
        wanted.scenes = ["Scene"]
    assert bpy.ops.weft.bake_all() == {"FINISHED"}
    assert cloth.weft.result.frame_count == 3


def test_baking_all_scenes_without_a_cloth_is_refused():
    with pytest.raises(RuntimeError, match="no scene of this file has a cloth"):
        bpy.ops.weft.bake_all()


# --- export -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["ALEMBIC", "USD"])
@pytest.mark.parametrize("result_kind", ["KEYS", "MODIFIER"])
def test_baked_cloths_are_exported_and_come_back(kind, result_kind, tmp_path):
    bpy.context.scene.weft.result_kind = result_kind
    cloth = baked(last=6)
    small_scenes.add_floor()
    frames = small_scenes.cached_frames(cloth)
    small_scenes.set_frames(1, 30)
    path = tmp_path / ENDINGS[kind]
    assert bpy.ops.weft.export(kind=kind, filepath=str(path)) == {"FINISHED"}
    assert bpy.context.scene.frame_end == 30
    assert_comes_back(path, {frame: frames[frame - 1] for frame in (1, 4, 6)})


ENDINGS = {"ALEMBIC": "cloth.abc", "USD": "cloth.usdc"}


def assert_comes_back(path, expected):
    """One mesh comes back from a file, at each of these frames of the timeline as told."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    if path.suffix == ".abc":
        bpy.ops.wm.alembic_import(filepath=str(path), as_background_job=False)
    else:
        bpy.ops.wm.usd_import(filepath=str(path))
    (mesh,) = (obj for obj in bpy.data.objects if obj.type == "MESH")  # the cloth, and no floor
    for frame, positions in expected.items():
        bpy.context.scene.frame_set(frame)
        found, wanted = small_scenes.evaluated_world(mesh), positions + np.float32((0, 0, 1))
        assert np.sort(found, axis=0) == pytest.approx(np.sort(wanted, axis=0), abs=1e-4), frame


@pytest.mark.parametrize("kind", ENDINGS)
def test_slow_motion_is_exported_as_it_plays_and_to_its_end(kind, tmp_path):
    scene = bpy.context.scene
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 200
    cloth = baked(last=12)  # of the timeline: 7 frames of the animation, from 0 on
    frames = small_scenes.cached_frames(cloth)
    assert len(frames) == 7
    path = tmp_path / ENDINGS[kind]
    assert bpy.ops.weft.export(kind=kind, filepath=str(path)) == {"FINISHED"}
    assert_comes_back(path, {2 * index: frames[index] for index in (1, 3, 5, 6)})


@pytest.mark.parametrize("kind", ENDINGS)
def test_a_hidden_cloth_is_exported_and_hidden_again(kind, tmp_path):
    cloth = baked(last=3)
    frames = small_scenes.cached_frames(cloth)
    cloth.hide_set(True)
    cloth.hide_viewport = cloth.hide_render = cloth.hide_select = True
    path = tmp_path / ENDINGS[kind]
    assert bpy.ops.weft.export(kind=kind, filepath=str(path)) == {"FINISHED"}
    assert cloth.hide_get() and not cloth.select_get()
    assert cloth.hide_viewport and cloth.hide_render and cloth.hide_select
    assert_comes_back(path, {1: frames[0], 3: frames[2]})


@pytest.mark.parametrize("switch", ["hide_select", "hide_viewport", "hide_render"])
def test_a_cloth_in_a_disabled_collection_is_not_exported(switch, tmp_path):
    cloth = baked(last=3)
    collection = bpy.data.collections.new("Off")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(cloth)
    bpy.context.scene.collection.objects.unlink(cloth)
    setattr(collection, switch, True)
    with pytest.raises(RuntimeError, match="the collection of 'Sheet' is disabled"):
        bpy.ops.weft.export(kind="ALEMBIC", filepath=str(tmp_path / "cloth.abc"))


def test_exporting_needs_a_baked_cloth():
    small_scenes.add_cloth()
    assert not bpy.ops.weft.export.poll()
