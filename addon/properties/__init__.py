# SPDX-License-Identifier: GPL-3.0-or-later
"""Registration of the property groups `Object.weft` and `Scene.weft`.

No module of this package holds a reference to `bpy`: Blender 4.2 never releases property classes,
and as a Python module it crashes at exit if they keep `bpy` alive.
"""

from bpy.props import PointerProperty
from bpy.types import Object, Scene
from bpy.utils import register_classes_factory

from .attachment import WeftAttachment
from .garment import WeftGarment, WeftPanel
from .object import (
    OVERRIDABLE,
    WeftDeformingNodes,
    WeftFieldWeights,
    WeftMutedKey,
    WeftMutedModifier,
    WeftObject,
    WeftResult,
)
from .scene import WeftBeforeBake, WeftScene
from .take import WeftTake

_register_classes, _unregister_classes = register_classes_factory(
    (
        WeftMutedModifier,
        WeftDeformingNodes,
        WeftMutedKey,
        WeftFieldWeights,
        WeftAttachment,
        WeftTake,
        WeftResult,
        WeftPanel,
        WeftGarment,
        WeftObject,
        WeftBeforeBake,
        WeftScene,
    )
)


def register() -> None:
    _register_classes()
    Object.weft = PointerProperty(type=WeftObject, override=OVERRIDABLE)
    Scene.weft = PointerProperty(type=WeftScene)


def unregister() -> None:
    del Scene.weft
    del Object.weft
    _unregister_classes()
