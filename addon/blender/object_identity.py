# SPDX-License-Identifier: GPL-3.0-or-later
"""Which object is which, through renaming, duplicating, undoing and reloading.

An object that takes part gets an identity: a readable, file-safe and unique word that is saved
with it and names its cache files. A duplicate comes with the identity of its original and gets a
new one; which of the two is the original is known from Blender's session ids.
"""

import re
import uuid

import bpy
from bpy.types import Object, Scene

# identity -> session id of the object it belongs to, filled while Blender runs
_owners: dict[str, int] = {}


def _new_identity(name: str) -> str:
    readable = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")[:24]
    return f"{readable or 'object'}_{uuid.uuid4().hex[:16]}"


def ensure(obj: Object) -> str:
    """The identity of an object, given now if it has none or only a duplicated one."""
    known = obj.weft.identity
    owner = _owners.get(known)
    if not known or (owner not in (None, obj.session_uid) and find(owner) is not None):
        obj.weft.identity = known = _new_identity(obj.name)
        obj.weft.result.cache = ""  # of the original
    _owners[known] = obj.session_uid
    return known


def key(obj: Object) -> str:
    """What to call a participant in fingerprints: linked objects cannot be given an identity."""
    return obj.weft.identity or obj.name_full


def settle_duplicates() -> None:
    """Gives every object of the file an identity of its own, originals first."""
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
    """Another file has been loaded: its session ids are new."""
    _owners.clear()


def find(session_uid: int) -> Object | None:
    """The object with this session id, None when it has been deleted."""
    return next((obj for obj in bpy.data.objects if obj.session_uid == session_uid), None)


def local_scenes() -> list[Scene]:
    """The scenes of the open file itself, without those of libraries."""
    return [scene for scene in bpy.data.scenes if scene.library is None]


def find_scene(session_uid: int) -> Scene | None:
    """The scene with this session id, None when it has been deleted."""
    return next((scene for scene in bpy.data.scenes if scene.session_uid == session_uid), None)
