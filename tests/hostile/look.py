# SPDX-License-Identifier: MIT OR Apache-2.0
"""Pictures of what soak.py kept, made by Blender: needs a Python with bpy, and no Weft.

    .venv-bpy42/bin/python tests/hostile/look.py out/hostile/ten_layers-9000.npz --frames 0,24,48

Cloths are coloured, colliders grey; what crosses something is red.
"""

import argparse
from pathlib import Path

import bpy
import numpy as np
from mathutils import Vector

COLOURS = [(0.75, 0.5, 0.1), (0.05, 0.3, 0.5), (0.1, 0.4, 0.12), (0.4, 0.1, 0.4), (0.5, 0.5, 0.5)]
GREY, RED = (0.35, 0.35, 0.35), (0.9, 0.0, 0.0)


def painted(colour: tuple[float, float, float], alpha: float = 1.0) -> bpy.types.Material:
    material = bpy.data.materials.new("surface")
    material.use_nodes = True
    shader = next(n for n in material.node_tree.nodes if n.type == "BSDF_PRINCIPLED")
    shader.inputs["Base Color"].default_value = (*colour, 1.0)
    shader.inputs["Roughness"].default_value = 0.7
    shader.inputs["Alpha"].default_value = alpha
    return material


def add_mesh(
    name: str,
    positions: np.ndarray,
    triangles: np.ndarray,
    materials: list[bpy.types.Material],
    marked: np.ndarray,
) -> None:
    """An object whose marked triangles have the second material."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(positions.tolist(), [], triangles.tolist())
    for material in materials:
        mesh.materials.append(material)
    mesh.polygons.foreach_set("material_index", marked.astype(np.int32))
    bpy.context.scene.collection.objects.link(bpy.data.objects.new(name, mesh))


def marked_faces(kept: dict[str, np.ndarray], name: str, triangles: np.ndarray) -> np.ndarray:
    """Which triangles of a cloth are among the intersections kept, or have an edge that is."""
    marked = np.zeros(len(triangles), dtype=bool)
    for kind in ("face", "edge"):
        for element, owner in zip(
            kept.get(f"{kind}s", []), kept.get(f"{kind}_of", []), strict=True
        ):
            if str(owner) == str(kept[f"{name}_name"]):
                marked |= np.isin(triangles, element).sum(axis=1) >= len(element)
    return marked


def add_scene(kept: dict[str, np.ndarray], frame: int) -> np.ndarray:
    """All meshes at a frame; returns the positions of the cloths."""
    seen = []
    red = painted(RED)
    for key in kept:
        if not key.endswith("_positions"):
            continue
        name = key.removesuffix("_positions")
        positions, triangles = kept[key][frame], kept[f"{name}_triangles"]
        if name.startswith("cloth"):
            colour = painted(COLOURS[int(name[5:]) % len(COLOURS)])
            marked = marked_faces(kept, name, triangles)
            seen.append(positions)
        else:
            colour = painted(GREY, 0.4)
            marked = np.zeros(len(triangles), dtype=bool)
        add_mesh(name, positions, triangles, [colour, red], marked)
    return np.concatenate(seen)


def aim(seen: np.ndarray, view: tuple[float, ...]) -> None:
    """A camera that looks from a direction at all cloth, and a light above it."""
    low, high = seen.min(axis=0), seen.max(axis=0)
    middle, size = Vector((low + high) / 2.0), float(np.linalg.norm(high - low))
    scene = bpy.context.scene
    camera = bpy.data.cameras.new("camera")
    camera.clip_start, camera.clip_end = 0.001 * size, 100.0 * size
    for name, data, direction, distance in (
        ("camera", camera, Vector(view).normalized(), 1.5),
        ("light", bpy.data.lights.new("light", "SUN"), Vector((0.6, -0.5, 1.0)).normalized(), 3.0),
    ):
        thing = bpy.data.objects.new(name, data)
        thing.location = middle + distance * size * direction
        thing.rotation_euler = (-direction).to_track_quat("-Z", "Y").to_euler()
        scene.collection.objects.link(thing)
    bpy.data.lights["light"].energy = 3.0
    scene.camera = bpy.data.objects["camera"]


def render(path: Path, samples: int) -> None:
    scene = bpy.context.scene
    world = bpy.data.worlds.new("world")
    world.use_nodes = True
    world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.7, 0.75, 0.8, 1.0)
    scene.world = world
    scene.render.engine = "CYCLES"
    scene.cycles.device = "CPU"
    scene.cycles.samples = samples
    scene.cycles.max_bounces = 2
    scene.render.resolution_x, scene.render.resolution_y = 720, 540
    scene.view_settings.view_transform = "Standard"
    scene.render.filepath = str(path.resolve())
    bpy.ops.render.render(write_still=True)


def numbers(text: str) -> tuple[float, ...]:
    """Numbers with commas between."""
    return tuple(float(each) for each in text.split(","))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", type=Path, nargs="+", help="such as out/hostile/*.npz")
    parser.add_argument("--frames", type=numbers, default=(-1.0,), help="such as 0,12,-1")
    parser.add_argument("--view", type=numbers, default=(0.6, -1.0, 0.6), help="where from: x,y,z")
    parser.add_argument("--samples", type=int, default=8)
    options = parser.parse_args()
    for file in options.files:
        with np.load(file) as arrays:
            kept = dict(arrays)
        for frame in map(int, options.frames):
            bpy.ops.wm.read_factory_settings(use_empty=True)
            aim(add_scene(kept, frame), options.view)
            path = file.with_name(f"{file.stem}-look{frame}.png")
            render(path, options.samples)
            print(path)


if __name__ == "__main__":
    main()
