# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs inside a Blender with a window: scenes of an artist's day, each with a screenshot.

Scenes are built by Python; what an artist does in them comes as keys from xdotool.
usage: blender FOLDER/scene.blend --python scenes.py -- FOLDER
"""

import os
import sys
import time
from pathlib import Path

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree

FOLDER = Path(sys.argv[sys.argv.index("--") + 1])
sys.path.insert(0, str(FOLDER))

from hands import (  # noqa: E402
    by_key,
    click,
    on_screen,
    place,
    press,
    repeated,
    shot,
    tool,
    until,
    windows,
)
from stage import facts, own, perform, running  # noqa: E402

DROPPED_AT = 9  # the frame from which the cape is not held
FIRST_COUNT = 41  # vertices along the side of the first sheet
SEEN_AT = 40  # the frame of the figure that the screenshot is taken at


def scene():
    return bpy.context.scene


def world(obj):
    """Vertices of an object as it is evaluated now."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    points = np.array([vertex.co for vertex in evaluated.data.vertices])
    matrix = np.array(evaluated.matrix_world)
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def look_at_all():
    view_operator("view_all")


def view_operator(name, **properties):
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=area, region=region):
        getattr(bpy.ops.view3d, name)(**properties)


def make_active(obj):
    bpy.ops.object.select_all(action="DESELECT")
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj


def empty_scene(last):
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    scene().frame_end = last
    scene().frame_set(1)


def add_grid(name, count, size, role="CLOTH", **place):
    """A square of `count` vertices a side, which is made active."""
    axis = np.linspace(-size / 2, size / 2, count)
    points = [(x, y, 0.0) for y in axis for x in axis]
    rows = [row * count + x for row in range(count - 1) for x in range(count - 1)]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, [], [(v, v + 1, v + count + 1, v + count) for v in rows])
    obj = bpy.data.objects.new(name, mesh)
    scene().collection.objects.link(obj)
    obj.weft.role = role
    for key, value in place.items():
        setattr(obj, key, value)
    make_active(obj)
    return obj


def bake():
    yield from by_key("weft.bake", running)
    yield from until(lambda: running() is None)


def steps():
    yield 1.0
    yield from click("physics")
    yield from first_bake()
    scene().weft.quality = "DRAFT"
    yield from takes()
    yield from cape()
    yield from layers()
    yield from findings()
    yield from authoring()
    if (FOLDER / "shirt.json").exists():
        yield from garment()
    if (FOLDER / "human_walk.blend").exists():
        yield from walk()
        yield from made_around()


def first_bake():
    """Clicks of a new user on ball, *Collider*, sheet, *Cloth* and *Bake*, settings as they are."""
    sheet, ball = bpy.data.objects["Sheet"], bpy.data.objects["Ball"]
    bpy.data.objects.remove(sheet)
    sheet = add_grid("Sheet", FIRST_COUNT, 2.0, role="NONE", location=(0.0, 0.0, 0.6))
    bpy.ops.object.select_all(action="DESELECT")
    yield from press("F24", "view")
    started = time.monotonic()
    yield from click(on_screen((0.3, -0.3, -0.25)))
    yield from repeated(lambda: click("collider"), lambda: ball.weft.role == "COLLIDER")
    yield from click(on_screen((-0.3, -0.2, 0.6)))
    yield from repeated(lambda: click("cloth"), lambda: sheet.weft.role == "CLOTH")
    baked = time.monotonic()
    yield from repeated(lambda: click("bake"), lambda: running() or sheet.weft.result.frame_count)
    yield from until(lambda: running() is None)
    ended = time.monotonic()
    facts["first_bake_seconds"], facts["first_bake_own_seconds"] = ended - started, ended - baked
    facts["first_bake_frames"] = sheet.weft.result.frame_count
    yield from press("F24", "panel")
    shot("first_bake")


