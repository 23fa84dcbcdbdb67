# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a mesh is fine enough for the folds of its fabric, and the remedy."""

from collections.abc import Iterator

import bmesh
import numpy as np
from bpy.types import Context, Object

from ..blender import mesh_arrays
from .finding import INFO, WARNING, Finding, on_object
from .meshes import length_text

# Folds of a fabric under its weight scale with the length (B / (m g))^(1/3) of bending stiffness,
# mass per area and gravity: 8 of these are the wavelength of a drape over a plate of 18 cm, and a
# wave of less than 3 faces is a saw-tooth.
WAVELENGTH = 8.0  # of a fold, in these lengths
FACES_PER_WAVE = 3.0
LARGEST_MESH = 20000  # vertices up to which Fix subdivides
EARTH = 9.81  # m/s²
MAX_CORNERS = 4  # of faces that can be subdivided evenly


def check(obj: Object, scale_length: float) -> Iterator[Finding]:
    """Finding about a cloth whose faces are larger than its folds."""
    size, finest = face_size(obj, scale_length), largest_face(obj)
    if not np.isfinite(size) or size <= finest:
        return
    wave = FACES_PER_WAVE * finest
    meaning = (
        f"Folds of this fabric are about {length_text(wave)} wide, and a fold needs "
        f"{FACES_PER_WAVE:.0f} faces of {length_text(finest)} at most: a coarser mesh folds along "
        f"its edges or not at all. Fix subdivides it, up to {LARGEST_MESH} vertices"
    )
    severity = WARNING if size > wave else INFO
    text = f"faces of {length_text(size)} are too coarse for the folds of its fabric"
    yield on_object(severity, obj, text, meaning, "subdivide")


def largest_face(obj: Object) -> float:
    """Largest size of a face in m that shows the folds of the fabric of a cloth."""
    fabric = obj.weft.material
    bending = min(fabric.value("bend_warp"), fabric.value("bend_weft"))
    return WAVELENGTH / FACES_PER_WAVE * (bending / (fabric.density * EARTH)) ** (1.0 / 3.0)


def face_size(obj: Object, scale_length: float) -> float:
    """Size in m of the face in the middle of the area of a cloth: the root of its area."""
    matrix = np.array(obj.matrix_world, np.float64)
    points = mesh_arrays.transformed(mesh_arrays.rest_coordinates(obj.data), matrix) * scale_length
    triangles = mesh_arrays.triangles(obj.data)
    faces = np.empty(len(triangles), np.int32)
    obj.data.loop_triangles.foreach_get("polygon_index", faces)
    a, b, c = (points[triangles[:, k]] for k in range(3))
    halves = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2.0
    areas = np.bincount(faces, halves, len(obj.data.polygons))
    areas[mesh_arrays.corner_counts(obj.data) == 3] *= 2.0  # a triangle is half a square
    order = np.sort(areas)
    covered = np.cumsum(order)
    return float(np.sqrt(order[np.searchsorted(covered, covered[-1] / 2.0)]))


def subdivide(context: Context, obj: Object) -> None:
    """Halves edges of faces until they are short enough; seams stay whole."""
    longest = largest_face(obj) / context.scene.unit_settings.scale_length
    mesh = bmesh.new()
    mesh.from_mesh(obj.data)
    large = [face for face in mesh.faces if len(face.verts) > MAX_CORNERS]
    bmesh.ops.triangulate(mesh, faces=large)
    while True:
        long = [edge for edge in mesh.edges if _is_long(obj, edge, longest)]
        if not long or len(mesh.verts) + len(mesh.edges) + len(mesh.faces) > LARGEST_MESH:
            break
        bmesh.ops.subdivide_edges(mesh, edges=long, cuts=1, use_grid_fill=True)
        if large:  # fans of triangles become even
            bmesh.ops.beautify_fill(mesh, faces=mesh.faces[:], edges=mesh.edges[:])
    mesh.to_mesh(obj.data)
    mesh.free()
    obj.data.update()


def _is_long(obj: Object, edge: bmesh.types.BMEdge, longest: float) -> bool:
    """Whether an edge makes its faces too large; triangles have a diagonal."""
    if not edge.link_faces:
        return False
    first, second = (obj.matrix_world @ vertex.co for vertex in edge.verts)
    of_triangles = all(len(face.verts) == 3 for face in edge.link_faces)
    return (second - first).length > (np.sqrt(2.0) * longest if of_triangles else longest)
