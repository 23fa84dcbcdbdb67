# SPDX-License-Identifier: MIT OR Apache-2.0
"""Malformed objects: refused by the name of the argument and the index of the element."""

from collections.abc import Callable

import numpy as np
import pytest
import weft
from refusals import INFINITY, NAN, cases, refuse, with_value
from small_cloths import cloth, floor, grid

COTTON = weft.Material.preset("cotton")
POSITIONS, QUADS = grid()
COUNT = len(POSITIONS)


def cloth_of(positions: object = POSITIONS, faces: object = QUADS, **options: object) -> Callable:
    return lambda: weft.Cloth(positions, faces, COTTON, **options)


def collider_of(positions: object, triangles: object, **options: object) -> Callable:
    return lambda: weft.Collider(positions, triangles, **options)


BAD_CLOTHS = {
    "a coordinate that is NaN": (
        cloth_of(with_value(POSITIONS, (5, 1), NAN)),
        (ValueError, r"positions: vertex 5: .*NaN.*wanted finite"),
    ),
    "an infinite coordinate at rest": (
        cloth_of(rest_positions=with_value(POSITIONS, (7, 2), INFINITY)),
        (ValueError, r"rest_positions: vertex 7: .*inf"),
    ),
    "another number of vertices at rest": (
        cloth_of(rest_positions=POSITIONS[:-1]),
        (ValueError, rf"rest_positions: {COUNT - 1} rows; wanted {COUNT}"),
    ),
    "no vertices": (
        cloth_of(np.zeros((0, 3)), np.zeros((0, 3), int)),
        (ValueError, "positions: no vertices"),
    ),
    "no faces": (cloth_of(faces=np.zeros((0, 3), int)), (ValueError, "faces: no faces")),
    "an empty list of faces": (cloth_of(faces=[]), (ValueError, "faces: no faces")),
    "positions in two dimensions": (
        cloth_of(POSITIONS[:, :2]),
        (ValueError, rf"positions: shape \({COUNT}, 2\); wanted .*\(n, 3\)"),
    ),
    "flat positions": (cloth_of(POSITIONS.ravel()), (ValueError, r"positions: shape \(192,\)")),
    "positions of integers": (
        cloth_of(POSITIONS.astype(np.int64)),
        (TypeError, "positions: dtype int64; wanted float64 or float32"),
    ),
    "positions of half precision": (
        cloth_of(POSITIONS.astype(np.float16)),
        (TypeError, "positions: dtype float16"),
    ),
    "complex positions": (
        cloth_of(POSITIONS.astype(complex)),
        (TypeError, "positions: dtype complex128"),
    ),
    "positions of objects": (
        cloth_of(POSITIONS.astype(object)),
        (TypeError, "positions: dtype object"),
    ),
    "positions of flags": (cloth_of(POSITIONS > 0.5), (TypeError, "positions: dtype bool")),
    "positions that are a text": (cloth_of("sheet"), (TypeError, "positions: str")),
    "positions that are missing": (cloth_of(None), (TypeError, "positions: NoneType")),
    "a ragged list of positions": (
        cloth_of([[0.0, 0.0, 0.0], [1.0, 0.0]]),
        (TypeError, "positions: list that is no regular array"),
    ),
    "an index that is no vertex": (
        cloth_of(faces=with_value(QUADS, (3, 2), COUNT)),
        (ValueError, rf"faces: face 3: vertex {COUNT}; wanted an index below the {COUNT}"),
    ),
    "a negative index in an array": (
        cloth_of(faces=with_value(QUADS, (4, 1), -1)),
        (ValueError, "faces: face 4: corner 1: -1; wanted an integer, 0 or more"),
    ),
    "a negative index in a list": (
        cloth_of(faces=[[0, 1, 2], [0, 2, -3]]),
        (ValueError, "faces: face 1: corner 2: -3"),
    ),
    "an index of 70 bits": (
        cloth_of(faces=[[0, 1, 2**70]]),
        (ValueError, f"faces: face 0: corner 2: {2**70}; wanted an integer"),
    ),
    "an unsigned index of 64 bits": (
        cloth_of(faces=with_value(QUADS.astype(np.uint64), (2, 0), 2**64 - 1)),
        (ValueError, f"faces: face 2: vertex {2**64 - 1}"),
    ),
    "faces of floats": (
        cloth_of(faces=QUADS.astype(float)),
        (TypeError, "faces: dtype float64; wanted integers"),
    ),
    "faces of flags": (cloth_of(faces=QUADS > 3), (TypeError, "faces: dtype bool")),
    "faces of objects": (cloth_of(faces=QUADS.astype(object)), (TypeError, "faces: dtype object")),
    "a float in a list of faces": (
        cloth_of(faces=[[0, 1, 2.0]]),
        (TypeError, "faces: face 0: corner 2: float; wanted an integer"),
    ),
    "a flag in a list of faces": (
        cloth_of(faces=[[0, True, 2]]),
        (TypeError, "faces: face 0: corner 1: bool"),
    ),
    "a flat list of faces": (
        cloth_of(faces=[0, 1, 2]),
        (TypeError, "faces: face 0: int; wanted a sequence of vertex indices"),
    ),
    "faces that are a number": (cloth_of(faces=3), (TypeError, "faces: int; wanted integers")),
    "faces of two corners": (
        cloth_of(faces=QUADS[:, :2]),
        (ValueError, r"faces: shape \(49, 2\); wanted .*\(m, 3\) or \(m, 4\)"),
    ),
    "a face of two corners in a list": (
        cloth_of(faces=[[0, 1, 2], [3, 4]]),
        (ValueError, "faces: face 1: 2 corners; wanted three"),
    ),
    "a face with a vertex twice": (
        cloth_of(faces=with_value(QUADS, (6, 1), QUADS[6, 0])),
        (ValueError, f"faces: face 6: degenerate: vertex {QUADS[6, 0]} twice"),
    ),
    "a face without area": (
        cloth_of(np.array([(0.0, 0, 0), (1.0, 0, 0), (2.0, 0, 0)]), [[0, 1, 2]]),
        (ValueError, "faces: face 0: degenerate: no area"),
    ),
    "an edge of three faces": (
        cloth_of(
            np.array([(0.0, 0, 0), (1.0, 0, 0), (0, 1.0, 0), (0, -1.0, 0), (0, 0, 1.0)]),
            [[0, 1, 2], [1, 0, 3], [0, 1, 4]],
        ),
        (ValueError, "faces: face 2: a third face at the edge between vertices 0 and 1"),
    ),
    "a vertex in no face": (
        cloth_of(np.vstack([POSITIONS, (5.0, 5.0, 5.0)])),
        (ValueError, f"positions: vertex {COUNT}: in no face"),
    ),
    "a material that is a dict": (
        lambda: weft.Cloth(POSITIONS, QUADS, COTTON.to_dict()),
        (TypeError, "material: dict; wanted weft.Material"),
    ),
    "a rest shape by position": (
        lambda: weft.Cloth(POSITIONS, QUADS, COTTON, POSITIONS),
        (TypeError, "positional arguments"),
    ),
    "as many uvs as nothing": (
        cloth_of(uv=POSITIONS[:5, :2]),
        (ValueError, r"uv: 5 rows; wanted 64, one per vertex, or 196, one per face corner"),
    ),
    "uvs in three dimensions": (cloth_of(uv=POSITIONS), (ValueError, r"uv: shape \(64, 3\)")),
    "a uv that is NaN": (
        cloth_of(uv=with_value(POSITIONS[:, :2], (9, 0), NAN)),
        (ValueError, r"uv: vertex 9: \(NaN"),
    ),
    "a mass of zero": (
        cloth_of(vertex_mass_scale=with_value(np.ones(COUNT), 11, 0.0)),
        (ValueError, "vertex_mass_scale: vertex 11: 0; wanted .* more than 0"),
    ),
    "a mass that is NaN": (
        cloth_of(vertex_mass_scale=with_value(np.ones(COUNT), 2, NAN)),
        (ValueError, "vertex_mass_scale: vertex 2: NaN"),
    ),
    "masses for some vertices": (
        cloth_of(vertex_mass_scale=np.ones(3)),
        (ValueError, f"vertex_mass_scale: 3 factors; wanted {COUNT}"),
    ),
    "a rest scale of zero": (
        cloth_of(rest_scale=with_value(np.ones((COUNT, 2)), (7, 1), 0.0)),
        (ValueError, "rest_scale: vertex 7: 0; wanted .* more than 0"),
    ),
    "one rest scale for both yarns": (
        cloth_of(rest_scale=np.ones(COUNT)),
        (ValueError, r"rest_scale: shape \(64,\)"),
    ),
    "rest scales for some vertices": (
        cloth_of(rest_scale=np.ones((3, 2))),
        (ValueError, f"rest_scale: 3 factors; wanted {COUNT}"),
    ),
    "a stiffness scale that is NaN": (
        cloth_of(stiffness_scale=with_value(np.ones(COUNT), 5, NAN)),
        (ValueError, "stiffness_scale: vertex 5: NaN"),
    ),
    "sewing of a vertex that is none": (
        cloth_of(sewing=[(0, 20), (0, COUNT)]),
        (ValueError, f"sewing: pair 1: vertex {COUNT}; wanted indices below"),
    ),
    "sewing of a vertex to itself": (
        cloth_of(sewing=[(4, 4)]),
        (ValueError, "sewing: pair 0: vertex 4 twice"),
    ),
    "sewing of an edge": (
        cloth_of(sewing=[(0, 1)]),
        (ValueError, "sewing: pair 0: vertices 0 and 1 of an edge"),
    ),
    "sewing of a pair twice": (
        cloth_of(sewing=[(0, 20), (20, 0)]),
        (ValueError, "sewing: pair 1: vertices 20 and 0 again"),
    ),
    "sewing of three vertices": (
        cloth_of(sewing=[(0, 20, 30)]),
        (ValueError, "sewing: pair 0: 3 vertices"),
    ),
    "sewing by numbers that are no indices": (
        cloth_of(sewing=np.array([(0.0, 20.0)])),
        (TypeError, "sewing: dtype float64"),
    ),
    "sewing in no time": (
        cloth_of(sewing=[(0, 20)], sewing_time=0.0),
        (ValueError, "sewing_time: 0"),
    ),
    "sewing without force": (
        cloth_of(sewing=[(0, 20)], sewing_force=-1.0),
        (ValueError, "sewing_force: -1"),
    ),
    "a bend scale of zero": (
        cloth_of(bend_scale=with_value(np.ones(COUNT), 3, 0.0)),
        (ValueError, "bend_scale: vertex 3: 0"),
    ),
    "stretch scales for some vertices": (
        cloth_of(stretch_scale=np.ones(3)),
        (ValueError, f"stretch_scale: 3 factors; wanted {COUNT}"),
    ),
    "a free vertex that is none": (
        cloth_of(free_of_cloth=[0, COUNT]),
        (ValueError, f"free_of_cloth: entry 1: vertex {COUNT}"),
    ),
}

