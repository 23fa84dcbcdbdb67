# SPDX-License-Identifier: GPL-3.0-or-later
"""The shape of a dressed garment, a shape key of value 1: every bake starts from it."""

import numpy as np
from bpy.types import Object, ShapeKey

from ...blender import mesh_arrays

NAME = "Dressed"


def find(obj: Object) -> ShapeKey | None:
    """The key, None on what is not dressed."""
    keys = obj.data.shape_keys if obj.type == "MESH" else None
    return None if keys is None else keys.key_blocks.get(NAME)


def coordinates(obj: Object) -> np.ndarray:
    """Vertices of the key in object space; of the basis without a key."""
    key = find(obj)
    if key is None:
        return mesh_arrays.rest_coordinates(obj.data)
    points = np.empty((len(obj.data.vertices), 3), np.float32)
    key.points.foreach_get("co", points.ravel())
    return points


def write(obj: Object, points: np.ndarray) -> None:
    """Sets the vertices of the key in object space, and makes the key where there is none."""
    key = find(obj)
    if key is None:
        if obj.data.shape_keys is None:
            obj.shape_key_add(name="Basis", from_mix=False)
        key = obj.shape_key_add(name=NAME, from_mix=False)
        key.slider_max = 1.0
    key.value, key.mute = 1.0, False
    key.points.foreach_set("co", np.ascontiguousarray(points, np.float32).ravel())
    obj.data.update()


def remove(obj: Object) -> None:
    """Removes the key, and the basis if no other key is left."""
    obj.shape_key_remove(find(obj))
    if len(obj.data.shape_keys.key_blocks) == 1:
        obj.shape_key_clear()
    obj.data.update()
