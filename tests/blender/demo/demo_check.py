# SPDX-License-Identifier: MIT OR Apache-2.0
"""Opens a baked .blend in a fresh Blender and compares what plays with the cache, frame by frame.

usage: demo_check.py FILE.blend
"""

import json
import struct
import sys
from pathlib import Path

import bpy
import numpy as np

HEADER = struct.Struct("<12siiffi")  # PC2: signature, version, vertices, start, rate, samples
TOLERANCE = 1e-6  # m: a shape key is stored and mixed in float32


def read_pc2(path: Path) -> np.ndarray:
    """All samples of a PC2 file, shape `(samples, vertices, 3)`."""
    content = path.read_bytes()
    signature, _version, vertices, _start, _rate, samples = HEADER.unpack_from(content)
    if signature != b"POINTCACHE2\0":
        sys.exit(f"weft: {path} is no PC2 file")
    flat = np.frombuffer(content, np.float32, 3 * vertices * samples, HEADER.size)
    return flat.reshape(samples, vertices, 3)


def evaluated(thing: bpy.types.Object) -> np.ndarray:
    mesh = thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    flat = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.attributes["position"].data.foreach_get("vector", flat)
    return flat.reshape(-1, 3)


def main() -> None:
    blend = Path(sys.argv[1]).resolve()
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    caches = {}
    for path in sorted((blend.parent / "weft_cache").glob("*.json")):
        description = json.loads(path.read_text(encoding="utf-8"))
        frames = range(
            description["frame_start"], description["frame_start"] + description["frames"]
        )
        caches[description["object"]] = (frames, read_pc2(path.with_suffix(".pc2")))
    scene = bpy.context.scene
    wanted = range(scene.frame_start, scene.frame_end + 1)
    if not caches or any(frames != wanted for frames, _ in caches.values()):
        sys.exit(f"weft: the cache beside {blend.name} does not hold frames {wanted}")
    worst = 0.0
    for index, frame in enumerate(wanted):
        scene.frame_set(frame)
        for name, (_, samples) in caches.items():
            difference = np.abs(evaluated(bpy.data.objects[name]) - samples[index]).max()
            worst = max(worst, float(difference))
    verdict = f"bpy {bpy.app.version_string}: {len(wanted)} frames of {len(caches)} cloths play"
    if worst > TOLERANCE:
        sys.exit(f"weft: {verdict}, but up to {worst:.3g} m away from the cache")
    print(f"{verdict} as they were computed (largest difference {worst:.2g} m)")


if __name__ == "__main__":
    main()
