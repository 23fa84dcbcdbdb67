# SPDX-License-Identifier: MIT OR Apache-2.0
"""Panels inscribed in a grid, and panels between four sides: mass, shapes, and what is refused."""

import sys
from pathlib import Path

import numpy as np
import pytest
import weft

sys.path.append(str(Path(__file__).parents[2] / "experiments"))
sys.path.append(str(Path(__file__).parents[2] / "hostile"))
from etzmuss import panels, patterns
from judge.intersections import Scenery
from scenes import round_body

EDGE_LENGTH = 0.025  # m
OUTLINES = {
    "circle": panels.CIRCLE,
    "trouser front": panels.TROUSER_FRONT,
    "sleeve": panels.SLEEVE,
    "skirt front": panels.SKIRT_FRONT,
}


def cloth(mesh: weft.TrimmedMesh, **options: object) -> weft.Cloth:
    flat = panels.level(mesh.flat)
    given = {"rest_positions": flat, "uv": mesh.uv, "triangles": mesh.triangles}
    given |= {"corner_coverage": mesh.corner_coverage} | options
    return weft.Cloth(flat, mesh.cells, panels.FABRIC, **given)


def doubled_areas(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    a, b, c = (points[triangles[:, corner]] for corner in range(3))
    return (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]


@pytest.mark.parametrize("name", OUTLINES)
def test_a_trimmed_panel_has_the_mass_of_its_cloth(name):
    pattern = panels.pattern(OUTLINES[name])
    mesh = pattern.trimmed_mesh(EDGE_LENGTH)
    simulation = weft.Simulation([cloth(mesh)], settings=weft.Settings(model="particles"))
    masses = simulation.matrices()["masses"]
    doubled = doubled_areas(mesh.visible_flat, mesh.visible_triangles)
    assert (doubled > 0.0).all() and (masses > 0.0).all()
    drawn = 0.5 * doubled.sum()
    assert masses.sum() == pytest.approx(panels.FABRIC.density * drawn, rel=1e-9)
    assert drawn == pytest.approx(pattern.panels[0]["area"], rel=1e-3)
    middles = mesh.visible_flat[mesh.visible_triangles].mean(axis=1)
    centre = (0.5 * doubled[:, None] * middles).sum(axis=0) / drawn
    assert masses @ mesh.flat / masses.sum() == pytest.approx(centre, abs=1e-9)


def test_visible_vertices_are_carried_by_barycentric_coordinates():
    mesh = panels.pattern(panels.SLEEVE).trimmed_mesh(EDGE_LENGTH)
    assert mesh.visible_weights.sum(axis=1) == pytest.approx(1.0, abs=1e-14)
    assert mesh.visible_weights.min() >= 0.0
    random = np.random.default_rng(3)
    moved = mesh.positions + random.normal(0.0, 0.01, mesh.positions.shape)
    wanted = np.einsum("ki,kij->kj", mesh.visible_weights, moved[mesh.visible_corners])
    assert mesh.visible_positions(moved) == pytest.approx(wanted, abs=1e-15)
    assert mesh.visible_positions(mesh.positions)[:, [0, 2]] == pytest.approx(
        mesh.visible_flat, abs=1e-6 * EDGE_LENGTH
    )
    assert mesh.visible_panel_starts.tolist() == [0, len(mesh.visible_flat)]
    assert mesh.panel_starts.tolist() == [0, len(mesh.flat)]
    assert set(mesh.panel_of_cell.tolist()) == {0}
    with pytest.raises(ValueError, match="positions: 3 positions"):
        mesh.visible_positions(np.zeros((3, 3)))


def test_a_falling_trimmed_panel_meets_the_air_of_its_own_area():
    """The drag of the cloth, not that of the grid, slows its fall: v_t tanh(gt/v_t)."""
    mesh = panels.pattern(panels.CIRCLE).trimmed_mesh(0.1)
    settings = weft.Settings(model="particles", self_collision=False, time_step=0.01)
    simulation = weft.Simulation([cloth(mesh)], settings=settings)
    simulation.advance(0.3)
    fabric = panels.FABRIC
    masses = simulation.matrices()["masses"]
    speed = -(masses @ simulation.velocities()[:, 2]) / masses.sum()

    def wanted(area: float) -> float:
        drag = 0.5 * 1.2 * fabric.air_drag * area
        terminal = np.sqrt(masses.sum() * 9.81 / drag)
        return terminal * np.tanh(9.81 * 0.3 / terminal)

    cut, whole = masses.sum() / fabric.density, 0.01 * len(mesh.cells)
    assert wanted(whole) < 0.95 * wanted(cut)
    assert speed == pytest.approx(wanted(cut), rel=0.015)


def test_nothing_crosses_what_is_drawn_of_a_trimmed_panel():
    """Over the rim of a small round table, in folds."""
    mesh = panels.pattern(panels.CIRCLE).trimmed_mesh(EDGE_LENGTH)
    table = round_body([(0.1, -0.3), (0.1, -0.02)])
    settings = weft.Settings(model="particles")
    simulation = weft.Simulation([cloth(mesh)], [weft.Collider(*table)], settings=settings)
    scenery = Scenery()
    scenery.add("cloth", len(mesh.visible_flat), mesh.visible_triangles, is_cloth=True)
    scenery.add("table", len(table[0]), table[1], is_cloth=False)
    for _ in range(24):
        simulation.advance(1.0 / 24.0)
        drawn = mesh.visible_positions(simulation.positions())
        assert not scenery.intersections(np.concatenate([drawn, table[0]]))
    assert drawn[:, 2].min() < -0.1, "it hangs down"


@pytest.mark.parametrize("name", patterns.HUNG)
@pytest.mark.parametrize("place", patterns.STARTS)
def test_trimmed_panels_hang_as_meshed_ones(name, place):
    *sheets, held = patterns.both_ways(name, EDGE_LENGTH)
    found = panels.compared(sheets, held, patterns.STARTS[place])
    assert found.drop > 0.5, "it hangs down"
    assert found.largest < patterns.ALIKE and found.mean < 0.5 * patterns.ALIKE


@pytest.mark.parametrize("beyond", [2e-4, 2e-6])
def test_hardly_any_cloth_in_a_cell_disturbs_nothing(beyond):
    """A rectangle of whole cells hangs as one that is longer by a ten-thousandth of a cell."""
    sides = [(40.0, 30.0), (40.0 + 100.0 * beyond, 30.0 + 100.0 * beyond)]
    corners = [[(0, 0), (width, 0), (width, height), (0, height)] for width, height in sides]
    cuts = [panels.pattern([(x, y, None) for x, y in outline]) for outline in corners]
    whole, more = (panels.trimmed(cut, EDGE_LENGTH) for cut in cuts)
    assert whole.options["corner_coverage"].min() == pytest.approx(1.0)
    assert more.options["corner_coverage"].min() < 1e-6
    assert len(more.faces) == len(whole.faces) + 2 * (16 + 12) + 4
    found = panels.compared((whole, more), 0.2 - 2.0 * beyond, panels.over_edge)
    assert found.largest < 2e-3


def test_a_panel_between_four_sides_hangs_as_a_meshed_one():
    *sheets, held = patterns.between_sides(EDGE_LENGTH)
    assert sheets[0].faces.shape[1] == 4 and sheets[0].model == "particles"
    found = panels.compared(sheets, held, panels.around_cylinder)
    assert found.largest < patterns.ALIKE and found.mean < 0.5 * patterns.ALIKE


def test_a_part_of_a_corner_is_checked():
    mesh = panels.pattern(panels.CIRCLE).trimmed_mesh(0.1)
    for wrong, message in [
        (np.ones(3), "corner_coverage: 3 parts"),
        (np.zeros(4 * len(mesh.cells)), "corner_coverage: corner 0: 0"),
        (np.full(4 * len(mesh.cells), 1.1), "corner_coverage: corner 0: 1.1"),
        (np.full(4 * len(mesh.cells), np.nan), "corner_coverage"),
    ]:
        with pytest.raises(ValueError, match=message):
            cloth(mesh, corner_coverage=wrong)
    for model in ("fem", "mass_spring_16", "baraff_witkin"):
        with pytest.raises(ValueError, match=r"cloths\[0\]\.corner_coverage: model " + model):
            weft.Simulation([cloth(mesh)], settings=weft.Settings(model=model))
    for model in ("particles_membrane", "particles_projected"):
        simulation = weft.Simulation([cloth(mesh)], settings=weft.Settings(model=model))
        assert simulation.advance(0.02).converged


def test_checkpoints_of_other_parts_are_refused():
    mesh = panels.pattern(panels.CIRCLE).trimmed_mesh(0.1)
    settings = weft.Settings(model="particles")
    saved = weft.Simulation([cloth(mesh)], settings=settings).state()
    whole = weft.Simulation([cloth(mesh, corner_coverage=None)], settings=settings)
    with pytest.raises(ValueError, match="checkpoint"):
        whole.restore(saved)
    weft.Simulation([cloth(mesh)], settings=settings).restore(saved)


def test_corners_of_four_sides_are_read_by_panel():
    pattern = panels.pattern(panels.SLEEVE)
    with pytest.raises(ValueError, match="5 edges; wanted four"):
        pattern.curvilinear_mesh(EDGE_LENGTH)
    mesh = pattern.curvilinear_mesh(EDGE_LENGTH, corners={"panel": [0, 1, 2, 4]})
    assert len(mesh.triangles) == 2 * len(mesh.cells) > 100
    for corners, message in [
        ({"sleeve": [0, 1, 2, 4]}, "sleeve"),
        ({"panel": [0, 1, 2]}, "corners: 3 points"),
        ({"panel": [0, 1, 1, 4]}, "four different points"),
    ]:
        with pytest.raises(ValueError, match=message):
            pattern.curvilinear_mesh(EDGE_LENGTH, corners=corners)
