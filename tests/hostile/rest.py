# SPDX-License-Identifier: MIT OR Apache-2.0
"""Measured figures: gaps and calm at rest, friction, and independence of irrelevant settings.

Each entry of MEASURES takes whether to be quick, and returns figures with their allowed ranges.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import weft
from families.drape import ASKEW, SHIFT, UP, floor
from families.layers import stack
from meshes import Mesh, ball, box, grid, moved, plate, rotation, strip, turned

from scene import Body, Obstacle, Scene, fabric

FRAME = 1.0 / 24.0  # s
GRAVITY = 9.81  # m/s²
CALM = 1e-3  # m/s
GAP = 0.002  # m, the sum of two thicknesses of a millimetre
GAP_TOLERANCE = 0.05
ANGLE = np.radians(30.0)
# A pixel where a metre is as wide as a picture of 2 000; converged folds swing as much.
TREMBLES = 5e-4  # m
STICKS = 1e-4  # m, less than which is no creeping
SAME = 0.03  # largest relative difference between resolutions and frame rates


@dataclass(frozen=True)
class Figure:
    """A measured number and where it must lie."""

    name: str
    value: float
    low: float
    high: float

    @property
    def ok(self) -> bool:
        return bool(self.low <= self.value <= self.high)

    def __str__(self) -> str:
        verdict = "ok" if self.ok else "NOT"
        return f"{self.name}: {self.value:.6g} in [{self.low:.6g}, {self.high:.6g}] {verdict}"


MEASURES: dict[str, Callable[[bool], list[Figure]]] = {}


def measure(take: Callable[[bool], list[Figure]]) -> Callable[[bool], list[Figure]]:
    """Enters a function into the list."""
    MEASURES[take.__name__] = take
    return take


def after(scene: Scene, seconds: float, **settings: object) -> weft.Simulation:
    """The scene after a time in s."""
    simulation = scene.simulation(**settings)
    for frame in range(round(seconds / FRAME)):
        scene.drive(simulation, frame * FRAME, (frame + 1) * FRAME)
        simulation.advance(FRAME)
    return simulation


def fastest(simulation: weft.Simulation, scene: Scene) -> float:
    """Largest speed of any vertex, in m/s."""
    speeds = [simulation.velocities(index) for index in range(len(scene.cloths))]
    return max(float(np.linalg.norm(each, axis=1).max()) for each in speeds)


def gap_figure(name: str, value: float) -> Figure:
    return Figure(name, value, GAP * (1.0 - GAP_TOLERANCE), GAP * (1.0 + GAP_TOLERANCE))


@measure
def sheet_at_rest(quick: bool) -> list[Figure]:
    """A sheet on two large triangles."""
    size = 12 if quick else 40
    positions, triangles = moved(turned(grid(size, 0.5), UP, ASKEW), (*SHIFT, 0.01))
    scene = Scene([Body("sheet", positions, triangles, fabric())], [floor(0.0)])
    simulation = after(scene, 2.0)
    height = simulation.positions()[:, 2]
    return [
        gap_figure("lowest point, m", height.min()),
        gap_figure("highest point, m", height.max()),
        Figure("speed after 2 s, m/s", fastest(simulation, scene), 0.0, CALM),
    ]


def heights(positions: np.ndarray, triangles: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Heights in m of a surface above points of the plane, which it covers once."""
    corners = positions[triangles]
    a, b, c = (corners[:, corner, :2] for corner in range(3))

    def doubled_area(p: np.ndarray, q: np.ndarray, r: np.ndarray) -> np.ndarray:
        one, other = q - p, r - p
        return one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0]

    point = points[:, None, :]
    areas = [doubled_area(point, b, c), doubled_area(a, point, c), doubled_area(a, b, point)]
    weights = np.stack(areas, axis=-1) / doubled_area(a, b, c)[:, None]
    under = weights.min(axis=2).argmax(axis=1)
    return (weights[np.arange(len(points)), under] * corners[under, :, 2]).sum(axis=1)


