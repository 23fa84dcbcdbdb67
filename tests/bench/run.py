# SPDX-License-Identifier: MIT OR Apache-2.0
"""How one run of either program is timed and handed to compare.py: one process, one case."""

import argparse
import json
import os
import time
from collections.abc import Callable

import numpy as np
import sheets


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("case", choices=sheets.CASES)
    parser.add_argument("side", type=int, help="vertices along one side")
    parser.add_argument("--frames", type=int, required=True)
    return parser.parse_args()


def timed(
    frame_count: int,
    advance: Callable[[int], None],
    positions: Callable[[], np.ndarray],
) -> tuple[dict, np.ndarray]:
    """Calls `advance(frame)` for every frame after the first and keeps all positions.

    Reading the positions is not part of the time, for either program.
    """
    frames = [positions()]
    seconds, cpu_seconds = [], 0.0
    for frame in range(2, frame_count + 1):
        wall, cpu = time.perf_counter(), time.process_time()
        advance(frame)
        seconds.append(time.perf_counter() - wall)
        cpu_seconds += time.process_time() - cpu
        frames.append(positions())
    timing = {
        "seconds": sum(seconds),
        "cpu_seconds": cpu_seconds,
        "slowest_frame": max(seconds),
        "cores": len(os.sched_getaffinity(0)),
        "load_before": os.getloadavg()[0],
    }
    return timing, np.array(frames, dtype=np.float64)


def report(row: dict) -> None:
    """Prints the one line that compare.py looks for."""
    print("RESULT " + json.dumps(row), flush=True)
