# SPDX-License-Identifier: GPL-3.0-or-later
"""Animation frames, which are baked, and timeline frames, which the user sees.

Both agree unless the scene uses Output > Frame Range > Time Stretching. Keyframes and results are
then in animation frames: a scene at half speed shows its cloth in slow motion, and only every
second timeline frame shows a baked frame.
"""

import math

from bpy.types import Scene


def time_stretch(scene: Scene) -> float:
    """Timeline frames per animation frame."""
    return scene.render.frame_map_new / scene.render.frame_map_old


def go_to(scene: Scene, frame: float) -> None:
    """Sets the scene to an animation frame, or to a place between two."""
    if scene.render.frame_map_new == scene.render.frame_map_old and frame == math.floor(frame):
        scene.frame_set(math.floor(frame))
        return
    whole = math.floor(frame * time_stretch(scene))
    scene.frame_set(whole, subframe=frame * time_stretch(scene) - whole)


def frame_range(scene: Scene) -> tuple[int, int]:
    """First and last animation frame of a bake."""
    settings = scene.weft
    if not settings.use_scene_range:
        return settings.frame_start, settings.frame_end
    factor = time_stretch(scene)
    return math.floor(scene.frame_start / factor), math.ceil(scene.frame_end / factor)


def current(scene: Scene) -> float:
    """The animation frame that is shown."""
    return scene.frame_current_final
