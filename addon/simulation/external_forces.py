# SPDX-License-Identifier: GPL-3.0-or-later
"""External forces on the cloths: force fields, weighted gravity. Runs in the worker."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..force_fields import forces
from ..force_fields.forces import Motion
from ..force_fields.formulas import TextureLookup
from ..scene.reader import ClothInput, FrameInput
from . import bridge


@dataclass
class ExternalForces:
    """External forces on all cloths of a simulation."""

    cloths: list[ClothInput]
    scale: float  # metres per Blender unit
    lookup: TextureLookup
    _areas: dict[int, np.ndarray] = field(default_factory=dict)
    _loaded: set[int] = field(default_factory=set)

    def apply(self, simulation: Any, current: FrameInput, seconds: float) -> None:
        """Sets the external forces for the next `seconds`."""
        for index, cloth in enumerate(self.cloths):
            total = self._total(simulation, index, current, seconds)
            if total is None and index not in self._loaded:
                continue
            self._loaded.add(index)
            simulation.set_vertex_forces(
                index, np.zeros_like(cloth.positions) if total is None else total
            )

    def _total(
        self, simulation: Any, index: int, current: FrameInput, seconds: float
    ) -> np.ndarray | None:
        """External forces on the vertices of a cloth in N, `(vertices, 3)`; None without any."""
        cloth, weights = self.cloths[index], current.weights[index]
        acting = [(f, weights.of(f)) for f in current.fields]
        acting = [(f, weight) for f, weight in acting if weight]
        gravity = weights.factors["gravity"] - 1.0
        if not acting and not gravity:
            return None
        masses = self._masses(index, current)
        motion = Motion(simulation.positions(index), simulation.velocities(index))
        total = masses[:, None] * (gravity * np.array(current.gravity))
        if acting:
            total = total + masses[:, None] * forces.accelerations(
                acting,
                motion,
                cloth.triangles,
                seconds,
                self.scale,
                current.frame,
                self.lookup,
                weights.factors["gravity"] * np.array(current.gravity),
            )
        return total

    def _masses(self, index: int, current: FrameInput) -> np.ndarray:
        """Lumped masses of the vertices, in kg."""
        return self._area(index) * current.materials[index]["density"]

    def _area(self, index: int) -> np.ndarray:
        """Lumped areas of the vertices in m², computed at the first use."""
        if index not in self._areas:
            self._areas[index] = bridge.lumped_areas(self.cloths[index])
        return self._areas[index]
