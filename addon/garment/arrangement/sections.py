# SPDX-License-Identifier: GPL-3.0-or-later
"""Curves in which a plane cuts a surface of triangles."""

import numpy as np

from ..dressed import welding


def curves_at(
    points: np.ndarray, triangles: np.ndarray, origin: np.ndarray, normal: np.ndarray
) -> list[np.ndarray]:
    """Points of each closed curve in which a plane cuts a surface."""
    heights = (points - origin) @ normal
    above = heights > 0.0
    cut = triangles[above[triangles].any(axis=1) & ~above[triangles].all(axis=1)]
    edges = np.sort(cut[:, [[0, 1], [1, 2], [2, 0]]], axis=2)
    is_cut = above[edges[:, :, 0]] != above[edges[:, :, 1]]
    if not is_cut.any():
        return []
    ends, labels = np.unique(edges[is_cut], axis=0, return_inverse=True)
    pieces = welding.labels(labels.reshape(-1, 2), len(ends))
    low, high = heights[ends[:, 0]], heights[ends[:, 1]]
    share = (low / (low - high))[:, None]
    places = points[ends[:, 0]] + share * (points[ends[:, 1]] - points[ends[:, 0]])
    return [places[pieces == piece] for piece in np.unique(pieces)]
