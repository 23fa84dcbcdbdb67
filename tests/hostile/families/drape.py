# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sheets that fall on resting colliders."""

import numpy as np
from judge.orders import stays_above, stays_out_of
from meshes import (
    Mesh,
    ball,
    blob,
    box,
    cone,
    cylinder,
    grid,
    joined,
    lowered,
    moved,
    plate,
    rolled,
    rotation,
    strip,
    swept,
    torus,
    tube,
    turned,
    vector,
    wedge,
)

from scene import Body, Obstacle, Scene, fabric, scene

UP = (0.0, 0.0, 1.0)
# No symmetry of the sheet is one of what it falls on.
ASKEW = 0.35  # rad
SHIFT = (0.0131, 0.0173)  # m


def fallen(
    size: int,
    obstacles: list[Mesh],
    *,
    height: float,
    material: str = "cotton",
    length: float = 1.0,
    friction: float = 0.3,
    thickness: float = 0.001,
    ground: float | None = None,
    cloth_fields: dict[str, float] | None = None,
) -> Scene:
    """A level square sheet above obstacles whose highest point is at z = 0, and over a floor."""
    positions, triangles = moved(turned(grid(size, length), UP, ASKEW), (*SHIFT, height))
    sheet = Body("sheet", positions, triangles, fabric(material, **(cloth_fields or {})))
    named = [
        Obstacle(f"obstacle {index}", *mesh, friction=friction, thickness=thickness)
        for index, mesh in enumerate(obstacles)
    ]
    if ground is not None:
        named.append(floor(ground, 6.0 * max(1.0, length)))
    return Scene([sheet], named)


def floor(height: float, size: float = 6.0) -> Obstacle:
    """Two large triangles that nothing gets below."""
    return Obstacle("floor", *moved(plate(size), (0.0, 0.0, height)), is_floor=True)


@scene(quick=(16, 1.0), soak=(45, 3.0))
def sheet_on_ball(size: int, seconds: float) -> Scene:
    return fallen(size, [moved(ball(0.3), (0, 0, -0.3))], height=0.05)


@scene(quick=(16, 1.0), soak=(45, 3.0))
def sheet_on_box_edge(size: int, seconds: float) -> Scene:
    edge_up = turned(box((0.5, 0.5, 0.5)), (0, 1, 0), 0.25 * np.pi)
    return fallen(size, [lowered(edge_up)], height=0.05)


@scene(quick=(16, 1.0), soak=(45, 3.0))
def sheet_on_box_corner(size: int, seconds: float) -> Scene:
    """A cube that stands on its corner."""
    cube = turned(box((0.4, 0.4, 0.4)), (1, -1, 0), np.arccos(1 / np.sqrt(3)))
    return fallen(size, [lowered(cube)], height=0.04)


@scene(quick=(16, 1.0), soak=(40, 2.5))
def sheet_on_needle(size: int, seconds: float) -> Scene:
    return fallen(size, [cone(8, 0.01, 0.6)], ground=-0.59, height=0.02)


@scene(quick=(16, 1.0), soak=(40, 2.0))
def sheet_on_needles(size: int, seconds: float) -> Scene:
    places = [(x, y, 0.0) for x in (-0.27, 0.0, 0.27) for y in (-0.27, 0.0, 0.27)]
    needles = joined(*[moved(cone(5, 0.012, 0.35), place) for place in places])
    scene = fallen(size, [needles], ground=-0.34, height=0.02)
    scene.orders = [stays_above(0.0)]
    return scene


@scene(quick=(16, 1.0), soak=(40, 2.5))
def sheet_on_knife(size: int, seconds: float) -> Scene:
    scene = fallen(size, [wedge(1.5, 0.01, 0.4)], ground=-0.39, height=0.03)
    scene.orders = [stays_above(0.0)]
    return scene


@scene(quick=(16, 1.0), soak=(45, 2.5))
def sheet_in_torus(size: int, seconds: float) -> Scene:
    scene = fallen(size, [moved(torus(0.3, 0.06), (0, 0, -0.06))], ground=-0.5, height=0.03)
    scene.orders = [stays_above(0.0)]
    return scene


@scene(quick=(18, 1.0), soak=(50, 3.0))
def sheet_on_blob(size: int, seconds: float) -> Scene:
    """A bumpy closed body with hollows."""
    return fallen(size, [lowered(blob(0.3))], height=0.03)


