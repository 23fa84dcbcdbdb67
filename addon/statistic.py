# SPDX-License-Identifier: GPL-3.0-or-later
"""What is worth telling about a bake. Nothing here knows Blender."""

from dataclasses import asdict, dataclass
from typing import Any

SUMS = (
    "steps",
    "rejected_steps",
    "newton_iterations",
    "linear_iterations",
    "unresolved_contacts",
)


class Combined:
    """The reports of the parts of a frame as if of one."""

    def __init__(self, reports: list[Any]) -> None:
        for name in SUMS:
            setattr(self, name, sum(getattr(report, name) for report in reports))
        self.contacts = reports[-1].contacts
        self.max_stretch = max(report.max_stretch for report in reports)
        self.converged = all(report.converged for report in reports)


@dataclass
class Statistic:
    """What the frames of a bake were like."""

    frames: int = 0
    seconds: float = 0.0
    steps: int = 0
    rejected_steps: int = 0
    newton_iterations: int = 0
    linear_iterations: int = 0
    contacts: int = 0  # the most in one frame
    unresolved_contacts: int = 0
    max_stretch: float = 0.0
    unconverged_frames: int = 0

    def add(self, report: Any, seconds: float) -> None:
        """Takes in the report of one frame, a `weft.Report`."""
        self.frames += 1
        self.seconds += seconds
        for name in SUMS:
            setattr(self, name, getattr(self, name) + getattr(report, name))
        self.contacts = max(self.contacts, report.contacts)
        self.max_stretch = max(self.max_stretch, report.max_stretch)
        self.unconverged_frames += not report.converged

    @classmethod
    def from_dict(cls, values: dict) -> "Statistic":
        """From a file, whichever of the numbers are in it."""
        return cls(**{name: values[name] for name in asdict(cls()) if name in values})

    def line(self) -> str:
        """One line for the panel."""
        each = self.seconds / self.frames if self.frames else 0.0
        line = (
            f"{self.frames} frames, {each:.3g} s/frame, at most {self.contacts} contacts, "
            f"largest stretch {100.0 * self.max_stretch:.2f} %, "
            f"{self.rejected_steps} rejected steps"
        )
        if self.unconverged_frames:
            line += f", {self.unconverged_frames} frames not solved to the tolerance"
        if self.unresolved_contacts:
            line += f", {self.unresolved_contacts} contacts not resolved"
        return line
