# SPDX-License-Identifier: MIT OR Apache-2.0
"""What crosses what among the triangles that Blender draws at the current frame.

The meshes are those that Blender evaluates: their coordinates in single precision, their own loop
triangles at this frame. Edges and faces are tested by exact predicates without any of Weft's code.
"""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from penetration import evaluated_world_mesh

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "hostile"))
from judge.intersections import Intersection, Scenery, unique_edges


@dataclass
class Crossings:
    """Edges that pass through faces at a frame, by the names of both objects."""

    counts: Counter[str] = field(default_factory=Counter)
    excused: int = 0  # at faces of a collider that cross the collider there

    def of_itself(self, name: str) -> int:
        return self.counts[name]

    def of_others(self, name: str) -> int:
        return sum(self.counts.values()) - self.counts[name]


def crossings(
    cloths: Sequence[bpy.types.Object],
    colliders: Sequence[bpy.types.Object],
    labels: Mapping[str, np.ndarray] | None = None,
) -> Crossings:
    """Crossings of cloths with themselves, each other and colliders, as drawn now.

    Where a collider crosses itself no cloth can be free of it: such faces are excused. `labels` has
    a number for each vertex of a cloth by name: vertices of equal numbers are sewn together, and an
    edge and a face that have one in common do not count, as if they had the vertex in common.
    """
    depsgraph = bpy.context.evaluated_depsgraph_get()
    meshes = {thing.name: evaluated_world_mesh(thing, depsgraph) for thing in cloths}
    solids = {thing.name: evaluated_world_mesh(thing, depsgraph) for thing in colliders}
    scenery = Scenery()
    for name, (positions, triangles) in (meshes | solids).items():
        scenery.add(name, len(positions), triangles, is_cloth=name in meshes)
    stacked = np.concatenate([positions for positions, _ in (meshes | solids).values()])
    found, crossed = Crossings(), {}
    for one in scenery.intersections(stacked):
        if _is_sewn(one, labels or {}):
            continue
        own = {one.edge_of: one.edge, one.face_of: one.face}
        solid = next((name for name in own if name in solids), None)
        if solid is not None:
            if solid not in crossed:
                crossed[solid] = _crossing_itself(*solids[solid])
            if frozenset(own[solid]) in crossed[solid]:
                found.excused += 1
                continue
        found.counts[" and ".join(sorted({one.edge_of, one.face_of}))] += 1
    return found


def _is_sewn(one: Intersection, labels: Mapping[str, np.ndarray]) -> bool:
    """Whether an edge and a face of one cloth are sewn together at a vertex."""
    if one.edge_of != one.face_of or one.edge_of not in labels:
        return False
    own = labels[one.edge_of]
    return bool(np.isin(own[list(one.edge)], own[list(one.face)]).any())


def _crossing_itself(positions: np.ndarray, triangles: np.ndarray) -> set[frozenset[int]]:
    """Faces of a mesh that cross it, as sets of vertices, and all their edges."""
    alone = Scenery()
    alone.add("", len(positions), triangles, is_cloth=True)
    faces = {frozenset(face) for face in triangles.tolist()}
    of_edge: dict[frozenset[int], list[frozenset[int]]] = {}
    for face in faces:
        for vertex in face:
            of_edge.setdefault(frozenset(face - {vertex}), []).append(face)
    bad = set()
    for found in alone.intersections(positions):
        bad |= {frozenset(found.face), *of_edge[frozenset(found.edge)]}
    edges = unique_edges(np.array([sorted(face) for face in bad]).reshape(-1, 3))
    return bad | {frozenset(edge) for edge in edges.tolist()}


def crossings_by_frame(cloths, colliders) -> dict[int, Counter[str]]:
    """Plays all frames of the scene, and gives those that have crossings."""
    scene, crossed = bpy.context.scene, {}
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        found = crossings(cloths, colliders).counts
        if found:
            crossed[frame] = found
    return crossed
