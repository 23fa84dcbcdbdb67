# SPDX-License-Identifier: MIT OR Apache-2.0
"""The garments of `human_walk.blend` on their walking body, and who judges them."""

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import bmesh
import bpy
import numpy as np

from addon.scene import evaluation_state, participants, reader
from addon.simulation import bridge

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "hostile"))
from judge.intersections import Scenery, unique_edges
from judge.sides import winding_numbers

ROOT = Path(__file__).resolve().parents[3]
SCENE = Path(os.environ.get("WEFT_SHARED", ROOT.parent / "shared")) / "data/scenes/human_walk.blend"


@dataclass(frozen=True)
class Moment:
    """The scene at a frame, and the seconds that it took to read and to solve."""

    frame: int
    reading: float
    solving: float
    shapes: list[np.ndarray] = field(repr=False)
    body: np.ndarray = field(repr=False)
    report: Any = None


def open_scene(names: list[str], frame_count: int, cuts: int = 0) -> None:
    """The scene, with garments led by the armature where they are pinned and their edges cut."""
    bpy.ops.wm.open_mainfile(filepath=str(SCENE))
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, frame_count
    for name in names:
        garment = bpy.data.objects[name]
        if cuts:
            subdivide(garment.data, cuts)
        if garment.vertex_groups.get("pin") is not None:
            armature = garment.modifiers.new("Armature", "ARMATURE")
            armature.object, armature.vertex_group = bpy.data.objects["Armature"], "pin"


def subdivide(mesh: bpy.types.Mesh, cuts: int) -> None:
    """Cuts all edges so many times; surface and weights stay as they are."""
    shape = bmesh.new()
    shape.from_mesh(mesh)
    bmesh.ops.subdivide_edges(shape, edges=shape.edges, cuts=cuts, use_grid_fill=True)
    shape.to_mesh(mesh)
    shape.free()


def cut(cloth):
    """The cloth with its quads cut along the shorter diagonal."""
    triangles, corners, first = [], [], 0
    for face in cloth.faces:
        points = cloth.rest_positions[list(face)]
        cuts = [(0, 1, 2)]
        if len(face) == 4:
            one, other = (np.linalg.norm(points[k] - points[k + 2]) for k in range(2))
            cuts = [(0, 1, 2), (0, 2, 3)] if one <= other else [(1, 2, 3), (1, 3, 0)]
        triangles += [[face[k] for k in each] for each in cuts]
        corners += [[first + k for k in each] for each in cuts]
        first += len(face)
    triangles = np.array(triangles, np.int64)
    uv = cloth.uv
    if uv is not None and len(uv) == first:
        uv = uv[np.ravel(corners)]
    return replace(cloth, faces=triangles, triangles=triangles, uv=uv)


class Weft:
    """Garments of an open scene that Weft simulates as its add-on does.

    Their quads are cut beforehand, so that the judge knows the triangles.
    """

    def __init__(self, names: list[str]) -> None:
        for name in names:
            garment = bpy.data.objects[name]
            garment.weft.role = "CLOTH"
            garment.weft.pin_group = "pin" if garment.vertex_groups.get("pin") else ""
            bpy.context.view_layer.objects.active = garment
            bpy.ops.weft.preset_apply(name="cotton")
        bpy.data.objects["Body"].weft.role = "COLLIDER"
        scene = bpy.context.scene
        cloths, colliders = participants.participants(scene, bpy.context.view_layer)
        evaluation_state.prepare(bpy.context, cloths, colliders)
        self._reader = reader.SceneReader(bpy.context, cloths, colliders, 1)
        self._reader.cloths = [cut(cloth) for cloth in self._reader.cloths]
        self._simulation = bridge.build_simulation(scene, self._reader)
        self.cloths, self.body = self._reader.cloths, self._reader.colliders[0]

    def moments(self) -> Iterator[Moment]:
        """All frames after the first."""
        scene, simulation = bpy.context.scene, self._simulation
        for frame in range(2, scene.frame_end + 1):
            start = time.perf_counter()
            source = self._reader.read_frame(frame)
            bridge.set_targets(simulation, self.cloths, self._reader.colliders, source)
            read = time.perf_counter()
            report = simulation.advance(scene.render.fps_base / scene.render.fps)
            seconds = (read - start, time.perf_counter() - read)
            shapes = [simulation.positions(index) for index in range(len(self.cloths))]
            yield Moment(frame, *seconds, shapes, source.collider_positions[0], report)
        evaluation_state.restore()


class Judge:
    """Counts what crosses what."""

    def __init__(self, cloths, body):
        self._body, self._scenery, self._alone = body, Scenery(), Scenery()
        for cloth in cloths:
            count = len(cloth.positions)
            self._scenery.add(cloth.name, count, cloth.triangles, is_cloth=True)
        count = len(body.positions)
        self._scenery.add(body.name, count, body.triangles, is_cloth=False)
        self._alone.add(body.name, count, body.triangles, is_cloth=True)

    def _crossing_itself(self, positions):
        """Faces of the body that cross it, as sets of vertices, and all their edges."""
        faces = {frozenset(face) for face in self._body.triangles.tolist()}
        of_edge = {}
        for face in faces:
            for vertex in face:
                of_edge.setdefault(frozenset(face - {vertex}), []).append(face)
        bad = set()
        for found in self._alone.intersections(positions):
            bad |= {frozenset(found.face), *of_edge[frozenset(found.edge)]}
        edges = unique_edges(np.array([sorted(face) for face in bad]).reshape(-1, 3))
        return bad | {frozenset(edge) for edge in edges.tolist()}

    def judge(self, moment: Moment):
        """Crossings by what crosses what, and those that are excused: where the body crosses
        itself no cloth can be free of it, so its faces that do so at a frame are left out there."""
        bad, counts, excused = None, {}, 0
        for found in self._scenery.intersections(np.concatenate([*moment.shapes, moment.body])):
            body = self._body.name
            own = {found.edge_of: found.edge, found.face_of: found.face}
            if body in own:
                bad = self._crossing_itself(moment.body) if bad is None else bad
                if frozenset(own[body]) in bad:
                    excused += 1
                    continue
            names = " and ".join(sorted({found.edge_of, found.face_of}))
            counts[names] = counts.get(names, 0) + 1
        return counts, excused

    def inside(self, moment: Moment) -> int:
        """Vertices of cloth inside the body."""
        windings = (winding_numbers(s, moment.body, self._body.triangles) for s in moment.shapes)
        return sum(int((winding > 0).sum()) for winding in windings)
