# SPDX-License-Identifier: GPL-3.0-or-later
"""Live simulation: frames are simulated as they are played, into the cache, and play from there.

What is keyable is read at every frame, so a change of it acts at once; what is not begins the
simulation anew. A change makes the frames before it outdated: at the next start they are
simulated again. At its end the frames are a result that *Bake* completes.
"""

import math
import time
from contextlib import suppress

import bpy
import numpy as np
from bpy.types import Context, Object, Scene
from mathutils import Vector

from ..blender import object_identity, scene_time
from ..cache import pc2
from ..properties.scene import FRAME_SETTINGS
from ..scene.evaluated import to_world
from ..scene.participants import participants
from ..simulation.drag import Drag
from ..storage import cache_paths
from . import fingerprint, job
from .session import Outcome, Session, checked_range

BLOCK_SECONDS = 0.05  # for which a frame may hold the window up; a longer one is waited for
POLL_SECONDS = 0.001

_session: "Live | None" = None


def session() -> "Live | None":
    """The live simulation that runs, None without one."""
    return _session


class Live(Session):
    """Call `step` for each frame to be shown, and `finish` in the end."""

    keeps_frame = False
    is_live = True

    def __init__(self, context: Context, **start: object) -> None:
        place = math.floor(scene_time.current(context.scene))
        self._settings = _constant_settings(context.scene)
        super().__init__(context, **start)
        self._began = self._asked = self.frame
        self._last_hashes = self._hashes
        self._is_changed = False  # since the last step
        self._is_outdated = False
        if "rebake_after" in start:
            self._mark(fingerprint.CHANGE)
        self.needs_restart = False  # from the first frame
        self.rewind_to: int | None = None  # frame after which to simulate again
        self._show_frame(min(max(place, self.first), self.frame))

    def result_kind(self, _scene: Scene) -> str:
        return "MODIFIER"

    def progress_text(self) -> str:
        """Frames that are simulated, and how fast."""
        statistic = self._worker.statistic
        text = f"Frame {self.frame} of {self.last}"
        if not statistic.seconds:
            return text
        return f"{text}, {statistic.frames / statistic.seconds:.3g} frames/s"

    def note_change(self) -> None:
        """Tells that something in the scene has been edited."""
        self._is_changed = True

    def step(self, context: Context) -> bool:
        """Shows the frame after the current one; False if it is not simulated yet."""
        self._textures.serve()
        shown = min(max(math.floor(scene_time.current(context.scene)), self.first), self.frame)
        if self._is_changed:
            self._is_changed = False
            self._see_changes(context, shown)
        if self.needs_restart or self.rewind_to is not None:
            return False
        if shown >= self.last:
            self.needs_restart = self._is_outdated
            if not self.needs_restart:
                self._show_frame(self.first)
            return not self.needs_restart
        if shown == self.frame and not self._simulate(shown + 1):
            return False
        self._show_frame(shown + 1)
        return True

    def grabbed(self, obj: Object, location: Vector) -> Drag | None:
        """The point of a cloth at a place in Blender's units; None if the object is none of it."""
        uids = [cloth.session_uid for cloth in self._reader.cloths]
        if obj.session_uid not in uids:
            return None
        index, scale = uids.index(obj.session_uid), self._reader.scale
        writer = self._worker.plan.writers[index]
        frame = math.floor(scene_time.current(object_identity.find_scene(self._scene_uid)))
        points = pc2.frame(writer.stem, writer.description, min(frame, self.frame))
        if points is None:
            return None
        evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        positions = to_world(points, evaluated, scale)
        return Drag.at(index, self._reader.cloths[index], positions, np.array(location) * scale)

    def simulate_from_here(self, context: Context) -> None:
        """Gives up the frames after the current one, if there are any."""
        shown = math.floor(scene_time.current(context.scene))
        if shown + 1 < self.frame:  # the next one may be simulated, and not shown yet
            self.rewind_to = max(shown, self.first)

    def drag(self, drag: Drag | None) -> None:
        """Drags a point of a cloth from the next frame on, or nothing any more."""
        self._worker.drag = drag
        if drag is None:
            return
        self._mark(fingerprint.DRAG)

    def _mark(self, key: str) -> None:
        """Notes in the caches why no bake gives these frames."""
        self._is_outdated = True
        for writer in self._worker.plan.writers:
            if key not in writer.description.fingerprint:
                marked = writer.description.fingerprint | {key: str(self.frame)}
                writer.description.fingerprint = marked

    def finish(self, context: Context) -> Outcome:
        self.stop()
        return super().finish(context)

    def _show_results(self, context: Context, scene: Scene | None) -> list[str]:
        """As of a bake; results stay as they are if no frame was simulated."""
        if self.frame > self._began:
            return super()._show_results(context, scene)
        writers = self._worker.plan.writers
        shown = [object_identity.find(cloth.session_uid) for cloth in self._reader.cloths]
        if all(
            obj is not None
            and obj.weft.result.bake == writer.description.bake
            and obj.weft.result.frame_count == writer.description.frames
            for obj, writer in zip(shown, writers, strict=True)
        ):
            return []
        return super()._show_results(context, scene)

    def _simulate(self, frame: int) -> bool:
        """Whether a frame is simulated; it may hold the window up if it is a matter of moments.

        Until then the scene is at that frame, and cloth and scene would be drawn out of step.
        """
        if self._asked < frame:
            self._preview.hide()
            self._asked = frame
            if not self._submit(frame):
                self._worker.join()
        until = time.monotonic() + BLOCK_SECONDS
        while self.frame < frame and not self.is_done and not self._preview.is_shown:
            self._textures.serve()
            if time.monotonic() > until:
                self._show_frame(self.frame)
            else:
                self._worker.join(POLL_SECONDS)
        return self.frame >= frame

    def _see_changes(self, context: Context, shown: int) -> None:
        """Finds out what a change asks for."""
        hashes = fingerprint.of_scene(context.scene, context.view_layer)
        self.last = checked_range(context.scene)[1]
        self._is_outdated |= bool(fingerprint.difference(self._hashes, hashes))
        constant = (_constant(hashes), _constant_settings(context.scene))
        if constant != (_constant(self._hashes), self._settings):
            self.needs_restart = True
        elif hashes != self._last_hashes and shown < self.frame:
            self.rewind_to = shown
        self._last_hashes = hashes


