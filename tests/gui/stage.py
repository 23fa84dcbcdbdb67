# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the plays in windows share: their facts, and a timer that goes on from wait to wait."""

import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator

import bpy
from hands import FOLDER, reported, shot

MODULE = "bl_ext.user_default.weft"

facts: dict[str, object] = {}


def own(name):
    return sys.modules[f"{MODULE}.{name}"]


def running():
    return own("bake.job").running()


def write_facts(**more: object) -> None:
    (FOLDER / "facts.json").write_text(json.dumps(facts | more, indent=1))


def perform(todo: Iterator[float], close: Callable[[], object]) -> None:
    """Goes through steps, which yield the seconds to wait; then writes the facts, and closes."""
    started = time.monotonic()

    def tick():
        try:
            return next(todo)
        except StopIteration:
            facts["done"] = True
        except BaseException:
            facts["error"] = traceback.format_exc()
        facts["seconds"] = time.monotonic() - started
        facts["reported"] = reported()
        write_facts()
        if "error" in facts:
            shot("error")
            os._exit(0)
        close()
        return None

    bpy.app.timers.register(tick, first_interval=2.0, persistent=True)
