# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of the animation, in which is baked, and frames of the timeline, which is what is shown.

They are the same unless the scene is stretched in time (Output > Frame Range > Time Stretching).
Then keyframes, and with them the result, belong to frames of the animation: a scene that is played
at half the speed shows its cloth in slow motion, and only every second frame shows a baked one.
"""

import math

from bpy.types import Scene


def stretch(scene: Scene) -> float:
    """How many frames of the timeline one frame of the animation takes."""
    return scene.render.frame_map_new / scene.render.frame_map_old


def go_to(scene: Scene, frame: int) -> None:
    """Moves the scene to a frame of the animation."""
    if scene.render.frame_map_new == scene.render.frame_map_old:
        scene.frame_set(frame)
        return
    whole = math.floor(frame * stretch(scene))
    scene.frame_set(whole, subframe=frame * stretch(scene) - whole)


def frame_range(scene: Scene) -> tuple[int, int]:
    """First and last frame of the animation that a bake covers."""
    settings = scene.weft
    if not settings.use_scene_range:
        return settings.frame_start, settings.frame_end
    factor = stretch(scene)
    return math.floor(scene.frame_start / factor), math.ceil(scene.frame_end / factor)


def current(scene: Scene) -> float:
    """The frame of the animation that is shown."""
    return scene.frame_current_final
