# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of scene settings and of existing results."""

from collections.abc import Iterator

import numpy as np
from bpy.types import Object, Scene, ViewLayer

from ..bake import status
from ..blender import scene_time
from ..force_fields import snapshot
from ..scene.participants import excluded_cloths, instanced_colliders
from ..scene.reader import gravity
from ..simulation import bridge
from ..storage import cache_paths
from .finding import ERROR, INFO, WARNING, Finding, on_object

WEAK_GRAVITY, STRONG_GRAVITY = 0.1, 50.0  # m/s²; of the Moon: 1.6
LONG_FRAME = 1 / 12  # s


def check(scene: Scene, view_layer: ViewLayer, cloths: list[Object]) -> Iterator[Finding]:
    """Findings about the scene, its settings, results and caches."""
    if bridge.problem():
        yield Finding(ERROR, "The library cannot be used", bridge.problem())
    if not cloths:
        yield _no_cloth(scene, view_layer)
    for obj, kind in snapshot.unsupported(view_layer) if cloths else ():
        meaning = "Guides and boids act on particles only. Other force fields act on cloth"
        title = f"the force field '{kind.replace('_', ' ').title()}' does not act on cloth"
        yield on_object(INFO, obj, title, meaning)
    for obj, name in instanced_colliders(scene, view_layer) if cloths else ():
        meaning = (
            "Objects within an instance of a collection are not seen, unless the instance itself "
            "is a collider, with all that it holds. Fix sets its role"
        )
        title = f"it holds the collider '{name}', which is not seen"
        yield on_object(WARNING, obj, title, meaning, "as_collider")
    yield from _frames(scene)
    yield from _gravity(scene)
    for obj in cloths:
        yield from _result(scene, view_layer, obj)
    orphans = cache_paths.orphans(scene)
    if orphans:
        megabytes = cache_paths.size(orphans) / 1e6
        title = f"{len(orphans)} caches of deleted objects take {megabytes:.3g} MB"
        meaning = "They are kept in case the deletion is undone. Fix deletes them"
        yield Finding(INFO, title, meaning, fix="remove_orphans")


def hidden(obj: Object, view_layer: ViewLayer) -> Iterator[Finding]:
    """A collider that is not seen."""
    if not obj.visible_get(view_layer=view_layer):
        meaning = (
            "Cloth collides with what is hidden all the same, unless Visible Only is on in the "
            "panel Object Collisions. Set its role to None if it is in the way"
        )
        yield on_object(INFO, obj, "it is hidden, and stops cloth", meaning)


def _no_cloth(scene: Scene, view_layer: ViewLayer) -> Finding:
    excluded = excluded_cloths(scene, view_layer)
    if excluded:
        title = f"{excluded[0].name}: its collection is excluded from the view layer"
        return Finding(ERROR, title, "What is excluded takes no part: tick it in the Outliner")
    meaning = "Select a mesh and set its Role to Cloth in the Weft panel of the Physics tab"
    return Finding(ERROR, "There is no cloth in this scene", meaning)


def _frames(scene: Scene) -> Iterator[Finding]:
    first, last = scene_time.frame_range(scene)
    if last < first:
        meaning = "Set the end of the frame range behind its start"
        yield Finding(ERROR, f"The frame range is empty: {first} to {last}", meaning)
    seconds = scene.weft.speed * scene.render.fps_base / scene.render.fps
    if seconds > LONG_FRAME:
        title = f"Frames are long: {1.0 / seconds:.3g} a second"
        meaning = "Between two frames pins and colliders move in straight lines unless they turn"
        yield Finding(WARNING, title, meaning)
    if scene_time.time_stretch(scene) != 1.0:
        meaning = (
            "Time Stretching is on: the cloth is baked in the frames of the animation and plays in "
            "slow or fast motion like everything else"
        )
        yield Finding(INFO, "The scene is stretched in time", meaning)


def _gravity(scene: Scene) -> Iterator[Finding]:
    magnitude = float(np.linalg.norm(gravity(scene)))
    if magnitude == 0.0:
        meaning = "Nothing falls. If that is not meant, switch it on in the Scene tab"
        yield Finding(INFO, "There is no gravity", meaning)
    elif not WEAK_GRAVITY < magnitude < STRONG_GRAVITY:
        meaning = (
            "Blender's own unit of gravity is that of the scene, so it changes with the unit "
            "scale: 9.81 in a scene of millimetres is a thousandth of the gravity on Earth. Set it "
            "in the Scene tab to 9.81 m/s², as the field shows it"
        )
        is_scenes = scene.weft.use_scene_gravity
        text = f"Gravity is {magnitude:.3g} m/s²"
        yield Finding(
            WARNING,
            text,
            meaning + ("; Fix does" if is_scenes else ""),
            fix="earth_gravity" if is_scenes else "",
        )


def _result(scene: Scene, view_layer: ViewLayer, obj: Object) -> Iterator[Finding]:
    found = status.of(scene, view_layer, obj)
    if found.outdated:
        meaning = "What is shown was baked before. Bake again, or undo the change"
        yield on_object(WARNING, obj, f"its result is outdated: {found.outdated}", meaning)
    for problem in found.problems:
        yield on_object(WARNING, obj, problem, "Resume or Bake brings the cache in order")