FLOOR, TRIANGLES = floor(-1.0)
BAD_COLLIDERS = {
    "a coordinate that is NaN": (
        collider_of(with_value(FLOOR, (2, 0), NAN), TRIANGLES),
        (ValueError, "positions: vertex 2: .*NaN"),
    ),
    "no vertices": (
        collider_of(np.zeros((0, 3)), TRIANGLES),
        (ValueError, "positions: no vertices"),
    ),
    "no triangles": (
        collider_of(FLOOR, np.zeros((0, 3), int)),
        (ValueError, "triangles: no triangles"),
    ),
    "an index that is no vertex": (
        collider_of(FLOOR, [(0, 1, 2), (0, 2, 4)]),
        (ValueError, "triangles: triangle 1: vertex 4; wanted an index below the 4"),
    ),
    "a negative index": (
        collider_of(FLOOR, with_value(TRIANGLES, (1, 2), -1)),
        (ValueError, "triangles: triangle 1: corner 2: -1"),
    ),
    "quads": (
        collider_of(FLOOR, np.array([(0, 1, 2, 3)])),
        (ValueError, r"triangles: shape \(1, 4\); wanted .*\(m, 3\)"),
    ),
    "a quad in a list": (
        collider_of(FLOOR, [(0, 1, 2), (0, 1, 2, 3)]),
        (ValueError, "triangles: triangle 1: 4 corners; wanted three corners"),
    ),
    "triangles of floats": (
        collider_of(FLOOR, TRIANGLES.astype(np.float32)),
        (TypeError, "triangles: dtype float32"),
    ),
    "negative friction": (
        collider_of(FLOOR, TRIANGLES, friction=-0.1),
        (ValueError, "friction: -0.1; wanted .*0 or more"),
    ),
    "a thickness that is NaN": (
        collider_of(FLOOR, TRIANGLES, thickness=NAN),
        (ValueError, "thickness: NaN"),
    ),
    "friction in words": (
        collider_of(FLOOR, TRIANGLES, friction="high"),
        (TypeError, "friction: str; wanted a number"),
    ),
}

