# SPDX-License-Identifier: MIT OR Apache-2.0
"""The measurement behind the figures on penetration, against solid angles."""

import bpy
import numpy as np
import pytest
from penetration import ClosedSurface, evaluated_world_mesh


def ball(subdivisions: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions and triangles of a unit ball."""
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=subdivisions, radius=1.0)
    return evaluated_world_mesh(bpy.context.object, bpy.context.evaluated_depsgraph_get())


def spiky_ball(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A closed surface full of sharp ridges and dents."""
    positions, triangles = ball(3)
    radii = np.random.default_rng(seed).uniform(0.4, 1.3, len(positions))
    return positions * radii[:, None], triangles


def winding_numbers(points: np.ndarray, positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """How often the surface goes around each point, from the solid angles of its triangles."""
    a, b, c = (positions[triangles[:, corner]] - points[:, None] for corner in range(3))
    volume = np.einsum("ijk,ijk->ij", a, np.cross(b, c))
    la, lb, lc = (np.linalg.norm(side, axis=2) for side in (a, b, c))
    ab, bc, ca = (np.einsum("ijk,ijk->ij", *pair) for pair in ((a, b), (b, c), (c, a)))
    denominator = la * lb * lc + ab * lc + bc * la + ca * lb
    return np.arctan2(volume, denominator).sum(axis=1) / (2.0 * np.pi)


@pytest.mark.parametrize("seed", range(3))
def test_inside_is_where_the_surface_winds_around(seed: int) -> None:
    positions, triangles = spiky_ball(seed)
    random = np.random.default_rng(seed)
    near_vertices = positions + random.normal(scale=0.01, size=positions.shape)
    points = np.concatenate([random.uniform(-1.3, 1.3, (1500, 3)), near_vertices])
    inside = winding_numbers(points, positions, triangles) > 0.5
    assert 100 < inside.sum() < len(points) - 100
    depths = ClosedSurface(positions, triangles).depths(points)
    told_apart = np.abs(ClosedSurface(positions, triangles).signed_distances(points)) > 1e-5
    np.testing.assert_array_equal((depths > 0.0)[told_apart], inside[told_apart])


def test_the_depth_in_a_ball_is_the_distance_to_its_surface() -> None:
    positions, triangles = ball(5)
    points = np.array([[0.0, 0.0, 0.9], [0.1, 0.2, 0.0], [1.0, 1.0, 1.0], [0.0, 0.0, 1.1]])
    expected = np.maximum(0.0, 1.0 - np.linalg.norm(points, axis=1))
    depths = ClosedSurface(positions, triangles).depths(points)
    # The flat faces lie inside the round ball, at most the height of the arc over one edge.
    edges = positions[triangles] - positions[np.roll(triangles, 1, axis=1)]
    height = np.linalg.norm(edges, axis=2).max() ** 2 / 2.0
    np.testing.assert_allclose(depths, expected, atol=height)


def test_an_open_surface_is_refused() -> None:
    with pytest.raises(ValueError, match="not closed"):
        ClosedSurface(np.eye(3), np.array([[0, 1, 2]]))
