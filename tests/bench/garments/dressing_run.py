# SPDX-License-Identifier: MIT OR Apache-2.0
"""One sewing pattern on its body with one program: imported, sewn, worn, and judged as drawn.

Weft through the operators of its add-on. Blender's own cloth by its sewing springs on the mesh that
the add-on imports, from the same height; it has no gravity while it sews.
"""

import argparse
import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import bpy
import numpy as np
from mathutils import Euler

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import own_cloth
import run

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "blender/whole_scenes"))
import walking
from drawn import crossings

import addon
from addon.blender import mesh_arrays
from addon.garment import dressing
from addon.garment.dressed import welding
from addon.scene.participants import participants
from addon.scene.reader import SceneReader
from addon.simulation import bridge

FOLDER = walking.SCENE.parents[1] / "patterns"
MOVES = {"vertices": 1.5e-3, "panels": 10.0e-3}  # m, along each axis at most
TURN = math.radians(2.0)  # of a panel, about each axis at most
SEWING_FORCE = 5.0  # largest of Blender's own cloth
SEWING, SETTLING = 84, 12  # frames of Blender's own cloth
SHOULDER = (0.11, 0.17)  # m beside the middle, outside of the neck and of a hood
UPPER, LOWER = ("ftorso", "btorso"), ("skirt", "pant")  # in names of panels, that end at the waist


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("program", choices=("blender", "weft"))
    parser.add_argument("pattern", help="name of a file of shared/data/patterns")
    parser.add_argument("--edge-length", type=float, default=0.02, help="in m")
    parser.add_argument("--seed", type=int, default=1, help="of the start; 1 as in the file")
    parser.add_argument(
        "--moved", choices=MOVES, default="vertices", help="what the seed displaces"
    )
    parser.add_argument("--frames", type=int, default=48, help="after the dressing")
    parser.add_argument("--save", default="", help="a .blend file for what came out")
    return parser.parse_args()


# --- the scene --------------------------------------------------------------------------------


def open_scene(wanted: argparse.Namespace) -> tuple[bpy.types.Object, bpy.types.Object]:
    """The garment as its file places it, displaced by the seed, and the body."""
    bpy.ops.wm.obj_import(filepath=str(FOLDER / "mean_all.obj"))
    body = bpy.context.object
    body.name, body.weft.role = "Body", "COLLIDER"
    path = FOLDER / f"{wanted.pattern}_specification.json"
    bpy.ops.weft.pattern_import(filepath=str(path), edge_length=wanted.edge_length)
    garment = bpy.context.object
    if wanted.seed != 1:
        move(garment, displaced(garment, np.random.default_rng(wanted.seed), wanted.moved))
    return garment, body


def displaced(garment: bpy.types.Object, generator: np.random.Generator, moved: str) -> np.ndarray:
    """Vertices displaced one by one, or panels moved and turned as they are."""
    points, most = mesh_arrays.coordinates(garment.data).astype(float), MOVES[moved]
    if moved == "vertices":
        return points + generator.uniform(-most, most, points.shape)
    for panel in garment.weft.garment.panels:
        own = mesh_arrays.grouped_vertices(garment, panel.name)
        centre = points[own].mean(axis=0)
        turn = np.array(Euler(generator.uniform(-TURN, TURN, 3)).to_matrix())
        points[own] = (points[own] - centre) @ turn.T + centre + generator.uniform(-most, most, 3)
    return points


def move(garment: bpy.types.Object, points: np.ndarray) -> None:
    """Places the vertices of a mesh."""
    garment.data.vertices.foreach_set("co", points.astype(np.float32).ravel())
    garment.data.update()


# --- the judge --------------------------------------------------------------------------------


class Judge:
    """Figures of a garment at the current frame, as Blender draws it."""

    def __init__(self, garment: bpy.types.Object, body: bpy.types.Object) -> None:
        mesh = garment.data
        self.garment, self.body = garment, body
        self.pairs = mesh_arrays.loose_edges(mesh)
        self.labels = {garment.name: welding.labels(self.pairs, len(mesh.vertices))}
        mesh.calc_loop_triangles()
        loops = np.array([triangle.loops[:] for triangle in mesh.loop_triangles])
        self.triangles = mesh_arrays.corner_vertices(mesh)[loops]
        self.flat = mesh_arrays.active_uv(mesh).astype(float)[loops]
        self.upper, self.lower = (self._vertices(words) for words in (UPPER, LOWER))

    def _vertices(self, words: tuple[str, ...]) -> np.ndarray:
        """Those of all panels with one of these words in their names."""
        groups = self.garment.vertex_groups
        names = [group.name for group in groups if any(word in group.name for word in words)]
        found = [mesh_arrays.grouped_vertices(self.garment, name) for name in names]
        return np.concatenate(found) if found else np.zeros(0, np.int64)

    def row(self, seconds: float) -> dict:
        """Crossings, seams, stretch and place now, with the seconds that it took."""
        points, found = own_cloth.positions_of(self.garment), self._crossings()
        gaps = np.linalg.norm(points[self.pairs[:, 0]] - points[self.pairs[:, 1]], axis=1)
        stretches = self._stretches(points)
        return {
            "seconds": seconds,
            "itself": found.of_itself(self.garment.name),
            "body": found.of_others(self.garment.name),
            "gap": float(gaps.max(initial=0.0)),
            "median": float(np.median(stretches)),
            "p99": float(np.percentile(stretches, 99.0)),
            **self._place(points),
        }

    def _crossings(self):
        return crossings([self.garment], [self.body], self.labels)

    def _stretches(self, points: np.ndarray) -> np.ndarray:
        """Largest principal stretch of each triangle against its panel."""
        shapes = (self.flat, points[self.triangles])
        sides = [np.stack([s[:, k] - s[:, 0] for k in (1, 2)], axis=2) for s in shapes]
        gradients = sides[1] @ np.linalg.inv(sides[0])
        return np.linalg.svd(gradients, compute_uv=False)[:, 0] - 1.0

    def _place(self, points: np.ndarray) -> dict:
        """Heights in m: ends, waist of lower panels, and over the shoulders of the body."""
        body = own_cloth.positions_of(self.body)
        upper, lower = points[self.upper], points[self.lower]
        return {
            "lowest": float(points[:, 2].min()),
            "highest": float(points[:, 2].max()),
            "waist": float(lower[:, 2].max(initial=-np.inf)),
            "shoulders": [shoulder(upper, k) - shoulder(body, k) for k in (-1, 1)],
            "head": float(body[:, 2].max()),
        }


