# SPDX-License-Identifier: GPL-3.0-or-later
"""Who takes part in a bake: cloths and colliders of a view layer, and what a cloth must be."""

from bpy.types import ID, Collection, Object, Scene, ViewLayer

from ..blender.errors import LeftOutError, UnfitError
from ..result import shape_keys
from . import rest_shape

GROUPS = (
    *("pin", "density", "shrink", "pressure", "collision", "self_collision"),
    *rest_shape.PROPERTIES,
)


def participants(scene: Scene, view_layer: ViewLayer) -> tuple[list[Object], list[Object]]:
    """Cloths and colliders of a view layer, each sorted by name."""
    meshes = [obj for obj in view_layer.objects if obj.type == "MESH"]
    by_role = {"CLOTH": [], "COLLIDER": [], "NONE": []}
    for obj in sorted(meshes, key=lambda obj: obj.name_full):
        by_role[obj.weft.role].append(obj)
    among = scene.weft.collider_collection
    if among is not None:
        inside = {obj.session_uid for obj in among.all_objects}
        by_role["COLLIDER"] = [o for o in by_role["COLLIDER"] if o.session_uid in inside]
    return by_role["CLOTH"], by_role["COLLIDER"]


def unseen_colliders(scene: Scene, view_layer: ViewLayer) -> list[tuple[Object, str]]:
    """Instances of collections with the name of a collider in them: it is not read there."""
    among = scene.weft.collider_collection
    chosen = None if among is None else {obj.session_uid for obj in among.all_objects}
    names: dict[Collection, str] = {}  # what was found in each, because instances are many

    def name_in(instance: Object) -> str:
        collection = instance.instance_collection
        if instance.instance_type != "COLLECTION" or collection is None:
            return ""
        if collection not in names:
            names[collection] = next(filter(None, map(name_of, collection.all_objects)), "")
        return names[collection]

    def name_of(obj: Object) -> str:
        is_collider = obj.type == "MESH" and obj.weft.role == "COLLIDER"
        if is_collider and (chosen is None or obj.session_uid in chosen):
            return obj.name
        return name_in(obj)

    found = [(obj, name_in(obj)) for obj in view_layer.objects]
    return [(obj, name) for obj, name in found if name]


def excluded_cloths(scene: Scene, view_layer: ViewLayer) -> list[Object]:
    """Cloths of the scene that are not in the view layer, as their collections are excluded."""
    there = {obj.session_uid for obj in view_layer.objects}
    others = (obj for obj in scene.objects if obj.session_uid not in there)
    return [obj for obj in others if obj.type == "MESH" and obj.weft.role == "CLOTH"]


def check_any(scene: Scene, view_layer: ViewLayer, cloths: list[Object]) -> None:
    """Refuses a scene without a cloth."""
    if cloths:
        return
    excluded = excluded_cloths(scene, view_layer)
    if excluded:
        raise LeftOutError(
            f"'{excluded[0].name}' takes no part: its collection is excluded from the view layer "
            f"'{view_layer.name}'"
        )
    raise LeftOutError(f"no object of the scene '{scene.name}' has the role Cloth")


def check_cloth(scene: Scene, obj: Object) -> None:
    """Refuses a cloth that could not take a result."""
    _check_local(obj, f"'{obj.name}'")
    _check_local(obj.data, f"the mesh '{obj.data.name}' of '{obj.name}'")
    if obj.data.users > 1:
        raise UnfitError(
            f"the mesh '{obj.data.name}' of '{obj.name}' has {obj.data.users} users: a cloth "
            "needs a mesh of its own (Object > Relations > Make Single User)",
            fix="own_mesh",
        )
    if obj.parent is not None and obj.parent_type in {"ARMATURE", "LATTICE"}:
        raise UnfitError(
            f"'{obj.name}' is deformed by its parent '{obj.parent.name}': use a modifier instead, "
            "which can be switched off while the result is shown"
        )
    if scene.weft.result_kind == "KEYS":
        shape_keys.check_action(obj)
    for use in GROUPS:
        group = getattr(obj.weft, f"{use}_group")
        if group and group not in obj.vertex_groups:
            use = use.replace("_", " ")
            raise UnfitError(f"'{obj.name}' has no vertex group '{group}', its {use} group")


def _check_local(owner: ID, name: str) -> None:
    if owner.library is None and owner.override_library is None:
        return
    what = "linked from another file" if owner.library is not None else "a library override"
    raise UnfitError(
        f"{name} is {what}: a cloth and its mesh must be local "
        "(Object > Relations > Make Local > Selected Objects and Data)"
    )
