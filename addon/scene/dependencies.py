# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that the motion of an object depends on, for its fingerprint.

Transforms, modifiers, constraints, node inputs, actions, NLA strips and drivers of the object and
of all datablocks that it refers to. They are read without evaluating other frames: an animated
property is represented by its F-curves, not by its current value. Other causes of motion are
detected by `storage.frame_record`.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from bpy.types import (
    ID,
    Action,
    Armature,
    Camera,
    Collection,
    Constraint,
    Curve,
    FCurve,
    Key,
    Lattice,
    Light,
    LightProbe,
    Material,
    Mesh,
    Modifier,
    NlaStrip,
    NodeTree,
    Object,
    Scene,
    Speaker,
    World,
)

from ..blender import fcurves, mesh_arrays, modifier_state
from ..result import mesh_cache, preview

VALUE_TYPES = frozenset(("BOOLEAN", "INT", "FLOAT", "ENUM", "STRING"))
# Properties of display, storage, editing or rendering, without effect on motion.
DISPLAY_PREFIXES = (
    "show_",
    "open_",
    "bl_",
    "is_",
    "select",
    "active",
    "bake_",
    "render_",
    "adaptive_",
)
DISPLAY_PREFIXES += ("location_absolute", "persistent_uid", "texspace_", "color_tag")
WITHOUT_MOTION = frozenset(
    (
        *("name", "label", "hide", "use_custom_color", "warning_propagation"),
        *("tag", "use_fake_user", "use_extra_user", "last_slot_identifier"),
        *("use_pin_to_last", "use_adaptive_subdivision", "sculpt_levels"),
        *("uv_smooth", "use_custom_normals", "use_auto_texspace", "use_preview_alpha"),
    )
)
# Properties that affect the motion of others, by type; of other types all editable ones do.
MOTION_PROPERTIES = {
    Armature: ("pose_position",),
    Collection: ("instance_offset",),
    Lattice: (
        *("points_u", "points_v", "points_w", "use_outside", "vertex_group"),
        *("interpolation_type_u", "interpolation_type_v", "interpolation_type_w"),
    ),
    (Action, Camera, Light, LightProbe, Material, Scene, Speaker, World): (),
}
NODE_LAYOUT = frozenset(("location", "width", "height", "color"))  # layout of a node in the editor
STRIP_PROPERTIES = (
    *("frame_start", "frame_end", "action_frame_start", "action_frame_end", "repeat", "scale"),
    *("blend_in", "blend_out", "blend_type", "extrapolation", "mute"),
    *("use_animated_influence", "use_animated_time", "use_animated_time_cyclic"),
    *("use_auto_blend", "use_reverse", "use_sync_length"),
)
# Data paths of an object without effect on motion.
UNRELATED_PATHS = ("weft.", "hide_", "visible_", "color", "show_", "display_")
TRANSFORMS = (
    "location",
    "rotation_euler",
    "rotation_quaternion",
    "rotation_axis_angle",
    "rotation_mode",
    "scale",
    "delta_location",
    "delta_rotation_euler",
    "delta_rotation_quaternion",
    "delta_scale",
)


def motion(obj: Object) -> Iterator[Any]:
    """Values and arrays that determine the motion of an object, except its own mesh and keys."""
    own = (obj.data, getattr(obj.data, "shape_keys", None))
    visited, queue = {block.session_uid for block in own if block is not None}, [obj]
    while queue:
        owner = queue.pop(0)
        if owner is None or owner.session_uid in visited:
            continue
        visited.add(owner.session_uid)
        yield from _datablock_values(owner)
        queue += _references(owner)


def shape(obj: Object) -> Iterator[Any]:
    """Values that determine the shape of a collider that is no mesh."""
    yield obj.instance_type, _comparable(obj.instance_collection)
    if obj.data is not None:
        yield from _datablock_values(obj.data)


def force_field(obj: Object) -> Iterator[Any]:
    """Values and arrays that determine a force field, except the motion of its object."""
    animated_paths = fcurves.animated_paths(obj)
    yield from _values(obj.field, animated_paths)
    yield _comparable(obj.field.texture)
    if obj.field.texture is not None:
        yield from _datablock_values(obj.field.texture)
    if obj.type == "MESH" and obj.field.shape in {"POINTS", "SURFACE"}:
        yield mesh_arrays.rest_coordinates(obj.data)


def _datablock_values(owner: ID) -> Iterator[Any]:
    animated_paths = fcurves.animated_paths(owner)
    if isinstance(owner, Object):
        yield from _object_values(owner, animated_paths)
    elif isinstance(owner, Mesh):
        yield mesh_arrays.rest_coordinates(owner)
    elif isinstance(owner, Key):
        yield [
            (b.mute, _value_unless_animated(animated_paths, b, "value")) for b in owner.key_blocks
        ]
    elif isinstance(owner, NodeTree):
        yield from _node_tree_values(owner, animated_paths)
    else:
        yield from _values(owner, animated_paths, _motion_properties(owner))
    yield from _control_points(owner)
    yield from animation_of(owner, _is_motion)


