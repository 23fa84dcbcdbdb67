# SPDX-License-Identifier: GPL-3.0-or-later
"""Why seams stay open: what is between their sides, or how far cloth beside them is stretched."""

from dataclasses import dataclass

import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from ..scene.reader import ClothInput, ColliderInput
from .dressed import welding
from .seams import Seams

STRETCHED = 0.05  # of the length at rest, from which a fabric is told to be too short


@dataclass(frozen=True)
class State:
    """A garment where its dressing ended, in m."""

    cloth: ClothInput
    colliders: list[ColliderInput]
    positions: np.ndarray


def explained(seams: Seams, gaps: dict[int, float], state: State) -> list[str]:
    """A sentence for each open seam, the widest first; `gaps` in m by index of the pair."""
    widest: dict[int, int] = {}
    for pair in sorted(gaps, key=gaps.get):
        widest[int(seams.numbers[pair])] = pair
    trees = [
        (f"'{one.name}' is between its sides", _tree(one.positions, one.triangles))
        for one in state.colliders
    ]
    found = []
    for number, pair in sorted(widest.items(), key=lambda item: -gaps[item[1]]):
        members = seams.pairs[[k for k in gaps if seams.numbers[k] == number]]
        reason = _reason(seams.pairs[pair], members, trees, state)
        gap = f"{gaps[pair] * 1000.0:.3g} mm"
        found.append(f"{seams.names[number].capitalize()} stays open by {gap}: {reason}")
    return found


def caught(
    pairs: np.ndarray, wanted: np.ndarray, triangles: np.ndarray, positions: np.ndarray
) -> np.ndarray:
    """Whether cloth passes between the vertices of each of the wanted pairs, but for that of
    vertices that are sewn to them.
    """
    group = welding.labels(pairs, len(positions))
    corners, names = positions[triangles], group[triangles]
    low, high = corners.min(axis=1), corners.max(axis=1)
    found = np.zeros(len(wanted), bool)
    for index, pair in enumerate(pairs[wanted]):
        ends = positions[pair]
        near = ((low <= ends.max(axis=0)) & (high >= ends.min(axis=0))).all(axis=1)
        near &= (names != group[pair[0]]).all(axis=1)
        found[index] = near.any() and _passes(ends, corners[near]).any()
    return found


def _passes(ends: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Whether the line between two points passes through each triangle."""
    offset = ends[1] - ends[0]
    sides = corners - ends[0]
    a, b, c = sides[:, 0], sides[:, 1], sides[:, 2]
    normals = np.cross(b - a, c - a)
    start = np.einsum("ij,ij->i", normals, a)
    end = start - _along(offset, normals)
    turns = np.stack(
        [_along(offset, np.cross(one, other)) for one, other in ((a, b), (b, c), (c, a))]
    )
    return (start * end < 0.0) & ((turns > 0.0).all(axis=0) | (turns < 0.0).all(axis=0))


def _along(direction: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Products of vectors with a direction."""
    return np.einsum("ij,j->i", vectors, direction)


def _reason(pair: np.ndarray, members: np.ndarray, trees: list, state: State) -> str:
    one, other = state.positions[pair]
    for reason, tree in trees:
        if _crosses(tree, one, other):
            return reason
    beside = np.isin(state.cloth.triangles, members).any(axis=1)
    apart = state.cloth.triangles[~beside]
    if len(apart) and _crosses(_tree(state.positions, apart), one, other):
        return "the garment itself is between its sides"
    stretch = _stretch(state, state.cloth.triangles[beside])
    if stretch > STRETCHED:
        return (
            f"the cloth beside it is stretched by {stretch:.0%}, so the garment is too small "
            "there, caught, or sewn to a wrong edge"
        )
    return "it was still closing at the end"


def _tree(points: np.ndarray, triangles: np.ndarray) -> BVHTree:
    return BVHTree.FromPolygons(points.tolist(), triangles.tolist())


def _crosses(tree: BVHTree, start: np.ndarray, end: np.ndarray) -> bool:
    offset = Vector((end - start).tolist())
    return tree.ray_cast(Vector(start.tolist()), offset.normalized(), offset.length)[0] is not None


def _stretch(state: State, triangles: np.ndarray) -> float:
    """Largest stretch of the edges of triangles."""
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    if not len(edges):
        return 0.0
    lengths = [
        np.linalg.norm(points[edges[:, 1]] - points[edges[:, 0]], axis=1)
        for points in (state.positions, state.cloth.rest_positions)
    ]
    return float((lengths[0] / lengths[1]).max() - 1.0)
