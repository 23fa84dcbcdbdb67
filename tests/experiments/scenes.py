# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sheets and bodies that the experiments are made of, and what the library offers."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from time import perf_counter, process_time

import numpy as np
import weft


@cache
def offered(setting: str) -> tuple[str, ...]:
    """The names that the library takes for a setting; none where it has no such setting."""
    try:
        weft.Settings(**{setting: "?"})
    except ValueError as error:
        return tuple(re.findall(r"[a-z_0-9]+", str(error).rpartition("there is ")[2]))
    except TypeError:
        return ()
    return ()


def grid(sides: tuple[int, int], lengths: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Positions of a rectangle with numbers of cells along x and y, in m, and its quads."""
    lines = [
        np.linspace(0.0, length, side + 1) for side, length in zip(sides, lengths, strict=True)
    ]
    x, y = np.meshgrid(*lines, indexing="ij")
    positions = np.stack([x, y, np.zeros_like(x)], axis=-1).reshape(-1, 3)
    vertex = np.arange(len(positions)).reshape(x.shape)
    corners = [vertex[:-1, :-1], vertex[1:, :-1], vertex[1:, 1:], vertex[:-1, 1:]]
    return positions, np.stack(corners, axis=-1).reshape(-1, 4)


def hung(positions: np.ndarray) -> np.ndarray:
    """The rectangle turned about its edge y = 0 so that it hangs down from there."""
    x, y, z = positions.T
    return np.column_stack([x, z, -y])


def box(low: tuple, high: tuple) -> tuple[np.ndarray, np.ndarray]:
    """Positions and triangles of a box."""
    corners = np.array(np.meshgrid(*zip(low, high, strict=True), indexing="ij")).reshape(3, 8).T
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [t for a, b, c, d in faces for t in ((a, b, c), (a, c, d))]
    return corners, np.array(triangles)


def round_body(
    profile: list[tuple[float, float]], count: int = 48
) -> tuple[np.ndarray, np.ndarray]:
    """A surface of revolution around z through points (radius, height), and its triangles."""
    angles = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    rings = [
        np.column_stack([r * np.cos(angles), r * np.sin(angles), np.full(count, z)])
        for r, z in profile
    ]
    points = np.concatenate([*rings, [(0.0, 0.0, profile[0][1]), (0.0, 0.0, profile[-1][1])]])
    index = np.arange(count)
    after = (index + 1) % count
    triangles = []
    for ring in range(len(profile) - 1):
        a, b = ring * count + index, ring * count + after
        c, d = a + count, b + count
        triangles += [np.column_stack([a, b, d]), np.column_stack([a, d, c])]
    bottom, top = len(points) - 2, len(points) - 1
    last = (len(profile) - 1) * count
    triangles.append(np.column_stack([after, index, np.full(count, bottom)]))
    triangles.append(np.column_stack([last + index, last + after, np.full(count, top)]))
    return points, np.concatenate(triangles)


@dataclass
class Run:
    """Cost and result of a simulation of some frames."""

    simulated: float = 0.0  # s
    steps: int = 0
    rejected: int = 0
    newton: int = 0  # iterations
    linear: int = 0
    seconds: float = 0.0
    busy_seconds: float = 0.0  # of all processors
    contact_seconds: float = 0.0
    converged: bool = True
    contacts: list[int] = field(default_factory=list)
    linear_of_frame: list[int] = field(default_factory=list)
    watched: list[object] = field(default_factory=list)


def advance(
    simulation: weft.Simulation,
    frames: int,
    duration: float,
    watch: Callable[[weft.Simulation], object] | None = None,
    limit: float = float("inf"),
) -> Run:
    """Simulates frames of equal duration in s and adds up what they report, up to a limit in s."""
    run = Run()
    for _ in range(frames):
        if run.seconds > limit:
            break
        run.simulated += duration
        start, busy = perf_counter(), process_time()
        report = simulation.advance(duration)
        run.seconds += perf_counter() - start
        run.busy_seconds += process_time() - busy
        run.steps += report.steps
        run.rejected += report.rejected_steps
        run.newton += report.newton_iterations
        run.linear += report.linear_iterations
        run.converged &= report.converged
        run.contact_seconds += report.seconds["broad_phase"] + report.seconds["contact"]
        run.contacts.append(report.contacts)
        run.linear_of_frame.append(report.linear_iterations)
        if watch is not None:
            run.watched.append(watch(simulation))
    return run


def isotropic(modulus: float, viscosity: float, bending: float, **fields: object) -> weft.Material:
    """A material of one modulus in N/m, viscosity in N·s/m and bending rigidity in N·m."""
    time = viscosity / modulus
    values = {
        "density": 1.0,
        "stretch_warp": modulus,
        "stretch_weft": modulus,
        "shear": 0.1 * modulus,
        "poisson": 0.0,
        "bend_warp": bending,
        "bend_weft": bending,
        "stretch_damping": time,
        "shear_damping": time,
        "bend_damping": time,
    }
    return weft.Material(**(values | fields))
