# SPDX-License-Identifier: MIT OR Apache-2.0
"""Edges marked as seams are stiffer against bending, by as much at every edge length."""

import bpy
import numpy as np
import pytest
import small_scenes

from addon.blender import mesh_arrays
from addon.scene import rest_shape

LENGTH, WIDTH, CLAMPED = 0.24, 0.08, 0.04  # m


def strip(edge_length, stiffness):
    """A strip that is clamped level at one end, with a seam along its middle; how far it hangs."""
    small_scenes.set_frames(1, 16)
    along, across = round(LENGTH / edge_length) + 1, round(WIDTH / edge_length) + 1
    points = [(x, y, 0.0) for y in axis(WIDTH, across) for x in axis(LENGTH, along)]
    rows = [along * row + k for row in range(across - 1) for k in range(along - 1)]
    faces = [(k, k + 1, k + along + 1, k + along) for k in rows]
    cloth = small_scenes.add_mesh("Strip", points, faces)
    cloth.weft.role = "CLOTH"
    for edge in cloth.data.edges:
        ends = np.array([points[k] for k in edge.vertices])
        edge.use_seam = bool(np.allclose(ends[:, 1], 0.0))
    held = [k for k, (x, *_) in enumerate(points) if x < CLAMPED - LENGTH / 2 + 1e-6]
    cloth.vertex_groups.new(name="pin").add(held, 1.0, "REPLACE")
    cloth.weft.pin_group, cloth.weft.seam_stiffness = "pin", stiffness
    material = cloth.weft.material
    material.bend_warp_micro = material.bend_weft_micro = 1500.0
    material.bend_damping = 0.1
    return cloth


def axis(size, count):
    return np.linspace(-size / 2, size / 2, count)


def hang(cloth):
    assert bpy.ops.weft.bake() == {"FINISHED"}
    bpy.context.scene.frame_set(16)
    shown = cloth.evaluated_get(bpy.context.evaluated_depsgraph_get())
    drop = -float(mesh_arrays.coordinates(shown.data)[:, 2].min())
    bpy.ops.weft.free()
    bpy.data.objects.remove(cloth)
    return drop


def test_a_seam_stiffens_a_strip_alike_at_both_edge_lengths():
    drops = {
        (length, stiffness): hang(strip(length, stiffness))
        for length in (0.02, 0.01)
        for stiffness in (1.0, 9.0)
    }
    soft, stiff = (np.array([drops[length, s] for length in (0.02, 0.01)]) for s in (1.0, 9.0))
    assert (stiff < 0.75 * soft).all()
    assert np.ptp(stiff / soft) < 0.05, drops


def test_shares_of_seams_add_up_to_their_area():
    cloth = strip(0.01, 3.0)
    rest = mesh_arrays.coordinates(cloth.data).astype(float)
    areas = mesh_arrays.vertex_areas(rest, mesh_arrays.triangles(cloth.data))
    scales = rest_shape.property_scales(cloth, rest, areas)["bend_scale"]
    assert ((scales - 1.0) / 2.0 * areas).sum() == pytest.approx(LENGTH * 0.02)
    assert (scales[np.abs(rest[:, 1]) > 1e-6] == 1.0).all()
    cloth.weft.seam_stiffness = 1.0
    assert "bend_scale" not in rest_shape.property_scales(cloth, rest, areas)
