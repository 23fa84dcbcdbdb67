# SPDX-License-Identifier: GPL-3.0-or-later
"""All checks of a scene, the gravest findings first."""

from collections.abc import Iterator

from bpy.types import Context, Object, Scene

from ..bake import job
from ..blender import object_identity, unkeyed_values
from ..blender.errors import UnfitError
from ..scene import evaluation_state
from ..scene.participants import check_cloth, participants
from . import meshes, motion, settings, start
from .finding import ERROR, ORDER, Finding, on_object


def check_scene(context: Context) -> list[Finding]:
    """Looks at everything that takes part; edit mode is left, nothing else changes."""
    if job.running() is not None:
        raise RuntimeError("a bake is running")
    context.view_layer.update()
    cloths, colliders = participants(context.scene, context.view_layer)
    for obj in (*cloths, *colliders):
        if obj.library is None:
            evaluation_state.leave_mode(context, obj)
            object_identity.ensure(obj)
    found = list(settings.check(context.scene, context.view_layer, cloths))
    sound, scale = [], context.scene.unit_settings.scale_length
    for obj in cloths:
        own = [*_refusals(context.scene, obj), *meshes.check_cloth(obj, scale)]
        if not any(finding.severity == ERROR for finding in own):
            sound.append(obj)
        found += own
    for obj in colliders:
        found += meshes.check_collider(obj)
    if sound:
        with unkeyed_values.kept():
            found += start.check(context, sound, colliders)
            found += motion.check(context, sound, colliders)
    return sorted(found, key=lambda finding: ORDER.index(finding.severity))


def _refusals(scene: Scene, obj: Object) -> Iterator[Finding]:
    """What a bake would refuse at once."""
    try:
        check_cloth(scene, obj)
    except UnfitError as error:
        yield on_object(ERROR, obj, "it cannot be baked", str(error), error.fix)
