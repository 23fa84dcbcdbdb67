# SPDX-License-Identifier: MIT OR Apache-2.0
"""Whatever comes: it is refused as the contract says, or simulated to finite positions."""

import numpy as np
import weft
from hypothesis import given, settings
from hypothesis import strategies as st
from small_cloths import FRAME

COUNT = 6
SIZES = st.sampled_from(
    [0.0, 1e-300, 1e-9, 1e-3, 0.5, 1.0, 2.0, 1e3, 1e9, 1e150, 1e300, np.inf, np.nan]
)
NUMBERS = st.builds(np.copysign, SIZES, st.sampled_from([1.0, -1.0])).map(float)
USUAL = st.floats(-1.0, 1.0)
POINTS = st.lists(st.tuples(*[USUAL | NUMBERS] * 3), min_size=COUNT, max_size=COUNT)
GENTLE_POINTS = st.lists(st.tuples(*[USUAL] * 3), min_size=COUNT, max_size=COUNT)
FACES = st.lists(st.permutations(range(COUNT)).map(lambda order: order[:4]), min_size=1, max_size=4)
FAN = st.just([[0, i, i + 1] for i in range(1, COUNT - 1)])
FIELDS = st.dictionaries(st.sampled_from(tuple(weft.Material().to_dict())), NUMBERS, max_size=3)


def is_finite(scene: weft.Simulation) -> bool:
    return bool(np.isfinite(scene.positions()).all() and np.isfinite(scene.velocities()).all())


@settings(max_examples=300, deadline=None, derandomize=True)
@given(positions=POINTS | GENTLE_POINTS, faces=FACES | FAN, fields=FIELDS)
def test_any_cloth_is_refused_or_simulated(positions, faces, fields):
    try:
        scene = weft.Simulation([weft.Cloth(positions, faces, weft.Material(**fields))])
    except ValueError as refused:
        assert "; wanted " in str(refused)
        return
    try:
        scene.advance(FRAME)
    except weft.NotFiniteError as broken:
        assert "cloth 0: vertex" in str(broken)
    assert is_finite(scene)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    target=st.tuples(*[NUMBERS] * 3),
    force=st.tuples(*[NUMBERS] * 3),
    gravity=st.tuples(*[NUMBERS] * 3),
    collider=POINTS,
)
def test_any_command_is_refused_or_obeyed(target, force, gravity, collider):
    square = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 0.0), (0.0, 1.0, 0.0)])
    block = np.array([*square.tolist(), (0.5, 0.5, -1.0), (0.5, 0.6, -1.0)]) - (0.0, 0.0, 0.5)
    scene = weft.Simulation(
        [weft.Cloth(square, [range(4)], weft.Material())],
        [weft.Collider(block, [(0, 1, 4), (2, 3, 5)])],
    )
    commands = (
        lambda: scene.set_pins(0, [0], [target]),
        lambda: scene.set_vertex_forces(0, [force] * 4),
        lambda: scene.set_pressure(0, force[0], stiffness=force[1], volume=force[2]),
        lambda: scene.set_pressure(0, force[0], fluid_density=force[1]),
        lambda: scene.set_gravity(gravity),
        lambda: scene.set_collider(0, collider),
    )
    for command in commands:
        before = scene.state()
        try:
            command()
        except ValueError as refused:
            assert "; wanted " in str(refused)
            assert scene.state() == before
    try:
        scene.advance(FRAME)
    except weft.NotFiniteError as broken:
        assert "cloth 0: vertex" in str(broken)
    assert is_finite(scene)
