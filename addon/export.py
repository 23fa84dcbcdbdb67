# SPDX-License-Identifier: GPL-3.0-or-later
"""Baked cloths as Alembic or USD, by Blender's own exporters."""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
from bpy.props import EnumProperty, StringProperty
from bpy.types import Context, Event, Object, Operator

from . import bake

ENDINGS = {"ALEMBIC": ".abc", "USD": ".usdc"}


class WEFT_OT_export(Operator):
    bl_idname = "weft.export"
    bl_label = "Export Cloth"
    bl_description = (
        "Write the baked cloths of the scene, with all that their modifiers make of them"
    )

    kind: EnumProperty(
        name="Format",
        description="Kind of file",
        items=(("ALEMBIC", "Alembic", "An .abc file"), ("USD", "USD", "A .usdc file")),
    )
    filepath: StringProperty(name="File", description="Where to write", subtype="FILE_PATH")
    filter_glob: StringProperty(default="*.abc;*.usd;*.usda;*.usdc", options={"HIDDEN"})

    @classmethod
    def poll(cls, context: Context) -> bool:
        if bake.running() is not None:
            return False
        if not any(_is_baked(obj) for obj in context.view_layer.objects):
            cls.poll_message_set("There is no baked cloth in this scene")
            return False
        return True

    def invoke(self, context: Context, _event: Event) -> set[str]:
        stem = bpy.data.filepath.removesuffix(".blend") or "cloth"
        self.filepath = f"{stem}{ENDINGS[self.kind]}"
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: Context) -> set[str]:
        cloths = [obj for obj in context.view_layer.objects if _is_baked(obj)]
        first = min(obj.weft.result.frame_start for obj in cloths)
        last = max(obj.weft.result.frame_start + obj.weft.result.frame_count - 1 for obj in cloths)
        with _selected(context, cloths), _frames(context, first, last):
            try:
                return self._write(first, last)
            except RuntimeError as error:
                self.report({"ERROR"}, str(error))
                return {"CANCELLED"}

    def _write(self, first: int, last: int) -> set[str]:
        if self.kind == "ALEMBIC":
            return bpy.ops.wm.alembic_export(
                filepath=self.filepath,
                start=first,
                end=last,
                selected=True,
                as_background_job=False,
            )
        return bpy.ops.wm.usd_export(
            filepath=self.filepath, selected_objects_only=True, export_animation=True
        )


def _is_baked(obj: Object) -> bool:
    return obj.type == "MESH" and obj.weft.role == "CLOTH" and obj.weft.result.frame_count > 0


@contextmanager
def _selected(context: Context, objects: list[Object]) -> Iterator[None]:
    """Selects only these for a while."""
    before = {obj: obj.select_get() for obj in context.view_layer.objects}
    for obj in before:
        obj.select_set(obj in objects)
    try:
        yield
    finally:
        for obj, was_selected in before.items():
            obj.select_set(was_selected)


@contextmanager
def _frames(context: Context, first: int, last: int) -> Iterator[None]:
    """Sets the frame range of the scene for a while: USD writes that."""
    scene = context.scene
    before = (scene.frame_start, scene.frame_end, scene.frame_current)
    scene.frame_start, scene.frame_end = first, last
    try:
        yield
    finally:
        scene.frame_start, scene.frame_end = before[:2]
        scene.frame_set(before[2])


register, unregister = bpy.utils.register_classes_factory((WEFT_OT_export,))
