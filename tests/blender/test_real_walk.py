# SPDX-License-Identifier: MIT OR Apache-2.0
"""The garments of `human_walk.blend` on their walking body. Minutes: only when asked for.

WEFT_REAL_SCENES=1 WEFT_WALK_FRAMES=48 python -m pytest -s tests/blender/test_real_walk.py

What the add-on reads is simulated with the quads cut beforehand, so that the checker of the hostile
scenes, which judges every frame, knows the triangles. Where the body crosses itself no cloth can be
free of it: its faces that do so at a frame are left out there.
"""

import os
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import bpy
import numpy as np
import pytest
import small_scenes

from addon import bridge, scene_reader, stage

sys.path.insert(0, str(Path(__file__).parents[1] / "hostile"))
from crossings import Scenery, unique_edges
from sides import winding_numbers

ROOT = Path(__file__).parents[2]
SCENE = Path(os.environ.get("WEFT_SHARED", ROOT.parent / "shared")) / "data/scenes/human_walk.blend"
FRAMES = int(os.environ.get("WEFT_WALK_FRAMES", "120"))
HEALED_BY = 49  # the frame two seconds after the first

pytestmark = [
    pytest.mark.skipif(
        not os.environ.get("WEFT_REAL_SCENES"), reason="takes minutes: set WEFT_REAL_SCENES=1"
    ),
    pytest.mark.skipif(not SCENE.is_file(), reason=f"no '{SCENE}': set WEFT_SHARED"),
]


@dataclass
class Walked:
    """Account of one frame."""

    frame: int
    seconds: float
    newton: int
    stretch: float
    crossings: dict[str, int]  # by what crosses what, but for the next
    excused: int  # at faces of the body that cross the body
    inside: int  # vertices of cloth in the body


def dressed(names):
    """Cloths and colliders of the scene, the garments led by the armature where they are pinned."""
    for name in names:
        garment = bpy.data.objects[name]
        garment.weft.role = "CLOTH"
        if garment.vertex_groups.get("pin") is not None:
            armature = garment.modifiers.new("Armature", "ARMATURE")
            armature.object, armature.vertex_group = bpy.data.objects["Armature"], "pin"
            garment.weft.pin_group = "pin"
        bpy.context.view_layer.objects.active = garment
        bpy.ops.weft.preset_apply(name="cotton")
    bpy.data.objects["Body"].weft.role = "COLLIDER"
    return scene_reader.participants(bpy.context.scene, bpy.context.view_layer)


def cut(cloth):
    """The cloth with its quads cut along the shorter diagonal."""
    triangles, corners, first = [], [], 0
    for face in cloth.faces:
        points = cloth.rest_positions[list(face)]
        cuts = [(0, 1, 2)]
        if len(face) == 4:
            one, other = (np.linalg.norm(points[k] - points[k + 2]) for k in range(2))
            cuts = [(0, 1, 2), (0, 2, 3)] if one <= other else [(1, 2, 3), (1, 3, 0)]
        triangles += [[face[k] for k in each] for each in cuts]
        corners += [[first + k for k in each] for each in cuts]
        first += len(face)
    triangles = np.array(triangles, np.int64)
    uv = cloth.uv
    if uv is not None and len(uv) == first:
        uv = uv[np.ravel(corners)]
    return replace(cloth, faces=triangles, triangles=triangles, uv=uv)


class Judge:
    """Counts what crosses what."""

    def __init__(self, cloths, body):
        self._body, self._scenery, self._alone = body, Scenery(), Scenery()
        for cloth in cloths:
            count = len(cloth.positions)
            self._scenery.add(cloth.name, count, cloth.triangles, is_cloth=True)
        count = len(body.positions)
        self._scenery.add(body.name, count, body.triangles, is_cloth=False)
        self._alone.add(body.name, count, body.triangles, is_cloth=True)

    def _crossing_itself(self, positions):
        """Faces of the body that cross it, as sets of vertices, and all their edges."""
        faces = {frozenset(face) for face in self._body.triangles.tolist()}
        of_edge = {}
        for face in faces:
            for vertex in face:
                of_edge.setdefault(frozenset(face - {vertex}), []).append(face)
        bad = set()
        for found in self._alone.crossings(positions):
            bad |= {frozenset(found.face), *of_edge[frozenset(found.edge)]}
        edges = unique_edges(np.array([sorted(face) for face in bad]).reshape(-1, 3))
        return bad | {frozenset(edge) for edge in edges.tolist()}

    def judge(self, shapes, positions):
        """Crossings by what crosses what, and those that are excused."""
        bad, counts, excused = None, {}, 0
        for found in self._scenery.crossings(np.concatenate([*shapes, positions])):
            body = self._body.name
            own = {found.edge_of: found.edge, found.face_of: found.face}
            if body in own:
                bad = self._crossing_itself(positions) if bad is None else bad
                if frozenset(own[body]) in bad:
                    excused += 1
                    continue
            names = " and ".join(sorted({found.edge_of, found.face_of}))
            counts[names] = counts.get(names, 0) + 1
        return counts, excused

    def inside(self, shapes, positions):
        triangles = self._body.triangles
        return sum(int((winding_numbers(one, positions, triangles) > 0).sum()) for one in shapes)


def walk(names):
    """Simulates, and gives an account frame by frame."""
    bpy.ops.wm.open_mainfile(filepath=str(SCENE))
    small_scenes.set_frames(1, FRAMES)
    cloths, colliders = dressed(names)
    prepared = stage.Stage(bpy.context, cloths, colliders)
    reader = scene_reader.SceneReader(bpy.context, cloths, colliders, 1)
    reader.cloths = [cut(cloth) for cloth in reader.cloths]
    simulation = bridge.build_simulation(bpy.context.scene, reader)
    judge, before = Judge(reader.cloths, reader.colliders[0]), reader.first
    render = bpy.context.scene.render
    for frame in range(2, FRAMES + 1):
        source = reader.read_frame(frame)
        bridge.set_targets(simulation, reader.cloths, reader.colliders, before, source)
        clock = time.perf_counter()
        report = simulation.advance(render.fps_base / render.fps)
        clock = time.perf_counter() - clock
        shapes = [simulation.positions(index) for index in range(len(cloths))]
        positions, before = source.collider_positions[0], source
        yield Walked(
            frame, clock, report.newton_iterations, report.max_stretch,
            *judge.judge(shapes, positions), judge.inside(shapes, positions),
        )  # fmt: skip
    prepared.restore(show_earlier_results=False)


@pytest.mark.parametrize("names", [["Dress"], ["Tshirt"], ["Dress", "Tshirt"]], ids="+".join)
def test_garments_stay_apart_from_all_but_the_body_where_it_crosses_itself(names, capsys):
    frames = []
    for account in walk(names):
        frames.append(account)
        with capsys.disabled():
            print(account, flush=True)
    seconds = sum(each.seconds for each in frames) / len(frames)
    crossed = [each.frame for each in frames if each.crossings]
    with capsys.disabled():
        print(
            f"\n{'+'.join(names)}: {seconds:.2f} s a frame, {max(e.seconds for e in frames):.2f} "
            f"at most; stretched by {max(e.stretch for e in frames):.2f}; crossings in "
            f"{len(crossed)} frames, the last {crossed[-1:]}; excused at most "
            f"{max(e.excused for e in frames)}; inside at most {max(e.inside for e in frames)}"
        )
    # Both garments overlap where the scene begins.
    first = 2 if len(names) == 1 else HEALED_BY
    assert [frame for frame in crossed if frame >= first] == []
