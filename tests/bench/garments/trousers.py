# SPDX-License-Identifier: MIT OR Apache-2.0
"""Trousers of the walking body: its own surface from waist to ankles, further out by an ease."""

import bmesh
import bpy
import numpy as np

NAME = "Trousers"
BONES = {"pelvis", "spine_01", "thigh_l", "thigh_r", "calf_l", "calf_r"}
ANKLE, WAIST, BAND = 0.13, 1.02, 0.02  # heights, and the width of the waistband, in m


def add_trousers(ease: float) -> bpy.types.Object:
    """Trousers of an ease in m, led by the armature at the waistband; legs may start crossed."""
    body = bpy.data.objects["Body"]
    trousers = body.copy()
    trousers.name, trousers.data = NAME, body.data.copy()
    bpy.context.scene.collection.objects.link(trousers)
    _keep(trousers, _covered(body))
    places = np.array([vertex.co for vertex in trousers.data.vertices])
    normals = np.array([normal.vector for normal in trousers.data.vertex_normals])
    trousers.data.vertices.foreach_set("co", (places + ease * normals).astype(np.float32).ravel())
    band = np.flatnonzero(places[:, 2] > places[:, 2].max() - BAND)
    trousers.vertex_groups.new(name="pin").add(band.tolist(), 1.0, "REPLACE")
    return trousers


def thicken_thighs(thickness: float) -> None:
    """Moves the thighs of the body towards each other by as much, in m."""
    body = bpy.data.objects["Body"]
    for side, sign in (("thigh_l", -1.0), ("thigh_r", 1.0)):
        index = body.vertex_groups[side].index
        for vertex in body.data.vertices:
            weights = [each.weight for each in vertex.groups if each.group == index]
            if weights and sign * vertex.normal.x > 0.0:
                vertex.co.x += sign * thickness * weights[0]


def _covered(body: bpy.types.Object) -> np.ndarray:
    """Vertices that move most with the bones of the trousers, between ankle and waist."""
    names = [group.name for group in body.vertex_groups]

    def is_covered(vertex: bpy.types.MeshVertex) -> bool:
        strongest = max(vertex.groups, key=lambda each: each.weight)
        return names[strongest.group] in BONES and ANKLE < vertex.co.z < WAIST

    return np.array([is_covered(vertex) for vertex in body.data.vertices])


def _keep(obj: bpy.types.Object, kept: np.ndarray) -> None:
    """Deletes the other vertices."""
    shape = bmesh.new()
    shape.from_mesh(obj.data)
    others = [vertex for vertex, keep in zip(shape.verts, kept, strict=True) if not keep]
    bmesh.ops.delete(shape, geom=others, context="VERTS")
    shape.to_mesh(obj.data)
    shape.free()
