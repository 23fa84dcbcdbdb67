# SPDX-License-Identifier: GPL-3.0-or-later
"""Ownership of caches: only those of the open file may be deleted or written.

The description of a cache names its file and object; in doubt the cache belongs to somebody else.
Caches of the previous format name only the file: they count as its own in the folder beside it,
where no other file of that name writes.
"""

import json
import os
import re
import uuid
from pathlib import Path

import bpy
from bpy.types import Object

from ..blender import file_identity
from ..cache.pc2 import Description

DEFAULT_FOLDER = "weft_cache"  # default cache folder beside a .blend file
_TAKE = re.compile(r"_take_[0-9a-f]{16}$")  # end of the cache name of a take


def cache_name(obj: Object, blend: str | None = None) -> str:
    """Cache name of an object for the open file, or for the file that it is saved as."""
    return f"{obj.weft.identity}_{file_identity.token(blend)}"


def new_take_name(obj: Object) -> str:
    """Name for the cache of a new take, which no other cache has."""
    return f"{obj.weft.identity}_take_{uuid.uuid4().hex[:16]}"


def is_take(stem: Path) -> bool:
    """Whether a cache is that of a take: shown as any other, but never written to."""
    return _TAKE.search(stem.name) is not None


def sign(description: Description, folder: Path, blend: str | None = None) -> None:
    """Enters the open file as owner in a description."""
    description.file = file_identity.current()
    description.blend = _relative_path(folder, bpy.data.filepath if blend is None else blend)


def identity_of(stem: Path, description: Description) -> str:
    """Identity of the object that a cache belongs to."""
    return description.identity or stem.name


def is_own(obj: Object, stem: Path, description: Description) -> bool:
    """Whether a cache belongs to this object in the open file, as the one that it bakes into."""
    if is_take(stem):
        return False
    if stem.name == cache_name(obj):
        return True
    return identity_of(stem, description) == obj.weft.identity and is_of_file(stem, description)


def is_of_file(stem: Path, description: Description) -> bool:
    """Whether the open file made a cache, rather than an existing copy of the file."""
    if not description.file:
        return _is_of_file_by_name(stem, description)
    if description.file != file_identity.current():
        return False
    blend = _resolved(stem.parent) / description.blend
    return not description.blend or _is_open(blend) or _does_not_exist(blend)


def is_shown(obj: Object, description: Description) -> bool:
    """Whether the result on an object comes from this bake, and the cache was not rebaked since."""
    result = obj.weft.result
    if not result.frame_count or (result.bake and result.bake != description.bake):
        return False
    return json.loads(result.fingerprint or "{}") == description.fingerprint


def _is_of_file_by_name(stem: Path, description: Description) -> bool:
    blend = Path(bpy.data.filepath)
    if not description.blend or description.blend != blend.name:
        return False
    return _resolved(stem.parent) == _resolved(blend.parent / DEFAULT_FOLDER)


def _relative_path(folder: Path, blend: str) -> str:
    """Path relative to the folder, valid when both are moved together."""
    if not blend:
        return ""
    try:
        return Path(os.path.relpath(_resolved(Path(blend)), _resolved(folder))).as_posix()
    except ValueError:  # on another drive
        return blend


def _is_open(blend: Path) -> bool:
    open_file = bpy.data.filepath
    return bool(open_file) and file_identity.same_path(_resolved(blend), _resolved(Path(open_file)))


def _does_not_exist(path: Path) -> bool:
    """Whether a path certainly does not exist; False if it cannot be accessed."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _resolved(path: Path) -> Path:
    return Path(os.path.realpath(path))
