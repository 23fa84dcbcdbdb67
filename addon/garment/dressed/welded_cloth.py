# SPDX-License-Identifier: GPL-3.0-or-later
"""The cloth of a garment whose closed seams are welded, for the second half of its dressing."""

from dataclasses import replace

import numpy as np

from ...scene.reader import ClothInput
from . import welding


def welded(source: ClothInput, group: np.ndarray) -> ClothInput:
    """A cloth without pins with one vertex for those of equal labels: what it has of each vertex is
    that of the first.
    """
    numbers, firsts = welding.numbers(group), np.flatnonzero(group == np.arange(len(group)))
    corners = source.rest_corners
    if corners is None:
        corners = source.rest_positions[np.concatenate([np.asarray(f) for f in source.faces])]
    if isinstance(source.faces, np.ndarray):
        faces = numbers[source.faces]
    else:
        faces = [numbers[face].tolist() for face in source.faces]
    sewing = kept_pairs(source.sewing, numbers)[1]
    return replace(
        source,
        faces=faces,
        rest_positions=source.rest_positions[firsts],
        rest_corners=corners,
        positions=source.positions[firsts],
        mass_scale=_of(source.mass_scale, firsts),
        rest_scale=_of(source.rest_scale, firsts),
        sewing=sewing if len(sewing) else None,
        options={k: _option(k, value, numbers, firsts) for k, value in source.options.items()},
        triangles=numbers[source.triangles].astype(np.int32),
    )


def kept_pairs(pairs: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Indices of pairs that are not welded, each once, and their vertices in the welded mesh."""
    ends = np.sort(numbers[pairs], axis=1)
    _unique, first = np.unique(ends, axis=0, return_index=True)
    kept = np.sort(first[ends[first, 0] != ends[first, 1]])
    return kept, ends[kept]


def _of(values: np.ndarray | None, firsts: np.ndarray) -> np.ndarray | None:
    return None if values is None else values[firsts]


def _option(name: str, value: object, numbers: np.ndarray, firsts: np.ndarray) -> object:
    if name.endswith("_scale"):
        return value[firsts]
    if name.startswith("free_of_"):
        return np.unique(numbers[np.asarray(value, dtype=np.int64)])
    return value