BAD_MATERIALS = {
    "a density of zero": (
        lambda: weft.Material(density=0.0),
        (ValueError, "density: 0; wanted more than 0"),
    ),
    "negative stiffness": (
        lambda: weft.Material(stretch_warp=-5.0),
        (ValueError, "stretch_warp: -5; wanted 0 or more"),
    ),
    "negative twist": (lambda: weft.Material(bend_twist=-1e-6), (ValueError, "bend_twist")),
    "an indefinite elastic matrix": (
        lambda: weft.Material(stretch_warp=100.0, stretch_weft=1000.0, poisson=0.5),
        (ValueError, "poisson: 0.5; wanted .*positive definite"),
    ),
    "a poisson ratio of one": (lambda: weft.Material(poisson=1.0), (ValueError, "poisson: 1;")),
    "a field that does not exist": (
        lambda: weft.Material(densty=0.2),
        (TypeError, "Material: no field densty; wanted one of density, .*thickness"),
    ),
    "a field that does not exist in a dict": (
        lambda: weft.Material.from_dict({"colour": 1.0}),
        (TypeError, "no field colour"),
    ),
    "a field that does not exist in a replacement": (
        lambda: COTTON.replace(colour=1.0),
        (TypeError, "no field colour"),
    ),
    "a field whose name is a number": (
        lambda: weft.Material.from_dict({3: 1.0}),
        (TypeError, "name of a field: int; wanted str"),
    ),
    "fields that are a list": (
        lambda: weft.Material.from_dict([("density", 0.2)]),
        (TypeError, "d: list; wanted dict"),
    ),
    "a density in words": (
        lambda: weft.Material(density="heavy"),
        (TypeError, "density: str; wanted a number"),
    ),
    "no density": (lambda: weft.Material(density=None), (TypeError, "density: NoneType")),
    "a flag for a density": (lambda: weft.Material(density=True), (TypeError, "density: bool")),
    "a density beyond all floats": (
        lambda: weft.Material(density=10**400),
        (ValueError, "density: an int of many digits"),
    ),
    "fields by position": (lambda: weft.Material(0.2), (TypeError, "positional argument")),
    "a fabric that does not exist": (
        lambda: weft.Material.preset("brocade"),
        (ValueError, '"brocade" does not exist here; there is cotton, denim'),
    ),
    "a fabric by number": (lambda: weft.Material.preset(1), (TypeError, "name: int; wanted str")),
    "a replacement out of range": (
        lambda: COTTON.replace(friction=-1.0),
        (ValueError, "friction: -1"),
    ),
    "a curve that is a number": (
        lambda: weft.Material(shear_curve=3.0),
        (TypeError, "shear_curve: float; wanted a sequence"),
    ),
    "a curve of one point": (
        lambda: weft.Material(shear_curve=[(0, 0)]),
        (ValueError, "shear_curve.load: 1 points; wanted 2 to 256"),
    ),
    "a point of three numbers": (
        lambda: weft.Material(shear_curve=[(0, 0), (0.1, 1, 2)]),
        (ValueError, "shear_curve: point 1: tuple; wanted two numbers"),
    ),
    "a point that is a number": (
        lambda: weft.Material(shear_curve=[(0, 0), 0.1]),
        (TypeError, "shear_curve: point 1: float; wanted two numbers"),
    ),
    "a stress in words": (
        lambda: weft.Material(shear_curve=[(0, 0), (0.1, "much")]),
        (TypeError, "shear_curve: str; wanted a number"),
    ),
    "a stress that is NaN": (
        lambda: weft.Material(shear_curve=[(0, 0), (0.1, NAN)]),
        (ValueError, "shear_curve.load: point 1: .*wanted two finite numbers"),
    ),
    "a branch that does not exist": (
        lambda: weft.Material(shear_curve={"up": []}),
        (ValueError, "shear_curve: key up; wanted the keys load, unload, virgin, cycles"),
    ),
    "a branch that is missing": (
        lambda: weft.Material(shear_curve={"load": [(0, 0), (0.1, 1)]}),
        (ValueError, "shear_curve: no unload"),
    ),
    "a quality that is a number": (
        lambda: weft.Material(quality=5.0),
        (TypeError, "quality: float; wanted dict"),
    ),
    "a quality without a band": (
        lambda: weft.Material(quality={"q": 5.0}),
        (ValueError, "quality: no low"),
    ),
    "a quality below one": (
        lambda: weft.Material(quality={"q": 0.5, "low": 0.1, "high": 10.0}),
        (ValueError, "quality.q: 0.5; wanted a number, 1 or more"),
    ),
    "a band that is too wide": (
        lambda: weft.Material(quality={"q": 5.0, "low": 0.1, "high": 1000.0}),
        (ValueError, "quality.high: 1000; wanted more than low, up to 1000 times as much"),
    ),
}
for name in COTTON.to_dict():
    for value, text in ((NAN, "NaN"), (INFINITY, "inf")):
        BAD_MATERIALS[f"{name} is {text}"] = (
            lambda name=name, value=value: weft.Material(**{name: value}),
            (ValueError, f"{name}: {text}; wanted a finite number"),
        )


