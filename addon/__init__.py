# SPDX-License-Identifier: GPL-3.0-or-later
"""Weft: physically true cloth. The modules register forwards and unregister backwards."""

from . import (
    bake,
    bridge,
    check_operators,
    fabric_operators,
    handlers,
    material,
    operators,
    panels,
    properties,
    window_properties,
)

MODULES = (
    bridge,
    material,
    properties,
    window_properties,
    operators,
    fabric_operators,
    check_operators,
    panels,
    handlers,
    bake,
)


def register() -> None:
    for module in MODULES:
        module.register()


def unregister() -> None:
    for module in reversed(MODULES):
        module.unregister()
