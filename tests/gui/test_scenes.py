# SPDX-License-Identifier: MIT OR Apache-2.0
"""Scenes of an artist's day in a real Blender window; screenshots go to out/gui.

Needs what test_window.py needs. Garments and the walking figure are in WEFT_SHARED.
"""

import os
import shutil
from pathlib import Path

import pytest
from windows import INSIDE, ROOT, SCENE, SUITES, Debian, shows_something

DATA = Path(os.environ.get("WEFT_SHARED", ROOT.parent / "shared")) / "data"
FILES = {
    "shirt.json": DATA / "patterns/shirt_mean_specification.json",
    "body.obj": DATA / "patterns/mean_all.obj",
    "human_walk.blend": DATA / "scenes/human_walk.blend",
}
GARMENTS = ("imported", "dressing", "dressed", "undressed", "walk", "around", "around_dressing")
GARMENTS += ("around_dressed", "around_walking")
needs_shared = pytest.mark.skipif(
    not all(path.is_file() for path in FILES.values()), reason=f"no '{DATA}': set WEFT_SHARED"
)


@pytest.fixture(scope="module", params=SUITES)
def facts(request):
    debian = Debian(request.param)
    for name, path in FILES.items():
        if path.is_file():
            shutil.copy(path, debian.folder / name)
    install = ("extension", "install-file", "-r", "user_default", "-e", f"{INSIDE}/weft.zip")
    debian.run("blender", "--command", *install)
    with debian.screen():
        debian.prepare()
        play = (SCENE, "--python", f"{INSIDE}/scenes.py", "--", INSIDE)
        debian.open_window(*play, timeout=3000)
    return debian.facts("scenes")


def test_all_scenes_were_played_without_a_traceback(facts):
    assert "error" not in facts, facts.get("error")
    assert facts["done"] and facts["reported"] == []


def test_five_clicks_bake_a_first_sheet_with_the_settings_as_they_are(facts):
    assert facts["first_bake_frames"] == 60


def test_takes_are_compared_side_by_side_and_one_is_chosen(facts):
    assert facts["compared"] == ["Sheet", "Light", "Heavy"]
    ends = facts["compared_ends"]
    assert ends[0][1] < ends[1][0] and ends[1][1] < ends[2][0]
    shown, light, heavy = facts["compared_heights"]
    assert shown == pytest.approx(heavy, abs=1e-5) and abs(light - heavy) > 1e-3
    assert facts["chosen"] == "Silk" and facts["compared_after"] == []
    assert facts["chosen_height"] == pytest.approx(light, abs=1e-5)


def test_a_cape_that_space_simulates_drops_at_its_frame(facts):
    held, dropped = facts["cape_row"].values()
    assert held > 0.99 and dropped < 0.8


def test_crossed_garments_come_apart_in_the_order_of_their_layers(facts):
    shirt, jacket = facts["layers"]
    assert jacket > shirt + 1e-3


def test_findings_of_beginners_select_their_place_and_vanish_with_a_change(facts):
    titles = " ".join(facts["findings"])
    assert "too coarse" in titles and "Hidden" in titles
    assert facts["finding_selects"] == ["Bedsheet"]
    assert facts["findings_current"] == [True, False]


def test_garments_are_added_by_the_menu_and_undone(facts):
    assert {words: len(new) for words, new in facts["authored"].items()} == {
        "Skirt": 1,
        "Cloth from Outline": 1,
        "Two Panels around Object": 1,
        "Pattern from UV Map": 1,
    }
    assert not any(facts["authored_undone"].values())


@needs_shared
def test_a_garment_around_the_figure_is_dressed_and_walks(facts):
    assert facts["around"].startswith("Dressed in")
    assert facts["around_frames"] == 40


@needs_shared
def test_a_pattern_is_imported_dressed_and_undressed_once(facts):
    assert len(facts["imported"]) == 1
    assert facts["dressed"].startswith("Dressed in") and not facts["dressed_failed"]
    assert facts["dressed_moved"] > 0.01
    assert facts["undressed_off"] < 1e-6


@needs_shared
def test_the_preview_is_at_the_frame_of_the_figure(facts):
    """Pinned straps are some 20 mm off the body at every frame; the figure walks 40 mm a frame."""
    assert facts["walk_bakes"] and facts["walk_frame"] >= 40
    assert facts["walk_frame"] <= facts["walk_solved"]
    assert facts["walk_pins_off"] < 0.035


@pytest.mark.parametrize(
    "name", ["first_bake", "takes", "cape", "layers", "findings", "authoring", "authored"]
)
def test_screenshots_show_something(facts, name):
    assert shows_something(facts["pictures"], name)


@needs_shared
@pytest.mark.parametrize("name", GARMENTS)
def test_screenshots_of_garments_show_something(facts, name):
    assert shows_something(facts["pictures"], name)
