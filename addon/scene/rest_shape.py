# SPDX-License-Identifier: GPL-3.0-or-later
"""The undeformed shape of a cloth: its mesh, a shape key, or its UV map as a sewing pattern."""

from dataclasses import dataclass

import numpy as np
from bpy.types import Object

from ..blender import mesh_arrays
from ..properties.fabric import as_decimal

PROPERTIES = ("stretch", "shear", "bend", "friction")
SAME_UV = 1e-5  # corners of a vertex closer than this in the UV map are one point of the pattern


def positions(obj: Object, matrix: np.ndarray, scale: float) -> np.ndarray:
    """Vertices of the undeformed cloth in m, `(vertices, 3)`; refuses what has no such shape."""
    settings = obj.weft
    if settings.rest_shape == "PATTERN":
        rest = _pattern(obj)
    else:
        rest = mesh_arrays.transformed(_local(obj), matrix) * scale
    if settings.shrink:
        centre = rest.mean(axis=0)
        rest = centre + (rest - centre) * (1.0 - as_decimal(settings.shrink))
    return rest


@dataclass(frozen=True)
class Shrinking:
    """What a cloth shrinks by where its shrinking group has weight 0 and 1."""

    plain: float
    grouped: float
    yarns: str  # along which the group shrinks

    @classmethod
    def of(cls, obj: Object) -> "Shrinking":
        settings = obj.weft
        plain, grouped = as_decimal(settings.shrink), as_decimal(settings.shrink_max)
        return cls(plain, grouped, settings.shrink_yarns)

    def scale(self, share: np.ndarray | None, count: int, first: "Shrinking") -> np.ndarray | None:
        """Factors on the lengths at rest along warp and weft at each of `count` vertices,
        `(vertices, 2)`, besides what the whole shrank by at first; None where all are 1. `share`
        has the weights of the shrinking group, if there is one.
        """
        least, most, whole = (1.0 - f for f in (self.plain, self.grouped, first.plain))
        factors = np.full((count, 2), least / whole)
        if share is not None:
            for axis in {"BOTH": (0, 1), "WARP": (0,), "WEFT": (1,)}[self.yarns]:
                factors[:, axis] += share * (most - least) / whole
        return None if (factors == 1.0).all() else factors


def property_scales(obj: Object) -> dict[str, np.ndarray]:
    """Factors on properties of the fabric at each vertex, by the keywords of `weft.Cloth`."""
    found = {}
    for name in PROPERTIES:
        share = mesh_arrays.group_weights(obj, getattr(obj.weft, f"{name}_group"))
        if share is not None:
            factor = as_decimal(getattr(obj.weft, f"{name}_factor"))
            found[f"{name}_scale"] = 1.0 + share * (factor - 1.0)
    return found


def mass_scale(obj: Object) -> np.ndarray | None:
    """The factor on the mass of each vertex, None where it is 1 everywhere.

    Shrinking the rest shape must not make the cloth lighter.
    """
    settings = obj.weft
    scale = np.full(len(obj.data.vertices), (1.0 - as_decimal(settings.shrink)) ** -2)
    share = mesh_arrays.group_weights(obj, settings.density_group)
    if share is not None:
        ratio = as_decimal(settings.density_max) / as_decimal(settings.material.density)
        scale *= 1.0 + share * (ratio - 1.0)
    return None if (scale == 1.0).all() else scale


def key_coordinates(obj: Object, name: str) -> np.ndarray | None:
    """The vertices of a shape key, None where there is no such key."""
    keys = obj.data.shape_keys
    if keys is None or name not in keys.key_blocks:
        return None
    points = np.empty((len(obj.data.vertices), 3), np.float32)
    keys.key_blocks[name].points.foreach_get("co", points.ravel())
    return points


def _local(obj: Object) -> np.ndarray:
    if obj.weft.rest_shape != "KEY":
        return mesh_arrays.rest_coordinates(obj.data)
    points = key_coordinates(obj, obj.weft.rest_key)
    if points is None:
        raise ValueError(f"'{obj.name}' has no shape key '{obj.weft.rest_key}', its rest shape")
    return points


def _pattern(obj: Object) -> np.ndarray:
    uv = mesh_arrays.active_uv(obj.data)
    if uv is None:
        raise ValueError(f"'{obj.name}' has no UV map, its rest shape")
    corners = mesh_arrays.corner_vertices(obj.data)
    flat = np.zeros((len(obj.data.vertices), 3))
    flat[corners, :2] = uv
    apart = np.abs(flat[corners, :2] - uv).max(axis=1) > SAME_UV
    if apart.any():
        vertex = int(corners[np.flatnonzero(apart)[0]])
        raise ValueError(
            f"the UV map of '{obj.name}' is cut at vertex {vertex}, where the mesh is not: split "
            "the mesh along the seams (Edge Split) and sew the panels together"
        )
    return flat * as_decimal(obj.weft.pattern_size)
