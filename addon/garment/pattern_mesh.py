# SPDX-License-Identifier: GPL-3.0-or-later
"""A sewing pattern as a mesh object: panels where the pattern places them, seams as loose edges.

The UV map is the pattern in m, panels side by side, warp along u. The face attribute `panel` has
the index of the panel, the edge attribute `seam` the number of the seam.
"""

import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bpy.types import Context, Mesh, Object

from ..properties.fabric import as_decimal
from ..properties.garment import WeftGarment
from ..simulation import bridge
from . import panel_fabrics, seams
from .dressed import shape_key, welding

UV_NAME = "Pattern"
GAP = 0.02  # m, between panels in the UV map
SEWING_SPEED = 0.1  # m/s, slow enough for contact to lead panels around a body, not to crumple them
MIN_SEWING_TIME = 1.0  # s
ASPECT = 1.4  # of the widths of the UV layout over its height


@dataclass(frozen=True)
class PatternGarment:
    """A cloth of the scene, the `weft.PatternMesh` that it has, and remarks on its fabrics."""

    obj: Object
    meshed: Any
    remarks: list[str]

    def place(self, points: np.ndarray, scale: float) -> None:
        """Gives it a dressed shape in m, by the vertices of its panels, with its seams sewn."""
        shape_key.write(self.obj, points / scale)
        welding.weld(self.obj, welding.weldable(self.obj.data, self.meshed.seams))


def add(context: Context, pattern: Any, name: str, edge_length: float) -> PatternGarment:
    """The mesh of a `weft.Pattern` as a cloth of the scene; edge length in m."""
    meshed = pattern.mesh(edge_length)
    mesh = _mesh(meshed, name, context.scene.unit_settings.scale_length)
    obj = bpy.data.objects.new(name, mesh)
    try:
        context.collection.objects.link(obj)
    except RuntimeError:  # of a library
        remove(obj)
        raise
    settings = obj.weft
    settings.role, settings.rest_shape = "CLOTH", "PATTERN"
    settings.pattern_size, settings.use_uv, settings.use_sewing = 1.0, True, True
    settings.garment.edge_length = edge_length
    for panel in pattern.panels:
        entry = settings.garment.panels.add()
        entry.name, entry.fabric = panel["name"], panel["fabric"] or ""
        entry.edge_length = panel["edge_length"] or 0.0
    return PatternGarment(obj, meshed, _set_up(obj, pattern, meshed))


def remove(obj: Object) -> None:
    """Removes a garment with all its meshes."""
    meshes = {obj.data, obj.weft.garment.panels_mesh} - {None}
    bpy.data.objects.remove(obj)
    for mesh in meshes:
        bpy.data.meshes.remove(mesh)


def mesh_again(context: Context, obj: Object) -> list[str]:
    """Makes the mesh of a garment anew, with the edge lengths and fabrics of its panels; returns
    remarks.
    """
    garment, old = obj.weft.garment, obj.data
    pattern = _with_panels(garment)
    found = [f["message"] for f in pattern.findings(as_decimal(garment.edge_length))]
    meshed = pattern.mesh(as_decimal(garment.edge_length))
    obj.data = _mesh(meshed, old.name, context.scene.unit_settings.scale_length)
    for material in old.materials:
        obj.data.materials.append(material)
    if not old.users:
        bpy.data.meshes.remove(old)
    return found + _set_up(obj, pattern, meshed)


def fabrics_again(obj: Object) -> list[str]:
    """Gives a garment the fabrics of its panels; returns remarks."""
    pattern = _with_panels(obj.weft.garment)
    obj.weft.garment.pattern = pattern.to_text("json")
    return panel_fabrics.assign(obj, [panel["area"] for panel in pattern.panels])


def _with_panels(garment: WeftGarment) -> Any:
    """The pattern of a garment with the edge lengths and fabrics that its panels have."""
    content = json.loads(garment.pattern)
    units = content["properties"]["units_in_meter"]
    for panel in garment.panels:
        entry = content["pattern"]["panels"][panel.name]
        length = as_decimal(panel.edge_length) * units
        entry["edge_length"], entry["fabric"] = length or None, panel.fabric or None
    return bridge.library().Pattern(json.dumps(content))


def _set_up(obj: Object, pattern: Any, meshed: Any) -> list[str]:
    """What depends on the mesh of a garment; returns remarks on fabrics."""
    settings = obj.weft
    settings.sewing_time = max(MIN_SEWING_TIME, _widest_gap(meshed) / SEWING_SPEED)
    settings.garment.pattern = pattern.to_text("json")
    starts = meshed.panel_starts.tolist()
    for panel, (first, end) in zip(pattern.panel_names, pairwise(starts), strict=True):
        group = obj.vertex_groups.get(panel) or obj.vertex_groups.new(name=panel)
        group.add(range(first, end), 1.0, "REPLACE")
    return panel_fabrics.assign(obj, [panel["area"] for panel in pattern.panels])


def _widest_gap(meshed: Any) -> float:
    """Largest distance of a sewn pair, in m."""
    ends = meshed.positions[meshed.seams]
    return float(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).max(initial=0.0))


def shown_name(path: str) -> str:
    """Name of the object of a file."""
    return Path(path).stem.removesuffix("_specification") or "Garment"


def _mesh(meshed: Any, name: str, scale: float) -> Mesh:
    faces, panels = _faces(meshed)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata((meshed.positions / scale).tolist(), [], faces)
    mesh.attributes.new(seams.PANEL, "INT", "FACE").data.foreach_set("value", panels)
    uv = side_by_side(meshed.uv, meshed.panel_starts)
    corners = np.concatenate([np.asarray(face) for face in faces])
    layer = mesh.uv_layers.new(name=UV_NAME)
    layer.uv.foreach_set("vector", uv[corners].astype(np.float32).ravel())
    seams.add_edges(mesh, meshed.seams, meshed.stitch_of_seam + 1)
    return mesh


def _faces(meshed: Any) -> tuple[list[list[int]], np.ndarray]:
    """Quads of the regular cells and triangles of the rest, with the panel of each."""
    firsts = meshed.cell_triangles
    is_in_cell = np.zeros(len(meshed.triangles), bool)
    is_in_cell[firsts] = is_in_cell[firsts + 1] = True
    faces = meshed.cells.tolist() + meshed.triangles[~is_in_cell].tolist()
    panels = meshed.panel_of_triangle
    return faces, np.concatenate([panels[firsts], panels[~is_in_cell]]).astype(np.int32)


def side_by_side(uv: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Points of panels moved apart, in rows; `starts` as of `weft.PatternMesh`."""
    pieces = [uv[first:end] for first, end in pairwise(starts)]
    sizes = np.array([np.ptp(piece, axis=0) + GAP for piece in pieces])
    row = max(sizes[:, 0].max(), np.sqrt(ASPECT * sizes.prod(axis=1).sum()))
    placed = np.empty_like(uv)
    corner, height = np.zeros(2), 0.0
    for first, piece, size in zip(starts[:-1], pieces, sizes, strict=True):
        if corner[0] > 0.0 and corner[0] + size[0] > row:
            corner, height = np.array((0.0, corner[1] + height)), 0.0
        placed[first : first + len(piece)] = piece - piece.min(axis=0) + corner
        corner[0], height = corner[0] + size[0], max(height, size[1])
    return placed
