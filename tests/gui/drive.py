# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs inside a Blender with a window, and plays an artist: all keys and clicks come from xdotool.

Python only looks: what it finds is written to facts.json, a screenshot is taken at each stage.
usage: blender FOLDER/scene.blend --python drive.py -- FOLDER
"""

import os
import sys
import time
from pathlib import Path

import bpy

FOLDER = Path(sys.argv[sys.argv.index("--") + 1])
sys.path.insert(0, str(FOLDER))

from hands import (  # noqa: E402
    PLACES,
    by_key,
    choose,
    click,
    close_preferences,
    on_screen,
    place,
    press,
    repeated,
    shot,
    tool,
    until,
    windows,
)
from stage import MODULE, facts, own, perform, running, write_facts  # noqa: E402

BLEND = FOLDER / "scene.blend"
UP, DOWN = 4, 5  # the wheel, as buttons of a mouse
LAST, SHORT = 60, 5


def sheet():
    return bpy.data.objects["Sheet"]


def keys_of_sheet():
    blocks = sheet().data.shape_keys
    return 0 if blocks is None else len(blocks.key_blocks)


def lowest():
    evaluated = sheet().evaluated_get(bpy.context.evaluated_depsgraph_get())
    return min(vertex.co.z for vertex in evaluated.data.vertices)


# --- the artist -------------------------------------------------------------------------------


def steps():
    yield from install()
    yield from roles()
    yield from fabric()
    yield from check()
    yield from simulate()
    yield from bake()
    yield from resume()
    yield from play()
    yield from overlays()
    yield from undo()
    yield from save_and_reopen()
    yield from free()
    yield from undo_while_baking()
    yield from bake_all()
    yield from bake_again()


def install():
    yield from click("edit")
    tool("key p")  # underlined in the menu
    yield from until(lambda: windows() == 2, 5.0)
    yield 1.0
    yield from place("Preferences")
    yield from click("extensions")
    yield from click("extensions_menu")
    shot("extensions")
    yield from click("install_from_disk")
    yield from until(lambda: windows() == 3, 5.0)
    yield 1.0
    yield from place("File View")
    yield from click("file")
    tool("key ctrl+a")
    yield 0.3
    tool("type weft.zip")
    yield 0.5
    shot("install")
    tool("key Return")
    yield 1.0
    yield from click("install")
    yield from until(lambda: MODULE in bpy.context.preferences.addons, 30.0)
    yield 1.0
    shot("installed")
    facts["installed"] = MODULE in bpy.context.preferences.addons
    close_preferences()
    yield 1.0


def roles():
    view = PLACES["view"]
    tool(f"mousemove {view[0]} {view[1]}")
    yield 0.5
    yield from click(on_screen((0.3, -0.3, -0.25)))
    facts["selected_ball"] = bpy.context.object.name
    yield from click("physics")
    shot("roles")
    collider = bpy.data.objects["Ball"].weft
    yield from repeated(lambda: click("collider"), lambda: collider.role == "COLLIDER")
    facts["collider"] = collider.role
    yield from click(on_screen((-0.3, -0.2, 0.6)))
    facts["selected_sheet"] = bpy.context.object.name
    yield from repeated(lambda: click("cloth"), lambda: sheet().weft.role == "CLOTH")
    facts["role"] = sheet().weft.role
    yield from press("F24", "view")
    shot("cloth")


def fabric():
    def choose():
        yield from click("fabric")
        tool("mousemove_relative 1 1")
        yield 1.0
        shot("menu")
        tool("key d")  # underlined in the menu
        yield 1.0

    def is_denim():
        return own("fabrics.presets").label(sheet().weft.material) == "Denim"

    yield from repeated(choose, is_denim)
    facts["fabric"] = own("fabrics.presets").label(sheet().weft.material)
    yield from click("card")
    yield 1.0
    shot("cards")
    yield from press("Escape", "card")


def check():
    findings = bpy.context.window_manager.weft.findings
    yield from click("check_header")
    yield from repeated(lambda: click("check"), lambda: len(findings))
    facts["findings"] = len(findings)
    yield from press("F24", "view")
    shot("checked")
    yield from click("check_header")


def live():
    return own("bake.live").session()


def highest():
    evaluated = sheet().evaluated_get(bpy.context.evaluated_depsgraph_get())
    return max(vertex.co.z for vertex in evaluated.data.vertices)


def simulate():
    """Plays: what has no frames is simulated; drags the cloth up by its middle, and frees it."""
    scene, started = bpy.context.scene, time.monotonic()
    scene.weft.quality = "DRAFT"
    yield from repeated(lambda: press("space"), live)
    yield from until(lambda: live() is None or live().frame > 1, 20.0)
    facts["seconds_to_motion"] = time.monotonic() - started
    yield from until(lambda: live() is None or live().frame > 8, 60.0)
    facts["live_in_step"] = live() is not None and scene.frame_current <= live().frame
    shot("live")
    yield from click("hand")
    x, y = on_screen((0.0, 0.0, 0.5))
    tool(f"mousemove {x} {y}")
    yield 0.5
    tool("mousedown 1")
    yield 0.5
    for _ in range(8):
        tool("mousemove_relative -- 0 -20")
        yield 0.4
    frame = live().frame if live() else 0
    yield from until(lambda: live() is None or live().frame > frame + 6, 60.0)
    facts["dragged_to"] = highest()
    shot("dragged")
    tool("mouseup 1")
    yield from press("Escape")
    facts["drag_ended"] = live() is not None
    yield from press("space")
    yield from until(lambda: live() is None, 20.0)
    facts["live_frames"] = sheet().weft.result.frame_count
    facts["live_result"] = sheet().weft.result.is_live
    facts["native_playback"] = bpy.context.window_manager.windows[0].screen.is_animation_playing
    yield from repeated(confirmed_free, lambda: sheet().weft.result.frame_count == 0)
    facts["live_freed"] = sheet().weft.result.frame_count == 0
    scene.weft.quality = "GOOD"
    yield from press("shift+Left")


def bake():
    yield from repeated(lambda: click("bake"), running)
    facts["bake_runs"] = running() is not None
    yield from until(lambda: running() is None or running().frame > 8, 60.0)
    facts["status_line"] = running().progress_text() if running() else ""
    shot("baking")
    yield 0.3
    tool("key Escape")
    yield from until(lambda: running() is None, 60.0)
    facts["cancelled_at"] = sheet().weft.result.frame_count
    yield from press("F24", "view")
    shot("cancelled")


def resume():
    before = sheet().weft.result.frame_count
    yield from repeated(
        lambda: click("resume"), lambda: running() or sheet().weft.result.frame_count > before
    )
    yield from until(lambda: running() is None)
    facts["finished_at"] = sheet().weft.result.frame_count
    facts["statistic"] = sheet().weft.result.statistic
    yield 0.5


def play():
    """Jumps to the start, plays, stops, and jumps to the end."""
    scene = bpy.context.scene
    yield from press("shift+Left")
    facts["first_frame"], facts["height_first"] = scene.frame_current, lowest()
    yield from press("space")
    yield 1.5
    facts["plays"] = bpy.context.window_manager.windows[0].screen.is_animation_playing
    played = []
    for _ in range(5):
        played.append((scene.frame_current, lowest()))
        yield 0.3
    facts["played"] = played
    yield from press("space")
    facts["stopped"] = not bpy.context.window_manager.windows[0].screen.is_animation_playing
    yield from press("shift+Right")
    facts["last_frame"], facts["height_last"] = scene.frame_current, lowest()
    shot("finished")


def overlays():
    """The panel is the last one: at the end of the tab."""
    window = bpy.context.window_manager.weft
    facts["overlays"] = []
    yield from scroll(DOWN)
    shot("bottom")
    yield from click("overlay_header")
    yield from scroll(DOWN)
    shot("overlay")
    for name, key in (("stretch", "s"), ("contacts", "c"), ("nothing", "n")):
        before = window.overlay
        yield from repeated(
            lambda k=key: choose("overlay", k), lambda b=before: window.overlay != b
        )
        facts["overlays"].append(window.overlay)
        if name != "nothing":
            shot(f"overlay_{name}")


def scroll(wheel):
    """Turns the wheel over the panels until their end."""
    x, y = PLACES["panel"]
    tool(f"mousemove {x} {y}")
    yield 0.3
    tool(f"click --repeat 60 --delay 10 {wheel}")
    yield 1.0


def undo():
    yield from scroll(UP)
    before = keys_of_sheet()
    facts["keys_baked"] = before
    for _ in range(8):
        yield from press("ctrl+z")
        if keys_of_sheet() < before:
            break
    facts["keys_undone"] = keys_of_sheet()
    for _ in range(8):
        yield from press("ctrl+shift+z")
        if keys_of_sheet() == before:
            break
    facts["keys_redone"] = keys_of_sheet()
    yield from press("shift+Right")
    facts["height_redone"] = lowest()


def save_and_reopen():
    before = BLEND.stat().st_mtime_ns
    yield from press("ctrl+s")
    yield 1.5
    facts["saved"] = BLEND.stat().st_mtime_ns > before
    loads = []
    bpy.app.handlers.load_post.append(bpy.app.handlers.persistent(lambda *_: loads.append(1)))
    yield from press("ctrl+shift+o")  # the files of late
    shot("recent")
    tool("key Return")
    yield from until(lambda: loads, 10.0)
    yield 1.0
    facts["reopened"] = bool(loads)
    yield from press("shift+Right")
    facts["height_reopened"] = lowest()
    shot("reopened")


def confirmed_free():
    """Free asks; Return answers."""
    yield from click("free")
    yield 0.7
    shot("asked")
    tool("key Return")
    yield 1.0


def free():
    yield from repeated(confirmed_free, lambda: keys_of_sheet() == 0)
    facts["keys_freed"] = keys_of_sheet()
    cache = FOLDER / "weft_cache"
    facts["files_freed"] = sum(path.is_file() for path in cache.iterdir()) if cache.is_dir() else 0
    yield from press("F24", "view")
    shot("freed")
    yield from press("ctrl+s")


def undo_while_baking():
    yield from repeated(lambda: click("bake"), running)
    yield from until(lambda: running() is None or running().frame > 3, 60.0)
    facts["undo_found_a_bake"] = running() is not None
    yield from press("ctrl+z")
    yield from until(lambda: running() is None, 30.0)
    facts["undo_ended_it"] = running() is None
    yield from press("F24", "view")
    shot("undone")


def scene_with(cloth):
    """A short scene of a cloth, which is in a collection."""
    scene, among = (kind.new(cloth.name) for kind in (bpy.data.scenes, bpy.data.collections))
    scene.collection.children.link(among)
    among.objects.link(cloth)
    scene.frame_end = SHORT
    scene.view_layers[0].update()
    return scene


def bake_all():
    """Three scenes, one without cloth to see, by a key: the button is in a closed panel."""
    copies = [sheet().copy() for _ in range(2)]
    for copy, name in zip(copies, ("Hidden", "Other"), strict=True):
        copy.data, copy.name = sheet().data.copy(), name
    scenes = [scene_with(copy) for copy in copies]
    scenes[0].view_layers[0].layer_collection.children[0].exclude = True
    yield from by_key("weft.bake_all", running)
    yield from until(lambda: running() is None)
    facts["all_baked"] = [obj.weft.result.frame_count for obj in (sheet(), copies[1])]
    for scene in scenes:
        bpy.data.scenes.remove(scene)
    for copy in copies:
        bpy.data.objects.remove(copy)
    yield 0.5


def bake_again():
    """Cancels by the button, and leaves another bake running, in which the window is closed."""
    yield from repeated(lambda: click("bake"), running)
    yield from click("cancel")
    yield from until(lambda: running() is None, 30.0)
    facts["cancelled_by_button"] = 0 < sheet().weft.result.frame_count < LAST
    yield from press("ctrl+s")
    yield from repeated(lambda: click("bake"), running)
    yield from until(lambda: running() is None or running().frame > 8, 60.0)
    facts["closed_at"] = running().frame if running() else 0


def close():
    tool("key ctrl+q")
    bpy.app.timers.register(give_up, first_interval=15.0, persistent=True)


def give_up():
    """Still here: Blender asks something before it closes."""
    shot("asked")
    write_facts(asked=True)
    os._exit(0)


perform(steps(), close)
