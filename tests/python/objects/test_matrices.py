# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sparse matrices for SciPy, against closed forms and energies."""

import numpy as np
import pytest
import weft
from small_cloths import FRAME, SIDE, cloth, grid, raised, simulation

scipy_sparse = pytest.importorskip("scipy.sparse")

FABRIC = {"density": 0.2, "stretch_warp": 800.0, "stretch_weft": 500.0, "shear": 60.0}
DAMPING = {"stretch_damping": 2e-3, "shear_damping": 4e-3, "bend_damping": 5e-3}


def fabric(**changed: float) -> weft.Material:
    return weft.Material(**{**FABRIC, **DAMPING, "poisson": 0.0, **changed})


def sheet(
    material: weft.Material, displacement: np.ndarray | float = 0.0, **settings: object
) -> weft.Simulation:
    """The square with its warp along x, in a vacuum without gravity."""
    rest, quads = grid()
    piece = weft.Cloth(rest + displacement, quads, material, rest_positions=rest, uv=rest[:, :2])
    settings = weft.Settings(gravity=(0.0, 0.0, 0.0), air_density=0.0, **settings)
    return weft.Simulation([piece], settings=settings)


def arrays(scene: weft.Simulation, h: float | None = None) -> dict:
    """Matrices as SciPy's."""
    found = scene.matrices() if h is None else scene.matrices(h)
    names = ("stiffness", "damping", "system")
    return {**found, **{name: scipy_sparse.csr_array(found[name]) for name in names}}


def energy_ratio(u: np.ndarray, model: str) -> float:
    """½uᵀKu over the energy at the displacement u."""
    material = fabric(poisson=0.3, bend_warp=1e-4, bend_weft=5e-5)
    matrix = arrays(sheet(material, model=model))["stiffness"]
    found = sheet(material, u, model=model).energy()["total"]
    return 0.5 * u.ravel() @ (matrix @ u.ravel()) / found


def test_even_strains_have_the_energy_of_the_moduli_and_their_damping():
    now = arrays(sheet(fabric()))
    rest, _ = grid()
    strains = [((0, 0), 800.0, 2e-3), ((1, 1), 500.0, 2e-3), ((0, 1), 60.0, 4e-3)]
    for (axis, along), modulus, time in strains:
        u = np.zeros_like(rest)
        u[:, axis] = rest[:, along]
        u = u.ravel()
        assert u @ (now["stiffness"] @ u) == pytest.approx(modulus, rel=1e-5)
        assert u @ (now["damping"] @ u) == pytest.approx(time * modulus, rel=1e-4)


def noise(axes: slice) -> np.ndarray:
    """Small displacements of all vertices along some axes, in m."""
    rest, _ = grid()
    field = np.zeros_like(rest)
    field[:, axes] = 1e-6 * np.random.default_rng(1).standard_normal(field[:, axes].shape)
    return field


@pytest.mark.parametrize("model", ["fem", "particles", "baraff_witkin", "mass_spring"])
def test_stiffness_is_the_second_derivative_of_the_energy(model):
    assert energy_ratio(noise(slice(2)), model) == pytest.approx(1.0, rel=1e-4)
    if model != "mass_spring":
        assert energy_ratio(noise(slice(2, 3)), model) == pytest.approx(1.0, rel=1e-4)


def test_bending_of_the_default_model_is_that_of_a_plate():
    rest, _ = grid()
    bent, twisted = np.zeros_like(rest), np.zeros_like(rest)
    bent[:, 2], twisted[:, 2] = 1e-6 * rest[:, 0] ** 2, 1e-6 * rest[:, 0] * rest[:, 1]
    for field in (bent, twisted):
        assert energy_ratio(field, "fem") == pytest.approx(1.0, rel=2e-3)


