# SPDX-License-Identifier: GPL-3.0-or-later
"""Weft: physically true cloth. Modules register in this order and unregister in reverse."""

import atexit

from . import handlers, properties
from .bake import job
from .checks import operators as check_operators
from .fabrics import operators as fabric_operators
from .fabrics import previews
from .properties import fabric, window
from .simulation import bridge
from .ui import cloth_panels, export, operators, overlay, panels, pin_operators, scene_panels

MODULES = (
    bridge,
    fabric,
    properties,
    window,
    previews,
    operators,
    pin_operators,
    fabric_operators,
    check_operators,
    export,
    panels,
    cloth_panels,
    scene_panels,
    overlay,
    handlers,
    job,
)


def register() -> None:
    for module in MODULES:
        module.register()
    atexit.register(_disable)


def _disable() -> None:
    """Unregister at exit: Blender as a module leaves the add-on registered, and 4.2 crashes then.

    Some versions disable what is enabled later on, and must not find it enabled.
    """
    import addon_utils  # there once bpy is

    if globals().get("__addon_enabled__"):
        addon_utils.disable(__name__)
    else:
        unregister()


def unregister() -> None:
    atexit.unregister(_disable)
    for module in reversed(MODULES):
        module.unregister()
