# SPDX-License-Identifier: GPL-3.0-or-later
"""A point of a cloth that the mouse drags.

The point lies in a triangle, by barycentric coordinates. Springs draw its three vertices by the
same displacement, in proportion to these, so that their sum acts in the point.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree
from mathutils.geometry import barycentric_transform

from ..blender import mesh_arrays
from ..scene.reader import ClothInput, FrameInput


@dataclass(frozen=True)
class Drag:
    """A dragged point and where it is to be."""

    cloth: int  # index
    vertices: np.ndarray  # of the triangle
    weights: np.ndarray  # barycentric coordinates
    target: np.ndarray  # world space, m
    mass: float  # of the cloth, in kg

    @classmethod
    def at(cls, index: int, cloth: ClothInput, positions: np.ndarray, place: np.ndarray) -> "Drag":
        """Of the point of a cloth that is nearest to a place, both in world space and m."""
        tree = BVHTree.FromPolygons(positions.tolist(), cloth.triangles.tolist())
        nearest, _normal, triangle, _distance = tree.find_nearest(place)
        vertices = np.array(cloth.triangles[triangle])
        corners = map(Vector, positions[vertices].tolist())
        units = (Vector((1.0, 0.0, 0.0)), Vector((0.0, 1.0, 0.0)), Vector((0.0, 0.0, 1.0)))
        weights = np.clip(barycentric_transform(nearest, *corners, *units), 0.0, None)
        areas = mesh_arrays.vertex_areas(cloth.rest_positions, cloth.triangles)
        mass = float(areas.sum()) * cloth.material["density"]
        return cls(index, vertices, weights / weights.sum(), np.array(place), mass)

    def moved(self, target: Vector, scale: float) -> "Drag":
        """The same point with another target, in Blender's units."""
        return replace(self, target=np.array(target) * scale)

    def hold(
        self, simulation: Any, cloths: list[ClothInput], current: FrameInput, seconds: float
    ) -> None:
        """Draws the point to its target: the cloth as a whole would be there in about a frame."""
        free = self._free(cloths, current)
        if not free.any():
            return
        positions = simulation.positions(self.cloth)[self.vertices]
        displacement = self.target - np.einsum("i,ij->j", self.weights, positions)
        stiffness = self.weights * self.mass / seconds**2  # N/m
        simulation.set_pins(
            self.cloth,
            self.vertices[free],
            positions[free] + displacement,
            stiffness[free],
        )

    def release(self, simulation: Any, cloths: list[ClothInput]) -> None:
        """Lets the vertices go that are not pinned otherwise."""
        others = self.vertices[~np.isin(self.vertices, cloths[self.cloth].pinned)]
        if len(others):
            simulation.release_pins(self.cloth, others)

    def _free(self, cloths: list[ClothInput], current: FrameInput) -> np.ndarray:
        """Which of the vertices are not held by pins, and have a weight."""
        held = cloths[self.cloth].pinned[current.pins[self.cloth].hard]
        return ~np.isin(self.vertices, held) & (self.weights > 0.0)
