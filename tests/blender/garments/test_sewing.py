# SPDX-License-Identifier: MIT OR Apache-2.0
"""Seams made, flipped, measured and removed in edit mode."""

from itertools import pairwise

import bmesh
import bpy
import numpy as np
import pytest
import small_scenes

from addon.blender import mesh_arrays
from addon.garment import seams


def sheets(first: int = 5, second: int = 5, width: float = 1.0):
    """Two sheets of one object, at a distance of 1 m, in edit mode with both near edges selected.

    The second has another number of vertices along the edge, and another width.
    """
    points, faces = small_scenes.grid(first)
    others, more = small_scenes.grid(second)
    others = others * (1.0, width, 1.0) + (2.0, 0.0, 0.0)
    cloth = small_scenes.add_mesh(
        "Sheets",
        np.concatenate([points, others]),
        [*faces.tolist(), *(more + len(points)).tolist()],
    )
    cloth.weft.role = "CLOTH"
    bpy.context.view_layer.objects.active = cloth
    sides = points[:, 0] > 0.49, others[:, 0] < 1.51
    select(cloth, np.flatnonzero(np.concatenate(sides)))
    return cloth


def select(cloth, vertices):
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_mode(type="VERT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    chosen = np.zeros(len(cloth.data.vertices), bool)
    chosen[vertices] = True
    cloth.data.vertices.foreach_set("select", chosen)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_mode(type="EDGE")


def sewn(cloth):
    """Places along y of the sewn pairs, sorted, and numbers of their seams."""
    bpy.ops.object.mode_set(mode="OBJECT")
    found, points = seams.of(cloth), mesh_arrays.coordinates(cloth.data)
    bpy.ops.object.mode_set(mode="EDIT")
    return sorted(map(tuple, points[found.pairs][:, :, 1].round(4).tolist())), found.numbers


def test_two_runs_are_sewn_nearer_ends_together():
    cloth = sheets()
    assert bpy.ops.weft.seam_add() == {"FINISHED"}
    places, numbers = sewn(cloth)
    assert places == [(y, y) for y in (-0.5, -0.25, 0.0, 0.25, 0.5)]
    assert set(numbers) == {1} and cloth.weft.use_sewing


def test_a_run_with_more_vertices_is_gathered_by_shares_of_the_length():
    cloth = sheets(9, 5, width=0.5)
    assert bpy.ops.weft.seam_add() == {"FINISHED"}
    places, _numbers = sewn(cloth)
    assert len(places) == 9 and len({first for first, _second in places}) == 9
    assert all(abs(first / 2 - second) <= 0.063 for first, second in places)


def test_a_seam_is_flipped_measured_and_removed(capfd):
    cloth = sheets(width=0.8)
    assert bpy.ops.weft.seam_ratio() == {"FINISHED"}
    assert "gathered 1.250 to 1" in capfd.readouterr().out
    bpy.ops.weft.seam_add()
    straight, _numbers = sewn(cloth)
    assert bpy.ops.weft.seam_flip() == {"FINISHED"}
    flipped, numbers = sewn(cloth)
    assert flipped == sorted((first, -second) for first, second in straight)
    assert set(numbers) == {1}
    assert bpy.ops.weft.seam_ratio() == {"FINISHED"}
    assert "Seam 1: 1000.0 mm to 800.0 mm, gathered 1.250 to 1" in capfd.readouterr().out
    assert bpy.ops.weft.seam_flip() == {"FINISHED"}
    assert sewn(cloth)[0] == straight
    assert bpy.ops.weft.seam_remove() == {"FINISHED"}
    assert sewn(cloth)[0] == []
    with pytest.raises(RuntimeError, match="select a sewing edge of each seam"):
        bpy.ops.weft.seam_remove()


def test_the_legs_of_a_dart_are_sewn_to_each_other():
    cloth = small_scenes.add_mesh("Dart", *dart())
    cloth.weft.role = "CLOTH"
    bpy.context.view_layer.objects.active = cloth
    select(cloth, [1, 2, 3, 4, 5])
    with pytest.raises(RuntimeError, match="1 runs are selected"):
        bpy.ops.weft.seam_add()
    bpy.ops.mesh.select_mode(type="VERT")
    mesh = bmesh.from_edit_mesh(cloth.data)
    mesh.verts.ensure_lookup_table()
    mesh.select_history.add(mesh.verts[3])
    assert bpy.ops.weft.seam_add() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert {frozenset(pair) for pair in seams.of(cloth).pairs.tolist()} == {
        frozenset((1, 5)),
        frozenset((2, 4)),
    }


def dart():
    """A strip with a notch whose legs are 1 2 3 and 3 4 5."""
    points = [(0, 0, 0), (1, 0, 0), (1.1, 1, 0), (1.2, 2, 0), (1.3, 1, 0), (1.4, 0, 0), (2.4, 0, 0)]
    points += [(2.4, 3, 0), (1.2, 3, 0), (0, 3, 0)]
    return points, [(0, 1, 2, 3, 8, 9), (3, 4, 5, 6, 7, 8)]


def test_what_cannot_be_sewn_is_told():
    cloth = sheets()
    select(cloth, [0, 1, 2, 10, 11, 12, 30, 31, 32])
    with pytest.raises(RuntimeError, match="3 runs are selected"):
        bpy.ops.weft.seam_add()
    select(cloth, np.arange(25))
    with pytest.raises(RuntimeError, match="branch"):
        bpy.ops.weft.seam_add()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert not bpy.ops.weft.seam_add.poll()


def test_seams_are_undone():
    cloth = sheets()
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.weft.seam_add()
    bpy.ops.ed.undo_push(message="sewn")
    assert len(sewn(cloth)[0]) == 5
    bpy.ops.ed.undo()
    assert sewn(bpy.data.objects["Sheets"])[0] == []


def test_every_place_of_two_runs_is_in_order():
    lengths = np.cumsum([0.0, 0.1, 0.5, 0.1, 0.9, 0.2]), np.linspace(0.0, 3.0, 9)
    pairs = seams.paired(*lengths)
    for side, along in enumerate(lengths):
        assert {pair[side] for pair in pairs} == set(range(len(along)))
    assert all(a <= c and b <= d for (a, b), (c, d) in pairwise(pairs))
