# SPDX-License-Identifier: GPL-3.0-or-later
"""The only module that imports the library `weft`; translates scene data into its calls.

A native library stays loaded until Blender exits, also when the extension is updated. Its version
is therefore compared with that of the manifest.
"""

import re
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from bpy.types import Scene

from ..properties import callbacks
from ..properties.fabric import MATERIAL_FIELDS
from ..scene.pins import PinInput
from ..scene.reader import ClothInput, ColliderInput, FrameInput, SceneReader

NEGLIGIBLE_STIFFNESS = 1e-12  # N/m
MANIFEST = Path(__file__).parents[1] / "blender_manifest.toml"

try:
    import weft as _library
except ImportError as error:
    _library: ModuleType | None = None
    _import_error = str(error)

_problem = ""


def problem() -> str:
    """Reason why the library cannot be used, for the panel; empty if it can."""
    return _problem


def library() -> ModuleType:
    """The library; `RuntimeError` with the remedy if it cannot be used."""
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
    """Names that the library accepts for a field of its settings, taken from its error message."""
    try:
        library().Settings(**{field: "?"})
    except ValueError as error:
        return frozenset(re.findall(r"[a-z_0-9]+", str(error).rpartition("there is ")[2]))
    except RuntimeError:
        return frozenset()
    return frozenset()


# --- simulations ------------------------------------------------------------------------------


class SimulationBuilder:
    """Makes simulations of a scene, in any thread."""

    def __init__(self, scene: Scene, reader: SceneReader) -> None:
        self._settings = _settings(scene, reader.first)
        self._cloths, self._colliders = reader.cloths, reader.colliders
        self._triangles: dict[int, np.ndarray] = {}  # of cloths whose rest shape changes

    def at_start(self) -> Any:
        """A `weft.Simulation` of the first frame; errors of the library name the object."""
        return _simulation(self._cloths, self._colliders, self._settings)

    def at_rest(self, cloth_positions: list[np.ndarray], current: FrameInput) -> Any:
        """A simulation that begins with positions of the cloths, in m, and the rest of a frame."""
        placed = zip(self._of_frame(current), cloth_positions, strict=True)
        cloths = [replace(source, positions=each) for source, each in placed]
        placed = zip(self._colliders, current.collider_positions, strict=True)
        colliders = [replace(source, positions=each) for source, each in placed]
        return _simulation(cloths, colliders, self._settings)

    def continued(self, state: bytes, current: FrameInput) -> Any:
        """A simulation from a state, with the rest shapes of a frame."""
        simulation = _simulation(self._of_frame(current), self._colliders, self._settings)
        changes = any(rest is not None for rest in current.rest_positions)
        simulation.restore(state, other_rest=changes)
        return simulation

    def _of_frame(self, current: FrameInput) -> list[ClothInput]:
        """The cloths with their rest shapes at a frame, cut into the same triangles."""
        placed = zip(self._cloths, current.rest_positions, strict=True)
        return [source if rest is None else self._reshaped(source, rest) for source, rest in placed]

    def _reshaped(self, source: ClothInput, rest: np.ndarray) -> ClothInput:
        triangles = self._triangles.get(source.session_uid)
        if triangles is None:
            triangles = self._triangles[source.session_uid] = _cloth(source).triangles
        options = source.options | {"triangles": triangles}
        return replace(source, rest_positions=rest, options=options)


def _simulation(cloths: list[ClothInput], colliders: list[ColliderInput], settings: Any) -> Any:
    sheets, bodies = [_cloth(source) for source in cloths], [_collider(one) for one in colliders]
    try:
        return library().Simulation(sheets, bodies, settings)
    except ValueError as error:
        # The library names cloths by index.
        names = [f"'{source.name}': " for source in cloths]
        text = re.sub(r"^cloths\[(\d+)\]\.", lambda found: names[int(found[1])], str(error))
        raise ValueError(text) from error