@measure
def ten_layers_at_rest(quick: bool) -> list[Figure]:
    """Ten sheets fall together on a floor; corners hang over, so gaps count where all ten lie."""
    scene = stack(8 if quick else 30, 10, 0.004, length=0.4)
    simulation = after(scene, 2.0)
    line = np.linspace(-0.17, 0.17, 23)
    points = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    points = points[np.linalg.norm(points, axis=1) < 0.17]
    surfaces = [
        heights(simulation.positions(layer), cloth.triangles, points)
        for layer, cloth in enumerate(scene.cloths)
    ]
    gaps = np.diff([np.zeros(len(points)), *surfaces], axis=0).mean(axis=1)
    return [
        gap_figure("smallest gap, m", gaps.min()),
        gap_figure("largest gap, m", gaps.max()),
        Figure("speed after 2 s, m/s", fastest(simulation, scene), 0.0, CALM),
    ]


def slope(friction: float, size: int, length: float, on_cloth: bool) -> Scene:
    """A sheet in contact from the start with a plane inclined by 30 degrees about the y axis."""
    cotton = fabric(friction=friction)

    def inclined(mesh: Mesh, height: float) -> Mesh:
        return moved(mesh, (0, 0, height))[0] @ rotation((0, 1, 0), ANGLE).T, mesh[1]

    upper = Body("upper", *inclined(turned(grid(size, 0.3), UP, ASKEW), GAP), cotton)
    middle = (0.5 * length - 0.4, 0.0, 0.0)  # the sheet starts near the upper end
    if not on_cloth:
        ground = inclined(moved(plate(length), middle), 0.0)
        return Scene([upper], [Obstacle("plane", *ground, friction=friction)])
    rows = round(length / 0.1)
    pinned = inclined(moved(strip(rows, 8, length, 0.8), middle), 0.0)
    lower = Body("lower", *pinned, cotton, pins=np.arange(len(pinned[0])))
    return Scene([upper, lower], [])


def down_the_slope(values: np.ndarray) -> float:
    """Mean component of vectors down the plane."""
    return float((values @ rotation((0, 1, 0), ANGLE)[:, 0]).mean())


def accelerations(
    friction: float, size: int, on_cloth: bool, **settings: object
) -> tuple[float, float]:
    """Of a sliding sheet, in m/s²: from rest to .25 s, and from there to .75 s."""
    scene = slope(friction, size, 3.0, on_cloth)
    simulation = scene.simulation(air_density=0.0, **settings)
    speeds = []
    for frame in range(1, 19):
        simulation.advance(FRAME)
        if frame in (6, 18):
            speeds.append(down_the_slope(simulation.velocities()))
    return speeds[0] / (6 * FRAME), (speeds[1] - speeds[0]) / (12 * FRAME)


def creep(friction: float, size: int, seconds: float, on_cloth: bool, **settings: object) -> float:
    """How far any vertex of a sheet gets along the plane within a time, in m."""
    scene = slope(friction, size, 1.5, on_cloth)
    simulation = after(scene, seconds, air_density=0.0, **settings)
    displacement = (simulation.positions() - scene.cloths[0].positions) @ rotation((0, 1, 0), ANGLE)
    return float(np.linalg.norm(displacement[:, :2], axis=1).max())


def friction_figures(quick: bool, on_cloth: bool, **settings: object) -> list[Figure]:
    size, seconds = (10, 2.0) if quick else (24, 10.0)
    figures = []
    for friction in (0.2, 0.4):
        exact = GRAVITY * (np.sin(ANGLE) - friction * np.cos(ANGLE))
        start, value = accelerations(friction, size, on_cloth, **settings)
        figures += [
            Figure(f"acceleration from rest at {friction}, m/s²", start, 0.9 * exact, 1.1 * exact),
            Figure(f"acceleration at {friction}, m/s²", value, 0.98 * exact, 1.02 * exact),
        ]
    # The tangent of 30 degrees is .577.
    for friction in (0.6, 0.9):
        value = creep(friction, size, seconds, on_cloth, **settings)
        figures.append(
            Figure(f"displacement in {seconds:.0f} s at {friction}, m", value, 0.0, STICKS)
        )
    value = creep(0.55, size, 1.0, on_cloth, **settings)
    exact = 0.5 * GRAVITY * (np.sin(ANGLE) - 0.55 * np.cos(ANGLE))
    figures.append(Figure("displacement in 1 s at 0.55, m", value, 0.5 * exact, 1.5 * exact))
    return figures


