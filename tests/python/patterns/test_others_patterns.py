# SPDX-License-Identifier: MIT OR Apache-2.0
"""Four garments of GarmentCode: read, checked, meshed, written."""

import subprocess
import sys

import numpy as np
import pytest
import weft
from others import COUNTS, NAMES, body, pattern

MESHED = """
import hashlib, sys, weft
mesh = weft.Pattern.read(sys.argv[1]).mesh(0.02)
arrays = (mesh.positions, mesh.uv, mesh.triangles, mesh.seams, mesh.cells)
print(hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest())
"""


@pytest.mark.parametrize("name", NAMES)
def test_others_patterns_have_no_mistakes(name):
    garment = pattern(name)
    assert (len(garment.panel_names), len(garment.stitches)) == COUNTS[name]
    findings = garment.findings(0.01)
    assert {finding["kind"] for finding in findings} <= {"tiny_edge"}
    assert bool(findings) == (name == "js_mean_all")
    ratios = [stitch["ratio"] for stitch in garment.stitches]
    assert max(max(ratio, 1 / ratio) for ratio in ratios) < 1.31
    assert all(stitch["reversed"] for stitch in garment.stitches)


@pytest.mark.parametrize("name", NAMES)
def test_placement_against_a_body(name):
    garment = pattern(name)
    assert garment.far_panels([body()]) == []
    away = weft.Collider([(9, 9, 9), (9, 8, 9), (8, 9, 9)], [(0, 1, 2)])
    far = garment.far_panels([away])
    assert [finding["panel"] for finding in far] == garment.panel_names
    assert {(finding["kind"], finding["severity"]) for finding in far} == {("far", "warning")}


# The shortest edge, over the edge length, bounds the angle beside it.
@pytest.mark.parametrize(("edge_length", "angle"), [(0.02, 13.0), (0.01, 22.0)])
@pytest.mark.parametrize("name", NAMES)
def test_meshes_of_others_patterns(name, edge_length, angle):
    mesh = pattern(name).mesh(edge_length)
    share = {0.02: 0.5, 0.01: 0.75}[edge_length]
    for panel in mesh.quality:
        assert panel["min_angle"] > angle
        assert panel["regular_share"] > share
        # Triangles that would cut off a corner are split.
        assert 0.93 < panel["mean_edge_ratio"] < 1.05
        assert panel["min_edge_ratio"] > 0.25
        assert panel["max_edge_ratio"] < 1.8


@pytest.mark.parametrize("name", NAMES)
def test_seams_join_the_same_parts_of_both_edges(name):
    garment = pattern(name)
    mesh = garment.mesh(0.01)
    for index, stitch in enumerate(garment.stitches):
        pairs = mesh.seams[mesh.stitch_of_seam == index]
        if len(pairs) < 3:
            continue
        for side in (0, 1):
            points = mesh.flat[pairs[:, side]]
            lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
            # Merged corners have moved; both last pairs may be those of other stitches.
            shorter = stitch["lengths"][side] - lengths.sum()
            assert -2e-3 < shorter < 2.2 * lengths.max() + 4e-3
            assert lengths.max() < 1.6 * lengths.min()


@pytest.mark.parametrize("name", NAMES)
def test_the_surface_has_the_area_of_the_pattern_and_lies_where_it_was_placed(name):
    coarse, fine = (pattern(name).mesh(length) for length in (0.02, 0.01))

    def area(points, triangles):
        first, second, third = (points[triangles[:, corner]] for corner in range(3))
        return np.linalg.norm(np.cross(second - first, third - first), axis=1).sum() / 2

    for mesh in (coarse, fine):
        flat = np.column_stack([mesh.flat, np.zeros(len(mesh.flat))])
        assert area(mesh.positions, mesh.triangles) == pytest.approx(area(flat, mesh.triangles))
    assert area(coarse.positions, coarse.triangles) == pytest.approx(
        area(fine.positions, fine.triangles), rel=2e-3
    )
    assert fine.positions[:, 2].min() + 1.0 > 0.1 and fine.positions[:, 2].max() < 2.0


@pytest.mark.parametrize("name", NAMES)
def test_front_panels_face_forward(name):
    """Right sides point away from the body, which looks to -y."""
    mesh = pattern(name).mesh(0.02)
    first, second, third = (mesh.positions[mesh.triangles[:, corner]] for corner in range(3))
    normals = np.cross(second - first, third - first)
    outward = np.sign((first + second + third)[:, 1]) * normals[:, 1]
    sideways = np.abs(normals[:, 1]) < 1e-3 * np.linalg.norm(normals, axis=1)
    assert (outward[~sideways] > 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_the_mesh_is_the_same_in_another_process(name, tmp_path):
    path = tmp_path / "a.json"
    pattern(name).write(path)
    runs = [
        subprocess.run([sys.executable, "-c", MESHED, str(path)], capture_output=True, check=True)
        for _ in range(2)
    ]
    assert runs[0].stdout == runs[1].stdout and len(runs[0].stdout) > 60


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ending", ["json", "svg"])
def test_what_is_written_is_read_again(name, ending, tmp_path):
    garment = pattern(name)
    path = tmp_path / f"garment.{ending}"
    garment.write(path)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    again = weft.Pattern.read(path)
    assert again.panel_names == garment.panel_names
    for first, second in zip(garment.stitches, again.stitches, strict=True):
        assert first["panels"] == second["panels"]
        assert first["reversed"] == second["reversed"]
        assert first["lengths"] == pytest.approx(second["lengths"], rel=1e-5)
    meshes = garment.mesh(0.02), again.mesh(0.02)
    assert len(meshes[0].seams) == pytest.approx(len(meshes[1].seams), abs=30)
    if ending == "json":
        np.testing.assert_allclose(meshes[0].positions, meshes[1].positions, atol=1e-9)


def test_a_meshed_garment_is_sewn_together():
    mesh = pattern("hoody_mean").mesh(0.03)
    flat = np.column_stack([mesh.flat, np.zeros(len(mesh.flat))])
    cloth = weft.Cloth(
        mesh.positions,
        mesh.triangles,
        weft.Material(),
        rest_positions=flat,
        uv=mesh.uv,
        sewing=mesh.seams,
        sewing_time=0.3,
    )
    scene = weft.Simulation([cloth], settings=weft.Settings(gravity=(0, 0, 0)))

    def gap():
        ends = scene.positions(0)[mesh.seams]
        return np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).mean()

    before = gap()
    for _ in range(12):
        scene.advance(1 / 24)
    assert gap() < 0.3 * before
