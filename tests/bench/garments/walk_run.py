# SPDX-License-Identifier: MIT OR Apache-2.0
"""Garments of the walking body with one program, judged at every frame.

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

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import run
import trousers
from own_cloth import add_cloth, edge_lengths

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "blender/whole_scenes"))
import walking
from drawn import crossings

import addon
from addon.simulation import bridge


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("program", choices=("blender", "weft"))
    parser.add_argument("garments", help="of Dress, Tshirt, Trousers, the outermost first: A+B")
    parser.add_argument("--ease", type=float, default=0.016, help="of trousers, in m")
    parser.add_argument("--touching", type=float, default=0.0, help="thicken thighs by, in m")
    parser.add_argument("--cuts", type=int, default=0, help="of every edge")
    parser.add_argument("--frames", type=int, default=120)
    parser.add_argument("--save", default="", help="a .blend file for what came out")
    return parser.parse_args()


class Blender:
    """Garments of an open scene that Blender's own cloth simulates, the outermost first."""

    def __init__(self, names: list[str]) -> None:
        self.garments = [bpy.data.objects[name] for name in names]
        self.body = bpy.data.objects["Body"]
        self.body.modifiers.new("Collision", "COLLISION")
        bpy.context.scene.frame_set(1)
        for place, garment in enumerate(self.garments):
            modifier = add_cloth(garment)
            if garment.vertex_groups.get("pin"):
                modifier.settings.vertex_group_mass = "pin"
            if place:
                garment.modifiers.new("Collision", "COLLISION")
        bpy.context.scene.frame_set(1)

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
    bpy.context.scene.frame_set(bpy.context.scene.frame_start)
    lengths, rows = lengths_of(garments.garments), []
    for moment in garments.moments():
        counts = crossings(garments.garments, [garments.body]).counts
        themselves = sum(counts[cloth.name] for cloth in garments.garments)
        on_body = sum(count for name, count in counts.items() if garments.body.name in name)
        stretches = lengths_of(garments.garments) / lengths - 1.0
        rows.append(
            {
                "reading": moment.reading,
                "solving": moment.solving,
                "itself": themselves,
                "other": sum(counts.values()) - themselves - on_body,
                "body": on_body,
                "inside": walking.inside(garments.garments, garments.body),
                "stretch": float(np.percentile(stretches, 99.0)),
                "max_stretch": float(stretches.max()),
            }
        )
    return rows


def lengths_of(garments: list[bpy.types.Object]) -> np.ndarray:
    """Lengths of the edges of all garments at the current frame, in m."""
    return np.concatenate([edge_lengths(garment) for garment in garments])


def open_scene(wanted: argparse.Namespace, names: list[str]) -> None:
    """The walking body with its garments."""
    modelled = [name for name in names if name != trousers.NAME]
    walking.open_scene(modelled, wanted.frames, wanted.cuts)
    if trousers.NAME in names:
        trousers.thicken_thighs(wanted.touching)
        walking.prepare(trousers.add_trousers(wanted.ease), wanted.cuts)


def in_layers(names: list[str], *, has_concave_faces: bool) -> walking.Weft:
    """Garments that Weft bakes, an inner one in a layer below those over it."""
    garments = walking.Weft(names)
    for layer, garment in enumerate(reversed(garments.garments)):
        garment.weft.layer = layer
    if has_concave_faces:
        garments.cut_concave_faces()
    return garments


def main() -> None:
    wanted = arguments()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    addon.register()
    is_weft, names = wanted.program == "weft", wanted.garments.split("+")
    open_scene(wanted, names)
    has_trousers = trousers.NAME in names
    garments = in_layers(names, has_concave_faces=has_trousers) if is_weft else Blender(names)
    with TemporaryDirectory() as cache:
        bpy.context.scene.weft.cache_directory = cache
        rows = judged(garments)
    blender = f"Blender {bpy.app.version_string}"
    program = f"Weft {bridge.version()}" if is_weft else blender
    count = sum(len(garment.data.vertices) for garment in garments.garments)
    if wanted.save:
        bpy.ops.wm.save_as_mainfile(filepath=wanted.save)
    run.report({"program": program, "vertices": count, "frames": rows})
    addon.unregister()


if __name__ == "__main__":
    main()
