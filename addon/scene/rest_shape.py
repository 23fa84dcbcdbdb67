# SPDX-License-Identifier: GPL-3.0-or-later
"""Rest shape of a cloth: its mesh, a shape key, its UV map as a sewing pattern, or the mesh that is
deformed at each frame.
"""

from dataclasses import dataclass

import numpy as np
from bpy.types import Mesh, Object

from ..blender import mesh_arrays
from ..properties.fabric import as_decimal

PROPERTIES = ("stretch", "shear", "bend", "friction")
SEAM_WIDTH = 0.02  # m, both allowances of a seam
SAME_UV = 1e-5  # distance in UV units below which corners of a vertex coincide


def positions(obj: Object, matrix: np.ndarray, scale: float) -> np.ndarray:
    """Rest positions in m, `(vertices, 3)`; `ValueError` if the rest shape does not exist.

    Where seams cut the UV map of a pattern they are those of the mesh: see `corners`.
    """
    rest = _pattern(obj) if obj.weft.rest_shape == "PATTERN" else None
    if rest is None:
        rest = mesh_arrays.transformed(_local(obj, obj.data), matrix) * scale
    return _shrunk(obj, rest)


def corners(obj: Object, matrix: np.ndarray, scale: float) -> np.ndarray | None:
    """Rest positions of the face corners in m, where they differ at a vertex; else None.

    So they do where seams cut the UV map of a pattern, and where panels were welded.
    """
    panels = obj.weft.garment.panels_mesh
    if obj.weft.rest_shape == "PATTERN":
        return None if _pattern(obj) is not None else _shrunk(obj, _pattern_corners(obj))
    if panels is None or is_deformed(obj):
        return None
    found = mesh_arrays.corner_vertices(panels)
    if len(found) != len(obj.data.loops):
        raise ValueError(f"faces of '{obj.name}' were changed since it was dressed: undress it")
    points = mesh_arrays.transformed(_local(obj, panels)[found], matrix) * scale
    return _shrunk(obj, points)


def is_deformed(obj: Object) -> bool:
    """Whether the rest shape of a cloth is its deformed mesh of each frame."""
    return obj.weft.rest_shape == "DEFORMED"


def shrunk(rest: np.ndarray, factor: float) -> np.ndarray:
    """Rest positions in m, shrunk by a factor that is 0 for none."""
    if factor == 0.0:
        return rest
    centre = rest.mean(axis=0)
    return centre + (rest - centre) * (1.0 - factor)


def _shrunk(obj: Object, rest: np.ndarray) -> np.ndarray:
    return shrunk(rest, as_decimal(obj.weft.shrink))


@dataclass(frozen=True)
class Shrinking:
    """Shrinking factors of a cloth where the weight of its shrinking group is 0 and 1."""

    base: float
    group: float
    yarns: str  # yarns on which the group acts

    @classmethod
    def of(cls, obj: Object) -> "Shrinking":
        settings = obj.weft
        base, group = as_decimal(settings.shrink), as_decimal(settings.shrink_max)
        return cls(base, group, settings.shrink_yarns)

    def scale(
        self, weights: np.ndarray | None, count: int, first: "Shrinking"
    ) -> np.ndarray | None:
        """Factors on the rest lengths along warp and weft, `(vertices, 2)`; None if all are 1.

        They are relative to the uniform shrinking at the first frame, which the rest positions
        contain. `weights` are those of the shrinking group, None without one.
        """
        base, group, initial = (1.0 - f for f in (self.base, self.group, first.base))
        factors = np.full((count, 2), base / initial)
        if weights is not None:
            for axis in {"BOTH": (0, 1), "WARP": (0,), "WEFT": (1,)}[self.yarns]:
                factors[:, axis] += weights * (group - base) / initial
        return None if (factors == 1.0).all() else factors


@dataclass(frozen=True)
class InternalSprings:
    """Springs through the inside of a cloth."""

    search: dict[str, float | bool | None]  # keywords of `weft.Cloth.internal_springs`
    tension: np.ndarray  # N/m at each vertex
    compression: np.ndarray  # N/m at each vertex
    damping: float  # over the tension, in s

    @classmethod
    def of(cls, obj: Object, areas: np.ndarray) -> "InternalSprings | None":
        """Those of a cloth with vertex areas in m²; None without."""
        settings = obj.weft
        if not settings.use_internal_springs:
            return None
        weights = mesh_arrays.group_weights(obj, settings.internal_group)
        stiffness = []
        for name in ("internal_tension", "internal_compression"):
            base = as_decimal(getattr(settings, name))
            most = as_decimal(getattr(settings, f"{name}_max"))
            stiffness.append(areas * (base if weights is None else base + weights * (most - base)))
        search = {
            "max_length": as_decimal(settings.internal_spring_max_length) or None,
            "max_diversion": as_decimal(settings.internal_spring_max_diversion),
            "check_normals": settings.internal_spring_normal_check,
        }
        return cls(search, *stiffness, as_decimal(settings.internal_damping))

    def keywords(self, pairs: np.ndarray) -> dict[str, np.ndarray]:
        """Keywords of `weft.Cloth` for springs between pairs of vertices."""
        tension, compression = (
            each[pairs].mean(axis=1) for each in (self.tension, self.compression)
        )
        return {
            "springs": pairs,
            "spring_stiffness": tension,
            "spring_compression": compression,
            "spring_damping": self.damping * tension,
        }


