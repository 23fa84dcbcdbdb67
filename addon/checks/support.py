# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of what holds a cloth: pins, what is below it, and what others hold."""

from collections.abc import Iterator

import numpy as np
from bpy.types import Object
from mathutils import Vector
from mathutils.bvhtree import BVHTree
from mathutils.kdtree import KDTree

from ..blender import mesh_arrays
from ..scene.pins import PinInput
from ..scene.reader import ClothInput, ColliderInput, FrameInput, SceneReader
from .finding import INFO, WARNING, Finding, on_elements, on_object

LARGE_STRETCH = 0.5  # strain at the start that no fabric bears
RAYS = 20  # of a cloth, at most twice as many
DIRECTION = Vector((0.531, 0.293, 0.795))  # of these, along no axis
BEYOND = 1e-5  # m behind a crossing, where a ray goes on
NO_GRAVITY = 1e-6  # m/s²


def check(reader: SceneReader, cloths: list[Object]) -> Iterator[Finding]:
    """Findings about the first frame as a bake reads it."""
    for index, obj in enumerate(cloths):
        source, pins = reader.cloths[index], reader.first.pins[index]
        held = source.pinned[pins.hard]
        yield from _stretched(obj, source, held)
        yield from _pinned_seams(obj, source, held)
        if not len(source.pinned):
            yield from _falls(obj, source, reader)
        yield from _enclosed(obj, source, reader)
        for other in range(index):
            yield from _on_pins(obj, cloths[other], reader, index, other)


