# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a Blender scene into arrays: world space, in m, whatever the unit scale of the scene.

Rest shape of a cloth: its undeformed mesh under the world matrix of the first frame, or what an
artist has chosen. Initial positions and pin targets: the mesh deformed by shape keys, deforming
modifiers, armature and parents. Colliders: the mesh with all its modifiers, in the triangles that
Blender draws, and its faces where these may bend, since Blender may draw others then.
"""

from dataclasses import dataclass, replace

import numpy as np
from bpy.types import Context, Depsgraph, Object, Scene

from ..blender import mesh_arrays, object_identity, scene_time
from ..force_fields import snapshot
from ..force_fields.field import Field
from ..force_fields.forces import Weights
from ..properties.fabric import as_decimal
from . import geometry, motion, rest_shape
from .evaluated import ChangedTopologyError, deformed, world_to_object
from .motion import Bodies
from .pins import PinInput, PinReader
from .rest_shape import InternalSprings, Shrinking


@dataclass(frozen=True)
class ClothInput:
    """Data of a cloth that are constant during a bake."""

    session_uid: int
    identity: str
    name: str
    faces: np.ndarray | list[list[int]]
    rest_positions: np.ndarray
    rest_corners: np.ndarray | None  # of face corners, where a pattern is cut along seams
    positions: np.ndarray
    uv: np.ndarray | None
    pinned: np.ndarray  # vertices that are held or drawn at some frame
    pin_areas: np.ndarray  # m², barycentric areas of these
    material: dict[str, float | None]
    mass_scale: np.ndarray | None
    rest_scale: np.ndarray | None
    sewing: np.ndarray | None
    options: dict[str, object]  # further keywords of `weft.Cloth`
    internal_springs: InternalSprings | None
    triangles: np.ndarray


@dataclass(frozen=True)
class ColliderInput:
    """Data of a collider that are constant during a bake, and its initial positions."""

    session_uid: int
    identity: str
    name: str
    triangles: np.ndarray
    faces: np.ndarray | list[list[int]] | None  # where Blender may draw others of their triangles
    positions: np.ndarray
    friction: float
    thickness: float


@dataclass(frozen=True)
class Pressure:
    """Pressure inside a cloth above that outside."""

    pressure: float  # Pa, at the target volume
    stiffness: float  # Pa for a volume that is missing as a whole
    volume: float | None  # target volume in m³, None for that at the first frame
    fluid_density: float  # kg/m³, inside less outside, times the weight of gravity
    weights: np.ndarray | None  # factors at the vertices, None for 1


@dataclass(frozen=True)
class FrameInput:
    """Data that vary from frame to frame; the lists are in the order of cloths and colliders."""

    frame: int
    gravity: tuple[float, ...]
    wind: tuple[float, ...]
    speed: float  # seconds of the cloth in a second of the animation
    materials: list[dict[str, float | None]]
    weights: list[Weights]
    pressures: list[Pressure | None]
    fields: list[Field]
    settings: dict[str, float | int]
    rest_scales: list[np.ndarray | None]
    rest_positions: list[np.ndarray | None]  # of cloths whose rest shape is that of each frame
    pins: list[PinInput]
    world_to_object: list[np.ndarray]
    collider_positions: list[np.ndarray]
    collider_surfaces: list[tuple[float, float]]  # friction and thickness
    between: tuple["FrameInput", ...] = ()  # at equal parts of the time since the frame before
    jumps: tuple[bool, ...] = ()  # of `motion.Bodies` since the frame before; empty without one

    @property
    def bodies(self) -> Bodies:
        """What moves the cloths."""
        return Bodies.of(self.collider_positions, self.pins)


def gravity(scene: Scene) -> tuple[float, ...]:
    """Gravity in m/s². Blender stores it in units/s² and displays m/s²; the displayed value is
    used.
    """
    if not scene.weft.use_scene_gravity:
        return tuple(map(as_decimal, scene.weft.gravity))
    if not scene.use_gravity:
        return (0.0, 0.0, 0.0)
    scale = scene.unit_settings.scale_length
    return tuple(as_decimal(value * scale) for value in scene.gravity)


class SceneReader:
    """Reads the first frame when constructed, then any frame; only from the main thread."""

    def __init__(
        self, context: Context, cloths: list[Object], colliders: list[Object], frame: int
    ) -> None:
        self._scene_uid, self._layer_name = context.scene.session_uid, context.view_layer.name
        self._layer = context.view_layer.as_pointer()  # stable when the layer is renamed
        self._scale = context.scene.unit_settings.scale_length
        self._collider_corners: list[np.ndarray] = []  # corner vertices of each collider
        self._pressure_weights: list[
            np.ndarray | None
        ] = []  # group weights of the pressure on each cloth
        self._shrinking: list[
            tuple[Shrinking, np.ndarray | None]
        ] = []  # at the first frame, with group weights
        self._pins: list[PinReader] = []
        depsgraph = self._go_to(frame)
        read = [(obj, self._read_collider(obj, depsgraph)) for obj in colliders]
        self.colliders = [source for _obj, source in read if source is not None]
        self._colliders_in_order = [obj for obj, source in read if source is not None]
        self.cloths = [self._read_cloth(obj, depsgraph, frame) for obj in cloths]
        self.first = self._last = self._read(depsgraph, frame)
        self._start = frame
        self._extents = [motion.extent(each.positions) for each in self.colliders]
        self._extents += [motion.extent(each.rest_positions) for each in self.cloths]

    @property
    def scale(self) -> float:
        """Metres per Blender unit."""
        return self._scale

    def read_frame(self, frame: int) -> FrameInput:
        """Sets the scene to a frame and reads it.

        If the frame before was read last, also what is between, where bodies turn or jump.
        """
        current = self._read(self._go_to(frame), frame)
        if self._last is not None and self._last.frame == frame - 1:
            current = self._since(self._last, current)
        self._last = current
        return current

    def _since(self, previous: FrameInput, current: FrameInput) -> FrameInput:
        """The input of a frame with the motion since the frame before."""
        frame, before, after = current.frame, previous.bodies, current.bodies
        lengths = motion.displacements(before, after)
        between: tuple[FrameInput, ...] = ()
        jumps = motion.jumped(lengths, self._extents, [])
        if any(jumps):
            outside = [self._read(self._go_to(k), k).bodies for k in (frame - 2, frame + 1)]
            beside = [motion.displacements(outside[0], before)] if frame - 1 > self._start else []
            beside.append(motion.displacements(after, outside[1]))
            jumps = motion.jumped(lengths, self._extents, beside)
            self._go_to(frame)
        if any(jumps):
            return replace(current, jumps=tuple(jumps))
        count = motion.parts(before, after)
        if count > 1:
            places = [frame - 1 + part / count for part in range(1, count)]
            between = tuple(self._read(self._go_to(place), frame) for place in places)
            self._go_to(frame)
        return replace(current, between=between)

    def _go_to(self, frame: float) -> Depsgraph:
        # Looked up each time, because both may be deleted while a bake runs.
        scene = object_identity.find_scene(self._scene_uid)
        if scene is None:
            raise RuntimeError(f"the scene was deleted before frame {frame} was read")
        layer = next((one for one in scene.view_layers if one.as_pointer() == self._layer), None)
        if layer is None:
            raise RuntimeError(
                f"the view layer '{self._layer_name}' was deleted before frame {frame} was read"
            )
        scene_time.go_to(scene, frame)
        return layer.depsgraph

    def _read(self, depsgraph: Depsgraph, frame: int) -> FrameInput:
        scene = depsgraph.scene_eval
        evaluated = [_evaluated(cloth, depsgraph, frame) for cloth in self.cloths]
        return FrameInput(
            frame=frame,
            gravity=gravity(scene),
            wind=tuple(map(as_decimal, scene.weft.wind)),
            speed=as_decimal(scene.weft.speed),
            settings=scene.weft.frame_settings(),
            rest_scales=[self._rest_scale(obj, index) for index, obj in enumerate(evaluated)],
            rest_positions=[
                self._deformed_rest(obj, index, frame) for index, obj in enumerate(evaluated)
            ],
            collider_surfaces=[
                _surface(_evaluated(collider, depsgraph, frame)) for collider in self.colliders
            ],
            materials=[obj.weft.material.as_dict() for obj in evaluated],
            weights=[_weights(obj) for obj in evaluated],
            pressures=[
                self._pressure(obj, cloth)
                for obj, cloth in zip(evaluated, self.cloths, strict=True)
            ],
            fields=snapshot.read(depsgraph.view_layer, depsgraph),
            pins=[
                pins.read(obj, depsgraph, frame)
                for obj, pins in zip(evaluated, self._pins, strict=True)
            ],
            world_to_object=[_matrix_to_object(obj, self._scale, frame) for obj in evaluated],
            collider_positions=[
                self._collider_positions(
                    _evaluated(collider, depsgraph, frame), depsgraph, index, frame
                )
                for index, collider in enumerate(self.colliders)
            ],
        )

    # --- cloths -------------------------------------------------------------------------------

    def _read_cloth(self, obj: Object, depsgraph: Depsgraph, frame: int) -> ClothInput:
        evaluated = obj.evaluated_get(depsgraph)
        matrix = np.array(evaluated.matrix_world, dtype=np.float64)
        rest = rest_shape.positions(obj, matrix, self._scale)
        positions = deformed(evaluated, len(rest), self._scale, frame)
        if rest_shape.is_deformed(obj):
            rest = rest_shape.shrunk(positions, Shrinking.of(evaluated).base)
        self._pressure_weights.append(mesh_arrays.group_weights(obj, obj.weft.pressure_group))
        triangles = mesh_arrays.triangles(obj.data)
        weights = mesh_arrays.group_weights(obj, obj.weft.shrink_group)
        self._shrinking.append((Shrinking.of(evaluated), weights))
        self._pins.append(PinReader(obj, depsgraph, positions, self._scale))
        pinned = self._pins[-1].vertices
        areas = mesh_arrays.vertex_areas(rest, triangles)
        return ClothInput(
            session_uid=obj.session_uid,
            identity=obj.weft.identity,
            name=obj.name,
            faces=mesh_arrays.faces(obj.data),
            rest_positions=rest,
            rest_corners=rest_shape.corners(obj, matrix, self._scale),
            positions=positions,
            uv=mesh_arrays.yarn_uv(obj),
            pinned=pinned,
            pin_areas=areas[pinned],
            internal_springs=InternalSprings.of(obj, areas),
            material=evaluated.weft.material.as_dict(),
            mass_scale=rest_shape.mass_scale(obj),
            rest_scale=self._rest_scale(evaluated, len(self._shrinking) - 1),
            options=rest_shape.property_scales(obj, rest, areas)
            | sewing_options(obj)
            | collision_options(obj, self._colliders_in_order),
            sewing=mesh_arrays.loose_edges(obj.data) if obj.weft.use_sewing else None,
            triangles=triangles,
        )

    def _pressure(self, evaluated: Object, cloth: ClothInput) -> Pressure | None:
        settings, index = evaluated.weft, self.cloths.index(cloth)
        if not settings.use_pressure:
            return None
        weight = as_decimal(settings.field_weights.gravity)
        return Pressure(
            pressure=as_decimal(settings.pressure),
            stiffness=as_decimal(settings.volume_stiffness) if settings.use_volume else 0.0,
            volume=as_decimal(settings.target_volume) or None,
            fluid_density=as_decimal(settings.fluid_density) * weight,
            weights=self._pressure_weights[index],
        )

    def _rest_scale(self, evaluated: Object, index: int) -> np.ndarray | None:
        first, weights = self._shrinking[index]
        count = len(evaluated.original.data.vertices)
        return Shrinking.of(evaluated).scale(weights, count, first)

    def _deformed_rest(self, evaluated: Object, index: int, frame: int) -> np.ndarray | None:
        """Rest positions of a cloth at a frame, with the shrinking of the first one."""
        if not rest_shape.is_deformed(evaluated):
            return None
        count = len(evaluated.original.data.vertices)
        points = deformed(evaluated, count, self._scale, frame)
        return rest_shape.shrunk(points, self._shrinking[index][0].base)

    # --- colliders ----------------------------------------------------------------------------

    def _read_collider(self, obj: Object, depsgraph: Depsgraph) -> ColliderInput | None:
        """A collider at the first frame; None if it has no faces."""
        found = geometry.read(obj.evaluated_get(depsgraph), depsgraph, self._scale)
        if not len(found.triangles):
            return None
        self._collider_corners.append(found.corners)
        friction, thickness = _surface(obj)
        return ColliderInput(
            session_uid=obj.session_uid,
            identity=object_identity.key(obj),
            name=obj.name,
            triangles=found.triangles,
            faces=found.faces if _may_bend(obj) else None,
            positions=found.points,
            friction=friction,
            thickness=thickness,
        )

    def _collider_positions(
        self, evaluated: Object, depsgraph: Depsgraph, index: int, frame: int
    ) -> np.ndarray:
        found = geometry.read(evaluated, depsgraph, self._scale)
        expected = len(self.colliders[index].positions)
        corners = self._collider_corners[index]
        if len(found.points) != expected or not np.array_equal(found.corners, corners):
            raise ChangedTopologyError(
                f"the mesh of the collider '{evaluated.name}' changes its topology at frame "
                f"{frame}: {len(found.points)} vertices instead of {expected}, or other faces"
            )
        return found.points


def sewing_options(obj: Object) -> dict[str, object]:
    """Keywords of `weft.Cloth` for sewing."""
    if not obj.weft.use_sewing:
        return {}
    force = as_decimal(obj.weft.sewing_force)
    return {"sewing_time": as_decimal(obj.weft.sewing_time), "sewing_force": force or None}


def collision_options(obj: Object, colliders: list[Object]) -> dict[str, object]:
    """Keywords of `weft.Cloth` for filtered collisions; `colliders` in their order."""
    settings, options = obj.weft, {}
    collection = settings.collision_collection
    included = () if collection is None else {one.session_uid for one in collection.all_objects}
    if not settings.use_collision or collection is not None:
        # Cloths with a result, in the bake of one cloth, are a matter of self-collision.
        bodies = [(k, one) for k, one in enumerate(colliders) if one.weft.role == "COLLIDER"]
        excluded = [
            k for k, one in bodies if not settings.use_collision or one.session_uid not in included
        ]
        options["ignored_colliders"] = np.array(excluded, np.int64)
    if settings.collision_group:
        options["free_of_colliders"] = mesh_arrays.grouped_vertices(obj, settings.collision_group)
    if not settings.use_self_collision:
        options["free_of_cloth"] = np.arange(len(obj.data.vertices))
    elif settings.self_collision_group:
        group = settings.self_collision_group
        options["free_of_cloth"] = mesh_arrays.grouped_vertices(obj, group)
    if settings.layer:
        options["layer"] = settings.layer
    return options


def _may_bend(obj: Object) -> bool:
    """Whether the faces of an object may change their shape from frame to frame, and with it the
    triangles that Blender cuts them into, which it does in object space.
    """
    is_rigid_mesh = obj.type == "MESH" and not obj.modifiers and obj.data.shape_keys is None
    return not is_rigid_mesh


def _surface(evaluated: Object) -> tuple[float, float]:
    """Friction and thickness of an obstacle, which may be a cloth whose result is shown."""
    owner = evaluated.weft.material if evaluated.weft.role == "CLOTH" else evaluated.weft
    return as_decimal(owner.friction), as_decimal(owner.thickness)


def _weights(evaluated: Object) -> Weights:
    settings = evaluated.weft.field_weights
    collection = settings.collection
    names = None if collection is None else frozenset(obj.name for obj in collection.all_objects)
    return Weights(settings.factors(), names)


def _matrix_to_object(evaluated: Object, scale: float, frame: int) -> np.ndarray:
    try:
        return world_to_object(evaluated, scale)
    except RuntimeError as error:
        raise RuntimeError(f"{error} at frame {frame}") from error


def _evaluated(source: ClothInput | ColliderInput, depsgraph: Depsgraph, frame: int) -> Object:
    obj = object_identity.find(source.session_uid)
    if obj is None:
        raise RuntimeError(f"'{source.name}' was deleted before frame {frame} was read")
    return obj.evaluated_get(depsgraph)
