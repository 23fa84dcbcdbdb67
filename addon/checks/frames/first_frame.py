# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the first frame: intersections, and gaps below the contact thickness."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from bpy.types import Context, Mesh, Object

from ...blender import mesh_arrays, scene_time
from ...scene import deforming_nodes, evaluation_state, geometry
from ...scene.evaluated import evaluated_mesh, to_world
from ...scene.reader import SceneReader
from ...simulation import bridge
from .. import intersection, support
from ..finding import ERROR, INFO, WARNING, Finding, on_elements, on_object

INTERSECTS = (
    "Cloth that starts in an intersection is simulated anyway: what crosses is drawn apart within "
    "the first frames. It looks better, and is sure, when it starts apart"
)
NOT_SIMULATED = (
    "The mesh without them is simulated, and they act on the result. Where they make a part of the "
    "garment, apply them before"
)
GAP_TOLERANCE_FACTOR = 0.98  # fraction of the gap, so that meshes placed exactly at the gap pass


@dataclass(frozen=True)
class Placed:
    """A participant at the first frame."""

    obj: Object
    surface: intersection.Surface
    faces: np.ndarray  # face index of each triangle of a cloth
    thickness: float


def check(context: Context, cloths: list[Object], colliders: list[Object]) -> Iterator[Finding]:
    """Findings of the first frame."""
    for obj in cloths:
        for name in deforming_nodes.detect(context, obj):
            yield on_object(WARNING, obj, f"the nodes '{name}' change its mesh", NOT_SIMULATED)
    evaluation_state.prepare(context, cloths, colliders)
    try:
        scene_time.go_to(context.scene, scene_time.frame_range(context.scene)[0])
        placed = [_place(context, obj) for obj in (*cloths, *colliders)]
        reader, refusal = _read(context, cloths, colliders)
    except (ValueError, RuntimeError) as error:
        yield _refusal_finding("The first frame cannot be read", error)
        return
    finally:
        evaluation_state.restore()
    if reader is not None:
        yield from support.check(reader, cloths)
    yield from refusal
    yield from _intersections(placed[: len(cloths)], placed[len(cloths) :])


def _place(context: Context, obj: Object) -> Placed:
    depsgraph, scale = context.evaluated_depsgraph_get(), context.scene.unit_settings.scale_length
    evaluated = obj.evaluated_get(depsgraph)
    if obj.weft.role != "CLOTH":
        found = geometry.read(evaluated, depsgraph, scale)
        surface = intersection.Surface(found.points, found.triangles)
        return Placed(obj, surface, np.empty(0, np.int32), obj.weft.thickness)
    with evaluated_mesh(evaluated) as mesh:
        points = mesh_arrays.coordinates(mesh)
        triangles, faces = mesh_arrays.triangles(mesh), _faces(mesh)
    surface = intersection.Surface(to_world(points, evaluated, scale), triangles)
    return Placed(obj, surface, faces, obj.weft.material.thickness)


def _faces(mesh: Mesh) -> np.ndarray:
    faces = np.empty(len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("polygon_index", faces)
    return faces


def _read(
    context: Context, cloths: list[Object], colliders: list[Object]
) -> tuple[SceneReader | None, list[Finding]]:
    """The scene as a bake reads it, and errors of reading or of the library that prevent one."""
    first = scene_time.frame_range(context.scene)[0]
    try:
        reader = SceneReader(context, cloths, colliders, first)
    except (ValueError, RuntimeError) as error:
        return None, [_refusal_finding("The first frame cannot be read", error)]
    if bridge.problem():
        return reader, []
    try:
        bridge.SimulationBuilder(context.scene, reader).at_start()
    except (ValueError, TypeError, RuntimeError) as error:
        return reader, [_refusal_finding("The library refuses", error)]
    return reader, []


def _refusal_finding(subject: str, error: Exception) -> Finding:
    return Finding(ERROR, f"{subject}: {error}", "A bake would be refused for this reason")


def _intersections(cloths: list[Placed], colliders: list[Placed]) -> Iterator[Finding]:
    for cloth in cloths:
        yield from _found(
            cloth, intersection.self_intersections(cloth.surface), "faces cross each other"
        )
    for one, other in combinations(cloths, 2):
        first, second = intersection.intersections(one.surface, other.surface)
        yield from _found(one, first, f"faces cross '{other.obj.name}'")
        yield from _found(other, second, f"faces cross '{one.obj.name}'")
    for cloth in cloths:
        for collider in colliders:
            triangles, _others = intersection.intersections(cloth.surface, collider.surface)
            yield from _found(cloth, triangles, f"faces cross the collider '{collider.obj.name}'")
            if not len(triangles):
                yield from _initial_gap(cloth, collider)
    for collider in colliders:
        yield from _collider_self_intersections(collider)


def _found(placed: Placed, triangles: np.ndarray, text: str) -> Iterator[Finding]:
    if len(triangles):
        faces = np.unique(placed.faces[triangles])
        yield on_elements(WARNING, placed.obj, text, INTERSECTS, domain="FACE", indices=faces)


def _collider_self_intersections(collider: Placed) -> Iterator[Finding]:
    triangles = intersection.approximate_self_intersections(collider.surface)
    if len(triangles):
        text = f"{len(triangles)} of its triangles cross each other"
        meaning = (
            "A collider may cross itself, as bodies do in the armpits; cloth that is caught there "
            "is pressed out again, and is counted in the statistics until it is"
        )
        yield on_object(INFO, collider.obj, text, meaning)


def _initial_gap(cloth: Placed, collider: Placed) -> Iterator[Finding]:
    gap = GAP_TOLERANCE_FACTOR * (cloth.thickness + collider.thickness)
    tree = collider.surface.tree
    near = [
        index
        for index, point in enumerate(cloth.surface.positions.tolist())
        if tree.find_nearest(point, gap)[0] is not None
    ]
    if near:
        meaning = (
            f"The gap that both keep is {1000 * gap / GAP_TOLERANCE_FACTOR:.3g} mm. The cloth is "
            "pressed out to it within the first frames"
        )
        text = f"vertices start closer to '{collider.obj.name}' than both are thick"
        yield on_elements(
            INFO, cloth.obj, text, meaning, domain="VERT", indices=np.array(near, np.int64)
        )