def takes():
    """Two fabrics of one sheet are kept and compared, and the first one is chosen."""
    sheet = bpy.data.objects["Sheet"]
    bpy.data.objects["Ball"].weft.role, sheet.weft.role = "COLLIDER", "CLOTH"
    make_active(sheet)
    scene().frame_end = 16
    for number, (name, fabric) in enumerate((("Light", "silk"), ("Heavy", "leather")), start=1):
        bpy.ops.weft.preset_apply(name=fabric)
        yield from bake()
        kept = lambda n=number: len(sheet.weft.takes) >= n  # noqa: E731
        yield from by_key("weft.take_keep", kept, name=name)
    yield from by_key("weft.take_compare", lambda: "Heavy" in bpy.data.objects)
    yield from press("shift+Right")
    look_at_all()
    yield 1.0
    shot("takes")
    row = [sheet, *(bpy.data.objects.get(name) for name in ("Light", "Heavy"))]
    facts["compared"] = [obj.name for obj in row if obj]
    places = [world(obj) for obj in row if obj]
    facts["compared_ends"] = [[float(f(p[:, 0])) for f in (np.min, np.max)] for p in places]
    facts["compared_heights"] = [float(p[:, 2].mean()) for p in places]
    fabric = lambda: own("fabrics.presets").label(sheet.weft.material)  # noqa: E731
    yield from by_key("weft.take_choose", lambda: fabric() == "Silk", index=0)
    facts["chosen"] = fabric()
    facts["chosen_height"] = float(world(sheet)[:, 2].mean())
    yield from by_key("weft.take_compare_end", lambda: "Heavy" not in bpy.data.objects)
    facts["compared_after"] = [name for name in ("Light", "Heavy") if name in bpy.data.objects]


def cape():
    """A sheet that hangs from a row, whose keyed strength lets go, is simulated by Space."""
    empty_scene(30)
    obj = add_grid("Cape", 16, 1.0, location=(0.0, 0.0, 1.0))
    obj.vertex_groups.new(name="pin").add(list(range(16)), 1.0, "REPLACE")
    obj.weft.pin_group = "pin"
    for frame, strength in ((1, 1.0), (DROPPED_AT - 1, 1.0), (DROPPED_AT, 0.0)):
        obj.weft.pin_strength = strength
        obj.keyframe_insert("weft.pin_strength", frame=frame)
    look_at_all()
    live = own("bake.live").session
    yield from repeated(lambda: press("space"), live)
    yield from until(lambda: live() is None or live().frame > DROPPED_AT + 8, 90.0)
    look_at_all()
    yield 0.5
    shot("cape")
    yield from press("space")
    yield from until(lambda: live() is None, 20.0)
    facts["cape_row"] = {}
    for frame in (DROPPED_AT - 1, DROPPED_AT + 7):
        scene().frame_set(frame)
        facts["cape_row"][str(frame)] = float(world(obj)[:16, 2].mean())


def layers():
    """Two sheets that cross where they begin come apart in the order of their layers."""
    empty_scene(54)
    floor = add_grid("Floor", 2, 3.0)
    floor.weft.role = "COLLIDER"
    level = add_grid("Shirt", 14, 0.5, location=(0.0, 0.0, 0.06))
    tilt = {"location": (0.013, 0.007, 0.06), "rotation_euler": (0.15, 0.0, 0.0)}
    tilted = add_grid("Jacket", 14, 0.5, **tilt)
    level.weft.layer, tilted.weft.layer = 0, 1
    yield from bake()
    yield from press("shift+Right")
    view_operator("view_selected")
    yield 1.0
    shot("layers")
    facts["layers"] = [float(world(obj)[:, 2].mean()) for obj in (level, tilted)]


def findings():
    """What beginners run into is found, and the finding selects its place."""
    empty_scene(20)
    add_grid("Bedsheet", 2, 2.0, location=(0.0, 0.0, 1.0))
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.3, location=(3.0, 0.0, 0.0))
    ball = bpy.context.object
    ball.name, ball.weft.role = "Hidden", "COLLIDER"
    ball.hide_set(True)
    make_active(bpy.data.objects["Bedsheet"])
    found = bpy.context.window_manager.weft.findings
    yield from by_key("weft.check_scene", lambda: len(found))
    titles = [finding.title for finding in found]
    facts["findings"] = titles
    index = next((i for i, title in enumerate(titles) if title.startswith("Bedsheet: ")), 0)
    bpy.ops.object.select_all(action="DESELECT")
    yield from by_key("weft.finding_select", lambda: bpy.context.selected_objects, index=index)
    facts["finding_selects"] = [obj.name for obj in bpy.context.selected_objects]
    look_at_all()
    yield from press("F24", "panel")
    yield from click("check_header")
    yield from press("F24", "panel")
    shot("findings")
    yield from click("check_header")
    are_current = own("checks.operators").are_current
    facts["findings_current"] = [are_current(bpy.context)]
    add_grid("Floor", 2, 4.0).weft.role = "COLLIDER"
    yield 1.0
    facts["findings_current"].append(are_current(bpy.context))


