# SPDX-License-Identifier: MIT OR Apache-2.0
"""Cloth that slides slowly, and cloth that does not."""

from slow_scenes.common import FRAME, advance, assert_below, converged, worst_deviation
from slow_scenes.sliding import Slope, acceleration, degrees_at, off_the_table, over_another_sheet


def test_a_sheet_slides_down_a_slope_one_percent_beyond_the_friction_angle():
    degrees = degrees_at(1.01)
    slope = Slope(degrees)
    advance(slope.simulation, 48)
    mean = 2.0 * slope.way() / (48 * FRAME) ** 2
    assert abs(mean / acceleration(degrees) - 1.0) < 0.05


def test_a_sheet_sticks_to_a_slope_one_percent_below_the_friction_angle():
    slope = Slope(degrees_at(0.99))
    advance(slope.simulation, 240)
    assert abs(slope.way()) < 1e-4


def test_a_sheet_slides_over_another_sheet_as_the_equations_say():
    assert worst_deviation(over_another_sheet(), converged("over another sheet"), 0.03) < 0.1


def test_a_strip_slides_off_a_table_as_the_equations_say():
    deviation = worst_deviation(off_the_table(), converged("off the table"), 0.03)
    assert_below(0.1, reached=0.3, value=deviation)
