# SPDX-License-Identifier: MIT OR Apache-2.0
"""Springs between any two vertices, and where internal ones are."""

import numpy as np
import pytest
import weft
from small_cloths import FRAME, SIDE, cloth, grid


def random_springs(count=40):
    ends = np.random.default_rng(1).permutation(SIDE * SIDE)[: 2 * count]
    return ends.reshape(-1, 2)


def test_random_springs_draw_their_ends_together_until_they_are_taken_away():
    settings = weft.Settings(gravity=(0.0, 0.0, 0.0), air_density=0.0)
    scene, pairs = weft.Simulation([cloth()], settings=settings), random_springs(10)

    def apart():
        ends = scene.positions()[pairs]
        return np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).mean()

    start = apart()
    scene.set_springs(0, pairs, 5.0, spring_damping=0.1, spring_lengths=0.0)
    for _ in range(6):
        assert scene.advance(FRAME).converged
    drawn = apart()
    assert drawn < 0.9 * start, (start, drawn)
    strained = scene.energy()["stretch"]
    scene.set_springs(0, np.empty((0, 2), int), 1.0)
    assert scene.energy()["stretch"] < 0.5 * strained


def test_lengths_at_rest_are_those_that_are_given():
    points, quads = grid()
    pairs = [(0, SIDE - 1)]
    sheet = weft.Cloth(
        points, quads, weft.Material(), springs=pairs, spring_stiffness=1e4, spring_lengths=[0.5]
    )
    settings = weft.Settings(gravity=(0.0, 0.0, 0.0), air_density=0.0)
    scene = weft.Simulation([sheet], settings=settings)
    for _ in range(48):
        scene.advance(FRAME)
    ends = scene.positions()[[0, SIDE - 1]]
    assert np.linalg.norm(ends[1] - ends[0]) == pytest.approx(0.5, rel=0.02)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"springs": [(0, 1)]}, "spring_stiffness: None; wanted a stiffness"),
        ({"spring_stiffness": 1.0}, "spring_stiffness: no springs"),
        ({"springs": [(0, 9999)], "spring_stiffness": 1.0}, "springs: spring 0: vertex 9999"),
        ({"springs": [(0, -1)], "spring_stiffness": 1.0}, "springs: spring 0: corner 1: -1"),
        ({"springs": [(2, 2)], "spring_stiffness": 1.0}, "springs: spring 0: vertex 2 twice"),
        ({"springs": [(0, 1)], "spring_stiffness": [1.0, 2.0]}, "spring_stiffness: 2"),
        ({"springs": [(0, 1)], "spring_stiffness": -1.0}, "spring_stiffness: spring 0: -1"),
        (
            {"springs": [(0, 1)], "spring_stiffness": 1.0, "spring_damping": [np.nan]},
            "spring_damping: .*NaN",
        ),
    ],
)
def test_malformed_springs_are_refused_by_name_and_place(options, message):
    points, quads = grid()
    with pytest.raises(ValueError, match=message):
        weft.Cloth(points, quads, weft.Material(), **options)


def test_internal_springs_refuse_lengths_and_angles_out_of_range():
    for options, message in (
        ({"max_length": 0.0}, "max_length: 0; wanted a finite number more than 0"),
        ({"max_diversion": 2.0}, "max_diversion: 2; wanted an angle"),
    ):
        with pytest.raises(ValueError, match=message):
            cloth().internal_springs(**options)
    assert cloth().internal_springs().shape == (0, 2)  # a flat sheet has no inside
