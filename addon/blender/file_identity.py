# SPDX-License-Identifier: GPL-3.0-or-later
"""Identity of the open .blend file: a random identifier that is stored in its scenes.

The file name is no identity: two projects may each have a `shot.blend`, and files are renamed. The
identifier is held in memory while the file is open, because undo reverts the scenes, and is written
into the scenes whenever they may be saved. Saving under another name creates a new identifier,
because two files exist from then on.
"""

import hashlib
import os
import uuid
from pathlib import Path

import bpy

from . import object_identity

_current = ""  # of the open file, empty until the first request
_saving = ""  # of a file that is being saved under another name


def current() -> str:
    """Identifier of the open file. Does not modify the file, so that panels may call it."""
    global _current
    _current = _current or _stored() or _new()
    return _current


def token(blend: str | None = None) -> str:
    """Short hash in cache names, distinct for each .blend file that writes into a folder.

    It includes the path, because a .blend that was copied outside Blender has the same identifier.
    """
    blend = bpy.data.filepath if blend is None else blend
    return hashlib.blake2b(current().encode() + os.fsencode(blend), digest_size=4).hexdigest()


def same_path(path: str | Path, other: str | Path) -> bool:
    """Whether two paths are equal after normalisation."""
    return _normalised(path) == _normalised(other)


def stamp() -> None:
    """Writes the identifier of the open file into its scenes."""
    _write(current())


def after_load() -> None:
    """To be called after a load. A new file that comes from a template gets a new identifier."""
    global _current
    _current = "" if bpy.data.filepath else _new()
    stamp()


def forget() -> None:
    """Clears the identifier when the extension is disabled: another file may be open later."""
    global _current
    _current = ""


def before_save(path: str) -> None:
    """Writes the identifier of the file to be saved into the scenes; none for a startup file."""
    global _saving
    renamed = bool(path and bpy.data.filepath) and not same_path(path, bpy.data.filepath)
    _saving = uuid.uuid4().hex if renamed else ""
    _write((_saving or current()) if path else "")


def after_save(path: str) -> None:
    """Adopts the identifier of the saved file, unless that is a copy or saving failed."""
    global _current, _saving
    if _saving and same_path(path, bpy.data.filepath):
        _current = _saving
    _saving = ""
    stamp()


def _new() -> str:
    """Identifier of a file without one: derived from the path of a saved file, else random."""
    if bpy.data.filepath:
        return hashlib.blake2b(os.fsencode(bpy.data.filepath), digest_size=16).hexdigest()
    return uuid.uuid4().hex


def _stored() -> str:
    """The identifier in the scenes, empty without one."""
    return next(
        (scene.weft.file for scene in object_identity.local_scenes() if scene.weft.file), ""
    )


def _write(identifier: str) -> None:
    if not any(obj.weft.identity for obj in bpy.data.objects):
        return  # a file without cloth has no caches
    for scene in object_identity.local_scenes():
        if scene.weft.file != identifier:
            scene.weft.file = identifier


def _normalised(path: str | Path) -> str:
    return os.path.normcase(os.path.abspath(path))
