# SPDX-License-Identifier: MIT OR Apache-2.0
"""Small scenes for the tests, and what they read from them."""

from pathlib import Path

import bmesh
import bpy
import numpy as np

from addon.bake import status
from addon.cache import pc2
from addon.garment import seams
from addon.storage import cache_paths


def grid(count: int, size: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """A square of `count` x `count` vertices in the xy plane about the origin, as quads."""
    line = np.linspace(-size / 2, size / 2, count)
    x, y = np.meshgrid(line, line)
    index = np.arange(count * count).reshape(count, count)
    corners = (index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1])
    quads = np.stack([corner.ravel() for corner in corners], axis=1)
    return np.stack([x.ravel(), y.ravel(), 0 * x.ravel()], axis=1), quads


def add_mesh(name: str, positions, faces) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([tuple(p) for p in positions], [], [tuple(map(int, f)) for f in faces])
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def add_edges(mesh: bpy.types.Mesh, *pairs: tuple[int, int]) -> None:
    """Adds loose edges behind all others."""
    seams.add_edges(mesh, np.array(pairs), np.zeros(len(pairs), np.int32))


def add_shape(name: str, shape: bmesh.types.BMesh) -> bpy.types.Object:
    """An object of what has been modelled, which is freed."""
    mesh = bpy.data.meshes.new(name)
    shape.to_mesh(mesh)
    shape.free()
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def add_cloth(name: str = "Sheet", count: int = 8, *, pinned: bool = True) -> bpy.types.Object:
    """A sheet at z = 1 whose first row of vertices is in the group `pin`."""
    cloth = add_mesh(name, *grid(count))
    cloth.location.z = 1.0
    cloth.vertex_groups.new(name="pin").add(list(range(count)), 1.0, "REPLACE")
    cloth.weft.role = "CLOTH"
    cloth.weft.pin_group = "pin" if pinned else ""
    return cloth


def with_seams(sheet: bpy.types.Object) -> bpy.types.Object:
    """A sheet whose edges along its rows are marked as seams."""
    for edge in sheet.data.edges:
        edge.use_seam = abs(edge.vertices[1] - edge.vertices[0]) == 1
    return sheet


def add_floor(name: str = "Floor", size: float = 4.0) -> bpy.types.Object:
    floor = add_mesh(name, *grid(3, size))
    floor.weft.role = "COLLIDER"
    return floor


def set_frames(first: int, last: int) -> None:
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = first, last


def slide(obj: bpy.types.Object, axis: int, first: tuple, last: tuple) -> None:
    """Animates one coordinate of an object linearly between two (frame, value) pairs."""
    for frame, value in (first, last):
        obj.location[axis] = value
        obj.keyframe_insert("location", index=axis, frame=frame)
    curves = (
        obj.animation_data.action.fcurves
        if bpy.app.version < (4, 4, 0)
        else obj.animation_data.action.layers[0].strips[0].channelbags[0].fcurves
    )
    for curve in curves:
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"


