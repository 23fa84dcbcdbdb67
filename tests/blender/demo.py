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
    ("largest_stretch", " (%)", 100),
    ("vertices_inside", " (at most)", 1),
    ("deepest_vertex", " (mm)", 1000),
    ("deepest_face_centre", " (mm)", 1000),
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
        collider.weft.thickness = 0.003


def bake(cache: Path) -> dict:
    """Bakes with the operator; returns what the cache says that it took."""
    started = time.perf_counter()
    if bpy.ops.weft.bake() != {"FINISHED"}:
        sys.exit("weft: the bake did not finish")
    seconds = time.perf_counter() - started
    description = json.loads(next(cache.glob("*.json")).read_text(encoding="utf-8"))
    statistic = description["statistic"]
    work = {name: statistic[name] for name in COUNTED}
    frames = statistic["frames"]
    return {"frames": description["frames"], "seconds_per_frame": seconds / frames, **work}


def largest_stretch(positions: np.ndarray, rest: np.ndarray, triangles: np.ndarray) -> float:
    """The largest principal stretch of any triangle, minus one."""
    first, second = (rest[triangles[:, k]] - rest[triangles[:, 0]] for k in (1, 2))
    length = np.linalg.norm(first, axis=1)
    along = np.einsum("ij,ij->i", first, second) / length
    across = np.linalg.norm(np.cross(first, second), axis=1) / length
    u = (positions[triangles[:, 1]] - positions[triangles[:, 0]]) / length[:, None]
    v = positions[triangles[:, 2]] - positions[triangles[:, 0]] - along[:, None] * u
    v /= across[:, None]
    uu, vv, uv = (np.einsum("ij,ij->i", *pair) for pair in ((u, u), (v, v), (u, v)))
    return float(np.sqrt((uu + vv + np.hypot(uu - vv, 2.0 * uv)).max() / 2.0) - 1.0)


def measure(cloths: list, colliders: list) -> dict[str, dict]:
    """Plays all frames and measures each cloth against every collider, independently of Weft."""
    scene = bpy.context.scene
    rows = {cloth.name: {figure: 0 for figure, _, _ in FIGURES} for cloth in cloths}
    rest = {}
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        surfaces = [ClosedSurface(*evaluated_world_mesh(c, depsgraph)) for c in colliders]
        for cloth in cloths:
            row, (positions, triangles) = rows[cloth.name], evaluated_world_mesh(cloth, depsgraph)
            row["vertices"] = len(positions)
            start, faces = rest.setdefault(cloth.name, (positions, triangles))
            stretch = largest_stretch(positions, start, faces)
            row["largest_stretch"] = max(row["largest_stretch"], stretch)
            for surface in surfaces:
                depths = surface.depths(positions)
                row["deepest_vertex"] = max(row["deepest_vertex"], float(depths.max()))
                row["vertices_inside"] = max(row["vertices_inside"], int((depths > 0.0).sum()))
                centres = surface.depths(positions[triangles].mean(axis=1))
                row["deepest_face_centre"] = max(row["deepest_face_centre"], float(centres.max()))
    return rows


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
    lines.append(f"  {'seconds per frame':24}{summary['seconds_per_frame']:12.3f}")
    for name in COUNTED:
        lines.append(f"  {name.replace('_', ' '):24}{summary[name]:12d}")
    names = list(summary["cloths"])
    lines.append("  " + " " * 24 + "".join(f"{name:>14}" for name in names))
    for figure, unit, scale in FIGURES:
        values = [summary["cloths"][name][figure] * scale for name in names]
        text = f"{figure.replace('_', ' ')}{unit}"
        lines.append(f"  {text:24}" + "".join(f"{value:14.6g}" for value in values))
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
