# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sheets of springs: on the library, and as the documents wrote them, with their faults, to show
what these do: vectors over a grid, one offset after the other.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import weft
from scenes import grid, isotropic

HALF_OFFSETS = ((1, 0), (0, 1), (1, 1), (1, -1), (2, 0), (0, 2), (2, 2), (2, -2))
GRAVITY = 9.80665

WEIGHTLESS = 1e-9  # N/m: fabric between springs

State = tuple[np.ndarray, np.ndarray]


def _ends(offset: tuple[int, int]) -> tuple[tuple, tuple]:
    """The vertices of a grid that have a neighbour at an offset, and these neighbours."""
    rows, columns = offset
    first = slice(None, -rows or None), slice(max(0, -columns), -columns if columns > 0 else None)
    second = slice(rows, None), slice(max(0, columns), columns if columns < 0 else None)
    return first, second


@dataclass
class Springs:
    """A square grid with springs to 16 neighbours, pinned at two corners."""

    side: int
    stiffness: float = 15.0
    spring_damping: float = 0.1
    drag: float = 0.01
    mass: float = 0.05
    spacing: float = 1.0
    rest: np.ndarray = field(init=False)
    free: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        line = self.spacing * np.arange(self.side)
        x, y = np.meshgrid(line, line, indexing="ij")
        self.rest = np.stack([x, y, np.zeros_like(x)], axis=-1)
        self.free = np.ones((self.side, self.side, 1))
        self.free[0, 0] = self.free[0, -1] = 0.0
        ends = map(_ends, HALF_OFFSETS)
        self.members = [
            (*pair, np.linalg.norm(self.rest[pair[1]] - self.rest[pair[0]], axis=-1)[..., None])
            for pair in ends
        ]

    def start(self) -> State:
        """At rest in the plane."""
        return self.rest.copy(), np.zeros_like(self.rest)

    def acceleration(self, x: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Springs, their damping, drag and gravity; none where pinned."""
        force = -self.drag * v
        force[..., 2] -= self.mass * GRAVITY
        for first, second, length in self.members:
            apart, closing = x[second] - x[first], v[second] - v[first]
            square = (apart * apart).sum(axis=-1, keepdims=True)
            along = self.stiffness * (1.0 - length / np.sqrt(square))
            along += self.spring_damping * (apart * closing).sum(axis=-1, keepdims=True) / square
            pull = along * apart
            force[first] += pull
            force[second] -= pull
        return self.free * force / self.mass

    def blocks(self, x: np.ndarray) -> list[tuple[tuple, tuple, np.ndarray, np.ndarray]]:
        """For every offset −∂f/∂x, without what compression makes negative, and −∂f/∂v."""
        found = []
        for first, second, length in self.members:
            apart = x[second] - x[first]
            size = np.linalg.norm(apart, axis=-1)[..., None]
            unit = apart / size
            outer = unit[..., :, None] * unit[..., None, :]
            across = np.maximum(0.0, 1.0 - length / size)[..., None]
            stiff = self.stiffness * (outer + across * (np.eye(3) - outer))
            found.append((first, second, stiff, self.spring_damping * outer))
        return found

    def implicit(self, h: float, filtered: bool = True) -> "Callable[[State], State]":
        """One linearised implicit Euler step; pins filtered inside the solver, or put back."""

        def step(state: State) -> State:
            x, v = state
            parts = self.blocks(x)
            rate = self.free * v
            mask = self.free if filtered else np.ones_like(self.free)
            loads = self.mass * self.acceleration(x, v)
            if not filtered:
                loads = loads + (1.0 - self.free) * (self._held_force(x, v))

            def product(d: np.ndarray) -> np.ndarray:
                out = (self.mass + h * self.drag) * d
                for first, second, stiff, damped in parts:
                    moved = np.einsum(
                        "...ij,...j", h * h * stiff + h * damped, d[second] - d[first]
                    )
                    out[first] -= moved
                    out[second] += moved
                return mask * out

            right = h * loads
            for first, second, stiff, _ in parts:
                moved = h * h * np.einsum("...ij,...j", stiff, rate[second] - rate[first])
                right[first] += moved
                right[second] -= moved
            change = conjugate_gradients(product, mask * right)
            v = self.free * (v + change)
            return x + h * v, v

        return step

    def _held_force(self, x: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The force that pins would feel as free particles."""
        kept, self.free = self.free, np.ones_like(self.free)
        force = self.mass * self.acceleration(x, v)
        self.free = kept
        return force

    def fastest(self, rounds: int = 150) -> float:
        """The square of the highest frequency at rest, by power iteration."""
        parts = [(a, b, stiff) for a, b, stiff, _ in self.blocks(self.rest)]
        vector = np.random.default_rng(1).standard_normal(self.rest.shape) * self.free
        value = 0.0
        for _ in range(rounds):
            out = np.zeros_like(vector)
            for first, second, stiff in parts:
                moved = np.einsum("...ij,...j", stiff, vector[second] - vector[first])
                out[first] -= moved
                out[second] += moved
            out *= self.free
            value = float(np.linalg.norm(out))
            vector = out / value
        return value / self.mass


def conjugate_gradients(
    product: Callable[[np.ndarray], np.ndarray], right: np.ndarray
) -> np.ndarray:
    """As in Cords 2004, table 2.4, with the numbers used there."""
    solution, residual = np.zeros_like(right), right.copy()
    direction, square = residual.copy(), float((residual * residual).sum())
    first = square
    for _ in range(50):
        if square <= 1e-6 * first or square == 0.0:
            break
        image = product(direction)
        length = square / float((direction * image).sum())
        solution += length * direction
        residual -= length * image
        square, before = float((residual * residual).sum()), square
        direction = residual + square / before * direction
    return solution


def is_stable(springs: Springs, step: Callable[[State], State], h: float, seconds: float) -> bool:
    """Whether nothing has been flung away after some seconds."""
    state = springs.start()
    far = 50.0 * springs.side * springs.spacing
    with np.errstate(all="ignore"):
        for _ in range(int(seconds / h)):
            state = step(state)
            size = np.abs(state[0]).max()
            if not size < far or not np.abs(state[1]).max() < 1e3 * far:
                return False
    return True


def library_sheet(
    side: int, integrator: str, stiffness: float = 15.0, drag: float = 0.01, mass: float = 0.05
) -> weft.Simulation:
    """The same grid of masses and springs in the library, pinned at two corners of one side."""
    points, quads = grid((side - 1, side - 1), (side - 1.0, side - 1.0))
    fabric = isotropic(WEIGHTLESS, 0.0, 0.0)
    corners = weft.Cloth(points, quads, fabric).triangles
    a, b, c = (points[corners[:, k]] for k in range(3))
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6.0
    areas = np.bincount(corners.ravel(), np.repeat(areas, 3), len(points))
    index = np.arange(side * side).reshape(side, side)
    pairs = [index[end].ravel() for offset in HALF_OFFSETS for end in _ends(offset)]
    pairs = np.concatenate(
        [np.column_stack(two) for two in zip(pairs[::2], pairs[1::2], strict=True)]
    )
    cloth = weft.Cloth(
        points,
        quads,
        fabric,
        vertex_mass_scale=mass / areas,
        springs=pairs,
        spring_stiffness=stiffness,
        spring_damping=0.1,
    )
    settings = weft.Settings(
        integrator=integrator,
        solver="linearised",
        gravity=(0.0, 0.0, -GRAVITY),
        air_density=0.0,
        stokes_drag=drag,
        self_collision=False,
        threads=1,
    )
    simulation = weft.Simulation([cloth], settings=settings)
    simulation.set_pins(0, [0, side - 1])
    return simulation


def stays(simulation: weft.Simulation, h: float, seconds: float = 8.0) -> bool:
    """Whether nothing of a sheet has been flung away after some seconds in steps of `h`."""
    far = 50.0 * np.sqrt(len(simulation.positions()))
    for _ in range(int(seconds / h)):
        try:
            simulation.step(h)
        except weft.NotFiniteError:
            return False
        if not np.abs(simulation.positions()).max() < far:
            return False
    return True


def largest(stable: Callable[[float], bool], low: float, high: float) -> float:
    """The largest stable value between two, to 5 %; the upper one where that is stable."""
    if stable(high):
        return high
    while high > 1.05 * low:
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if stable(middle) else (low, middle)
    return low
