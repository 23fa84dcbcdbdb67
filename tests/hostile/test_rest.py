# SPDX-License-Identifier: MIT OR Apache-2.0
"""Gaps and calm at rest, friction, what must not matter: in the short form."""

import pytest
from rest import MEASURES

# What misses its bounds today.
FAILS = {
    "ten_layers_at_rest": "4 cm/s after 2 s, 1 mm/s wanted",
    "resolution_and_frame_rate": "silhouettes differ by 10 %, 3 % wanted",
}


def marked(name: str) -> object:
    """The measure, with what is known of it."""
    marks = [pytest.mark.xfail(reason=FAILS[name], strict=False)] if name in FAILS else []
    return pytest.param(name, marks=marks)


@pytest.mark.parametrize("name", [marked(name) for name in MEASURES])
def test_figures(name):
    figures = MEASURES[name](True)
    assert all(figure.ok for figure in figures), "\n".join(["", *map(str, figures)])