@measure
def friction_on_a_solid(quick: bool) -> list[Figure]:
    """Sticks or slides on an inclined plane as Coulomb's law has it."""
    return friction_figures(quick, on_cloth=False)


@measure
def friction_on_cloth(quick: bool) -> list[Figure]:
    """Sticks or slides on a pinned sheet as Coulomb's law has it."""
    return friction_figures(quick, on_cloth=True)


@measure
def friction_solved_closely(quick: bool) -> list[Figure]:
    """Friction of a sheet on a solid, with a tolerance far below errors that count."""
    return friction_figures(quick, on_cloth=False, tolerance=1e-4)


@measure
def mean_of_two_frictions(quick: bool) -> list[Figure]:
    """The friction of a pair is the geometric mean of both."""
    scene = slope(0.4, 10, 3.0, on_cloth=False)
    scene.cloths[0].material = fabric(friction=0.8)
    scene.obstacles[0].friction = 0.2
    simulation = scene.simulation(air_density=0.0)
    for _ in range(12):
        simulation.advance(FRAME)
    exact = GRAVITY * (np.sin(ANGLE) - 0.4 * np.cos(ANGLE)) * 12 * FRAME
    speed = down_the_slope(simulation.velocities())
    return [Figure("speed after .5 s, m/s", speed, 0.98 * exact, 1.02 * exact)]


def silhouette(positions: np.ndarray, triangles: np.ndarray, pixel: float) -> float:
    """Area that a surface covers seen from above, in m²."""
    corners = positions[triangles][:, :, :2]
    count = int(np.ceil(np.ptp(corners, axis=1).max() / pixel)) + 1
    i, j = np.meshgrid(np.arange(count + 1), np.arange(count + 1))
    weights = np.stack([i, j, count - i - j], axis=-1)[i + j <= count] / count
    points = np.einsum("pc,tcx->tpx", weights, corners).reshape(-1, 2)
    covered = np.unique(np.floor(points / pixel).astype(np.int64), axis=0)
    return len(covered) * pixel**2


def drape_shape(size: int, frame_rate: float, seconds: float) -> tuple[float, float]:
    """Lowest point, in m, and silhouette area, in m², of a sheet that has come down on a ball."""
    # In the middle, or it would slide off slowly, sooner or later.
    positions, triangles = moved(grid(size, 0.8), (0, 0, 0.01))
    scene = Scene(
        [Body("sheet", positions, triangles, fabric())],
        [Obstacle("ball", *moved(ball(0.25, 4), (0, 0, -0.25)), friction=0.5)],
    )
    simulation = scene.simulation()
    for _ in range(round(seconds * frame_rate)):
        simulation.advance(1.0 / frame_rate)
    found = simulation.positions()
    return float(found[:, 2].min()), silhouette(found, triangles, 0.0025)


def same_shape(name: str, one: tuple[float, float], other: tuple[float, float]) -> list[Figure]:
    ratios = zip(("lowest point", "silhouette"), one, other, strict=True)
    return [Figure(f"{what}, {name}", b / a, 1.0 - SAME, 1.0 + SAME) for what, a, b in ratios]


@measure
def resolution_and_frame_rate(quick: bool) -> list[Figure]:
    """A drape with four times the vertices, and with more frames a second."""
    size, seconds = (20, 3.0) if quick else (50, 3.0)
    usual = drape_shape(size, 24.0, seconds)
    finer = drape_shape(2 * size, 24.0, seconds)
    return [
        *same_shape(f"{(2 * size) ** 2} to {size**2} vertices", usual, finer),
        *same_shape("60 to 24 frames a second", usual, drape_shape(size, 60.0, seconds)),
    ]


def trembling(size: int, drop: float) -> float:
    """Difference of displacements per frame in a fifth second on a ball, root mean square, in m."""
    sheet = Body("sheet", *moved(grid(size, 1.0), (0, 0, 0.3 + drop)), fabric())
    simulation = Scene([sheet], [Obstacle("ball", *ball(0.3, 3))]).simulation()
    frames = []
    for _ in range(120):
        simulation.advance(FRAME)
        frames.append(simulation.positions())
    changes = np.diff(frames[-25:], 2, axis=0)
    return float(np.sqrt((changes**2).sum(axis=2).mean()))


