# SPDX-License-Identifier: MIT OR Apache-2.0
"""Files that others write, and what is refused."""

import json
import math
import os
from pathlib import Path

import ezdxf
import numpy as np
import pytest
import weft

SQUARE = [(0, 0), (200, 0), (200, 300), (0, 300)]


def garment(**panel) -> dict:
    """Two square panels of 20 cm, sewn into a tube, as GarmentCode writes them."""
    square = {
        "vertices": [[0, 0], [20, 0], [20, 20], [0, 20]],
        "edges": [{"endpoints": [k, (k + 1) % 4]} for k in range(4)],
    }
    sides = [
        [{"panel": "front", "edge": edge}, {"panel": "back", "edge": 4 - edge}] for edge in (1, 3)
    ]
    return {
        "pattern": {"panels": {"front": {**square, **panel}, "back": square}, "stitches": sides}
    }


def read(data: dict) -> weft.Pattern:
    return weft.Pattern(json.dumps(data))


def drawing(
    version: str, units: str | None = "METRIC", factor: float = 1.0
) -> ezdxf.document.Drawing:
    """A piece of 200 mm by 300 mm with a round top, as ASTM D6673 has it."""
    page = ezdxf.new(version)
    if units:
        page.modelspace().add_text(f"Units: {units}", dxfattribs={"layer": "1"})
    block = page.blocks.new("PIECE_1")
    add = {"layer": "1"}
    arc = [(100 + 100 * math.cos(a), 300 + 100 * math.sin(a)) for a in np.linspace(0, math.pi, 40)]
    outline = [(x * factor, y * factor) for x, y in [*SQUARE[:2], *arc]]
    block.add_text("Piece Name: FRONT", dxfattribs=add)
    block.add_polyline2d(outline, close=True, dxfattribs=add)
    for x, y in SQUARE:
        block.add_point((x * factor, y * factor), dxfattribs={"layer": "2"})
    block.add_line(
        (100 * factor, 50 * factor), (100 * factor, 250 * factor), dxfattribs={"layer": "7"}
    )
    block.add_line((0, 100 * factor), (200 * factor, 100 * factor), dxfattribs={"layer": "8"})
    block.add_point((200 * factor, 150 * factor, 5 * factor), dxfattribs={"layer": "4"})
    hole = [(x * factor, y * factor) for x, y in [(50, 150), (80, 150), (65, 190)]]
    block.add_polyline2d(hole, close=True, dxfattribs={"layer": "11"})
    page.modelspace().add_blockref("PIECE_1", (0, 0))
    return page


@pytest.mark.parametrize("version", ["R12", "R2000", "R2010"])
@pytest.mark.parametrize(("units", "factor"), [("METRIC", 1.0), ("ENGLISH", 1 / 25.4)])
def test_a_dxf_of_ezdxf(version, units, factor, tmp_path):
    path = tmp_path / "piece.dxf"
    drawing(version, units, factor).saveas(path)
    pattern = weft.Pattern.read(path)
    (panel,) = pattern.panels
    assert (panel["name"], panel["edges"], panel["cutouts"], panel["grain"]) == (
        "FRONT",
        4,
        1,
        90.0,
    )
    assert pattern.findings() == []
    data = json.loads(pattern.to_text())["pattern"]["panels"]["FRONT"]
    assert data["notches"][0]["edge"] == 1
    assert data["notches"][0]["position"] == pytest.approx(0.5)
    assert data["notches"][0]["depth"] == pytest.approx(0.5)  # cm
    assert [len(data[key]) for key in ("cutouts", "internal_lines")] == [1, 1]
    mesh = pattern.mesh(0.01)
    first, second, third = (mesh.flat[mesh.triangles[:, corner]] for corner in range(3))
    (a, b), (c, d) = (second - first).T, (third - first).T
    expected = 0.2 * 0.3 + math.pi * 0.1**2 / 2 - 0.03 * 0.04 / 2
    assert (a * d - b * c).sum() / 2 == pytest.approx(expected, rel=5e-3)
    assert len(mesh.internal_lines) == 1
    assert np.ptp(mesh.flat[mesh.internal_lines[0]["vertices"], 1]) < 1e-9


def test_a_dxf_without_units_is_refused(tmp_path):
    path = tmp_path / "piece.dxf"
    drawing("R12", None).saveas(path)
    with pytest.raises(ValueError, match=r'dxf units: none stated; wanted a text "Units: METRIC"'):
        weft.Pattern.read(path)


def test_a_painted_edge_length_is_that_of_its_panel():
    pattern = read(garment())
    points = [(x, y) for x in (0.0, 0.2) for y in (0.0, 0.2)]
    plain = pattern.mesh(0.02)
    painted = pattern.mesh(0.02, edge_length_factors={"front": (points, [0.3, 0.3, 1.0, 1.0])})
    counts = np.diff(plain.panel_starts), np.diff(painted.panel_starts)
    assert counts[1][0] > 3 * counts[0][0]
    # The back has the vertices of the seams of the front, and hardly more.
    assert counts[0][1] < counts[1][1] < 2.5 * counts[0][1]
    with pytest.raises(
        ValueError, match=r'edge_length_factors: "cuff" does not exist here; there is front, back'
    ):
        pattern.mesh(0.02, edge_length_factors={"cuff": (points, [1.0] * 4)})
    with pytest.raises(ValueError, match="edge_length_factors: point 1: factor 0"):
        pattern.mesh(0.02, edge_length_factors={"front": (points[:2], [1.0, 0.0])})
    with pytest.raises(TypeError, match="edge_length_factors: float; wanted a pair"):
        pattern.mesh(0.02, edge_length_factors={"front": 1.0})


