# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces on the vertices of a cloth during one frame: force fields, pressure, weighted gravity.

The forces hold for the whole frame, so they are taken half a frame ahead, where the vertices will
be on average, and what brakes or turns is averaged exactly over it: neither can become unstable.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .field import Effect, Field
from .formulas import TextureLookup, effect

Vector = Sequence[float] | np.ndarray
Factor = Callable[[np.ndarray], np.ndarray]

# The kinds of fields under the names of Blender's weights.
WEIGHT_NAMES = {
    "FORCE": "force",
    "WIND": "wind",
    "VORTEX": "vortex",
    "MAGNET": "magnetic",
    "HARMONIC": "harmonic",
    "CHARGE": "charge",
    "LENNARDJ": "lennardjones",
    "TEXTURE": "texture",
    "TURBULENCE": "turbulence",
    "DRAG": "drag",
    "FLUID_FLOW": "smokeflow",
}


@dataclass(frozen=True)
class Weights:
    """How much each kind of field acts on a cloth, and which objects at all."""

    factors: dict[str, float]  # by the names of Blender's weights
    among: frozenset[str] | None  # names of the objects whose fields act; None: all

    def of(self, field: Field) -> float:
        if self.among is not None and field.name not in self.among:
            return 0.0
        return self.factors["all"] * self.factors[WEIGHT_NAMES[field.kind]]


@dataclass(frozen=True)
class Pressure:
    """What the inside of a cloth presses with."""

    pascal: float  # more than outside, at the target volume
    stiffness: float  # Pa for each part of the target volume that is missing
    target_volume: float  # m³, 0 where the volume does not matter
    share: np.ndarray | None  # of each vertex; None: all of it everywhere


@dataclass(frozen=True)
class Motion:
    """Where a cloth is at the start of a frame, in m and m/s."""

    positions: np.ndarray
    velocities: np.ndarray


def vertex_normals(positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Area-weighted normals, of length 1 or 0."""
    normals = _spread(_doubled_areas(positions, triangles), triangles, len(positions))
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.where(lengths > 0.0, normals / np.maximum(lengths, 1e-300), 0.0)


def pressure_forces(pressure: Pressure, positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Forces in N that push every face along its normal."""
    doubled = _doubled_areas(positions, triangles)
    pascal = pressure.pascal
    if pressure.target_volume > 0.0:
        missing = 1.0 - volume(positions, triangles) / pressure.target_volume
        pascal += pressure.stiffness * missing
    forces = _spread(doubled, triangles, len(positions)) * (pascal / 6.0)
    return forces if pressure.share is None else forces * pressure.share[:, None]


def volume_frequency(
    pressure: Pressure, positions: np.ndarray, triangles: np.ndarray, masses: np.ndarray
) -> float:
    """Of the oscillation of the volume by its stiffness alone, in radians a second.

    Its square is the one eigenvalue of K/V₀ M⁻¹∇V(∇V)ᵀ that is not 0.
    """
    if pressure.target_volume <= 0.0:
        return 0.0
    gradient = _spread(_doubled_areas(positions, triangles), triangles, len(positions)) / 6.0
    moved = np.einsum("ij,ij->i", gradient, gradient) / np.maximum(masses, 1e-300)
    if pressure.share is not None:
        moved = moved * pressure.share
    return float(np.sqrt(pressure.stiffness / pressure.target_volume * moved.sum()))


def volume(positions: np.ndarray, triangles: np.ndarray) -> float:
    """What a closed surface encloses, in m³; outward normals make it positive."""
    a, b, c = (positions[triangles[:, corner]] for corner in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def accelerations(
    fields: list[tuple[Field, float]],
    motion: Motion,
    triangles: np.ndarray,
    seconds: float,
    scale: float,
    frame: int,
    lookup: TextureLookup,
    gravity: Vector = (0.0, 0.0, 0.0),
) -> np.ndarray:
    """Mean accelerations of unit masses over a frame, in m/s², by fields with their weights."""
    ahead = motion.positions + 0.5 * seconds * motion.velocities
    points, velocities = ahead / scale, motion.velocities / scale
    total = Effect.none(len(points))
    for field, weight in fields:
        random = np.random.default_rng([frame & 0xFFFFFFFF, field.seed])
        found = effect(field, points, velocities, lookup, random)
        if field.wind_factor:
            normals = vertex_normals(motion.positions, triangles)
            across = np.einsum("ij,ij->i", found.push, normals)[:, None] * normals
            found.push += field.wind_factor * (across - found.push)
        total.add(found, weight)
    return mean_acceleration(total, velocities, seconds, np.asarray(gravity) / scale) * scale


def mean_acceleration(
    total: Effect, velocities: np.ndarray, seconds: float, gravity: Vector = (0.0, 0.0, 0.0)
) -> np.ndarray:
    """The change of velocity by the time that it takes, while push, drag and spin stay.

    Gravity acts elsewhere, but what it adds to the velocity is braked and turned as well.
    """
    fading = total.drag * seconds
    lasting = np.where(fading > 1e-9, -np.expm1(-fading) / np.maximum(fading, 1e-9), 1.0)
    pushed = total.push + np.asarray(gravity)
    straight = (pushed - total.drag[:, None] * velocities) * lasting[:, None]
    angles = total.spin * seconds
    turning = (_turned(velocities, angles) - velocities) / seconds
    return turning + _turned_on_average(straight, angles) - np.asarray(gravity)


def _turned(vectors: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Vectors that have turned about these axes by their lengths, clockwise (Rodrigues)."""
    return _rodrigues(vectors, angles, np.cos, np.sin)


def _turned_on_average(vectors: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """The mean of what they turn through on the way."""
    return _rodrigues(
        vectors, angles, lambda size: np.sin(size) / size, lambda size: (1.0 - np.cos(size)) / size
    )


def _rodrigues(vectors: np.ndarray, angles: np.ndarray, along: Factor, aside: Factor) -> np.ndarray:
    """Vectors whose part across the axis is scaled by two functions of the angle."""
    size = np.linalg.norm(angles, axis=1)[:, None]
    turns = size > 1e-12
    size = np.where(turns, size, 1.0)
    axis = -angles / size
    parallel = np.einsum("ij,ij->i", axis, vectors)[:, None] * axis
    turned = parallel + (vectors - parallel) * along(size) + np.cross(axis, vectors) * aside(size)
    return np.where(turns, turned, vectors)


def _doubled_areas(positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    a, b, c = (positions[triangles[:, corner]] for corner in range(3))
    return np.cross(b - a, c - a)


def _spread(of_triangles: np.ndarray, triangles: np.ndarray, count: int) -> np.ndarray:
    """Sums at each vertex what its triangles have."""
    corners = triangles.ravel()
    repeated = np.repeat(of_triangles, 3, axis=0)
    return np.stack([np.bincount(corners, repeated[:, axis], count) for axis in range(3)], axis=1)
