# SPDX-License-Identifier: GPL-3.0-or-later
"""Base of the bake operators: modal with a timer in a window, blocking in background mode."""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
from bpy.types import Context, Event, Scene

from ..blender import object_identity
from ..blender.errors import REPORTED_ERRORS, SkippedSceneError, error_message
from ..scene import multiplied
from ..scene.participants import instanced_colliders, participants
from ..simulation import bridge
from . import job, live

TIMER_SECONDS = 0.05


class ProgressDisplay:
    """Progress of long work in a window: timer, status bar, cursor, panels."""

    current: "ProgressDisplay | None" = None

    def __init__(self, context: Context) -> None:
        manager = context.window_manager
        self._timer = manager.event_timer_add(TIMER_SECONDS, window=context.window)
        manager.progress_begin(0, 100)
        ProgressDisplay.current = self

    def update(self, context: Context, progress: float, text: str) -> None:
        context.window_manager.progress_update(int(100 * progress))
        context.workspace.status_text_set(text)
        for window in context.window_manager.windows:
            for area in window.screen.areas:
                if area.type in {"PROPERTIES", "VIEW_3D"}:
                    area.tag_redraw()

    def end(self, context: Context) -> None:
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        for workspace in bpy.data.workspaces:
            workspace.status_text_set(None)
        ProgressDisplay.current = None


class BakeOperator:
    """Bakes scenes one after the other, modally in a window, else blocking."""

    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        if bridge.problem():
            cls.poll_message_set(bridge.problem())
            return False
        return job.running() is None

    def execute(self, context: Context) -> set[str]:
        self.begin(context)
        while (running := self._start_next(context)) is not None:
            with _cleanup_on_error(context, running):
                _wait(running)
                self._finish(context, running)
        return self._end(context)

    def invoke(self, context: Context, _event: Event) -> set[str]:
        if bpy.app.background:
            return self.execute(context)
        if context.screen.is_animation_playing:
            bpy.ops.screen.animation_cancel(restore_frame=False)
        self.begin(context)
        if self._start_next(context) is None:
            return self._end(context)
        ProgressDisplay(context)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: Event) -> set[str]:
        running, display = job.running(), ProgressDisplay.current
        if running is None:  # another file was loaded, or the extension disabled
            self.cancel(context)
            return {"CANCELLED"}
        if event.type == "ESC" and event.value == "PRESS":
            running.stop()
            return {"RUNNING_MODAL"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        with _cleanup_on_error(context, running):
            running.pump(job.PUMP_SECONDS)
            text = f"{running.progress_text()}   (Esc: cancel and keep the frames)"
            display.update(context, running.progress, text)
            if not running.is_done:
                return {"PASS_THROUGH"}
            self._finish(context, running)
            if self._start_next(context) is not None:
                return {"PASS_THROUGH"}
        ProgressDisplay.current.end(context)
        return self._end(context)

    def cancel(self, context: Context) -> None:
        """Called by Blender when the window is closed, another file is loaded, or Blender exits."""
        if job.running() is not None:  # already abandoned before a load
            job.running().abandon(restore=True)
        if ProgressDisplay.current is not None:
            ProgressDisplay.current.end(context)

    def scenes(self, context: Context) -> list[Scene]:
        """Scenes to bake, in this order."""
        return [context.scene]

    def start(self, context: Context) -> job.Bake:
        """Starts the bake of the current scene."""
        return job.Bake(context)

    def begin(self, context: Context) -> None:
        live.end(context)
        # By session uid: undo invalidates references to Blender's data.
        self._shown_scene = context.window.scene.session_uid
        self._pending = [scene.session_uid for scene in self.scenes(context)]
        self._has_several = len(self._pending) > 1
        self._has_baked = False
        self._messages: list[tuple[str, bool]] = []  # text, and whether it is an error

    def _start_next(self, context: Context) -> job.Bake | None:
        """Starts the next scene that can be baked; None if there is none."""
        while self._pending:
            scene = object_identity.find_scene(self._pending.pop(0))
            if scene is None:
                self._messages.append(("a scene was deleted before its turn to be baked", True))
                continue
            _show_scene(context, scene.session_uid)
            try:
                # The context of the Properties editor has the previous scene until a redraw.
                with context.temp_override(window=context.window):
                    running = self.start(context)
                    self._warn(context)
                return running
            except REPORTED_ERRORS as error:
                where = f"scene '{scene.name}': " if self._has_several else ""
                is_error = not isinstance(error, SkippedSceneError)
                self._messages.append((where + error_message(error), is_error))
        return None

    def _warn(self, context: Context) -> None:
        for obj, name in instanced_colliders(context.scene, context.view_layer):
            message = f"the instance '{obj.name}' holds the collider '{name}', which is not seen: "
            self.report({"WARNING"}, f"{message}give the instance the role Collider")
        for obj in participants(context.scene, context.view_layer)[0]:
            for modifier in multiplied.modifiers(obj):
                message = f"what the modifier '{modifier.name}' of '{obj.name}' makes is a copy, "
                self.report({"WARNING"}, f"{message}which is not simulated")

    def _finish(self, context: Context, running: job.Bake) -> None:
        """Finishes the bake of one scene."""
        outcome = running.finish(context)
        self._report_outcome(outcome)
        self._has_baked = True
        if outcome.cancelled:
            self._pending.clear()

    def _end(self, context: Context) -> set[str]:
        """Reports all messages. FINISHED, so undoable, if any scene was baked."""
        for message, is_error in self._messages:
            self.report({"ERROR"} if is_error or not self._has_baked else {"WARNING"}, message)
        _show_scene(context, self._shown_scene)
        return {"FINISHED"} if self._has_baked else {"CANCELLED"}

    def _report_outcome(self, outcome: job.Outcome) -> None:
        if outcome.error:
            self.report({"ERROR"}, f"{outcome.error} (kept: {outcome.result})")
        elif outcome.cancelled:
            self.report({"WARNING"}, f"Cancelled, kept: {outcome.result}")
        else:
            self.report({"INFO"}, f"Baked {outcome.result}")


def _show_scene(context: Context, session_uid: int) -> None:
    """Shows a scene in the window, unless it was deleted."""
    scene = object_identity.find_scene(session_uid)
    if scene is not None and context.window.scene != scene:
        context.window.scene = scene


@contextmanager
def _cleanup_on_error(context: Context, running: job.Bake) -> Iterator[None]:
    """After an unexpected exception no thread, timer or status text remains."""
    try:
        yield
    except BaseException:
        running.abandon(restore=True)
        if ProgressDisplay.current is not None:
            ProgressDisplay.current.end(context)
        raise


def _wait(running: job.Bake) -> None:
    """Bakes to the end, printing the progress at every tenth."""
    reported = 0
    while not running.is_done:
        try:
            running.pump(job.PUMP_SECONDS)
            running.wait(job.WAIT_SECONDS)
        except KeyboardInterrupt:
            running.stop()
        tenth = int(10 * running.progress)
        if tenth > reported:
            reported = tenth
            print(running.progress_text(), flush=True)