def _motion_properties(owner: ID) -> tuple[str, ...] | None:
    return next(
        (names for kinds, names in MOTION_PROPERTIES.items() if isinstance(owner, kinds)), None
    )


def _control_points(owner: ID) -> Iterator[Any]:
    """Control points of datablocks that deform others."""
    if isinstance(owner, Armature):
        yield [_rows(bone.matrix_local) for bone in owner.bones]
    elif isinstance(owner, Lattice):
        yield [tuple(point.co_deform) for point in owner.points]
    elif isinstance(owner, Curve):
        for spline in owner.splines:
            yield [tuple(point.co) for point in spline.points]
            yield [(*p.co, *p.handle_left, *p.handle_right) for p in spline.bezier_points]


def _references(owner: ID) -> list[ID | None]:
    """Datablocks that the motion of this datablock depends on."""
    found: list[ID | None] = [target for _driver, target in _driver_targets(owner)]
    if isinstance(owner, Object):
        found += [owner.parent, owner.data, getattr(owner.data, "shape_keys", None)]
        found += [one.target for one in owner.weft.attachments]
        if owner.instance_type == "COLLECTION" and owner.instance_collection is not None:
            found += owner.instance_collection.all_objects
        for modifier in relevant_modifiers(owner):
            found += _pointers(modifier)
            found += [value for _path, value in node_inputs(modifier) if isinstance(value, ID)]
        for constraint in owner.constraints:
            found += _pointers(constraint)
            found += [target.target for target in getattr(constraint, "targets", ())]
    elif isinstance(owner, NodeTree):
        for node in owner.nodes:
            found += _pointers(node)
            found += [v for v in map(_default, node.inputs) if isinstance(v, ID)]
    return found


# --- objects ----------------------------------------------------------------------------------


def relevant_modifiers(owner: Object) -> list[Modifier]:
    """Modifiers that affect the mesh that is read; of a cloth only deforming ones."""
    if owner.weft.role == "CLOTH":
        own = (mesh_cache.own_modifier(owner), preview.own_modifier(owner))
        return [m for m in owner.modifiers if modifier_state.is_deforming(m) and m not in own]
    return [
        modifier for modifier in owner.modifiers if modifier.type not in modifier_state.SHAPELESS
    ]


def _object_values(owner: Object, animated_paths: set[str]) -> Iterator[Any]:
    for name in TRANSFORMS:
        yield _value_unless_animated(animated_paths, owner, name)
    yield owner.parent_type, owner.parent_bone, _rows(owner.matrix_parent_inverse)
    for modifier in relevant_modifiers(owner):
        yield modifier.type, *modifier_state.user_visibility(owner, modifier)
        yield from _values(modifier, animated_paths)
        yield from (
            (p, _comparable(v)) for p, v in node_inputs(modifier) if p not in animated_paths
        )
    yield from _constraint_values(owner.constraints, animated_paths)
    if owner.pose is not None:
        for bone in owner.pose.bones:
            yield [
                _value_unless_animated(animated_paths, bone, name)
                for name in TRANSFORMS
                if hasattr(bone, name)
            ]
            yield from _constraint_values(bone.constraints, animated_paths)


def _constraint_values(constraints: list[Constraint], animated_paths: set[str]) -> Iterator[Any]:
    for constraint in constraints:
        yield constraint.type, _rows(getattr(constraint, "inverse_matrix", ()))
        yield from _values(constraint, animated_paths)


def node_inputs(modifier: Modifier) -> Iterator[tuple[str, Any]]:
    """Data path and value of each input of a geometry nodes modifier; the API changed in 5.2."""
    if modifier.type != "NODES" or modifier.node_group is None:
        return
    if not hasattr(modifier, "properties"):
        for name in modifier.keys():  # noqa: SIM118 (a modifier is not a dictionary)
            yield f'{modifier.path_from_id()}["{name}"]', modifier[name]
        return
    inputs = modifier.properties.inputs
    for prop in inputs.bl_rna.properties:
        socket = getattr(inputs, prop.identifier)
        for name in ("type", "value", "attribute_name"):
            if hasattr(socket, name):
                yield socket.path_from_id(name), getattr(socket, name)


# --- node trees -------------------------------------------------------------------------------


def _node_tree_values(tree: NodeTree, animated_paths: set[str]) -> Iterator[Any]:
    nodes = [node for node in tree.nodes if node.bl_idname != "NodeFrame"]
    numbers = {node.name: number for number, node in enumerate(nodes)}
    for node in nodes:
        yield node.bl_idname
        yield from _values(
            node, animated_paths, [n for n in _settable(node) if n not in NODE_LAYOUT]
        )
        for socket in node.inputs:
            if f"{socket.path_from_id()}.default_value" not in animated_paths:
                yield _comparable(_default(socket))
    for link in tree.links:
        yield numbers[link.from_node.name], link.from_socket.identifier
        yield numbers[link.to_node.name], link.to_socket.identifier, link.is_muted