@scene(quick=(18, 1.0), soak=(50, 2.5))
def sheet_on_table(size: int, seconds: float) -> Scene:
    """Sharp corners and only four large faces: a top and an underside, both open."""
    top = plate(0.7)
    underside = moved((top[0], top[1][:, ::-1]), (0, 0, -0.03))
    scene = fallen(size, [joined(top, underside)], ground=-0.75, height=0.04, length=1.1)
    scene.orders = [stays_above(0.0)]
    return scene


@scene(quick=(10, 1.0), soak=(16, 2.0))
def tip_between_vertices(size: int, seconds: float) -> Scene:
    """The tip of a steep pyramid under the middle of a triangle, in a coarse sheet."""
    positions, triangles = grid(size)
    middle = positions[triangles[len(triangles) // 2 - size // 2]].mean(axis=0)
    sheet = Body("sheet", positions + vector(0, 0, 0.04) - middle, triangles, fabric())
    return Scene([sheet], [Obstacle("pyramid", *cone(4, 0.15, 0.5))])


@scene(quick=(12, 1.0), soak=(24, 2.0))
def rim_between_vertices(size: int, seconds: float) -> Scene:
    """A thin open fin whose upper edge no vertex of the sheet is above."""
    positions, triangles = grid(size)
    spacing = 1.0 / (size - 1)
    fin = turned(strip(2, 2, 1.5, 0.4), (1, 0, 0), 0.5 * np.pi)
    # Halfway between two rows.
    y = (0.0 if size % 2 == 0 else 0.5 * spacing) + 0.11 * spacing
    sheet = Body("sheet", positions + vector(0, 0, 0.03), triangles, fabric())
    scene = Scene([sheet], [Obstacle("fin", *moved(fin, (0, y, -0.2))), floor(-0.4)])
    scene.orders = [stays_above(0.0)]
    return scene


@scene(quick=(2, 1.0), soak=(2, 2.0))
def two_triangles_on_fine_ball(size: int, seconds: float) -> Scene:
    return fallen(2, [moved(ball(0.3, 4), (0, 0, -0.3))], ground=-0.6, height=0.05)


@scene(quick=(20, 1.0), soak=(50, 2.0))
def fine_sheet_on_two_triangles(size: int, seconds: float) -> Scene:
    scene = fallen(size, [plate(0.5)], height=0.03)
    scene.orders = [stays_above(0.0)]
    return scene


@scene(quick=(16, 1.0), soak=(45, 2.0))
def sheet_on_single_triangles(size: int, seconds: float) -> Scene:
    """Open colliders of one triangle each, some upright, none with an inside."""
    generator = np.random.default_rng(7)
    corners = generator.uniform(-0.25, 0.25, size=(6, 3, 3))
    middles = np.array([(x, y, 0.0) for x in (-0.3, 0.0, 0.3) for y in (-0.2, 0.2)])
    corners += middles[:, None]
    corners[:, :, 2] -= corners[:, :, 2].max()
    singles = [(each, np.array([(0, 1, 2)])) for each in corners]
    scene = fallen(size, [*singles], ground=-0.6, height=0.03)
    # It may slide off the highest tips, but not through all of them.
    scene.orders = [stays_above(min(float(each[:, 2].max()) for each in corners))]
    return scene


@scene(quick=(16, 1.0), soak=(40, 2.0))
def degenerate_triangles(size: int, seconds: float) -> Scene:
    """A box with triangles that have shrunk to lines and to points among its own."""
    positions, triangles = box((0.5, 0.5, 0.5))
    more = np.array([positions[7], positions[7], 0.5 * (positions[6] + positions[7]), (0, 0, 0.25)])
    first = len(positions)
    shrunk = [
        (7, first, first + 1),  # a point
        (6, first + 2, 7),  # a line along an edge
        (first + 3, first + 3, 5),  # one vertex twice
        (4, first + 3, 7),  # a line across the top, or nearly
        (first, first, first),
    ]
    box_and_more = np.concatenate([positions, more]), np.concatenate([triangles, shrunk])
    scene = fallen(size, [moved(box_and_more, (0, 0, -0.25))], ground=-0.5, height=0.03)
    scene.orders = [stays_out_of(*moved((positions, triangles), (0, 0, -0.25)))]
    return scene


@scene(quick=(16, 1.0), soak=(45, 2.0))
def collider_that_crosses_itself(size: int, seconds: float) -> Scene:
    """Three bars through each other as one mesh, and a ball through their middle."""
    bars = [box((0.8, 0.1, 0.1)), box((0.1, 0.8, 0.1)), box((0.1, 0.1, 0.6)), ball(0.15, 2)]
    return fallen(size, [moved(joined(*bars), (0, 0, -0.3))], ground=-0.6, height=0.03)


@scene(quick=(16, 1.0), soak=(45, 2.0))
def thickness_of_a_millimetre(size: int, seconds: float) -> Scene:
    """All of the gap on the cloth's side; the collider has none."""
    body = lowered(blob(0.3))
    return fallen(size, [body], ground=-0.9, height=0.05, thickness=0.0)


@scene(quick=(20, 1.0), soak=(40, 2.5))
def thickness_of_ten_centimetres(size: int, seconds: float) -> Scene:
    """A quilt: the gap is several times the spacing of its vertices."""
    quilt = {"thickness": 0.1, "density": 1.0, "bend_warp": 0.01, "bend_weft": 0.01}
    body = moved(ball(0.6), (0, 0, -0.6))
    return fallen(size, [body], ground=-1.2, height=0.2, length=2.0, cloth_fields=quilt)


@scene(quick=(16, 0.5), soak=(40, 1.0))
def scene_of_a_centimetre(size: int, seconds: float) -> Scene:
    return fallen(
        size,
        [moved(ball(0.003), (0, 0, -0.003))],
        ground=-0.006,
        height=0.0003,
        length=0.01,
        thickness=1e-5,
        cloth_fields={"thickness": 2e-5},
    )


@scene(quick=(16, 2.0), soak=(45, 5.0))
def scene_of_a_hundred_metres(size: int, seconds: float) -> Scene:
    # So strong that its own weight, on a tip, does not stretch it much.
    strong = {"stretch_warp": 3e5, "stretch_weft": 3e5, "shear": 1e5}
    body = lowered(blob(30.0))
    scene = fallen(size, [body], ground=-70.0, height=2.0, length=100.0, cloth_fields=strong)
    # In air so large a sheet would take minutes to come down.
    scene.settings = {"air_density": 0.0}
    # What falls 72 m does 38 m/s, a corner that is pulled round twice as much, and its tip somewhat
    # more, as that of a whip.
    scene.speed_limit = 100.0
    return scene


@scene(quick=(16, 1.0), soak=(45, 2.0))
def silk_on_blob(size: int, seconds: float) -> Scene:
    return fallen(size, [lowered(blob(0.3))], ground=-0.8, height=0.05, material="silk")


@scene(quick=(16, 1.0), soak=(45, 2.0))
def denim_on_box_edge(size: int, seconds: float) -> Scene:
    edge_up = turned(box((0.5, 0.5, 0.5)), (0, 1, 0), 0.25 * np.pi)
    return fallen(size, [lowered(edge_up)], ground=-0.75, height=0.05, material="denim")


@scene(quick=(16, 1.0), soak=(40, 2.0))
def leather_in_torus(size: int, seconds: float) -> Scene:
    ring = moved(torus(0.3, 0.05), (0, 0, -0.05))
    return fallen(size, [ring], ground=-0.4, height=0.03, material="leather")


@scene(quick=(16, 1.0), soak=(40, 2.0))
def jersey_on_needles(size: int, seconds: float) -> Scene:
    places = [(x, y, 0.0) for x in (-0.25, 0.25) for y in (-0.25, 0.25)]
    needles = joined(*[moved(cone(6, 0.02, 0.35), place) for place in places])
    return fallen(size, [needles], ground=-0.34, height=0.03, material="jersey")


@scene(quick=(16, 1.0), soak=(45, 2.0))
def without_friction(size: int, seconds: float) -> Scene:
    """Everything slides off a blob and into a heap on the floor."""
    body = lowered(blob(0.25))
    return fallen(size, [body], ground=-0.7, height=0.05, friction=0.0)


@scene(quick=(16, 1.0), soak=(45, 2.0))
def with_much_friction(size: int, seconds: float) -> Scene:
    body = lowered(blob(0.3))
    rough = {"friction": 3.0}
    return fallen(size, [body], ground=-0.8, height=0.05, friction=3.0, cloth_fields=rough)


@scene(quick=(16, 1.25), soak=(40, 2.5))
def sheet_falls_on_its_edge(size: int, seconds: float) -> Scene:
    """Upright, so that it folds upon itself on the floor."""
    positions, triangles = turned(turned(grid(size, 0.8), (0, 1, 0), 0.5 * np.pi), UP, 0.2)
    # Slightly bent, or it would stand.
    positions = positions + np.outer(0.05 * np.sin(4.0 * positions[:, 2]), (1, 0, 0))
    sheet = Body("sheet", positions + vector(0, 0, 0.42), triangles, fabric())
    return Scene([sheet], [floor(0.0)])


@scene(quick=(4, 1.0), soak=(9, 2.5))
def ribbon_coils(size: int, seconds: float) -> Scene:
    """A long upright ribbon that falls on the floor and lays itself in bends; `size` across."""
    rows = 16 * size
    z = np.linspace(0.01, 1.4, rows)
    path = np.stack([0.02 * np.sin(5.0 * z), 0.01 * np.cos(7.0 * z), z], axis=1)
    ribbon = swept(path, np.broadcast_to((0.0, 1.0, 0.0), path.shape), 0.06, size)
    return Scene([Body("ribbon", *ribbon, fabric("silk"))], [floor(0.0)])


@scene(quick=(18, 1.25), soak=(45, 2.5))
def sheet_in_funnel(size: int, seconds: float) -> Scene:
    """Falls into an open cone that is too narrow for it, and crumples."""
    positions, triangles = tube(24, 7, 1.0, 1.0)
    wide = 0.06 + 0.5 * (positions[:, 2:] + 0.5)
    funnel = np.concatenate([positions[:, :2] * wide, 0.6 * positions[:, 2:] - 0.3], axis=1)
    return fallen(size, [(funnel, triangles)], height=0.02)


@scene(quick=(16, 1.25), soak=(45, 2.5))
def sheet_on_stairs(size: int, seconds: float) -> Scene:
    """Edges that stand out and edges that go in."""
    path = np.array([(0.12 * (i // 2), 0.0, -0.1 * ((i + 1) // 2)) for i in range(13)])
    path[:, 0] -= 0.35
    across = np.broadcast_to((0.0, 1.0, 0.0), path.shape)
    positions, triangles = swept(path, across, 1.6, 2)
    return fallen(size, [(positions, triangles)], ground=-1.0, height=0.05)


@scene(quick=(16, 1.0), soak=(40, 2.0))
def sheet_on_thin_bars(size: int, seconds: float) -> Scene:
    """A grate of bars thinner than the spacing of the vertices."""
    bar = turned(cylinder(6, 2, 0.006, 1.4), (0, 1, 0), 0.5 * np.pi)
    bars = [moved(bar, (0, y, -0.006)) for y in np.linspace(-0.4, 0.4, 5)]
    scene = fallen(size, [joined(*bars)], ground=-0.3, height=0.03)
    scene.orders = [stays_above(0.0)]
    return scene


@scene(quick=(20, 1.0), soak=(80, 2.0))
def random_soup(size: int, seconds: float) -> Scene:
    """`size` loose triangles of cloth above as many of a collider; see `soup`."""
    return soup(size, size)


def soup(seed: int, count: int) -> Scene:
    """Random triangles of cloth, apart from each other, that fall on a random heap of triangles."""
    generator = np.random.default_rng(seed)
    cells = 0.3 * np.stack(np.meshgrid(*[np.arange(4)] * 2, np.arange(1, 9)), -1).reshape(-1, 3)
    chosen = cells[generator.choice(len(cells), min(count, len(cells)), replace=False)]
    # Corners stay within a cell, so that no two triangles of cloth touch.
    corners = chosen[:, None] + generator.uniform(-0.14, 0.14, size=(len(chosen), 3, 3))
    cloth = corners.reshape(-1, 3) - (0.45, 0.45, 0.0)
    heap = generator.uniform(-0.7, 0.7, size=(3 * count, 3)) * (1.0, 1.0, 0.3) - (0.0, 0.0, 0.1)
    named = [
        Obstacle("heap", heap, np.arange(3 * count).reshape(-1, 3)),
        floor(-0.5),
    ]
    triangles = np.arange(len(cloth)).reshape(-1, 3)
    return Scene([Body("soup", cloth, triangles, fabric())], named)


@scene(quick=(14, 1.0), soak=(36, 2.0))
def sheet_tumbles_down_a_slope(size: int, seconds: float) -> Scene:
    """A rolled-up sheet that bounces from peg to peg."""
    pegs = [
        moved(turned(cylinder(10, 2, 0.04, 1.2), (1, 0, 0), 0.5 * np.pi), (x, 0, z))
        for x, z in ((-0.2, -0.3), (0.15, -0.55), (-0.15, -0.8), (0.2, -1.05))
    ]
    flat, triangles = grid(size, 0.8)
    roll = rolled(flat, 0.06, 0.025) @ rotation(UP, 0.1).T
    sheet = Body("sheet", roll, triangles, fabric(), rest_positions=flat)
    return Scene([sheet], [Obstacle("pegs", *joined(*pegs)), floor(-1.3)])
