# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of animated properties that were changed without a keyframe.

A change of frame overwrites them; `preserved` restores them for code that only visits frames.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import bpy
from bpy.types import ID
from bpy.utils import unescape_identifier

from . import fcurves


@contextmanager
def preserved() -> Iterator[None]:
    """Context in which frames may be changed: afterwards all unkeyed values are restored."""
    before = [(owner, _values(owner)) for owner in _animated()]
    try:
        yield
    finally:
        for owner, values in before:
            _restore_values(owner, values)


def _animated() -> Iterator[ID]:
    """All local datablocks with animation data, embedded node trees included."""
    for prop in bpy.data.bl_rna.properties:
        if prop.type != "COLLECTION":
            continue
        for block in getattr(bpy.data, prop.identifier):
            for owner in (block, getattr(block, "node_tree", None)):
                animated = getattr(owner, "animation_data", None) is not None
                if animated and owner.library is None:
                    yield owner


def _values(owner: ID) -> dict[str, Any]:
    """Values of the keyed data paths of a datablock; unresolvable paths are left out."""
    found = {}
    for path in fcurves.keyed_paths(owner):
        with suppress(ValueError):
            found[path] = _copy(owner.path_resolve(path))
    return found


def _restore_values(owner: ID, values: dict[str, Any]) -> None:
    now = _values(owner)
    changed = {path: value for path, value in values.items() if now.get(path) != value}
    for path, value in changed.items():
        _set_value(owner, path, value)
    if changed:
        owner.update_tag()  # Blender does not notice changes of custom properties


def _set_value(owner: ID, path: str, value: Any) -> None:
    if path.endswith('"]'):  # a custom property
        holder, _bracket, name = path.rpartition('["')
        _resolve(owner, holder)[unescape_identifier(name.removesuffix('"]'))] = value
    else:
        holder, _dot, name = path.rpartition(".")
        setattr(_resolve(owner, holder), name, value)


def _resolve(owner: ID, path: str) -> Any:
    return owner.path_resolve(path) if path else owner


def _copy(value: Any) -> Any:
    """A copy of a value: vectors and arrays are views into the datablock."""
    return value if isinstance(value, (bool, int, float, str, set)) else tuple(value)
