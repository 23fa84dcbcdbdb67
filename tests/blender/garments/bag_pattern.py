# SPDX-License-Identifier: MIT OR Apache-2.0
"""A bag of two panels, sewn along the sides and the top, and a box to pull it over."""

import json

import bpy
import numpy as np
import small_scenes

WIDTH, HEIGHT = 0.4, 0.5  # m
SEAMS = ((1, 3), (3, 1), (2, 2))


def pattern(**fabrics: str) -> dict:
    """The pattern as GarmentCode has it, in cm."""
    corners = [[0, 0], [100 * WIDTH, 0], [100 * WIDTH, 100 * HEIGHT], [0, 100 * HEIGHT]]
    square = {"vertices": corners, "edges": [{"endpoints": [k, (k + 1) % 4]} for k in range(4)]}
    half = 50 * WIDTH
    panels = {
        "front": {**square, "translation": [-half, 0, 20], "rotation": [0, 0, 0]},
        "back": {**square, "translation": [half, 0, -20], "rotation": [0, 180, 0]},
    }
    for name, fabric in fabrics.items():
        panels[name]["fabric"] = fabric
    stitches = [[{"panel": "front", "edge": a}, {"panel": "back", "edge": b}] for a, b in SEAMS]
    return {"pattern": {"panels": panels, "stitches": stitches}}


def write(folder, content: dict, name: str = "bag_specification.json") -> str:
    path = folder / name
    path.write_text(json.dumps(content), encoding="utf-8")
    return str(path)


def imported(folder, edge_length: float = 0.05, **fabrics: str) -> bpy.types.Object:
    path = write(folder, pattern(**fabrics))
    assert bpy.ops.weft.pattern_import(filepath=path, edge_length=edge_length) == {"FINISHED"}
    return bpy.context.object


def box(half_width: float, half_depth: float, top: float) -> bpy.types.Object:
    sides = [(x, y) for x in (-half_width, half_width) for y in (-half_depth, half_depth)]
    points = np.array([(x, y, z) for x, y in sides for z in (-0.5, top)])
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    obj = small_scenes.add_mesh("Box", points, faces)
    obj.weft.role = "COLLIDER"
    return obj
