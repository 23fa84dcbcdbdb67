# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of single objects: their meshes and settings."""

from collections.abc import Iterator

import numpy as np
from bpy.types import Depsgraph, Mesh, Object

from ..blender import mesh_arrays
from ..scene import geometry, multiplied
from ..scene.participants import GROUP_USES
from ..scene.pins import modifier_writes_weights
from .finding import ERROR, INFO, WARNING, Finding, on_elements, on_object

TINY_AREA = 1e-4  # of the median area of the faces
DEGENERATE_AREA = 1e-9
SMALLEST, LARGEST = 0.005, 100.0  # plausible sizes of a cloth, in m
ANISOTROPIC = 1.2  # ratio of warp and weft from which the yarn direction matters
MAX_GUARDED_CORNERS = 8  # of a face that the library guards however Blender draws it
CONCAVE = 1e-3  # turn of a reflex corner, relative to the area of its face
SHORT_EDGE_FRACTION = 0.05  # fraction of the edges that may be shorter than the gap


def check_cloth(obj: Object, scale_length: float) -> Iterator[Finding]:
    """Findings about a cloth, without evaluation of the scene."""
    yield from _scale(obj)
    yield from _modifiers(obj)
    yield from _topology(obj)
    yield from _unguarded_faces(obj)
    yield from _areas(obj)
    yield from _size_and_thickness(obj, scale_length)
    yield from _yarns(obj)
    yield from _groups(obj)
    yield from _written_weights(obj)
    yield from _sewing(obj)


def check_collider(obj: Object, depsgraph: Depsgraph) -> Iterator[Finding]:
    """Findings about a collider at the current frame."""
    evaluated = obj.evaluated_get(depsgraph)
    if evaluated.is_evaluated and not len(geometry.read(evaluated, depsgraph, 1.0).triangles):
        meaning = (
            "What has no faces at the first frame stops no cloth. A curve needs Bevel or Extrude, "
            "an empty a collection to instance, nodes have to make faces"
        )
        yield on_object(WARNING, obj, "it has no faces", meaning)
    if obj.type == "MESH" and (obj.modifiers or obj.data.shape_keys is not None):
        yield from _unguarded_faces(obj)


# --- transform --------------------------------------------------------------------------------


def _scale(obj: Object) -> Iterator[Finding]:
    factors = np.array(obj.matrix_world.to_scale())
    if obj.parent is None and not len(obj.constraints):
        factors = np.array(obj.scale) * np.array(obj.delta_scale)  # with the sign of each axis
    if np.allclose(factors, 1.0, atol=1e-4):
        return
    text = "scale {:.3g}, {:.3g}, {:.3g} is not applied".format(*factors)
    meaning = (
        "The cloth is simulated at the size that it is shown in, so this is allowed; but an "
        "animated scale does not change the size of the fabric, and a UV map in metres or the "
        "Pattern rest shape does not know of it. Fix applies the scale to the mesh"
    )
    even = np.ptp(np.abs(factors)) < 1e-4 * np.abs(factors).max() and (factors > 0).all()
    severity = INFO if even else WARNING
    yield on_object(severity, obj, text, meaning, "apply_scale" if _scale_is_free(obj) else "")


def _scale_is_free(obj: Object) -> bool:
    """Whether applying the scale has no side effects."""
    is_simple = obj.parent is None and obj.library is None and obj.data.users == 1
    has_animation = obj.animation_data is not None and obj.animation_data.action is not None
    return is_simple and not has_animation and not len(obj.constraints)


def _modifiers(obj: Object) -> Iterator[Finding]:
    if any(modifier.type == "CLOTH" for modifier in obj.modifiers):
        meaning = (
            "Two simulations of one mesh: Blender's has no effect while a result of Weft is shown, "
            "and deforms the start of a bake before that. Fix removes Blender's modifier"
        )
        text = "it has Blender's own Cloth modifier as well"
        yield on_object(WARNING, obj, text, meaning, "remove_blenders_cloth")

    for modifier in multiplied.modifiers(obj):
        if not multiplied.continues(modifier):
            meaning = (
                "The mesh without it is simulated; its copies move as that does, and touch "
                "nothing. Fix applies it, so that all are simulated"
            )
            text = f"what the modifier '{modifier.name}' makes is not simulated"
            yield on_object(INFO, obj, text, meaning, "apply_modifiers")


# --- mesh -------------------------------------------------------------------------------------


def _topology(obj: Object) -> Iterator[Finding]:
    mesh = obj.data
    corners = mesh_arrays.corner_vertices(mesh)
    used = np.zeros(len(mesh.vertices), bool)
    used[corners] = True
    yield from _loose(obj, np.flatnonzero(~used))
    uses = mesh_arrays.edge_uses(mesh)
    if (uses > 2).any():
        meaning = (
            "A fabric has one face on each side of an edge. Separate the third one, or make it a "
            "cloth of its own"
        )
        indices = np.flatnonzero(uses > 2)
        yield on_elements(
            ERROR, obj, "edges with three or more faces", meaning, domain="EDGE", indices=indices
        )


