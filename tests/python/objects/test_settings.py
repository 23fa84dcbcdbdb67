# SPDX-License-Identifier: MIT OR Apache-2.0
"""Settings: values in, the same values out, nothing changes later."""

import copy
import pickle

import numpy as np
import pytest
import weft

CHANGES = {
    "integrator": "implicit_euler",
    "model": "fem",
    "time_step": 0.01,
    "gravity": (0.5, 0.25, -1.5),
    "wind": (1.0, 2.0, 3.0),
    "air_density": 0.0,
    "self_collision": True,
    "tolerance": 1e-4,
    "max_iterations": 7,
    "min_iterations": 3,
    "growth_factor": 1.5,
    "shrink_factor": 0.5,
    "linear_tolerance": 0.02,
    "preconditioner": "block_jacobi",
    "solver": "fixed_point",
    "threads": 3,
}


@pytest.mark.parametrize("field", CHANGES)
def test_a_field_reads_back(field):
    settings = weft.Settings(**{field: CHANGES[field]})
    assert getattr(settings, field) == CHANGES[field]
    with pytest.raises(AttributeError, match=field):
        setattr(settings, field, CHANGES[field])


def test_settings_survive_every_copy():
    settings = weft.Settings(**CHANGES)
    assert eval(repr(settings), {"Settings": weft.Settings}) == settings != weft.Settings()
    assert pickle.loads(pickle.dumps(settings)) == settings
    assert copy.deepcopy(settings) == settings


def test_the_defaults_are_those_of_the_signature():
    settings = weft.Settings()
    assert (settings.integrator, settings.solver, settings.model) == ("bdf2", "newton", "fem")
    assert settings.gravity == (0.0, 0.0, -9.81)
    assert settings.wind == (0.0, 0.0, 0.0)
    assert settings.time_step == 1 / 48
    assert settings.threads == 0


@pytest.mark.parametrize("kind", [tuple, list, np.array, lambda v: np.array(v, np.float32)])
def test_a_vector_may_be_any_three_numbers(kind):
    assert weft.Settings(gravity=kind([0.5, 0.0, -4.0])).gravity == (0.5, 0.0, -4.0)


def test_whole_numbers_are_numbers():
    assert weft.Settings(gravity=(0, 0, -10), air_density=1) == weft.Settings(
        gravity=(0.0, 0.0, -10.0), air_density=1.0
    )
    assert weft.Settings(threads=np.int64(2)).threads == 2


def work(**options) -> weft.Report:
    """A sheet of cotton that swings from two corners, one second."""
    places = np.linspace(0.0, 0.5, 11)
    x, y = (axis.ravel() for axis in np.meshgrid(places, places))
    quads = [[r * 11 + c, r * 11 + c + 1, r * 11 + c + 12, r * 11 + c + 11]
             for r in range(10) for c in range(10)]  # fmt: skip
    cloth = weft.Cloth(np.stack([x, y, 0.0 * x], axis=1), quads, weft.Material())
    scene = weft.Simulation([cloth], settings=weft.Settings(threads=1, **options))
    scene.set_pins(0, [0, 10])
    return [scene.advance(1 / 24) for _ in range(24)]


def total(reports: list[weft.Report], name: str) -> int:
    return sum(getattr(report, name) for report in reports)


def test_a_smaller_residual_costs_conjugate_gradients_and_no_newton_iterations():
    loose, strict = work(), work(linear_tolerance=1e-3)
    assert total(strict, "linear_iterations") > 1.3 * total(loose, "linear_iterations")
    assert total(strict, "newton_iterations") <= 1.05 * total(loose, "newton_iterations")


def test_step_control_follows_its_factors():
    # So few iterations are allowed that steps are rejected and halved over and over.
    hard = {"max_iterations": 2, "time_step": 1 / 24}
    usual = work(**hard)
    assert total(usual, "rejected_steps") > 2
    # Where it grows slowly a step seldom becomes too long again.
    slow = work(**hard, growth_factor=1.05)
    assert total(slow, "rejected_steps") < total(usual, "rejected_steps")
    # Steps take most of what is allowed, and the next ones are shorter.
    busy = {"max_iterations": 3, "time_step": 1 / 24}
    usual = total(work(**busy), "steps")
    assert total(work(**busy, shrink_factor=0.3), "steps") > 1.5 * usual