def edge_strains(obj: Object, rest: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Strain of each edge that belongs to a face, 0 for others."""
    ends = mesh_arrays.edges(obj.data)
    lengths = [
        np.linalg.norm(each[ends[:, 1]] - each[ends[:, 0]], axis=1) for each in (rest, points)
    ]
    strains = np.divide(lengths[1], lengths[0], out=np.ones(len(ends)), where=lengths[0] > 0) - 1.0
    strains[mesh_arrays.loose_edge_indices(obj.data)] = 0.0
    return strains


def _stretched(obj: Object, source: ClothInput, held: np.ndarray) -> Iterator[Finding]:
    strains = edge_strains(obj, source.rest_positions, source.positions)
    long = np.flatnonzero(strains > LARGE_STRETCH)
    if not len(long):
        return
    at_pins = np.isin(mesh_arrays.edges(obj.data)[long], held).any(axis=1).mean() > 0.5
    text = f"edges start stretched by up to {100.0 * strains.max():.0f} %"
    if at_pins:
        meaning = (
            "Pinned vertices start far from where the cloth at rest has them: a hook, an armature "
            "or a parent moves them alone. Bring them close at the first frame, or move the whole "
            "object there"
        )
        text += " at pins that are far from their rest"
    else:
        meaning = (
            "Shape keys or modifiers stretch the cloth at the first frame more than a fabric "
            "bears. Choose the rest shape in the Shape panel, or start with less"
        )
    yield on_elements(WARNING, obj, text, meaning, domain="EDGE", indices=long)


def _pinned_seams(obj: Object, source: ClothInput, held: np.ndarray) -> Iterator[Finding]:
    """Sewing edges that cannot close, because both ends are held apart."""
    if source.sewing is None or not len(held):
        return
    ends = source.positions[source.sewing]
    open_ends = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) > 2.0 * obj.weft.material.thickness
    stuck = np.isin(source.sewing, held).all(axis=1) & open_ends
    if stuck.any():
        meaning = "Both ends are pinned apart, so no force draws them together. Unpin one of them"
        indices = mesh_arrays.loose_edge_indices(obj.data)[stuck]
        text = "seams cannot close: both ends are pinned"
        yield on_elements(WARNING, obj, text, meaning, domain="EDGE", indices=indices)


def pinned_edges(source: ClothInput, pins: PinInput) -> np.ndarray:
    """Edges of faces with both ends held, as places in the list of pinned vertices."""
    place = np.full(len(source.positions), -1)
    place[source.pinned[pins.hard]] = np.flatnonzero(pins.hard)
    sides = np.concatenate([source.triangles[:, [k, (k + 1) % 3]] for k in range(3)])
    ends = place[sides]
    return ends[(ends >= 0).all(axis=1)]


def drawn_apart(source: ClothInput, pins: PinInput) -> np.ndarray:
    """Vertices of edges between held ones that a frame draws to more than a fabric bears."""
    ends = pinned_edges(source, pins)
    rest, now = source.rest_positions[source.pinned], pins.targets
    lengths = [np.linalg.norm(each[ends[:, 1]] - each[ends[:, 0]], axis=1) for each in (rest, now)]
    return source.pinned[np.unique(ends[lengths[1] > (1.0 + LARGE_STRETCH) * lengths[0]])]


def _falls(obj: Object, source: ClothInput, reader: SceneReader) -> Iterator[Finding]:
    """A cloth that is not pinned, with nothing in the way of its fall."""
    gravity = np.array(reader.first.gravity)
    strength = np.linalg.norm(gravity)
    if strength < NO_GRAVITY:
        return
    down = gravity / strength
    others = [c.positions for c in reader.colliders]
    others += [c.positions for c in reader.cloths if c is not source]
    if any(_is_below(points, source.positions, down) for points in others if len(points)):
        return
    meaning = (
        "It has no pins, and no collider is below it at the first frame, so it falls without end. "
        "Give an object below it the role Collider, or choose a pin group in the Pins panel"
    )
    severity = INFO if others else WARNING
    yield on_object(severity, obj, "nothing holds it and nothing is below it", meaning)


def _is_below(points: np.ndarray, cloth: np.ndarray, down: np.ndarray) -> bool:
    """Whether a body reaches into the shadow that a cloth casts along its fall."""
    flat = np.linalg.svd(down[None])[2][1:]  # two directions across
    heights = np.einsum("ij,j->i", points, down), np.einsum("ij,j->i", cloth, down)
    if heights[0].max() < heights[1].min():
        return False
    body, shadow = (np.einsum("ij,kj->ik", each, flat) for each in (points, cloth))
    overlap = (body.min(axis=0) <= shadow.max(axis=0)) & (body.max(axis=0) >= shadow.min(axis=0))
    return bool(overlap.all())


def _enclosed(obj: Object, source: ClothInput, reader: SceneReader) -> Iterator[Finding]:
    """A cloth that is wholly inside a closed collider."""
    for collider in reader.colliders:
        if len(collider.triangles) and _is_inside(source.positions, collider):
            meaning = (
                "Cloth is kept on the side of a closed body on which it starts. If it is meant to "
                "be worn, make it larger, or the body smaller, at the first frame"
            )
            text = f"it starts wholly inside the collider '{collider.name}'"
            yield on_object(WARNING, obj, text, meaning)


def _is_inside(points: np.ndarray, collider: ColliderInput) -> bool:
    """Whether all sampled points are inside; rays cross a closed surface an odd number of times."""
    low, high = collider.positions.min(axis=0), collider.positions.max(axis=0)
    if (points < low).any() or (points > high).any() or not _is_closed(collider.triangles):
        return False
    tree = BVHTree.FromPolygons(collider.positions.tolist(), collider.triangles.tolist())
    samples = points[:: max(1, len(points) // RAYS)]
    return all(_crossings(tree, Vector(point)) % 2 == 1 for point in samples.tolist())


def _crossings(tree: BVHTree, start: Vector) -> int:
    count = 0
    while (hit := tree.ray_cast(start, DIRECTION)[0]) is not None:
        count += 1
        start = hit + BEYOND * DIRECTION
    return count


def _is_closed(triangles: np.ndarray) -> bool:
    sides = np.concatenate([triangles[:, [k, (k + 1) % 3]] for k in range(3)])
    _edges, uses = np.unique(np.sort(sides, axis=1), axis=0, return_counts=True)
    return bool((uses == 2).all())


def _on_pins(
    obj: Object, other: Object, reader: SceneReader, index: int, other_index: int
) -> Iterator[Finding]:
    """Pinned vertices that are where another cloth has pinned ones: neither can give way."""
    held, others = (_held(reader.cloths[k], reader.first, k) for k in (index, other_index))
    if not len(held) or not len(others):
        return
    gap = obj.weft.material.thickness + other.weft.material.thickness
    tree = KDTree(len(others))
    places = reader.cloths[other_index].positions[others]
    for number, point in enumerate(places.tolist()):
        tree.insert(point, number)
    tree.balance()
    points = reader.cloths[index].positions[held].tolist()
    near = [vertex for vertex, p in zip(held, points, strict=True) if tree.find(p)[2] < gap]
    if near:
        meaning = (
            "Both are held where they are, so they cannot get out of each other's way, and the "
            "cloth between is crushed. Move one of them, or let it follow another object: a "
            "duplicate keeps the hooks of its original"
        )
        text = f"pinned vertices are where '{other.name}' has pinned ones"
        yield on_elements(
            WARNING, obj, text, meaning, domain="VERT", indices=np.array(near, np.int64)
        )


def _held(source: ClothInput, first: FrameInput, index: int) -> np.ndarray:
    return source.pinned[first.pins[index].hard]