@measure
def drape_at_rest(quick: bool) -> list[Figure]:
    """Folds that hang from a ball come to rest, and do not tremble by unsolved residuals."""
    size = 24 if quick else 50
    mean = np.mean([trembling(size, 0.2 + 1e-4 * start) for start in range(4)])
    return [Figure("difference of displacements from frame to frame, m", mean, 0.0, TREMBLES)]


def crumpling(size: int) -> Scene:
    """A folded sheet that falls over the edge of a box: contact with itself and with a solid."""
    flat, triangles = grid(size, 0.8)
    angle = np.linspace(-2.6, 2.6, size).repeat(size)
    radius = 0.8 / 5.2
    curled = np.stack(
        [radius * np.sin(angle), flat[:, 1], radius * (1.0 - np.cos(angle)) + 0.02], axis=1
    )
    sheet = Body("sheet", curled, triangles, fabric("silk"), rest_positions=flat)
    edge = turned(box((0.3, 1.2, 0.3)), (0, 1, 0), 0.3)
    return Scene([sheet], [Obstacle("box", *moved(edge, (0.05, 0, -0.2)))])


def bits(scene: Scene, seconds: float, **settings: object) -> bytes:
    simulation = after(scene, seconds, **settings)
    cloths = range(len(scene.cloths))
    return b"".join(
        simulation.positions(index).tobytes() + simulation.velocities(index).tobytes()
        for index in cloths
    )


def equal(name: str, one: bytes, other: bytes) -> Figure:
    """How many of the numbers differ: none may."""
    different = np.frombuffer(one, np.uint64) != np.frombuffer(other, np.uint64)
    return Figure(f"numbers that differ, {name}", float(np.count_nonzero(different)), 0.0, 0.0)


@measure
def threads(quick: bool) -> list[Figure]:
    """Equal bits with 1, 2 and 8 threads, and on every run."""
    # Large enough that the work is divided at all.
    size, seconds = (32, 0.5) if quick else (50, 1.0)
    one = bits(crumpling(size), seconds, threads=1)
    counts = {f"{count} threads to one": count for count in (2, 8)} | {"run to run": 1}
    return [
        equal(name, one, bits(crumpling(size), seconds, threads=count))
        for name, count in counts.items()
    ]


@measure
def distant_collider(quick: bool) -> list[Figure]:
    """A collider 100 m away changes nothing, wherever it is in the list."""
    size, seconds = (16, 0.75) if quick else (40, 2.0)
    alone = bits(crumpling(size), seconds)
    far = Obstacle("far", *moved(ball(1.0), (100.0, 0.0, 0.0)))
    figures = []
    for name, place in (("last", 1), ("first", 0)):
        scene = crumpling(size)
        scene.obstacles.insert(place, far)
        figures.append(equal(f"a far collider comes {name}", alone, bits(scene, seconds)))
    return figures


@measure
def checkpoint_in_contact(quick: bool) -> list[Figure]:
    """Going on from a checkpoint gives the same bits, also in contact of cloth with itself."""
    scene = crumpling(16 if quick else 40)
    simulation = after(scene, 0.5)
    kept = simulation.state()
    ends = []
    for runner in (simulation, scene.simulation()):
        runner.restore(kept)
        for _ in range(6):
            runner.advance(FRAME)
        ends.append(runner.positions().tobytes())
    return [equal("restored to carried on", *ends)]


@measure
def without_self_collision(quick: bool) -> list[Figure]:
    """With `self_collision` off cloth passes through cloth, and faster than with it on."""
    cloth = fabric()
    cloths = [
        Body(name, *moved(grid(10, 0.3), (0, 0, height)), cloth)
        for name, height in (("lower", 0.01), ("upper", 0.1))
    ]
    cloths[0].pins = np.arange(100)
    scene = Scene(cloths, [])
    simulation = after(scene, 1.0, self_collision=False)
    return [
        Figure(
            "height of a sheet that fell through, m", simulation.positions(1)[:, 2].max(), -9.0, 0.0
        )
    ]
