# SPDX-License-Identifier: MIT OR Apache-2.0
"""A strip that runs over a smooth peg, and one that friction holds or does not."""

import numpy as np
import pytest
from slow_scenes.common import FRAME, GRAVITY, advance, assert_below, converged, worst_deviation
from slow_scenes.cylinder import LINK, SHORT_PEG, Hanging, capstan


@pytest.mark.parametrize("more", [2, 4, 8])
def test_a_strip_runs_over_a_smooth_peg_as_in_the_closed_form(more: int):
    """x = d (cosh λt − 1), λ² = 2g/L, up to λt = 2.6, from where it has run by half of d on."""
    strip = Hanging(SHORT_PEG, SHORT_PEG + more, 0.0)
    rate = np.sqrt(2.0 * GRAVITY / strip.length)
    frames = int(2.6 / rate / FRAME)
    half = 0.5 * more * LINK
    reference = half * (np.cosh(rate * FRAME * np.arange(1, frames + 1)) - 1.0)
    assert worst_deviation(strip.path(frames), reference, 0.5 * half) < 0.1


@pytest.mark.parametrize("factor", [1.1, 1.3, 2.0])
def test_a_strip_beyond_the_capstan_limit_slides_as_the_equations_say(factor: float):
    reference = converged(f"capstan {factor}")
    deviation = worst_deviation(capstan(factor).path(len(reference)), reference, 0.03)
    assert_below(0.1, reached=0.3, value=deviation)


def test_a_strip_below_the_capstan_limit_does_not_creep():
    """Less than 0.1 mm in ten seconds, once it has come to rest."""
    strip = capstan(0.95)
    advance(strip.simulation, 24)
    rest = strip.way()
    assert abs(rest) < 1e-3
    advance(strip.simulation, 240)
    assert abs(strip.way() - rest) < 1e-4