def shoulder(points: np.ndarray, side: int) -> float:
    """Height of the highest of points on one shoulder, in m; -inf without one."""
    beside = side * points[:, 0]
    found = points[(beside > SHOULDER[0]) & (beside < SHOULDER[1]), 2]
    return float(found.max(initial=-np.inf))


# --- both programs ----------------------------------------------------------------------------


@dataclass
class Weld:
    """When the seams were welded, by the clock, and the widest gap that was left then, in m."""

    moment: float = np.nan
    gap: float = np.nan


@contextmanager
def noted_weld() -> Iterator[Weld]:
    """What the weld of a dressing meanwhile is like."""
    noted, weld = Weld(), dressing._Thread._weld

    def note(thread: dressing._Thread) -> None:
        ends = thread.positions[thread._cloth.sewing]
        noted.moment = time.perf_counter()
        noted.gap = float(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).max())
        weld(thread)

    dressing._Thread._weld = note
    try:
        yield noted
    finally:
        dressing._Thread._weld = weld


def with_weft(garment: bpy.types.Object, body: bpy.types.Object, frame_count: int) -> dict:
    """Dresses and bakes; the first row is the end of the dressing."""
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 1 + frame_count
    with noted_weld() as weld:
        started = time.perf_counter()
        bpy.ops.weft.dress()
        ended = time.perf_counter()
    judge, told = Judge(garment, body), garment.weft.garment.report
    rows = [judge.row(ended - started)]
    print(f"{ended - started:.1f} s, weld {weld}: {told} {rows[0]}", flush=True)
    with walking.noted_frames() as frames:
        bpy.ops.weft.bake()
    for frame, (_, seconds) in enumerate(frames, 2):
        bpy.context.scene.frame_set(frame)
        rows.append(judge.row(seconds))
    return {
        "program": f"Weft {bridge.version()}",
        "sewing": weld.moment - started,
        "weld_gap": weld.gap,
        "told": told,
        "frames": rows,
    }


def with_blender(garment: bpy.types.Object, body: bpy.types.Object, frame_count: int) -> dict:
    """Sews, settles and goes on; the first row is the end of the settling."""
    scene, first = bpy.context.scene, 1 + SEWING + SETTLING
    scene.frame_start, scene.frame_end = 1, first + frame_count
    colliders = participants(scene, bpy.context.view_layer)[1]
    move(garment, bridge.lifted(scene, SceneReader(bpy.context, [garment], colliders, 1)))
    body.modifiers.new("Collision", "COLLISION")
    settings = own_cloth.add_cloth(garment).settings
    settings.use_sewing_springs, settings.sewing_force_max = True, SEWING_FORCE
    for frame, weight in ((1, 0.0), (SEWING, 0.0), (SEWING + 1, 1.0)):
        settings.effector_weights.gravity = weight
        settings.effector_weights.keyframe_insert("gravity", frame=frame)
    seconds = [advance(frame) for frame in range(1, first + 1)]
    judge = Judge(garment, body)
    rows = [judge.row(sum(seconds))]
    print(f"{sum(seconds):.1f} s {rows[0]}", flush=True)
    for frame in range(first + 1, scene.frame_end + 1):
        rows.append(judge.row(advance(frame)))
    program = f"Blender {bpy.app.version_string}"
    return {"program": program, "sewing": sum(seconds[: SEWING + 1]), "told": "", "frames": rows}


def advance(frame: int) -> float:
    """Goes to a frame; the seconds that it took."""
    started = time.perf_counter()
    bpy.context.scene.frame_set(frame)
    return time.perf_counter() - started


def main() -> None:
    wanted = arguments()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    addon.register()
    garment, body = open_scene(wanted)
    count = len(garment.data.vertices)
    with TemporaryDirectory() as cache:
        bpy.context.scene.weft.cache_directory = cache
        dress = with_weft if wanted.program == "weft" else with_blender
        row = dress(garment, body, wanted.frames)
    if wanted.save:
        bpy.ops.wm.save_as_mainfile(filepath=wanted.save)
    run.report({"vertices": count, **row})
    addon.unregister()


if __name__ == "__main__":
    main()
