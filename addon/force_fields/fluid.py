# SPDX-License-Identifier: GPL-3.0-or-later
"""Velocity grid of a fluid domain at one frame, the source of a fluid flow field."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from bpy.types import Depsgraph, FluidDomainSettings, Object

from ..blender import mesh_arrays
from . import fluid_cache

# Velocities are per time step of 0.1, at 25 time steps per second.
VELOCITY_SCALE = 2.5


@dataclass(frozen=True)
class FluidGrid:
    """Cell velocities of a domain along its axes, in Blender units per second."""

    to_cells: np.ndarray  # (4, 4), from world space to cell coordinates from the first corner
    to_world: np.ndarray  # (3, 3), rotation and scale of the domain
    velocities: np.ndarray  # (z, y, x, 3)
    density: np.ndarray | None  # (z, y, x, 1) of smoke; None: taken as 1

    def at(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Velocities at points, and fluid density: 0 outside the domain, 1 inside unless it is
        given.
        """
        cells = mesh_arrays.transformed(points, self.to_cells)
        size = np.array(self.velocities.shape[2::-1])
        inside = np.all((cells >= 0.0) & (cells <= size), axis=1).astype(float)
        velocities = self._in_world(_sample(self.velocities, cells / size)) * inside[:, None]
        if self.density is not None:
            inside *= _sample(self.density, cells / size)[:, 0]
        return velocities, inside

    def _in_world(self, velocities: np.ndarray) -> np.ndarray:
        """World-space velocities: a scaled domain changes their direction, not their magnitude."""
        scaled = mesh_arrays.transformed_vectors(velocities, self.to_world)
        ratio = np.linalg.norm(scaled, axis=1) / np.maximum(
            np.linalg.norm(velocities, axis=1), 1e-30
        )
        return scaled / np.maximum(ratio, 1e-30)[:, None]


def _sample(grid: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
    """Trilinear interpolation between cell centres at coordinates from 0 to 1, clamped."""
    size = np.array(grid.shape[2::-1])
    coordinates = np.clip(coordinates * size - 0.5, 0.0, size - 1.0)
    lower = np.floor(coordinates).astype(int)
    fraction = coordinates - lower
    total = np.zeros((len(coordinates), grid.shape[3]))
    for corner in np.ndindex(2, 2, 2):
        x, y, z = np.minimum(lower + corner, size - 1).T
        weight = np.where(corner, fraction, 1.0 - fraction).prod(axis=1)
        total += weight[:, None] * grid[z, y, x]
    return total


def read(source: Object | None, depsgraph: Depsgraph, with_density: bool) -> FluidGrid | None:
    """Velocity grid of a domain at the current frame; None without a domain or without data."""
    if source is None:
        return None
    evaluated = source.original.evaluated_get(depsgraph)
    settings = _domain(evaluated)
    if not evaluated.is_evaluated or settings is None:
        return None
    x, y, z = settings.domain_resolution
    if not x * y * z or len(settings.velocity_grid) != 3 * x * y * z:
        return None
    cells = _floats(settings.velocity_grid).reshape(z, y, x, 3)
    velocities = cells * _cell(settings, evaluated) * VELOCITY_SCALE
    density = None
    if with_density:
        frame = depsgraph.scene.frame_current
        density = fluid_cache.density(settings, frame, cells)
        density = _density(settings) if density is None else density
    matrix = np.array(evaluated.matrix_world, np.float64)
    return FluidGrid(_to_cells(settings, evaluated), matrix[:3, :3], velocities, density)


def _domain(evaluated: Object) -> FluidDomainSettings | None:
    """Settings of the fluid domain of an object, None without one."""
    for modifier in evaluated.modifiers:
        if modifier.type == "FLUID" and modifier.fluid_type == "DOMAIN":
            return modifier.domain_settings
    return None


def _floats(grid: Any) -> np.ndarray:
    found = np.empty(len(grid), np.float32)
    grid.foreach_get(found)
    return found.astype(np.float64)


def _density(settings: FluidDomainSettings) -> np.ndarray:
    """Smoke density as exposed to scripts: with noise on the upsampled grid."""
    x, y, z = settings.domain_resolution
    found = _floats(settings.density_grid) if settings.domain_type == "GAS" else np.empty(0)
    factor = round((len(found) / (x * y * z)) ** (1 / 3))
    if factor == 0 or len(found) != x * y * z * factor**3:
        return np.zeros((z, y, x, 1))
    return found.reshape(z * factor, y * factor, x * factor, 1)


def _to_cells(settings: FluidDomainSettings, evaluated: Object) -> np.ndarray:
    """Matrix from world space to cell coordinates of the active region."""
    size, start = np.array(settings.cell_size), np.array(settings.start_point)
    if settings.use_adaptive_domain:
        # Only the displayed bounding box tells where the adaptive region begins.
        start = start + np.round((np.array(evaluated.bound_box[0]) - start) / size) * size
    cells = np.diag([*size, 1.0])
    cells[:3, 3] = start
    return np.linalg.inv(np.array(evaluated.matrix_world, np.float64) @ cells)


def _cell(settings: FluidDomainSettings, evaluated: Object) -> float:
    """Cell length in world space along the longest side of the domain."""
    corners = mesh_arrays.coordinates(evaluated.original.data)
    sides = np.ptp(corners, axis=0) * np.abs(evaluated.scale)
    longest = int(np.argmax(sides))
    return settings.cell_size[longest] * abs(evaluated.scale[longest])