def _loose(obj: Object, loose: np.ndarray) -> Iterator[Finding]:
    """Vertices without a face; those at edges are meant for something."""
    if not obj.data.polygons:
        return  # reported as a whole
    alone = np.setdiff1d(loose, mesh_arrays.edges(obj.data))
    if len(alone):
        meaning = "A vertex without a face has no mass and cannot be simulated. Fix deletes them"
        text = "vertices in no face"
        found = on_elements(ERROR, obj, text, meaning, domain="VERT", indices=alone)
        yield _with_fix(found, "delete_loose")
    hooks = np.setdiff1d(loose, alone)
    if len(hooks):
        meaning = (
            "A vertex without a face has no mass, so nothing can be sewn to it or hang from it. To "
            "hold cloth at a point, attach a vertex of the cloth itself (Pins panel)"
        )
        text = "vertices at edges without a face"
        yield on_elements(ERROR, obj, text, meaning, domain="VERT", indices=hooks)


def _unguarded_faces(obj: Object) -> Iterator[Finding]:
    unguarded = unguarded_faces(obj.data)
    if not len(unguarded):
        return
    meaning = (
        "Blender cuts a face into triangles anew where it bends. Of concave faces, and of those "
        f"with more than {MAX_GUARDED_CORNERS} corners, these may cross other surfaces a little. "
        "Fix triangulates them"
    )
    text = "faces that are concave or have many corners"
    found = on_elements(WARNING, obj, text, meaning, domain="FACE", indices=unguarded)
    yield _with_fix(found, "triangulate")


def unguarded_faces(mesh: Mesh) -> np.ndarray:
    """Faces of which Blender may draw triangles that the library does not guard."""
    counts, points = mesh_arrays.corner_counts(mesh), mesh_arrays.coordinates(mesh)
    corners = points[mesh_arrays.corner_vertices(mesh)]
    starts = np.cumsum(counts) - counts
    is_unguarded = counts > MAX_GUARDED_CORNERS
    for count in range(4, MAX_GUARDED_CORNERS + 1):
        faces = np.flatnonzero(counts == count)
        shapes = corners[starts[faces][:, None] + np.arange(count)].astype(np.float64)
        sides = np.roll(shapes, -1, axis=1) - shapes
        turns = np.cross(np.roll(sides, 1, axis=1), sides)
        areas = np.cross(shapes, np.roll(shapes, -1, axis=1)).sum(axis=1)
        outward = np.einsum("fck,fk->fc", turns, areas)
        size = np.einsum("fk,fk->f", areas, areas)
        is_unguarded[faces] = outward.min(axis=1, initial=0.0) < -CONCAVE * size
    return np.flatnonzero(is_unguarded)


def _with_fix(found: Finding, fix: str) -> Finding:
    return Finding(**{**found.__dict__, "fix": fix})


def _areas(obj: Object) -> Iterator[Finding]:
    mesh = obj.data
    if not mesh.polygons:
        made = "edges only" if len(mesh.edges) else "no faces"
        meaning = (
            "A cloth needs faces: they are the fabric. A cord or net of edges is no cloth: give it "
            "faces, as by Edge > Extrude Edges, or by a Skin modifier that is applied"
        )
        yield on_object(ERROR, obj, made, meaning)
        return
    areas = np.empty(len(mesh.polygons), np.float32)
    mesh.polygons.foreach_get("area", areas)
    typical = float(np.median(areas))
    if not np.isfinite(areas).all():
        bad = np.flatnonzero(~np.isfinite(areas))
        meaning = "These faces have corners that are nowhere: delete them"
        yield on_elements(ERROR, obj, "broken faces", meaning, domain="FACE", indices=bad)
        return
    flat = areas <= DEGENERATE_AREA * max(typical, 1e-20)
    if flat.any():
        meaning = "Faces without an area have no shape at rest: merge their vertices by distance"
        indices = np.flatnonzero(flat)
        yield on_elements(ERROR, obj, "faces without area", meaning, domain="FACE", indices=indices)
    tiny = ~flat & (areas < TINY_AREA * typical)
    if tiny.any():
        meaning = (
            "Faces that are far smaller than the others make the equations hard to solve and "
            "the bake slow. Dissolve them, or merge vertices by distance"
        )
        indices = np.flatnonzero(tiny)
        yield on_elements(WARNING, obj, "tiny faces", meaning, domain="FACE", indices=indices)


# --- sizes ------------------------------------------------------------------------------------


