# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluated meshes, and their points in world space in m."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from bpy.types import Mesh, Object

from ..blender import mesh_arrays


class ChangedTopologyError(RuntimeError):
    """A mesh differs in vertex count or faces from the first frame."""


def to_world(points: np.ndarray, evaluated: Object, scale: float) -> np.ndarray:
    """Points in object space, transformed to world space in m."""
    matrix = np.array(evaluated.matrix_world, dtype=np.float64)
    return mesh_arrays.transformed(points, matrix) * scale


def world_to_object(evaluated: Object, scale: float) -> np.ndarray:
    """Matrix from world space in m to object space; singular matrices raise `RuntimeError`."""
    matrix = np.array(evaluated.matrix_world, dtype=np.float64)
    if np.linalg.norm(matrix[:3, :3], axis=0).min() < 1e-9:
        raise RuntimeError(f"'{evaluated.name}' is scaled to nothing")
    matrix[:3] *= scale
    return np.linalg.inv(matrix)


def deformed(evaluated: Object, count: int, scale: float, frame: int) -> np.ndarray:
    """Vertices of an evaluated mesh in m; `ChangedTopologyError` unless there are `count`."""
    with evaluated_mesh(evaluated) as mesh:
        points = mesh_arrays.coordinates(mesh)
    if len(points) != count:
        raise ChangedTopologyError(
            f"the mesh of '{evaluated.name}' changes its topology at frame {frame}: "
            f"{len(points)} vertices instead of {count}"
        )
    return to_world(points, evaluated, scale)


@contextmanager
def evaluated_mesh(evaluated: Object) -> Iterator[Mesh]:
    """The evaluated mesh, with subdivision that the viewport would leave to the GPU."""
    require_evaluated(evaluated)
    try:
        yield evaluated.to_mesh()
    finally:
        evaluated.to_mesh_clear()


def require_evaluated(evaluated: Object) -> None:
    """Raises `ValueError` with the reason if Blender does not evaluate an object."""
    if not evaluated.is_evaluated:
        raise ValueError(
            f"'{evaluated.name}' is not evaluated by Blender: {_why_not_evaluated(evaluated)}"
        )


def _why_not_evaluated(obj: Object) -> str:
    if obj.hide_viewport and obj.library is not None:
        file = Path(obj.library.filepath).name
        return f"it is disabled in viewports in '{file}', which it is linked from. Enable it there"
    if obj.hide_viewport:
        where = "it is disabled in viewports"
    else:
        where = "its collection is disabled in viewports, or not in the view layer"
    return f"{where}. Enable it, or set the role of the object to None"
