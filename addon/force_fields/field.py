# SPDX-License-Identifier: GPL-3.0-or-later
"""A force field at one frame: numbers and arrays, independent of Blender's data.

Lengths are in Blender units, as the settings of force fields are.
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
class FalloffLimits:
    """One factor of a falloff: 1 up to `minimum`, a power law beyond, 0 beyond `maximum`."""

    power: float
    minimum: float | None
    maximum: float | None

    def __call__(self, distance: np.ndarray) -> np.ndarray:
        beyond = np.maximum(distance - (self.minimum or 0.0), 0.0)
        factor = (1.0 + beyond) ** -self.power
        if self.maximum is not None:
            factor = np.where(distance > self.maximum, 0.0, factor)
        if self.minimum is not None:
            factor = np.where(distance < self.minimum, 1.0, factor)
        return factor


@dataclass(frozen=True)
class Field:
    """A force field; the names are those of Blender's settings."""

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
    texture: str  # name, empty without a texture
    texture_has_color: bool
    distance: FalloffLimits
    radius: FalloffLimits
    matrix: np.ndarray  # world matrix of the object, (4, 4)
    points: np.ndarray  # vertices in world space, for shape POINTS
    normals: np.ndarray
    surface: BVHTree | None  # mesh in world space, for shape SURFACE
    fluid: FluidGrid | None  # for kind FLUID_FLOW

    @property
    def axis(self) -> np.ndarray:
        """Unit vector of the z axis of the object."""
        z = self.matrix[:3, 2]
        return z / max(np.linalg.norm(z), 1e-30)

    @property
    def centre(self) -> np.ndarray:
        """Origin of the object."""
        return self.matrix[:3, 3]


@dataclass
class Effect:
    """Acceleration law of points of unit mass: force - drag * velocity + velocity x spin."""

    force: np.ndarray  # per unit mass, (n, 3)
    drag: np.ndarray  # rate of decay of the velocity, 1/s, (n,)
    spin: np.ndarray  # angular rate of the velocity, 1/s, (n, 3)

    @classmethod
    def none(cls, count: int) -> "Effect":
        """The effect of no field."""
        return cls(np.zeros((count, 3)), np.zeros(count), np.zeros((count, 3)))

    def add(self, other: "Effect", factor: float = 1.0) -> None:
        """Adds another effect, scaled."""
        self.force += factor * other.force
        self.drag += factor * other.drag
        self.spin += factor * other.spin

    def acceleration(self, velocities: np.ndarray) -> np.ndarray:
        """Accelerations at these velocities."""
        return self.force - self.drag[:, None] * velocities + np.cross(velocities, self.spin)
