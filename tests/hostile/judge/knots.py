# SPDX-License-Identifier: MIT OR Apache-2.0
"""Whether a line is still knotted: the determinant of a knot, which only a passage can change.

Seen from above, a closed line is cut into arcs by its crossings. At each crossing the arc on top
counts 2 and the two that end there -1 each; leaving out one row and one column of that matrix, the
size of its determinant is 1 for a line without a knot and 3 for an overhand knot (colourings of a
knot, R. H. Fox).
"""

import numpy as np

# A view along which no two corners of a line are likely to coincide.
VIEW = np.array([(0.8, -0.6, 0.01), (0.59, 0.79, 0.17), (-0.1, -0.13, 0.98)])


def determinant(line: np.ndarray) -> int:
    """Of a line closed by a straight one from its last point to its first."""
    points = line @ np.linalg.qr(VIEW)[0]
    crossings = sorted(_crossings(points, np.roll(points, -1, axis=0)))
    # Places along the line where it goes underneath: an arc ends and the next begins.
    ends = np.array([under for under, _ in crossings])
    count = len(ends)
    if count < 2:
        return 1
    matrix = np.zeros((count, count))
    for row, (_, over) in enumerate(crossings):
        matrix[row, np.searchsorted(ends, over) % count] += 2.0
        matrix[row, row] -= 1.0
        matrix[row, (row + 1) % count] -= 1.0
    return round(abs(np.linalg.det(matrix[1:, 1:])))


def _crossings(starts: np.ndarray, ends: np.ndarray) -> list[tuple[float, float]]:
    """Places along the line of the lower and the upper strand of each crossing."""
    count = len(starts)
    i, j = np.triu_indices(count, 2)
    apart = ~((i == 0) & (j == count - 1))
    i, j = i[apart], j[apart]
    u, v, w = ends[i] - starts[i], ends[j] - starts[j], starts[j] - starts[i]
    area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        s = (w[:, 0] * v[:, 1] - w[:, 1] * v[:, 0]) / area
        t = (w[:, 0] * u[:, 1] - w[:, 1] * u[:, 0]) / area
    hit = (s >= 0) & (s < 1) & (t >= 0) & (t < 1)
    i, j, s, t, u, v, w = (each[hit] for each in (i, j, s, t, u, v, w))
    first_is_above = s * u[:, 2] > w[:, 2] + t * v[:, 2]
    one, other = i + s, j + t
    below = np.where(first_is_above, other, one)
    above = np.where(first_is_above, one, other)
    return list(zip(below.tolist(), above.tolist(), strict=True))