def settings_of(**fields: object) -> Callable:
    return lambda: weft.Settings(**fields)


BAD_SETTINGS = {
    "an integrator to come": (
        settings_of(integrator="leapfrog"),
        (ValueError, 'integrator: "leapfrog" does not exist here; there is bdf2, .*sbdf2.*verlet'),
    ),
    "a solver to come": (
        settings_of(solver="guess"),
        (ValueError, 'solver: "guess" does not exist here; there is newton, fixed_point, linear'),
    ),
    "a model to come": (
        settings_of(model="masses"),
        (ValueError, 'model: "masses" does not exist here; there is fem, .*mass_spring'),
    ),
    "an integrator by number": (settings_of(integrator=2), (TypeError, "integrator: int")),
    "self collision in words": (
        settings_of(self_collision="yes"),
        (TypeError, "self_collision: str; wanted True or False"),
    ),
    "no time step": (settings_of(time_step=0.0), (ValueError, "time_step: 0; wanted .* or more")),
    "a time step that time would not notice": (
        settings_of(time_step=1e-18),
        (ValueError, "time_step: 0.0+1; wanted a finite number, 1e-9 or more"),
    ),
    "a negative time step": (settings_of(time_step=-0.1), (ValueError, "time_step: -0.1")),
    "an infinite time step": (settings_of(time_step=INFINITY), (ValueError, "time_step: inf")),
    "gravity in two dimensions": (
        settings_of(gravity=(0.0, -9.81)),
        (ValueError, r"gravity: shape \(2,\); wanted .*\(3,\)"),
    ),
    "gravity as a number": (settings_of(gravity=-9.81), (ValueError, r"gravity: shape \(\)")),
    "gravity in words": (settings_of(gravity=("0", "0", "9")), (TypeError, "gravity: tuple of")),
    "gravity that is NaN": (
        settings_of(gravity=(0.0, NAN, 0.0)),
        (ValueError, "gravity: component 1: NaN"),
    ),
    "infinite wind": (
        settings_of(wind=(0.0, 0.0, -INFINITY)),
        (ValueError, "wind: component 2: -inf"),
    ),
    "negative air": (settings_of(air_density=-1.2), (ValueError, "air_density: -1.2")),
    "no tolerance": (settings_of(tolerance=0.0), (ValueError, "tolerance: 0")),
    "no iterations": (settings_of(max_iterations=0), (ValueError, "max_iterations: 0; wanted 1")),
    "iterations in parts": (settings_of(max_iterations=1.5), (TypeError, "max_iterations: float")),
    "a bound above another": (settings_of(min_iterations=31), (ValueError, "31; wanted 0 to max")),
    "steps that do not grow": (settings_of(growth_factor=1.0), (ValueError, "growth_factor: 1")),
    "steps that vanish": (settings_of(shrink_factor=0.0), (ValueError, "shrink_factor: 0")),
    "a residual of all": (settings_of(linear_tolerance=1.0), (ValueError, "linear_tolerance: 1")),
    "negative threads": (settings_of(threads=-1), (ValueError, "threads: -1; wanted an integer")),
    "too many threads": (settings_of(threads=10**6), (ValueError, "threads: 1000000; wanted 0")),
    "a field that does not exist": (
        settings_of(timestep=0.1),
        (TypeError, "Settings: no field timestep; wanted one of integrator"),
    ),
    "fields by position": (lambda: weft.Settings("bdf2"), (TypeError, "positional argument")),
}

