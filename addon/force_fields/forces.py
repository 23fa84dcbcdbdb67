# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces on the vertices of a cloth during one frame: force fields, weighted gravity.

They are constant over a frame, so positions are extrapolated by half a frame, and drag and rotation
are averaged exactly over it, which makes both unconditionally stable.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .field import Effect, Field
from .formulas import TextureLookup, effect

Vector = Sequence[float] | np.ndarray
Factor = Callable[[np.ndarray], np.ndarray]

# Names of Blender's field weights by kind of field.
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
    """Weights of the kinds of force fields on a cloth, and the objects whose fields act."""

    factors: dict[str, float]  # by the names of Blender's field weights
    objects: frozenset[str] | None  # names of objects whose fields act, None for all

    def of(self, field: Field) -> float:
        """Weight of one field."""
        if self.objects is not None and field.name not in self.objects:
            return 0.0
        return self.factors["all"] * self.factors[WEIGHT_NAMES[field.kind]]


@dataclass(frozen=True)
class Motion:
    """Positions and velocities of a cloth at the start of a frame, in m and m/s."""

    positions: np.ndarray
    velocities: np.ndarray


def vertex_normals(positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Area-weighted vertex normals, of length 1 or 0."""
    normals = _sum_at_vertices(
        _doubled_area_vectors(positions, triangles), triangles, len(positions)
    )
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.where(lengths > 0.0, normals / np.maximum(lengths, 1e-300), 0.0)


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
    """Mean accelerations over a frame by weighted force fields, in m/s², for unit masses."""
    midpoint = motion.positions + 0.5 * seconds * motion.velocities
    points, velocities = midpoint / scale, motion.velocities / scale
    total = Effect.none(len(points))
    for field, weight in fields:
        random = np.random.default_rng([frame & 0xFFFFFFFF, field.seed])
        found = effect(field, points, velocities, lookup, random)
        if field.wind_factor:
            normals = vertex_normals(motion.positions, triangles)
            normal_component = np.einsum("ij,ij->i", found.force, normals)[:, None] * normals
            found.force += field.wind_factor * (normal_component - found.force)
        total.add(found, weight)
    return mean_acceleration(total, velocities, seconds, np.asarray(gravity) / scale) * scale


def mean_acceleration(
    total: Effect, velocities: np.ndarray, seconds: float, gravity: Vector = (0.0, 0.0, 0.0)
) -> np.ndarray:
    """Change of velocity over `seconds` divided by it, with constant force, drag and spin.

    Gravity is applied by the simulation, but drag and spin act on the velocity that it adds as
    well.
    """
    decay = total.drag * seconds
    mean_decay = np.where(decay > 1e-9, -np.expm1(-decay) / np.maximum(decay, 1e-9), 1.0)
    force = total.force + np.asarray(gravity)
    linear = (force - total.drag[:, None] * velocities) * mean_decay[:, None]
    angles = total.spin * seconds
    rotational = (_rotated(velocities, angles) - velocities) / seconds
    return rotational + _mean_rotated(linear, angles) - np.asarray(gravity)


def _rotated(vectors: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Vectors rotated clockwise about axes by the lengths of these (Rodrigues)."""
    return _rodrigues(vectors, angles, np.cos, np.sin)


def _mean_rotated(vectors: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Mean of the vectors over the rotation."""
    return _rodrigues(
        vectors, angles, lambda size: np.sin(size) / size, lambda size: (1.0 - np.cos(size)) / size
    )


def _rodrigues(vectors: np.ndarray, angles: np.ndarray, cosine: Factor, sine: Factor) -> np.ndarray:
    """Rodrigues rotation formula with replacements for the cosine and the sine of the angle."""
    size = np.linalg.norm(angles, axis=1)[:, None]
    rotates = size > 1e-12
    size = np.where(rotates, size, 1.0)
    axis = -angles / size
    parallel = np.einsum("ij,ij->i", axis, vectors)[:, None] * axis
    rotated = parallel + (vectors - parallel) * cosine(size) + np.cross(axis, vectors) * sine(size)
    return np.where(rotates, rotated, vectors)


def _doubled_area_vectors(positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Normals of the triangles with twice their areas as lengths."""
    a, b, c = (positions[triangles[:, corner]] for corner in range(3))
    return np.cross(b - a, c - a)


def _sum_at_vertices(of_triangles: np.ndarray, triangles: np.ndarray, count: int) -> np.ndarray:
    """Sums at each vertex the vectors of its triangles."""
    corners = triangles.ravel()
    repeated = np.repeat(of_triangles, 3, axis=0)
    return np.stack([np.bincount(corners, repeated[:, axis], count) for axis in range(3)], axis=1)
