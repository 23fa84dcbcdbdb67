# SPDX-License-Identifier: GPL-3.0-or-later
"""Caches that Free and the removal of a take took away: kept for undo until the file closes.

They are in a folder beside the others.

Files are renamed, so that this costs nothing. What a crash leaves goes when the file is opened.
"""

import os
import shutil
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import bpy
from bpy.types import Object, Scene

from ..blender import object_identity
from ..cache import pc2
from . import cache_paths, ownership

FOLDER = "freed"  # within a cache folder


@dataclass
class _Freed:
    """Files of the caches of one object."""

    identity: str
    bakes: frozenset[str]
    files: list[Path]  # where they belong
    folder: Path  # where they are while freed
    is_away: bool = False

    def is_wanted(self) -> bool:
        """Whether undo has brought the result or the take back."""
        if any(take.bake in self.bakes for obj in bpy.data.objects for take in obj.weft.takes):
            return True
        results = [o.weft.result for o in bpy.data.objects if o.weft.identity == self.identity]
        return any(r.bake in self.bakes if r.bake else bool(r.cache) for r in results)

    def is_there(self) -> bool:
        """Whether the files where they belong are still these."""
        descriptions = [path for path in self.files if path.suffix == ".json"]
        return {_bake_of(path.with_suffix("")) for path in descriptions} <= self.bakes

    def take_away(self) -> None:
        self._move(away=True)

    def bring_back(self) -> None:
        """Moves the files back, unless a new bake has written some of them."""
        if not any(path.exists() for path in self.files):
            self._move(away=False)

    def _move(self, *, away: bool) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        for path in self.files:
            kept = self.folder / path.name
            with suppress(FileNotFoundError):
                os.replace(*((path, kept) if away else (kept, path)))
        self.is_away = away


_freed: list[_Freed] = []


def free(scene: Scene, obj: Object) -> bool:
    """Takes the cache of an object away, not those of takes; False if another file's stays."""
    stems, shown = cache_paths.removable(scene, obj), cache_paths.stem(scene, obj)
    for folder in {stem.parent for stem in stems}:
        take_away(obj, {stem for stem in stems if stem.parent == folder})
    return shown in stems or ownership.is_take(shown)


def take_away(obj: Object, stems: set[Path]) -> None:
    """Takes caches in one folder away."""
    record = watch(obj, stems)
    if record.files:
        record.take_away()


def watch(obj: Object, stems: set[Path]) -> _Freed:
    """Lets undo and redo take caches in one folder away, and bring them back."""
    bakes = frozenset(filter(None, map(_bake_of, stems)))
    files = [path for path in cache_paths.files(stems) if path.exists()]
    folder = next(iter(stems)).parent / FOLDER / uuid.uuid4().hex[:16]
    record = _Freed(obj.weft.identity, bakes, files, folder)
    if files:
        _freed.append(record)
    return record


def after_undo() -> None:
    """Brings back what undo has restored, and takes away what redo has freed."""
    for record in reversed(_freed):
        is_wanted = record.is_wanted()
        if record.is_away and is_wanted:
            record.bring_back()
        elif not record.is_away and not is_wanted and record.is_there():
            record.take_away()


def forget() -> None:
    """Deletes all freed caches: undo cannot bring them back any more."""
    for record in _freed:
        if record.is_away:
            shutil.rmtree(record.folder, ignore_errors=True)
            _remove_if_empty(record.folder.parent)
    _freed.clear()


def remove_leftovers() -> None:
    """Deletes freed caches of this file that a crash has left."""
    for scene in object_identity.local_scenes():
        folder = cache_paths.directory(scene)
        for description in folder.glob(f"{FOLDER}/*/*.json"):
            stem = folder / description.stem
            with suppress(pc2.CacheError):
                if ownership.is_of_file(stem, pc2.read_description(description.with_suffix(""))):
                    shutil.rmtree(description.parent, ignore_errors=True)
        _remove_if_empty(folder / FOLDER)


def _bake_of(stem: Path) -> str:
    try:
        return pc2.read_description(stem).bake
    except pc2.CacheError:
        return ""


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()
