# SPDX-License-Identifier: GPL-3.0-or-later
"""Record of the input of each frame of a bake: gravity, wind, speed, positions of all participants.

Positions are represented by two weighted sums, which detect any change without storing positions. A
comparison with the scene finds changes of every origin, for example in nodes, other simulations and
linked files. The file has one line per frame with the entries that differ from the line before.
"""

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import numpy as np
from bpy.types import Scene, ViewLayer

from ..blender import object_identity
from ..cache import atomic_file
from ..force_fields import snapshot
from ..force_fields.field import Field
from ..properties.fabric import as_decimal
from ..scene import geometry
from ..scene.evaluated import world_to_object
from ..scene.participants import participants
from ..scene.reader import ClothInput, ColliderInput, FrameInput, gravity

SUFFIX = ".record"
SCENE = "scene"
SPEED = "speed"
TOLERANCE = 4e-6  # of the largest magnitude; versions of Blender differ by less
MULTIPLIERS = (2654435761, 2246822519)  # multiplicative hashing: equidistributed weights

Signature = tuple[float, float, float]  # two weighted sums, and the largest coordinate


def path_of(directory: Path, bake: str) -> Path:
    """Path of the record of a bake."""
    return directory / f"{bake}{SUFFIX}"


# --- sums -------------------------------------------------------------------------------------


def signature(points: np.ndarray) -> Signature:
    """Signature of an array: two weighted sums and the largest magnitude, in float64."""
    flat = np.asarray(points, np.float64).ravel()
    if not len(flat):
        return (0.0, 0.0, 0.0)
    index = np.arange(1, len(flat) + 1, dtype=np.uint64)
    weights = [(index * np.uint64(m)) % np.uint64(2**32) / 2**31 - 1.0 for m in MULTIPLIERS]
    # No `@`, see mesh_arrays.transformed_vectors.
    weighted = [float(np.einsum("i,i->", each, flat)) for each in weights]
    scale = len(flat) ** 0.5
    return (weighted[0] / scale, weighted[1] / scale, float(np.abs(flat).max()))


def of_frame(
    source: FrameInput, cloths: list[ClothInput], colliders: list[ColliderInput]
) -> dict[str, Signature]:
    """Signatures of all inputs of a frame, by key."""
    found = {
        SCENE: signature(np.array([*source.gravity, *source.wind])),
        SPEED: signature(np.array(source.speed)),
    }
    for field in source.fields:
        found[f"{field.name}/field"] = _field_signature(field)
    for cloth, pins, matrix in zip(cloths, source.pins, source.world_to_object, strict=True):
        found[f"{cloth.identity}/pins"] = signature(pins.targets)
        found[f"{cloth.identity}/matrix"] = signature(matrix)
    for cloth, rest in zip(cloths, source.rest_positions, strict=True):
        if rest is not None:
            found[f"{cloth.identity}/rest"] = signature(rest)
    for collider, positions in zip(colliders, source.collider_positions, strict=True):
        found[collider.identity] = signature(positions)
    return found


def _field_signature(field: Field) -> Signature:
    numbers = (field.strength, field.damping, field.flow, field.size, field.rest_length)
    return signature(np.concatenate([field.matrix.ravel(), numbers, field.points.ravel()]))


def of_view_layer(scene: Scene, view_layer: ViewLayer) -> dict[str, Signature]:
    """Signatures that can be computed without preparing the scene, so without pins."""
    cloths, colliders = participants(scene, view_layer)
    scale, depsgraph = scene.unit_settings.scale_length, view_layer.depsgraph
    wind = map(as_decimal, scene.weft.wind)
    found = {
        SCENE: signature(np.array([*gravity(scene), *wind])),
        SPEED: signature(np.array(as_decimal(scene.weft.speed))),
    }
    for field in snapshot.read(view_layer, depsgraph, with_fluid=False):
        found[f"{field.name}/field"] = _field_signature(field)
    for obj in cloths:
        evaluated = obj.evaluated_get(depsgraph)
        with suppress(RuntimeError):  # singular matrix
            found[f"{object_identity.key(obj)}/matrix"] = signature(
                world_to_object(evaluated, scale)
            )
    for obj in colliders:
        evaluated = obj.evaluated_get(depsgraph)
        with suppress(ValueError):  # disabled in viewports
            points = geometry.read(evaluated, depsgraph, scale).points
            found[object_identity.key(obj)] = signature(points)
    return found


def difference(recorded: dict[str, Signature], current: dict[str, Signature]) -> str:
    """Key of the first difference among common keys; empty if there is none."""
    for key in sorted(recorded.keys() & current.keys()):
        tolerance = TOLERANCE * max(recorded[key][2], current[key][2])
        if any(abs(a - b) > tolerance for a, b in zip(recorded[key], current[key], strict=True)):
            return key
    return ""


def participant_of(key: str) -> str:
    """The participant in a key."""
    return key.split("/")[0]


# --- files ------------------------------------------------------------------------------------


class Recorder:
    """Appends frames to a record; the only exception is `OSError`."""

    def __init__(self, path: Path, *, keep_to: int | None = None) -> None:
        """Starts a new record, or continues after frame `keep_to`; never loses kept lines."""
        lines = [] if keep_to is None else [line for line in _lines(path) if line[0] <= keep_to]
        self._last: dict[str, Signature] = {}
        for _frame, changed in lines:
            self._last |= changed
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_file.replace(path, "".join(_line(*each) for each in lines).encode())
        self._file = path.open("a", encoding="utf-8")

    def append(self, frame: int, found: dict[str, Signature]) -> None:
        """Appends the signatures of a frame."""
        changed = {key: value for key, value in found.items() if self._last.get(key) != value}
        self._last |= changed
        self._file.write(_line(frame, changed))

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def read(path: Path, frame: int) -> dict[str, Signature]:
    """Signatures of a frame; empty if it was not recorded."""
    found: dict[str, Signature] = {}
    for number, changed in _lines(path):
        found |= changed
        if number == frame:
            return found
    return {}


def _line(frame: int, changed: dict[str, Signature]) -> str:
    return json.dumps([frame, changed]) + "\n"


def _lines(path: Path) -> Iterable[tuple[int, dict[str, Signature]]]:
    """Frames of a file up to the first damaged line."""
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
