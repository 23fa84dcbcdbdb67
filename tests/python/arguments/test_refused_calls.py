# SPDX-License-Identifier: MIT OR Apache-2.0
"""Malformed calls of a simulation: refused by name and index, and nothing changes."""

import numpy as np
import pytest
import weft
from refusals import INFINITY, NAN, cases, refuse, with_value
from small_cloths import FRAME, SIDE, cloth, floor, simulation

COUNT = SIDE * SIDE
FLOOR, TRIANGLES = floor(-1.0)

CALLS = {
    "no duration": (lambda s: s.advance(0.0), (ValueError, "duration: 0; wanted")),
    "a negative duration": (lambda s: s.advance(-FRAME), (ValueError, "duration: -")),
    "a duration that is NaN": (lambda s: s.advance(NAN), (ValueError, "duration: NaN")),
    "an infinite duration": (lambda s: s.advance(INFINITY), (ValueError, "duration: inf")),
    "a remainder of rounding": (lambda s: s.advance(3e-17), (ValueError, "duration: 3e-17 s; wa")),
    "a step of nothing": (lambda s: s.step(1e-12), (ValueError, "h: 1e-12 s; wanted 1e-9 s or")),
    "a duration in words": (lambda s: s.advance("1"), (TypeError, "duration: str")),
    "no step": (lambda s: s.step(0.0), (ValueError, "h: 0; wanted")),
    "a cloth that is none": (
        lambda s: s.positions(1),
        (ValueError, "cloth: 1; wanted an index below the 1"),
    ),
    "a negative cloth": (lambda s: s.velocities(-1), (ValueError, "cloth: -1; wanted an integer")),
    "half a cloth": (lambda s: s.positions(0.5), (TypeError, "cloth: float; wanted an integer")),
    "pins on another cloth": (lambda s: s.set_pins(3, [0]), (ValueError, "cloth: 3")),
    "a pin that is no vertex": (
        lambda s: s.set_pins(0, [0, COUNT]),
        (ValueError, f"vertices: entry 1: vertex {COUNT}; wanted an index below the {COUNT}"),
    ),
    "a negative pin": (
        lambda s: s.set_pins(0, np.array([4, 5, -2])),
        (ValueError, "vertices: entry 2: -2; wanted an integer, 0 or more"),
    ),
    "pins as flags": (
        lambda s: s.set_pins(0, np.ones(COUNT, bool)),
        (TypeError, "vertices: dtype bool; wanted integers"),
    ),
    "pins as floats": (lambda s: s.set_pins(0, [0, 1.0]), (TypeError, "vertices: entry 1: float")),
    "a pin that is no list": (lambda s: s.set_pins(0, 5), (TypeError, "vertices: int")),
    "pins in two dimensions": (
        lambda s: s.set_pins(0, np.zeros((2, 2), int)),
        (ValueError, r"vertices: shape \(2, 2\); wanted .*\(k,\)"),
    ),
    "fewer targets than pins": (
        lambda s: s.set_pins(0, [0, 1], np.zeros((1, 3))),
        (ValueError, "targets: 1 rows; wanted 2"),
    ),
    "a target that is NaN": (
        lambda s: s.set_pins(0, [0, 1], with_value(np.zeros((2, 3)), (1, 0), NAN)),
        (ValueError, "targets: vertex 1: .*NaN"),
    ),
    "releasing what is no vertex": (
        lambda s: s.release_pins(0, [COUNT]),
        (ValueError, "vertices: entry 0"),
    ),
    "a collider that is none": (
        lambda s: s.set_collider(1, FLOOR),
        (ValueError, "collider: 1; wanted an index below the 1"),
    ),
    "a collider of other vertices": (
        lambda s: s.set_collider(0, FLOOR[:3]),
        (ValueError, "positions: 3 rows; wanted 4"),
    ),
    "a collider that is NaN": (
        lambda s: s.set_collider(0, with_value(FLOOR, (3, 1), NAN)),
        (ValueError, "positions: vertex 3: .*NaN"),
    ),
    "a material that is a dict": (
        lambda s: s.set_material(0, {}),
        (TypeError, "material: dict; wanted weft.Material"),
    ),
    "gravity in two dimensions": (
        lambda s: s.set_gravity((0.0, -9.81)),
        (ValueError, r"^g: shape \(2,\)"),
    ),
    "gravity that is NaN": (
        lambda s: s.set_gravity((NAN, 0.0, 0.0)),
        (ValueError, "^g: component 0: NaN"),
    ),
    "wind in words": (lambda s: s.set_wind("north"), (TypeError, "^w: str")),
    "forces on some vertices": (
        lambda s: s.set_vertex_forces(0, np.zeros((5, 3))),
        (ValueError, f"forces: 5 rows; wanted {COUNT}"),
    ),
    "an infinite force": (
        lambda s: s.set_vertex_forces(0, with_value(np.zeros((COUNT, 3)), (6, 0), INFINITY)),
        (ValueError, "forces: vertex 6: .*inf"),
    ),
    "a pressure that is NaN": (
        lambda s: s.set_pressure(0, NAN),
        (ValueError, "^pressure: NaN; wanted a finite number"),
    ),
    "a negative stiffness of a volume": (
        lambda s: s.set_pressure(0, 0.0, stiffness=-1.0, volume=1.0),
        (ValueError, "^stiffness: -1; wanted a finite number, 0 or more"),
    ),
    "a volume that a flat sheet does not have": (
        lambda s: s.set_pressure(0, 0.0, stiffness=1.0),
        (ValueError, "^volume: .*wanted a cloth that encloses more than 0"),
    ),
    "a density that is infinite": (
        lambda s: s.set_pressure(0, 0.0, fluid_density=-INFINITY),
        (ValueError, "^fluid_density: -inf; wanted a finite number"),
    ),
    "weights of a pressure on some vertices": (
        lambda s: s.set_pressure(0, 1.0, weights=np.ones(5)),
        (ValueError, f"weights: 5 rows; wanted {COUNT}"),
    ),
    "a negative weight of a pressure": (
        lambda s: s.set_pressure(0, 1.0, weights=with_value(np.ones(COUNT), 6, -1.0)),
        (ValueError, "weights: vertex 6: -1"),
    ),
    "guides without directions": (
        lambda s: s.set_guided_velocity(0, [0], np.zeros((0, 3)), (0.0, 0.0, 0.0)),
        (ValueError, "directions: 0 directions; wanted one, two or three"),
    ),
    "guides along one direction twice": (
        lambda s: s.set_guided_velocity(0, [0], [(1.0, 0, 0), (2.0, 0, 0)], (0.0, 0.0, 0.0)),
        (ValueError, "directions: direction 1: .*independent"),
    ),
    "guides along a direction that is NaN": (
        lambda s: s.set_guided_velocity(0, [0], [(1.0, 0, 0), (0, NAN, 0)], (0.0, 0.0, 0.0)),
        (ValueError, r"directions: direction 1: \(0, NaN, 0\); wanted a finite direction"),
    ),
    "guides along an infinite direction": (
        lambda s: s.set_guided_velocity(0, [0], [(INFINITY, 0, 0)], (0.0, 0.0, 0.0)),
        (ValueError, r"directions: direction 0: \(inf, 0, 0\)"),
    ),
    "a guided velocity that is NaN": (
        lambda s: s.set_guided_velocity(0, [0], [(1.0, 0, 0)], (NAN, 0.0, 0.0)),
        (ValueError, "velocity: component 0: NaN"),
    ),
    "a checkpoint that is a text": (
        lambda s: s.restore("state"),
        (TypeError, "bytes: str; wanted bytes"),
    ),
}


@cases(CALLS)
def test_a_call_is_refused_and_changes_nothing_for(call, error, match):
    scene = weft.Simulation([cloth()], [weft.Collider(FLOOR, TRIANGLES)])
    scene.set_pins(0, [0, SIDE - 1])
    scene.advance(FRAME)
    before = scene.state()
    refuse(lambda: call(scene), error, match)
    assert scene.state() == before


def test_nothing_in_a_simulation_can_be_pickled_by_accident():
    with pytest.raises(TypeError, match="Simulation"):
        simulation().__reduce_ex__(4)
