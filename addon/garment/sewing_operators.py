# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators of seams in edit mode, and the selection of open seams."""

import bpy
import numpy as np
from bpy.types import Context, Menu, Operator

from ..blender import mesh_arrays
from ..blender.errors import REPORTED_ERRORS, error_message
from ..properties import change_counter
from ..scene import evaluation_state
from .dressed import shape_key
from .edit_seams import EditedSeams
from .operators import is_free

CLOSED_GAP = 1.0 / 80.0  # mean edge lengths, as of `weft.Dressing.open_pairs`


class _InEditMode:
    """Operator on the seams of the cloth in edit mode."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        obj = context.object
        if obj is None or obj.type != "MESH" or obj.mode != "EDIT" or obj.weft.role != "CLOTH":
            cls.poll_message_set("Needs a cloth in edit mode")
            return False
        return is_free(cls)

    def execute(self, context: Context) -> set[str]:
        try:
            found = EditedSeams(context.object)
            self.act(context, found)
        except REPORTED_ERRORS as error:
            self.report({"ERROR"}, error_message(error))
            return {"CANCELLED"}
        found.save()
        change_counter.increment()
        return {"FINISHED"}


class WEFT_OT_seam_add(_InEditMode, Operator):
    bl_idname = "weft.seam_add"
    bl_label = "Sew Selected Edges"
    bl_description = (
        "Sew two selected runs of edges together, the ends that are nearer to each other first. "
        "The longer one is gathered. For a dart select both legs, and its tip as the active vertex"
    )

    def act(self, context: Context, found: EditedSeams) -> None:
        first, second = found.selected_runs()
        text = _lengths(found.length(first), found.length(second))
        number = found.sew(first, second)
        context.object.weft.use_sewing = True
        self.report({"INFO"}, f"Seam {number}: {text}")


class _OnSeams(_InEditMode):
    """Operator on the seams of which sewing edges are selected."""

    def act(self, _context: Context, found: EditedSeams) -> None:
        chosen = found.selected_seams()
        if not chosen:
            raise ValueError("select a sewing edge of each seam: an edge between both its sides")
        for number, edges in chosen.items():
            self.act_on(found, number, edges)


class WEFT_OT_seam_flip(_OnSeams, Operator):
    bl_idname = "weft.seam_flip"
    bl_label = "Flip Seams"
    bl_description = "Sew the selected seams the other way round, the start of one side to the end"

    def act_on(self, found: EditedSeams, number: int, edges: list) -> None:
        found.flip(number, edges)


class WEFT_OT_seam_remove(_OnSeams, Operator):
    bl_idname = "weft.seam_remove"
    bl_label = "Unpick Seams"
    bl_description = "Remove all sewing edges of the selected seams"

    def act_on(self, found: EditedSeams, _number: int, edges: list) -> None:
        found.remove(edges)


class WEFT_OT_seam_ratio(_OnSeams, Operator):
    bl_idname = "weft.seam_ratio"
    bl_label = "Gather Ratio"
    bl_description = (
        "Tell the lengths at rest of both sides of the selected seams, or of two selected runs of "
        "edges, and their ratio"
    )
    bl_options = {"REGISTER"}

    def act(self, context: Context, found: EditedSeams) -> None:
        if found.selected_seams():
            super().act(context, found)
            return
        first, second = found.selected_runs()
        self.report({"INFO"}, _lengths(found.length(first), found.length(second)))

    def act_on(self, found: EditedSeams, number: int, edges: list) -> None:
        lengths = (found.length(side) for side in found.sides(edges))
        self.report({"INFO"}, f"Seam {number}: {_lengths(*lengths)}")


class WEFT_OT_seam_select(Operator):
    bl_idname = "weft.seam_select"
    bl_label = "Select Open Seams"
    bl_description = "Go to edit mode and select the sewing edges whose ends are apart"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        obj = context.object
        if obj is None or obj.type != "MESH" or shape_key.find(obj) is None:
            cls.poll_message_set("Needs a garment that was dressed")
            return False
        return is_free(cls)

    def execute(self, context: Context) -> set[str]:
        obj = context.object
        evaluation_state.enter_object_mode(context, obj)
        points, loose = shape_key.coordinates(obj), mesh_arrays.loose_edge_indices(obj.data)
        ends = points[mesh_arrays.edges(obj.data)]
        lengths = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
        is_open = np.zeros(len(obj.data.edges), bool)
        is_open[loose] = lengths[loose] > CLOSED_GAP * np.delete(lengths, loose).mean()
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.select_mode(type="EDGE")
        bpy.ops.mesh.select_all(action="DESELECT")
        bpy.ops.object.mode_set(mode="OBJECT")
        obj.data.edges.foreach_set("select", is_open)
        bpy.ops.object.mode_set(mode="EDIT")
        self.report({"INFO"}, f"{is_open.sum()} sewn pairs are open")
        return {"FINISHED"}


def _draw_menu(self: Menu, context: Context) -> None:
    obj = context.object
    if obj is None or obj.type != "MESH" or obj.weft.role != "CLOTH":
        return
    self.layout.separator()
    for kind in (WEFT_OT_seam_add, WEFT_OT_seam_flip, WEFT_OT_seam_remove, WEFT_OT_seam_ratio):
        self.layout.operator(kind.bl_idname)


def _lengths(first: float, second: float) -> str:
    longer, shorter = max(first, second), min(first, second)
    lengths = f"{first * 1000.0:.1f} mm to {second * 1000.0:.1f} mm"
    if not shorter:
        return lengths
    return f"{lengths}, gathered {longer / shorter:.3f} to 1"


_register_classes, _unregister_classes = bpy.utils.register_classes_factory(
    (
        WEFT_OT_seam_add,
        WEFT_OT_seam_flip,
        WEFT_OT_seam_remove,
        WEFT_OT_seam_ratio,
        WEFT_OT_seam_select,
    )
)


def register() -> None:
    _register_classes()
    bpy.types.VIEW3D_MT_edit_mesh_edges.append(_draw_menu)


def unregister() -> None:
    bpy.types.VIEW3D_MT_edit_mesh_edges.remove(_draw_menu)
    _unregister_classes()