def test_couplings_of_bending_end_where_those_of_a_larger_sheet_do():
    """A sheet of 18 vertices a side, in which the columns of far vertices are found at once."""
    count = 18
    rest = np.array([(x, y, 0.0) for y in range(count) for x in range(count)]) / 20.0
    corner = np.array([x + count * y for y in range(count - 1) for x in range(count - 1)])
    quads = corner[:, None] + np.array([0, 1, count + 1, count])
    material = fabric(bend_warp=1e-4, bend_weft=5e-5)
    settings = weft.Settings(gravity=(0.0, 0.0, 0.0), air_density=0.0)
    field = np.zeros_like(rest)
    field[:, 2] = 1e-6 * np.random.default_rng(2).standard_normal(len(rest))
    still = weft.Simulation([weft.Cloth(rest, quads, material)], settings=settings)
    moved = weft.Cloth(rest + field, quads, material, rest_positions=rest)
    energy = weft.Simulation([moved], settings=settings).energy()["total"]
    stiffness = arrays(still)["stiffness"]
    assert 0.5 * field.ravel() @ (stiffness @ field.ravel()) == pytest.approx(energy, rel=1e-4)


def test_matrices_are_symmetric_and_resist_no_translation():
    now = arrays(sheet(fabric()))
    size = 3 * SIDE * SIDE
    translation = np.tile([1.0, -2.0, 3.0], SIDE * SIDE)
    for name in ("stiffness", "damping"):
        matrix = now[name]
        assert matrix.shape == (size, size)
        assert abs(matrix - matrix.T).max() == 0.0
        assert abs(matrix @ translation).max() < 1e-11 * abs(matrix).max()


def test_the_system_is_that_of_implicit_euler():
    scene = sheet(fabric())
    now = arrays(scene, h=0.01)
    inertia = scipy_sparse.diags_array(np.repeat(now["masses"], 3) / 0.01**2)
    wanted = inertia + now["damping"] / 0.01 + now["stiffness"]
    assert abs(now["system"] - wanted).max() < 1e-12 * abs(wanted).max()
    assert now["masses"].sum() == pytest.approx(0.2)
    default = arrays(scene)["system"] - arrays(scene, h=weft.Settings().time_step)["system"]
    assert abs(default).max() == 0.0


def test_a_linear_step_is_one_solve_with_the_system():
    """Two vertices pushed in the plane by so little that a step of implicit Euler is linear."""
    linalg = pytest.importorskip("scipy.sparse.linalg")
    scene = sheet(fabric(), integrator="implicit_euler", tolerance=1e-9)
    rest, _ = grid()
    forces = np.zeros_like(rest)
    forces[9], forces[20] = (1e-4, 0.0, 0.0), (0.0, -1e-4, 0.0)
    system = arrays(scene, h=0.01)["system"]
    wanted = linalg.spsolve(system.tocsc(), forces.ravel())
    scene.set_vertex_forces(0, forces)
    scene.step(0.01)
    moved = (scene.positions() - rest).ravel()
    assert abs(moved - wanted).max() < 1e-3 * abs(wanted).max()


def test_soft_pins_and_several_cloths_have_their_rows():
    upper, quads = grid()
    pieces = [cloth(), weft.Cloth(raised(upper, 0.5), quads, weft.Material.preset("denim"))]
    scene = weft.Simulation(pieces)
    before = arrays(scene)
    scene.set_pins(1, [3], stiffness=np.array([40.0]))
    added = (arrays(scene)["stiffness"] - before["stiffness"]).toarray()
    first = 3 * (SIDE * SIDE + 3)
    wanted = np.zeros_like(added)
    wanted[range(first, first + 3), range(first, first + 3)] = 40.0
    assert abs(added - wanted).max() < 1e-9
    assert np.array_equal(before["rest_positions"], np.vstack([grid()[0], raised(upper, 0.5)]))


def test_asking_changes_no_bit_of_the_motion():
    asked, other = simulation(), simulation()
    for scene in (asked, other):
        scene.set_pins(0, [0, SIDE - 1])
    for _ in range(3):
        asked.matrices(0.003)
        asked.advance(FRAME)
        other.advance(FRAME)
    assert np.array_equal(asked.positions(), other.positions())
    assert np.array_equal(asked.matrices()["positions"], other.positions())


@pytest.mark.parametrize("h", [0.0, -0.1, float("nan"), float("inf")])
def test_other_lengths_are_refused(h):
    with pytest.raises(ValueError, match=r"h: .* more than 0"):
        simulation().matrices(h)
