# SPDX-License-Identifier: MIT OR Apache-2.0
"""The scene of the demonstration, built from nothing.

A square tablecloth falls over a round table with a rounded rim, and a sheet that hangs from a rod
is swept aside by a swinging ball. Lengths in m, as everywhere.
"""

import math
from collections.abc import Sequence

import bpy
import demo_look
import numpy as np

FRAME_COUNT = 120
TABLE_PLACE, TABLE_HEIGHT, TABLE_RADIUS, RIM_RADIUS = (-0.72, 0.0, 0.0), 0.76, 0.55, 0.04
SHEET_PLACE, SHEET_TURN, ROD_HEIGHT = (0.78, 0.3, 0.0), math.radians(-28.0), 1.66
BALL_RADIUS = 0.17


def grid(across: int, along: int, width: float, length: float) -> tuple[np.ndarray, np.ndarray]:
    """A level rectangle about the origin: positions and quads."""
    x, y = np.meshgrid(
        np.linspace(-width / 2, width / 2, across), np.linspace(-length / 2, length / 2, along)
    )
    index = np.arange(across * along).reshape(along, across)
    corners = (index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1])
    positions = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
    return positions, np.stack([corner.ravel() for corner in corners], axis=1)


def lathe(profile: Sequence[tuple[float, float]], segments: int) -> tuple[list, list]:
    """Turns (radius, height) points around z into a closed solid; both ends lie on the axis."""
    inner = np.array(profile[1:-1])
    turn = 2.0 * np.pi * np.arange(segments) / segments
    rings = np.stack(
        [
            np.outer(inner[:, 0], np.cos(turn)),
            np.outer(inner[:, 0], np.sin(turn)),
            np.repeat(inner[:, 1:], segments, axis=1),
        ],
        axis=-1,
    )
    positions = [*rings.reshape(-1, 3).tolist(), (0, 0, profile[0][1]), (0, 0, profile[-1][1])]
    first, last = len(positions) - 2, len(positions) - 1
    faces = []
    for here in range(segments):
        after = (here + 1) % segments
        top = (len(inner) - 1) * segments
        faces += [(first, after, here), (last, top + here, top + after)]
        for ring in range(0, top, segments):
            faces.append(
                (ring + here, ring + after, ring + after + segments, ring + here + segments)
            )
    return positions, faces


