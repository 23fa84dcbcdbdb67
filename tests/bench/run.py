# SPDX-License-Identifier: MIT OR Apache-2.0
"""How one run of either program is timed and handed on: one process, one case."""

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import sheets

WARM_SIDE = 10  # of a sheet that is run before, for what a program makes only once


def memory(kind: str) -> int:
    """Bytes of this process in main memory: `VmRSS` now, `VmHWM` at most so far."""
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (line,) = [line for line in status if line.startswith(f"{kind}:")]
    return 1024 * int(line.split()[1])


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("case", choices=sheets.CASES)
    parser.add_argument("side", type=int, help="vertices along one side")
    parser.add_argument("--frames", type=int, required=True)
    parser.add_argument("--threads", type=int, default=0, help="of Weft; one on every core if 0")
    parser.add_argument("--unmeasured", action="store_true", help="time and memory are enough")
    return parser.parse_args()


def timed(
    frame_count: int,
    advance: Callable[[int], None],
    positions: Callable[[], np.ndarray],
    memory_before: int,
) -> tuple[dict, np.ndarray]:
    """Calls `advance(frame)` for every frame after the first and keeps all positions.

    Reading the positions is not part of the time, for either program, nor what is kept of the
    memory that it took more than `memory_before` at most.
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
        "frame_seconds": seconds,
        "cores": len(os.sched_getaffinity(0)),
        "load_before": os.getloadavg()[0],
        "memory": memory("VmHWM") - memory_before - sum(frame.nbytes for frame in frames),
    }
    return timing, np.array(frames, dtype=np.float64)


def report(row: dict) -> None:
    """Prints the one line that compare.py looks for."""
    print("RESULT " + json.dumps(row), flush=True)
