# SPDX-License-Identifier: GPL-3.0-or-later
"""The pictures of fabrics, from which one is chosen: each shows it draped over a ball."""

import threading
from pathlib import Path
from types import ModuleType

import bpy
import bpy.utils.previews
from bpy.utils.previews import ImagePreviewCollection

from ..properties import callbacks
from ..simulation import bridge
from . import presets, preview_render

CUSTOM = ("CUSTOM", "Custom Fabric", "What is set in the panel", "MATERIAL", 0)

_previews: ImagePreviewCollection | None = None
_items: list[tuple] = [CUSTOM]  # kept, because Blender does not keep the strings


def items() -> list[tuple]:
    """The items of a menu with pictures, the fabrics by number from 1."""
    found = [CUSTOM]
    for number, fabric in enumerate(presets.everything().values(), start=1):
        icon = picture(fabric) or "MATERIAL"
        found.append((fabric.name, fabric.title, fabric.description, icon, number))
    if found != _items:
        _items[:] = found
    return _items


def active() -> int:
    """The number of the fabric of the active object."""
    obj = bpy.context.object
    name = obj.weft.material.fabric if obj is not None else ""
    return next((item[4] for item in items() if item[0] == name), 0)


def choose(number: int) -> None:
    """Gives the active object a fabric by its number.

    By the operator with undo on: for a property of the window Blender makes no undo step.
    """
    if bpy.ops.weft.preset_apply.poll() and 0 < number < len(items()):
        bpy.ops.weft.preset_apply("EXEC_DEFAULT", True, name=items()[number][0])


def picture(fabric: presets.Fabric) -> int:
    """The number of the picture of a fabric as an icon, 0 where it has none."""
    if _previews is None or not fabric.card.is_file():
        return 0
    key = f"{fabric.card}:{fabric.card.stat().st_mtime_ns}"
    if key not in _previews:
        _previews.load(key, str(fabric.card), "IMAGE")
    return _previews[key].icon_id


def make(fabric: presets.Fabric) -> None:
    """Has the picture of a fabric made in the background; it takes some seconds."""
    if bpy.app.background or bridge.problem():
        return
    arguments = (bridge.library(), fabric.fields, fabric.card)
    threading.Thread(target=_make, args=arguments, name="weft card", daemon=True).start()


def _make(library: ModuleType, fields: dict[str, float | None], path: Path) -> None:
    try:
        preview_render.make(library, fields, path)
    except (OSError, ValueError, RuntimeError) as error:
        print(f"Weft: no picture of '{path.stem}': {error}")


def register() -> None:
    global _previews
    _previews = bpy.utils.previews.new()
    callbacks.connect(fabric_items=items, active_fabric=active, choose_fabric=choose)


def unregister() -> None:
    global _previews
    bpy.utils.previews.remove(_previews)
    _previews = None
    _items[:] = [CUSTOM]
