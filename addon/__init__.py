# SPDX-License-Identifier: GPL-3.0-or-later
"""Weft: physically true cloth. Modules register in this order and unregister in reverse."""

import atexit

from . import handlers, properties
from .authoring import operators as authoring_operators
from .bake import job, live
from .checks import operators as check_operators
from .fabrics import operators as fabric_operators
from .fabrics import previews
from .garment import operators as garment_operators
from .garment import panel_operators, sewing_operators
from .properties import fabric, window
from .simulation import bridge
from .takes import operators as take_operators
from .ui import (
    cloth_panels,
    export,
    garment_panel,
    live_operators,
    operators,
    panels,
    pin_operators,
    scene_panels,
    takes_panel,
)
from .ui.viewport import drag_operator, overlay

MODULES = (
    bridge,
    fabric,
    properties,
    window,
    previews,
    operators,
    live_operators,
    drag_operator,
    pin_operators,
    fabric_operators,
    check_operators,
    garment_operators,
    panel_operators,
    sewing_operators,
    authoring_operators,
    take_operators,
    export,
    panels,
    garment_panel,
    cloth_panels,
    takes_panel,
    scene_panels,
    overlay,
    handlers,
    job,
    live,
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
