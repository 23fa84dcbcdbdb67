# SPDX-License-Identifier: GPL-3.0-or-later
"""Moves caches to the cache folder of the open file: at the first save, and before a resumed bake.

Files are always copied first, so that nothing is lost on a full disk or a failed save, and caches
of other files stay unchanged.
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
    """Changes that saving a file makes, so that they can be undone."""

    copies: dict[Path, Path] = field(default_factory=dict)  # source -> destination
    caches: dict[int, str] = field(default_factory=dict)  # previous cache by session uid
    paths: list[tuple[int, str, str]] = field(
        default_factory=list
    )  # session uid, modifier, previous path
    takes: list[tuple[int, int, str]] = field(
        default_factory=list
    )  # session uid, index of a take, previous cache

    def redirect(self, blend: str) -> None:
        """Lets all objects and modifiers use the copies."""
        for obj in bpy.data.objects if self.copies else ():
            if obj.library is not None:
                continue
            target = self.copies.get(Path(obj.weft.result.cache))
            if target is not None:
                self.caches[obj.session_uid] = obj.weft.result.cache
                obj.weft.result.cache = os.path.abspath(target)
            for modifier, path in mesh_cache.played_files(obj):
                target = self.copies.get(path.with_suffix(""))
                if target is not None:
                    self.paths.append((obj.session_uid, modifier.name, modifier.filepath))
                    modifier.filepath = mesh_cache.stored_path(target, blend)
            for index, take in enumerate(obj.weft.takes):
                target = self.copies.get(Path(take.cache))
                if target is not None:
                    self.takes.append((obj.session_uid, index, take.cache))
                    take.cache = os.path.abspath(target)

    def undo(self) -> None:
        """Restores the previous paths of objects and modifiers."""
        for uid, before in self.caches.items():
            object_identity.find(uid).weft.result.cache = before
        for uid, name, before in self.paths:
            object_identity.find(uid).modifiers[name].filepath = before
        for uid, index, before in self.takes:
            object_identity.find(uid).weft.takes[index].cache = before


_save = _Save()


# --- the first save ---------------------------------------------------------------------------


def before_save(blend: str) -> None:
    """Copies the session caches beside the file that is being saved."""
    global _save
    _save = _Save()
    copies: dict[Path, Path] = {}
    can_be_saved = blend and Path(blend).parent.is_dir()
    for scene in object_identity.local_scenes() if can_be_saved else ():
        copies |= _caches_to_move(scene, blend)
    _copy(copies, blend)
    _save.copies = copies
    _save.redirect(blend)


def after_save(blend: str) -> None:
    """Deletes the session caches; undoes the redirection if only a copy was saved."""
    global _save
    done, _save = _save, _Save()
    if not bpy.data.filepath or not file_identity.same_path(blend, bpy.data.filepath):
        done.undo()
        return
    _remove(done.copies)
    for scene in object_identity.local_scenes():
        _sign(scene)


def save_failed() -> None:
    """Undoes the redirection and deletes the copies."""
    global _save
    done, _save = _save, _Save()
    done.undo()
    _remove(done.copies.values())


def after_bake() -> None:
    """Moves session caches if the file was saved for the first time during the bake."""
    before_save(bpy.data.filepath)
    after_save(bpy.data.filepath)


def _caches_to_move(scene: Scene, blend: str) -> dict[Path, Path]:
    """Session caches of a scene, with their destinations."""
    session, folder = cache_paths.session_directory(), cache_paths.directory(scene, blend)
    if folder == session:
        return {}
    played, own = {}, {}
    for obj in _with_identity(scene):
        stem = cache_paths.stem(scene, obj)
        is_take = ownership.is_take(stem)
        if stem.parent == session and pc2.cached_description(stem) and not is_take:
            own[stem] = cache_paths.own_stem(scene, obj, blend)
        for take in _take_stems(scene, obj):
            if take.parent == session:
                played[take] = folder / take.name
        for _modifier, path in mesh_cache.played_files(
            obj
        ):  # a duplicate plays the cache of its original
            stem = path.with_suffix("")
            if stem.parent == session and pc2.cached_description(stem):
                played[stem] = folder / stem.name
    return played | own


def _sign(scene: Scene) -> None:
    """Enters the path of the file in caches that were baked before the first save."""
    for obj in _with_identity(scene):
        for stem in {cache_paths.stem(scene, obj), *_take_stems(scene, obj)}:
            known = pc2.cached_description(stem)
            if known and not known.blend and known.file == file_identity.current():
                description = pc2.read_description(stem)
                ownership.sign(description, stem.parent)
                with suppress(OSError):  # a read-only folder keeps the old description
                    pc2.write_description(stem, description)


def _take_stems(scene: Scene, obj: Object) -> list[Path]:
    """Caches of the takes of an object that can be read."""
    stems = [cache_paths.take_stem(scene, take) for take in obj.weft.takes]
    return [stem for stem in stems if pc2.cached_description(stem)]


# --- before a bake goes on --------------------------------------------------------------------


def adopt(scene: Scene, cloths: list[Object]) -> bool:
    """Copies caches of other folders or other files to the cache folder of the open file.

    The copies form a new bake with its own checkpoints. False if no copy was necessary.
    """
    taken, bakes = [], {}
    for obj in cloths:
        stem = cache_paths.stem(scene, obj)
        description = pc2.read_description(stem)
        is_own = ownership.is_own(obj, stem, description)
        if not is_own or stem.parent != cache_paths.directory(scene):
            taken.append((obj, is_own, stem, cache_paths.own_stem(scene, obj)))
            bakes.setdefault(description.bake, new_bake())
    _copy({stem: target for _obj, _is_own, stem, target in taken}, bpy.data.filepath, bakes)
    for obj, is_own, stem, target in taken:
        obj.weft.result.cache = os.path.abspath(target)
        obj.weft.result.bake = bakes.get(obj.weft.result.bake, obj.weft.result.bake)
        if is_own:
            _Save({stem: target}).redirect(bpy.data.filepath)
            _remove([stem])
    return bool(taken)


# --- copying ----------------------------------------------------------------------------------


def new_bake() -> str:
    """Identifier of a bake that no other has."""
    return f"bake_{uuid.uuid4().hex[:16]}"


def copy_whole(source: Path, target: Path) -> str:
    """Copies a cache as a bake of its own, whose identifier is returned; all of it or nothing."""
    bake, name = pc2.read_description(source).bake, new_bake()
    try:
        _copy({source: target}, bpy.data.filepath, {bake: name})
    except (OSError, pc2.CacheError):
        pc2.remove(target)
        checkpoint.remove(target.parent, name)
        frame_record.path_of(target.parent, name).unlink(missing_ok=True)
        raise
    return name


def _copy(copies: dict[Path, Path], blend: str, bakes: dict[str, str] | None = None) -> None:
    """Copies caches with checkpoints and records, descriptions last; renames bakes."""
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
        with suppress(pc2.CacheError):  # damaged checkpoints are not copied
            copy = replace(checkpoint.read(path), bake=name)
            copy.write(checkpoint.path_of(folder, name, frame))


def _remove(stems: Iterable[Path]) -> None:
    for stem in stems:
        try:
            cache_paths.remove_stem(stem)
        except OSError as error:
            print(f"Weft: '{stem.name}' could not be removed: {error}")


def _with_identity(scene: Scene) -> Iterator[Object]:
    return (obj for obj in scene.objects if obj.library is None and obj.weft.identity)
