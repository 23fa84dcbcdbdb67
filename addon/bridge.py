# SPDX-License-Identifier: GPL-3.0-or-later
"""The only module that imports the library `weft`: what was read of a scene becomes a simulation.

A native library stays loaded until Blender ends. After an update of the extension the old one is
still there, so its version is compared with the manifest's.
"""

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from bpy.types import Scene

from .scene_reader import ClothInput, ColliderInput, FrameInput, SceneReader

MANIFEST = Path(__file__).with_name("blender_manifest.toml")

try:
    import weft as _library
except ImportError as error:
    _library: ModuleType | None = None
    _import_error = str(error)

_problem = ""


def problem() -> str:
    """Why nothing can be simulated, for the panel; empty when all is well."""
    return _problem


def library() -> ModuleType:
    """The library; raises `RuntimeError` with what to do when it cannot be used."""
    if _problem:
        raise RuntimeError(_problem)
    return _library


def _find_problem() -> str:
    if _library is None:
        return f"The Weft library is missing ({_import_error}): reinstall the extension"
    wanted = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["version"]
    if _library.__version__ != wanted:
        return (
            f"Weft {wanted} was installed while its library {_library.__version__} was in use: "
            "restart Blender"
        )
    return ""


def version() -> str:
    return library().__version__


@cache
def has_self_collision() -> bool:
    """Whether this library keeps cloths out of themselves and of each other."""
    try:
        library().Settings(self_collision=True)
    except (ValueError, RuntimeError):
        return False
    return True


# --- simulations ------------------------------------------------------------------------------


def build_simulation(scene: Scene, reader: SceneReader) -> Any:
    """A `weft.Simulation` of what was read; what the library refuses names the object."""
    return library().Simulation(
        [_cloth(source) for source in reader.cloths],
        [_collider(source) for source in reader.colliders],
        _settings(scene, reader.first),
    )


def set_targets(
    simulation: Any,
    cloths: list[ClothInput],
    colliders: list[ColliderInput],
    source: FrameInput,
    before: FrameInput | None,
) -> None:
    """Hands over where pins and colliders are at the end of the next frame, and what has changed
    since the frame before; None: what the simulation has is not known.
    """
    simulation.set_gravity(source.gravity)
    simulation.set_wind(source.wind)
    for index, cloth in enumerate(cloths):
        with _naming(cloth.name):
            if before is None or source.materials[index] != before.materials[index]:
                material = _library.Material.from_dict(source.materials[index])
                simulation.set_material(index, material)
            if len(cloth.pins):
                simulation.set_pins(index, cloth.pins, source.pin_targets[index])
    for index, collider in enumerate(colliders):
        with _naming(collider.name):
            simulation.set_collider(index, source.collider_positions[index])


def _cloth(source: ClothInput) -> Any:
    with _naming(source.name):
        return _library.Cloth(
            source.positions,
            source.faces,
            _library.Material.from_dict(source.material),
            rest_positions=source.rest_positions,
            uv=source.uv,
        )


def _collider(source: ColliderInput) -> Any:
    with _naming(source.name):
        return _library.Collider(
            source.positions,
            source.triangles,
            friction=source.friction,
            thickness=source.thickness,
        )


def _settings(scene: Scene, first: FrameInput) -> Any:
    settings = scene.weft.solver_settings()
    if not has_self_collision():
        del settings["self_collision"]
    with _naming(scene.name):
        return _library.Settings(gravity=first.gravity, wind=first.wind, **settings)


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Puts the name of an object before what the library says about it."""
    try:
        yield
    except (ValueError, TypeError, RuntimeError) as error:
        raise type(error)(f"'{name}': {error}") from error


def register() -> None:
    global _problem
    _problem = _find_problem()
    has_self_collision.cache_clear()


def unregister() -> None:
    global _problem
    _problem = ""
