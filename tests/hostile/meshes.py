# SPDX-License-Identifier: MIT OR Apache-2.0
"""Meshes in code: positions in m and triangles, closed ones wound outwards."""

import numpy as np

Mesh = tuple[np.ndarray, np.ndarray]


def vector(*components: float) -> np.ndarray:
    """A vector, or a point."""
    return np.array(components, dtype=float)


def moved(mesh: Mesh, offset: object) -> Mesh:
    """The mesh at another place."""
    return mesh[0] + np.asarray(offset, dtype=float), mesh[1]


def lowered(mesh: Mesh, top: float = 0.0) -> Mesh:
    """The mesh moved up or down so that its highest point is at a height."""
    return moved(mesh, (0.0, 0.0, top - mesh[0][:, 2].max()))


def rotation(axis: object, angle: float) -> np.ndarray:
    """Matrix that turns by an angle in radians about an axis (Rodrigues)."""
    x, y, z = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    cross = np.array([(0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)])
    return np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross


def turned(mesh: Mesh, axis: object, angle: float) -> Mesh:
    """The mesh turned about the origin."""
    return mesh[0] @ rotation(axis, angle).T, mesh[1]


def joined(*meshes: Mesh) -> Mesh:
    """Several meshes as one."""
    counts = np.cumsum([0] + [len(positions) for positions, _ in meshes])
    triangles = [part[1] + first for part, first in zip(meshes, counts, strict=False)]
    return np.concatenate([part[0] for part in meshes]), np.concatenate(triangles)


def _halved(quads: np.ndarray) -> np.ndarray:
    return np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def _lattice(rows: int, columns: int, *, wrap_rows: bool, wrap_columns: bool) -> np.ndarray:
    """Triangles over a lattice of vertices, diagonals alternating."""
    vertex = np.arange(rows * columns).reshape(rows, columns)
    if wrap_rows:
        vertex = np.concatenate([vertex, vertex[:1]])
    if wrap_columns:
        vertex = np.concatenate([vertex, vertex[:, :1]], axis=1)
    corners = [vertex[:-1, :-1], vertex[1:, :-1], vertex[1:, 1:], vertex[:-1, 1:]]
    quads = np.stack(corners, axis=-1)
    i, j = np.indices(quads.shape[:2])
    odd = (i + j) % 2 == 1
    quads[odd] = np.roll(quads[odd], 1, axis=1)
    return _halved(quads.reshape(-1, 4))


def strip(rows: int, columns: int, length: float, width: float) -> Mesh:
    """A level rectangle about the origin, its length along x."""
    x, y = np.meshgrid(
        np.linspace(-0.5 * length, 0.5 * length, rows),
        np.linspace(-0.5 * width, 0.5 * width, columns),
        indexing="ij",
    )
    positions = np.stack([x, y, np.zeros_like(x)], axis=-1).reshape(-1, 3)
    return positions, _lattice(rows, columns, wrap_rows=False, wrap_columns=False)


def grid(side: int, length: float = 1.0) -> Mesh:
    """A level square about the origin."""
    return strip(side, side, length, length)


def rim(rows: int, columns: int) -> np.ndarray:
    """Vertices on the boundary of a strip, in order around it."""
    vertex = np.arange(rows * columns).reshape(rows, columns)
    parts = [vertex[:-1, 0], vertex[-1, :-1], vertex[:0:-1, -1], vertex[0, :0:-1]]
    return np.concatenate(parts)


def tube(around: int, along: int, radius: float, length: float) -> Mesh:
    """An open cylinder about the z axis, centred on the origin."""
    angle = np.linspace(0.0, 2.0 * np.pi, around, endpoint=False)
    z = np.linspace(-0.5 * length, 0.5 * length, along)
    angle, z = np.meshgrid(angle, z, indexing="ij")
    positions = np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=-1)
    return positions.reshape(-1, 3), _lattice(around, along, wrap_rows=True, wrap_columns=False)


def cylinder(around: int, along: int, radius: float, length: float) -> Mesh:
    """A closed cylinder about the z axis, centred on the origin."""
    positions, triangles = tube(around, along, radius, length)
    middles = np.array([(0.0, 0.0, -0.5 * length), (0.0, 0.0, 0.5 * length)])
    first = len(positions)
    bottom = np.arange(around) * along
    following = np.roll(bottom, -1)
    fans = [
        np.stack([np.full(around, first), following, bottom], axis=1),
        np.stack([np.full(around, first + 1), bottom + along - 1, following + along - 1], axis=1),
    ]
    return np.concatenate([positions, middles]), np.concatenate([triangles, *fans])


def torus(ring: float, radius: float, around: int = 32, across: int = 14) -> Mesh:
    """A ring about the z axis."""
    u, v = np.meshgrid(
        np.linspace(0.0, 2.0 * np.pi, around, endpoint=False),
        np.linspace(0.0, 2.0 * np.pi, across, endpoint=False),
        indexing="ij",
    )
    out = ring + radius * np.cos(v)
    positions = np.stack([out * np.cos(u), out * np.sin(u), radius * np.sin(v)], axis=-1)
    triangles = _lattice(around, across, wrap_rows=True, wrap_columns=True)
    return positions.reshape(-1, 3), triangles


