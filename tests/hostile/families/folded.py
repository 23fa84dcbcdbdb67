# SPDX-License-Identifier: MIT OR Apache-2.0
"""Cloth that is folded flat onto itself when it begins, as flat panels and sleeves are modelled."""

import numpy as np
from meshes import Mesh, grid, moved, rim, tube

from families.copies import blurred, copies
from families.drape import floor
from scene import Body, Scene, fabric, scene

HEIGHT = 0.06  # m, over the floor


def folded(flat: Mesh, positions: np.ndarray, height: float = HEIGHT) -> Scene:
    """Cloth that is not folded when it is at rest, at a height in m over the floor."""
    raised, triangles = moved((positions, flat[1]), (0, 0, height))
    cloth = Body("cloth", raised, triangles, fabric(), rest_positions=flat[0])
    return copies([cloth], [floor(0.0)])


def mirrored(coordinates: np.ndarray, fold: float) -> np.ndarray:
    """Coordinates beyond a fold brought back over it."""
    return fold - np.abs(coordinates - fold)


def diagonally(positions: np.ndarray, fold: float) -> np.ndarray:
    """A sheet folded across its corners, at a distance in m off the middle."""
    along = positions @ (np.sqrt(0.5), np.sqrt(0.5), 0.0)
    shift = (mirrored(along, fold) - along)[:, None]
    return positions + shift * (np.sqrt(0.5), np.sqrt(0.5), 0.0)


@scene(quick=(15, 1.0), soak=(30, 3.0))
def folded_along_an_edge(size: int, seconds: float) -> Scene:
    """A sheet folded in half along a row of vertices."""
    flat = grid(2 * (size // 2) + 1, 0.5)
    positions = np.stack([mirrored(flat[0][:, 0], 0.0), *flat[0].T[1:]], axis=1)
    return folded(flat, positions)


@scene(quick=(14, 1.0), soak=(30, 3.0))
def folded_between_edges(size: int, seconds: float) -> Scene:
    """A sheet folded across faces, so that no vertex lies on another, but for the last digits."""
    flat = grid(size, 0.5)
    positions = np.stack([mirrored(flat[0][:, 0], 0.02), *flat[0].T[1:]], axis=1)
    return folded(flat, blurred(positions, 1e-8))


@scene(quick=(14, 1.0), soak=(30, 3.0))
def folded_in_the_middle_of_faces(size: int, seconds: float) -> Scene:
    """A folded sheet with faces that have no width, in the plane of the floor."""
    flat = grid(2 * (size // 2), 0.5)
    positions = np.stack([mirrored(flat[0][:, 0], 0.0), *flat[0].T[1:]], axis=1)
    return folded(flat, positions, height=0.0)


@scene(quick=(16, 1.0), soak=(30, 3.0))
def folded_diagonally(size: int, seconds: float) -> Scene:
    """A kerchief."""
    flat = grid(size, 0.5)
    return folded(flat, blurred(diagonally(flat[0], 0.007), 1e-7))


@scene(quick=(16, 1.0), soak=(24, 3.0))
def folded_to_and_fro(size: int, seconds: float) -> Scene:
    """Six layers of a sheet. Between them faces have no width, which they take back."""
    flat = grid(size, 0.5)
    x = np.abs((flat[0][:, 0] + 0.1) % 0.2 - 0.1)
    made = folded(flat, np.stack([x, *flat[0].T[1:]], axis=1))
    made.stretch_limit, made.newton_limit = 2.0, Scene.newton_limit
    # Sixteen joules are in those faces: 3.7 to 5.4 m/s at most, by chance.
    made.speed_limit = Scene.speed_limit
    return made


@scene(quick=(16, 1.0), soak=(16, 3.0))
def folded_twice(size: int, seconds: float) -> Scene:
    """A napkin. Its quarters have to lie in each other.

    With 14, 18, 21 or 23 vertices a side some cross in the first frames, and 17 opens at 7 m/s.
    """
    flat = grid(size, 0.5)
    x, y = mirrored(flat[0][:, 0], 0.0), mirrored(flat[0][:, 1], 0.013)
    made = folded(flat, np.stack([x, y, np.zeros_like(x)], axis=1))
    made.newton_limit = Scene.newton_limit
    # Faces across both folds open within a frame.
    made.stretch_limit = Scene.stretch_limit
    return made


@scene(quick=(16, 1.0), soak=(32, 3.0))
def flat_sleeve(size: int, seconds: float) -> Scene:
    """A tube that was modelled flat."""
    sleeve = tube(2 * (size // 2), size, 0.1, 0.4)
    lying = sleeve[0][:, [2, 1, 0]]
    return folded((lying, sleeve[1]), blurred(lying * (1, 1, 0), 1e-7))


def cushion(side: int, length: float) -> Mesh:
    """Two sheets in one place, sewn together at their rims but for the corners."""
    flat, triangles = grid(side, length)
    is_sewn = np.zeros(len(flat), dtype=bool)
    is_sewn[rim(side, side)] = True
    is_sewn &= np.abs(flat[:, :2]).min(axis=1) < 0.5 * length - 1.5 * length / (side - 1)
    below = np.arange(len(flat))
    below[~is_sewn] = len(flat) + np.arange(np.count_nonzero(~is_sewn))
    return np.concatenate([flat, flat[~is_sewn]]), np.concatenate(
        [triangles, below[triangles][:, ::-1]]
    )


@scene(quick=(14, 1.0), soak=(30, 3.0))
def flat_cushion(size: int, seconds: float) -> Scene:
    """Two panels sewn together, before anything is in it."""
    positions, triangles = moved(cushion(size, 0.5), (0, 0, HEIGHT))
    return copies([Body("cushion", positions, triangles, fabric())], [floor(0.0)])
