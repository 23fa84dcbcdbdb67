# SPDX-License-Identifier: GPL-3.0-or-later
"""Switching modifiers off and back on.

While a scene is read, generative modifiers are off, because the cloth is the mesh itself. While a
result is shown, deforming ones are off, because their motion is in the result already: an
armature would deform the cloth a second time. What was switched off is remembered on the object.
"""

from collections.abc import Callable, Iterable

from bpy.types import Modifier, Object, PropertyGroup

DEFORMING = frozenset(
    (
        "ARMATURE",
        "CAST",
        "CLOTH",
        "CORRECTIVE_SMOOTH",
        "CURVE",
        "DISPLACE",
        "HOOK",
        "LAPLACIANDEFORM",
        "LAPLACIANSMOOTH",
        "LATTICE",
        "MESH_CACHE",
        "MESH_DEFORM",
        "MESH_SEQUENCE_CACHE",
        "SHRINKWRAP",
        "SIMPLE_DEFORM",
        "SMOOTH",
        "SOFT_BODY",
        "SURFACE_DEFORM",
        "WARP",
        "WAVE",
    )
)
# These change weights, normals or texture coordinates, or serve other objects: never in the way.
SHAPELESS = frozenset(
    (
        "COLLISION",
        "DATA_TRANSFER",
        "DYNAMIC_PAINT",
        "NORMAL_EDIT",
        "PARTICLE_SYSTEM",
        "SURFACE",
        "UV_PROJECT",
        "UV_WARP",
        "VERTEX_WEIGHT_EDIT",
        "VERTEX_WEIGHT_MIX",
        "VERTEX_WEIGHT_PROXIMITY",
        "WEIGHTED_NORMAL",
    )
)


def is_deforming(modifier: Modifier) -> bool:
    """Moves vertices and does nothing else; geometry nodes were evaluated to know (see `nodes`)."""
    if modifier.type == "NODES":
        return _memory_of(modifier, modifier.id_data.weft.deforming_nodes) is not None
    return modifier.type in DEFORMING


def is_generative(modifier: Modifier) -> bool:
    """Everything that may make new vertices."""
    return not is_deforming(modifier) and modifier.type not in SHAPELESS


def mute(obj: Object, wanted: Callable[[Modifier], bool]) -> None:
    """Switches the wanted modifiers off, in the viewport and for rendering, and remembers them."""
    for modifier in obj.modifiers:
        if wanted(modifier) and (modifier.show_viewport or modifier.show_render):
            memory = obj.weft.muted_modifiers.add()
            remember(memory, modifier)
            memory.show_viewport = modifier.show_viewport
            memory.show_render = modifier.show_render
            modifier.show_viewport = modifier.show_render = False


def restore(obj: Object) -> None:
    """Switches back on what `mute` switched off; modifiers that are gone are passed over."""
    for memory in obj.weft.muted_modifiers:
        modifier = find(obj, memory.name, memory.uid)
        if modifier is not None:
            modifier.show_viewport = memory.show_viewport
            modifier.show_render = memory.show_render
    obj.weft.muted_modifiers.clear()


def shown(obj: Object, modifier: Modifier) -> tuple[bool, bool]:
    """What the user set for a modifier, muted by Weft or not."""
    source = _memory_of(modifier, obj.weft.muted_modifiers) or modifier
    return source.show_viewport, source.show_render


def remember(memory: PropertyGroup, modifier: Modifier) -> None:
    """Notes which modifier a memory is of."""
    memory.name, memory.uid = modifier.name, modifier.persistent_uid


def find(obj: Object, name: str, uid: int) -> Modifier | None:
    """A modifier by its number, which renaming leaves, or by name where an older file has none."""
    if not uid:
        return obj.modifiers.get(name)
    return next((modifier for modifier in obj.modifiers if modifier.persistent_uid == uid), None)


def _memory_of(modifier: Modifier, memories: Iterable[PropertyGroup]) -> PropertyGroup | None:
    obj = modifier.id_data
    return next((m for m in memories if find(obj, m.name, m.uid) == modifier), None)