def ball(radius: float, halvings: int = 3) -> Mesh:
    """An icosahedron whose faces are divided and brought onto a sphere."""
    golden = 0.5 + 0.5 * np.sqrt(5.0)
    corners = [(0.0, a, b * golden) for a in (-1.0, 1.0) for b in (-1.0, 1.0)]
    positions = np.array([np.roll(c, shift) for shift in range(3) for c in corners])
    sides = np.linalg.norm(positions[:, None] - positions, axis=2) < 2.1
    triangles = np.array(
        [
            (i, j, k)
            for i in range(12)
            for j in range(i + 1, 12)
            for k in range(j + 1, 12)
            if sides[i, j] and sides[j, k] and sides[i, k]
        ]
    )
    normal = np.cross(*(positions[triangles[:, k]] - positions[triangles[:, 0]] for k in (1, 2)))
    inwards = np.einsum("ij,ij->i", normal, positions[triangles].sum(axis=1)) < 0.0
    triangles[inwards] = triangles[inwards][:, ::-1]
    for _ in range(halvings):
        positions, triangles = divided(positions, triangles)
    return radius * positions / np.linalg.norm(positions, axis=1, keepdims=True), triangles


def divided(positions: np.ndarray, triangles: np.ndarray) -> Mesh:
    """Every triangle as four."""
    sides = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=-1), axis=-1)
    unique, which = np.unique(sides.reshape(-1, 2), axis=0, return_inverse=True)
    middle = which.reshape(-1, 3) + len(positions)
    a, b, c = triangles.T
    ab, bc, ca = middle.T
    parts = [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
    positions = np.concatenate([positions, positions[unique].mean(axis=1)])
    return positions, np.concatenate([np.stack(part, axis=1) for part in parts])


def blob(radius: float, halvings: int = 3, depth: float = 0.35) -> Mesh:
    """A closed bumpy surface with hollows; its radius as a function of direction."""
    positions, triangles = ball(1.0, halvings)
    x, y, z = positions.T
    bumps = np.sin(5.0 * x + 1.0) * np.cos(4.0 * y) + np.sin(6.0 * z + 2.0 * x) * np.cos(3.0 * x)
    return radius * positions * (1.0 + 0.5 * depth * bumps[:, None]), triangles


def box(size: object) -> Mesh:
    """A box about the origin, two triangles a side."""
    signs = np.array([(x, y, z) for z in (-0.5, 0.5) for y in (-0.5, 0.5) for x in (-0.5, 0.5)])
    quads = np.array(
        [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    )
    return signs * np.asarray(size, dtype=float), _halved(quads)


def cone(sides: int, radius: float, height: float) -> Mesh:
    """A closed cone or pyramid with its tip in the origin, standing below it."""
    angle = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    base = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(sides, -height)], 1)
    positions = np.concatenate([base, [(0.0, 0.0, 0.0), (0.0, 0.0, -height)]])
    i = np.arange(sides)
    j = np.roll(i, -1)
    tip, middle = np.full(sides, sides), np.full(sides, sides + 1)
    return positions, np.concatenate([np.stack([i, j, tip], 1), np.stack([j, i, middle], 1)])


def wedge(length: float, width: float, height: float) -> Mesh:
    """A closed blade: its edge lies along x through the origin, its back below."""
    x, y = 0.5 * length, 0.5 * width
    positions = np.array(
        [
            (-x, -y, -height),
            (x, -y, -height),
            (x, y, -height),
            (-x, y, -height),
            (-x, 0, 0),
            (x, 0, 0),
        ]
    )
    sides = _halved(np.array([(0, 3, 2, 1), (0, 1, 5, 4), (2, 3, 4, 5)]))
    return positions, np.concatenate([sides, np.array([(1, 2, 5), (3, 0, 4)])])


def plate(size: float) -> Mesh:
    """An open level square about the origin: two triangles."""
    return grid(2, size)


def swept(path: np.ndarray, across: np.ndarray, width: float, columns: int) -> Mesh:
    """A ribbon: its middle line along a path `(rows, 3)`, its width along unit vectors there."""
    reach = np.linspace(-0.5 * width, 0.5 * width, columns)
    positions = path[:, None] + reach[None, :, None] * across[:, None]
    triangles = _lattice(len(path), columns, wrap_rows=False, wrap_columns=False)
    return positions.reshape(-1, 3), triangles


def rolled(positions: np.ndarray, radius: float, pitch: float) -> np.ndarray:
    """Level positions wound up about the y axis along x, without stretching them.

    `radius` is the smallest, `pitch` the distance of one turn from the next, both in m.
    """
    length = positions[:, 0] - positions[:, 0].min()
    distance = np.sqrt(radius**2 + pitch * length / np.pi)
    angle = (distance - radius) * 2.0 * np.pi / pitch
    x, z = distance * np.cos(angle), distance * np.sin(angle)
    return np.stack([x, positions[:, 1], z], axis=1)
