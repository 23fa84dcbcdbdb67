# SPDX-License-Identifier: GPL-3.0-or-later
"""Disabling and restoring modifiers.

Generative modifiers are off while a scene is read, because the simulated cloth is the base mesh.
Deforming modifiers are off while a result is shown, because the result already contains their
deformation. The previous state is stored on the object.
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
# These change weights, normals or UVs, or act on other objects: never muted.
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
    """Whether a modifier only moves vertices; for geometry nodes see `scene.deforming_nodes`."""
    if modifier.type == "NODES":
        return _saved_state(modifier, modifier.id_data.weft.deforming_nodes) is not None
    return modifier.type in DEFORMING


def is_generative(modifier: Modifier) -> bool:
    """Whether a modifier may change the topology of the mesh."""
    return not is_deforming(modifier) and modifier.type not in SHAPELESS


def mute(obj: Object, wanted: Callable[[Modifier], bool]) -> None:
    """Disables the selected modifiers in viewport and render, and stores their state."""
    for modifier in obj.modifiers:
        if wanted(modifier) and (modifier.show_viewport or modifier.show_render):
            record = obj.weft.muted_modifiers.add()
            remember(record, modifier)
            record.show_viewport = modifier.show_viewport
            record.show_render = modifier.show_render
            modifier.show_viewport = modifier.show_render = False


def show_muted(obj: Object, wanted: Callable[[Modifier], bool], *, shown: bool) -> None:
    """Shows the selected ones of the muted modifiers in the viewport again, or hides them."""
    for record in obj.weft.muted_modifiers:
        modifier = find(obj, record.name, record.uid)
        if modifier is not None and wanted(modifier):
            modifier.show_viewport = shown and record.show_viewport


def restore(obj: Object) -> None:
    """Re-enables the modifiers that `mute` disabled; deleted modifiers are ignored."""
    for record in obj.weft.muted_modifiers:
        modifier = find(obj, record.name, record.uid)
        if modifier is not None:
            modifier.show_viewport = record.show_viewport
            modifier.show_render = record.show_render
    obj.weft.muted_modifiers.clear()


def user_visibility(obj: Object, modifier: Modifier) -> tuple[bool, bool]:
    """The user's viewport and render visibility of a modifier, also while it is muted."""
    source = _saved_state(modifier, obj.weft.muted_modifiers) or modifier
    return source.show_viewport, source.show_render


def remember(record: PropertyGroup, modifier: Modifier) -> None:
    """Stores name and persistent id of a modifier in a record."""
    record.name, record.uid = modifier.name, modifier.persistent_uid


def find(obj: Object, name: str, uid: int) -> Modifier | None:
    """A modifier by its persistent id; by name for records of older files, whose id is 0."""
    if not uid:
        return obj.modifiers.get(name)
    return next((modifier for modifier in obj.modifiers if modifier.persistent_uid == uid), None)


def _saved_state(modifier: Modifier, records: Iterable[PropertyGroup]) -> PropertyGroup | None:
    obj = modifier.id_data
    return next((r for r in records if find(obj, r.name, r.uid) == modifier), None)