def evaluated(obj: bpy.types.Object) -> np.ndarray:
    """Object-space positions of all modifiers and keys at the current frame."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    mesh = obj.evaluated_get(depsgraph).to_mesh()
    points = np.empty((len(mesh.vertices), 3), np.float32)
    mesh.vertices.foreach_get("co", points.ravel())
    obj.evaluated_get(depsgraph).to_mesh_clear()
    return points


def evaluated_world(obj: bpy.types.Object) -> np.ndarray:
    matrix = np.array(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)
    return evaluated(obj) @ matrix[:3, :3].T + matrix[:3, 3]


def stem(obj: bpy.types.Object) -> Path:
    return cache_paths.stem(bpy.context.scene, obj)


def files_in(folder: Path) -> list[Path]:
    """Files of a folder, without those that Free keeps for undo in a folder within."""
    return sorted(path for path in folder.iterdir() if path.is_file()) if folder.is_dir() else []


def cached_frames(obj: bpy.types.Object) -> np.ndarray:
    """All frames in the cache of an object."""
    contents = pc2.read(stem(obj))
    assert not contents.problem
    return np.array(list(pc2.frames(stem(obj), contents.description, contents.intact)))


def assert_plays(obj: bpy.types.Object, frames: np.ndarray, first: int) -> None:
    """The evaluated positions are the frames, and hold still before and after them."""
    # Blender adds and subtracts the basis in single precision.
    tolerance = 4 * np.spacing(np.abs(frames).max().astype(np.float32))
    last = first + len(frames) - 1
    for frame in (first - 3, *range(first, last + 1), last + 5):
        bpy.context.scene.frame_set(frame)
        expected = frames[min(max(frame, first), last) - first]
        assert np.abs(evaluated(obj) - expected).max() <= tolerance, frame


def cached_frames_so_far(obj: bpy.types.Object) -> np.ndarray:
    """The frames in the file of a cache that is being written."""
    content = pc2.data_path(stem(obj)).read_bytes()
    *_, vertices, _first, _rate, count = pc2.HEADER.unpack(content[: pc2.HEADER.size])
    flat = np.frombuffer(content, "<f4", 3 * vertices * count, pc2.HEADER.size)
    return flat.reshape(count, vertices, 3)


def assert_plays_below_modifiers(obj: bpy.types.Object, seen: dict[int, np.ndarray]) -> None:
    """What was seen at frames is in the cache of an object."""
    frames = cached_frames(obj)
    for frame, points in seen.items():
        assert np.abs(points - frames[frame - 1]).max() < 1e-6, frame


def limp_sheet(**options):
    """A sheet in empty space that resists nothing."""
    cloth = add_cloth(pinned=False, **options)
    fabric = cloth.weft.material
    for name in ("stretch_warp", "stretch_weft", "shear"):
        setattr(fabric, name, 1e-6)
    fabric.poisson, fabric.bend_warp_micro, fabric.bend_weft_micro = 0.0, 0.0, 0.0
    bpy.context.scene.weft.air_density = 0.0
    bpy.context.scene.weft.tolerance = 1e-6
    bpy.context.scene.use_gravity = False
    set_frames(1, 2)
    return cloth


def baked_accelerations(cloth):
    assert bpy.ops.weft.bake() == {"FINISHED"}
    frames = cached_frames(cloth).astype(float)
    return 2.0 * (frames[1] - frames[0]) * 24.0**2


def baked(name="Sheet", last=5, **options):
    """A sheet with its result."""
    cloth = add_cloth(name, **options)
    set_frames(1, last)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    return cloth


def state(obj):
    """What the panel says of an object."""
    bpy.context.view_layer.update()
    return status.of(bpy.context.scene, bpy.context.view_layer, obj)


def save(path, **options):
    assert bpy.ops.wm.save_as_mainfile(filepath=str(path), **options) == {"FINISHED"}


def reopen(path):
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return bpy.data.objects.get("Sheet")


def new_file(folder=None):
    """An untitled file; with a cache folder, or with the one that every file begins with."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    if folder is not None:
        bpy.context.scene.weft.cache_directory = str(folder)


def assert_in_order(cloth, frames):
    assert_plays(cloth, frames, 1)
    assert (state(cloth).outdated, state(cloth).problems) == ("", ())


def whole_and_resumed(cloth, last=12, until=7):
    """The frames of a bake, which are the same when it was resumed in the middle."""
    set_frames(1, last)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    whole = cached_frames(cloth)
    set_frames(1, until)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    set_frames(1, last)
    assert bpy.ops.weft.resume() == {"FINISHED"}
    assert np.array_equal(cached_frames(cloth), whole)
    return whole


# --- what changes a motion --------------------------------------------------------------------


def node_group(name):
    group = bpy.data.node_groups.new(name, "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    source, target = (group.nodes.new(f"NodeGroup{way}") for way in ("Input", "Output"))
    return group, source.outputs[0], target.inputs[0]


def moving(offset=(0.5, 0.0, 0.0), name="Move"):
    """Nodes that set positions; the offset is the input of a node, so that it can be animated."""
    group, source, target = node_group(name)
    move = group.nodes.new("GeometryNodeSetPosition")
    move.inputs["Offset"].default_value = offset
    group.links.new(source, move.inputs[0])
    group.links.new(move.outputs[0], target)
    return group


def add_nodes(obj, group):
    modifier = obj.modifiers.new(group.name, "NODES")
    modifier.node_group = group
    return modifier


def push_down(obj):
    """Turns the action of an object into an NLA strip."""
    data = obj.animation_data
    track, action = data.nla_tracks.new(), data.action
    slot = getattr(data, "action_slot", None)
    strip = track.strips.new("strip", 1, action)
    data.action = None
    if slot is not None:
        strip.action_slot = slot
    return strip


def ramped(floor):
    """Displaces by a texture whose colour ramp moves the collider, but is compared by nothing."""
    texture = bpy.data.textures.new("Height", "CLOUDS")
    texture.use_color_ramp = True
    displace = floor.modifiers.new("Displace", "DISPLACE")
    displace.texture, displace.strength = texture, 0.01
    return texture


def whiten(texture):
    texture.color_ramp.elements[0].color = (1.0, 1.0, 1.0, 1.0)
    texture.update_tag()
