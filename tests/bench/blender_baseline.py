# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs one sheet with Blender's own cloth, as an artist gets it: default settings, quality 5.

Self collision is off where it is in Weft's runs; where nothing is to be hit, so is collision. Its
distance is a fraction of an edge: with Blender's default a sheet of this size blows up.
"""

import sys

import bpy
import numpy as np
import run
import sheets

COLLISION_QUALITY = 2
QUALITY = 5
SELF_DISTANCE = 0.3  # of the length of an edge


def add_mesh(name: str, positions: np.ndarray, faces: np.ndarray) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(positions.tolist(), [], faces.tolist())
    mesh.update()
    thing = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(thing)
    return thing


def add_sheet(case: str, side: int, frame_count: int, quality: int) -> bpy.types.Object:
    thing = add_mesh("Sheet", *sheets.sheet(side, sheets.start_height(case)))
    modifier = thing.modifiers.new("Cloth", "CLOTH")
    modifier.settings.quality = quality
    collisions = modifier.collision_settings
    collisions.use_self_collision = sheets.meets_itself(case)
    collisions.self_distance_min = SELF_DISTANCE / (side - 1)
    collisions.collision_quality = COLLISION_QUALITY
    collisions.use_collision = sheets.has_sphere(case)
    modifier.point_cache.frame_start, modifier.point_cache.frame_end = 1, frame_count
    if case == "pinned":
        thing.vertex_groups.new(name="pin").add(sheets.pinned_corners(side), 1.0, "REPLACE")
        modifier.settings.vertex_group_mass = "pin"
    return thing


def evaluated_positions(thing: bpy.types.Object) -> np.ndarray:
    mesh = thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    flat = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.attributes["position"].data.foreach_get("vector", flat)
    return flat.reshape(-1, 3)


def begin(case: str, side: int, frame_count: int, quality: int = QUALITY) -> bpy.types.Object:
    """The sheet, in a new scene at its first frame."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps = sheets.FRAMES_PER_SECOND
    scene.frame_start, scene.frame_end = 1, frame_count
    thing = add_sheet(case, side, frame_count, quality)
    if sheets.has_sphere(case):
        add_mesh("Sphere", *sheets.sphere()).modifiers.new("Collision", "COLLISION")
    scene.frame_set(1)
    return thing


def main() -> None:
    wanted = run.arguments()
    begin(wanted.case, run.WARM_SIDE, 2)
    bpy.context.scene.frame_set(2)
    before = run.memory("VmRSS")
    thing = begin(wanted.case, wanted.side, wanted.frames)
    timing, frames = run.timed(
        wanted.frames, bpy.context.scene.frame_set, lambda: evaluated_positions(thing), before
    )
    measured = sheets.measure(frames, wanted.case, wanted.side)
    run.report({"program": f"Blender {bpy.app.version_string}", **timing, **measured})


if __name__ == "__main__":
    sys.exit(main())
