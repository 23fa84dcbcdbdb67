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
from tempfile import TemporaryDirectory

import bpy
import numpy as np
import run
from blender_baseline import COLLISION_QUALITY, QUALITY, SELF_DISTANCE

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "blender/whole_scenes"))
import trousers
import walking
from drawn import crossings
from penetration import evaluated_world_mesh

import addon
from addon.simulation import bridge


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("program", choices=("blender", "weft"))
    parser.add_argument("garment", choices=("Dress", "Tshirt", trousers.NAME))
    parser.add_argument("--ease", type=float, default=0.016, help="of trousers, in m")
    parser.add_argument("--touching", type=float, default=0.0, help="thicken thighs by, in m")
    parser.add_argument("--cuts", type=int, default=0, help="of every edge")
    parser.add_argument("--frames", type=int, default=120)
    return parser.parse_args()


def positions_of(thing: bpy.types.Object) -> np.ndarray:
    """World positions at the current frame, as Blender draws them."""
    return evaluated_world_mesh(thing, bpy.context.evaluated_depsgraph_get())[0]


def edge_lengths(thing: bpy.types.Object) -> np.ndarray:
    """Lengths of the edges of the mesh at the current frame, in m."""
    positions, edges = positions_of(thing), np.array(thing.data.edge_keys)
    return np.linalg.norm(positions[edges[:, 0]] - positions[edges[:, 1]], axis=1)


class Blender:
    """A garment of an open scene that Blender's own cloth simulates."""

    def __init__(self, name: str) -> None:
        (garment,) = self.garments = [bpy.data.objects[name]]
        self.body = bpy.data.objects["Body"]
        self.body.modifiers.new("Collision", "COLLISION")
        bpy.context.scene.frame_set(1)
        lengths = edge_lengths(garment)
        modifier = garment.modifiers.new("Cloth", "CLOTH")
        modifier.settings.quality = QUALITY
        if garment.vertex_groups.get("pin"):
            modifier.settings.vertex_group_mass = "pin"
        collisions = modifier.collision_settings
        collisions.use_collision = collisions.use_self_collision = True
        collisions.collision_quality = COLLISION_QUALITY
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
            yield walking.Moment(frame, 0.0, seconds)


def judged(garments: "walking.Weft | Blender") -> list[dict]:
    """Figures of every frame after the first."""
    (cloth,) = garments.garments
    bpy.context.scene.frame_set(bpy.context.scene.frame_start)
    lengths, rows = edge_lengths(cloth), []
    for moment in garments.moments():
        found = crossings([cloth], [garments.body])
        stretches = edge_lengths(cloth) / lengths - 1.0
        rows.append(
            {
                "reading": moment.reading,
                "solving": moment.solving,
                "itself": found.of_itself(cloth.name),
                "body": found.of_others(cloth.name),
                "inside": walking.inside([cloth], garments.body),
                "stretch": float(np.percentile(stretches, 99.0)),
                "max_stretch": float(stretches.max()),
            }
        )
    return rows


def open_scene(wanted: argparse.Namespace) -> None:
    """The walking body with its garment."""
    if wanted.garment != trousers.NAME:
        walking.open_scene([wanted.garment], wanted.frames, wanted.cuts)
        return
    walking.open_scene([], wanted.frames)
    trousers.thicken_thighs(wanted.touching)
    walking.prepare(trousers.add_trousers(wanted.ease), wanted.cuts)


def main() -> None:
    wanted = arguments()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    addon.register()
    is_weft = wanted.program == "weft"
    open_scene(wanted)
    garments = walking.Weft([wanted.garment]) if is_weft else Blender(wanted.garment)
    if is_weft and wanted.garment == trousers.NAME:
        garments.cut_concave_faces()
    with TemporaryDirectory() as cache:
        bpy.context.scene.weft.cache_directory = cache
        rows = judged(garments)
    blender = f"Blender {bpy.app.version_string}"
    program = f"Weft {bridge.version()}" if is_weft else blender
    count = len(garments.garments[0].data.vertices)
    run.report({"program": program, "vertices": count, "frames": rows})
    addon.unregister()


if __name__ == "__main__":
    main()
