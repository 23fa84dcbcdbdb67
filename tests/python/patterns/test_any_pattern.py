# SPDX-License-Identifier: MIT OR Apache-2.0
"""Whatever a file holds: it is refused with a message, or meshed to finite positions."""

import copy
import json

import numpy as np
import weft
from hypothesis import given, settings
from hypothesis import strategies as st
from test_pattern_files import garment

CIRCLE = {"endpoints": [0, 1], "curvature": {"type": "circle", "params": [3, 0, 1]}}
BASE = garment(
    cutouts=[{"vertices": [[8, 8], [12, 8]], "edges": [CIRCLE, {**CIRCLE, "endpoints": [1, 0]}]}],
    internal_lines=[{"vertices": [[0, 3], [20, 4]], "edges": [{"endpoints": [0, 1]}]}],
    notches=[{"edge": 1, "position": 0.3, "depth": 0.5}],
    grain=30,
)
VALUES = st.sampled_from([None, "x", [], {}, True, 0, -1, 3, 7, 1e-9, 1e9, 1e300, 12.5, -4.25])


def places(data: object, path: tuple = ()) -> list[tuple]:
    """Paths of all values in a file."""
    inner = (
        data.items()
        if isinstance(data, dict)
        else enumerate(data)
        if isinstance(data, list)
        else ()
    )
    return [path, *(place for key, value in inner for place in places(value, (*path, key)))]


PLACES = st.sampled_from([place for place in places(BASE) if place])


@settings(max_examples=400, deadline=None, derandomize=True)
@given(changes=st.lists(st.tuples(PLACES, VALUES), min_size=1, max_size=3))
def test_any_file_is_refused_or_meshed(changes):
    data = copy.deepcopy(BASE)
    for (*outer, last), value in changes:
        holder = data
        try:
            for key in outer:
                holder = holder[key]
            holder[last] = value
        except (LookupError, TypeError, AttributeError):
            continue  # another change took the place away
    try:
        pattern = weft.Pattern(json.dumps(data))
        pattern.findings()
        pattern.to_text("svg")
        mesh = pattern.mesh(0.03)
    except ValueError as refused:
        assert ": " in str(refused)
        return
    assert np.isfinite(mesh.positions).all() and len(mesh.triangles) > 0
    assert min(panel["min_angle"] for panel in mesh.quality) > 0.0
