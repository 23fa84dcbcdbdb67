# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions that properties call, set while the extension is registered.

The indirection keeps `bpy` out of the property modules: Blender 4.2 never releases property
classes, and as a Python module it crashes at exit if they keep `bpy` alive.
"""

from collections.abc import Callable
from typing import Any

_functions: dict[str, Callable] = {}


def connect(**functions: Callable) -> None:
    """Registers functions by name."""
    _functions.update(functions)


def call(name: str, *arguments: object) -> Any:
    """Calls the function registered under a name."""
    return _functions[name](*arguments)


def clear() -> None:
    """Removes all registered functions."""
    _functions.clear()
