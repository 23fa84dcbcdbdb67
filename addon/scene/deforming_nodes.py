# SPDX-License-Identifier: GPL-3.0-or-later
"""Geometry nodes modifiers that deform a cloth without changing its topology.

They are detected by evaluation: vertex count and faces of the output must equal those of the input.
A modifier that moves no vertex and has no node that could, for example one that only sets
materials, does not count and stays enabled while a result is shown.
"""

import numpy as np
from bpy.types import Context, Modifier, NodesModifier, NodeTree, Object

from ..blender import mesh_arrays, modifier_state
from ..result import playback

# Nodes that can move points without changing the topology.
MOVING_NODES = frozenset(
    (
        "GeometryNodeBake",
        "GeometryNodeCollectionInfo",
        "GeometryNodeObjectInfo",
        "GeometryNodeScaleElements",
        "GeometryNodeSetPosition",
        "GeometryNodeStoreNamedAttribute",
        "GeometryNodeTransform",
    )
)


def detect(context: Context, obj: Object) -> list[str]:
    """Stores on the object which of its geometry nodes modifiers only deform it.

    Returns the names of those that make other geometry.
    """
    known = obj.weft.deforming_nodes
    if not any(modifier.type == "NODES" for modifier in obj.modifiers):
        known.clear()
        return []
    had_result = obj.weft.result.shown
    playback.disable(obj)
    known.clear()
    modifier_state.mute(obj, modifier_state.is_generative)
    try:
        return _test_each(context, obj)
    finally:
        modifier_state.restore(obj)
        if had_result:
            playback.enable(obj)
        context.view_layer.update()


def _test_each(context: Context, obj: Object) -> list[str]:
    """Enables the geometry nodes modifiers one after the other and compares the meshes."""
    before, making = _evaluated(context, obj), []
    for modifier in obj.modifiers:
        if modifier.type != "NODES" or not modifier_state.user_visibility(obj, modifier)[0]:
            continue
        modifier.show_viewport = True
        after = _evaluated(context, obj)
        if not _same_topology(before, after):
            making.append(modifier.name)
            modifier.show_viewport = False
        elif _moves(modifier, before, after):
            modifier_state.remember(obj.weft.deforming_nodes.add(), modifier)
            before = after
        else:
            modifier.show_viewport = False
    return making


def _evaluated(context: Context, obj: Object) -> tuple[np.ndarray, ...]:
    """Vertices, corner vertices and corner counts of the evaluated mesh."""
    context.view_layer.update()
    evaluated = obj.evaluated_get(context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    try:
        return (
            mesh_arrays.coordinates(mesh),
            mesh_arrays.corner_vertices(mesh),
            mesh_arrays.corner_counts(mesh),
        )
    finally:
        evaluated.to_mesh_clear()


def _same_topology(before: tuple[np.ndarray, ...], after: tuple[np.ndarray, ...]) -> bool:
    same_count = len(before[0]) == len(after[0])
    return same_count and all(map(np.array_equal, before[1:], after[1:]))


def _moves(
    modifier: Modifier, before: tuple[np.ndarray, ...], after: tuple[np.ndarray, ...]
) -> bool:
    return _can_move(modifier) or not np.array_equal(before[0], after[0])


def _can_move(modifier: NodesModifier) -> bool:
    queue, visited = [modifier.node_group], set()
    while queue:
        tree = queue.pop()
        if not isinstance(tree, NodeTree) or tree in visited:
            continue
        visited.add(tree)
        if any(node.bl_idname in MOVING_NODES and not node.mute for node in tree.nodes):
            return True
        queue += [getattr(node, "node_tree", None) for node in tree.nodes]
    return False
