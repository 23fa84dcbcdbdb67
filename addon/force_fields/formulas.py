# SPDX-License-Identifier: GPL-3.0-or-later
"""Accelerations that a force field gives to points of unit mass: the formulas of Blender's
effectors.

They were found by experiment. Tests compare them with Blender's own evaluation, the accelerations
of its particles.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from mathutils import noise

from ..blender import mesh_arrays
from .field import Effect, Field

# From the name of a texture and points (n, 3) to red, green, blue and intensity (n, 4).
TextureLookup = Callable[[str, np.ndarray], np.ndarray]

MAX_REPULSION = 2.0  # upper bound of the Lennard-Jones repulsion in Blender


@dataclass(frozen=True)
class EffectorData:
    """Position, direction and falloff of a field relative to the points that it acts on."""

    origin: np.ndarray  # effective origin of the field for each point, (n, 3)
    offset: np.ndarray  # from the effective origin to the point
    from_object: np.ndarray  # from the object's origin to the point
    axis: np.ndarray  # direction of the field
    distance: np.ndarray  # length of the offset, (n,)
    falloff: np.ndarray  # factor from 0 to 1, (n,)


def effect(
    field: Field,
    points: np.ndarray,
    velocities: np.ndarray,
    lookup: TextureLookup,
    random: np.random.Generator,
) -> Effect:
    """Effect of a field on points of unit mass, all in Blender units.

    With noise the strength varies from point to point, by numbers drawn from `random`.
    """
    total = Effect.none(len(points))
    for data in _effector_data(field, points):
        if field.kind == "TEXTURE":
            total.force += _texture(field, data, points, lookup)
        else:
            total.add(_effect_of(_with_noise(field, len(points), random), data, velocities))
    return total


def _with_noise(field: Field, count: int, random: np.random.Generator) -> Field:
    """The field with a strength and, for kinds with drag, a damping for each point."""
    strength, damping = np.full(count, field.strength), np.full(count, field.damping)
    if field.noise > 0.0:
        strength += field.noise * _noise_samples(count, random)
        if field.kind in {"HARMONIC", "DRAG"}:
            damping += field.noise * _noise_samples(count, random)
    return replace(field, strength=strength, damping=damping)


def _noise_samples(count: int, random: np.random.Generator) -> np.ndarray:
    """Random numbers with the distribution that Blender adds to a strength."""
    size = random.integers(0, 128, count)
    return np.where(size > 64, 1.0, -1.0) * size / (128.0 * (1.0 + random.random(count)))


def _effect_of(field: Field, data: EffectorData, velocities: np.ndarray) -> Effect:
    result = _FORMULAS[field.kind](field, data, velocities)
    if field.flow and field.kind not in {"HARMONIC", "DRAG", "FLUID_FLOW"}:
        result.drag = result.drag + field.flow * data.falloff
    return result


# --- where a field acts from ------------------------------------------------------------------


def _effector_data(field: Field, points: np.ndarray) -> list[EffectorData]:
    """Effector data of a field: one set, or one for each vertex of shape POINTS."""
    if field.shape == "POINTS" and field.kind == "HARMONIC":
        # A spring from each point to the vertex with the same index.
        index = np.arange(len(points)) % max(len(field.points), 1)
        return [_data_at(field, points, field.points[index], field.normals[index])]
    if field.shape == "POINTS":
        pairs = zip(field.points, field.normals, strict=True)
        return [_data_at(field, points, np.broadcast_to(p, points.shape), n) for p, n in pairs]
    if field.shape == "SURFACE":
        return [_surface_data(field, points)]
    offset = points - field.centre
    axial = np.einsum("ij,j->i", offset, field.axis)[:, None] * field.axis
    if field.shape == "LINE":
        origin = field.centre + axial
    elif field.shape == "PLANE":
        # A vortex rotates about the axis: its origin is the nearest point of the axis.
        origin = field.centre + axial if field.kind == "VORTEX" else points - axial
    else:
        origin = np.broadcast_to(field.centre, points.shape)
    return [_data_at(field, points, origin, field.axis)]


def _surface_data(field: Field, points: np.ndarray) -> EffectorData:
    origin, axis = points.copy(), np.zeros_like(points)
    if field.surface is not None:
        for index, point in enumerate(points.tolist()):
            nearest, normal, _triangle, _distance = field.surface.find_nearest(point)
            if nearest is not None:
                origin[index], axis[index] = nearest, normal
    return _data_at(field, points, origin, axis)


def _data_at(
    field: Field, points: np.ndarray, origin: np.ndarray, axis: np.ndarray
) -> EffectorData:
    axis = np.broadcast_to(axis, points.shape)
    offset, from_object = points - origin, points - field.centre
    distance = np.linalg.norm(offset, axis=1)
    falloff = _falloff(field, from_object, axis, distance)
    if field.kind == "HARMONIC" and field.rest_length:
        stretched = (distance - field.rest_length) / np.maximum(distance, 1e-30)
        offset = offset * stretched[:, None]
    return EffectorData(origin, offset, from_object, axis, distance, falloff)


def _falloff(
    field: Field, from_object: np.ndarray, axis: np.ndarray, distance: np.ndarray
) -> np.ndarray:
    height = np.einsum("ij,ij->i", axis, from_object)
    if field.falloff_type == "SPHERE":
        factor = field.distance(distance)
    else:
        if field.falloff_type == "TUBE":
            radius = np.linalg.norm(from_object - height[:, None] * axis, axis=1)
        else:
            length = np.maximum(np.linalg.norm(from_object, axis=1), 1e-30)
            radius = np.degrees(np.arccos(np.clip(height / length, -1.0, 1.0)))
        factor = field.distance(np.abs(height)) * field.radius(radius)
    if field.z_direction == "POSITIVE":
        factor = np.where(height < 0.0, 0.0, factor)
    elif field.z_direction == "NEGATIVE":
        factor = np.where(height > 0.0, 0.0, factor)
    return factor


# --- laws -------------------------------------------------------------------------------------


def _directed(direction: np.ndarray, factor: np.ndarray | float) -> Effect:
    result = Effect.none(len(direction))
    result.force = direction * np.broadcast_to(factor, len(direction))[:, None]
    return result


def _unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.where(lengths > 1e-30, vectors / np.maximum(lengths, 1e-30), 0.0)


def _force(field: Field, data: EffectorData, _velocities: np.ndarray) -> Effect:
    strength = field.strength
    if field.use_gravity_falloff:
        near = data.distance < np.finfo(np.float32).eps
        strength = np.where(near, 0.0, strength / np.maximum(data.distance, 1e-30) ** 2)
    return _directed(_unit(data.offset), strength * data.falloff)


def _wind(field: Field, data: EffectorData, _velocities: np.ndarray) -> Effect:
    return _directed(data.axis, field.strength * data.falloff)


def _vortex(field: Field, data: EffectorData, _velocities: np.ndarray) -> Effect:
    strength = field.strength * data.falloff
    if field.shape == "POINT":
        direction = _unit(np.cross(data.axis, data.offset))
        return _directed(direction, strength * data.distance)
    tangential = np.cross(field.axis, data.from_object) * strength[:, None]
    radial = np.cross(field.axis, tangential) * strength[:, None]
    result = _directed(radial + tangential, 1.0)
    result.drag = np.ones(len(strength))
    return result


def _magnet(field: Field, data: EffectorData, _velocities: np.ndarray) -> Effect:
    result = Effect.none(len(data.distance))
    lines = data.axis
    if field.shape in {"POINT", "LINE"}:
        lines = np.cross(data.axis, data.offset)
    result.spin = _unit(lines) * (field.strength * data.falloff)[:, None]
    return result


def _harmonic(field: Field, data: EffectorData, _velocities: np.ndarray) -> Effect:
    result = _directed(data.offset, -field.strength * data.falloff)
    result.drag = 2.0 * field.damping * np.abs(field.strength) ** 0.5
    return result


def _charge(_field: Field, data: EffectorData, _velocities: np.ndarray) -> Effect:
    """Zero: neither in Blender nor here does cloth carry a charge."""
    return Effect.none(len(data.distance))


def _lennard_jones(field: Field, data: EffectorData, _velocities: np.ndarray) -> Effect:
    """Zero between points without a radius, such as vertices."""
    distance = np.maximum(data.distance, 1e-30)
    ratio = (0.0 / distance) ** 6
    factor = np.minimum(-ratio * (1.0 - ratio) / distance, MAX_REPULSION)
    return _directed(data.offset, field.strength * factor)


def _turbulence(field: Field, data: EffectorData, _velocities: np.ndarray) -> Effect:
    coordinates = data.from_object + field.axis
    if field.use_global_coords:
        coordinates = data.origin + data.offset
    force = np.array([_noise(field.size, point) for point in coordinates.tolist()])
    return _directed(force.reshape(-1, 3), field.strength * data.falloff)


def _noise(size: float, point: list[float]) -> tuple[float, float, float]:
    x, y, z = point
    return _octaves(size, x, y, z), _octaves(size, y, z, x), _octaves(size, z, x, y)


def _octaves(size: float, x: float, y: float, z: float) -> float:
    """Three octaves of improved Perlin noise, from -1 to 1."""
    if size:
        x, y, z = x / size, y / size, z / size
    total, amplitude, frequency = 0.0, 1.0, 1.0
    for _ in range(3):
        coordinates = (x * frequency, y * frequency, z * frequency)
        unsigned = 0.5 * (1.0 + noise.noise(coordinates, noise_basis="PERLIN_NEW"))
        total += amplitude * unsigned
        amplitude, frequency = amplitude / 2, frequency * 2
    return 2.0 * total * 4.0 / 7.0 - 1.0


def _drag(field: Field, data: EffectorData, velocities: np.ndarray) -> Effect:
    result = Effect.none(len(data.distance))
    speed = np.linalg.norm(velocities, axis=1)
    linear, quadratic = np.minimum(field.damping, 2.0), np.minimum(field.strength, 2.0)
    result.drag = data.falloff * (quadratic * speed + linear)
    return result


def _fluid_flow(field: Field, data: EffectorData, _velocities: np.ndarray) -> Effect:
    if field.fluid is None:
        return Effect.none(len(data.distance))
    flow, density = field.fluid.at(data.origin + data.offset)
    influence = field.strength * data.falloff * density
    result = _directed(flow, influence)
    result.drag = field.flow * influence
    return result


# --- textures ---------------------------------------------------------------------------------


def _texture(
    field: Field, data: EffectorData, points: np.ndarray, lookup: TextureLookup
) -> np.ndarray:
    if not field.texture:
        return np.zeros_like(points)
    coordinates = points
    if field.use_object_coords:
        coordinates = mesh_arrays.transformed(points, np.linalg.inv(field.matrix))
    if field.use_2d_force:
        coordinates = (
            coordinates - np.einsum("ij,ij->i", coordinates, data.axis)[:, None] * data.axis
        )
    strength = field.strength * data.falloff
    values = lookup(field.texture, coordinates)
    mode = field.texture_mode if field.texture_has_color else "GRADIENT"
    if mode == "RGB":
        force = 0.5 - values[:, :3]
    elif field.texture_nabla:
        strength = strength / field.texture_nabla
        steps = field.texture_nabla * np.eye(3)
        shifted = [lookup(field.texture, coordinates + step) for step in steps]
        force = _gradient(values, shifted) if mode == "GRADIENT" else _curl(values, shifted)
    else:
        force = np.zeros_like(points)
    force = force * strength[:, None]
    if field.use_2d_force:
        force -= np.einsum("ij,ij->i", force, data.axis)[:, None] * data.axis
    return force


def _gradient(values: np.ndarray, shifted: list[np.ndarray]) -> np.ndarray:
    return np.stack([values[:, 3] - each[:, 3] for each in shifted], axis=1)


def _curl(values: np.ndarray, shifted: list[np.ndarray]) -> np.ndarray:
    by_x, by_y, by_z = (each - values for each in shifted)
    red, green, blue = 0, 1, 2
    return np.stack(
        [
            by_y[:, blue] - by_z[:, green],
            by_z[:, red] - by_x[:, blue],
            by_x[:, green] - by_y[:, red],
        ],
        axis=1,
    )


_FORMULAS = {
    "FORCE": _force,
    "WIND": _wind,
    "VORTEX": _vortex,
    "MAGNET": _magnet,
    "HARMONIC": _harmonic,
    "CHARGE": _charge,
    "LENNARDJ": _lennard_jones,
    "TURBULENCE": _turbulence,
    "DRAG": _drag,
    "FLUID_FLOW": _fluid_flow,
}