def lifted(scene: Scene, reader: SceneReader) -> np.ndarray:
    """Positions of the first cloth, moved against gravity to where its seams close best."""
    colliders = [_collider(source) for source in reader.colliders]
    up = -np.asarray(_settings(scene, reader.first).gravity)
    source = reader.cloths[0]
    if not colliders or not up.any():
        return source.positions
    lift = library().Dressing.lift(_cloth(source), colliders, up)
    return source.positions + lift * up / np.linalg.norm(up)


def dressing_builder(
    scene: Scene, reader: SceneReader
) -> Callable[[ClothInput, bool], tuple[Any, Any]]:
    """A function that makes, in any thread, a `weft.Simulation` of the first frame with a cloth in
    place of the only one, which has its pins, and a `weft.Dressing` of it that guards seams or not.
    """
    # One correction a step, as in draft, leaves seams open by a millimetre.
    solved = {"solver": "newton"} if scene.weft.solver == "linearised" else {}
    settings = _settings(scene, reader.first, **solved)
    calm = replace(reader.first, wind=(0.0, 0.0, 0.0))

    def build(cloth: ClothInput, guards_seams: bool) -> tuple[Any, Any]:
        simulation = _simulation([cloth], reader.colliders, settings)
        set_targets(simulation, [cloth], reader.colliders, calm)
        return simulation, library().Dressing(simulation, guards_seams)

    return build


def far_panels(pattern: Any, colliders: list[tuple[np.ndarray, np.ndarray]]) -> list[str]:
    """Messages on panels of a `weft.Pattern` that are far from all points and triangles."""
    bodies = [library().Collider(points, triangles) for points, triangles in colliders]
    return [found["message"] for found in pattern.far_panels(bodies)]


def set_materials(simulation: Any, cloths: list[ClothInput], current: FrameInput) -> None:
    """Sets the fabrics of all cloths to those of a frame."""
    for index, cloth in enumerate(cloths):
        with _named_errors(cloth.name):
            material = _library.Material.from_dict(current.materials[index])
            simulation.set_material(index, material)


def set_targets(
    simulation: Any,
    cloths: list[ClothInput],
    colliders: list[ColliderInput],
    current: FrameInput,
) -> None:
    """Sets gravity, wind, pin targets and collider positions for the end of the next advance."""
    simulation.set_gravity(current.gravity)
    simulation.set_wind(current.wind)
    for index, cloth in enumerate(cloths):
        with _named_errors(cloth.name):
            _set_pins(simulation, index, cloth, current.pins[index])
    for index, collider in enumerate(colliders):
        with _named_errors(collider.name):
            simulation.set_collider(index, current.collider_positions[index])


def set_pressures(
    simulation: Any, cloths: list[ClothInput], previous: FrameInput | None, current: FrameInput
) -> None:
    """Sets the pressures inside all cloths to those of a frame."""
    for index, cloth in enumerate(cloths):
        found = current.pressures[index]
        with _named_errors(cloth.name):
            if found is not None:
                simulation.set_pressure(index, **vars(found))
            elif previous is None or previous.pressures[index] is not None:
                simulation.set_pressure(index, 0.0)


def _set_pins(simulation: Any, index: int, cloth: ClothInput, pins: PinInput) -> None:
    hard, soft = pins.hard, pins.soft
    if hard.any():
        simulation.set_pins(index, cloth.pinned[hard], pins.targets[hard])
    if soft.any():
        stiffness = pins.spring_stiffness(cloth.pin_areas)
        simulation.set_pins(index, cloth.pinned[soft], pins.targets[soft], stiffness)
    free = ~(hard | soft)
    if free.any():
        simulation.release_pins(index, cloth.pinned[free])


