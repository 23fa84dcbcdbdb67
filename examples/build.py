# SPDX-License-Identifier: MIT OR Apache-2.0
"""Builds the example scenes as .blend files, and bakes them.

usage: build.py FOLDER [--only NAME] [--frames COUNT] [--detail COUNT]
(in an environment with a bpy wheel, with the library on PYTHONPATH; or as
blender -b --python examples/build.py -- FOLDER, where the extension is installed)
"""

import argparse
import sys
import time
from pathlib import Path

import bpy

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "examples")]


def look(cloth):
    """A camera and a light that show the whole scene."""
    scene = bpy.context.scene
    high = max((cloth.matrix_world @ vertex.co).z for vertex in cloth.data.vertices)
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    target = bpy.data.objects.new("Target", None)
    target.location.z = 0.6 * high
    camera.location = (2.5, -3.5, 0.6 * high + 1.0)
    track = camera.constraints.new("TRACK_TO")
    track.target = target
    light = bpy.data.objects.new("Light", bpy.data.lights.new("Light", "SUN"))
    light.rotation_euler, light.data.energy = (0.7, 0.2, 0.4), 3.0
    for obj in (camera, target, light):
        scene.collection.objects.link(obj)
    scene.camera = camera


def build(name, folder, frames, detail):
    """One scene in an empty file, baked and saved; says how long it took."""
    import scenes

    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / f"{name}.blend"))
    cloth = scenes.SCENES[name](**({"detail": detail} if detail else {}))
    look(cloth)
    if frames is not None:
        bpy.context.scene.frame_end = min(bpy.context.scene.frame_end, frames)
    started = time.monotonic()
    if bpy.context.scene.frame_end > 1:
        bpy.ops.weft.bake()
    bpy.ops.wm.save_mainfile()
    return f"{name}: {time.monotonic() - started:.1f} s; {cloth.weft.result.statistic}"


def main():
    """Builds what the command line asks for."""
    given = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--frames", type=int)
    parser.add_argument("--detail", type=int)
    options = parser.parse_args(given)
    import scenes

    options.folder.mkdir(parents=True, exist_ok=True)
    is_installed = hasattr(bpy.types.Object, "weft")
    if not is_installed:
        import addon

        addon.register()
    try:
        for name in [options.only] if options.only else scenes.SCENES:
            print(build(name, options.folder, options.frames, options.detail), flush=True)
    finally:
        if not is_installed:
            addon.unregister()


if __name__ == "__main__":
    main()
