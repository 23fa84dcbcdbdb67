# SPDX-License-Identifier: GPL-3.0-or-later
"""Participants of a bake: cloths and colliders of a view layer, and the requirements on a cloth."""

from dataclasses import dataclass

import bpy
from bpy.types import ID, Collection, Object, Scene, ViewLayer

from ..blender.errors import SkippedSceneError, UnsuitableClothError
from . import multiplied, rest_shape
from .geometry import may_collide

GROUP_USES = (
    *("pin", "density", "shrink", "internal", "pressure", "collision", "self_collision"),
    *rest_shape.PROPERTIES,
)


def participants(scene: Scene, view_layer: ViewLayer) -> tuple[list[Object], list[Object]]:
    """Cloths and colliders of a view layer, each sorted by name."""
    by_role = {"CLOTH": [], "COLLIDER": [], "NONE": []}
    for obj in sorted(view_layer.objects, key=lambda obj: obj.name_full):
        if obj.type == "MESH" or (obj.weft.role == "COLLIDER" and may_collide(obj)):
            by_role[obj.weft.role].append(obj)
    collection = scene.weft.collider_collection
    if collection is not None:
        included = {obj.session_uid for obj in collection.all_objects}
        by_role["COLLIDER"] = [o for o in by_role["COLLIDER"] if o.session_uid in included]
    if scene.weft.only_visible:
        by_role["COLLIDER"] = [obj for obj in by_role["COLLIDER"] if _is_visible(obj, view_layer)]
    return by_role["CLOTH"], by_role["COLLIDER"]


def _is_visible(obj: Object, view_layer: ViewLayer) -> bool:
    """Whether an object is shown, also while a bake has enabled it."""
    return obj.visible_get(view_layer=view_layer) and not obj.weft.result.was_disabled


@dataclass(frozen=True)
class Alone:
    """Bake of one cloth, to which other cloths are obstacles that move as their results do."""

    cloth: Object
    obstacles: frozenset[str] | None = None  # identities; None for all cloths with a result

    def participants(
        self, scene: Scene, view_layer: ViewLayer
    ) -> tuple[list[Object], list[Object]]:
        """The cloth, and colliders with cloths that are obstacles."""
        cloths, colliders = participants(scene, view_layer)
        if self.cloth not in cloths:
            layer = view_layer.name
            raise ValueError(f"'{self.cloth.name}' is no cloth of the view layer '{layer}'")
        if scene.weft.self_collision and self.cloth.weft.use_self_collision:
            colliders += [obj for obj in cloths if obj != self.cloth and self._is_obstacle(obj)]
        return [self.cloth], colliders

    def _is_obstacle(self, obj: Object) -> bool:
        is_chosen = self.obstacles is None or obj.weft.identity in self.obstacles
        return obj.weft.result.shown and is_chosen


def instanced_colliders(scene: Scene, view_layer: ViewLayer) -> list[tuple[Object, str]]:
    """Collection instances that contain a collider, with its name: they are not read."""
    allowed_collection = scene.weft.collider_collection
    allowed = (
        None
        if allowed_collection is None
        else {obj.session_uid for obj in allowed_collection.all_objects}
    )
    names: dict[Collection, str] = {}  # memoised, because many instances may share a collection

    def name_in(instance: Object) -> str:
        collection = instance.instance_collection
        is_seen = instance.weft.role == "COLLIDER"
        if is_seen or instance.instance_type != "COLLECTION" or collection is None:
            return ""
        if collection not in names:
            names[collection] = next(filter(None, map(name_of, collection.all_objects)), "")
        return names[collection]

    def name_of(obj: Object) -> str:
        is_collider = obj.weft.role == "COLLIDER" and may_collide(obj)
        if is_collider and (allowed is None or obj.session_uid in allowed):
            return obj.name
        return name_in(obj)

    found = [(obj, name_in(obj)) for obj in view_layer.objects]
    return [(obj, name) for obj, name in found if name]


def excluded_cloths(scene: Scene, view_layer: ViewLayer) -> list[Object]:
    """Cloths of the scene whose collections are excluded from the view layer."""
    included = {obj.session_uid for obj in view_layer.objects}
    others = (obj for obj in scene.objects if obj.session_uid not in included)
    return [obj for obj in others if obj.type == "MESH" and obj.weft.role == "CLOTH"]


def require_cloth(scene: Scene, view_layer: ViewLayer, cloths: list[Object]) -> None:
    """Raises `SkippedSceneError` for a scene without a cloth."""
    if cloths:
        return
    excluded = excluded_cloths(scene, view_layer)
    if excluded:
        raise SkippedSceneError(
            f"'{excluded[0].name}' takes no part: its collection is excluded from the view layer "
            f"'{view_layer.name}'"
        )
    raise SkippedSceneError(f"no object of the scene '{scene.name}' has the role Cloth")


def compared_copies() -> list[Object]:
    """Linked copies of cloths that show their takes beside them, and take no part in a bake."""
    return [obj for obj in bpy.data.objects if obj.weft.result.take]


def check_cloth(obj: Object) -> None:
    """Raises `UnsuitableClothError` for a cloth that cannot carry a result."""
    _check_local(obj, f"'{obj.name}'")
    _check_local(obj.data, f"the mesh '{obj.data.name}' of '{obj.name}'")
    users = obj.data.users - sum(copy.data == obj.data for copy in compared_copies())
    if users > 1:
        raise UnsuitableClothError(
            f"the mesh '{obj.data.name}' of '{obj.name}' has {users} users: a cloth "
            "needs a mesh of its own (Object > Relations > Make Single User)",
            fix="own_mesh",
        )
    if obj.parent is not None and obj.parent_type in {"ARMATURE", "LATTICE"}:
        raise UnsuitableClothError(
            f"'{obj.name}' is deformed by its parent '{obj.parent.name}': use a modifier instead, "
            "which can be switched off while the result is shown"
        )
    multiplied.check(obj)
    for use in GROUP_USES:
        group = getattr(obj.weft, f"{use}_group")
        if group and group not in obj.vertex_groups:
            use = use.replace("_", " ")
            raise UnsuitableClothError(
                f"'{obj.name}' has no vertex group '{group}', its {use} group"
            )


def _check_local(owner: ID, name: str) -> None:
    if owner.library is None and owner.override_library is None:
        return
    origin = "linked from another file" if owner.library is not None else "a library override"
    raise UnsuitableClothError(
        f"{name} is {origin}: a cloth and its mesh must be local "
        "(Object > Relations > Make Local > Selected Objects and Data)"
    )
