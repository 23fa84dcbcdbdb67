# SPDX-License-Identifier: MIT OR Apache-2.0
"""All hostile scenes in their short form, and random ones. `make soak` runs them at length."""

from pathlib import Path

import pytest
from all_scenes import RECIPES
from harness import Run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scene import FRAME_RATE, Scene
from scenes_drape import soup

OUT = Path(__file__).parents[2] / "out" / "hostile"


def judge(name: str, scene: Scene, seconds: float) -> None:
    result = Run(name, scene, OUT).go(round(seconds * scene.frame_rate))
    assert result.ok, "\n".join(["", *result.failures])


@pytest.mark.parametrize("name", RECIPES)
def test_scene(name):
    recipe = RECIPES[name]
    judge(name, recipe.build(recipe.quick.size, recipe.quick.seconds), recipe.quick.seconds)


@settings(
    max_examples=8, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(seed=st.integers(0, 10**6), count=st.integers(1, 16))
def test_random_triangles_fall_on_random_triangles(seed, count):
    judge(f"soup-{seed}-{count}", soup(seed, count), 16 / FRAME_RATE)
