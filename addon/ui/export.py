# SPDX-License-Identifier: GPL-3.0-or-later
"""Export of baked cloths as Alembic or USD, by Blender's exporters."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import bpy
from bpy.props import EnumProperty, StringProperty
from bpy.types import Context, Event, LayerCollection, Object, Operator, Scene

from ..bake import job
from ..blender import scene_time

ENDINGS = {"ALEMBIC": ".abc", "USD": ".usdc"}
SWITCHES = (
    "hide_select",
    "hide_viewport",
    "hide_render",
)  # properties of objects and of collections


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
        if job.running() is not None:
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
        lost = [obj.name for obj in cloths if not _can_be_shown(context, obj)]
        if lost:
            message = "disabled for selection, viewports or renders: enable it to export the cloth"
            self.report({"ERROR"}, f"the collection of '{lost[0]}' is {message}")
            return {"CANCELLED"}
        first, last = _timeline(context.scene, cloths)
        with _shown(cloths), _selected(context, cloths), _frames(context, first, last):
            try:
                return self._write(first, last)
            except RuntimeError as error:
                self.report({"ERROR"}, str(error))
                return {"CANCELLED"}

    def _write(self, first: int, last: int) -> set[str]:
        if self.kind == "USD" and first < 0:
            self.report({"WARNING"}, f"Blender writes USD from frame 0 on, not from {first}")
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


def _timeline(scene: Scene, cloths: list[Object]) -> tuple[int, int]:
    """First and last timeline frame of the results; exporters use timeline frames."""
    results, stretch = [obj.weft.result for obj in cloths], scene_time.time_stretch(scene)
    first = min(result.frame_start for result in results)
    last = max(result.frame_start + result.frame_count - 1 for result in results)
    return math.floor(first * stretch), math.ceil(last * stretch)


def _can_be_shown(context: Context, obj: Object) -> bool:
    """Whether the collections of an object allow selection, display and rendering."""
    return all(_reaches(context.view_layer.layer_collection, obj, switch) for switch in SWITCHES)


def _reaches(layer: LayerCollection, obj: Object, switch: str) -> bool:
    if layer.exclude or getattr(layer.collection, switch):
        return False
    if obj.name in layer.collection.objects:
        return True
    return any(_reaches(child, obj, switch) for child in layer.children)


@contextmanager
def _shown(objects: list[Object]) -> Iterator[None]:
    """Makes objects selectable, visible and renderable: exporters skip all others."""
    before = [
        (obj, obj.hide_get(), {name: getattr(obj, name) for name in SWITCHES}) for obj in objects
    ]
    for obj, _was_hidden, switches in before:
        obj.hide_set(False)
        for name in switches:
            setattr(obj, name, False)
    try:
        yield
    finally:
        for obj, was_hidden, switches in before:
            obj.hide_set(was_hidden)
            for name, value in switches.items():
                setattr(obj, name, value)


@contextmanager
def _selected(context: Context, objects: list[Object]) -> Iterator[None]:
    """Selects only these objects."""
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
    """Sets the frame range of the scene, which the USD exporter uses."""
    scene = context.scene
    before = (scene.frame_start, scene.frame_end, scene.frame_current, scene.frame_subframe)
    scene.frame_start, scene.frame_end = first, last
    try:
        yield
    finally:
        scene.frame_start, scene.frame_end = before[:2]
        scene.frame_set(before[2], subframe=before[3])


register, unregister = bpy.utils.register_classes_factory((WEFT_OT_export,))
