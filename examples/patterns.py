# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sewing patterns of the examples, in the form of GarmentCode: cm, y up, z to the front."""

import json


def _outline(corners, curves=()):
    """Panel from corners in cm; `curves` has control points of quadratic edges by number."""
    edges = [{"endpoints": [k, (k + 1) % len(corners)]} for k in range(len(corners))]
    for number, control in dict(curves).items():
        edges[number]["curvature"] = {"type": "quadratic", "params": [control]}
    return {"vertices": [list(corner) for corner in corners], "edges": edges}


def _mirrored(panel):
    """The panel for the other side of the body, with the same numbers of edges."""
    corners = [[-x, y] for x, y in panel["vertices"]]
    return {"vertices": corners, "edges": [_bent(edge, 0.0, -1.0) for edge in panel["edges"]]}


def _turned(panel):
    """The panel with its right side to the other side: edge k becomes the last but k."""
    edges = [_bent(edge, 1.0, -1.0) for edge in reversed(panel["edges"])]
    for edge in edges:
        edge["endpoints"] = edge["endpoints"][::-1]
    return {**panel, "edges": edges}


def _bent(edge, end, side):
    """An edge with its control point counted from an end (0 or 1), on a side (1 or -1)."""
    edge = dict(edge)
    if "curvature" in edge:
        ((along, across),) = edge["curvature"]["params"]
        edge["curvature"] = {
            "type": "quadratic",
            "params": [[abs(end - along), side * across]],
        }
    return edge


def _stitch(one, edge, other, other_edge):
    return [{"panel": one, "edge": edge}, {"panel": other, "edge": other_edge}]


def _placed(panel, depth):
    """A panel in front of the body, or behind it with its right side outwards."""
    return {**panel, "translation": [0, 0, depth], "rotation": [0, 0, 0]}


def trousers(waist, hips, hem, length, rise, depth=25.0, middle=0.0):
    """Trousers of four panels. Girths with ease, length from the waist and rise in cm, the hem at
    height 0; panels are `depth` in front of and behind the `middle` of the body.

    Edges of a panel: 0 hem, 1 and 2 outseam, 3 waist, 4 and 5 centre, 6 and 7 inseam.
    """
    crotch, knee = length - rise, 0.47 * length
    panels = {}
    for side, extension, place in (("front", 5.0, middle + depth), ("back", 9.0, middle - depth)):
        inner, outer, hip = 0.5, 27.0, 0.25 * hips + 0.5 + extension
        corners = [
            (outer - 0.5 * hem, 0.0),
            (outer, 0.0),
            (0.92 * hip, crotch),
            (inner + extension + 0.25 * waist, length),
            (inner + extension, length),
            (inner + extension, crotch + 0.35 * rise),
            (inner, crotch),
            (min(3.0, outer - 0.5 * hem), knee),
        ]
        right = _outline(corners, {2: [0.4, -0.06], 5: [0.75, 0.3]})
        left, is_front = _mirrored(right), side == "front"
        panels[f"{side}_right"] = _placed(right if is_front else _turned(right), place)
        panels[f"{side}_left"] = _placed(_turned(left) if is_front else left, place)
    last = len(corners) - 1
    stitches = []
    for edge in (1, 2, 6, 7):
        stitches.append(_stitch("front_right", edge, "back_right", last - edge))
        stitches.append(_stitch("front_left", last - edge, "back_left", edge))
    for edge in (4, 5):
        stitches.append(_stitch("front_right", edge, "front_left", last - edge))
        stitches.append(_stitch("back_right", last - edge, "back_left", edge))
    return json.dumps({"pattern": {"panels": panels, "stitches": stitches}})


def dress(bust, hem, length, shoulders, neck, depth=25.0):
    """A dress of two panels with seams at sides and shoulders. Girths with ease, widths and length
    in cm, the hem at height 0; panels are `depth` in front of and behind the body.

    Edges of a panel: 0 hem, 1 and 7 sides, 2 and 6 armholes, 3 and 5 shoulders, 4 neck.
    """
    half = [
        (0.25 * hem, 0.0),
        (0.25 * bust, length - 20.0),
        (0.5 * shoulders, length - 2.0),
        (0.5 * neck, length),
    ]
    corners = [(-half[0][0], 0.0), *half, *((-x, y) for x, y in half[:0:-1])]
    front = _outline(corners, {2: [0.5, 0.15], 4: [0.5, 0.4], 6: [0.5, 0.15]})
    panels = {"front": _placed(front, depth), "back": _placed(_turned(front), -depth)}
    last = len(corners) - 1
    stitches = [_stitch("front", edge, "back", last - edge) for edge in (1, 3, 5, 7)]
    return json.dumps({"pattern": {"panels": panels, "stitches": stitches}})
