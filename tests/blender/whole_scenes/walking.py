# SPDX-License-Identifier: MIT OR Apache-2.0
"""The garments of `human_walk.blend` on their walking body, baked as an artist does it."""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bmesh
import bpy

from addon.cache.statistics import Statistics

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from penetration import evaluated_world_mesh

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "hostile"))
from judge.sides import winding_numbers

ROOT = Path(__file__).resolve().parents[3]
SCENE = Path(os.environ.get("WEFT_SHARED", ROOT.parent / "shared")) / "data/scenes/human_walk.blend"


@dataclass(frozen=True)
class Moment:
    """A frame that the scene is set to, and the seconds that it took to solve and beside that."""

    frame: int
    reading: float
    solving: float
    reports: Sequence[Any] = ()  # of its parts


def open_scene(names: list[str], frame_count: int, cuts: int = 0) -> None:
    """The scene, with garments led by the armature where they are pinned and their edges cut."""
    bpy.ops.wm.open_mainfile(filepath=str(SCENE))
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, frame_count
    for name in names:
        prepare(bpy.data.objects[name], cuts)


def prepare(garment: bpy.types.Object, cuts: int = 0) -> None:
    """Cuts the edges of a garment, and lets the armature lead it where it is pinned."""
    if cuts:
        subdivide(garment.data, cuts)
    if garment.vertex_groups.get("pin") is not None:
        garment.modifiers.clear()
        armature = garment.modifiers.new("Armature", "ARMATURE")
        armature.object, armature.vertex_group = bpy.data.objects["Armature"], "pin"


def subdivide(mesh: bpy.types.Mesh, cuts: int) -> None:
    """Cuts all edges so many times; surface and weights stay as they are."""
    shape = bmesh.new()
    shape.from_mesh(mesh)
    bmesh.ops.subdivide_edges(shape, edges=shape.edges, cuts=cuts, use_grid_fill=True)
    shape.to_mesh(mesh)
    shape.free()


@contextmanager
def noted_frames() -> Iterator[list[tuple[list[Any], float]]]:
    """The reports and the seconds of every frame that is baked meanwhile."""
    frames, add = [], Statistics.add

    def note(statistics: Statistics, reports: list[Any], seconds: float) -> None:
        frames.append((reports, seconds))
        add(statistics, reports, seconds)

    Statistics.add = note
    try:
        yield frames
    finally:
        Statistics.add = add


class Weft:
    """Garments of an open scene that Weft bakes; the result is what Blender shows of them."""

    def __init__(self, names: list[str], kind: str = "KEYS") -> None:
        self.garments = [bpy.data.objects[name] for name in names]
        self.body = bpy.data.objects["Body"]
        for garment in self.garments:
            garment.weft.role = "CLOTH"
            garment.weft.pin_group = "pin" if garment.vertex_groups.get("pin") else ""
            bpy.context.view_layer.objects.active = garment
            bpy.ops.weft.preset_apply(name="cotton")
        self.body.weft.role = "COLLIDER"
        bpy.context.scene.weft.result_kind = kind

    def cut_concave_faces(self) -> None:
        """Applies the fix of *Check Scene* for faces that may be drawn otherwise than guarded."""
        bpy.ops.weft.check_scene()
        findings = bpy.context.window_manager.weft.findings
        wanted = [place for place, one in enumerate(findings) if one.fix == "triangulate"]
        if wanted:
            bpy.ops.weft.finding_fix(index=wanted[0])
            self.cut_concave_faces()

    def moments(self) -> Iterator[Moment]:
        """Bakes, and plays all frames after the first."""
        started = time.perf_counter()
        with noted_frames() as frames:
            if bpy.ops.weft.bake() != {"FINISHED"}:
                raise RuntimeError("the bake did not finish")
        solving = sum(seconds for _, seconds in frames)
        beside = (time.perf_counter() - started - solving) / len(frames)
        first = bpy.context.scene.frame_start + 1
        for frame, (reports, seconds) in enumerate(frames, first):
            bpy.context.scene.frame_set(frame)
            yield Moment(frame, beside, seconds, reports)


def inside(garments: list[bpy.types.Object], body: bpy.types.Object) -> int:
    """Vertices of garments inside the body at the current frame."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    solid = evaluated_world_mesh(body, depsgraph)
    shapes = (evaluated_world_mesh(garment, depsgraph)[0] for garment in garments)
    return sum(int((winding_numbers(shape, *solid) > 0).sum()) for shape in shapes)
