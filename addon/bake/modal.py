# SPDX-License-Identifier: GPL-3.0-or-later
"""How a bake runs in a window, where a timer keeps it going, and without one."""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
from bpy.types import Context, Event, Scene

from ..blender import object_identity
from ..blender.errors import REFUSALS, LeftOutError, in_words
from ..scene.participants import unseen_colliders
from ..simulation import bridge
from . import job

TIMER_SECONDS = 0.05


class Display:
    """What shows the progress of a bake in a window: timer, status bar, cursor, panels."""

    current: "Display | None" = None

    def __init__(self, context: Context) -> None:
        manager = context.window_manager
        self._timer = manager.event_timer_add(TIMER_SECONDS, window=context.window)
        manager.progress_begin(0, 100)
        Display.current = self

    def update(self, context: Context, running: job.Bake) -> None:
        context.window_manager.progress_update(int(100 * running.factor))
        context.workspace.status_text_set(f"{running.line()}   (Esc: cancel and keep the frames)")
        for window in context.window_manager.windows:
            for area in window.screen.areas:
                if area.type in {"PROPERTIES", "VIEW_3D"}:
                    area.tag_redraw()

    def end(self, context: Context) -> None:
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        for workspace in bpy.data.workspaces:
            workspace.status_text_set(None)
        Display.current = None


class BakeOperator:
    """Runs bakes one after the other, modally in a window, in one go where there is none."""

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
            with _leaving_nothing(context, running):
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
        Display(context)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: Event) -> set[str]:
        running, display = job.running(), Display.current
        if running is None:  # the file was replaced or the extension disabled
            self.cancel(context)
            return {"CANCELLED"}
        if event.type == "ESC" and event.value == "PRESS":
            running.stop()
            return {"RUNNING_MODAL"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        with _leaving_nothing(context, running):
            running.pump(job.PUMP_SECONDS)
            display.update(context, running)
            if not running.is_done:
                return {"PASS_THROUGH"}
            self._finish(context, running)
            if self._start_next(context) is not None:
                return {"PASS_THROUGH"}
        Display.current.end(context)
        return self._end(context)

    def cancel(self, context: Context) -> None:
        """Blender ends the operator: its window is closed, another file is loaded, or it quits."""
        if job.running() is not None:  # before loading, the bake has been abandoned already
            job.running().abandon(restore=True)
        if Display.current is not None:
            Display.current.end(context)

    def scenes(self, context: Context) -> list[Scene]:
        """What is baked, in this order."""
        return [context.scene]

    def start(self, context: Context) -> job.Bake:
        """Begins the bake of the scene that is shown."""
        return job.Bake(context)

    def begin(self, context: Context) -> None:
        # By their numbers: undoing makes all of Blender's data anew.
        self._before = context.window.scene.session_uid
        self._waiting = [scene.session_uid for scene in self.scenes(context)]
        self._has_several = len(self._waiting) > 1
        self._has_baked = False
        self._refusals: list[tuple[str, bool]] = []  # what is to be said, and whether it is wrong

    def _start_next(self, context: Context) -> job.Bake | None:
        """Begins with the next scene that can be baked; None when none is left."""
        while self._waiting:
            scene = object_identity.find_scene(self._waiting.pop(0))
            if scene is None:
                self._refusals.append(("a scene was deleted before its turn to be baked", True))
                continue
            _show_scene(context, scene.session_uid)
            try:
                # The Properties editor has the scene before in its context until it is drawn.
                with context.temp_override(window=context.window):
                    running = self.start(context)
                    self._warn(context)
                return running
            except REFUSALS as error:
                where = f"scene '{scene.name}': " if self._has_several else ""
                is_wrong = not isinstance(error, LeftOutError)
                self._refusals.append((where + in_words(error), is_wrong))
        return None

    def _warn(self, context: Context) -> None:
        for obj, name in unseen_colliders(context.scene, context.view_layer):
            words = f"the instance '{obj.name}' holds the collider '{name}', which is not seen: "
            self.report({"WARNING"}, f"{words}make it real or a library override")

    def _finish(self, context: Context, running: job.Bake) -> None:
        """One scene is done."""
        outcome = running.finish(context)
        self._tell(outcome)
        self._has_baked = True
        if outcome.cancelled:
            self._waiting.clear()

    def _end(self, context: Context) -> set[str]:
        """All scenes are done; what one bake has changed can be undone even if others failed."""
        for words, is_wrong in self._refusals:
            self.report({"ERROR"} if is_wrong or not self._has_baked else {"WARNING"}, words)
        _show_scene(context, self._before)
        return {"FINISHED"} if self._has_baked else {"CANCELLED"}

    def _tell(self, outcome: job.Outcome) -> None:
        if outcome.error:
            self.report({"ERROR"}, f"{outcome.error} (kept: {outcome.result})")
        elif outcome.cancelled:
            self.report({"WARNING"}, f"Cancelled, kept: {outcome.result}")
        else:
            self.report({"INFO"}, f"Baked {outcome.result}")


def _show_scene(context: Context, session_uid: int) -> None:
    """Shows a scene in the window, unless it has been deleted."""
    scene = object_identity.find_scene(session_uid)
    if scene is not None and context.window.scene != scene:
        context.window.scene = scene


@contextmanager
def _leaving_nothing(context: Context, running: job.Bake) -> Iterator[None]:
    """After an error that nobody foresaw no thread, timer or status text stays behind."""
    try:
        yield
    except BaseException:
        running.abandon(restore=True)
        if Display.current is not None:
            Display.current.end(context)
        raise


def _wait(running: job.Bake) -> None:
    """Bakes to the end, telling every tenth."""
    told = 0
    while not running.is_done:
        try:
            running.pump(job.PUMP_SECONDS)
            running.wait(job.WAIT_SECONDS)
        except KeyboardInterrupt:
            running.stop()
        tenth = int(10 * running.factor)
        if tenth > told:
            told = tenth
            print(running.line(), flush=True)
