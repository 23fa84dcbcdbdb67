# SPDX-License-Identifier: GPL-3.0-or-later
"""Application handlers: keep results consistent across edits, duplication, undo, save and load."""

import bpy
from bpy.app.handlers import persistent
from bpy.types import Depsgraph, Object, Scene

from .bake import fingerprint, job, live, status
from .blender import file_identity, object_identity
from .cache import pc2
from .checks import operators
from .properties import change_counter
from .result import mesh_cache
from .scene import evaluation_state
from .storage import cache_paths, freed, ownership, transfer

_object_count = 0


@persistent
def _scene_changed(_scene: Scene, depsgraph: Depsgraph) -> None:
    """Called after edits, not after frame changes, so that playback costs nothing."""
    global _object_count
    if job.running() is not None:
        return  # changes made by the bake
    if live.session() is not None:
        live.session().note_change()
    for update in depsgraph.updates:
        if isinstance(update.id, Object):
            _object_changed(update.id.original, update.is_updated_geometry)
    if len(bpy.data.objects) != _object_count:
        _object_count = len(bpy.data.objects)
        object_identity.resolve_duplicates()
    change_counter.increment()


def _object_changed(obj: Object, geometry: bool) -> None:
    if geometry:
        fingerprint.forget_geometry(obj.session_uid)
    if obj.weft.role != "NONE" and not obj.weft.identity and obj.library is None:
        # Early, so that it is saved even if Blender exits during the first bake.
        object_identity.ensure(obj)


@persistent
def _before_undo(_scene: Scene, _unused: object = None) -> None:
    live.end(bpy.context)
    if job.running() is not None:
        job.running().stop()


@persistent
def _after_undo(_scene: Scene, _unused: object = None) -> None:
    fingerprint.forget_geometry()
    object_identity.resolve_duplicates()
    file_identity.stamp()
    if job.running() is None:
        evaluation_state.restore()  # the undo step may date from a running bake
        freed.after_undo()
    _relink_results()
    change_counter.increment()


@persistent
def _before_load(_path: str, _unused: object = None) -> None:
    live.abandon()
    if job.running() is not None:
        job.running().abandon(restore=False)


@persistent
def _after_load(_path: str, _unused: object = None) -> None:
    fingerprint.forget_geometry()
    object_identity.forget()
    freed.forget()
    file_identity.after_load()
    freed.remove_leftovers()
    status.forget()
    operators.forget()
    object_identity.resolve_duplicates()
    evaluation_state.restore()  # the file may have been saved during a bake
    _relink_results()
    change_counter.increment()


@persistent
def _before_save(path: str, _unused: object = None) -> None:
    live.end(bpy.context)
    file_identity.before_save(path)
    if job.running() is not None:
        return  # the bake moves its caches at its end
    try:
        transfer.before_save(path)
    except (OSError, pc2.CacheError) as error:
        print(f"Weft: the cache stays in the temporary folder: {error}")


@persistent
def _after_save(path: str, _unused: object = None) -> None:
    file_identity.after_save(path)
    if job.running() is None:
        transfer.after_save(path)
    change_counter.increment()


@persistent
def _save_failed(path: str, _unused: object = None) -> None:
    file_identity.after_save(path)
    transfer.save_failed()


def _relink_results() -> None:
    """Sets the files of Mesh Cache modifiers whose previous file is missing."""
    for scene in bpy.data.scenes:
        for obj in scene.objects:
            if obj.library is None and obj.weft.result.modifier:
                stem = cache_paths.stem(scene, obj)
                description = pc2.cached_description(stem)
                if description is not None and ownership.is_shown(obj, description):
                    mesh_cache.relink(obj, stem)


_HANDLERS = (
    (bpy.app.handlers.depsgraph_update_post, _scene_changed),
    (bpy.app.handlers.undo_pre, _before_undo),
    (bpy.app.handlers.redo_pre, _before_undo),
    (bpy.app.handlers.undo_post, _after_undo),
    (bpy.app.handlers.redo_post, _after_undo),
    (bpy.app.handlers.load_pre, _before_load),
    (bpy.app.handlers.load_post, _after_load),
    (bpy.app.handlers.save_pre, _before_save),
    (bpy.app.handlers.save_post, _after_save),
    (bpy.app.handlers.save_post_fail, _save_failed),
)


def register() -> None:
    for handlers, handler in _HANDLERS:
        handlers.append(handler)


def unregister() -> None:
    for handlers, handler in _HANDLERS:
        handlers.remove(handler)
    freed.forget()
    file_identity.forget()