def property_scales(obj: Object, rest: np.ndarray, areas: np.ndarray) -> dict[str, np.ndarray]:
    """Factors on fabric properties at each vertex, as keywords of `weft.Cloth`; rest positions and
    vertex areas in m and m².
    """
    found = {}
    for name in PROPERTIES:
        weights = mesh_arrays.group_weights(obj, getattr(obj.weft, f"{name}_group"))
        if weights is not None:
            factor = as_decimal(getattr(obj.weft, f"{name}_factor"))
            found[f"{name}_scale"] = 1.0 + weights * (factor - 1.0)
    stiffness = as_decimal(obj.weft.seam_stiffness)
    if stiffness != 1.0:
        shares = _seam_shares(obj.data, rest, areas)
        found["bend_scale"] = found.get("bend_scale", 1.0) * (1.0 + shares * (stiffness - 1.0))
    return found


def _seam_shares(mesh: Mesh, rest: np.ndarray, areas: np.ndarray) -> np.ndarray:
    """Area of seams over that of each vertex, so that they are as stiff at every edge length."""
    ends = mesh_arrays.seam_edges(mesh)
    lengths = np.linalg.norm(rest[ends[:, 0]] - rest[ends[:, 1]], axis=1)
    beside = np.bincount(ends.ravel(), np.repeat(lengths / 2.0, 2), len(rest))
    return SEAM_WIDTH * beside / np.maximum(areas, 1e-12)


def mass_scale(obj: Object) -> np.ndarray | None:
    """Factor on the mass of each vertex, None if all are 1.

    It keeps the mass of the cloth when the rest shape is shrunk.
    """
    settings = obj.weft
    scale = np.full(len(obj.data.vertices), (1.0 - as_decimal(settings.shrink)) ** -2)
    weights = mesh_arrays.group_weights(obj, settings.density_group)
    if weights is not None:
        ratio = as_decimal(settings.density_max) / as_decimal(settings.material.density)
        scale *= 1.0 + weights * (ratio - 1.0)
    return None if (scale == 1.0).all() else scale


def key_coordinates(mesh: Mesh, name: str) -> np.ndarray | None:
    """Vertex positions of a shape key, None if it does not exist."""
    keys = mesh.shape_keys
    if keys is None or name not in keys.key_blocks:
        return None
    points = np.empty((len(mesh.vertices), 3), np.float32)
    keys.key_blocks[name].points.foreach_get("co", points.ravel())
    return points


def _local(obj: Object, mesh: Mesh) -> np.ndarray:
    """The rest shape in object space as a mesh of the object has it: its own, or its panels."""
    if obj.weft.rest_shape != "KEY":
        return mesh_arrays.rest_coordinates(mesh)
    points = key_coordinates(mesh, obj.weft.rest_key)
    if points is None:
        raise ValueError(f"'{obj.name}' has no shape key '{obj.weft.rest_key}', its rest shape")
    return points


def _pattern_corners(obj: Object) -> np.ndarray:
    """The UV map as flat rest positions in m, of each face corner."""
    uv = mesh_arrays.active_uv(obj.data)
    if uv is None:
        raise ValueError(f"'{obj.name}' has no UV map, its rest shape")
    flat = np.zeros((len(uv), 3))
    flat[:, :2] = uv
    return flat * as_decimal(obj.weft.pattern_size)


def _pattern(obj: Object) -> np.ndarray | None:
    """The UV map as flat rest positions in m; None where a vertex has several UVs."""
    corners, flat = mesh_arrays.corner_vertices(obj.data), _pattern_corners(obj)
    positions = np.zeros((len(obj.data.vertices), 3))
    positions[corners] = flat
    apart = np.abs(positions[corners] - flat).max(axis=1)
    is_cut = (apart > SAME_UV * as_decimal(obj.weft.pattern_size)).any()
    return None if is_cut else positions
