# SPDX-License-Identifier: GPL-3.0-or-later
"""What a fluid field is drawn from: the grid of a fluid domain as it is at one frame."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from bpy.types import Depsgraph, FluidDomainSettings, Object

from ..blender import mesh_arrays
from . import fluid_cache

# Blender counts the time of a fluid in steps of a tenth, 25 of them in a second.
STEPS = 2.5


@dataclass(frozen=True)
class FluidGrid:
    """Velocities in the cells of a domain, along its axes, in Blender units per second."""

    to_cells: np.ndarray  # (4, 4), from world space to cells counted from the first corner
    to_world: np.ndarray  # (3, 3), turns and stretches the axes of the domain
    velocities: np.ndarray  # (z, y, x, 3)
    density: np.ndarray | None  # (z, y, x, 1) of smoke; None: it does not matter

    def at(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Velocities at points, and how much fluid there is: 0 outside, 1 unless density counts."""
        cells = mesh_arrays.transformed(points, self.to_cells)
        size = np.array(self.velocities.shape[2::-1])
        inside = np.all((cells >= 0.0) & (cells <= size), axis=1).astype(float)
        velocities = self._in_world(_sample(self.velocities, cells / size)) * inside[:, None]
        if self.density is not None:
            inside *= _sample(self.density, cells / size)[:, 0]
        return velocities, inside

    def _in_world(self, velocities: np.ndarray) -> np.ndarray:
        """A stretched domain turns what flows in it, but its speed stays."""
        turned = mesh_arrays.turned(velocities, self.to_world)
        longer = np.linalg.norm(turned, axis=1) / np.maximum(
            np.linalg.norm(velocities, axis=1), 1e-30
        )
        return turned / np.maximum(longer, 1e-30)[:, None]


def _sample(grid: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Trilinear between the centres of cells, at places from 0 to 1; even behind the outermost."""
    size = np.array(grid.shape[2::-1])
    places = np.clip(places * size - 0.5, 0.0, size - 1.0)
    lower = np.floor(places).astype(int)
    part = places - lower
    total = np.zeros((len(places), grid.shape[3]))
    for corner in np.ndindex(2, 2, 2):
        x, y, z = np.minimum(lower + corner, size - 1).T
        share = np.where(corner, part, 1.0 - part).prod(axis=1)
        total += share[:, None] * grid[z, y, x]
    return total


def read(source: Object | None, depsgraph: Depsgraph, with_density: bool) -> FluidGrid | None:
    """The fluid of a domain as it is now; none where there is no domain, or nothing in it."""
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
    velocities = cells * _cell(settings, evaluated) * STEPS
    density = None
    if with_density:
        frame = depsgraph.scene.frame_current
        density = fluid_cache.density(settings, frame, cells)
        density = _density(settings) if density is None else density
    matrix = np.array(evaluated.matrix_world, np.float64)
    return FluidGrid(_to_cells(settings, evaluated), matrix[:3, :3], velocities, density)


def _domain(evaluated: Object) -> FluidDomainSettings | None:
    for modifier in evaluated.modifiers:
        if modifier.type == "FLUID" and modifier.fluid_type == "DOMAIN":
            return modifier.domain_settings
    return None


def _floats(grid: Any) -> np.ndarray:
    found = np.empty(len(grid), np.float32)
    grid.foreach_get(found)
    return found.astype(np.float64)


def _density(settings: FluidDomainSettings) -> np.ndarray:
    """The density of smoke that scripts see: with noise that of the finer cells."""
    x, y, z = settings.domain_resolution
    found = _floats(settings.density_grid) if settings.domain_type == "GAS" else np.empty(0)
    finer = round((len(found) / (x * y * z)) ** (1 / 3))
    if finer == 0 or len(found) != x * y * z * finer**3:
        return np.zeros((z, y, x, 1))
    return found.reshape(z * finer, y * finer, x * finer, 1)


def _to_cells(settings: FluidDomainSettings, evaluated: Object) -> np.ndarray:
    size, start = np.array(settings.cell_size), np.array(settings.start_point)
    if settings.use_adaptive_domain:
        # Only the box that is drawn tells where the part in use begins.
        start = start + np.round((np.array(evaluated.bound_box[0]) - start) / size) * size
    cells = np.diag([*size, 1.0])
    cells[:3, 3] = start
    return np.linalg.inv(np.array(evaluated.matrix_world, np.float64) @ cells)


def _cell(settings: FluidDomainSettings, evaluated: Object) -> float:
    """The length of a cell in the world, along the longest side of the domain."""
    corners = mesh_arrays.coordinates(evaluated.original.data)
    sides = np.ptp(corners, axis=0) * np.abs(evaluated.scale)
    longest = int(np.argmax(sides))
    return settings.cell_size[longest] * abs(evaluated.scale[longest])
