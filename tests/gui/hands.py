# SPDX-License-Identifier: MIT OR Apache-2.0
"""The hands of the artist of drive.py: mouse, keys and screenshots by xdotool."""

import os
import sys
import time
from pathlib import Path

import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d

FOLDER = Path(sys.argv[sys.argv.index("--") + 1])
# Pixels, where the windows are as in FRAMES.
PLACES = {
    "edit": (79, 14),
    "extensions": (162, 258),
    "extensions_menu": (960, 82),
    "install_from_disk": (852, 204),
    "file": (640, 614),
    "install": (1135, 615),
    "physics": (1332, 390),
    "cloth": (1474, 335),
    "collider": (1546, 335),
    "simulate": (1450, 426),
    "hand": (1549, 426),
    "bake": (1400, 457),
    "resume": (1545, 457),
    "cancel": (1480, 423),
    "free": (1425, 485),
    "check_header": (1430, 587),
    "check": (1480, 616),
    "fabric": (1440, 764),
    "card": (1480, 867),
    "panel": (1480, 305),
    "overlay_header": (1440, 961),
    "overlay": (1510, 957),
    "view": (300, 800),
}
if bpy.app.version < (5, 0, 0):
    PLACES |= {"extensions": (162, 228), "physics": (1339, 390)}
# By their names: left, top, width, height. There is no window manager here that would place them.
FRAMES = {"Preferences": (104, 64, 875, 572), "File View": (104, 12, 1104, 624)}
HEIGHT = 1000


def reported():
    """The errors that Blender has shown."""
    log = (FOLDER / "blender.log").read_text(errors="replace")
    return [line for line in log.splitlines() if "Traceback" in line]


def shot(name):
    os.system(f"import -window root {FOLDER}/{name}.png")


def tool(words):
    os.system(f"xdotool {words}")


def click(place):
    """Moves there, and clicks a moment later, as buttons want it."""
    x, y = PLACES[place] if isinstance(place, str) else place
    tool(f"mousemove {x - 3} {y - 3}")
    yield 0.4
    tool(f"mousemove {x} {y}")
    yield 0.4
    tool("click 1")
    yield 0.8


def choose(place, key):
    """Opens a menu, and chooses by the letter that is underlined in it."""
    yield from click(place)
    tool(f"key {key}")
    yield 1.0
    yield from press("F24", "view")


def press(key, over="view"):
    x, y = PLACES[over]
    tool(f"mousemove {x} {y}")
    yield 0.3
    tool(f"key {key}")
    yield 1.0
    tool("mousemove_relative 1 1")  # a window draws what it knows when a mouse moves
    yield 0.5


def until(condition, seconds=240.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        yield 0.3


def windows():
    return len(bpy.context.window_manager.windows)


def by_key(operator, done, **properties):
    """Runs an operator by a key over the panels: its own button is in a closed one."""
    keymaps = bpy.context.window_manager.keyconfigs.addon.keymaps
    keymap = keymaps.new("Property Editor", space_type="PROPERTIES")
    item = keymap.keymap_items.new(operator, "B", "PRESS", ctrl=1, alt=1, shift=1)
    for name, value in properties.items():
        setattr(item.properties, name, value)
    yield from repeated(lambda: press("ctrl+alt+shift+b", "panel"), done)
    keymap.keymap_items.remove(item)


def repeated(hand, done):
    """Does it again until it was noticed: the first click elsewhere may only wake a region up."""
    for _attempt in range(3):
        yield from hand()
        if done():
            return


def on_screen(point):
    """Pixels of a point of the scene."""
    area = next(
        a for a in bpy.context.window_manager.windows[0].screen.areas if a.type == "VIEW_3D"
    )
    region = next(region for region in area.regions if region.type == "WINDOW")
    found = location_3d_to_region_2d(region, area.spaces.active.region_3d, point)
    return round(region.x + found.x), round(HEIGHT - region.y - found.y)


def place(name):
    left, top, width, height = FRAMES[name]
    words = f"windowmove {left} {top} windowsize {width} {height}"
    tool(f'search --onlyvisible --name "{name}" {words}')
    yield 1.0


def close_preferences():
    """As with the cross in the frame that a window manager would draw."""
    while windows() > 1:
        window = bpy.context.window_manager.windows[1]
        with bpy.context.temp_override(window=window):
            bpy.ops.wm.window_close()
