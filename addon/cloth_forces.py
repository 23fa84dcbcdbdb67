# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands the forces on a cloth to the simulation; called by the thread that simulates."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import bridge
from .fields import forces
from .fields.forces import Motion
from .fields.formulas import TextureLookup
from .scene_reader import ClothInput, FrameInput


@dataclass
class ClothForces:
    """The forces on all cloths of a simulation."""

    cloths: list[ClothInput]
    scale: float  # m in a Blender unit
    lookup: TextureLookup
    _areas: dict[int, np.ndarray] = field(default_factory=dict)
    _pushed: set[int] = field(default_factory=set)

    def has_pressure(self, source: FrameInput) -> bool:
        """Whether the forces change so much within a frame that it is to be divided."""
        return any(pressure is not None for pressure in source.pressures)

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
        masses = self._area(index) * source.materials[index]["density"]
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

    def _area(self, index: int) -> np.ndarray:
        """The mass of each vertex by the density, in m², measured when it is first needed."""
        if index not in self._areas:
            self._areas[index] = bridge.vertex_areas(self.cloths[index])
        return self._areas[index]
