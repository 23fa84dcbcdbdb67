# SPDX-License-Identifier: GPL-3.0-or-later
"""Fluid density in the base cells of a domain, read from the cache files of Blender.

Force fields use these cells; scripts can only access the upsampled cells of noise, and no fuel. The
files are read by a module that is part of the builds of blender.org.
"""

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
from bpy.types import FluidDomainSettings

MODULES = ("openvdb", "pyopenvdb")  # name since Blender 4.4, and before
PRECISION = 2e-3  # relative, of half-precision values in a cache


def reader() -> ModuleType | None:
    """The module that reads OpenVDB files, None if this Blender has none."""
    for name in MODULES:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None


def density(settings: FluidDomainSettings, frame: int, velocities: np.ndarray) -> np.ndarray | None:
    """Density (z, y, x, 1), the larger of smoke and fuel; None without a valid cache file.

    A file is valid if it holds the current velocities (z, y, x, 3) of the domain.
    """
    grids = _grids(settings, frame)
    if "density" not in grids or "velocity" not in grids:
        return None
    cached = _cells(grids["velocity"], velocities.shape)
    if np.abs(cached - velocities).max() > PRECISION * np.abs(velocities).max():
        return None
    shape = (*velocities.shape[:3], 1)
    found = [_cells(grids[name], shape) for name in ("density", "fuel") if name in grids]
    return np.maximum.reduce(found)


def _grids(settings: FluidDomainSettings, frame: int) -> dict[str, Any]:
    """Grids of the cache file of a frame by name, empty without one."""
    module = reader()
    folder = Path(bpy.path.abspath(settings.cache_directory))
    path = folder / "data" / f"fluid_data_{frame:04d}.vdb"
    if module is None or not path.is_file():
        return {}
    try:
        grids, _about = module.readAll(str(path))
    except (OSError, RuntimeError, ValueError):
        return {}
    return {grid.name: grid for grid in grids}


def _cells(grid: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Cell values of a grid from its first corner, z first."""
    z, y, x, depth = shape
    found = np.zeros((x, y, z, depth) if depth > 1 else (x, y, z), np.float32)
    grid.copyToArray(found)
    return found.reshape(x, y, z, depth).transpose(2, 1, 0, 3).astype(np.float64)
