# SPDX-License-Identifier: MIT OR Apache-2.0
"""The extension in a real Blender window, by mouse and keyboard; screenshots go to out/gui.

Needs a Debian that this makes for itself, so root and debootstrap: skipped where that cannot be.
"""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OUT = ROOT / "out/gui"
SUITES = {"trixie": "4.3", "sid": "5.2"}  # of Debian, with the Blender that they have
FOLDER = Path(os.environ.get("WEFT_GUI_DEBIAN", OUT))  # where they are made
INSIDE = "/weft"
DISPLAY = ":79"
MINUTES = 5  # from opening Blender to the first finished bake
SHOTS = (
    "roles",
    "cloth",
    "menu",
    "before",
    "baking",
    "cancelled",
    "finished",
    "overlay_stretch",
    "reopened",
    "freed",
)


def inside(debian, *command, **variables):
    """A command line that runs in a Debian."""
    settings = {"HOME": "/root", "BLENDER_USER_RESOURCES": f"{INSIDE}/blender", **variables}
    words = [f"{name}={value}" for name, value in settings.items()]
    return ["chroot", str(debian), "env", *words, *command]


@pytest.fixture(scope="module", params=SUITES)
def facts(request):
    suite = request.param
    debian = FOLDER / suite
    archive = Path(os.environ.get("WEFT_ZIP", ROOT / "out/weft-0.1.0.zip"))
    if not archive.is_file():
        pytest.skip("there is no extension zip: make zip")
    made = subprocess.run(
        [ROOT / "tests/gui/chroot.sh", debian, suite], capture_output=True, text=True, check=False
    )
    if made.returncode:
        pytest.skip(f"no Blender {SUITES[suite]} with a window: {made.stdout.strip()}")
    folder = debian / INSIDE[1:]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy(archive, folder / "weft.zip")
    shutil.copy(ROOT / "tests/gui/drive.py", folder)
    install = ["blender", "--command", "extension", "install-file", "-r", "user_default", "-e"]
    validate = ["blender", "--command", "extension", "validate", f"{INSIDE}/weft.zip"]
    valid = subprocess.run(inside(debian, *validate), check=False, capture_output=True, text=True)
    started = time.time()
    subprocess.run(inside(debian, *install, f"{INSIDE}/weft.zip"), check=True, capture_output=True)
    found = play(debian, folder, started) | {"valid": valid.stdout, "suite": suite}
    (OUT / suite).mkdir(parents=True, exist_ok=True)
    for shot in folder.glob("*.png"):
        shutil.copy(shot, OUT / suite)
    (OUT / suite / "facts.json").write_text(json.dumps(found, indent=1))
    return found


def play(debian, folder, started):
    """Runs the script in a window and gives back what it found."""
    screen = subprocess.Popen(
        inside(debian, "Xvfb", DISPLAY, "-screen", "0", "1600x1000x24", "-nolisten", "tcp"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        time.sleep(2.0)
        command = ["blender", "--window-geometry", "0", "0", "1600", "1000"]
        command += ["--python", f"{INSIDE}/drive.py", "--", INSIDE]
        with (folder / "blender.log").open("w") as log:
            subprocess.run(
                inside(
                    debian,
                    *command,
                    DISPLAY=DISPLAY,
                    LIBGL_ALWAYS_SOFTWARE="1",
                    STARTED=str(started),
                ),
                timeout=600,
                check=False,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
    finally:
        screen.terminate()
        screen.wait()
    facts = json.loads((folder / "facts.json").read_text())
    return facts | {"kept": [path.name for path in (folder / "weft_cache").glob("*.state")]}


def test_the_whole_flow_ran(facts):
    assert "error" not in facts, facts.get("error")
    assert facts["done"]


def test_blender_itself_finds_the_extension_valid(facts):
    assert "Success" in facts["valid"] and "rror" not in facts["valid"], facts["valid"]


def test_roles_and_fabric_are_set_by_mouse_and_keyboard(facts):
    assert facts["collider"] == "COLLIDER"
    assert (facts["role"], facts["fabric"]) == ("CLOTH", "Denim")
    assert facts["findings"] == 1  # its yarns have no UV map to follow


def test_a_click_on_the_button_bakes_and_escape_keeps_what_is_done(facts):
    assert facts["bake_runs"]
    assert facts["status_line"].startswith("Weft: frame ") and "of 60" in facts["status_line"]
    assert 1 < facts["cancelled_at"] < 60


def test_resume_goes_on_to_the_end(facts):
    assert facts["finished_at"] == 60
    assert facts["statistic"].startswith("59 frames in")


def test_the_result_plays_and_is_there_after_reopening(facts):
    first, middle, last = facts["heights"]
    assert first == 0.0 and last < middle < -0.05
    assert facts["saved"] and abs(facts["height_reopened"] - last) < 1e-5


def test_the_first_bake_is_done_within_minutes(facts):
    assert facts["seconds_to_first_bake"] < 60.0 * MINUTES


def test_undo_and_redo(facts):
    assert facts["keys_undone"] < 61 and facts["keys_redone"]


def test_free_leaves_nothing(facts):
    assert facts["keys_freed"] == 0 and facts["files_freed"] == 0


@pytest.mark.parametrize("name", SHOTS)
def test_screenshots_show_something(facts, name):
    picture = OUT / facts["suite"] / f"{name}.png"
    assert picture.stat().st_size > 30_000, "a black picture compresses to nearly nothing"


def test_closing_blender_loses_at_most_the_current_frame(facts):
    """The last checkpoint is of the frame that was simulated when the window closed, or later."""
    assert facts["closed_at"] > 1
    assert (
        max(int(Path(name).stem.rsplit("_", 1)[1]) for name in facts["kept"]) >= facts["closed_at"]
    )