def _size_and_thickness(obj: Object, scale_length: float) -> Iterator[Finding]:
    matrix = np.array(obj.matrix_world, np.float64)
    points = mesh_arrays.transformed(mesh_arrays.rest_coordinates(obj.data), matrix) * scale_length
    if not len(points) or not np.isfinite(points).all():
        return
    size = float(np.ptp(points, axis=0).max())
    if not SMALLEST <= size <= LARGEST:
        meaning = (
            "Fabrics are measured in metres, kilograms and seconds, so a cloth of another size "
            "behaves otherwise. Scale the object, or set the unit scale of the scene"
        )
        yield on_object(WARNING, obj, f"it is {length_text(size)} large", meaning)
    ends = points[mesh_arrays.edges(obj.data)]
    lengths = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    yield from _thickness(obj, lengths)


def _thickness(obj: Object, lengths: np.ndarray) -> Iterator[Finding]:
    gap = 2.0 * obj.weft.material.thickness
    short = np.flatnonzero(lengths < gap)
    if len(short) <= SHORT_EDGE_FRACTION * len(lengths):
        return
    meaning = (
        f"Two layers of this cloth keep {length_text(gap)} apart, which is more than the length "
        "of these edges: wrinkles cannot be as fine as the mesh. Fix makes the fabric thinner"
    )
    found = on_elements(
        WARNING,
        obj,
        "edges are shorter than the cloth is thick",
        meaning,
        domain="EDGE",
        indices=short,
    )
    yield _with_fix(found, "thinner")


def length_text(length: float) -> str:
    """A length in a readable unit."""
    for unit, factor in (("m", 1.0), ("cm", 100.0), ("mm", 1000.0)):
        if length * factor >= 1.0:
            return f"{length * factor:.3g} {unit}"
    return f"{length * 1e6:.3g} µm"


# --- yarns and groups -------------------------------------------------------------------------


def _yarns(obj: Object) -> Iterator[Finding]:
    fabric = obj.weft.material
    pairs = ((fabric.stretch_warp, fabric.stretch_weft), (fabric.bend_warp, fabric.bend_weft))
    ratio = max(max(pair) / max(min(pair), 1e-12) for pair in pairs)
    follows = bool(obj.data.uv_layers) and obj.weft.use_uv
    if ratio < ANISOTROPIC or follows:
        return
    meaning = (
        "Warp and weft of this fabric differ, and without a UV map the warp runs along the "
        "longest side of the mesh. Unwrap the mesh, u along the warp, for yarns of your choice"
    )
    yield on_object(INFO, obj, "the yarns have no UV map to follow", meaning)


def _groups(obj: Object) -> Iterator[Finding]:
    name = obj.weft.pin_group
    if name and name not in obj.vertex_groups:
        meaning = "Choose another group in the Shape panel, or none"
        yield on_object(ERROR, obj, f"there is no pin group '{name}'", meaning)
    elif name and not len(mesh_arrays.grouped_vertices(obj, name)):
        meaning = "No vertex of the group has a weight above 0, so nothing is held"
        yield on_object(WARNING, obj, f"the pin group '{name}' holds nothing", meaning)


def _written_weights(obj: Object) -> Iterator[Finding]:
    """Groups whose weights a modifier changes, where only painted weights count."""
    for modifier in filter(modifier_writes_weights, obj.modifiers):
        name = getattr(modifier, "vertex_group", "") or getattr(modifier, "vertex_group_a", "")
        uses = [use for use in GROUP_USES if use != "pin" and _is_group_of(obj, use, name)]
        if uses:
            meaning = (
                "Weights that a modifier writes count for pins and attachments, at every frame. "
                "Elsewhere those that are painted count: apply the modifier"
            )
            use = uses[0].replace("_", " ")
            text = f"the modifier '{modifier.name}' changes its {use} group, without effect"
            yield on_object(WARNING, obj, text, meaning)


def _is_group_of(obj: Object, use: str, name: str) -> bool:
    """Whether a vertex group is that of a use."""
    return bool(name) and getattr(obj.weft, f"{use}_group") == name


def _sewing(obj: Object) -> Iterator[Finding]:
    if not obj.data.polygons:
        return  # reported as a whole
    loose = mesh_arrays.loose_edge_indices(obj.data)
    if obj.weft.use_sewing and not len(loose):
        meaning = (
            "Sewing draws the ends of edges together that belong to no face. Connect the borders "
            "of two panels by edges (Bridge Edge Loops, then delete only its faces), or switch "
            "Sewing off"
        )
        yield on_object(WARNING, obj, "there is nothing to sew", meaning)
    elif len(loose) and not obj.weft.use_sewing:
        meaning = "They do nothing unless Sewing is on, which draws their ends together"
        text = "edges in no face"
        yield on_elements(INFO, obj, text, meaning, domain="EDGE", indices=loose)
