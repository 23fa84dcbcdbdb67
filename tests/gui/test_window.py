# SPDX-License-Identifier: MIT OR Apache-2.0
"""The extension in a real Blender window, by mouse and keyboard; screenshots go to out/gui.

Needs a Debian that this makes for itself, so root and debootstrap: skipped where that cannot be.
"""

from pathlib import Path

import pytest
from windows import INSIDE, SCENE, SUITES, Debian, shows_something

SHOTS = (
    "extensions",
    "install",
    "installed",
    "roles",
    "cloth",
    "menu",
    "cards",
    "checked",
    "live",
    "dragged",
    "baking",
    "cancelled",
    "finished",
    "overlay_stretch",
    "overlay_contacts",
    "recent",
    "reopened",
    "asked",
    "freed",
)


@pytest.fixture(scope="module", params=SUITES)
def facts(request):
    debian = Debian(request.param)
    valid = debian.run("blender", "--command", "extension", "validate", f"{INSIDE}/weft.zip")
    with debian.screen():
        debian.prepare()
        debian.open_window(SCENE, "--python", f"{INSIDE}/drive.py", "--", INSIDE)
    kept = [path.name for path in (debian.folder / "weft_cache").glob("*.state")]
    return debian.facts("flow", valid=valid, kept=kept)


def test_the_whole_flow_ran(facts):
    assert "error" not in facts, facts.get("error")
    assert facts["done"]


def test_blender_itself_finds_the_extension_valid(facts):
    assert "Success" in facts["valid"] and "rror" not in facts["valid"], facts["valid"]


def test_the_zip_is_installed_and_enabled_in_the_preferences(facts):
    assert facts["installed"]


def test_objects_are_selected_and_get_roles_and_a_fabric_by_clicks(facts):
    assert (facts["selected_ball"], facts["collider"]) == ("Ball", "COLLIDER")
    assert (facts["selected_sheet"], facts["role"]) == ("Sheet", "CLOTH")
    assert facts["fabric"] == "Denim"


def test_the_scene_is_checked(facts):
    assert facts["findings"] == 2  # no UV map for the yarns, faces too coarse for all folds


def test_playing_simulates_at_once_and_playing_again_stops(facts):
    assert facts["seconds_to_motion"] < 60.0 and facts["live_in_step"]
    assert facts["live_result"] and 8 < facts["live_frames"] <= 60
    assert not facts["native_playback"] and facts["live_freed"]


def test_the_mouse_drags_cloth_up(facts):
    assert facts["dragged_to"] > 0.1 and facts["drag_ended"]


def test_a_click_on_the_button_bakes_and_escape_keeps_what_is_done(facts):
    assert facts["bake_runs"]
    assert facts["status_line"].startswith("Weft: frame ") and "of 60" in facts["status_line"]
    assert 1 < facts["cancelled_at"] < 60


def test_the_button_cancels_too(facts):
    assert facts["cancelled_by_button"]


def test_resume_goes_on_to_the_end(facts):
    assert facts["finished_at"] == 60
    assert facts["statistic"].startswith("59 frames in")


def test_it_plays_back_and_stops(facts):
    assert facts["first_frame"] == 1 and facts["height_first"] == 0.0
    assert facts["plays"] and facts["stopped"]
    frames, heights = zip(*facts["played"], strict=True)
    assert len(set(frames)) > 2 and len(set(heights)) > 2
    assert facts["last_frame"] == 60 and facts["height_last"] < min(heights)


def test_the_overlay_is_chosen_in_its_panel(facts):
    assert facts["overlays"] == ["STRETCH", "CONTACTS", "NONE"]


def test_the_saved_result_is_there_after_reopening(facts):
    assert facts["saved"] and facts["reopened"]
    assert abs(facts["height_reopened"] - facts["height_last"]) < 1e-5


def test_undo_and_redo(facts):
    assert facts["keys_undone"] < facts["keys_baked"] == facts["keys_redone"] == 61
    assert facts["height_redone"] == facts["height_last"]


def test_no_traceback_is_shown(facts):
    assert facts["reported"] == []


def test_undoing_ends_a_bake(facts):
    assert facts["undo_found_a_bake"] and facts["undo_ended_it"]


def test_all_scenes_are_baked_each_with_its_own_cloth(facts):
    assert facts["all_baked"] == [60, 5]


def test_free_leaves_nothing(facts):
    assert facts["keys_freed"] == 0 and facts["files_freed"] == 0


@pytest.mark.parametrize("name", SHOTS)
def test_screenshots_show_something(facts, name):
    assert shows_something(facts["pictures"], name)


def test_the_window_closes_by_its_key(facts):
    assert "asked" not in facts


def test_closing_blender_loses_at_most_the_current_frame(facts):
    """The last checkpoint is of the frame that was simulated when the window closed, or later."""
    assert facts["closed_at"] > 1
    assert (
        max(int(Path(name).stem.rsplit("_", 1)[1]) for name in facts["kept"]) >= facts["closed_at"]
    )
