# SPDX-License-Identifier: GPL-3.0-or-later
"""The fabrics of the library as a menu."""

import bpy
from bpy.types import Context, Menu

from . import bridge
from .material import WeftMaterial, as_decimal


def apply(material: WeftMaterial, name: str) -> None:
    """Sets all fields of a material to those of a fabric."""
    material.assign(bridge.preset(name))


def label(material: WeftMaterial) -> str:
    """The fabric that a material is, or that it is none."""
    fields = material.as_dict()
    for name in bridge.preset_names():
        preset = bridge.preset(name)
        if all(value == _rounded(preset[field]) for field, value in fields.items()):
            return title(name)
    return "Custom Fabric"


def title(name: str) -> str:
    return name.replace("_", " ").title()


def _rounded(value: float | None) -> float | None:
    return None if value is None else as_decimal(value)


class WEFT_MT_presets(Menu):
    bl_label = "Fabrics"
    bl_description = "Fabrics with the size of published measurements"

    def draw(self, _context: Context) -> None:
        for name in bridge.preset_names():
            self.layout.operator("weft.preset_apply", text=title(name)).name = name


register, unregister = bpy.utils.register_classes_factory((WEFT_MT_presets,))
