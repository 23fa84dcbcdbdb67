# SPDX-License-Identifier: GPL-3.0-or-later
"""The cloths themselves, as their frames are simulated: a Mesh Cache modifier for the time being.

A cloth is in one of two states while its scene is read frame by frame. To be read it has its
deforming modifiers, which move the pins; to be seen it has the frames in its cache, and all that
acts on them. The modifier shows the frame that the scene is at, so that cloth and scene agree.
"""

from pathlib import Path

from bpy.types import Modifier, Object

from ..blender import modifier_state, object_identity
from . import mesh_cache

NAME = "Weft Preview"


class Preview:
    """Previews of the cloths of a simulation, in the order of their caches; hidden at first."""

    def __init__(self, cloths: list[Object], stems: list[Path], frame_start: int) -> None:
        self._uids = [obj.session_uid for obj in cloths]
        self.is_shown = False
        for obj, stem in zip(cloths, stems, strict=True):
            _add(obj, stem, frame_start)

    def show(self) -> None:
        """Shows the frames of the caches."""
        self._set(shown=True)

    def hide(self) -> None:
        """Shows the cloths as they are read."""
        self._set(shown=False)

    def _set(self, *, shown: bool) -> None:
        if shown == self.is_shown:
            return
        self.is_shown = shown
        for obj in map(object_identity.find, self._uids):
            if obj is not None:  # deleted meanwhile
                _set_state(obj, shown=shown)


def remove(obj: Object) -> None:
    """Deletes the preview of an object, also of one that was duplicated or saved with it."""
    modifier = own_modifier(obj)
    if modifier is not None:
        obj.modifiers.remove(modifier)
    obj.weft.result.property_unset("preview")
    obj.weft.result.property_unset("preview_uid")


def own_modifier(obj: Object) -> Modifier | None:
    """The modifier of the preview, None without one."""
    result = obj.weft.result
    if not result.preview:
        return None
    return modifier_state.find(obj, result.preview, result.preview_uid)


def _add(obj: Object, stem: Path, frame_start: int) -> None:
    remove(obj)
    modifier_state.mute(obj, modifier_state.is_deforming)
    modifier = mesh_cache.add(obj, NAME, frame_start)
    modifier.filepath = mesh_cache.stored_path(stem, "")
    obj.weft.result.preview, obj.weft.result.preview_uid = modifier.name, modifier.persistent_uid
    _set_state(obj, shown=False)


def _set_state(obj: Object, *, shown: bool) -> None:
    modifier_state.show_muted(obj, modifier_state.is_generative, shown=shown)
    modifier_state.show_muted(obj, modifier_state.is_deforming, shown=not shown)
    modifier = own_modifier(obj)
    if modifier is not None:
        modifier.show_viewport = shown
