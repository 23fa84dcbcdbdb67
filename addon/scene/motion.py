# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion of colliders and pins within a frame: turns that need subframes, and jumps.

The library moves them in straight lines. A body that turns by an angle a in a frame leaves its arc
by r (1 - cos(a / 2)), the sagitta, and shrinks meanwhile; in n parts of the frame by 1/n² of that.
A jump is a displacement beyond the size of the body that no frame beside it comes near to.
"""

from dataclasses import dataclass

import numpy as np

from .pins import PinInput

MAX_SAGITTA = 0.01  # of the extent of a body: a turn of 23 degrees about its middle
MAX_PARTS = 16  # of a frame
STEADY = 4.0  # ratio of displacements of neighbouring frames from which one is a jump


@dataclass(frozen=True)
class Bodies:
    """Points in m at one frame of each collider, and of the pins of each cloth."""

    colliders: list[np.ndarray]
    pins: list[np.ndarray]

    @classmethod
    def of(cls, colliders: list[np.ndarray], pins: list[PinInput]) -> "Bodies":
        return cls(colliders, [each.targets[each.weights > 0.0] for each in pins])

    @property
    def points(self) -> list[np.ndarray]:
        return [*self.colliders, *self.pins]


@dataclass(frozen=True)
class Jump:
    """Rigid motion of a cloth with what has jumped."""

    rotation: np.ndarray
    origin: np.ndarray  # m, before
    target: np.ndarray  # m, after

    def apply(self, positions: np.ndarray) -> np.ndarray:
        away = positions - self.origin
        return np.einsum("ij,kj->ki", self.rotation, away) + self.target


def parts(before: Bodies, after: Bodies) -> int:
    """Number of equal parts of a frame in which straight lines follow all bodies."""
    relative = [_relative_sagitta(*pair) for pair in _pairs(before, after)]
    largest = max(relative, default=0.0)
    return min(max(1, int(np.ceil(np.sqrt(largest / MAX_SAGITTA)))), MAX_PARTS)


def jumped(lengths: list[float], extents: list[float], beside: list[list[float]]) -> list[bool]:
    """Which bodies move farther in a frame than they are large, and than in the frames beside it.

    All lengths are in m.
    """
    found = []
    for index, (length, extent) in enumerate(zip(lengths, extents, strict=True)):
        steady = max((steps[index] for steps in beside), default=0.0)
        found.append(length > extent and length > STEADY * steady)
    return found


def displacements(before: Bodies, after: Bodies) -> list[float]:
    """Displacement of the middle of each body in m; 0 where its points differ."""
    return [_displacement(*pair) for pair in zip(before.points, after.points, strict=True)]


def cloth_jumps(
    before: Bodies, after: Bodies, has_jumped: list[bool], cloths: list[np.ndarray]
) -> list[Jump | None]:
    """Motion of each cloth with its pins that jump, or with the jumped colliders around it."""
    count = len(before.colliders)
    found = []
    for index, positions in enumerate(cloths):
        moved = [count + index] if has_jumped[count + index] else []
        moved = moved or [
            k for k in range(count) if has_jumped[k] and _overlap(before.colliders[k], positions)
        ]
        found.append(_rigid(_joined(before, moved), _joined(after, moved)) if moved else None)
    return found


def _joined(bodies: Bodies, indices: list[int]) -> np.ndarray:
    return np.concatenate([bodies.points[index] for index in indices])


def _pairs(before: Bodies, after: Bodies) -> list[tuple[np.ndarray, np.ndarray]]:
    """Bodies that have moved and are more than a point."""
    pairs = zip(before.points, after.points, strict=True)
    alike = [(one, other) for one, other in pairs if len(one) == len(other) and len(one) > 1]
    return [(one, other) for one, other in alike if not np.array_equal(one, other)]


def _relative_sagitta(before: np.ndarray, after: np.ndarray) -> float:
    """Largest loss of distance from the middle half way through a frame, over the extent."""
    around = before - before.mean(axis=0), after - after.mean(axis=0)
    radii = sum(np.linalg.norm(each, axis=1) for each in around) / 2.0
    half_way = np.linalg.norm(around[0] + around[1], axis=1) / 2.0
    size = max(extent(before), extent(after))
    return float((radii - half_way).max() / size) if size > 0.0 else 0.0


def _displacement(before: np.ndarray, after: np.ndarray) -> float:
    if len(before) != len(after) or not len(before):
        return 0.0
    return float(np.linalg.norm(after.mean(axis=0) - before.mean(axis=0)))


def extent(points: np.ndarray) -> float:
    """Diagonal of the box around points, in m."""
    return float(np.linalg.norm(np.ptp(points, axis=0))) if len(points) else 0.0


def _overlap(body: np.ndarray, cloth: np.ndarray) -> bool:
    """Whether the boxes of a body and a cloth overlap."""
    low, high = body.min(axis=0), body.max(axis=0)
    return bool(((cloth.min(axis=0) <= high) & (cloth.max(axis=0) >= low)).all())


def _rigid(before: np.ndarray, after: np.ndarray) -> Jump:
    """Rotation and translation that fit best (Kabsch 1976)."""
    origin, target = before.mean(axis=0), after.mean(axis=0)
    covariance = np.einsum("ki,kj->ij", after - target, before - origin)
    left, _values, right = np.linalg.svd(covariance)
    sign = np.sign(np.linalg.det(left) * np.linalg.det(right)) or 1.0
    rotation = np.einsum("ij,j,jk->ik", left, np.array([1.0, 1.0, sign]), right)
    return Jump(rotation, origin, target)