def test_a_dart_is_cut_and_sewn():
    pattern = read(garment())
    shaped = pattern.with_dart("front", 2, 0.5, 0.02, (0.1, 0.1))
    assert [panel["edges"] for panel in shaped.panels] == [7, 4]
    assert pattern.panels[0]["area"] - shaped.panels[0]["area"] == pytest.approx(0.02 * 0.1 / 2)
    assert shaped.stitches[-1]["edges"] == ([3], [4])
    assert shaped.stitches[1]["edges"] == ([6], [1])
    mesh = shaped.mesh(0.01)
    legs = mesh.flat[mesh.seams[mesh.stitch_of_seam == 2]]
    assert np.allclose(legs[:, 0, 0] + legs[:, 1, 0], 0.2) and len(legs) == 10
    with pytest.raises(ValueError, match='panel "front": edge 1: sewn already'):
        pattern.with_dart("front", 1, 0.5, 0.02, (0.1, 0.1))


def test_panels_say_what_they_are_made_of():
    front, back = read(garment(grain=45, fabric="denim", edge_length=1.5, label="body")).panels
    assert front == {
        "name": "front",
        "edges": 4,
        "cutouts": 0,
        "area": pytest.approx(0.04),
        "grain": pytest.approx(45.0),
        "edge_length": pytest.approx(0.015),
        "fabric": "denim",
        "label": "body",
    }
    assert (back["grain"], back["fabric"], back["edge_length"], back["label"]) == (
        90.0,
        *[None] * 3,
    )


def test_edges_are_drawn_where_their_panels_are():
    pattern = read(garment(translation=[10, 100, 30], rotation=[0, 90, 0]))
    points = pattern.edge_points("front", 0)
    np.testing.assert_allclose(points, [(0.1, -0.3, 1.0), (0.1, -0.1, 1.0)], atol=1e-12)
    with pytest.raises(ValueError, match='panel "front": edge 4: no such edge; wanted one below 4'):
        pattern.edge_points("front", 4)
    with pytest.raises(ValueError, match='panel: "cuff" does not exist here; there is front, back'):
        pattern.edge_points("cuff", 0)
    with pytest.raises(ValueError, match='panel "back": cut-out 0; wanted one of 0 cut-outs'):
        pattern.edge_points("back", 0, cutout=0)


def test_findings_say_where_they_are():
    bow = garment(vertices=[[0, 0], [20, 0], [0, 20], [18, 20]])
    (finding,) = read(bow).findings()
    assert finding == {
        "kind": "crossing",
        "severity": "error",
        "panel": "front",
        "cutout": None,
        "edge": 1,
        "stitch": None,
        "message": finding["message"],
    }
    assert finding["message"].startswith('panel "front": edge 1: crosses or touches edge 3 near (')
    with pytest.raises(ValueError, match='panel "front": edge 1: crosses or touches edge 3'):
        read(bow).mesh()
    twisted = garment()
    twisted["pattern"]["stitches"][1].append("right_wrong")
    (finding,) = read(twisted).findings()
    assert (finding["kind"], finding["stitch"], finding["panel"]) == ("mobius_band", 1, "back")


def test_what_is_no_pattern_is_refused(tmp_path):
    with pytest.raises(TypeError, match="text: bytes; wanted str"):
        weft.Pattern(b"{}")
    with pytest.raises(
        ValueError, match='format: "obj" does not exist here; there is json, svg, dxf'
    ):
        weft.Pattern("{}", format="obj")
    with pytest.raises(TypeError, match=r"path: int; wanted str or os\.PathLike"):
        weft.Pattern.read(3)
    with pytest.raises(OSError, match=r"none\.json"):
        weft.Pattern.read(tmp_path / "none.json")
    with pytest.raises(ValueError, match="wanted a name that ends in"):
        weft.Pattern.read(tmp_path / "garment.zprj")
    with pytest.raises(ValueError, match="DXF, which is only read"):
        read(garment()).write(tmp_path / "garment.dxf")
    for length in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="edge_length"):
            read(garment()).mesh(length)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_cannot_be_written_stays_as_it_was(tmp_path):
    path = tmp_path / "kept.json"
    path.write_text("{}", encoding="utf-8")
    tmp_path.chmod(0o500)
    with pytest.raises(OSError, match=r"kept\.json"):
        read(garment()).write(path)
    tmp_path.chmod(0o700)
    assert path.read_text(encoding="utf-8") == "{}"


def test_nothing_is_left_where_a_file_cannot_be_put(tmp_path):
    taken = tmp_path / "taken.json"
    taken.mkdir()
    with pytest.raises(OSError, match=r"taken\.json"):
        read(garment()).write(taken)
    assert [file.name for file in Path(tmp_path).iterdir()] == ["taken.json"]