# --- sessions ---------------------------------------------------------------------------------


def start(context: Context) -> Live:
    """Goes on where the scene is, if frames have been simulated there, else begins anew."""
    global _session
    end(context)
    if job.running() is not None:
        raise RuntimeError("a bake is running")
    place = math.floor(scene_time.current(context.scene))
    for options in _start_options(context, place):
        try:
            _session = Live(context, **options)
        except ValueError:
            if not options:
                raise
        else:
            return _session
    raise AssertionError("the last options raise their error")


def restart(context: Context) -> Live:
    """Begins anew, or again after the frame that the session wants to go back to."""
    global _session
    frame = None if _session.needs_restart else _session.rewind_to
    end(context)
    if frame is not None:
        with suppress(ValueError):  # there is no checkpoint so early
            _session = Live(context, rebake_after=frame)
            return _session
    _session = Live(context)
    return _session


def end(context: Context) -> Outcome | None:
    """Ends the session, whose frames become a result; None without one."""
    global _session
    if _session is None:
        return None
    ended, _session = _session, None
    return ended.finish(context)


def abandon() -> None:
    """Ends the session while its file is being replaced."""
    global _session
    if _session is not None:
        ended, _session = _session, None
        ended.abandon(restore=False)


def is_complete(context: Context) -> bool:
    """Whether every cloth has a cache of the scene as it is, to the last frame."""
    hashes = fingerprint.of_scene(context.scene, context.view_layer)
    last = checked_range(context.scene)[1]
    found = [_description(context, obj) for obj in _cloths(context)]
    return all(
        d is not None
        and d.frame_start + d.frames > last
        and not fingerprint.difference(d.fingerprint, hashes)
        for d in found
    )


def plays_by_itself(context: Context) -> bool:
    """Whether playing the timeline should simulate: no cloth has the result of a bake."""
    cloths = _cloths(context)
    results = [obj.weft.result for obj in cloths]
    if not cloths or any(one.frame_count and not one.is_live for one in results):
        return False
    return not all(one.frame_count for one in results) or not is_complete(context)


def register() -> None:
    """Nothing to register."""


def unregister() -> None:
    end(bpy.context)


def _start_options(context: Context, place: int) -> list[dict[str, object]]:
    """How a session may begin, the best first: arguments of `Live`."""
    found = [_description(context, obj) for obj in _cloths(context)]
    if not found or None in found:
        return [{}]
    first = max(d.frame_start for d in found)
    last = min(d.frame_start + d.frames - 1 for d in found)
    ways: list[dict[str, object]] = [{"resume": True}]
    if first < place <= last:
        ways.append({"rebake_after": place})
    return [*ways, {}]


def _description(context: Context, obj: Object) -> pc2.Description | None:
    if not obj.weft.identity:
        return None
    return pc2.cached_description(cache_paths.stem(context.scene, obj))


def _cloths(context: Context) -> list[Object]:
    return participants(context.scene, context.view_layer)[0]


def _constant(hashes: dict[str, str]) -> dict[str, str]:
    """The part of a fingerprint that is read once in a simulation, with all participants."""
    is_constant = ("/mesh", "/pins")
    return {k: v if k.endswith(is_constant) else "" for k, v in hashes.items()}


def _constant_settings(scene: Scene) -> dict[str, object]:
    settings = scene.weft.solver_settings()
    constant = {name: value for name, value in settings.items() if name not in FRAME_SETTINGS}
    return constant | {"first": scene_time.frame_range(scene)[0]}
