# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands the forces on a cloth to the simulation; called by the thread that simulates."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..force_fields import forces
from ..force_fields.forces import Motion
from ..force_fields.formulas import TextureLookup
from ..scene.reader import ClothInput, FrameInput
from . import bridge


@dataclass
class ClothForces:
    """The forces on all cloths of a simulation."""

    cloths: list[ClothInput]
    scale: float  # m in a Blender unit
    lookup: TextureLookup
    _areas: dict[int, np.ndarray] = field(default_factory=dict)
    _pushed: set[int] = field(default_factory=set)

    def parts(self, simulation: Any, source: FrameInput, seconds: float) -> int:
        """In how many a frame of so many seconds is divided: pressure follows the shape by parts.

        None is longer than the oscillation of the fastest volume takes for one radian, or what is
        meant to keep the volume would throw it about.
        """
        fastest = 0.0
        pressed = [index for index, found in enumerate(source.pressures) if found is not None]
        for index in pressed:
            fastest = max(fastest, self._volume_frequency(simulation, index, source))
        longest = source.settings["time_step"] if pressed else seconds
        if fastest * longest > 1.0:
            longest = 1.0 / fastest
        return math.ceil(seconds / longest - 1e-9)

    def apply(self, simulation: Any, source: FrameInput, seconds: float) -> None:
        """Sets the forces that hold during the next `seconds`."""
        for index, cloth in enumerate(self.cloths):
            total = self._total(simulation, index, source, seconds)
            if total is None and index not in self._pushed:
                continue
            self._pushed.add(index)
            simulation.set_vertex_forces(
                index, np.zeros_like(cloth.positions) if total is None else total
            )

    def _total(
        self, simulation: Any, index: int, source: FrameInput, seconds: float
    ) -> np.ndarray | None:
        """Forces in N on the vertices of a cloth, None where there are none."""
        cloth, weights = self.cloths[index], source.weights[index]
        acting = [(f, weights.of(f)) for f in source.fields]
        acting = [(f, weight) for f, weight in acting if weight]
        gravity = weights.factors["gravity"] - 1.0
        pressure = source.pressures[index]
        if not acting and not gravity and pressure is None:
            return None
        masses = self._masses(index, source)
        motion = Motion(simulation.positions(index), simulation.velocities(index))
        total = masses[:, None] * (gravity * np.array(source.gravity))
        if acting:
            total = total + masses[:, None] * forces.accelerations(
                acting,
                motion,
                cloth.triangles,
                seconds,
                self.scale,
                source.frame,
                self.lookup,
                weights.factors["gravity"] * np.array(source.gravity),
            )
        if pressure is not None:
            ahead = motion.positions + 0.5 * seconds * motion.velocities
            total = total + forces.pressure_forces(pressure, ahead, cloth.triangles)
        return total

    def _volume_frequency(self, simulation: Any, index: int, source: FrameInput) -> float:
        """In radians a second, of a cloth that holds only its volume."""
        pressure, triangles = source.pressures[index], self.cloths[index].triangles
        masses = self._masses(index, source)
        return forces.volume_frequency(pressure, simulation.positions(index), triangles, masses)

    def _masses(self, index: int, source: FrameInput) -> np.ndarray:
        """Of the vertices, in kg."""
        return self._area(index) * source.materials[index]["density"]

    def _area(self, index: int) -> np.ndarray:
        """The mass of each vertex by the density, in m², measured when it is first needed."""
        if index not in self._areas:
            self._areas[index] = bridge.vertex_areas(self.cloths[index])
        return self._areas[index]
