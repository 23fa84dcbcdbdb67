# SPDX-License-Identifier: MIT OR Apache-2.0
"""How deep points lie in a closed mesh, measured without any of Weft's own code.

The distance is that to the nearest point of the surface (Blender's BVH tree); its sign comes from
the angle-weighted normal there, which is right everywhere on a closed mesh. From J. A. Baerentzen,
H. Aanaes, Signed distance computation using the angle weighted pseudonormal, 2005.
"""

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree

# Barycentric coordinate below which the nearest point lies on an edge: float32 leaves about 1e-6.
ON_EDGE = 1e-4


def evaluated_world_mesh(
    thing: bpy.types.Object, depsgraph: bpy.types.Depsgraph
) -> tuple[np.ndarray, np.ndarray]:
    """World positions and triangles of an object as Blender evaluates it at this frame."""
    evaluated = thing.evaluated_get(depsgraph)
    mesh = evaluated.to_mesh()
    positions = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", positions)
    mesh.calc_loop_triangles()
    triangles = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    evaluated.to_mesh_clear()
    matrix = np.array(evaluated.matrix_world)
    world = positions.reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    return world, triangles.reshape(-1, 3)


class ClosedSurface:
    """A closed triangle mesh, wound outwards, that distances are measured to."""

    def __init__(self, positions: np.ndarray, triangles: np.ndarray) -> None:
        self._corners = positions[triangles]
        self._low, self._high = positions.min(axis=0), positions.max(axis=0)
        self._tree = BVHTree.FromPolygons(positions.tolist(), triangles.tolist())
        self._normals = self._pseudonormals(len(positions), triangles)

    def depths(self, points: np.ndarray) -> np.ndarray:
        """How deep each point lies inside, in m; zero outside."""
        depths = np.zeros(len(points))
        inside_box = ((points > self._low) & (points < self._high)).all(axis=1)
        if inside_box.any():
            depths[inside_box] = np.maximum(0.0, -self.signed_distances(points[inside_box]))
        return depths

    def signed_distances(self, points: np.ndarray) -> np.ndarray:
        """Distance of each point to the surface, in m; negative inside."""
        found = [self._tree.find_nearest(point) for point in points.tolist()]
        nearest = np.array([place for place, _, _, _ in found], dtype=np.float64)
        triangle = np.array([index for _, _, index, _ in found])
        away = points - nearest
        normals = self._normals[triangle, self._feature(nearest, self._corners[triangle])]
        outside = np.einsum("ij,ij->i", away, normals) >= 0.0
        return np.where(outside, 1.0, -1.0) * np.linalg.norm(away, axis=1)

    def _pseudonormals(self, vertex_count: int, triangles: np.ndarray) -> np.ndarray:
        """`(triangles, 7, 3)`: of the inside, the edges opposite the corners, the corners."""
        sides = np.roll(self._corners, -1, axis=1) - self._corners
        face = np.cross(sides[:, 0], sides[:, 1])
        face /= np.linalg.norm(face, axis=1, keepdims=True)
        unit = sides / np.linalg.norm(sides, axis=2, keepdims=True)
        cosines = -np.einsum("ijk,ijk->ij", unit, np.roll(unit, 1, axis=1))
        angles = np.arccos(np.clip(cosines, -1.0, 1.0))
        at_vertex = np.zeros((vertex_count, 3))
        np.add.at(at_vertex, triangles, angles[:, :, None] * face[:, None, :])
        opposite = np.sort(np.stack([np.roll(triangles, -1, 1), np.roll(triangles, -2, 1)], -1), -1)
        edges, which = np.unique(opposite.reshape(-1, 2), axis=0, return_inverse=True)
        which = which.reshape(-1, 3)
        if (np.bincount(which.ravel()) != 2).any():
            raise ValueError("the surface is not closed: an edge has not exactly two faces")
        at_edge = np.zeros((len(edges), 3))
        np.add.at(at_edge, which, face[:, None, :])
        return np.concatenate([face[:, None], at_edge[which], at_vertex[triangles]], axis=1)

    @staticmethod
    def _feature(nearest: np.ndarray, corners: np.ndarray) -> np.ndarray:
        """Which of the seven normals of its triangle holds at each nearest point."""
        a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
        normal = np.cross(b - a, c - a)
        squared = np.einsum("ij,ij->i", normal, normal)
        pairs = ((b, c), (c, a), (a, b))
        weights = np.stack(
            [
                np.einsum("ij,ij->i", np.cross(q - p, nearest - p), normal) / squared
                for p, q in pairs
            ],
            axis=1,
        )
        zero = weights < ON_EDGE
        count = zero.sum(axis=1)
        on_edge, on_corner = 1 + zero.argmax(axis=1), 4 + (~zero).argmax(axis=1)
        return np.where(count == 0, 0, np.where(count == 1, on_edge, on_corner))