def set_settings(
    simulation: Any,
    cloths: list[ClothInput],
    colliders: list[ColliderInput],
    previous: FrameInput | None,
    current: FrameInput,
) -> None:
    """Sets solver settings, collider surfaces and rest scales of a frame where they changed."""
    if previous is None or current.settings != previous.settings:
        simulation.set_settings(**current.settings)
    for index, collider in enumerate(colliders):
        surface = current.collider_surfaces[index]
        if previous is None or surface != previous.collider_surfaces[index]:
            with _named_errors(collider.name):
                simulation.set_collider_surface(index, *surface)
    for index, cloth in enumerate(cloths):
        scale = current.rest_scales[index]
        last = cloth.rest_scale if previous is None else previous.rest_scales[index]
        if scale is not last and not np.array_equal(
            _rest_scale(cloth, scale), _rest_scale(cloth, last)
        ):
            with _named_errors(cloth.name):
                simulation.set_rest_scale(index, _rest_scale(cloth, scale))


def _rest_scale(cloth: ClothInput, scale: np.ndarray | None) -> np.ndarray:
    """The rest scale as an array, ones where it is None."""
    return np.ones((len(cloth.positions), 2)) if scale is None else scale


def _cloth(source: ClothInput) -> Any:
    with _named_errors(source.name):
        options = {} if source.mass_scale is None else {"vertex_mass_scale": source.mass_scale}
        if source.sewing is not None:
            options["sewing"] = source.sewing
        if source.rest_scale is not None:
            options["rest_scale"] = source.rest_scale
        make = partial(
            _library.Cloth,
            source.positions,
            source.faces,
            _library.Material.from_dict(source.material),
            rest_positions=_rest(source),
            uv=source.uv,
            **options,
            **source.options,
        )
        cloth, inner = make(), source.internal_springs
        if inner is None:
            return cloth
        return make(**inner.keywords(cloth.internal_springs(**inner.search)))


def _rest(source: ClothInput) -> np.ndarray:
    """Rest positions as the library takes them: of face corners where a pattern is cut."""
    return source.rest_positions if source.rest_corners is None else source.rest_corners


def lumped_areas(source: ClothInput) -> np.ndarray:
    """Lumped mass of each vertex divided by the density of the fabric, in m².

    Found by one step of the library under known forces, with negligible stiffness and without air.
    """
    material = dict.fromkeys(MATERIAL_FIELDS, 0.0) | {"density": 1.0, "bend_twist": None}
    material |= {"stretch_warp": NEGLIGIBLE_STIFFNESS, "stretch_weft": NEGLIGIBLE_STIFFNESS}
    with _named_errors(source.name):
        options = {} if source.mass_scale is None else {"vertex_mass_scale": source.mass_scale}
        fabric = _library.Material.from_dict(material)
        options["rest_positions"] = _rest(source)
        cloth = _library.Cloth(source.rest_positions, source.faces, fabric, **options)
        settings = _library.Settings(
            integrator="implicit_euler",
            gravity=(0.0, 0.0, 0.0),
            air_density=0.0,
            self_collision=False,
            tolerance=1e-6,
        )
        simulation = _library.Simulation([cloth], (), settings)
        # Displacements are large compared with the tolerance, small compared with the mesh.
        extent = float(np.ptp(source.rest_positions, axis=0).max())
        force = 1e-3 * extent**3 / len(source.rest_positions)
        forces = np.zeros_like(source.rest_positions)
        forces[:, 2] = force
        simulation.set_vertex_forces(0, forces)
        simulation.step(1.0)
        return force / simulation.velocities(0)[:, 2]


def _collider(source: ColliderInput) -> Any:
    with _named_errors(source.name):
        return _library.Collider(
            source.positions,
            source.triangles,
            faces=source.faces,
            friction=source.friction,
            thickness=source.thickness,
        )


def _settings(scene: Scene, first: FrameInput, **others: object) -> Any:
    settings = scene.weft.solver_settings() | first.settings | others
    with _named_errors(scene.name):
        return _library.Settings(gravity=first.gravity, wind=first.wind, **settings)


@contextmanager
def _named_errors(name: str) -> Iterator[None]:
    """Prefixes errors of the library by the name of an object."""
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
