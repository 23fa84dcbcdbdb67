# SPDX-License-Identifier: MIT OR Apache-2.0
"""How fast a strip buckles under its own weight, and how far."""

import pytest
from slow_scenes import buckling
from slow_scenes.buckling import Column, OnEdge, growth_rate
from slow_scenes.common import converged


@pytest.mark.parametrize("factor", [1.1, 1.5])
def test_a_standing_strip_buckles_at_the_rate_of_its_unstable_mode(factor: float):
    column = Column(factor)
    assert abs(growth_rate(column.begin(), 0, column.rate) / column.rate - 1.0) < 0.15


@pytest.mark.parametrize("factor", [1.1, 1.25, 1.5])
def test_a_strip_on_edge_buckles_as_fast_as_the_equations_say(factor: float):
    """The beam of `OnEdge` is 4 to 17 % faster: it has no clamped end that cannot warp."""
    strip = OnEdge(factor)
    reference = float(converged(f"on edge {factor}"))
    assert abs(growth_rate(strip.begin(), 1, strip.rate) / reference - 1.0) < 0.15


def test_a_strip_on_edge_ends_as_far_aside_as_the_equations_say():
    assert abs(buckling.amplitude() / float(converged("amplitude")) - 1.0) < 0.1


def test_critical_loads_are_those_of_the_literature():
    """Just below them nothing grows, just above something does."""
    for mode in (Column, OnEdge):
        assert mode(0.999).rate == 0.0
        assert mode(1.001).rate > 0.0
