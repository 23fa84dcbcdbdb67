# SPDX-License-Identifier: MIT OR Apache-2.0
"""The page of the experiments: everything in it, nothing from elsewhere, and the same as JSON."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[2] / "experiments"))
import cords
import hayler
import page
import plot
import run
import scenes
from etzmuss import integrators


def test_what_the_library_offers_is_read_from_its_refusals():
    assert {"bdf2", "implicit_euler"} <= set(scenes.offered("integrator"))
    assert {"fem", "particles"} <= set(scenes.offered("model"))
    assert scenes.offered("colour") == ()


def test_the_pendulum_says_what_the_document_says(tmp_path):
    finding = cords.pendulum()
    assert finding.verdict == page.AGREES
    page.write(tmp_path, [finding, page.Finding("n", "s", "<&", "", page.SKIPPED, "")], {"a": 1})
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "<svg" in html and "&lt;&amp;" in html
    for word in ("src=", "<script", "<link", "url("):
        assert word not in html
    found = json.loads((tmp_path / "experiments.json").read_text(encoding="utf-8"))
    assert [one["verdict"] for one in found["experiments"]] == [page.AGREES, page.SKIPPED]
    rows = dict(found["experiments"][0]["tables"][0]["rows"])
    assert rows["euler"] == pytest.approx(np.e, rel=1e-3)


def test_an_experiment_that_fails_is_on_the_page_and_the_rest_goes_on(monkeypatch, capsys):
    def broken():
        raise RuntimeError("no such scene")

    monkeypatch.setattr(cords, "ALL", (broken,))
    (finding,) = run.perform("cords")
    assert finding.verdict == page.SKIPPED and "no such scene" in finding.measured
    assert "RuntimeError" in capsys.readouterr().err


def test_what_an_axis_cannot_show_is_left_out():
    axis = plot.Axis("x", log=True)
    drawn = plot.lines(
        "t", axis, plot.Axis("y"), [plot.Line("a", [0.0, 1.0, 9.0], [1.0, 2.0, 3.0])]
    )
    assert drawn.count(",") < 5 and "nan" not in drawn
    assert "nothing" in plot.lines("t", axis, axis, [plot.Line("a", [-1.0], [1.0])])


def test_the_blocks_of_choi_and_kos_springs_are_the_derivatives_of_their_forces():
    springs = hayler.ChoiKo(4, drag=0.0)
    x = springs.rest * 1.1
    x[1:3, 1:3, 2] += 0.2
    v = np.zeros_like(x)
    by_x, by_v = hayler.derivatives(springs, x, complete=True)
    for direction in np.random.default_rng(2).standard_normal((3, *x.shape)) * springs.free:
        ends = [springs.acceleration(x + one * direction, v) for one in (1e-6, -1e-6)]
        found = springs.mass * (ends[0] - ends[1]) / 2e-6
        wanted = springs.free * (by_x @ direction.ravel()).reshape(x.shape)
        assert np.abs(found - wanted).max() < 1e-4 * np.abs(wanted).max()
        changed = springs.acceleration(x, direction) - springs.acceleration(x, v)
        wanted = springs.free * (by_v @ direction.ravel()).reshape(x.shape)
        assert np.abs(springs.mass * changed - wanted).max() < 1e-9 * np.abs(wanted).max()


def test_haylers_solver_fails_by_the_matrix_of_its_listing_and_by_forces_that_are_carried_on():
    springs = hayler.ChoiKo(5)
    h = 10.0
    assert hayler.settles(springs, hayler.bdf2(springs, h, complete=True))
    assert not hayler.settles(springs, hayler.bdf2(springs, h, complete=False))
    assert not hayler.settles(springs, hayler.bdf2(springs, h, complete=True, carried=True))


def test_every_order_of_table_3_2_is_judged():
    for scene, printed in integrators.PRINTED.items():
        found = integrators.orders(scene, printed)
        assert len(found) == 14 and all(found.values())
        costs = {name: tuple(-one for one in each) for name, each in printed.items()}
        assert not any(integrators.orders(scene, costs).values())
