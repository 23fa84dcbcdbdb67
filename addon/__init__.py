# SPDX-License-Identifier: GPL-3.0-or-later
"""Weft: physically true cloth. The modules register forwards and unregister backwards."""

from . import (
    bake,
    bridge,
    cards,
    check_operators,
    cloth_panels,
    export,
    fabric_operators,
    handlers,
    material,
    operators,
    overlay,
    panels,
    properties,
    scene_panels,
    window_properties,
)

MODULES = (
    bridge,
    material,
    properties,
    window_properties,
    cards,
    operators,
    fabric_operators,
    check_operators,
    export,
    panels,
    cloth_panels,
    scene_panels,
    overlay,
    handlers,
    bake,
)


def register() -> None:
    for module in MODULES:
        module.register()


def unregister() -> None:
    for module in reversed(MODULES):
        module.unregister()
