# SPDX-License-Identifier: GPL-3.0-or-later
"""Modifiers that multiply a cloth: the copies that they make are not simulated.

Those that continue the mesh make a part of the garment itself, and would copy the motion of the
simulated part into it without contact: a cloth with one is refused.
"""

from collections.abc import Iterator

import numpy as np
from bpy.types import MirrorModifier, Modifier, Object

from ..blender import mesh_arrays, modifier_state
from ..blender.errors import UnsuitableClothError

TYPES = {"ARRAY": "Array", "MIRROR": "Mirror", "SCREW": "Screw", "SKIN": "Skin"}


def modifiers(obj: Object) -> Iterator[Modifier]:
    """The modifiers of a cloth that multiply it, and are on."""
    for modifier in obj.modifiers:
        if modifier.type in TYPES and any(modifier_state.user_visibility(obj, modifier)):
            yield modifier


def check(obj: Object) -> None:
    """Raises `UnsuitableClothError` if a modifier continues the mesh of a cloth."""
    for modifier in modifiers(obj):
        if continues(modifier):
            raise UnsuitableClothError(
                f"the {TYPES[modifier.type]} modifier '{modifier.name}' of '{obj.name}' makes a "
                "part of the garment, which would not be simulated: apply it (Check Scene does)",
                fix="apply_modifiers",
            )


def continues(modifier: Modifier) -> bool:
    """Whether what a modifier makes hangs together with the mesh."""
    if modifier.type == "MIRROR":
        return modifier.use_mirror_merge and _touches_mirror(modifier)
    return modifier.type != "ARRAY" or modifier.use_merge_vertices


def _touches_mirror(modifier: MirrorModifier) -> bool:
    """Whether vertices are merged with their images."""
    obj, mirror = modifier.id_data, modifier.mirror_object
    points = mesh_arrays.rest_coordinates(obj.data)
    if mirror is not None:
        points = mesh_arrays.transformed(
            points, np.array(mirror.matrix_world.inverted_safe() @ obj.matrix_world)
        )
    near = np.abs(points) <= modifier.merge_threshold
    return bool((near.any(axis=0) & np.array(modifier.use_axis)).any())
