# SPDX-License-Identifier: GPL-3.0-or-later
"""Which .blend file is open, told by a random word that is saved in its scenes.

The name of a file does not tell: two projects may have a `shot.blend` each, and a file may be
renamed. The word is kept here while the file is open, because undoing takes back what the scenes
say, and is written into them whenever they may be saved. A file that is saved under another name
gets another word: from then on there are two.
"""

import hashlib
import os
import uuid
from pathlib import Path

import bpy

from . import object_identity

_current = ""  # of the open file, empty until somebody asks
_saving = ""  # of the file that is being saved under another name


def current() -> str:
    """The word of the open file; changes nothing in it, so panels may ask."""
    global _current
    _current = _current or _stored() or _new()
    return _current


def token(blend: str | None = None) -> str:
    """Tells caches of the same object apart that files write into one folder.

    The path is in it, because a .blend that was copied outside of Blender has the same word.
    """
    blend = bpy.data.filepath if blend is None else blend
    return hashlib.blake2b(current().encode() + os.fsencode(blend), digest_size=4).hexdigest()


def same(path: str | Path, other: str | Path) -> bool:
    """Whether two paths are the same."""
    return _plain(path) == _plain(other)


def stamp() -> None:
    """Writes the word into the scenes."""
    _write(current())


def loaded() -> None:
    """Another file has been loaded; a new one may have come from a template, with its word."""
    global _current
    _current = "" if bpy.data.filepath else _new()
    stamp()


def forget() -> None:
    """The extension is disabled: what is open when it is enabled again may be another file."""
    global _current
    _current = ""


def before_save(path: str) -> None:
    """Writes into the scenes the word that the saved file shall have: none for a startup file."""
    global _saving
    renamed = bool(path and bpy.data.filepath) and not same(path, bpy.data.filepath)
    _saving = uuid.uuid4().hex if renamed else ""
    _write((_saving or current()) if path else "")


def after_save(path: str) -> None:
    """The open file is the one that was saved, unless that is a copy, or failed."""
    global _current, _saving
    if _saving and same(path, bpy.data.filepath):
        _current = _saving
    _saving = ""
    stamp()


def _new() -> str:
    """A word for a file without one: the same each time it is opened, until it is saved."""
    if bpy.data.filepath:
        return hashlib.blake2b(os.fsencode(bpy.data.filepath), digest_size=16).hexdigest()
    return uuid.uuid4().hex


def _stored() -> str:
    return next(
        (scene.weft.file for scene in object_identity.local_scenes() if scene.weft.file), ""
    )


def _write(word: str) -> None:
    if not any(obj.weft.identity for obj in bpy.data.objects):
        return  # a file without cloth has no caches
    for scene in object_identity.local_scenes():
        if scene.weft.file != word:
            scene.weft.file = word


def _plain(path: str | Path) -> str:
    return os.path.normcase(os.path.abspath(path))
