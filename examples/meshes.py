# SPDX-License-Identifier: MIT OR Apache-2.0
"""Meshes that the example scenes are made of."""

import math

import bpy
import numpy as np


def add(name, points, faces, edges=()):
    """A new object of a mesh in the scene."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(
        [tuple(map(float, point)) for point in points],
        [tuple(map(int, edge)) for edge in edges],
        [tuple(map(int, face)) for face in faces],
    )
    mesh.shade_smooth()
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def grid(columns, rows, place):
    """Points `place(u, v)` for u and v from 0 to 1, and the quads between them."""
    points = [
        place(column / (columns - 1), row / (rows - 1))
        for row in range(rows)
        for column in range(columns)
    ]
    index = np.arange(rows * columns).reshape(rows, columns)
    corners = (index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1])
    return points, np.stack([corner.ravel() for corner in corners], axis=1)


def add_sheet(name, columns, rows, place):
    """A cloth of quads, with a UV map in metres for its yarns."""
    points, quads = grid(columns, rows, place)
    obj = add(name, points, quads)
    return as_cloth(obj)


def as_cloth(obj, fabric="cotton"):
    """Gives an object the role of a cloth of a fabric."""
    for other in bpy.context.view_layer.objects:
        other.select_set(False)
    obj.weft.role = "CLOTH"
    bpy.context.view_layer.objects.active = obj
    bpy.ops.weft.preset_apply(name=fabric)
    return obj


def add_turned(name, profile, segments=32):
    """A closed body turned about the z axis: `profile` has radius and height from bottom to top."""
    points = [(0.0, 0.0, profile[0][1])]
    for radius, height in profile:
        for segment in range(segments):
            angle = math.tau * segment / segments
            points.append((radius * math.cos(angle), radius * math.sin(angle), height))
    points.append((0.0, 0.0, profile[-1][1]))
    faces = []
    for ring in range(len(profile) - 1):
        for segment in range(segments):
            here = [1 + ring * segments + (segment + k) % segments for k in (0, 1)]
            faces.append((here[0], here[1], here[1] + segments, here[0] + segments))
    last = len(points) - 1
    for segment in range(segments):
        low = [1 + (segment + k) % segments for k in (0, 1)]
        high = [1 + (len(profile) - 1) * segments + (segment + k) % segments for k in (0, 1)]
        faces += [(0, low[1], low[0]), (last, high[0], high[1])]
    obj = add(name, points, faces)
    obj.weft.role = "COLLIDER"
    return obj


def capsule(length, radius, rounds=5):
    """The profile of a rod with round ends from height 0 down to -length."""
    lower = [
        (radius * math.sin(a), -length - radius * math.cos(a))
        for a in np.linspace(0.15, math.pi / 2, rounds)
    ]
    upper = [
        (radius * math.cos(a), radius * math.sin(a))
        for a in np.linspace(0.0, math.pi / 2 - 0.15, rounds)
    ]
    return lower + upper


def add_floor(size=3.0, height=0.0):
    """A level square that stops cloth."""
    points, quads = grid(2, 2, lambda u, v: (size * (u - 0.5), size * (v - 0.5), height))
    obj = add("Floor", points, quads)
    obj.weft.role = "COLLIDER"
    return obj


def pin(obj, vertices, weight=1.0):
    """Holds vertices by a group that is the pin group."""
    group = obj.vertex_groups.get("Pins") or obj.vertex_groups.new(name="Pins")
    group.add([int(vertex) for vertex in vertices], weight, "REPLACE")
    obj.weft.pin_group = "Pins"
