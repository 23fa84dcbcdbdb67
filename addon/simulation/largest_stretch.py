# SPDX-License-Identifier: GPL-3.0-or-later
"""Where and when a cloth of a bake was stretched most."""

import numpy as np

from ..cache.statistics import Place
from ..scene.reader import ClothInput, FrameInput

NEARLY = 0.8  # fraction of the largest strain from which an edge belongs to the place
MAX_VERTICES = 200  # of a place


class LargestStretch:
    """Follows the edges of the triangles of a cloth from frame to frame."""

    def __init__(self, cloth: ClothInput, known: Place | None) -> None:
        sides = np.concatenate([cloth.triangles[:, [k, (k + 1) % 3]] for k in range(3)])
        self._ends = np.unique(np.sort(sides.astype(np.int64), axis=1), axis=0)
        self._rest = self._lengths(cloth.rest_positions)
        self._pinned = cloth.pinned
        self.place = known or Place()

    def update(self, index: int, current: FrameInput, positions: np.ndarray) -> None:
        """Looks at the positions of a frame, in m, of the cloth of an index."""
        if current.rest_positions[index] is not None:
            self._rest = self._lengths(current.rest_positions[index])
        lengths = self._lengths(positions)
        strains = np.divide(lengths, self._rest, out=np.ones_like(lengths), where=self._rest > 0)
        strains -= 1.0
        largest = float(strains.max(initial=0.0))
        if largest <= self.place.stretch:
            return
        long = np.unique(self._ends[strains > NEARLY * largest])
        held = self._pinned[current.pins[index].hard]
        self.place = Place(
            frame=current.frame,
            stretch=largest,
            vertices=long[:MAX_VERTICES].tolist(),
            is_pinned=bool(np.isin(long, held).any()),
        )

    def _lengths(self, points: np.ndarray) -> np.ndarray:
        return np.linalg.norm(points[self._ends[:, 1]] - points[self._ends[:, 0]], axis=1)
