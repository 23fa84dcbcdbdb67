# SPDX-License-Identifier: GPL-3.0-or-later
"""A sewing pattern of a modelled garment: islands of its UV map are panels, their borders seams.

The garment that is made of the pattern has the modelled shape as its dressed shape, sewn.
"""

from dataclasses import dataclass

import numpy as np
from bpy.types import Mesh, Object
from mathutils.bvhtree import BVHTree

from . import uv_islands
from .panels import SHARP, Contour, Curve, Panel, Side, panel_name, signed_area, turns
from .uv_islands import Islands

SLIVER = 1e-9  # area of triangles of the UV map that carry nothing, over the largest
CLEARANCE = 0.02  # m, from the model to the panels that are put outside of it


@dataclass(frozen=True)
class _Border:
    """A closed chain of corners that starts at a break or corner; edges of the contour start at
    `splits`, and seams end at `breaks`, both indices into the chain.
    """

    chain: np.ndarray
    splits: list[int]
    breaks: list[int]


class ModelledGarment:
    """Panels, stitches and the modelled shape of an object, as a mesh of it has them."""

    def __init__(self, obj: Object, mesh: Mesh, scale: float) -> None:
        self.islands: Islands = uv_islands.of(obj, mesh, scale)
        chains = self.islands.borders()
        self._borders = _split(self.islands, chains)
        self._of_island = _by_island(self.islands, self._borders)
        self.panels = [self._panel(number) for number in range(self.islands.count)]
        self.stitches = self._stitches()

    def _panel(self, number: int) -> Panel:
        outline, *cutouts = (self._contour(self._borders[k]) for k in self._of_island[number])
        return Panel(panel_name(number), outline, self._placement(number), cutouts)

    def _contour(self, border: _Border) -> Contour:
        points = self.islands.flat[border.chain]
        ends = [*border.splits[1:], len(points)]
        inner = [points[a + 1 : b] for a, b in zip(border.splits, ends, strict=True)]
        curves = [Curve("polyline", each) if len(each) else None for each in inner]
        return Contour(points[border.splits], curves)

    def _placement(self, number: int) -> np.ndarray:
        """Where a panel lies best on the model, moved outside of it."""
        own = self.islands.islands == number
        flat = np.column_stack([self.islands.flat[own], np.zeros(own.sum())])
        places = self.islands.places[own]
        middles = flat.mean(axis=0), places.mean(axis=0)
        left, _, right = np.linalg.svd((places - middles[1]).T @ (flat - middles[0]))
        turn = np.diag((1.0, 1.0, np.sign(np.linalg.det(left @ right))))
        rotation = left @ turn @ right
        origin = middles[1] - rotation @ middles[0]
        outside = ((places - origin) @ rotation[:, 2]).max() + CLEARANCE
        placed = np.eye(4)
        placed[:3, :3], placed[:3, 3] = rotation, origin + outside * rotation[:, 2]
        return placed

    # --- seams --------------------------------------------------------------------------------

    def _stitches(self) -> list[tuple[Side, Side]]:
        """A stitch for each pair of runs between breaks that belong together."""
        runs = [run for border in range(len(self._borders)) for run in self._runs(border)]
        of_corner = {int(corner): k for k, (corners, _) in enumerate(runs) for corner in corners}
        stitches = []
        for number, (corners, side) in enumerate(runs):
            partner = int(self.islands.partners[corners[0]])
            if partner >= 0 and of_corner[partner] > number:
                stitches.append((side, runs[of_corner[partner]][1]))
        return stitches

    def _runs(self, number: int) -> list[tuple[np.ndarray, Side]]:
        """Corners and edges between two breaks of a border."""
        border, island = self._borders[number], self._island_of(number)
        place = self._of_island[island].index(number)
        ends = [*border.breaks[1:], len(border.chain)]
        runs = []
        for start, end in zip(border.breaks, ends, strict=True):
            edges = [k for k, split in enumerate(border.splits) if start <= split < end]
            side = Side(panel_name(island), edges, place - 1 if place else None)
            runs.append((border.chain[start:end], side))
        return runs

    def _island_of(self, border: int) -> int:
        return int(self.islands.islands[self._borders[border].chain[0]])

    # --- shape --------------------------------------------------------------------------------

    def shape(self, flat: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Where the model has points of the panels, in m; `starts` as of `weft.PatternMesh`."""
        return np.concatenate(
            [self._on_island(k, flat[starts[k] : starts[k + 1]]) for k in range(self.islands.count)]
        )

    def _on_island(self, number: int, flat: np.ndarray) -> np.ndarray:
        own = self.islands.triangles[self.islands.islands[self.islands.triangles[:, 0]] == number]
        areas = [abs(signed_area(corners)) for corners in self.islands.flat[own]]
        own = own[np.array(areas) > SLIVER * max(areas)]
        corners = self.islands.flat[own]
        plane = np.dstack([corners, np.zeros((len(own), 3, 1))]).reshape(-1, 3)
        tree = BVHTree.FromPolygons(plane.tolist(), np.arange(len(plane)).reshape(-1, 3).tolist())
        found = [tree.find_nearest((x, y, 0.0)) for x, y in flat.tolist()]
        triangles = np.array([index for _, _, index, _ in found])
        nearest = np.array([place[:2] for place, *_ in found], np.float64)
        weights = _barycentric(nearest, corners[triangles])
        return np.einsum("vk,vkd->vd", weights, self.islands.places[own[triangles]])


def _barycentric(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Weights of the corners of triangles at points of a plane."""
    sides = np.swapaxes(triangles[:, 1:] - triangles[:, :1], 1, 2)
    shares = np.linalg.solve(sides, (points - triangles[:, 0])[:, :, None])[:, :, 0]
    return np.column_stack([1.0 - shares.sum(axis=1), shares])


def _by_island(islands: Islands, borders: list[_Border]) -> list[list[int]]:
    """Borders of each island, the outline first."""
    found: list[list[int]] = [[] for _ in range(islands.count)]
    for number, border in enumerate(borders):
        found[int(islands.islands[border.chain[0]])].append(number)
    area = lambda number: -signed_area(islands.flat[borders[number].chain])  # noqa: E731
    for island, own in enumerate(found):
        if not own:
            raise ValueError(f"island {island + 1} of '{islands.name}' has no border: cut a seam")
        own.sort(key=area)
    return found


def _split(islands: Islands, chains: list[np.ndarray]) -> list[_Border]:
    """Borders with their breaks and corners, each from one of these on."""
    after, chain_of, place_of = (np.full(len(islands.points), -1) for _ in range(3))
    for number, chain in enumerate(chains):
        after[chain] = np.roll(chain, -1)
        chain_of[chain], place_of[chain] = number, np.arange(len(chain))
    breaks = [_breaks(islands.partners, after, chain) for chain in chains]
    for number, chain in enumerate(chains):
        partner = int(islands.partners[chain[-1]])
        if not breaks[number] and partner >= 0:  # closed borders that are sewn all round
            breaks[number] = {0}
            breaks[chain_of[partner]].add(int(place_of[partner]))
    return [
        _started(chain, found, islands.flat[chain])
        for chain, found in zip(chains, breaks, strict=True)
    ]


def _breaks(partners: np.ndarray, after: np.ndarray, chain: np.ndarray) -> set[int]:
    """Places where a seam ends: the other side does not go on, or both sides are one dart."""
    found = set()
    for place, (corner, last) in enumerate(zip(chain, np.roll(chain, 1), strict=True)):
        now, before = partners[corner], partners[last]
        is_hem, is_seam = max(now, before) < 0, min(now, before) >= 0
        if not is_hem and not (is_seam and after[now] == before and now != last):
            found.add(place)
    return found


def _started(chain: np.ndarray, breaks: set[int], flat: np.ndarray) -> _Border:
    """A border from its first break on, else from a corner."""
    corners = set(np.flatnonzero(turns(flat) > SHARP).tolist())
    start = min(breaks or corners or {0})
    count = len(chain)
    moved_breaks = sorted({(k - start) % count for k in breaks} | {0})
    splits = {(k - start) % count for k in corners} | set(moved_breaks)
    if len(splits) == 1:
        splits.add(count // 2)
    return _Border(np.roll(chain, -start), sorted(splits), moved_breaks)
