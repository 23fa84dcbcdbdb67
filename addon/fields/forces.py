# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces on the vertices of a cloth during one frame: force fields, pressure, weighted gravity.

The forces hold for the whole frame, so they are taken half a frame ahead, where the vertices will
be on average, and what brakes or turns is averaged exactly over it: neither can become unstable.
"""

from dataclasses import dataclass

import numpy as np

from .field import Effect, Field
from .formulas import TextureLookup, effect

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
    return mean_acceleration(total, velocities, seconds) * scale


def mean_acceleration(total: Effect, velocities: np.ndarray, seconds: float) -> np.ndarray:
    """The change of velocity by the time that it takes, while push, drag and spin stay."""
    fading = total.drag * seconds
    lasting = np.where(fading > 1e-9, -np.expm1(-fading) / np.maximum(fading, 1e-9), 1.0)
    straight = (total.push - total.drag[:, None] * velocities) * lasting[:, None]
    return straight + (_turned(velocities, total.spin * seconds) - velocities) / seconds


def _turned(velocities: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Velocities that have turned about these vectors by their lengths, clockwise (Rodrigues)."""
    size = np.linalg.norm(angles, axis=1)[:, None]
    axis = np.where(size > 1e-30, -angles / np.maximum(size, 1e-30), 0.0)
    along = np.einsum("ij,ij->i", axis, velocities)[:, None] * axis
    across = np.cross(axis, velocities)
    turned = along + (velocities - along) * np.cos(size) + across * np.sin(size)
    return np.where(size > 1e-30, turned, velocities)


def _doubled_areas(positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    a, b, c = (positions[triangles[:, corner]] for corner in range(3))
    return np.cross(b - a, c - a)


def _spread(of_triangles: np.ndarray, triangles: np.ndarray, count: int) -> np.ndarray:
    """Sums at each vertex what its triangles have."""
    corners = triangles.ravel()
    repeated = np.repeat(of_triangles, 3, axis=0)
    return np.stack([np.bincount(corners, repeated[:, axis], count) for axis in range(3)], axis=1)
