# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose cache it is: what may be deleted and written to, and what may only be read.

A description says which file and which object its cache is of. Where that leaves a doubt, the
cache is somebody else's. Caches of the format before that say only the name of the file: those
count as its own in the folder beside it, where no other file of this name writes.
"""

import json
import os
from pathlib import Path

import bpy
from bpy.types import Object

from ..blender import file_identity
from ..cache.pc2 import Description

BESIDE = "weft_cache"  # the folder that a file has without a choice


def name(obj: Object, blend: str | None = None) -> str:
    """How the open file, or the one it is being saved as, calls its cache of an object."""
    return f"{obj.weft.identity}_{file_identity.token(blend)}"


def sign(description: Description, folder: Path, blend: str | None = None) -> None:
    """Says in a description that it is of the open file."""
    description.file = file_identity.current()
    description.blend = _seen_from(folder, bpy.data.filepath if blend is None else blend)


def identity(stem: Path, description: Description) -> str:
    """The object that a cache is of."""
    return description.identity or stem.name


def is_own(obj: Object, stem: Path, description: Description) -> bool:
    """Whether a cache is this object's in the open file."""
    if stem.name == name(obj):
        return True
    return identity(stem, description) == obj.weft.identity and is_of_file(stem, description)


def is_of_file(stem: Path, description: Description) -> bool:
    """Whether the open file made a cache, and no copy of this file that is still there."""
    if not description.file:
        return _was_of_file(stem, description)
    if description.file != file_identity.current():
        return False
    blend = _real(stem.parent) / description.blend
    return not description.blend or _is_open(blend) or _is_gone(blend)


def is_shown(obj: Object, description: Description) -> bool:
    """Whether the result on an object is of this bake, and none of it was computed anew since."""
    result = obj.weft.result
    if not result.frame_count or (result.bake and result.bake != description.bake):
        return False
    return json.loads(result.fingerprint or "{}") == description.fingerprint


def _was_of_file(stem: Path, description: Description) -> bool:
    blend = Path(bpy.data.filepath)
    if not description.blend or description.blend != blend.name:
        return False
    return _real(stem.parent) == _real(blend.parent / BESIDE)


def _seen_from(folder: Path, blend: str) -> str:
    """Relative, so that it stays true when both are moved together."""
    if not blend:
        return ""
    try:
        return Path(os.path.relpath(_real(Path(blend)), _real(folder))).as_posix()
    except ValueError:  # on another drive
        return blend


def _is_open(blend: Path) -> bool:
    open_file = bpy.data.filepath
    return bool(open_file) and file_identity.same(_real(blend), _real(Path(open_file)))


def _is_gone(path: Path) -> bool:
    """Whether there is surely no such file, as after it was moved."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
