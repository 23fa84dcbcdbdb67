# SPDX-License-Identifier: GPL-3.0-or-later
"""What is animated but was changed without a keyframe: going to another frame loses it.

Who only looks at other frames gives it back afterwards.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import bpy
from bpy.types import ID
from bpy.utils import unescape_identifier

from . import fcurves


@contextmanager
def kept() -> Iterator[None]:
    """Changes frames meanwhile, and comes back to the one before, without losing anything."""
    before = [(owner, _values(owner)) for owner in _animated()]
    try:
        yield
    finally:
        for owner, values in before:
            _put_back(owner, values)


def _animated() -> Iterator[ID]:
    """All local datablocks with animation, node trees within others included."""
    for prop in bpy.data.bl_rna.properties:
        if prop.type != "COLLECTION":
            continue
        for block in getattr(bpy.data, prop.identifier):
            for owner in (block, getattr(block, "node_tree", None)):
                animated = getattr(owner, "animation_data", None) is not None
                if animated and owner.library is None:
                    yield owner


def _values(owner: ID) -> dict[str, Any]:
    """The values of all that curves and strips set, by paths; those that lead nowhere left out."""
    found = {}
    for path in fcurves.keyed_paths(owner):
        with suppress(ValueError):
            found[path] = _plain(owner.path_resolve(path))
    return found


def _put_back(owner: ID, values: dict[str, Any]) -> None:
    now = _values(owner)
    changed = {path: value for path, value in values.items() if now.get(path) != value}
    for path, value in changed.items():
        _set(owner, path, value)
    if changed:
        owner.update_tag()  # Blender does not see that custom properties were set


def _set(owner: ID, path: str, value: Any) -> None:
    if path.endswith('"]'):  # a custom property
        holder, _bracket, name = path.rpartition('["')
        _resolved(owner, holder)[unescape_identifier(name.removesuffix('"]'))] = value
    else:
        holder, _dot, name = path.rpartition(".")
        setattr(_resolved(owner, holder), name, value)


def _resolved(owner: ID, path: str) -> Any:
    return owner.path_resolve(path) if path else owner


def _plain(value: Any) -> Any:
    """A copy: vectors and arrays look into the datablock."""
    return value if isinstance(value, (bool, int, float, str, set)) else tuple(value)
