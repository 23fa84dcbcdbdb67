# SPDX-License-Identifier: MIT OR Apache-2.0
"""Blender's own cloth on a garment, and the lengths that a mesh has as Blender draws it."""

import sys
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from blender_baseline import COLLISION_QUALITY, QUALITY, SELF_DISTANCE

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "blender/whole_scenes"))
from penetration import evaluated_world_mesh


def positions_of(thing: bpy.types.Object) -> np.ndarray:
    """World positions at the current frame, as Blender draws them."""
    return evaluated_world_mesh(thing, bpy.context.evaluated_depsgraph_get())[0]


def edge_lengths(thing: bpy.types.Object) -> np.ndarray:
    """Lengths of the edges of the mesh at the current frame, in m."""
    positions, edges = positions_of(thing), np.array(thing.data.edge_keys)
    return np.linalg.norm(positions[edges[:, 0]] - positions[edges[:, 1]], axis=1)


def add_cloth(garment: bpy.types.Object) -> bpy.types.ClothModifier:
    """Cloth with self collision over all frames, its distance a fraction of an edge."""
    lengths = edge_lengths(garment)
    modifier = garment.modifiers.new("Cloth", "CLOTH")
    modifier.settings.quality = QUALITY
    collisions = modifier.collision_settings
    collisions.use_collision = collisions.use_self_collision = True
    collisions.collision_quality = COLLISION_QUALITY
    collisions.self_distance_min = SELF_DISTANCE * float(np.median(lengths))
    cache, scene = modifier.point_cache, bpy.context.scene
    cache.frame_start, cache.frame_end = scene.frame_start, scene.frame_end
    return modifier
