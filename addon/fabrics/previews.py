# SPDX-License-Identifier: GPL-3.0-or-later
"""Preview images of fabrics as icons, and the menu in which a fabric is chosen by them."""

import threading
from pathlib import Path
from types import ModuleType

import bpy
import bpy.utils.previews
from bpy.utils.previews import ImagePreviewCollection

from ..properties import callbacks
from ..simulation import bridge
from . import presets, preview_render
from .look import Look

CUSTOM = ("CUSTOM", "Custom Fabric", "What is set in the panel", "MATERIAL", 0)

_previews: ImagePreviewCollection | None = None
_items: list[tuple] = [CUSTOM]  # referenced here, because Blender does not reference the strings


def items() -> list[tuple]:
    """Enum items with icons, the fabrics numbered from 1."""
    found = [CUSTOM]
    for number, fabric in enumerate(presets.all_presets().values(), start=1):
        icon = icon_id(fabric) or "MATERIAL"
        found.append((fabric.name, fabric.title, fabric.description, icon, number))
    if found != _items:
        _items[:] = found
    return _items


def active() -> int:
    """Number of the fabric of the active object."""
    obj = bpy.context.object
    name = obj.weft.material.fabric if obj is not None else ""
    return next((item[4] for item in items() if item[0] == name), 0)


def choose(number: int) -> None:
    """Applies a fabric to the active object, by its number.

    Calls the operator with undo, because Blender makes no undo step for properties of the window.
    """
    if bpy.ops.weft.preset_apply.poll() and 0 < number < len(items()):
        bpy.ops.weft.preset_apply("EXEC_DEFAULT", True, name=items()[number][0])


def icon_id(fabric: presets.Fabric) -> int:
    """Icon number of the preview of a fabric, 0 without one."""
    if _previews is None or not fabric.preview.is_file():
        return 0
    key = f"{fabric.preview}:{fabric.preview.stat().st_mtime_ns}"
    if key not in _previews:
        _previews.load(key, str(fabric.preview), "IMAGE")
    return _previews[key].icon_id


def make(fabric: presets.Fabric) -> None:
    """Renders the preview of a fabric in a background thread; takes some seconds."""
    if bpy.app.background or bridge.problem():
        return
    arguments = (bridge.library(), fabric.fields, fabric.look, fabric.preview)
    threading.Thread(target=_make, args=arguments, name="weft card", daemon=True).start()


def _make(library: ModuleType, fields: dict[str, float | None], look: Look, path: Path) -> None:
    try:
        preview_render.make(library, fields, look, path)
    except (OSError, ValueError, RuntimeError) as error:
        print(f"Weft: no picture of '{path.stem}': {error}")


def register() -> None:
    global _previews
    _previews = bpy.utils.previews.new()
    callbacks.connect(
        fabric_items=items,
        active_fabric=active,
        choose_fabric=choose,
        fabric_fields=presets.fields_of,
    )


def unregister() -> None:
    global _previews
    bpy.utils.previews.remove(_previews)
    _previews = None
    _items[:] = [CUSTOM]
