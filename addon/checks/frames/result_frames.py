# SPDX-License-Identifier: GPL-3.0-or-later
"""What modifiers make of a result that crosses, though the simulated mesh does not.

Subdivision rounds faces off and Solidify thickens them, into what the simulated mesh only just
keeps away from. The surface that is drawn is measured at some frames of the result. As far as it
is away from the simulated mesh where it crosses, so much wider has the gap to be.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from bpy.types import Context, Depsgraph, Object
from mathutils.bvhtree import BVHTree
from mathutils.kdtree import KDTree

from ...blender import mesh_arrays, modifier_state, scene_time
from ...cache import pc2
from ...scene import geometry
from ...scene.evaluated import to_world
from ...storage import cache_paths
from .. import intersection
from ..finding import WARNING, Finding, on_elements

SAMPLES = 8  # frames that are looked at
LOOKING_SECONDS = 4.0  # after which no further frame is looked at


@dataclass(frozen=True)
class Crossing:
    """Where what is drawn of a cloth crosses most: at a frame, and by how much too little gap."""

    frame: int
    count: int  # triangles that are drawn
    vertices: np.ndarray  # of the cloth beside them
    excess: float  # distance of these from the simulated mesh, in m


_enough: dict[int, float] = {}  # session uid of a cloth -> thickness that is enough, in m


def check(context: Context, cloths: list[Object], colliders: list[Object]) -> Iterator[Finding]:
    """Findings about what is drawn of the results of cloths."""
    frame = (context.scene.frame_current, context.scene.frame_subframe)
    try:
        for obj in filter(_is_changed_by_modifiers, cloths):
            worst = _worst(context, obj, colliders)
            if worst is not None:
                yield _finding(obj, worst)
    finally:
        context.scene.frame_set(frame[0], subframe=frame[1])


def widen(_context: Context, obj: Object) -> None:
    """Gives a cloth the gap that was found to be enough."""
    if obj.session_uid not in _enough:
        raise ValueError("check the scene again: the gap is not known any more")
    obj.weft.material.thickness = _enough.pop(obj.session_uid)


def _is_changed_by_modifiers(obj: Object) -> bool:
    made = (m for m in obj.modifiers if modifier_state.is_generative(m) and m.show_viewport)
    return obj.weft.result.shown and any(made)


def _finding(obj: Object, worst: Crossing) -> Finding:
    thickness = obj.weft.material.thickness + worst.excess
    _enough[obj.session_uid] = thickness
    names = [m.name for m in obj.modifiers if modifier_state.is_generative(m) and m.show_viewport]
    meaning = (
        f"At frame {worst.frame} what {' and '.join(names)} make of the baked mesh crosses in "
        f"{worst.count} triangles: it is up to {1e3 * worst.excess:.2g} mm away from that. A "
        f"Thickness of {thickness:.2g} m leaves room for it: Fix sets that, then bake again"
    )
    if any(m.type == "SOLIDIFY" and m.offset < 1.0 and m.show_viewport for m in obj.modifiers):
        meaning += ". Solidify with Offset 1 grows outwards only, away from a body"
    text = "vertices where modifiers make the result cross"
    found = on_elements(WARNING, obj, text, meaning, domain="VERT", indices=worst.vertices)
    return Finding(**{**vars(found), "fix": "wider_gap"})


def _worst(context: Context, obj: Object, colliders: list[Object]) -> Crossing | None:
    """The frame of most crossings among some frames of a result."""
    result, found = obj.weft.result, []
    last, until = result.frame_start + result.frame_count - 1, time.perf_counter() + LOOKING_SECONDS
    samples = np.linspace(result.frame_start, last, SAMPLES).round().astype(int)
    for frame in np.unique(samples)[::-1].tolist():
        scene_time.go_to(context.scene, frame)
        depsgraph = context.evaluated_depsgraph_get()
        crossing = _crossing(context, obj, colliders, depsgraph, frame)
        if crossing is not None:
            found.append(crossing)
        if time.perf_counter() > until:
            break
    return max(found, key=lambda each: each.count, default=None)


def _crossing(
    context: Context, obj: Object, colliders: list[Object], depsgraph: Depsgraph, frame: int
) -> Crossing | None:
    stem, scale = cache_paths.stem(context.scene, obj), context.scene.unit_settings.scale_length
    description = pc2.cached_description(stem)
    points = None if description is None else pc2.frame(stem, description, frame)
    if points is None or len(points) != len(obj.data.vertices):
        return None
    evaluated = obj.evaluated_get(depsgraph)
    simulated = to_world(points, evaluated, scale)
    drawn = geometry.read(evaluated, depsgraph, scale)
    surface = intersection.Surface(drawn.points, drawn.triangles)
    crossed = [intersection.self_intersections(surface)]
    for collider in colliders:
        try:
            other = geometry.read(collider.evaluated_get(depsgraph), depsgraph, scale)
        except ValueError:  # disabled in viewports
            continue
        body = intersection.Surface(other.points, other.triangles)
        crossed.append(intersection.intersections(surface, body)[0])
    triangles = np.unique(np.concatenate(crossed))
    if not len(triangles):
        return None
    corners = np.unique(surface.triangles[triangles])
    places = surface.positions[corners]
    excess = _distance(simulated, mesh_arrays.triangles(obj.data), places)
    return Crossing(frame, len(triangles), _nearest(simulated, places), excess)


def _distance(points: np.ndarray, triangles: np.ndarray, places: np.ndarray) -> float:
    """Largest distance of places from a surface."""
    tree = BVHTree.FromPolygons(points.tolist(), triangles.tolist())
    return max(tree.find_nearest(place)[3] for place in places.tolist())


def _nearest(points: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Vertices that are nearest to places."""
    tree = KDTree(len(points))
    for index, point in enumerate(points.tolist()):
        tree.insert(point, index)
    tree.balance()
    return np.unique([tree.find(place)[1] for place in places.tolist()])