BAD_SIMULATIONS = {
    "no cloths": (lambda: weft.Simulation([]), (ValueError, "cloths: no cloths")),
    "a cloth that is no list": (
        lambda: weft.Simulation(cloth()),
        (TypeError, "cloths: Cloth; wanted a sequence of weft.Cloth"),
    ),
    "a cloth that is none": (
        lambda: weft.Simulation([cloth(), COTTON]),
        (TypeError, "cloths: entry 1: Material; wanted weft.Cloth"),
    ),
    "a collider that is a cloth": (
        lambda: weft.Simulation([cloth()], [cloth()]),
        (TypeError, "colliders: entry 0: Cloth; wanted weft.Collider"),
    ),
    "settings that are a dict": (
        lambda: weft.Simulation([cloth()], settings={"threads": 1}),
        (TypeError, "settings: dict; wanted weft.Settings"),
    ),
}


@cases(BAD_CLOTHS)
def test_a_cloth_is_refused_for(call, error, match):
    refuse(call, error, match)


@cases(BAD_COLLIDERS)
def test_a_collider_is_refused_for(call, error, match):
    refuse(call, error, match)


@cases(BAD_MATERIALS)
def test_a_material_is_refused_for(call, error, match):
    refuse(call, error, match)


@cases(BAD_SETTINGS)
def test_settings_are_refused_for(call, error, match):
    refuse(call, error, match)


@cases(BAD_SIMULATIONS)
def test_a_simulation_is_refused_for(call, error, match):
    refuse(call, error, match)


def test_what_numpy_said_is_kept_as_the_cause():
    with pytest.raises(TypeError, match="positions") as refused:
        weft.Cloth([[0.0, 0.0, 0.0], [1.0]], QUADS, COTTON)
    assert isinstance(refused.value.__cause__, ValueError)
