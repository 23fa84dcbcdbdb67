# SPDX-License-Identifier: GPL-3.0-or-later
"""What belongs to the window and not to the file: the findings of Check Scene."""

from bpy.props import CollectionProperty, EnumProperty, IntProperty, PointerProperty, StringProperty
from bpy.types import PropertyGroup, WindowManager
from bpy.utils import register_classes_factory


class WeftFinding(PropertyGroup):
    """One line of the list; its elements are kept by `check_operators`."""

    severity: EnumProperty(
        items=(("ERROR", "Error", ""), ("WARNING", "Warning", ""), ("INFO", "Note", "")),
    )
    title: StringProperty()
    meaning: StringProperty()
    object_name: StringProperty()  # what Select selects, empty where there is nothing
    fix: StringProperty()


class WeftWindow(PropertyGroup):
    """What Weft shows but does not save."""

    findings: CollectionProperty(type=WeftFinding)
    active_finding: IntProperty(name="Finding", description="The finding that is explained below")
    checked: StringProperty()  # the name of the scene that was checked, empty before


_register_classes, _unregister_classes = register_classes_factory((WeftFinding, WeftWindow))


def register() -> None:
    _register_classes()
    WindowManager.weft = PointerProperty(type=WeftWindow)


def unregister() -> None:
    del WindowManager.weft
    _unregister_classes()
