# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings caches to where the open file keeps its own: at the first save, and before they go on.

Always by copying first: nothing is lost when the disk is full or the file cannot be saved, and a
cache of another file stays what it was.
"""

import os
import shutil
import uuid
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import bpy
from bpy.types import Object, Scene

from ..blender import file_identity, object_identity
from ..cache import checkpoint, pc2
from ..result import mesh_cache
from . import cache_paths, frame_record, ownership


@dataclass
class _Save:
    """What saving a file changes, so that it can be taken back."""

    copies: dict[Path, Path] = field(default_factory=dict)  # where from, where to
    caches: dict[int, str] = field(default_factory=dict)  # of objects, as they were
    paths: list[tuple[int, str, str]] = field(default_factory=list)  # of modifiers, as they were

    def redirect(self, blend: str) -> None:
        """Lets all objects use the copies."""
        for obj in bpy.data.objects if self.copies else ():
            if obj.library is not None:
                continue
            target = self.copies.get(Path(obj.weft.result.cache))
            if target is not None:
                self.caches[obj.session_uid] = obj.weft.result.cache
                obj.weft.result.cache = os.path.abspath(target)
            for modifier, path in mesh_cache.played(obj):
                target = self.copies.get(path.with_suffix(""))
                if target is not None:
                    self.paths.append((obj.session_uid, modifier.name, modifier.filepath))
                    modifier.filepath = mesh_cache.path_to(target, blend)

    def take_back(self) -> None:
        """All objects use what they used before."""
        for uid, before in self.caches.items():
            object_identity.find(uid).weft.result.cache = before
        for uid, name, before in self.paths:
            object_identity.find(uid).modifiers[name].filepath = before


_save = _Save()


# --- the first save ---------------------------------------------------------------------------


def before_save(blend: str) -> None:
    """Copies the caches of the session beside the file that is being saved, which plays them."""
    global _save
    _save = _Save()
    copies: dict[Path, Path] = {}
    can_be_saved = blend and Path(blend).parent.is_dir()
    for scene in object_identity.local_scenes() if can_be_saved else ():
        copies |= _leaving_session(scene, blend)
    _copy(copies, blend)
    _save.copies = copies
    _save.redirect(blend)


def after_save(blend: str) -> None:
    """Deletes what was copied from; where only a copy of the file was saved all is as it was."""
    global _save
    done, _save = _save, _Save()
    if not bpy.data.filepath or not file_identity.same(blend, bpy.data.filepath):
        done.take_back()
        return
    _remove(done.copies)
    for scene in object_identity.local_scenes():
        _sign(scene)


def save_failed() -> None:
    """Takes everything back."""
    global _save
    done, _save = _save, _Save()
    done.take_back()
    _remove(done.copies.values())


def after_bake() -> None:
    """The same when the file was saved for the first time while its caches were written."""
    before_save(bpy.data.filepath)
    after_save(bpy.data.filepath)


def _leaving_session(scene: Scene, blend: str) -> dict[Path, Path]:
    """The caches of a scene that lie in the folder of the session, and where they belong."""
    session, folder = cache_paths.session_directory(), cache_paths.directory(scene, blend)
    if folder == session:
        return {}
    played, own = {}, {}
    for obj in _with_identity(scene):
        stem = cache_paths.stem(scene, obj)
        if stem.parent == session and pc2.described(stem):
            own[stem] = cache_paths.own_stem(scene, obj, blend)
        for _modifier, path in mesh_cache.played(obj):  # a duplicate plays that of its original
            stem = path.with_suffix("")
            if stem.parent == session and pc2.described(stem):
                played[stem] = folder / stem.name
    return played | own


def _sign(scene: Scene) -> None:
    """Caches that were baked before the first save learn the name of their file."""
    for obj in _with_identity(scene):
        stem = cache_paths.stem(scene, obj)
        known = pc2.described(stem)
        if known and not known.blend and known.file == file_identity.current():
            description = pc2.read_description(stem)
            ownership.sign(description, stem.parent)
            with suppress(OSError):  # in a folder that cannot be written to nothing is deleted
                pc2.write_description(stem, description)


# --- before a bake goes on --------------------------------------------------------------------


def take_over(scene: Scene, cloths: list[Object]) -> bool:
    """Brings caches that lie elsewhere, or are another file's, to where this file has its own.

    They become another bake, whose checkpoints may be added to. False: all were there already.
    """
    taken, bakes = [], {}
    for obj in cloths:
        stem = cache_paths.stem(scene, obj)
        description = pc2.read_description(stem)
        is_own = ownership.is_own(obj, stem, description)
        if not is_own or stem.parent != cache_paths.directory(scene):
            taken.append((obj, is_own, stem, cache_paths.own_stem(scene, obj)))
            bakes.setdefault(description.bake, f"bake_{uuid.uuid4().hex[:16]}")
    _copy({stem: target for _obj, _is_own, stem, target in taken}, bpy.data.filepath, bakes)
    for obj, is_own, stem, target in taken:
        obj.weft.result.cache = os.path.abspath(target)
        obj.weft.result.bake = bakes.get(obj.weft.result.bake, obj.weft.result.bake)
        if is_own:
            _Save({stem: target}).redirect(bpy.data.filepath)
            _remove([stem])
    return bool(taken)


# --- copying ----------------------------------------------------------------------------------


def _copy(copies: dict[Path, Path], blend: str, bakes: dict[str, str] | None = None) -> None:
    """Copies caches with what their bakes have, the descriptions last; bakes may be renamed."""
    copied = set()
    for source, target in copies.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        cache_paths.remove_stem(target)
        shutil.copyfile(pc2.data_path(source), pc2.data_path(target))
    for source, target in copies.items():
        description = pc2.read_description(source)
        bake = description.bake
        description.bake = bakes.get(bake, bake) if bakes else bake
        if (source.parent, target.parent, bake) not in copied:
            copied.add((source.parent, target.parent, bake))
            _copy_bake(source.parent, target.parent, bake, description.bake)
        ownership.sign(description, target.parent, blend)
        pc2.write_description(target, description)


def _copy_bake(source: Path, folder: Path, bake: str, name: str) -> None:
    with suppress(FileNotFoundError):
        shutil.copyfile(frame_record.path_of(source, bake), frame_record.path_of(folder, name))
    for frame, path in checkpoint.paths(source, bake).items():
        with suppress(pc2.CacheError):  # a damaged one is of no use there either
            kept = replace(checkpoint.read(path), bake=name)
            kept.write(checkpoint.path_of(folder, name, frame))


def _remove(stems: Iterable[Path]) -> None:
    for stem in stems:
        try:
            cache_paths.remove_stem(stem)
        except OSError as error:
            print(f"Weft: '{stem.name}' could not be removed: {error}")


def _with_identity(scene: Scene) -> Iterator[Object]:
    return (obj for obj in scene.objects if obj.library is None and obj.weft.identity)
