# SPDX-License-Identifier: GPL-3.0-or-later
"""Draft, Good or Final: one choice of solver, tolerance, step and subdivision.

It is what the settings are, and not stored: with other settings it is *Custom*.
"""

from dataclasses import dataclass

from bpy.types import Object, PropertyGroup, Scene

from .fabric import as_decimal


@dataclass(frozen=True)
class Quality:
    """Settings of a quality; the subdivision is that of the viewport."""

    identifier: str
    name: str
    description: str
    integrator: str
    solver: str
    time_step: float  # s
    tolerance: float
    max_subdivision: int | None  # levels of what is rendered that are drawn, None for all


# One linear solution a step damps by its first order. A sheet of 1 m and 2 500 vertices that falls
# on a ball of 0.3 m, with self-collision, in the library on two cores, nothing drawn: 65 frames/s
# in draft, 21 in good and 10 in final, stretched by at most 12, 3.6 and 2.8 % when it is caught.
QUALITIES = (
    Quality(
        "DRAFT",
        "Draft",
        "One correction a step, without subdivision: for live simulation. It stretches more and "
        "damps the motion; it crosses nothing either",
        *("implicit_euler", "linearised", 1.0 / 24.0, 0.1, 0),
    ),
    Quality(
        "GOOD",
        "Good",
        "Every step is solved to the tolerance, two steps a film frame",
        *("bdf2", "newton", 1.0 / 48.0, 0.02, 1),
    ),
    Quality(
        "FINAL",
        "Final",
        "Steps half as long, solved to a quarter of the tolerance, with all levels of subdivision",
        *("bdf2", "newton", 1.0 / 96.0, 0.005, None),
    ),
)
CUSTOM = ("CUSTOM", "Custom", "The settings of the Solver panel are those of no quality")
ITEMS = (*((each.identifier, each.name, each.description) for each in QUALITIES), CUSTOM)


def current(settings: PropertyGroup) -> int:
    """Number of the quality that the settings of a scene are."""
    for number, each in enumerate(QUALITIES):
        same_method = (settings.integrator, settings.solver) == (each.integrator, each.solver)
        same_step = as_decimal(settings.time_step) == as_decimal(each.time_step)
        if same_method and same_step and as_decimal(settings.tolerance) == each.tolerance:
            return number
    return len(QUALITIES)


def choose(settings: PropertyGroup, number: int) -> None:
    """Gives a scene the settings of a quality, and its cloths the subdivision."""
    if number == len(QUALITIES):
        return
    chosen, scene = QUALITIES[number], settings.id_data
    settings.integrator, settings.solver = chosen.integrator, chosen.solver
    settings.time_step, settings.tolerance = chosen.time_step, chosen.tolerance
    for obj in _cloths(scene):
        for modifier in obj.modifiers:
            if modifier.type == "SUBSURF":
                levels = modifier.render_levels
                limit = chosen.max_subdivision
                modifier.levels = levels if limit is None else min(levels, limit)


def _cloths(scene: Scene) -> list[Object]:
    return [obj for obj in scene.objects if obj.weft.role == "CLOTH" and obj.library is None]
