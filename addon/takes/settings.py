# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabric and settings of a cloth in a take.

Numbers, switches and names are JSON text. Collections and objects are pointers, which follow a
renaming. Keyframes and the weights of vertex groups belong to the cloth, and are in no take, but
for those that follow from the fabrics of the panels of a garment.
"""

import json
from collections.abc import Iterator

from bpy.types import Object, Property, PropertyGroup

from ..garment import pattern_mesh
from ..properties.take import WeftTake

VALUES = frozenset(("BOOLEAN", "INT", "FLOAT", "STRING", "ENUM"))
NO_SETTINGS = frozenset(("name", "role", "identity", "active_take"))


def store(obj: Object, take: WeftTake) -> None:
    """Copies the fabric and settings of a cloth to a take."""
    take.settings = json.dumps({name: _values(group) for name, group in _groups(obj).items()})
    take.collision_collection = obj.weft.collision_collection
    take.effector_collection = obj.weft.field_weights.collection
    take.panels = _panel_fabrics(obj)
    _copy_attachments(obj.weft, take)


def restore(obj: Object, take: WeftTake) -> list[str]:
    """Gives a cloth the fabric and settings of a take; settings that it has not, their default.

    Returns remarks on fabrics of panels.
    """
    _assign_all(obj, take)
    obj.weft.collision_collection = take.collision_collection
    obj.weft.field_weights.collection = take.effector_collection
    _copy_attachments(take, obj.weft)
    if take.panels == _panel_fabrics(obj):
        return []
    for panel, fabric in zip(obj.weft.garment.panels, take.panels.split("\n"), strict=False):
        panel.fabric = fabric
    remarks = pattern_mesh.fabrics_again(obj)
    _assign_all(obj, take)  # which the fabrics of panels have changed
    return remarks


def _panel_fabrics(obj: Object) -> str:
    return "\n".join(panel.fabric for panel in obj.weft.garment.panels)


def _assign_all(obj: Object, take: WeftTake) -> None:
    stored = json.loads(take.settings)
    for name, group in _groups(obj).items():
        _assign(group, stored[name])


def _groups(obj: Object) -> dict[str, PropertyGroup]:
    """Groups of the settings of a cloth, by their names in the text."""
    settings = obj.weft
    return {"cloth": settings, "fabric": settings.material, "weights": settings.field_weights}


def _properties(group: PropertyGroup) -> Iterator[Property]:
    """Stored settings of a group, without views of others."""
    for prop in group.bl_rna.properties:
        is_view = prop.is_readonly or prop.is_skip_save
        if prop.type in VALUES and not is_view and prop.identifier not in NO_SETTINGS:
            yield prop


def _values(group: PropertyGroup) -> dict[str, object]:
    return {prop.identifier: getattr(group, prop.identifier) for prop in _properties(group)}


def _assign(group: PropertyGroup, values: dict[str, object]) -> None:
    for prop in _properties(group):
        setattr(group, prop.identifier, values.get(prop.identifier, prop.default))


def _copy_attachments(source: PropertyGroup, target: PropertyGroup) -> None:
    target.attachments.clear()
    for attachment in source.attachments:
        copy = target.attachments.add()
        _assign(copy, _values(attachment))
        copy.target = attachment.target
