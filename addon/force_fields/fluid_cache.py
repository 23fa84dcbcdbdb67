# SPDX-License-Identifier: GPL-3.0-or-later
"""How much fluid there is in the coarse cells of a domain, from the files that Blender keeps of it.

A force field counts these cells. Scripts see the fine ones instead where there is noise, and no
fuel at all. Blender's cache is read by a module that comes with the builds of blender.org.
"""

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
from bpy.types import FluidDomainSettings

MODULES = ("openvdb", "pyopenvdb")  # the name now, and that before Blender 4.4
PRECISION = 2e-3  # of numbers of two bytes, which a cache may consist of


def reader() -> ModuleType | None:
    """The module that reads the cache, where this Blender has one."""
    for name in MODULES:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None


def density(settings: FluidDomainSettings, frame: int, velocities: np.ndarray) -> np.ndarray | None:
    """The density (z, y, x, 1) of smoke, or of fuel where that is more; none without such a file.

    A file counts when it holds the velocities (z, y, x, 3) that the domain has now.
    """
    grids = _grids(settings, frame)
    if "density" not in grids or "velocity" not in grids:
        return None
    there = _cells(grids["velocity"], velocities.shape)
    if np.abs(there - velocities).max() > PRECISION * np.abs(velocities).max():
        return None
    shape = (*velocities.shape[:3], 1)
    found = [_cells(grids[name], shape) for name in ("density", "fuel") if name in grids]
    return np.maximum.reduce(found)


def _grids(settings: FluidDomainSettings, frame: int) -> dict[str, Any]:
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
    """The cells of a grid from the first corner on, z first."""
    z, y, x, depth = shape
    found = np.zeros((x, y, z, depth) if depth > 1 else (x, y, z), np.float32)
    grid.copyToArray(found)
    return found.reshape(x, y, z, depth).transpose(2, 1, 0, 3).astype(np.float64)
