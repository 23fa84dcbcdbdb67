# SPDX-License-Identifier: MIT OR Apache-2.0
"""Parts of a hostile scene, and the list of all scenes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
import weft
from judge.sides import is_closed

FRAME_RATE = 24.0  # frames a second, where a scene does not say otherwise

# Places of some points at a time in s, in m.
Path = Callable[[float], np.ndarray]


class Demand(Enum):
    """Demand on a scene beyond finite positions and bounded work."""

    CLEAN = "clean"  # the start is free of intersections, and so is every frame
    RECOVERS = "recovers"  # impossible for a while; free of intersections soon after
    UNTANGLES = "untangles"  # intersections at the start, none after a while


@dataclass
class Body:
    """A cloth, its pinned vertices and their path."""

    name: str
    positions: np.ndarray
    triangles: np.ndarray
    material: weft.Material
    pins: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    path: Path | None = None  # of the pins; they stay where they are without
    released: float = np.inf  # s, when the pins are released
    rest_positions: np.ndarray | None = None


@dataclass
class Obstacle:
    """A collider and the path of its vertices."""

    name: str
    positions: np.ndarray
    triangles: np.ndarray
    path: Path | None = None
    friction: float = 0.3
    thickness: float = 0.001
    is_floor: bool = False  # level, at rest, and nothing belongs below

    @property
    def encloses(self) -> bool:
        """Whether points can be inside of it."""
        return is_closed(self.triangles)


@dataclass
class State:
    """Positions at the end of a frame."""

    cloths: list[np.ndarray]
    obstacles: list[np.ndarray]
    time: float = 0.0  # s


@dataclass
class Scene:
    """A scene with all that is asked of it."""

    cloths: list[Body]
    obstacles: list[Obstacle]
    demand: Demand = Demand.CLEAN
    excused: tuple[float, float] = (0.0, 0.0)  # s, from when to when intersections are allowed
    settings: dict[str, object] = field(default_factory=dict)
    frame_rate: float = FRAME_RATE
    # Each returns a sentence where something lies on the wrong side of something.
    orders: list[Callable[[State], str | None]] = field(default_factory=list)
    stretch_limit: float = 0.5  # largest principal stretch - 1; larger is an explosion
    speed_limit: float = 20.0  # m/s
    # Largest gain of energy that counts as rounding, as a fraction of the largest kinetic energy.
    energy_growth: float = 0.01
    newton_limit: int = 1500  # iterations in a frame; more is a stall
    watch_sides: bool = True  # of closed obstacles and of floors

    def start(self) -> State:
        """Positions at the start."""
        return State([c.positions for c in self.cloths], [o.positions for o in self.obstacles])

    def simulation(self, **settings: object) -> weft.Simulation:
        """The scene for Weft; `settings` go before the scene's own."""
        cloths = [
            weft.Cloth(c.positions, c.triangles, c.material, rest_positions=c.rest_positions)
            for c in self.cloths
        ]
        colliders = [
            weft.Collider(o.positions, o.triangles, friction=o.friction, thickness=o.thickness)
            for o in self.obstacles
        ]
        simulation = weft.Simulation(cloths, colliders, weft.Settings(**self.settings | settings))
        for index, cloth in enumerate(self.cloths):
            if len(cloth.pins):
                simulation.set_pins(index, cloth.pins)
        return simulation

    def drive(self, simulation: weft.Simulation, start: float, end: float) -> None:
        """Sets the positions of pins and colliders at the time `end`, from `start` on, in s."""
        margin = 0.5 / self.frame_rate
        for index, cloth in enumerate(self.cloths):
            if abs(start - cloth.released) < margin:
                simulation.release_pins(index)
            elif cloth.path is not None and start < cloth.released:
                simulation.set_pins(index, cloth.pins, cloth.path(end))
        for index, obstacle in enumerate(self.obstacles):
            if obstacle.path is not None:
                simulation.set_collider(index, obstacle.path(end))

    def state(self, simulation: weft.Simulation, time: float) -> State:
        """Positions at a time in s that `advance` has just reached."""
        cloths = [simulation.positions(index) for index in range(len(self.cloths))]
        obstacles = [o.positions if o.path is None else o.path(time) for o in self.obstacles]
        return State(cloths, obstacles, time)

    @property
    def has_no_source_of_energy(self) -> bool:
        """Whether nothing but gravity does any work on the cloth."""
        moves = any(each.path is not None for each in [*self.cloths, *self.obstacles])
        return not moves and "wind" not in self.settings and self.demand is Demand.CLEAN

    def is_excused(self, time: float) -> bool:
        """Whether intersections are allowed at a time in s."""
        return self.excused[0] <= time < self.excused[1] - 1e-9

    @property
    def vertex_count(self) -> int:
        """Vertices of all cloths."""
        return sum(len(cloth.positions) for cloth in self.cloths)


@dataclass(frozen=True)
class Length:
    """Size and duration of a scene: vertices along a side, and s."""

    size: int
    seconds: float


@dataclass(frozen=True)
class Recipe:
    """Builder of a scene, and its length in the two forms of the suite."""

    name: str
    build: Callable[[int, float], Scene]
    quick: Length
    soak: Length


RECIPES: dict[str, Recipe] = {}


def scene(
    *, quick: tuple[int, float], soak: tuple[int, float]
) -> Callable[[Callable[[int, float], Scene]], Callable[[int, float], Scene]]:
    """Enters a builder, which takes vertices along a side and s, into the list."""

    def enter(build: Callable[[int, float], Scene]) -> Callable[[int, float], Scene]:
        name = build.__name__
        if name in RECIPES:
            raise ValueError(f"two scenes are called {name}")
        RECIPES[name] = Recipe(name, build, Length(*quick), Length(*soak))
        return build

    return enter


def fabric(name: str = "cotton", **fields: object) -> weft.Material:
    """A preset with some fields replaced."""
    return weft.Material.preset(name).replace(**fields)


def along(points: np.ndarray, *keyframes: tuple[float, object]) -> Path:
    """Path of points that are shifted by offsets at given times, in a straight line between."""
    times = np.array([time for time, _ in keyframes])
    offsets = np.array([offset for _, offset in keyframes], dtype=float)

    def path(time: float) -> np.ndarray:
        return points + [np.interp(time, times, offsets[:, axis]) for axis in range(3)]

    return path
