# SPDX-License-Identifier: GPL-3.0-or-later
"""Remaining time of a bake, from what its last frames took."""

import time
from collections import deque

LAST_FRAMES = 10  # whose mean is taken: frames of crumpled cloth take longer than those before


class RemainingTime:
    """Estimate of the time that the frames up to the last one take."""

    def __init__(self, frame: int) -> None:
        """`frame` is where the simulation begins."""
        self._done = deque([(frame, time.monotonic())], LAST_FRAMES + 1)

    def update(self, frame: int) -> None:
        """Notes that a frame is simulated."""
        if frame > self._done[-1][0]:
            self._done.append((frame, time.monotonic()))

    def seconds(self, last: int) -> float | None:
        """Time up to a last frame in s, None before the first frame is simulated."""
        (first, began), (frame, ended) = self._done[0], self._done[-1]
        if frame == first:
            return None
        each = (ended - began) / (frame - first)
        # The frame that is simulated now counts once it takes longer than the others.
        each = max(each, (time.monotonic() - began) / (frame - first + 1))
        return each * (last - frame)
