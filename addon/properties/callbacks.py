# SPDX-License-Identifier: GPL-3.0-or-later
"""What properties call, filled while Weft is registered.

Kept apart from the properties, because Blender 4.2 never lets go of property classes, and as a
Python module it crashes at exit when they keep `bpy` alive.
"""

from collections.abc import Callable
from typing import Any

_hooks: dict[str, Callable] = {}


def connect(**hooks: Callable) -> None:
    """Says what the properties call."""
    _hooks.update(hooks)


def call(name: str, *arguments: object) -> Any:
    """Calls what is connected under a name."""
    return _hooks[name](*arguments)


def clear() -> None:
    """Lets everything go."""
    _hooks.clear()
