# SPDX-License-Identifier: GPL-3.0-or-later
"""What each frame of a bake was computed from: gravity, wind, and where everything was.

Positions are kept as two sums with fixed weights, which tell any change without keeping the
positions. Comparing them with a scene finds changes of every origin, such as in nodes, simulations
and files that other objects read. The file has a line for each frame, with what has changed since
the line before.
"""

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import numpy as np
from bpy.types import Scene, ViewLayer

from ..blender import mesh_arrays, object_identity
from ..cache import pc2
from ..force_fields import snapshot
from ..force_fields.field import Field
from ..properties.fabric import as_decimal
from ..scene.participants import participants
from ..scene.reader import (
    ClothInput,
    ColliderInput,
    FrameInput,
    gravity,
    mesh_of,
    to_world,
    world_to_object,
)

SUFFIX = ".record"
SCENE = "scene"
TOLERANCE = 4e-6  # of the extent: above what differs between versions of Blender
MULTIPLIERS = (2654435761, 2246822519)  # scatter the weights evenly

Sums = tuple[float, float, float]  # two weighted sums, and the largest coordinate


def path_of(directory: Path, bake: str) -> Path:
    """Where the record of a bake is kept."""
    return directory / f"{bake}{SUFFIX}"


# --- sums -------------------------------------------------------------------------------------


def sums(points: np.ndarray) -> Sums:
    """What tells these numbers from all others, in float64."""
    flat = np.asarray(points, np.float64).ravel()
    if not len(flat):
        return (0.0, 0.0, 0.0)
    index = np.arange(1, len(flat) + 1, dtype=np.uint64)
    weights = [(index * np.uint64(m)) % np.uint64(2**32) / 2**31 - 1.0 for m in MULTIPLIERS]
    # Not by `@`; see mesh_arrays.turned.
    weighted = [float(np.einsum("i,i->", each, flat)) for each in weights]
    scale = len(flat) ** 0.5
    return (weighted[0] / scale, weighted[1] / scale, float(np.abs(flat).max()))


def of_frame(
    source: FrameInput, cloths: list[ClothInput], colliders: list[ColliderInput]
) -> dict[str, Sums]:
    """The sums of all that a frame is computed from."""
    found = {SCENE: sums(np.array([*source.gravity, *source.wind]))}
    for field in source.fields:
        found[f"{field.name}/field"] = _of_field(field)
    for cloth, pins, matrix in zip(cloths, source.pin_targets, source.world_to_object, strict=True):
        found[f"{cloth.identity}/pins"] = sums(pins)
        found[f"{cloth.identity}/matrix"] = sums(matrix)
    for collider, positions in zip(colliders, source.collider_positions, strict=True):
        found[collider.identity] = sums(positions)
    return found


def _of_field(field: Field) -> Sums:
    numbers = (field.strength, field.damping, field.flow, field.size, field.rest_length)
    return sums(np.concatenate([field.matrix.ravel(), numbers, field.points.ravel()]))


def of_view_layer(scene: Scene, view_layer: ViewLayer) -> dict[str, Sums]:
    """The sums of what can be seen without preparing the scene: not those of pins."""
    cloths, colliders = participants(scene, view_layer)
    scale, depsgraph = scene.unit_settings.scale_length, view_layer.depsgraph
    wind = map(as_decimal, scene.weft.wind)
    found = {SCENE: sums(np.array([*gravity(scene), *wind]))}
    for field in snapshot.read(view_layer, depsgraph, with_fluid=False):
        found[f"{field.name}/field"] = _of_field(field)
    for obj in cloths:
        evaluated = obj.evaluated_get(depsgraph)
        with suppress(RuntimeError):  # scaled to nothing
            found[f"{object_identity.key(obj)}/matrix"] = sums(world_to_object(evaluated, scale))
    for obj in colliders:
        evaluated = obj.evaluated_get(depsgraph)
        with suppress(ValueError), mesh_of(evaluated) as mesh:  # disabled in viewports
            points = to_world(mesh_arrays.coordinates(mesh), evaluated, scale)
            found[object_identity.key(obj)] = sums(points)
    return found


def difference(then: dict[str, Sums], now: dict[str, Sums]) -> str:
    """The key of the first thing that differs among those that both have; empty when none does."""
    for key in sorted(then.keys() & now.keys()):
        tolerance = TOLERANCE * max(then[key][2], now[key][2])
        if any(abs(a - b) > tolerance for a, b in zip(then[key], now[key], strict=True)):
            return key
    return ""


def identity_in(key: str) -> str:
    """The participant that a key is about."""
    return key.split("/")[0]


# --- files ------------------------------------------------------------------------------------


class Recorder:
    """Appends frames; raises `OSError` and nothing else."""

    def __init__(self, path: Path, *, keep_to: int | None = None) -> None:
        """Begins anew, or goes on behind a frame; what is kept is on disk at any moment."""
        kept = [] if keep_to is None else [line for line in _lines(path) if line[0] <= keep_to]
        self._last: dict[str, Sums] = {}
        for _frame, changed in kept:
            self._last |= changed
        path.parent.mkdir(parents=True, exist_ok=True)
        pc2.replace_file(path, "".join(_line(*each) for each in kept).encode())
        self._file = path.open("a", encoding="utf-8")

    def append(self, frame: int, found: dict[str, Sums]) -> None:
        """Adds what a frame was computed from."""
        changed = {key: value for key, value in found.items() if self._last.get(key) != value}
        self._last |= changed
        self._file.write(_line(frame, changed))

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def read(path: Path, frame: int) -> dict[str, Sums]:
    """What a frame was computed from; empty when that was not recorded."""
    found: dict[str, Sums] = {}
    for number, changed in _lines(path):
        found |= changed
        if number == frame:
            return found
    return {}


def _line(frame: int, changed: dict[str, Sums]) -> str:
    return json.dumps([frame, changed]) + "\n"


def _lines(path: Path) -> Iterable[tuple[int, dict[str, Sums]]]:
    """The frames of a file; ends at the first line that is damaged."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return
    for line in text.splitlines():
        try:
            frame, changed = json.loads(line)
            yield int(frame), {key: tuple(map(float, value)) for key, value in changed.items()}
        except (ValueError, TypeError, AttributeError):
            return
