# SPDX-License-Identifier: GPL-3.0-or-later
"""What a force field does to points of unit mass: the laws of Blender's effectors.

The laws were found by experiment and are held to Blender's own evaluation, the acceleration of its
particles, by the tests.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from mathutils import noise

from ..blender import mesh_arrays
from .field import Effect, Field

# Name of a texture and points (n, 3), to red, green, blue and intensity (n, 4).
TextureLookup = Callable[[str, np.ndarray], np.ndarray]

SOFTEST_REPULSION = 2.0  # Blender cuts off what Lennard-Jones would repel with more


@dataclass(frozen=True)
class Seen:
    """A field as it is seen from the points."""

    origin: np.ndarray  # what each point is drawn to, (n, 3)
    offset: np.ndarray  # from there to the point
    from_object: np.ndarray  # from the object's origin to the point
    axis: np.ndarray  # the direction of the field there
    distance: np.ndarray  # (n,)
    falloff: np.ndarray  # (n,)


def effect(
    field: Field,
    points: np.ndarray,
    velocities: np.ndarray,
    lookup: TextureLookup,
    random: np.random.Generator,
) -> Effect:
    """What a field does to points of unit mass, all in Blender units.

    With noise the strength differs from point to point by what `random` gives.
    """
    total = Effect.none(len(points))
    for seen in _views(field, points):
        if field.kind == "TEXTURE":
            total.push += _texture(field, seen, points, lookup)
        else:
            total.add(_of_view(_noisy(field, len(points), random), seen, velocities))
    return total


def _noisy(field: Field, count: int, random: np.random.Generator) -> Field:
    """The field with a strength, and where it brakes a damping, for each point."""
    strength, damping = np.full(count, field.strength), np.full(count, field.damping)
    if field.noise > 0.0:
        strength += field.noise * _scatter(count, random)
        if field.kind in {"HARMONIC", "DRAG"}:
            damping += field.noise * _scatter(count, random)
    return replace(field, strength=strength, damping=damping)


def _scatter(count: int, random: np.random.Generator) -> np.ndarray:
    """Numbers distributed as those that Blender adds to a strength."""
    size = random.integers(0, 128, count)
    return np.where(size > 64, 1.0, -1.0) * size / (128.0 * (1.0 + random.random(count)))


def _of_view(field: Field, seen: Seen, velocities: np.ndarray) -> Effect:
    result = _LAWS[field.kind](field, seen, velocities)
    if field.flow and field.kind not in {"HARMONIC", "DRAG", "FLUID_FLOW"}:
        result.drag = result.drag + field.flow * seen.falloff
    return result


# --- where a field acts from ------------------------------------------------------------------


def _views(field: Field, points: np.ndarray) -> list[Seen]:
    """The field from the points: once, or for each vertex that it acts from."""
    if field.shape == "POINTS" and field.kind == "HARMONIC":
        # A spring from each point to one vertex, by their numbers.
        partner = np.arange(len(points)) % max(len(field.points), 1)
        return [_seen(field, points, field.points[partner], field.normals[partner])]
    if field.shape == "POINTS":
        pairs = zip(field.points, field.normals, strict=True)
        return [_seen(field, points, np.broadcast_to(p, points.shape), n) for p, n in pairs]
    if field.shape == "SURFACE":
        return [_from_surface(field, points)]
    away = points - field.centre
    along = np.einsum("ij,j->i", away, field.axis)[:, None] * field.axis
    if field.shape == "LINE":
        origin = field.centre + along
    elif field.shape == "PLANE":
        # The vortex turns around the axis, so it needs the nearest point on that.
        origin = field.centre + along if field.kind == "VORTEX" else points - along
    else:
        origin = np.broadcast_to(field.centre, points.shape)
    return [_seen(field, points, origin, field.axis)]


def _from_surface(field: Field, points: np.ndarray) -> Seen:
    origin, axis = points.copy(), np.zeros_like(points)
    if field.surface is not None:
        for index, point in enumerate(points.tolist()):
            place, normal, _triangle, _distance = field.surface.find_nearest(point)
            if place is not None:
                origin[index], axis[index] = place, normal
    return _seen(field, points, origin, axis)


def _seen(field: Field, points: np.ndarray, origin: np.ndarray, axis: np.ndarray) -> Seen:
    axis = np.broadcast_to(axis, points.shape)
    offset, from_object = points - origin, points - field.centre
    distance = np.linalg.norm(offset, axis=1)
    falloff = _falloff(field, from_object, axis, distance)
    if field.kind == "HARMONIC" and field.rest_length:
        stretched = (distance - field.rest_length) / np.maximum(distance, 1e-30)
        offset = offset * stretched[:, None]
    return Seen(origin, offset, from_object, axis, distance, falloff)


def _falloff(
    field: Field, from_object: np.ndarray, axis: np.ndarray, distance: np.ndarray
) -> np.ndarray:
    height = np.einsum("ij,ij->i", axis, from_object)
    if field.falloff_type == "SPHERE":
        factor = field.distance(distance)
    else:
        if field.falloff_type == "TUBE":
            reach = np.linalg.norm(from_object - height[:, None] * axis, axis=1)
        else:
            length = np.maximum(np.linalg.norm(from_object, axis=1), 1e-30)
            reach = np.degrees(np.arccos(np.clip(height / length, -1.0, 1.0)))
        factor = field.distance(np.abs(height)) * field.radius(reach)
    if field.z_direction == "POSITIVE":
        factor = np.where(height < 0.0, 0.0, factor)
    elif field.z_direction == "NEGATIVE":
        factor = np.where(height > 0.0, 0.0, factor)
    return factor


# --- laws -------------------------------------------------------------------------------------


def _pushing(direction: np.ndarray, factor: np.ndarray | float) -> Effect:
    result = Effect.none(len(direction))
    result.push = direction * np.broadcast_to(factor, len(direction))[:, None]
    return result


def _unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.where(lengths > 1e-30, vectors / np.maximum(lengths, 1e-30), 0.0)


def _force(field: Field, seen: Seen, _velocities: np.ndarray) -> Effect:
    strength = field.strength
    if field.use_gravity_falloff:
        near = seen.distance < np.finfo(np.float32).eps
        strength = np.where(near, 0.0, strength / np.maximum(seen.distance, 1e-30) ** 2)
    return _pushing(_unit(seen.offset), strength * seen.falloff)


def _wind(field: Field, seen: Seen, _velocities: np.ndarray) -> Effect:
    return _pushing(seen.axis, field.strength * seen.falloff)


def _vortex(field: Field, seen: Seen, _velocities: np.ndarray) -> Effect:
    strength = field.strength * seen.falloff
    if field.shape == "POINT":
        turning = _unit(np.cross(seen.axis, seen.offset))
        return _pushing(turning, strength * seen.distance)
    around = np.cross(field.axis, seen.from_object) * strength[:, None]
    inward = np.cross(field.axis, around) * strength[:, None]
    result = _pushing(inward + around, 1.0)
    result.drag = np.ones(len(strength))
    return result


def _magnet(field: Field, seen: Seen, _velocities: np.ndarray) -> Effect:
    result = Effect.none(len(seen.distance))
    lines = seen.axis
    if field.shape in {"POINT", "LINE"}:
        lines = np.cross(seen.axis, seen.offset)
    result.spin = _unit(lines) * (field.strength * seen.falloff)[:, None]
    return result


def _harmonic(field: Field, seen: Seen, _velocities: np.ndarray) -> Effect:
    result = _pushing(seen.offset, -field.strength * seen.falloff)
    result.drag = 2.0 * field.damping * np.abs(field.strength) ** 0.5
    return result


def _charge(_field: Field, seen: Seen, _velocities: np.ndarray) -> Effect:
    """Cloth carries no charge, in Blender as here."""
    return Effect.none(len(seen.distance))


def _lennard_jones(field: Field, seen: Seen, _velocities: np.ndarray) -> Effect:
    """Between points without a size, such as vertices, nothing acts: the law is in their sizes."""
    distance = np.maximum(seen.distance, 1e-30)
    ratio = (0.0 / distance) ** 6
    factor = np.minimum(-ratio * (1.0 - ratio) / distance, SOFTEST_REPULSION)
    return _pushing(seen.offset, field.strength * factor)


def _turbulence(field: Field, seen: Seen, _velocities: np.ndarray) -> Effect:
    places = seen.from_object + field.axis
    if field.use_global_coords:
        places = seen.origin + seen.offset
    force = np.array([_noise(field.size, place) for place in places.tolist()])
    return _pushing(force.reshape(-1, 3), field.strength * seen.falloff)


def _noise(size: float, place: list[float]) -> tuple[float, float, float]:
    x, y, z = place
    return _octaves(size, x, y, z), _octaves(size, y, z, x), _octaves(size, z, x, y)


def _octaves(size: float, x: float, y: float, z: float) -> float:
    """Three octaves of improved Perlin noise, from -1 to 1."""
    if size:
        x, y, z = x / size, y / size, z / size
    total, amplitude, frequency = 0.0, 1.0, 1.0
    for _ in range(3):
        at = (x * frequency, y * frequency, z * frequency)
        unsigned = 0.5 * (1.0 + noise.noise(at, noise_basis="PERLIN_NEW"))
        total += amplitude * unsigned
        amplitude, frequency = amplitude / 2, frequency * 2
    return 2.0 * total * 4.0 / 7.0 - 1.0


def _drag(field: Field, seen: Seen, velocities: np.ndarray) -> Effect:
    result = Effect.none(len(seen.distance))
    speed = np.linalg.norm(velocities, axis=1)
    linear, quadratic = np.minimum(field.damping, 2.0), np.minimum(field.strength, 2.0)
    result.drag = seen.falloff * (quadratic * speed + linear)
    return result


def _fluid_flow(field: Field, seen: Seen, _velocities: np.ndarray) -> Effect:
    if field.fluid is None:
        return Effect.none(len(seen.distance))
    flowing, there = field.fluid.at(seen.origin + seen.offset)
    influence = field.strength * seen.falloff * there
    result = _pushing(flowing, influence)
    result.drag = field.flow * influence
    return result


# --- textures ---------------------------------------------------------------------------------


def _texture(field: Field, seen: Seen, points: np.ndarray, lookup: TextureLookup) -> np.ndarray:
    if not field.texture:
        return np.zeros_like(points)
    places = points
    if field.use_object_coords:
        places = mesh_arrays.transformed(points, np.linalg.inv(field.matrix))
    if field.use_2d_force:
        places = places - np.einsum("ij,ij->i", places, seen.axis)[:, None] * seen.axis
    strength = field.strength * seen.falloff
    here = lookup(field.texture, places)
    mode = field.texture_mode if field.texture_has_color else "GRADIENT"
    if mode == "RGB":
        force = 0.5 - here[:, :3]
    elif field.texture_nabla:
        strength = strength / field.texture_nabla
        steps = field.texture_nabla * np.eye(3)
        there = [lookup(field.texture, places + step) for step in steps]
        force = _gradient(here, there) if mode == "GRADIENT" else _curl(here, there)
    else:
        force = np.zeros_like(points)
    force = force * strength[:, None]
    if field.use_2d_force:
        force -= np.einsum("ij,ij->i", force, seen.axis)[:, None] * seen.axis
    return force


def _gradient(here: np.ndarray, there: list[np.ndarray]) -> np.ndarray:
    return np.stack([here[:, 3] - beside[:, 3] for beside in there], axis=1)


def _curl(here: np.ndarray, there: list[np.ndarray]) -> np.ndarray:
    by_x, by_y, by_z = (beside - here for beside in there)
    red, green, blue = 0, 1, 2
    return np.stack(
        [
            by_y[:, blue] - by_z[:, green],
            by_z[:, red] - by_x[:, blue],
            by_x[:, green] - by_y[:, red],
        ],
        axis=1,
    )


_LAWS = {
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
