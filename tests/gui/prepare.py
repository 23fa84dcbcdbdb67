# SPDX-License-Identifier: MIT OR Apache-2.0
"""Saves the file that the artist of drive.py opens: a sheet above a ball, and a tidy window.

usage: blender --python prepare.py -- FILE
"""

import sys

import bpy

FILE = sys.argv[sys.argv.index("--") + 1]
LAST = 60
COUNT = 30  # vertices along the side of the sheet


def build():
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    points = [(x / 15 - 1, y / 15 - 1, 0) for y in range(COUNT) for x in range(COUNT)]
    rows = [row * COUNT + x for row in range(COUNT - 1) for x in range(COUNT - 1)]
    faces = [(v, v + 1, v + COUNT + 1, v + COUNT) for v in rows]
    mesh = bpy.data.meshes.new("Sheet")
    mesh.from_pydata(points, [], faces)
    obj = bpy.data.objects.new("Sheet", mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.location.z = 0.6
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.5)
    bpy.context.object.name = "Ball"
    bpy.context.object.select_set(False)
    bpy.context.scene.frame_end = LAST


def arrange():
    """The Properties editor has the whole height, at the Physics tab."""
    window = bpy.context.window_manager.windows[0]
    outliner = next(area for area in window.screen.areas if area.type == "OUTLINER")
    with bpy.context.temp_override(window=window, area=outliner, region=outliner.regions[0]):
        bpy.ops.screen.area_close()
    for area in window.screen.areas:
        if area.type == "VIEW_3D":
            region = next(region for region in area.regions if region.type == "WINDOW")
            with bpy.context.temp_override(window=window, area=area, region=region):
                bpy.ops.view3d.view_all()


def run():
    build()
    arrange()
    bpy.app.timers.register(save, first_interval=2.0)


def save():
    bpy.context.preferences.view.show_splash = False
    bpy.ops.wm.save_userpref()
    bpy.ops.wm.save_as_mainfile(filepath=FILE)
    bpy.ops.wm.quit_blender()


bpy.app.timers.register(run, first_interval=2.0)
