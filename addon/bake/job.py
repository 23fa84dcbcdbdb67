# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake: the main thread reads frames ahead, a worker simulates and writes them.

In a window a timer calls `pump`, in background mode a loop does. At the end the frames become the
result on the objects.
"""

import time

from bpy import app
from bpy.types import Context

from ..cache import pc2
from ..properties import change_counter
from ..scene.participants import Alone
from ..storage import cache_paths
from . import files, fingerprint
from .remaining_time import RemainingTime
from .session import Outcome, Session, checked_range, prepare

PUMP_SECONDS = 0.03  # duration of one call from the timer
WAIT_SECONDS = 0.02

_running: "Bake | None" = None


def running() -> "Bake | None":
    """The current bake, None without one."""
    return _running


class Bake(Session):
    """Starts when constructed; call `pump` until `is_done`, then `finish`."""

    def __init__(
        self,
        context: Context,
        *,
        resume: bool = False,
        rebake_after: int | None = None,
        alone: Alone | None = None,
    ) -> None:
        global _running
        if _running is not None:
            raise RuntimeError("a bake is running already")
        super().__init__(
            context,
            resume=resume,
            rebake_after=rebake_after,
            alone=alone,
            with_preview=not app.background,
        )
        self._next: int | None = self.frame + 1
        self._shown: int | None = None
        self._remaining = RemainingTime(self.frame)
        _running = self

    @property
    def progress(self) -> float:
        """Fraction of the frames that are simulated, from 0 to 1."""
        return (self.frame - self.first + 1) / (self.last - self.first + 1)

    @property
    def seconds_left(self) -> float | None:
        """Estimate from what the last frames took, None before the first frame."""
        return self._remaining.seconds(self.last)

    def progress_text(self) -> str:
        """Frame counter and remaining time."""
        if self._cancelled:
            return f"Weft: cancelling after frame {self.frame + 1}"
        left = self.seconds_left
        if left is None:
            return f"Weft: frame {self.frame} of {self.last}"
        minutes, seconds = divmod(round(left), 60)
        return f"Weft: frame {self.frame} of {self.last}, {minutes}:{seconds:02d} left"

    def wait(self, seconds: float) -> None:
        """Waits for the worker for at most `seconds`."""
        self._textures.serve()
        self._worker.join(seconds)

    def pump(self, seconds: float) -> None:
        """Reads frames ahead of the worker for about `seconds`, and shows the last simulated one.

        In between the scene is at other frames, but nothing is drawn.
        """
        self._textures.serve()
        self._remaining.update(self.frame)
        until = time.monotonic() + seconds
        while self._next is not None and self._worker.has_space and not self._cancelled:
            if self._preview is not None:
                self._preview.hide()
            self._shown = None
            self._next = self._next + 1 if self._submit(self._next) else None
            if time.monotonic() > until:
                break
        if self._preview is not None and self._shown != self.frame:
            self._shown = self.frame
            self._show_frame(self._shown)

    def abandon(self, *, restore: bool) -> None:
        global _running
        super().abandon(restore=restore)
        _running = None

    def finish(self, context: Context) -> Outcome:
        global _running
        try:
            return super().finish(context)
        finally:
            _running = None


def baked_alone(context: Context) -> Alone | None:
    """How the active cloth was baked alone, as Resume and Rebake go on; None if it was not."""
    obj = context.view_layer.objects.active
    if obj is None or obj.type != "MESH" or obj.weft.role != "CLOTH" or not obj.weft.identity:
        return None
    description = pc2.cached_description(cache_paths.stem(context.scene, obj))
    return fingerprint.alone_of(description.fingerprint, obj) if description is not None else None


def show_complete_caches(context: Context) -> bool:
    """Shows caches that reach the last frame; False if one does not."""
    alone = baked_alone(context)
    cloths, _colliders = prepare(context, alone)
    hashes = fingerprint.of_scene(context.scene, context.view_layer, alone)
    found = {obj: files.read(context.scene, obj, hashes) for obj in cloths}
    last = checked_range(context.scene)[1]
    if any(c.problem or c.description.frame_start + c.intact <= last for c in found.values()):
        return False
    for obj, contents in found.items():
        stem = cache_paths.stem(context.scene, obj)
        kind = context.scene.weft.result_kind
        files.show(obj, kind, stem, contents.description, contents.intact)
        obj.weft.result.is_live = False
    change_counter.increment()
    return True


def register() -> None:
    """Nothing to register."""


def unregister() -> None:
    if _running is not None:
        _running.abandon(restore=True)