def add_mesh(name: str, positions: Sequence, faces: Sequence, place=(0, 0, 0)) -> bpy.types.Object:
    """A smooth-shaded mesh object in the scene."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([tuple(p) for p in positions], [], [tuple(map(int, f)) for f in faces])
    mesh.polygons.foreach_set("use_smooth", np.ones(len(mesh.polygons), dtype=bool))
    mesh.update()
    thing = bpy.data.objects.new(name, mesh)
    thing.location = place
    bpy.context.scene.collection.objects.link(thing)
    return thing


def add_sheet(name: str, across: int, along: int, width: float, length: float) -> bpy.types.Object:
    """A flat sheet with its yarns along x and y: texture coordinates in m."""
    positions, quads = grid(across, along, width, length)
    thing = add_mesh(name, positions, quads)
    layer = thing.data.uv_layers.new(name="yarns")
    layer.data.foreach_set("uv", positions[quads.ravel(), :2].astype(np.float32).ravel())
    return thing


def add_table() -> bpy.types.Object:
    """A round table top, its rim a half circle; only the top is there to be touched."""
    bend = np.linspace(-np.pi / 2, np.pi / 2, 13)
    centre = TABLE_RADIUS - RIM_RADIUS
    middle = TABLE_HEIGHT - RIM_RADIUS
    rim = [(centre + RIM_RADIUS * np.cos(b), middle + RIM_RADIUS * np.sin(b)) for b in bend]
    below = [(0.0, middle - RIM_RADIUS), (centre / 2, middle - RIM_RADIUS)]
    above = [(2 * centre / 3, TABLE_HEIGHT), (centre / 3, TABLE_HEIGHT), (0.0, TABLE_HEIGHT)]
    top = add_mesh("Table", *lathe([*below, *rim, *above], 96), TABLE_PLACE)
    foot_profile = [
        (0, 0),
        (0.3, 0),
        (0.3, 0.015),
        (0.06, 0.05),
        (0.045, 0.4),
        (0.07, 0.69),
        (0, 0.69),
    ]
    foot = add_mesh("Table foot", *lathe(foot_profile, 48), TABLE_PLACE)
    demo_look.paint(top, "wood")
    demo_look.paint(foot, "wood")
    return top


def add_tablecloth() -> bpy.types.Object:
    cloth = add_sheet("Tablecloth", 85, 85, 1.55, 1.55)
    cloth.location = (TABLE_PLACE[0] + 0.03, TABLE_PLACE[1], TABLE_HEIGHT + 0.12)
    cloth.rotation_euler.z = math.radians(27.0)
    demo_look.paint(cloth, "gingham")
    return cloth


def add_hanging_sheet() -> bpy.types.Object:
    """A sheet that hangs from a rod, the row of vertices at the rod in the group `pin`."""
    across, along, width, length = 61, 71, 1.15, 1.35
    sheet = add_sheet("Sheet", across, along, width, length)
    sheet.location = (*SHEET_PLACE[:2], ROD_HEIGHT - length / 2)
    sheet.rotation_euler = (math.radians(90.0), 0.0, SHEET_TURN)
    pinned = list(range(across * (along - 1), across * along))
    sheet.vertex_groups.new(name="pin").add(pinned, 1.0, "REPLACE")
    demo_look.paint(sheet, "silk")
    rod = add_mesh("Rod", *lathe([(0, -0.68), (0.012, -0.68), (0.012, 0.68), (0, 0.68)], 24))
    rod.location = (*SHEET_PLACE[:2], ROD_HEIGHT + 0.012)
    rod.rotation_euler = (0.0, math.radians(90.0), SHEET_TURN)
    demo_look.paint(rod, "brass")
    return sheet


def add_ball() -> bpy.types.Object:
    """A ball that swings through the sheet and back, on an arc about the rod."""
    bpy.ops.mesh.primitive_uv_sphere_add(segments=64, ring_count=32, radius=BALL_RADIUS)
    ball = bpy.context.object
    ball.name = "Ball"
    ball.data.polygons.foreach_set("use_smooth", np.ones(len(ball.data.polygons), dtype=bool))
    arm, start, period = 1.15, math.radians(62.0), 100.0
    forwards = np.array([-math.sin(SHEET_TURN), math.cos(SHEET_TURN)])
    for frame in range(1, FRAME_COUNT + 1, 3):
        angle = start * math.cos(2.0 * math.pi * frame / period)
        across = -forwards * arm * math.sin(angle)
        ball.location = (
            SHEET_PLACE[0] + across[0],
            SHEET_PLACE[1] + across[1],
            ROD_HEIGHT + 0.15 - arm * math.cos(angle),
        )
        ball.keyframe_insert("location", frame=frame)
    demo_look.paint(ball, "lacquer")
    return ball


def build() -> tuple[list[bpy.types.Object], list[bpy.types.Object]]:
    """Empties Blender and builds everything; returns the cloths and the colliders."""
    bpy.ops.wm.read_homefile(use_empty=True)
    scene = bpy.context.scene
    scene.name = "Weft demonstration"
    scene.render.fps = 24
    scene.frame_start, scene.frame_end = 1, FRAME_COUNT
    colliders = [add_table(), add_ball()]
    cloths = [add_tablecloth(), add_hanging_sheet()]
    for cloth in cloths:
        demo_look.refine_when_rendering(cloth)
    demo_look.set_stage(scene)
    return cloths, colliders
