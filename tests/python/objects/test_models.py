# SPDX-License-Identifier: MIT OR Apache-2.0
"""Cloth models by their names."""

import numpy as np
import pytest
import weft
from small_cloths import FRAME, SIDE, cloth, grid

MODELS = (
    "fem",
    "fem_corotational",
    "fem_linear",
    "fem_volino",
    "fem_bridson",
    "particles",
    "particles_membrane",
    "particles_projected",
    "baraff_witkin",
    "choi_ko",
    "mass_spring",
    "mass_spring_16",
)
QUADS_ONLY = ("particles", "particles_membrane", "particles_projected", "mass_spring_16")
SPRINGS = ("choi_ko", "mass_spring", "mass_spring_16")


@pytest.mark.parametrize("model", MODELS)
def test_every_model_hangs_from_two_pins(model):
    scene = weft.Simulation([cloth()], settings=weft.Settings(model=model))
    start = scene.positions()
    scene.set_pins(0, [0, SIDE - 1])
    for _ in range(6):
        report = scene.advance(FRAME)
        assert report.converged
    now = scene.positions()
    assert np.array_equal(now[[0, SIDE - 1]], start[[0, SIDE - 1]])
    assert now[:, 2].min() < -0.05
    # Linear strain does not resist displacements normal to the sheet.
    assert report.max_stretch < (1.5 if model == "fem_linear" else 0.3)
    energy = scene.energy()
    assert sum(energy[part] for part in energy if part != "total") == pytest.approx(energy["total"])


@pytest.mark.parametrize("model", QUADS_ONLY)
def test_other_faces_than_quads_are_refused_by_index(model):
    positions, quads = grid()
    faces = [list(quad) for quad in quads]
    faces[5] = faces[5][:3]
    mixed = weft.Cloth(positions, faces, weft.Material())
    with pytest.raises(ValueError, match=r"cloths\[1\].faces: face 5: 3 corners; wanted .* fem"):
        weft.Simulation([cloth(), mixed], settings=weft.Settings(model=model))


@pytest.mark.parametrize("model", MODELS)
def test_stiffness_is_scaled_in_springs_alone(model):
    stiffened = cloth(stiffness_scale=np.full(SIDE * SIDE, 2.0))
    settings = weft.Settings(model=model)
    if model in SPRINGS:
        weft.Simulation([stiffened], settings=settings)
        return
    with pytest.raises(ValueError, match=r"cloths\[0\].stiffness_scale: model .* mass_spring"):
        weft.Simulation([stiffened], settings=settings)


def cushion(side: int, length: float) -> tuple[np.ndarray, np.ndarray]:
    """Two squares in one place that are joined along their border."""
    positions, quads = grid(side, length)
    inside = np.arange(side * side).reshape(side, side)[1:-1, 1:-1].ravel()
    below = np.arange(side * side)
    below[inside] = side * side + np.arange(len(inside))
    faces = np.vstack([quads, below[quads][:, ::-1]])
    return np.vstack([positions, positions[inside]]), faces


@pytest.mark.parametrize("model", MODELS)
def test_a_cushion_that_is_flat_at_rest_swings_down(model):
    """Springs across its border would have no length at rest."""
    fabric = weft.Material.preset("cotton")
    settings = weft.Settings(model=model)
    scene = weft.Simulation([weft.Cloth(*cushion(5, 0.3), fabric)], settings=settings)
    scene.set_pins(0, [0])
    reports = [scene.advance(FRAME) for _ in range(10)]
    assert all(report.converged for report in reports)
    assert sum(report.steps for report in reports) < 60
    assert scene.positions()[:, 2].min() < -0.2


@pytest.mark.parametrize("model", [model for model in MODELS if model != "particles_membrane"])
def test_a_cuff_draws_the_cloth_together(model):
    positions, _ = grid()
    scale = np.ones((SIDE * SIDE, 2))
    cuff = positions[:, 0] > 0.8
    scale[cuff, 1] = 0.8
    still = weft.Settings(
        model=model, gravity=(0.0, 0.0, 0.0), air_density=0.0, integrator="implicit_euler"
    )
    scene = weft.Simulation([cloth(rest_scale=scale)], settings=still)
    # Drawn together after one frame; later the compressed rows beside the cuff buckle.
    for _ in range(2):
        scene.advance(FRAME)
    moved = scene.positions()
    width = np.ptp(moved[-SIDE:, 1])
    assert 0.7 < width < 0.95, "the edge in the cuff, of 1 m"
    assert np.ptp(moved[:SIDE, 1]) > 0.97, "the other edge"
