# SPDX-License-Identifier: MIT OR Apache-2.0
"""Nine scenes to learn from: each function builds one in the open, empty file.

`detail` is the number of vertices along the longer side of the cloth.
"""

import math
import tempfile
from pathlib import Path

import bpy
import meshes
import numpy as np
import patterns


def flag(detail=40):
    """A flag of nylon on its pole, in a gusty wind: turbulence that the wind carries along."""
    rows = round(detail / 1.5)
    cloth = meshes.add_sheet("Flag", detail, rows, lambda u, v: (1.5 * u, 0.0, 2.0 + v))
    meshes.as_cloth(cloth, "flag_nylon")
    meshes.pin(cloth, range(0, detail * rows, detail))
    pole = meshes.add_turned("Pole", [(0.02, 0.0), (0.02, 3.2)], 16)
    pole.location.x = -0.03
    scene = bpy.context.scene
    for frame, speed in ((1, 4.0), (40, 9.0), (70, 3.0), (100, 7.0)):
        scene.weft.wind = (speed, 0.3 * speed * math.sin(frame), 0.0)
        scene.weft.keyframe_insert("wind", frame=frame)
    gusts = bpy.data.objects.new("Gusts", None)
    scene.collection.objects.link(gusts)
    bpy.context.view_layer.objects.active = gusts
    bpy.ops.object.forcefield_toggle()
    gusts.field.type = "TURBULENCE"
    gusts.field.strength, gusts.field.size, gusts.field.noise = 80.0, 0.6, 1.0
    for frame, place in ((1, 0.0), (100, 25.0)):
        gusts.location.x = place
        gusts.keyframe_insert("location", index=0, frame=frame)
    bpy.context.view_layer.objects.active = cloth
    scene.frame_end = 100
    return cloth