def _default(socket: Any) -> Any:
    return getattr(socket, "default_value", None)


# --- animation --------------------------------------------------------------------------------


def animation_of(owner: ID, wanted: Callable[[str], bool]) -> Iterator[Any]:
    """F-curves, NLA strips and drivers of the selected data paths of a datablock."""
    for curve in fcurves.curves(owner):
        if wanted(curve.data_path):
            yield from _curve_values(curve)
    for track in fcurves.tracks(owner):
        for strip in track.strips:
            played = [c for c in fcurves.strip_curves(strip) if wanted(c.data_path)]
            if played:
                yield track.mute, track.is_solo
                yield from _strip_values(strip)
            for curve in played:
                yield from _curve_values(curve)
    for curve, target in _driver_targets(owner):
        if wanted(curve.data_path):
            yield curve.data_path, curve.array_index, curve.mute, curve.driver.type
            yield curve.driver.expression, target.name if target is not None else ""
            yield from _variable_values(curve)


def _strip_values(strip: NlaStrip) -> Iterator[Any]:
    yield from _values(strip, set(), STRIP_PROPERTIES)
    if not strip.use_animated_influence:
        yield strip.influence
    if not strip.use_animated_time:
        yield strip.strip_time
    for curve in strip.fcurves:
        yield from _curve_values(curve)


def _is_motion(path: str) -> bool:
    return not path.startswith(UNRELATED_PATHS)


def _curve_values(curve: FCurve) -> Iterator[Any]:
    yield curve.data_path, curve.array_index, curve.extrapolation, curve.mute
    yield from fcurves.keyframes(curve)
    for modifier in curve.modifiers:
        yield modifier.type
        yield from _values(modifier, set())


def _driver_targets(owner: ID) -> Iterator[tuple[FCurve, ID | None]]:
    """Pairs of each driver and each of its target datablocks, None without a target."""
    for curve in fcurves.drivers(owner):
        variables = curve.driver.variables
        targets = [target.id for variable in variables for target in variable.targets]
        for target in targets or [None]:
            yield curve, target


def _variable_values(curve: FCurve) -> Iterator[Any]:
    for variable in curve.driver.variables:
        yield variable.name, variable.type
        for target in variable.targets:
            yield target.data_path, target.bone_target, target.transform_type
            yield target.transform_space, _driver_value(target)


def _driver_value(target: Any) -> Any:
    """Value that a driver variable reads, None if it is animated or the frame number."""
    owner = target.id
    if owner is None or not target.data_path or target.data_path.startswith("frame_"):
        return None
    if target.data_path in fcurves.animated_paths(owner):
        return None
    try:
        return _comparable(owner.path_resolve(target.data_path))
    except ValueError:  # unresolvable path: the driver has no effect
        return None


# --- values -----------------------------------------------------------------------------------


def _values(
    struct: Any, animated_paths: set[str], names: Iterable[str] | None = None
) -> Iterator[Any]:
    """Names and values of properties of a struct that are not animated; by default of all."""
    for name in _settable(struct) if names is None else names:
        value = _value_unless_animated(animated_paths, struct, name)
        if value is not None:
            yield name, value


def _settable(struct: Any) -> Iterator[str]:
    """Names of all editable properties of a struct that may affect motion."""
    for prop in struct.bl_rna.properties:
        name = prop.identifier
        if prop.type not in VALUE_TYPES or prop.is_readonly:
            continue
        if name not in WITHOUT_MOTION and not name.startswith(DISPLAY_PREFIXES):
            yield name


def _value_unless_animated(animated_paths: set[str], struct: Any, name: str) -> Any:
    """Value of a property, None if F-curves or drivers set it."""
    path = name if isinstance(struct, ID) else struct.path_from_id(name)
    return None if path in animated_paths else _comparable(getattr(struct, name))


def _comparable(value: Any) -> Any:
    """A representation of a value that is equal in every session."""
    if isinstance(value, ID):
        return value.name_full
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    if isinstance(value, np.ndarray):
        return value
    try:
        return tuple(_comparable(item) for item in value)
    except TypeError:
        return type(value).__name__


def _rows(matrix: Any) -> list[tuple[float, ...]]:
    return [tuple(row) for row in matrix]


def _pointers(struct: Any) -> list[ID]:
    found = []
    for prop in struct.bl_rna.properties:
        if prop.type == "POINTER" and prop.identifier != "rna_type":
            value = getattr(struct, prop.identifier)
            if isinstance(value, ID):
                found.append(value)
    return found