def add_bottle(name):
    """A body with a neck, of rings of 24 vertices."""
    profile = [(0.02, 0.0), (0.2, 0.02), (0.2, 1.2), (0.06, 1.35), (0.05, 1.4), (0.08, 1.6)]
    turn = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    points = [(r * np.cos(a), r * np.sin(a), z) for r, z in profile for a in turn]
    sides = [(24 * row + k, 24 * row + (k + 1) % 24) for row in range(5) for k in range(24)]
    mesh = bpy.data.meshes.new(name)
    faces = [(one, other, other + 24, one + 24) for one, other in sides]
    mesh.from_pydata(points, [], [*faces, tuple(range(120, 144)), tuple(range(23, -1, -1))])
    scene().collection.objects.link(bpy.data.objects.new(name, mesh))


def by_menu(words, done):
    """Opens the menu *Add* and types what to look for in it."""

    def hand():
        yield from press("shift+a")
        tool(f'type --delay 60 "{words}"')
        yield 1.5
        tool("key Return")
        yield 1.5

    yield from repeated(hand, done)
    yield from press("F24", "view")


def authoring():
    """A skirt, a cloth of a curve, one around a figure, one of a UV map: added and undone."""
    empty_scene(20)
    bpy.ops.curve.primitive_bezier_circle_add(radius=0.4, location=(2.0, 0.0, 0.0))
    add_bottle("Figure")
    bpy.ops.mesh.primitive_cube_add(size=0.5, location=(-2.0, 0.0, 0.0))
    bpy.context.object.name = "Box"
    bpy.ops.ed.undo_push(message="scene")
    before = set(bpy.data.objects.keys())
    facts["authored"], facts["authored_undone"] = {}, {}
    sources = (("Skirt", "Box"), ("Cloth from Outline", "BézierCircle"))
    sources += (("Two Panels around Object", "Figure"), ("Pattern from UV Map", "Box"))
    for words, source in sources:
        name = next(n for n in before if n.startswith(source[:2]))
        make_active(bpy.data.objects[name])
        bpy.ops.ed.undo_push(message="selection")
        new = lambda: sorted(set(bpy.data.objects.keys()) - before)  # noqa: E731
        yield from by_menu(words, new)
        facts["authored"][words] = new()
        look_at_all()
        yield 0.5
        shot("authoring" if words.startswith("Two") else "authored")
        yield from repeated(lambda: press("ctrl+z"), lambda: not new())  # noqa: B023
        facts["authored_undone"][words] = new()


def choose_file(name):
    """Types a name into the file browser that has opened."""
    yield from until(lambda: windows() == 2, 10.0)
    yield 1.0
    yield from place("File View")
    yield from click("file")
    tool("key ctrl+a")
    yield 0.3
    tool(f"type {name}")
    yield 0.5
    tool("key Return")
    yield 1.0
    yield from click("install")  # the button that confirms, whatever it says


