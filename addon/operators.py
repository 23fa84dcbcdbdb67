# SPDX-License-Identifier: GPL-3.0-or-later
"""The buttons of a bake: thin, the work is in `bake`, `shape_keys` and `location`."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import bpy
from bpy.props import BoolProperty
from bpy.types import Context, Event, Object, Operator, Scene

from . import bake, bridge, identity, location, revision, shape_keys, timing

TIMER_SECONDS = 0.05
REFUSALS = (ValueError, TypeError, RuntimeError, OSError)


class _Display:
    """What shows the progress of a bake in a window: timer, status bar, cursor, panels."""

    current: "_Display | None" = None

    def __init__(self, context: Context) -> None:
        manager = context.window_manager
        self._timer = manager.event_timer_add(TIMER_SECONDS, window=context.window)
        manager.progress_begin(0, 100)
        _Display.current = self

    def update(self, context: Context, running: bake.Bake) -> None:
        context.window_manager.progress_update(int(100 * running.factor))
        context.workspace.status_text_set(f"{running.line()}   (Esc: cancel and keep the frames)")
        for window in context.window_manager.windows:
            for area in window.screen.areas:
                if area.type == "PROPERTIES":
                    area.tag_redraw()

    def end(self, context: Context) -> None:
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        for workspace in bpy.data.workspaces:
            workspace.status_text_set(None)
        _Display.current = None


class _BakeOperator:
    """Runs a bake modally in a window, in one go where there is none."""

    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        if bridge.problem():
            cls.poll_message_set(bridge.problem())
            return False
        return bake.running() is None

    def execute(self, context: Context) -> set[str]:
        try:
            running = self._start(context)
        except REFUSALS as error:
            return self._refuse(error)
        with _leaving_nothing(context, running):
            _wait(running)
            return self._report(running.finish(context))

    def invoke(self, context: Context, _event: Event) -> set[str]:
        if bpy.app.background:
            return self.execute(context)
        if context.screen.is_animation_playing:
            bpy.ops.screen.animation_cancel(restore_frame=False)
        try:
            self._start(context)
        except REFUSALS as error:
            return self._refuse(error)
        _Display(context)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def _start(self, context: Context) -> bake.Bake:
        return bake.Bake(context)

    def modal(self, context: Context, event: Event) -> set[str]:
        running, display = bake.running(), _Display.current
        if running is None:  # the file was replaced or the extension disabled
            self.cancel(context)
            return {"CANCELLED"}
        if event.type == "ESC" and event.value == "PRESS":
            running.stop()
            return {"RUNNING_MODAL"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        with _leaving_nothing(context, running):
            running.pump(bake.PUMP_SECONDS)
            display.update(context, running)
            if not running.is_done:
                return {"PASS_THROUGH"}
            display.end(context)
            return self._report(running.finish(context))

    def cancel(self, context: Context) -> None:
        """Blender ends the operator: it loads another file, or quits."""
        if bake.running() is not None:
            bake.running().abandon(restore=False)
        if _Display.current is not None:
            _Display.current.end(context)

    def _refuse(self, error: BaseException) -> set[str]:
        self.report({"ERROR"}, in_words(error))
        return {"CANCELLED"}

    def _report(self, outcome: bake.Outcome) -> set[str]:
        if outcome.error:
            self.report({"ERROR"}, f"{outcome.error} (kept: {outcome.result})")
        elif outcome.cancelled:
            self.report({"WARNING"}, f"Cancelled, kept: {outcome.result}")
        else:
            self.report({"INFO"}, f"Baked {outcome.result}")
        return {"FINISHED"}


@contextmanager
def _leaving_nothing(context: Context, running: bake.Bake) -> Iterator[None]:
    """After an error that nobody foresaw no thread, timer or status text stays behind."""
    try:
        yield
    except BaseException:
        running.abandon(restore=True)
        if _Display.current is not None:
            _Display.current.end(context)
        raise


def in_words(error: BaseException) -> str:
    """What went wrong, for a report."""
    if isinstance(error, OSError):
        return f"the cache folder cannot be used: {error.strerror} ({error.filename})"
    return str(error)


def _wait(running: bake.Bake) -> None:
    """Bakes to the end, telling every tenth."""
    told = 0
    while not running.is_done:
        try:
            running.pump(bake.PUMP_SECONDS)
            running.wait(bake.WAIT_SECONDS)
        except KeyboardInterrupt:
            running.stop()
        tenth = int(10 * running.factor)
        if tenth > told:
            told = tenth
            print(running.line(), flush=True)


class WEFT_OT_bake(_BakeOperator, Operator):
    bl_idname = "weft.bake"
    bl_label = "Bake Cloth"
    bl_description = (
        "Simulate all cloths of the scene over the frame range, into the cache and into shape "
        "keys. While the result is shown, the deforming modifiers and other shape keys of the "
        "cloths are muted, because it contains them already; Free restores them"
    )


class WEFT_OT_resume(_BakeOperator, Operator):
    bl_idname = "weft.resume"
    bl_label = "Resume"
    bl_description = (
        "Go on from the last checkpoint to the end of the frame range, "
        "or show frames that are in the cache only"
    )

    def _start(self, context: Context) -> bake.Bake:
        return bake.Bake(context, resume=True)

    def invoke(self, context: Context, event: Event) -> set[str]:
        return self._show_cache(context) or super().invoke(context, event)

    def execute(self, context: Context) -> set[str]:
        return self._show_cache(context) or super().execute(context)

    def _show_cache(self, context: Context) -> set[str]:
        try:
            shown = bake.show_complete_caches(context)
        except REFUSALS as error:
            return self._refuse(error)
        return {"FINISHED"} if shown else set()


class WEFT_OT_rebake(_BakeOperator, Operator):
    bl_idname = "weft.rebake"
    bl_label = "Rebake From Current Frame"
    bl_description = (
        "Keep the frames up to the last checkpoint at or before the current frame, and simulate "
        "the rest again with what is set now"
    )

    def _start(self, context: Context) -> bake.Bake:
        return bake.Bake(context, rebake_after=math.floor(timing.current(context.scene)))


class WEFT_OT_bake_cancel(Operator):
    bl_idname = "weft.bake_cancel"
    bl_label = "Cancel"
    bl_description = "End the bake after the current frame and keep the finished frames"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, _context: Context) -> bool:
        return bake.running() is not None

    def execute(self, _context: Context) -> set[str]:
        bake.running().stop()
        return {"FINISHED"}


class WEFT_OT_free(Operator):
    bl_idname = "weft.free"
    bl_label = "Free"
    bl_description = (
        "Remove the shape keys of the result and delete its cache, "
        "and give muted modifiers and shape keys back"
    )
    bl_options = {"REGISTER", "UNDO"}

    only_active: BoolProperty(
        name="Only Active", description="Free the active object, not all cloths", default=False
    )

    @classmethod
    def poll(cls, _context: Context) -> bool:
        return bake.running() is None

    def execute(self, context: Context) -> set[str]:
        identity.settle_duplicates()
        objects = [context.object] if self.only_active else context.scene.objects
        for obj in filter(_may_have_result, objects):
            shape_keys.remove(obj)
            try:
                location.remove(context.scene, obj)
            except OSError as error:
                self.report({"ERROR"}, f"'{obj.name}': {in_words(error)}")
        if not self.only_active:
            _remove_orphans(context.scene)
        revision.bump()
        return {"FINISHED"}


class WEFT_OT_remove_orphans(Operator):
    bl_idname = "weft.remove_orphans"
    bl_label = "Remove Caches of Deleted Objects"
    bl_description = "Delete the caches that this file made for objects it does not have any more"
    bl_options = {"INTERNAL"}

    def execute(self, context: Context) -> set[str]:
        try:
            removed = _remove_orphans(context.scene)
        except OSError as error:
            self.report({"ERROR"}, in_words(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"Removed the caches of {removed} deleted objects")
        return {"FINISHED"}


def _remove_orphans(scene: Scene) -> int:
    stems = location.orphans(scene)
    for stem in stems:
        location.remove_stem(stem)
    return len(stems)


_register_classes, _unregister_classes = bpy.utils.register_classes_factory(
    (
        WEFT_OT_bake,
        WEFT_OT_resume,
        WEFT_OT_rebake,
        WEFT_OT_bake_cancel,
        WEFT_OT_free,
        WEFT_OT_remove_orphans,
    )
)


def _may_have_result(obj: Object | None) -> bool:
    return obj is not None and obj.type == "MESH" and not obj.library and bool(obj.weft.identity)


def register() -> None:
    _register_classes()


def unregister() -> None:
    if _Display.current is not None:
        _Display.current.end(bpy.context)
    _unregister_classes()
