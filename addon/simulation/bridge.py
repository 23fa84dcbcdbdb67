# SPDX-License-Identifier: GPL-3.0-or-later
"""The only module that imports the library `weft`: what was read of a scene becomes a simulation.

A native library stays loaded until Blender ends. After an update of the extension the old one is
still there, so its version is compared with the manifest's.
"""

import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from bpy.types import Scene

from ..properties import callbacks
from ..properties.fabric import MATERIAL_FIELDS
from ..scene.reader import ClothInput, ColliderInput, FrameInput, SceneReader

LIMP = 1e-12  # N/m: as good as no resistance
MANIFEST = Path(__file__).parents[1] / "blender_manifest.toml"

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
def choices(field: str) -> frozenset[str]:
    """The names that this library takes for a field of its settings, as its refusal lists them."""
    try:
        library().Settings(**{field: "?"})
    except ValueError as error:
        return frozenset(re.findall(r"[a-z_0-9]+", str(error).rpartition("there is ")[2]))
    except RuntimeError:
        return frozenset()
    return frozenset()


# --- simulations ------------------------------------------------------------------------------


def build_simulation(scene: Scene, reader: SceneReader) -> Any:
    """A `weft.Simulation` of what was read; what the library refuses names the object."""
    cloths = [_cloth(source) for source in reader.cloths]
    colliders = [_collider(source) for source in reader.colliders]
    try:
        return library().Simulation(cloths, colliders, _settings(scene, reader.first))
    except ValueError as error:
        # It knows cloths by their numbers.
        names = [f"'{source.name}': " for source in reader.cloths]
        text = re.sub(r"^cloths\[(\d+)\]\.", lambda found: names[int(found[1])], str(error))
        raise ValueError(text) from error


def set_materials(simulation: Any, cloths: list[ClothInput], source: FrameInput) -> None:
    """Gives all cloths the fabrics that they have at a frame."""
    for index, cloth in enumerate(cloths):
        with _naming(cloth.name):
            material = _library.Material.from_dict(source.materials[index])
            simulation.set_material(index, material)


def set_targets(
    simulation: Any,
    cloths: list[ClothInput],
    colliders: list[ColliderInput],
    before: FrameInput,
    source: FrameInput,
    part: float = 1.0,
) -> None:
    """Hands over where pins and colliders are at the end of the next advance: this part of the
    way from the frame before to the next one.
    """
    simulation.set_gravity(source.gravity)
    simulation.set_wind(source.wind)
    for index, cloth in enumerate(cloths):
        way = _on_the_way(before.pin_targets[index], source.pin_targets[index], part)
        with _naming(cloth.name):
            _set_pins(simulation, index, cloth, way, source.pin_stiffness[index])
    for index, collider in enumerate(colliders):
        start, end = (f.collider_positions[index] for f in (before, source))
        with _naming(collider.name):
            simulation.set_collider(index, _on_the_way(start, end, part))


def _set_pins(
    simulation: Any, index: int, cloth: ClothInput, way: np.ndarray, stiffness: float
) -> None:
    held = len(cloth.pins)
    if held:
        simulation.set_pins(index, cloth.pins, way[:held])
    if not len(cloth.soft_pins):
        return
    if stiffness > 0.0:
        simulation.set_pins(index, cloth.soft_pins, way[held:], stiffness * cloth.soft_areas)
    else:
        simulation.release_pins(index, cloth.soft_pins)


def set_settings(
    simulation: Any,
    cloths: list[ClothInput],
    colliders: list[ColliderInput],
    before: FrameInput | None,
    source: FrameInput,
) -> None:
    """Hands over the settings, surfaces and shrinking of a frame that differ from the one before,
    or all of them.
    """
    if before is None or source.settings != before.settings:
        simulation.set_settings(**source.settings)
    for index, collider in enumerate(colliders):
        surface = source.collider_surfaces[index]
        if before is None or surface != before.collider_surfaces[index]:
            with _naming(collider.name):
                simulation.set_collider_surface(index, *surface)
    for index, cloth in enumerate(cloths):
        scale = source.rest_scales[index]
        last = cloth.rest_scale if before is None else before.rest_scales[index]
        if scale is not last and not np.array_equal(_pairs(cloth, scale), _pairs(cloth, last)):
            with _naming(cloth.name):
                simulation.set_rest_scale(index, _pairs(cloth, scale))


def _pairs(cloth: ClothInput, scale: np.ndarray | None) -> np.ndarray:
    return np.ones((len(cloth.positions), 2)) if scale is None else scale


def _on_the_way(start: np.ndarray, end: np.ndarray, part: float) -> np.ndarray:
    return end if part == 1.0 else start + part * (end - start)


def _cloth(source: ClothInput) -> Any:
    with _naming(source.name):
        options = {} if source.mass_scale is None else {"vertex_mass_scale": source.mass_scale}
        if source.sewing is not None:
            options["sewing"] = source.sewing
        if source.rest_scale is not None:
            options["rest_scale"] = source.rest_scale
        return _library.Cloth(
            source.positions,
            source.faces,
            _library.Material.from_dict(source.material),
            rest_positions=source.rest_positions,
            uv=source.uv,
            **options,
            **source.options,
        )


def vertex_areas(source: ClothInput) -> np.ndarray:
    """The mass of each vertex by the density of the fabric, in m².

    Measured: a cloth that resists nothing is pushed, from rest and without air, for one step.
    """
    limp = dict.fromkeys(MATERIAL_FIELDS, 0.0) | {"density": 1.0, "bend_twist": None}
    limp |= {"stretch_warp": LIMP, "stretch_weft": LIMP}
    with _naming(source.name):
        options = {} if source.mass_scale is None else {"vertex_mass_scale": source.mass_scale}
        cloth = _library.Cloth(
            source.rest_positions, source.faces, _library.Material.from_dict(limp), **options
        )
        settings = _library.Settings(
            integrator="implicit_euler",
            gravity=(0.0, 0.0, 0.0),
            air_density=0.0,
            self_collision=False,
            tolerance=1e-6,
        )
        simulation = _library.Simulation([cloth], (), settings)
        # So hard that vertices go far against the tolerance, but not far against the mesh.
        extent = float(np.ptp(source.rest_positions, axis=0).max())
        newtons = 1e-3 * extent**3 / len(source.rest_positions)
        push = np.zeros_like(source.rest_positions)
        push[:, 2] = newtons
        simulation.set_vertex_forces(0, push)
        simulation.step(1.0)
        return newtons / simulation.velocities(0)[:, 2]


def _collider(source: ColliderInput) -> Any:
    with _naming(source.name):
        return _library.Collider(
            source.positions,
            source.triangles,
            friction=source.friction,
            thickness=source.thickness,
        )


def _settings(scene: Scene, first: FrameInput) -> Any:
    settings = scene.weft.solver_settings() | first.settings
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
    choices.cache_clear()
    callbacks.connect(choices=choices)


def unregister() -> None:
    global _problem
    _problem = ""
