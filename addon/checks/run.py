# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs all checks of a scene."""

from collections.abc import Iterator

from bpy.types import Context, Object

from ..bake import job
from ..blender import object_identity, unkeyed_values
from ..blender.errors import UnsuitableClothError
from ..scene import evaluation_state
from ..scene.participants import check_cloth, participants
from . import hair, meshes, resolution, settings
from .finding import ERROR, ORDER, Finding, on_object
from .frames import first_frame, frame_range, result_frames


def check_scene(context: Context) -> list[Finding]:
    """Findings about all participants, by severity; leaves edit mode, changes nothing else."""
    if job.running() is not None:
        raise RuntimeError("a bake is running")
    context.view_layer.update()
    cloths, colliders = participants(context.scene, context.view_layer)
    for obj in (*cloths, *colliders):
        if obj.library is None:
            evaluation_state.enter_object_mode(context, obj)
            object_identity.ensure(obj)
    found = list(settings.check(context.scene, context.view_layer, cloths))
    sound, scale = [], context.scene.unit_settings.scale_length
    for obj in cloths:
        own = [*_refusals(obj), *meshes.check_cloth(obj, scale)]
        if not any(finding.severity == ERROR for finding in own):
            sound.append(obj)
            own += resolution.check(obj, scale)
        found += own
    found += hair.check(context.view_layer, cloths)
    for obj in colliders:
        found += meshes.check_collider(obj, context.evaluated_depsgraph_get())
        found += settings.hidden(obj, context.view_layer) if cloths else ()
    if sound:
        with unkeyed_values.preserved():
            found += first_frame.check(context, sound, colliders)
            found += frame_range.check(context, sound, colliders)
            found += result_frames.check(context, sound, colliders)
    return sorted(found, key=lambda finding: ORDER.index(finding.severity))


def _refusals(obj: Object) -> Iterator[Finding]:
    """Reasons for which a bake would refuse a cloth."""
    try:
        check_cloth(obj)
    except UnsuitableClothError as error:
        yield on_object(ERROR, obj, "it cannot be baked", str(error), error.fix)
