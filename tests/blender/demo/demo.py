# SPDX-License-Identifier: MIT OR Apache-2.0
"""The demonstration: install the extension as a user would, build, bake, measure, save, render.

usage: demo.py EXTENSION.zip FOLDER     with BLENDER_USER_RESOURCES set to a folder of its own
Leaves FOLDER/demo.blend, pictures of a few frames, summary.json and summary.txt.
"""

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bpy
import demo_scene
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "whole_scenes"))
from drawn import crossings
from penetration import ClosedSurface, evaluated_world_mesh

PICTURES = (1, 16, 32, 48, 84, 120)
COUNTED = (
    "steps",
    "rejected_steps",
    "newton_iterations",
    "linear_iterations",
    "unconverged_frames",
    "unresolved_contacts",
)
FIGURES = (  # name, unit in the table, factor to that unit
    ("vertices", "", 1),
    ("largest_edge_stretch", " (%)", 100),
    ("edge_stretch_p99", " (%)", 100),
    ("vertices_inside", " (worst frame)", 1),
    ("deepest_vertex", " (mm)", 1000),
    ("deepest_face_centre", " (mm)", 1000),
    ("crossing_edges", " (worst frame)", 1),
)
FABRICS = {"Tablecloth": "cotton", "Sheet": "silk"}


def install(archive: Path) -> None:
    bpy.ops.extensions.package_install_files(
        filepath=str(archive), repo="user_default", enable_on_install=True, overwrite=True
    )
    if not hasattr(bpy.types.Scene, "weft"):
        sys.exit(f"weft: {archive} was installed, but its add-on is not there")
    library = Path(sys.modules["weft"].__file__)
    if Path(os.environ["BLENDER_USER_RESOURCES"]) not in library.parents:
        sys.exit(f"weft: the library of the extension is hidden by {library}: uninstall that one")
    bpy.context.preferences.filepaths.save_version = 0


def set_up(cloths: list, colliders: list) -> None:
    """What an artist would click: roles, fabrics, pins."""
    for cloth in cloths:
        cloth.weft.role = "CLOTH"
        bpy.context.view_layer.objects.active = cloth
        bpy.ops.weft.preset_apply(name=FABRICS[cloth.name])
        cloth.weft.pin_group = "pin" if "pin" in cloth.vertex_groups else ""
    for collider in colliders:
        collider.weft.role = "COLLIDER"


def bake(cache: Path) -> dict:
    """Bakes with the operator; returns what the cache says that it took."""
    started = time.perf_counter()
    if bpy.ops.weft.bake() != {"FINISHED"}:
        sys.exit("weft: the bake did not finish")
    seconds = time.perf_counter() - started
    description = json.loads(next(cache.glob("*.json")).read_text(encoding="utf-8"))
    statistic = description["statistic"]
    return {
        "frames": description["frames"],
        "seconds_per_frame": seconds / statistic["frames"],
        "largest_principal_stretch": statistic["max_stretch"],
        **{name: statistic[name] for name in COUNTED},
    }


def edge_lengths(positions: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return np.linalg.norm(positions[edges[:, 0]] - positions[edges[:, 1]], axis=1)


def measure(cloths: list, colliders: list) -> dict[str, dict]:
    """Plays all frames and measures each cloth against every collider, independently of Weft."""
    scene = bpy.context.scene
    rows = {cloth.name: {figure: 0 for figure, _, _ in FIGURES} for cloth in cloths}
    edges = {cloth.name: np.array(cloth.data.edge_keys) for cloth in cloths}
    lengths = {}
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        surfaces = [ClosedSurface(*evaluated_world_mesh(c, depsgraph)) for c in colliders]
        crossed = crossings(cloths, colliders).counts
        for cloth in cloths:
            positions, triangles = evaluated_world_mesh(cloth, depsgraph)
            now = edge_lengths(positions, edges[cloth.name])
            stretch = now / lengths.setdefault(cloth.name, now) - 1.0  # the first frame is at rest
            depths = deepest(surfaces, positions)
            figures = {
                "vertices": len(positions),
                "largest_edge_stretch": float(stretch.max()),
                "edge_stretch_p99": float(np.percentile(stretch, 99)),
                "vertices_inside": int((depths > 0.0).sum()),
                "deepest_vertex": float(depths.max()),
                "deepest_face_centre": float(
                    deepest(surfaces, positions[triangles].mean(axis=1)).max()
                ),
                "crossing_edges": sum(
                    count for names, count in crossed.items() if cloth.name in names.split(" and ")
                ),
            }
            row = rows[cloth.name]
            row |= {name: max(row[name], figures[name]) for name in figures}
    return rows


def deepest(surfaces: list[ClosedSurface], points: np.ndarray) -> np.ndarray:
    """How deep each point lies in the surface that it lies deepest in, in m."""
    return np.max([surface.depths(points) for surface in surfaces], axis=0)


@contextmanager
def output_to(path: Path) -> Iterator[None]:
    """Sends what Blender itself prints, such as a line for each sample, to a file."""
    sys.stdout.flush()
    kept = os.dup(1)
    with path.open("wb") as log:
        os.dup2(log.fileno(), 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def render(folder: Path) -> float:
    """Renders the chosen frames and returns the seconds of the slowest."""
    scene, slowest = bpy.context.scene, 0.0
    for frame in PICTURES:
        started = time.perf_counter()
        scene.frame_set(frame)
        scene.render.filepath = str(folder / f"demo_{frame:03d}.png")
        with output_to(folder / "demo_render.log"):
            bpy.ops.render.render(write_still=True)
        print(f"Rendered {scene.render.filepath}", flush=True)
        slowest = max(slowest, time.perf_counter() - started)
    return slowest


def in_words(summary: dict) -> str:
    """The summary as a table to read."""
    lines = [f"Weft {summary['weft']} in bpy {summary['blender']}, {summary['frames']} frames"]
    lines.append(f"  {'seconds per frame':28}{summary['seconds_per_frame']:14.3f}")
    principal = 100.0 * summary["largest_principal_stretch"]
    lines.append(f"  {'largest principal stretch (%)':28}{principal:13.2f}")
    for name in COUNTED:
        lines.append(f"  {name.replace('_', ' '):28}{summary[name]:14d}")
    names = list(summary["cloths"])
    lines.append("  " + " " * 28 + "".join(f"{name:>14}" for name in names))
    for figure, unit, scale in FIGURES:
        values = [summary["cloths"][name][figure] * scale for name in names]
        text = f"{figure.replace('_', ' ')}{unit}"
        lines.append(f"  {text:28}" + "".join(f"{value:14.5g}" for value in values))
    return "\n".join(lines)


def main() -> None:
    archive, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    folder.mkdir(exist_ok=True)
    install(archive)
    cloths, colliders = demo_scene.build()
    set_up(cloths, colliders)
    blend = folder / "demo.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    summary = {
        "weft": sys.modules["weft"].__version__,
        "blender": bpy.app.version_string,
        **bake(folder / "weft_cache"),
    }
    summary["cloths"] = measure(cloths, colliders)
    bpy.context.scene.frame_set(1)
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    summary["slowest_picture_seconds"] = render(folder)
    (folder / "summary.json").write_text(json.dumps(summary, indent=1), encoding="utf-8")
    (folder / "summary.txt").write_text(in_words(summary) + "\n", encoding="utf-8")
    print(in_words(summary), flush=True)


if __name__ == "__main__":
    main()
