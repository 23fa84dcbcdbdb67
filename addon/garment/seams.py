# SPDX-License-Identifier: GPL-3.0-or-later
"""Seams of a garment: loose edges, each between two vertices that are sewn together.

The edges of a seam follow each other as along its two sides; the first vertices are one side, the
second ones the other. The edge attribute `seam` has its number, from 1 on; 0 are edges that were
made otherwise.
"""

from dataclasses import dataclass

import bmesh
import numpy as np
from bpy.types import Mesh, Object

from ..blender import mesh_arrays

SEAM, PANEL = "seam", "panel"  # attributes of edges and of faces


@dataclass(frozen=True)
class Seams:
    """All sewn pairs of a mesh, in the order of its loose edges as `weft.Cloth` gets them."""

    pairs: np.ndarray  # vertices, (pairs, 2)
    numbers: np.ndarray  # of the seams, (pairs,)
    names: dict[int, str]  # of the seams


def add_edges(mesh: Mesh, pairs: np.ndarray, numbers: np.ndarray) -> None:
    """Adds loose edges behind all others, which keep their order and ends so.

    Not by `mesh.edges.add`, which Blender 5.2 crashes in where a mesh has edges already.
    """
    shape = bmesh.new()
    shape.from_mesh(mesh)
    attribute = shape.edges.layers.int.get(SEAM) or shape.edges.layers.int.new(SEAM)
    shape.verts.ensure_lookup_table()
    for ends, number in zip(pairs.tolist(), numbers.tolist(), strict=True):
        pair = [shape.verts[end] for end in ends]
        edge = shape.edges.get(pair) or shape.edges.new(pair)
        edge[attribute] = number
    shape.to_mesh(mesh)
    shape.free()


def of(obj: Object) -> Seams:
    """Seams of an object in object mode."""
    mesh = obj.data
    loose = mesh_arrays.loose_edge_indices(mesh)
    pairs = mesh_arrays.edges(mesh)[loose]
    numbers = np.zeros(len(mesh.edges), np.int32)
    attribute = mesh.attributes.get(SEAM)
    if attribute is not None and attribute.domain == "EDGE" and attribute.data_type == "INT":
        attribute.data.foreach_get("value", numbers)
    numbers = numbers[loose]
    panels = _panel_of_vertices(obj)
    names = {}
    for number in np.unique(numbers).tolist():
        first = pairs[np.flatnonzero(numbers == number)[0]]
        names[number] = name(number, [panels.get(int(vertex), "") for vertex in first])
    return Seams(pairs, numbers, names)


def name(number: int, panels: list[str]) -> str:
    """Name of a seam, by its number and the panels of its sides where they are known."""
    title = f"seam {number}" if number else "the seams without a number"
    if not number or not all(panels):
        return title
    one, other = panels
    return f"{title} (in '{one}')" if one == other else f"{title} ('{one}' to '{other}')"


def _panel_of_vertices(obj: Object) -> dict[int, str]:
    """Names of the panels of all vertices of a garment with panels."""
    mesh, panels = obj.data, obj.weft.garment.panels
    attribute = mesh.attributes.get(PANEL)
    if attribute is None or attribute.domain != "FACE" or attribute.data_type != "INT":
        return {}
    values = np.empty(len(mesh.polygons), np.int32)
    attribute.data.foreach_get("value", values)
    corners = np.repeat(values, mesh_arrays.corner_counts(mesh)).tolist()
    titles = [panel.name for panel in panels]
    vertices = mesh_arrays.corner_vertices(mesh).tolist()
    known = zip(vertices, corners, strict=True)
    return {vertex: titles[panel] for vertex, panel in known if 0 <= panel < len(titles)}


# --- pairs of two runs ------------------------------------------------------------------------


def paired(first: np.ndarray, second: np.ndarray) -> list[tuple[int, int]]:
    """Pairs of places on two runs, by lengths along each: every place is in one or more.

    Each place meets the nearest one by its share of the length, which keeps their order.
    """
    one, other = first / first[-1], second / second[-1]
    pairs = {(k, int(np.abs(other - share).argmin())) for k, share in enumerate(one)}
    pairs |= {(int(np.abs(one - share).argmin()), k) for k, share in enumerate(other)}
    return sorted(pairs)
