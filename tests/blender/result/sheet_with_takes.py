# SPDX-License-Identifier: MIT OR Apache-2.0
"""A sheet with takes."""

import bpy
import numpy as np
import small_scenes
from small_scenes import cached_frames

from addon.cache import pc2
from addon.fabrics import presets
from addon.storage import cache_paths
from addon.takes import results

KINDS = ("KEYS", "MODIFIER")


def bake(cloth, fabric="cotton"):
    presets.apply(cloth.weft.material, fabric)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    return cached_frames(cloth)


def keep(cloth, name=""):
    assert bpy.ops.weft.take_keep(name=name) == {"FINISHED"}
    return cloth.weft.takes[-1]


def hung(last=5, kind="KEYS"):
    """A sheet that is pinned at one side, active."""
    cloth = small_scenes.add_cloth()
    small_scenes.set_frames(1, last)
    bpy.context.scene.weft.result_kind = kind
    bpy.context.view_layer.objects.active = cloth
    return cloth


def two_takes(kind="KEYS"):
    """A sheet with takes of cotton and denim, and the frames of both."""
    cloth = hung(kind=kind)
    cotton = bake(cloth)
    keep(cloth, "Light")
    denim = bake(cloth, "denim")
    keep(cloth, "Heavy")
    assert np.abs(cotton - denim).max() > 1e-4
    return cloth, cotton, denim


def take_stem(take):
    return cache_paths.take_stem(bpy.context.scene, take)


def frames_of(take):
    contents = pc2.read(take_stem(take))
    assert not contents.problem
    return np.array(list(pc2.frames(take_stem(take), contents.description, contents.intact)))


def chosen(cloth):
    scene = bpy.context.scene
    return [take.name for take in cloth.weft.takes if results.is_chosen(scene, cloth, take)]


def copies():
    return [obj for obj in bpy.data.objects if obj.weft.result.take]


def step(message):
    bpy.ops.ed.undo_push(message=message)
