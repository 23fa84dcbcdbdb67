# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sides on which things lie, which no motion without intersection can change."""

from collections.abc import Callable

import numpy as np

from judge.box_tree import BoxTree, boxes
from judge.intersections import segments_through_triangles
from judge.knots import determinant
from judge.sides import winding_numbers
from scene import Scene, State

# How far from a knot its line is closed, in distances of its ends.
FAR = 10.0

Order = Callable[[State], str | None]


def capped(triangles: np.ndarray, border: np.ndarray, apex: int) -> np.ndarray:
    """A sheet's triangles closed by a fan from its border, in order, to another vertex.

    The fan takes part in the surface only: things that pass through it lie on the other side.
    """
    following = np.roll(border, -1)
    sides = {tuple(side) for corner in range(3) for side in np.roll(triangles, corner, 1)[:, :2]}
    if (border[0], following[0]) in sides:
        border, following = following, border
    fan = np.stack([border, following, np.full(len(border), apex)], axis=1)
    return np.concatenate([triangles, fan])


def stays_outside(
    sheet: int, triangles: np.ndarray, border: np.ndarray, apex: object, points: Callable
) -> Order:
    """No point of `points(state)` gets to the side of a pinned sheet where `apex` is."""

    def order(state: State) -> str | None:
        positions = np.concatenate([state.cloths[sheet], [apex]])
        closed = capped(triangles, border, len(positions) - 1)
        passed = np.flatnonzero(winding_numbers(points(state), positions, closed))
        if not passed.size:
            return None
        return f"{passed.size} points got through cloth {sheet}, the first is number {passed[0]}"

    return order


def stays_out_of(positions: np.ndarray, triangles: np.ndarray) -> Order:
    """No vertex of cloth gets into a closed surface that does not move."""

    def order(state: State) -> str | None:
        inside = sum(
            np.count_nonzero(winding_numbers(points, positions, triangles))
            for points in state.cloths
        )
        return f"{inside} vertices got into a closed surface" if inside else None

    return order


def stays_above(height: float, cloth: int = 0) -> Order:
    """Some vertices of a cloth are higher than the top of the body below."""

    def order(state: State) -> str | None:
        top = float(state.cloths[cloth][:, 2].max())
        return None if top > height else f"the highest point of cloth {cloth} is at {top:.4g}"

    return order


def layers_in_order(scene: Scene, first: int = 0) -> Order:
    """No vertex of a cloth has a cloth of a lower number above it."""

    def order(state: State) -> str | None:
        for upper in range(first + 1, len(scene.cloths)):
            for lower in range(first, upper):
                count = _covered(
                    state.cloths[upper], state.cloths[lower], scene.cloths[lower].triangles
                )
                if count:
                    return f"{count} vertices of cloth {upper} lie below cloth {lower}"
        return None

    return order


def _covered(points: np.ndarray, positions: np.ndarray, triangles: np.ndarray) -> int:
    """How many points have the surface above them."""
    height = positions[:, 2].max() - points[:, 2].min()
    if height <= 0.0:
        return 0
    # Leaning a little, so that rays miss edges.
    rays = np.stack([points, points + height * np.array((1.3e-4, 0.7e-4, 1.0))], axis=1)
    tree = BoxTree(*boxes(positions, triangles))
    ray, face = tree.overlaps(rays.min(axis=1), rays.max(axis=1))
    meets, _ = segments_through_triangles(rays[ray], positions[triangles[face]])
    return len(np.unique(ray[meets]))


def covers_the_top_until(time: float) -> Order:
    """Until a time in s the first cloth lies above the highest point of the first obstacle."""

    def order(state: State) -> str | None:
        obstacle = state.obstacles[0]
        top = obstacle[[np.argmax(obstacle[:, 2])]]
        points = state.cloths[0]
        # A vertex close by is enough: the cloth is far wider than the top.
        beside = (np.abs(points[:, :2] - top[:, :2]).max(axis=1) < 0.1) & (points[:, 2] > top[0, 2])
        return None if state.time > time or beside.any() else "nothing lies on the first obstacle"

    return order


def linked(loop: slice, line: slice) -> Order:
    """How often a line of the second cloth passes through a loop of the first does not change.

    Both are slices of vertices, in order; the line's ends stay away from the loop.
    """
    first: list[int] = []

    def order(state: State) -> str | None:
        ring, path = state.cloths[0][loop], state.cloths[1][line]
        middle = np.broadcast_to(ring.mean(axis=0), ring.shape)
        fan = np.stack([middle, ring, np.roll(ring, -1, axis=0)], axis=1)
        segments = np.stack([path[:-1], path[1:]], axis=1)
        which, face = (index.ravel() for index in np.indices((len(segments), len(fan))))
        _, direction = segments_through_triangles(segments[which], fan[face])
        count = int(direction.sum())
        first.append(count)
        if count == first[0]:
            return None
        return f"the line passes {count} times through the loop, at the start {first[0]} times"

    return order


def winds_round(axis: tuple[float, float], line: slice) -> Order:
    """A line, in order from its pinned end, goes round an upright pole, never through it.

    Followed from frame to frame: the angle that the line covers about the pole changes steadily.
    """
    last: list[float] = []

    def order(state: State) -> str | None:
        x, y = (state.cloths[0][line][:, :2] - axis).T
        angles = np.unwrap(np.arctan2(y, x))
        angle = float(angles[-1] - angles[0])
        jumped = bool(last) and abs(angle - last[-1]) > np.pi
        change = angle - last[-1] if last else 0.0
        last.append(angle)
        return f"the angle round the pole jumped by {change:.3g}" if jumped else None

    return order


def stays_knotted(line: slice) -> Order:
    """The line of vertices of the first cloth keeps its knot, closed far away from its ends."""
    first: list[int] = []

    def order(state: State) -> str | None:
        path = state.cloths[0][line]
        beyond = FAR * (path[-1] - path[0])
        aside = np.roll(beyond, 1)
        round_about = [
            path[-1] + beyond,
            path[-1] + beyond + aside,
            path[0] - beyond + aside,
            path[0] - beyond,
        ]
        found = determinant(np.concatenate([path, round_about]))
        first.append(found)
        if found == first[0]:
            return None
        return f"the knot's determinant is {found}, at the start {first[0]}"

    return order
