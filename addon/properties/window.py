# SPDX-License-Identifier: GPL-3.0-or-later
"""State of the window manager, not saved: findings, overlays, the selected fabric."""

from bpy.props import (
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import Context, PropertyGroup, WindowManager
from bpy.utils import register_classes_factory

from . import callbacks


def _fabric_items(_owner: PropertyGroup, _context: Context | None) -> list[tuple]:
    return callbacks.call("fabric_items")


def _active_fabric(_owner: PropertyGroup) -> int:
    return callbacks.call("active_fabric")


def _choose_fabric(_owner: PropertyGroup, number: int) -> None:
    callbacks.call("choose_fabric", number)


def _redraw(_owner: PropertyGroup, _context: Context) -> None:
    callbacks.call("redraw")


class WeftFinding(PropertyGroup):
    """Line of the findings list; the mesh elements are kept by `checks.operators`."""

    severity: EnumProperty(
        items=(("ERROR", "Error", ""), ("WARNING", "Warning", ""), ("INFO", "Note", "")),
    )
    title: StringProperty()
    meaning: StringProperty()
    object_name: StringProperty()  # object to select, empty if there is none
    fix: StringProperty()


class WeftWindow(PropertyGroup):
    """Unsaved state of the user interface."""

    findings: CollectionProperty(type=WeftFinding)
    active_finding: IntProperty(name="Finding", description="The finding that is explained below")
    checked: StringProperty()  # name of the checked scene, empty before a check
    fabric_card: EnumProperty(
        name="Fabric",
        description="Choose a fabric by how it falls over a ball",
        items=_fabric_items,
        get=_active_fabric,
        set=_choose_fabric,
    )
    overlay: EnumProperty(
        name="Overlay",
        description="What is shown in colours on the cloths in the viewport",
        items=(
            ("NONE", "Nothing", "No colours"),
            ("STRETCH", "Stretch", "How far the fabric is stretched, from blue over green to red"),
            ("PINS", "Pins", "The vertices that are held"),
            (
                "SEAMS",
                "Seams",
                "Lines between the sides of open seams, each in a colour of its own",
            ),
            ("CONTACTS", "Contacts", "Where the cloth is as close to a collider as both are thick"),
        ),
        default="NONE",
        update=_redraw,
    )
    overlay_stretch: FloatProperty(
        name="Largest Stretch (%)",
        description="The stretch that is shown in red, in per cent of the length at rest",
        default=5.0,
        min=0.01,
        soft_max=100.0,
        precision=1,
        update=_redraw,
    )


_register_classes, _unregister_classes = register_classes_factory((WeftFinding, WeftWindow))


def register() -> None:
    _register_classes()
    WindowManager.weft = PointerProperty(type=WeftWindow)


def unregister() -> None:
    del WindowManager.weft
    _unregister_classes()
    callbacks.clear()
