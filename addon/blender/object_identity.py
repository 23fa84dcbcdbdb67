# SPDX-License-Identifier: GPL-3.0-or-later
"""Identity of objects across renaming, duplication, undo and reload.

A participant gets an identity: a readable, file-safe and unique identifier that is saved with it
and names its cache files. A duplicate inherits the identity of its original and then gets a new
one; the session uid that Blender assigns tells which of the two is the original.
"""

import re
import uuid

import bpy
from bpy.types import Object, Scene

# identity -> session uid of the object that owns it
_owners: dict[str, int] = {}


def _new_identity(name: str) -> str:
    readable = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")[:24]
    return f"{readable or 'object'}_{uuid.uuid4().hex[:16]}"


def readable_name(identity: str) -> str:
    """Name that an object had when it got its identity; a name stays as it is."""
    return re.sub(r"_[0-9a-f]{16}$", "", identity)


def ensure(obj: Object) -> str:
    """Identity of an object; created if it is missing or belongs to another object."""
    known = obj.weft.identity
    owner = _owners.get(known)
    if not known or (owner not in (None, obj.session_uid) and find(owner) is not None):
        obj.weft.identity = known = _new_identity(obj.name)
        obj.weft.result.cache = ""  # it is the cache of the original
    _owners[known] = obj.session_uid
    return known


def key(obj: Object) -> str:
    """Identifier of a participant in fingerprints; linked objects have no identity, but a name."""
    return obj.weft.identity or obj.name_full


def resolve_duplicates() -> None:
    """Gives every duplicate in the file an identity of its own."""
    sharing: dict[str, list[Object]] = {}
    for obj in bpy.data.objects:
        if obj.library is None and obj.weft.identity:
            sharing.setdefault(obj.weft.identity, []).append(obj)
    for identity, objects in sharing.items():
        owner = _owners.get(identity)
        objects.sort(key=lambda obj: (obj.session_uid != owner, obj.session_uid))
        _owners[identity] = objects[0].session_uid
        for duplicate in objects[1:]:
            ensure(duplicate)


def forget() -> None:
    """Clears the owners after a load, which assigns new session uids."""
    _owners.clear()


def find(session_uid: int) -> Object | None:
    """The object with this session uid, None if it was deleted."""
    return next((obj for obj in bpy.data.objects if obj.session_uid == session_uid), None)


def local_scenes() -> list[Scene]:
    """Scenes of the open file itself, without linked ones."""
    return [scene for scene in bpy.data.scenes if scene.library is None]


def find_scene(session_uid: int) -> Scene | None:
    """The scene with this session uid, None if it was deleted."""
    return next((scene for scene in bpy.data.scenes if scene.session_uid == session_uid), None)
