# SPDX-License-Identifier: GPL-3.0-or-later
"""Live simulation in a window: plays the timeline, and simulates what has no frames yet.

Playing the timeline hands over to *Simulate* where there is cloth to simulate, and ends it.
"""

import time

import bpy
from bpy import app
from bpy.app.handlers import persistent
from bpy.types import Context, Event, Operator, Scene

from ..bake import job, live
from ..blender.errors import REPORTED_ERRORS, error_message
from ..scene.participants import participants
from ..simulation import bridge

TIMER_SECONDS = 0.005
REDRAW_SECONDS = 0.5  # between two updates of the panels
_problem = ""  # why playing the timeline did not simulate


def problem() -> str:
    """Reason for the panel why playing the timeline did not simulate; empty without one."""
    return _problem


class WEFT_OT_simulate(Operator):
    bl_idname = "weft.simulate"
    bl_label = "Simulate"
    bl_description = (
        "Play and simulate at once, into the cache: frames that are simulated play from there. "
        "Changed settings act at once; a changed mesh begins anew. Press again, or play, to stop"
    )
    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        if bridge.problem():
            cls.poll_message_set(bridge.problem())
            return False
        if app.background:
            cls.poll_message_set("Without a window there is nothing to play: use Bake")
            return False
        return job.running() is None and bool(participants(context.scene, context.view_layer)[0])

    def invoke(self, context: Context, _event: Event) -> set[str]:
        if live.session() is not None:
            live.session().stop()  # the operator that runs it ends it
            return {"FINISHED"}
        if context.screen.is_animation_playing:
            bpy.ops.screen.animation_cancel(restore_frame=False)
        try:
            live.start(context)
        except REPORTED_ERRORS as error:
            self.report({"ERROR"}, error_message(error))
            return {"CANCELLED"}
        manager = context.window_manager
        self._timer = manager.event_timer_add(TIMER_SECONDS, window=context.window)
        self._scene, self._shown_at, self._redrawn = context.scene.session_uid, 0.0, 0.0
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: Event) -> set[str]:
        session = live.session()
        if session is None:  # ended by undo, saving, a bake or another file
            self._leave(context)
            return {"FINISHED"}
        if event.type == "ESC" and event.value == "PRESS":
            session.stop()
            return {"RUNNING_MODAL"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        is_elsewhere = context.mode != "OBJECT" or context.scene.session_uid != self._scene
        if is_elsewhere and not session.is_stopped:
            session.stop()
        try:
            self._step(context, session)
        except REPORTED_ERRORS as error:
            self.report({"ERROR"}, error_message(error))
            self.cancel(context)
            return {"CANCELLED"}
        if not session.is_done:
            return {"PASS_THROUGH"}
        outcome = live.end(context)
        self._leave(context)
        if outcome.error:
            self.report({"ERROR"}, outcome.error)
        return {"FINISHED"}

    def cancel(self, context: Context) -> None:
        """Called by Blender when the window is closed, another file is loaded, or Blender exits."""
        live.end(context)
        self._leave(context)

    def _step(self, context: Context, session: live.Live) -> None:
        """One frame, if it is time for it."""
        now = time.monotonic()
        pause = context.scene.render.fps_base / context.scene.render.fps
        if session.is_stopped or now < self._shown_at + pause:
            return
        if session.step(context):
            self._shown_at = now
        elif session.needs_restart or session.rewind_to is not None:
            live.restart(context)
        if now > self._redrawn + REDRAW_SECONDS:
            self._redrawn = now
            _redraw_panels(context)

    def _leave(self, context: Context) -> None:
        context.window_manager.event_timer_remove(self._timer)
        _redraw_panels(context)


def _redraw_panels(context: Context) -> None:
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "PROPERTIES":
                area.tag_redraw()


# --- playing the timeline ---------------------------------------------------------------------


@persistent
def _playback_begins(_scene: Scene, _unused: object = None) -> None:
    if not app.background:
        bpy.app.timers.register(_take_over, first_interval=0.0)  # operators are not allowed here


def _take_over() -> None:
    for window in bpy.context.window_manager.windows:
        if window.screen.is_animation_playing:
            with bpy.context.temp_override(window=window, screen=window.screen):
                _instead_of_playing(bpy.context)
            return


def _instead_of_playing(context: Context) -> None:
    global _problem
    _problem = ""
    if live.session() is not None:
        bpy.ops.screen.animation_cancel(restore_frame=False)
        live.session().stop()
        return
    if not context.scene.weft.simulate_on_play or not WEFT_OT_simulate.poll(context):
        return
    try:
        if live.plays_by_itself(context):
            bpy.ops.weft.simulate("INVOKE_DEFAULT")
    except REPORTED_ERRORS as error:  # the timeline plays on
        _problem = error_message(error)


_register_classes, _unregister_classes = bpy.utils.register_classes_factory((WEFT_OT_simulate,))


def register() -> None:
    _register_classes()
    bpy.app.handlers.animation_playback_pre.append(_playback_begins)


def unregister() -> None:
    bpy.app.handlers.animation_playback_pre.remove(_playback_begins)
    if bpy.app.timers.is_registered(_take_over):
        bpy.app.timers.unregister(_take_over)
    _unregister_classes()