def curtain(detail=48):
    """A curtain on nine rings that is drawn aside; a shape key leads the rings."""
    rows, rings = detail, 9
    columns = (detail - 1) // (rings - 1) * (rings - 1) + 1

    def place(u, v):
        return (2.0 * u, 0.03 * math.sin(16 * math.pi * u), 2.2 * v)

    cloth = meshes.add_sheet("Curtain", columns, rows, place)
    meshes.as_cloth(cloth, "polyester")
    held = [(rows - 1) * columns + ring * (columns - 1) // (rings - 1) for ring in range(rings)]
    meshes.pin(cloth, held)
    cloth.shape_key_add(name="Basis", from_mix=False)
    aside = cloth.shape_key_add(name="Aside", from_mix=False)
    for point in aside.points:
        point.co.x *= 0.35
    for frame, value in ((1, 0.0), (10, 0.0), (70, 1.0)):
        aside.value = value
        aside.keyframe_insert("value", frame=frame)
        for ring, vertex in enumerate(held):
            _ring(ring, cloth.data.vertices[vertex].co, 1.0 - 0.65 * value, frame)
    meshes.add_turned("Rod", [(0.012, -0.1), (0.012, 2.1)], 12).rotation_euler.y = math.pi / 2
    bpy.data.objects["Rod"].location.z = 2.24
    bpy.data.objects["Rod"].weft.role = "NONE"
    bpy.context.scene.frame_end = 100
    return cloth


def _ring(number, place, part, frame):
    """A ring around the rod at one of the pins, which only is to be seen."""
    name = f"Ring {number + 1}"
    obj = bpy.data.objects.get(name)
    if obj is None:
        bpy.ops.mesh.primitive_torus_add(
            major_radius=0.03, minor_radius=0.004, major_segments=24, minor_segments=8
        )
        obj = bpy.context.object
        obj.name, obj.rotation_euler.y = name, math.pi / 2
    obj.location = (place.x * part, place.y, 2.232)
    obj.keyframe_insert("location", frame=frame)


def tablecloth(detail=50):
    """A square of linen canvas falls over a round table."""
    cloth = meshes.add_sheet(
        "Tablecloth", detail, detail, lambda u, v: (1.6 * (u - 0.5), 1.6 * (v - 0.5), 0.8)
    )
    meshes.as_cloth(cloth, "canvas")
    meshes.add_turned("Table", [(0.5, 0.72), (0.51, 0.725), (0.51, 0.745), (0.5, 0.75)], 48)
    meshes.add_turned("Leg", [(0.2, 0.0), (0.04, 0.05), (0.04, 0.7)], 24)
    meshes.add_floor()
    bpy.context.scene.frame_end = 60
    return cloth


def cape(detail=36):
    """A woollen cape on a figure that walks: its parts follow the bones of an armature."""
    frames = 72
    rig = _walker(frames, LIMBS)

    def place(u, v):
        angle = math.pi * (u - 0.5) * 1.1
        radius = 0.23 + 0.1 * (1.0 - v)
        return (radius * math.cos(angle), radius * math.sin(angle), 0.62 + 0.8 * v)

    cloth = meshes.add_sheet("Cape", detail, detail, place)
    meshes.as_cloth(cloth, "wool")
    meshes.pin(cloth, range(detail * (detail - 1), detail * detail))
    _follow(cloth, rig, "spine")
    bpy.context.scene.frame_end = frames
    return cloth


def trousers(detail=40):
    """Trousers of four panels are sewn around the legs of a figure, which then walks in them."""
    frames = 72
    _walker(frames, {name: limb for name, limb in LIMBS.items() if name.startswith("leg")})
    pattern = patterns.trousers(waist=80.0, hips=100.0, hem=54.0, length=88.0, rise=28.0)
    cloth = _dressed("Trousers", pattern, 0.88 / detail, "cotton", (0.0, 0.0, 0.16))
    bpy.context.scene.frame_end = frames
    return cloth


def dress(detail=40):
    """A dress is sewn around a figure, hangs on its shoulders, and swings as the figure turns."""
    body = [(0.09, 0.2), (0.12, 0.55), (0.155, 0.8), (0.165, 0.92), (0.15, 1.02), (0.11, 1.12)]
    body += [(0.115, 1.2), (0.14, 1.35), (0.12, 1.41), (0.055, 1.44), (0.05, 1.5), (0.09, 1.57)]
    body += [(0.1, 1.64), (0.06, 1.72)]
    figure = meshes.add_turned("Body", body, 40)
    figure.weft.friction = 0.5
    for frame, angle in ((12, 0.0), (30, 1.5), (48, -1.5), (60, -1.5)):
        figure.rotation_euler = (0.0, 0.0, angle)
        figure.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_set(1)
    pattern = patterns.dress(bust=104.0, hem=180.0, length=88.0, shoulders=26.0, neck=17.0)
    cloth = _dressed("Dress", pattern, 0.88 / detail, "silk", (0.0, 0.0, 0.56), 0.0)
    bpy.context.scene.frame_end = 72
    return cloth


def _dressed(name, pattern, edge_length, fabric, place, turn=-0.5 * math.pi):
    """A garment of a pattern at a place, turned about z, that the colliders wear."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.json"
        path.write_text(pattern, encoding="utf-8")
        bpy.ops.weft.pattern_import(filepath=str(path), edge_length=edge_length)
    cloth = bpy.context.object
    cloth.location, cloth.rotation_euler[2] = place, turn
    bpy.ops.weft.preset_apply(name=fabric)
    bpy.ops.weft.dress()
    return cloth


LIMBS = {  # bone: where it hangs, its length, its radius, how far it swings
    "leg.L": ((0.0, 0.1, 0.85), 0.75, 0.07, 0.45),
    "leg.R": ((0.0, -0.1, 0.85), 0.75, 0.07, -0.45),
    "arm.L": ((0.0, 0.17, 1.34), 0.5, 0.045, -0.3),
    "arm.R": ((0.0, -0.17, 1.34), 0.5, 0.045, 0.3),
}


def _walker(frames, limbs):
    """A figure of rods on an armature, walking along x."""
    armature = bpy.data.armatures.new("Walker")
    rig = bpy.data.objects.new("Walker", armature)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    spine = armature.edit_bones.new("spine")
    spine.head, spine.tail = (0.0, 0.0, 0.85), (0.0, 0.0, 1.4)
    for name, (place, length, _radius, _swing) in limbs.items():
        bone = armature.edit_bones.new(name)
        bone.head, bone.tail = place, (place[0], place[1], place[2] - length)
        bone.parent = spine
    bpy.ops.object.mode_set(mode="OBJECT")
    for name, (place, length, radius, _swing) in limbs.items():
        part = meshes.add_turned(name.title(), meshes.capsule(length, radius), 16)
        part.location = place
        _follow(part, rig, name)
    body = [(0.05, 0.8), (0.13, 0.84), (0.13, 1.0), (0.11, 1.1), (0.15, 1.3), (0.13, 1.38)]
    body += [(0.06, 1.42), (0.05, 1.48), (0.09, 1.54), (0.1, 1.62), (0.07, 1.7)]
    _follow(meshes.add_turned("Body", body, 24), rig, "spine")
    _walk(rig, frames, limbs)
    return rig


def _walk(rig, frames, limbs):
    for frame in range(1, frames + 1, 3):
        seconds = max(0.0, (frame - 12) / 24.0)
        gathered = min(1.0, seconds)
        rig.location = (-0.9 * (seconds - 0.5 * gathered), 0.0, 0.02 * math.sin(12 * seconds))
        rig.keyframe_insert("location", frame=frame)
        for name, (_place, _length, _radius, swing) in limbs.items():
            bone = rig.pose.bones[name]
            bone.rotation_mode = "XYZ"
            bone.rotation_euler = _turn(bone, swing * gathered * math.sin(6 * seconds))
            bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_set(1)


def _turn(bone, angle):
    """A turn about the y axis of the world, in the axes of a bone."""
    axes = np.array(bone.bone.matrix_local)[:3, :3]
    return tuple(angle * axes.T @ (0.0, 1.0, 0.0))


def _follow(obj, rig, bone):
    """Fastens an object to a bone, where both are now."""
    bpy.context.view_layer.update()
    before = obj.matrix_world.copy()
    obj.parent, obj.parent_type, obj.parent_bone = rig, "BONE", bone
    bpy.context.view_layer.update()
    obj.matrix_world = before


def cushion(detail=28):
    """A cushion is blown up, and a ball lands on it."""
    half, side = 0.25, detail

    def layer(height):
        return lambda u, v: (0.5 * u - half, 0.5 * v - half, 0.05 + height * _inside(u, v))

    top, quads = meshes.grid(side, side, layer(0.02))
    bottom, _quads = meshes.grid(side, side, layer(-0.02))
    index = np.arange(side * side).reshape(side, side)
    is_border = np.ones((side, side), bool)
    is_border[1:-1, 1:-1] = False
    below = np.where(is_border, index, side * side + np.cumsum(~is_border).reshape(index.shape) - 1)
    points = top + [
        point for point, border in zip(bottom, is_border.ravel(), strict=True) if not border
    ]
    inner = ~is_border.ravel()
    cut = [face for quad in quads for face in _cut_corner(quad, inner)]
    faces = [*cut, *(below.ravel()[face][::-1] for face in cut)]
    cloth = meshes.as_cloth(meshes.add("Cushion", points, faces), "denim")
    cloth.weft.use_pressure = True
    for frame, pascal in ((1, 0.0), (24, 150.0)):
        cloth.weft.pressure = pascal
        cloth.weft.keyframe_insert("pressure", frame=frame)
    ball = meshes.add_turned("Ball", meshes.capsule(1e-3, 0.09, 8), 24)
    for frame, height in ((1, 0.6), (30, 0.6), (40, 0.24), (60, 0.24), (70, 0.6)):
        ball.location.z = height
        ball.keyframe_insert("location", index=2, frame=frame)
    meshes.add_floor(2.0)
    bpy.context.scene.frame_end = 80
    return cloth


def _cut_corner(quad, inner):
    """A face at a corner as two triangles that meet inside: both sides must not share that edge."""
    if inner[quad].sum() != 1:
        return [quad]
    first = int(np.flatnonzero(inner[quad])[0])
    a, b, c, d = np.roll(quad, -first)
    return [np.array((a, b, c)), np.array((a, c, d))]


def _inside(u, v):
    """0 at the border of the unit square, 1 in its middle."""
    return 16.0 * u * (1.0 - u) * v * (1.0 - v)


def skirt(detail=36):
    """Two panels are sewn together around a body and come to hang on its hips."""
    columns = round(0.8 * detail)

    def panel(side):
        def place(u, v):
            width = 0.42 + 0.3 * (1.0 - v)
            return (width * (u - 0.5), side * 0.23, 0.62 + 0.5 * v)

        return place

    points, quads = meshes.grid(columns, detail, panel(-1.0))
    back, _quads = meshes.grid(columns, detail, panel(1.0))
    count = len(points)
    seams = [
        (v, v + count) for row in range(detail) for v in (row * columns, (row + 1) * columns - 1)
    ]
    faces = [*quads, *(quads[:, ::-1] + count)]
    cloth = meshes.as_cloth(meshes.add("Skirt", points + back, faces, seams), "cotton")
    cloth.weft.use_sewing, cloth.weft.sewing_time = True, 1.0
    waist = range(count - columns, count)
    group = cloth.vertex_groups.new(name="Waist")
    group.add([*waist, *(v + count for v in waist)], 1.0, "REPLACE")
    cloth.weft.shrink_group = "Waist"
    # It weighs nothing until the seams are closed and the waist is tight.
    for frame, shrink, weight in ((1, 0.0, 0.0), (24, 0.0, 0.0), (40, 0.2, 1.0)):
        cloth.weft.shrink_max, cloth.weft.field_weights.gravity = shrink, weight
        cloth.weft.keyframe_insert("shrink_max", frame=frame)
        cloth.weft.field_weights.keyframe_insert("gravity", frame=frame)
    body = [(0.09, 0.2), (0.12, 0.55), (0.155, 0.8), (0.165, 0.92), (0.15, 1.02), (0.11, 1.12)]
    body += [(0.115, 1.2), (0.14, 1.35), (0.1, 1.45)]
    hips = meshes.add_turned("Body", body, 40)
    hips.weft.friction = 0.6
    bpy.context.scene.frame_end = 80
    return cloth


def fur(detail=40):
    """A fur throw falls over a stool: particle hair on the cloth, which follows the result."""

    def place(u, v):
        return (1.1 * (u - 0.5), 1.1 * (v - 0.5), 0.62)

    cloth = meshes.add_sheet("Throw", detail, detail, place)
    meshes.as_cloth(cloth, "wool")
    coat = bpy.data.materials.new("Coat")
    coat.diffuse_color = (0.42, 0.24, 0.12, 1.0)
    if coat.node_tree is None:  # before Blender 5.0
        coat.use_nodes = True
    coat.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = coat.diffuse_color
    cloth.data.materials.append(coat)
    hair = cloth.modifiers.new("Fur", "PARTICLE_SYSTEM").particle_system.settings
    hair.type, hair.count, hair.hair_length, hair.hair_step = "HAIR", 2500, 0.05, 3
    hair.child_type, hair.rendered_child_count, hair.child_percent = "INTERPOLATED", 10, 2
    hair.clump_factor, hair.roughness_2, hair.brownian_factor = 0.3, 0.01, 0.01
    meshes.add_turned("Stool", [(0.25, 0.0), (0.27, 0.3), (0.3, 0.58), (0.28, 0.6)], 40)
    meshes.add_floor(3.0)
    bpy.context.scene.frame_end = 50
    return cloth


SCENES = {
    scene.__name__: scene
    for scene in (flag, curtain, tablecloth, cape, cushion, skirt, dress, trousers, fur)
}
