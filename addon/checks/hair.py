# SPDX-License-Identifier: GPL-3.0-or-later
"""Hair curves on cloth: what keeps them from following the result.

Curves follow by the node Deform Curves on Surface, which finds their roots by the UV map of the
surface and needs its shape at rest. Particle hair follows by itself.
"""

from collections.abc import Iterator

from bpy.types import NodeTree, Object, ViewLayer

from .finding import WARNING, Finding, on_object

DEFORM = "GeometryNodeDeformCurvesOnSurface"


def check(view_layer: ViewLayer, cloths: list[Object]) -> Iterator[Finding]:
    """Findings about all hair curves whose surface is a cloth."""
    for hair in view_layer.objects:
        if hair.type == "CURVES" and hair.data.surface in cloths:
            yield from _check_hair(hair, hair.data.surface)


def keep_rest_positions(_context: object, cloth: Object) -> None:
    """Lets the hair on a cloth know its shape at rest."""
    cloth.add_rest_position_attribute = True


def _check_hair(hair: Object, cloth: Object) -> Iterator[Finding]:
    name = hair.data.surface_uv_map
    if not name:
        meaning = (
            f"Its roots are found by a UV map of '{cloth.name}': choose one under Surface of the "
            "curves"
        )
        yield on_object(WARNING, hair, "it does not follow its cloth, without a UV map", meaning)
    elif name not in cloth.data.uv_layers:
        meaning = f"Choose a UV map that '{cloth.name}' has, under Surface of the curves"
        title = f"it does not follow its cloth, which has no UV map '{name}'"
        yield on_object(WARNING, hair, title, meaning)
    if not cloth.add_rest_position_attribute:
        meaning = (
            f"Deform Curves on Surface compares the result with the shape at rest: Fix sets Add "
            f"Rest Position of '{cloth.name}'"
        )
        title = f"its hair '{hair.name}' does not follow it, without Add Rest Position"
        yield on_object(WARNING, cloth, title, meaning, "rest_position")
    groups = [m.node_group for m in hair.modifiers if m.type == "NODES" and m.show_viewport]
    if not any(_has_node(group) for group in groups if group is not None):
        meaning = "Add a Geometry Nodes modifier with the node Deform Curves on Surface"
        title = "it does not follow its cloth: no modifier deforms it"
        yield on_object(WARNING, hair, title, meaning)


def _has_node(tree: NodeTree) -> bool:
    """Whether a tree, or a group in it, has the node that deforms curves."""
    for node in tree.nodes:
        if node.bl_idname == DEFORM and not node.mute:
            return True
        if node.type == "GROUP" and node.node_tree is not None and _has_node(node.node_tree):
            return True
    return False
