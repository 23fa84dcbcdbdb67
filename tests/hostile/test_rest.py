# SPDX-License-Identifier: MIT OR Apache-2.0
"""Gaps and calm at rest, friction, what must not matter: in the short form."""

import pytest
from rest import MEASURES


@pytest.mark.parametrize("name", MEASURES)
def test_figures(name):
    figures = MEASURES[name](True)
    assert all(figure.ok for figure in figures), "\n".join(["", *map(str, figures)])