def garment():
    """A sewing pattern is imported, dressed on its body, and undressed once."""
    empty_scene(20)
    bpy.ops.wm.obj_import(filepath=str(FOLDER / "body.obj"))
    body = bpy.context.object
    body.weft.role = "COLLIDER"
    before = set(bpy.data.objects)
    yield from by_key("weft.pattern_import", lambda: windows() == 2, edge_length=0.03)
    yield from choose_file("shirt.json")
    yield from until(lambda: set(bpy.data.objects) - before, 20.0)
    new = list(set(bpy.data.objects) - before)
    facts["imported"] = [obj.name for obj in new]
    shirt = new[0]
    make_active(shirt)
    look_at_all()
    yield 1.0
    shot("imported")
    yield from press("Escape")  # closes what the import has told
    flat = world(shirt)
    dressing = own("garment.dressing").running
    yield from by_key("weft.dress", dressing)
    yield 5.0
    shot("dressing")
    yield from until(lambda: dressing() is None, 900.0)
    facts["dressed"] = shirt.weft.garment.report
    facts["dressed_failed"] = shirt.weft.garment.has_failed
    # Welded, it has fewer vertices: compared by its extents.
    extents = [np.ptp(points, axis=0) for points in (world(shirt), flat)]
    facts["dressed_moved"] = float(np.abs(extents[0] - extents[1]).max())
    view_operator("view_selected")
    yield 1.0
    shot("dressed")
    yield from by_key("weft.undress", lambda: not shirt.weft.garment.report)
    facts["undressed_off"] = float(np.abs(world(shirt) - flat).max())
    shot("undressed")


def walking_figure(garment=""):
    """Opens the walking figure, with one of its garments at most."""
    bpy.ops.wm.open_mainfile(filepath=str(FOLDER / "human_walk.blend"), load_ui=False)
    scene().weft.cache_directory = str(FOLDER / "walk_cache")
    for name in {"Dress", "Tshirt", "Pattern"} - {garment}:
        bpy.data.objects.remove(bpy.data.objects[name])
    return bpy.data.objects["Body"]


def walk():
    """The dress of the walking figure while it is baked: cloth and body at one frame."""
    body = walking_figure("Dress")
    yield 1.0
    scene().frame_end = SEEN_AT + 10
    dress = bpy.data.objects["Dress"]
    modifier = dress.modifiers.new("Armature", "ARMATURE")
    modifier.object, modifier.vertex_group = bpy.data.objects["Armature"], "pin"
    dress.weft.role, dress.weft.pin_group, body.weft.role = "CLOTH", "pin", "COLLIDER"
    scene().frame_set(SEEN_AT)
    make_active(body)
    view_operator("view_selected")
    scene().frame_set(1)
    make_active(dress)
    yield from by_key("weft.bake", running)
    end = lambda: running() is None or scene().frame_current >= SEEN_AT  # noqa: E731
    yield from until(end, 900.0)
    facts["walk_bakes"] = running() is not None
    yield 0.2  # it is drawn
    shot("walk")
    facts["walk_frame"], facts["walk_solved"] = (
        scene().frame_current,
        getattr(running(), "frame", 0),
    )
    pins = dress.vertex_groups["pin"].index
    held = [v.index for v in dress.data.vertices if pins in [g.group for g in v.groups]]
    surface = BVHTree.FromObject(body, bpy.context.evaluated_depsgraph_get())
    inverse = np.array(body.matrix_world.inverted())
    points = world(dress) @ inverse[:3, :3].T + inverse[:3, 3]
    facts["walk_pins_off"] = max(surface.find_nearest(points[index])[3] for index in held)
    tool("key Escape")
    yield from until(lambda: running() is None, 60.0)


def made_around():
    """The pictures of the page on garments: a skirt is cut around a figure, which walks in it."""
    body = walking_figure()
    scene().frame_end = SEEN_AT
    garments = lambda: [o for o in bpy.data.objects if o.weft.garment.pattern]  # noqa: E731
    view_operator("view_orbit", angle=0.7, type="ORBITLEFT")  # its front, without its arm
    make_active(body)
    cut = {"kind": "OPEN", "length": 0.55, "ease": 0.0, "flare": 0.5}
    yield from by_key("weft.cloth_around", garments, **cut)
    garment = garments()[0]
    view_operator("view_selected")
    yield 3.0
    shot("around")
    dressing = own("garment.dressing").running
    yield from by_key("weft.dress", dressing)
    yield 6.0
    shot("around_dressing")
    yield from until(lambda: dressing() is None, 900.0)
    facts["around"] = garment.weft.garment.report
    yield 3.0
    shot("around_dressed")
    yield from bake()
    facts["around_frames"] = garment.weft.result.frame_count
    scene().frame_set(SEEN_AT)
    view_operator("view_selected")
    yield 3.0
    shot("around_walking")


perform(steps(), lambda: os._exit(0))
