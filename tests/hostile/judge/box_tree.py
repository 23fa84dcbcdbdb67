# SPDX-License-Identifier: MIT OR Apache-2.0
"""Which boxes overlap: a binary tree over axis-parallel boxes, walked by all queries together."""

import numpy as np

# Bits of each coordinate in the order along the tree's leaves.
CODE_BITS = 16


def boxes(positions: np.ndarray, elements: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest corner of the box around each element."""
    corners = positions[elements]
    return corners.min(axis=1), corners.max(axis=1)


def _spread(codes: np.ndarray) -> np.ndarray:
    """Moves every bit of 16-bit numbers to three times its place."""
    spread = np.zeros(codes.shape, dtype=np.int64)
    for bit in range(CODE_BITS):
        spread |= ((codes >> bit) & 1) << (3 * bit)
    return spread


def _order_along_curve(centres: np.ndarray) -> np.ndarray:
    low = centres.min(axis=0)
    size = np.maximum(centres.max(axis=0) - low, np.finfo(float).tiny)
    codes = _spread(((centres - low) / size * (2**CODE_BITS - 1)).astype(np.int64))
    return np.argsort(codes[:, 0] | codes[:, 1] << 1 | codes[:, 2] << 2, kind="stable")


class BoxTree:
    """A complete binary tree; neighbours along a space-filling curve share their parents."""

    def __init__(self, low: np.ndarray, high: np.ndarray) -> None:
        self._order = _order_along_curve(0.5 * low + 0.5 * high)
        leaves = 1 << (len(low) - 1).bit_length()
        # Coordinates go first, because whole rows of them are compared at a time. What fills the
        # last level up is empty and overlaps nothing.
        lows, highs = np.full((3, leaves), np.inf), np.full((3, leaves), -np.inf)
        lows[:, : len(low)], highs[:, : len(low)] = low[self._order].T, high[self._order].T
        self._levels = [(lows, highs)]
        while lows.shape[1] > 1:
            lows = np.minimum(lows[:, ::2], lows[:, 1::2])
            highs = np.maximum(highs[:, ::2], highs[:, 1::2])
            self._levels.append((lows, highs))

    def overlaps(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All pairs of a query box and a box of the tree that share a point: two index arrays."""
        low, high = np.ascontiguousarray(low.T), np.ascontiguousarray(high.T)
        query = np.arange(low.shape[1])
        node = np.zeros(low.shape[1], dtype=np.int64)
        for level in range(len(self._levels) - 1, -1, -1):
            for axis in range(3):
                lows, highs = (bound[axis] for bound in self._levels[level])
                touch = (low[axis][query] <= highs[node]) & (high[axis][query] >= lows[node])
                query, node = query[touch], node[touch]
            if level:
                query = np.repeat(query, 2)
                node = np.repeat(2 * node, 2)
                node[1::2] += 1
        return query, self._order[node]
