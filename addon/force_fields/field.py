# SPDX-License-Identifier: GPL-3.0-or-later
"""A force field as it is at one frame: numbers and arrays, nothing of Blender's data.

Lengths are in Blender units here, because that is what the settings of a field are in.
"""

from dataclasses import dataclass

import numpy as np
from mathutils.bvhtree import BVHTree

from .fluid import FluidGrid

SUPPORTED = (
    "FORCE",
    "WIND",
    "VORTEX",
    "MAGNET",
    "HARMONIC",
    "CHARGE",
    "LENNARDJ",
    "TEXTURE",
    "TURBULENCE",
    "DRAG",
    "FLUID_FLOW",
)


@dataclass(frozen=True)
class Limits:
    """One part of a falloff: full up to `least`, gone behind `most`, a power between."""

    power: float
    least: float | None
    most: float | None

    def __call__(self, distance: np.ndarray) -> np.ndarray:
        beyond = np.maximum(distance - (self.least or 0.0), 0.0)
        factor = (1.0 + beyond) ** -self.power
        if self.most is not None:
            factor = np.where(distance > self.most, 0.0, factor)
        if self.least is not None:
            factor = np.where(distance < self.least, 1.0, factor)
        return factor


@dataclass(frozen=True)
class Field:
    """One force field; the names are those of Blender's settings."""

    name: str
    kind: str
    shape: str
    falloff_type: str
    z_direction: str
    strength: float | np.ndarray
    damping: float | np.ndarray
    flow: float
    wind_factor: float
    size: float
    rest_length: float
    noise: float
    seed: int
    use_gravity_falloff: bool
    use_global_coords: bool
    use_object_coords: bool
    use_2d_force: bool
    texture_mode: str
    texture_nabla: float
    texture: str  # name of the texture, empty without one
    texture_has_color: bool
    distance: Limits
    radius: Limits
    matrix: np.ndarray  # of the object, (4, 4)
    points: np.ndarray  # of shape POINTS: vertices in world space
    normals: np.ndarray
    surface: BVHTree | None  # of shape SURFACE: the mesh in world space
    fluid: FluidGrid | None  # of a fluid field

    @property
    def axis(self) -> np.ndarray:
        """The z axis of the object, of length 1."""
        z = self.matrix[:3, 2]
        return z / max(np.linalg.norm(z), 1e-30)

    @property
    def centre(self) -> np.ndarray:
        return self.matrix[:3, 3]


@dataclass
class Effect:
    """Accelerations of unit masses: push, less drag times velocity, plus velocity cross spin."""

    push: np.ndarray  # (n, 3)
    drag: np.ndarray  # (n,)
    spin: np.ndarray  # (n, 3)

    @classmethod
    def none(cls, count: int) -> "Effect":
        return cls(np.zeros((count, 3)), np.zeros(count), np.zeros((count, 3)))

    def add(self, other: "Effect", factor: float = 1.0) -> None:
        self.push += factor * other.push
        self.drag += factor * other.drag
        self.spin += factor * other.spin

    def acceleration(self, velocities: np.ndarray) -> np.ndarray:
        """Accelerations at these velocities."""
        return self.push - self.drag[:, None] * velocities + np.cross(velocities, self.spin)
