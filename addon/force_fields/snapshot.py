# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the force fields of a scene at its current frame."""

from collections.abc import Iterator

import bpy
import numpy as np
from bpy.types import Depsgraph, FieldSettings, Mesh, Object, Texture, ViewLayer
from mathutils.bvhtree import BVHTree

from ..blender import mesh_arrays
from . import fluid
from .field import SUPPORTED, FalloffLimits, Field


def sources(view_layer: ViewLayer) -> list[Object]:
    """Objects of a view layer with a force field, sorted by name."""
    found = [obj for obj in view_layer.objects if _kind(obj) != "NONE"]
    return sorted(found, key=lambda obj: obj.name_full)


def _kind(obj: Object) -> str:
    return obj.field.type if obj.field is not None else "NONE"


def read(view_layer: ViewLayer, depsgraph: Depsgraph, *, with_fluid: bool = True) -> list[Field]:
    """Active force fields at the current frame; `with_fluid` includes the grids of fluids."""
    found = []
    for obj in sources(view_layer):
        evaluated = obj.evaluated_get(depsgraph)
        if evaluated.is_evaluated and _kind(evaluated) in SUPPORTED:
            found.append(_field(obj, evaluated, depsgraph if with_fluid else None))
    return found


def unsupported(view_layer: ViewLayer) -> Iterator[tuple[Object, str]]:
    """Objects with a force field that does not act on cloth, with its kind."""
    for obj in sources(view_layer):
        if _kind(obj) not in SUPPORTED:
            yield obj, _kind(obj)


def _field(obj: Object, evaluated: Object, depsgraph: Depsgraph | None) -> Field:
    settings = evaluated.field
    points, normals, surface = _geometry(evaluated, settings.shape)
    return Field(
        name=obj.name,
        kind=settings.type,
        shape=settings.shape,
        falloff_type=settings.falloff_type,
        z_direction=settings.z_direction,
        strength=settings.strength,
        damping=settings.harmonic_damping,
        flow=settings.flow,
        wind_factor=settings.wind_factor,
        size=settings.size,
        rest_length=settings.rest_length,
        noise=settings.noise,
        seed=settings.seed,
        use_gravity_falloff=settings.use_gravity_falloff,
        use_global_coords=settings.use_global_coords,
        use_object_coords=settings.use_object_coords,
        use_2d_force=settings.use_2d_force,
        texture_mode=settings.texture_mode,
        texture_nabla=settings.texture_nabla,
        texture=settings.texture.name if settings.texture is not None else "",
        texture_has_color=settings.texture is not None and _has_color(settings.texture),
        distance=_distance_limits(settings),
        radius=_radial_limits(settings),
        matrix=np.array(evaluated.matrix_world, np.float64),
        points=points,
        normals=normals,
        surface=surface,
        fluid=_fluid(settings, depsgraph),
    )


def _fluid(settings: FieldSettings, depsgraph: Depsgraph | None) -> fluid.FluidGrid | None:
    if settings.type != "FLUID_FLOW" or depsgraph is None:
        return None
    return fluid.read(settings.source_object, depsgraph, settings.use_smoke_density)


def evaluate_texture(name: str, points: np.ndarray) -> np.ndarray:
    """Red, green, blue and intensity of a texture at points; only in the main thread."""
    texture = bpy.data.textures.get(name)
    if texture is None:
        return np.full((len(points), 4), 0.5)
    found = np.array([texture.evaluate(point) for point in points.tolist()]).reshape(-1, 4)
    if _has_color(texture):
        found[:, 3] = found[:, :3].mean(axis=1)
    return found


def _has_color(texture: Texture) -> bool:
    """Whether a texture has colours, rather than only an intensity."""
    coloured = {"MAGIC": True, "IMAGE": True}
    coloured["CLOUDS"] = getattr(texture, "cloud_type", "") == "COLOR"
    coloured["VORONOI"] = getattr(texture, "color_mode", "INTENSITY") != "INTENSITY"
    return texture.use_color_ramp or coloured.get(texture.type, False)


def _distance_limits(settings: FieldSettings) -> FalloffLimits:
    return FalloffLimits(
        settings.falloff_power,
        settings.distance_min if settings.use_min_distance else None,
        settings.distance_max if settings.use_max_distance else None,
    )


def _radial_limits(settings: FieldSettings) -> FalloffLimits:
    return FalloffLimits(
        settings.radial_falloff,
        settings.radial_min if settings.use_radial_min else None,
        settings.radial_max if settings.use_radial_max else None,
    )


def _geometry(evaluated: Object, shape: str) -> tuple[np.ndarray, np.ndarray, BVHTree | None]:
    """World-space vertices and normals, or the surface, of a field of shape POINTS or SURFACE."""
    none = np.empty((0, 3))
    if shape not in {"POINTS", "SURFACE"} or evaluated.type != "MESH":
        return none, none, None
    matrix = np.array(evaluated.matrix_world, np.float64)
    mesh = evaluated.to_mesh()
    try:
        points = mesh_arrays.transformed(mesh_arrays.coordinates(mesh), matrix)
        if shape == "POINTS":
            return points, _normals(mesh, matrix), None
        triangles = mesh_arrays.triangles(mesh)
        return none, none, BVHTree.FromPolygons(points.tolist(), triangles.tolist())
    finally:
        evaluated.to_mesh_clear()


def _normals(mesh: Mesh, matrix: np.ndarray) -> np.ndarray:
    normals = np.empty((len(mesh.vertices), 3), np.float32)
    mesh.vertex_normals.foreach_get("vector", normals.ravel())
    transformed = mesh_arrays.transformed_vectors(normals, np.linalg.inv(matrix[:3, :3]).T)
    return transformed / np.maximum(np.linalg.norm(transformed, axis=1, keepdims=True), 1e-30)
