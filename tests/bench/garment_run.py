# SPDX-License-Identifier: MIT OR Apache-2.0
"""One garment of the walking body with one program, judged at every frame.

Blender's own cloth as an artist gets it: default settings, quality 5, self collision with a
distance that is a fraction of an edge, as in the other benchmark.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import run
from blender_baseline import COLLISION_QUALITY, QUALITY, SELF_DISTANCE, evaluated_positions

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "blender/whole_scenes"))
import walking

import addon
from addon.simulation import bridge


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("program", choices=("blender", "weft"))
    parser.add_argument("garment", choices=("Dress", "Tshirt"))
    parser.add_argument("--cuts", type=int, default=0, help="of every edge")
    parser.add_argument("--frames", type=int, default=120)
    return parser.parse_args()


def surface(thing: bpy.types.Object) -> SimpleNamespace:
    """Name, positions and triangles of an object."""
    thing.data.calc_loop_triangles()
    triangles = np.empty((len(thing.data.loop_triangles), 3), np.int32)
    thing.data.loop_triangles.foreach_get("vertices", triangles.ravel())
    return SimpleNamespace(
        name=thing.name, positions=evaluated_positions(thing), triangles=triangles
    )


def edge_lengths(positions: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return np.linalg.norm(positions[edges[:, 0]] - positions[edges[:, 1]], axis=1)


def edges_of(triangles: np.ndarray) -> np.ndarray:
    return walking.unique_edges(np.asarray(triangles, np.int64))


class Blender:
    """A garment of an open scene that Blender's own cloth simulates."""

    def __init__(self, name: str) -> None:
        self._garment, self._body = bpy.data.objects[name], bpy.data.objects["Body"]
        self._body.modifiers.new("Collision", "COLLISION")
        bpy.context.scene.frame_set(1)
        self.cloths, self.body = [surface(self._garment)], surface(self._body)
        modifier = self._garment.modifiers.new("Cloth", "CLOTH")
        modifier.settings.quality = QUALITY
        if self._garment.vertex_groups.get("pin"):
            modifier.settings.vertex_group_mass = "pin"
        collisions = modifier.collision_settings
        collisions.use_collision = collisions.use_self_collision = True
        collisions.collision_quality = COLLISION_QUALITY
        (cloth,) = self.cloths
        lengths = edge_lengths(cloth.positions, edges_of(cloth.triangles))
        collisions.self_distance_min = SELF_DISTANCE * float(np.median(lengths))
        cache, scene = modifier.point_cache, bpy.context.scene
        cache.frame_start, cache.frame_end = scene.frame_start, scene.frame_end
        scene.frame_set(1)

    def moments(self) -> Iterator[walking.Moment]:
        """All frames after the first. Blender reads and solves at once."""
        scene = bpy.context.scene
        for frame in range(2, scene.frame_end + 1):
            start = time.perf_counter()
            scene.frame_set(frame)
            seconds = time.perf_counter() - start
            shapes = [evaluated_positions(self._garment).astype(np.float64)]
            body = evaluated_positions(self._body).astype(np.float64)
            yield walking.Moment(frame, 0.0, seconds, shapes, body)


def main() -> None:
    wanted = arguments()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    addon.register()
    walking.open_scene([wanted.garment], wanted.frames, wanted.cuts)
    is_weft = wanted.program == "weft"
    garments = walking.Weft([wanted.garment]) if is_weft else Blender(wanted.garment)
    (cloth,) = garments.cloths
    edges, judge = edges_of(cloth.triangles), walking.Judge(garments.cloths, garments.body)
    lengths = edge_lengths(np.asarray(cloth.positions, np.float64), edges)
    frames = []
    for moment in garments.moments():
        counts, _ = judge.judge(moment)
        own = counts.get(wanted.garment, 0)
        stretch = edge_lengths(moment.shapes[0], edges) / lengths - 1.0
        frames.append(
            {
                "reading": moment.reading,
                "solving": moment.solving,
                "itself": own,
                "body": sum(counts.values()) - own,
                "inside": judge.inside(moment),
                "stretch": float(np.percentile(stretch, 99.0)),
            }
        )
    blender = f"Blender {bpy.app.version_string}"
    program = f"Weft {bridge.version()}" if is_weft else blender
    run.report({"program": program, "vertices": len(cloth.positions), "frames": frames})
    addon.unregister()


if __name__ == "__main__":
    main()
