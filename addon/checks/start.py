# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the first frame: what crosses, and what is closer than it is thick."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from bpy.types import Context, Mesh, Object

from ..blender import mesh_arrays, scene_time
from ..scene import deforming_nodes, evaluation_state
from ..scene.reader import SceneReader, mesh_of, to_world
from ..simulation import bridge
from . import crossing
from .finding import ERROR, INFO, WARNING, Finding, on_elements, on_object

CROSSES = (
    "Cloth that starts in an intersection is simulated anyway: what crosses is drawn apart within "
    "the first frames. It looks better, and is sure, when it starts apart"
)
CLOSE = 0.98  # of the gap, so that what was placed exactly is not found


@dataclass(frozen=True)
class Placed:
    """A participant where it starts."""

    obj: Object
    surface: crossing.Surface
    faces: np.ndarray  # the face that each triangle belongs to
    thickness: float


def check(context: Context, cloths: list[Object], colliders: list[Object]) -> Iterator[Finding]:
    """Findings of the first frame."""
    for obj in cloths:
        deforming_nodes.find_deforming(context, obj)
    evaluation_state.prepare(context, cloths, colliders)
    try:
        scene_time.go_to(context.scene, scene_time.frame_range(context.scene)[0])
        placed = [_place(context, obj) for obj in (*cloths, *colliders)]
        refusal = list(_refusal(context, cloths, colliders))
    except (ValueError, RuntimeError) as error:
        yield _refused("The first frame cannot be read", error)
        return
    finally:
        evaluation_state.repair()
    yield from refusal
    yield from _crossings(placed[: len(cloths)], placed[len(cloths) :])


def _place(context: Context, obj: Object) -> Placed:
    evaluated = obj.evaluated_get(context.evaluated_depsgraph_get())
    with mesh_of(evaluated) as mesh:
        points = mesh_arrays.coordinates(mesh)
        triangles, faces = mesh_arrays.triangles(mesh), _faces(mesh)
    positions = to_world(points, evaluated, context.scene.unit_settings.scale_length)
    owner = obj.weft.material if obj.weft.role == "CLOTH" else obj.weft
    return Placed(obj, crossing.Surface(positions, triangles), faces, owner.thickness)


def _faces(mesh: Mesh) -> np.ndarray:
    faces = np.empty(len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("polygon_index", faces)
    return faces


def _refusal(context: Context, cloths: list[Object], colliders: list[Object]) -> Iterator[Finding]:
    """What keeps a bake from starting: what cannot be read, and what the library says of it."""
    first = scene_time.frame_range(context.scene)[0]
    try:
        reader = SceneReader(context, cloths, colliders, first)
    except (ValueError, RuntimeError) as error:
        yield _refused("The first frame cannot be read", error)
        return
    if bridge.problem():
        return
    try:
        bridge.build_simulation(context.scene, reader)
    except (ValueError, TypeError, RuntimeError) as error:
        yield _refused("The library refuses", error)


def _refused(what: str, error: Exception) -> Finding:
    return Finding(ERROR, f"{what}: {error}", "A bake would be refused for this reason")


def _crossings(cloths: list[Placed], colliders: list[Placed]) -> Iterator[Finding]:
    for cloth in cloths:
        yield from _found(cloth, crossing.with_itself(cloth.surface), "faces cross each other")
    for one, other in combinations(cloths, 2):
        first, second = crossing.between(one.surface, other.surface)
        yield from _found(one, first, f"faces cross '{other.obj.name}'")
        yield from _found(other, second, f"faces cross '{one.obj.name}'")
    for cloth in cloths:
        for collider in colliders:
            crossed, _by = crossing.between(cloth.surface, collider.surface)
            yield from _found(cloth, crossed, f"faces cross the collider '{collider.obj.name}'")
            if not len(crossed):
                yield from _closeness(cloth, collider)
    for collider in colliders:
        yield from _own_crossings(collider)


def _found(placed: Placed, triangles: np.ndarray, text: str) -> Iterator[Finding]:
    if len(triangles):
        faces = np.unique(placed.faces[triangles])
        yield on_elements(WARNING, placed.obj, text, CROSSES, domain="FACE", indices=faces)


def _own_crossings(collider: Placed) -> Iterator[Finding]:
    crossed = crossing.with_itself_roughly(collider.surface)
    if len(crossed):
        text = f"{len(crossed)} of its triangles cross each other"
        meaning = (
            "A collider may cross itself, as bodies do in the armpits; cloth that is caught there "
            "is pressed out again, and is counted in the statistics until it is"
        )
        yield on_object(INFO, collider.obj, text, meaning)


def _closeness(cloth: Placed, collider: Placed) -> Iterator[Finding]:
    gap = CLOSE * (cloth.thickness + collider.thickness)
    tree = collider.surface.tree
    near = [
        index
        for index, point in enumerate(cloth.surface.positions.tolist())
        if tree.find_nearest(point, gap)[0] is not None
    ]
    if near:
        meaning = (
            f"The gap that both keep is {1000 * gap / CLOSE:.3g} mm. The cloth is pressed out to "
            "it within the first frames"
        )
        text = f"vertices start closer to '{collider.obj.name}' than both are thick"
        yield on_elements(
            INFO, cloth.obj, text, meaning, domain="VERT", indices=np.array(near, np.int64)
        )
