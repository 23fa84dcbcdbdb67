# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs inside a Blender with a window, and plays an artist: keys and mouse come from xdotool.

What happens is written to facts.json, a screenshot is taken at each stage.
usage: blender --python drive.py -- FOLDER
"""

import json
import os
import sys
import time
import traceback
from pathlib import Path

import addon_utils
import bpy

FOLDER = Path(sys.argv[sys.argv.index("--") + 1])
BLEND = FOLDER / "scene.blend"
MODULE = "bl_ext.user_default.weft"
# In a window of 1600 by 1000, by version of Blender.
PLACES = {
    (4, 3): {
        "cloth": (1474, 335),
        "collider": (1546, 335),
        "bake": (1431, 401),
        "fabric": (1440, 587),
    },
    (5, 2): {
        "cloth": (1474, 335),
        "collider": (1546, 335),
        "bake": (1431, 401),
        "fabric": (1440, 587),
    },
}[bpy.app.version[:2]]
VIEW = (500, 500)
LAST = 60
# With Ctrl and Alt, which Blender itself leaves free for these.
KEYS = {
    "K": ("weft.check_scene", {}),
    "R": ("weft.resume", {}),
    "J": ("weft.free", {}),
}

facts: dict[str, object] = {}


def own(name):
    return sys.modules[f"{MODULE}.{name}"]


def running():
    return own("bake").running()


def sheet():
    return bpy.data.objects["Sheet"]


def keys_of_sheet():
    blocks = sheet().data.shape_keys
    return 0 if blocks is None else len(blocks.key_blocks)


def shot(name):
    os.system(f"import -window root {FOLDER}/{name}.png")


def press(key):
    os.system(f"xdotool mousemove {VIEW[0]} {VIEW[1]} sleep 0.2 key {key}")


def click(place):
    os.system(f"xdotool mousemove {place[0]} {place[1]} sleep 0.5 click 1")


def lowest():
    evaluated = sheet().evaluated_get(bpy.context.evaluated_depsgraph_get())
    return min(vertex.co.z for vertex in evaluated.data.vertices)


# --- preparation ------------------------------------------------------------------------------


def build():
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    count = 30
    points = [(x / 15 - 1, y / 15 - 1, 0) for y in range(count) for x in range(count)]
    faces = [
        (row * count + x, row * count + x + 1, (row + 1) * count + x + 1, (row + 1) * count + x)
        for row in range(count - 1)
        for x in range(count - 1)
    ]
    mesh = bpy.data.meshes.new("Sheet")
    mesh.from_pydata(points, [], faces)
    obj = bpy.data.objects.new("Sheet", mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.location.z = 0.6
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.5)
    bpy.context.scene.frame_end = LAST
    choose(bpy.context.object)
    bpy.ops.wm.save_as_mainfile(filepath=str(BLEND))


def choose(obj):
    """Selects an object and nothing else."""
    for other in bpy.context.view_layer.objects:
        other.select_set(other == obj)
    bpy.context.view_layer.objects.active = obj
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            area.tag_redraw()


def look():
    """Turns the view to the whole scene."""
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.view3d.view_all()


def arrange():
    """One Properties editor on the right, at the Physics tab."""
    window = bpy.context.window_manager.windows[0]
    for area in [a for a in window.screen.areas if a.type in {"OUTLINER", "DOPESHEET_EDITOR"}]:
        with bpy.context.temp_override(window=window, area=area, region=area.regions[0]):
            bpy.ops.screen.area_close()
    for area in window.screen.areas:
        if area.type == "PROPERTIES":
            area.spaces.active.context = "PHYSICS"


def bind_keys():
    keymap = bpy.context.window_manager.keyconfigs.addon.keymaps.new(name="Window")
    for key, (operator, settings) in KEYS.items():
        item = keymap.keymap_items.new(operator, key, "PRESS", ctrl=True, alt=True)
        for name, value in settings.items():
            setattr(item.properties, name, value)


# --- the artist -------------------------------------------------------------------------------


def steps():
    addon_utils.enable(MODULE, default_set=True)
    build()
    bind_keys()
    yield 1.0
    arrange()
    look()
    yield 1.5
    shot("roles")
    yield 0.5
    click(PLACES["collider"])
    yield 1.0
    facts["collider"] = bpy.context.object.weft.role
    choose(sheet())
    yield 1.0
    for _attempt in range(3):  # the first click after another choice may only wake the panel up
        click(PLACES["cloth"])
        yield 1.0
        if sheet().weft.role == "CLOTH":
            break
    facts["role"] = sheet().weft.role
    shot("cloth")
    yield 0.5
    for _attempt in range(3):
        click(PLACES["fabric"])
        yield 1.0
        os.system(
            "xdotool mousemove_relative 1 1"
        )  # a window draws what it knows when a mouse moves
        yield 1.0
        shot("menu")
        yield 0.5
        os.system("xdotool key d")  # underlined in the menu
        yield 1.0
        facts["fabric"] = own("fabrics").label(sheet().weft.material)
        if facts["fabric"] == "Denim":
            break
    press("ctrl+alt+k")
    yield 1.5
    facts["findings"] = len(bpy.context.window_manager.weft.findings)
    shot("before")
    yield 0.5
    yield from bake()
    yield from play()
    yield from undo()
    yield from save_and_reopen()
    yield from bake_again()


def bake():
    click(PLACES["bake"])
    yield 3.0
    facts["bake_runs"] = running() is not None
    facts["status_line"] = running().line() if running() else ""
    shot("baking")
    yield 0.5
    press("Escape")
    yield 2.0
    while running() is not None:
        yield 0.3
    facts["cancelled_at"] = sheet().weft.result.frame_count
    shot("cancelled")
    yield 0.5
    press("ctrl+alt+r")
    yield 1.0
    while running() is not None:
        yield 0.3
    facts["seconds_to_first_bake"] = time.time() - float(os.environ["STARTED"])
    facts["finished_at"] = sheet().weft.result.frame_count
    facts["statistic"] = sheet().weft.result.statistic
    yield 0.5


def play():
    heights = []
    for frame in (1, 20, LAST):
        bpy.context.scene.frame_set(frame)
        heights.append(lowest())
        yield 0.3
    facts["heights"] = heights
    shot("finished")
    window = bpy.context.window_manager.weft
    for kind in ("STRETCH", "CONTACTS"):
        window.overlay = kind
        yield 1.5
        shot(f"overlay_{kind.lower()}")
        yield 0.3
    window.overlay = "NONE"


def undo():
    before = keys_of_sheet()
    press("ctrl+z")
    yield 1.5
    facts["keys_undone"] = keys_of_sheet()
    press("ctrl+shift+z")
    yield 1.5
    facts["keys_redone"] = keys_of_sheet() == before > 0


def save_and_reopen():
    before = BLEND.stat().st_mtime_ns
    press("ctrl+s")
    yield 2.0
    facts["saved"] = BLEND.stat().st_mtime_ns > before
    bpy.ops.wm.open_mainfile(filepath=str(BLEND))
    yield 2.0
    bpy.context.scene.frame_set(LAST)
    yield 0.5
    facts["height_reopened"] = lowest()
    shot("reopened")
    yield 0.5
    press("ctrl+alt+j")
    yield 1.5
    facts["keys_freed"] = keys_of_sheet()
    cache = FOLDER / "weft_cache"
    facts["files_freed"] = len(list(cache.iterdir())) if cache.is_dir() else 0
    shot("freed")


def bake_again():
    """Leaves a bake running, in which the window is closed."""
    click(PLACES["bake"])
    yield 4.0
    facts["closed_at"] = running().frame if running() else 0


def close():
    """Closes Blender as an artist does."""
    window = bpy.context.window_manager.windows[0]
    with bpy.context.temp_override(window=window):
        bpy.ops.wm.quit_blender()


def main():
    bpy.context.preferences.view.show_splash = False
    todo, started = steps(), time.monotonic()

    def tick():
        try:
            return next(todo)
        except StopIteration:
            facts["done"] = True
        except BaseException:
            facts["error"] = traceback.format_exc()
        facts["seconds"] = time.monotonic() - started
        (FOLDER / "facts.json").write_text(json.dumps(facts, indent=1))
        if "error" in facts:
            os._exit(0)
        close()
        return None

    bpy.app.timers.register(tick, first_interval=2.0, persistent=True)


main()
