# SPDX-License-Identifier: GPL-3.0-or-later
"""What is worth telling about a bake. Nothing here knows Blender."""

from dataclasses import asdict, dataclass
from typing import Any

SUMMED_FIELDS = (
    "steps",
    "rejected_steps",
    "newton_iterations",
    "linear_iterations",
    "unresolved_contacts",
)


LARGE_STRETCH = 0.5


class CombinedReport:
    """The reports of the parts of a frame as if of one."""

    def __init__(self, reports: list[Any]) -> None:
        for name in SUMMED_FIELDS:
            setattr(self, name, sum(getattr(report, name) for report in reports))
        self.contacts = reports[-1].contacts
        self.max_stretch = max(report.max_stretch for report in reports)
        self.converged = all(report.converged for report in reports)


@dataclass
class Statistics:
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
        for name in SUMMED_FIELDS:
            setattr(self, name, getattr(self, name) + getattr(report, name))
        self.contacts = max(self.contacts, report.contacts)
        self.max_stretch = max(self.max_stretch, report.max_stretch)
        self.unconverged_frames += not report.converged

    @classmethod
    def from_dict(cls, values: dict) -> "Statistics":
        """From a file, whichever of the numbers are in it."""
        return cls(**{name: values[name] for name in asdict(cls()) if name in values})

    def summary(self) -> str:
        """One line for the panel."""
        each = self.seconds / self.frames if self.frames else 0.0
        return (
            f"{self.frames} frames in {_duration(self.seconds)}, {each:.3g} s/frame, at most "
            f"{self.contacts} contacts, largest stretch {100.0 * self.max_stretch:.2f} %"
        )

    def warnings(self) -> list[str]:
        """What was not as it should be."""
        found = []
        if self.unconverged_frames:
            found.append(f"{self.unconverged_frames} frames were not solved to the tolerance")
        if self.unresolved_contacts:
            found.append(
                f"{self.unresolved_contacts} contacts were not resolved: a collider squeezed the "
                "cloth against another, or against itself"
            )
        if self.max_stretch > LARGE_STRETCH:
            found.append(f"The cloth was stretched by {100.0 * self.max_stretch:.0f} %")
        if self.rejected_steps > self.steps:
            found.append(f"{self.rejected_steps} time steps had to be tried again")
        return found


def _duration(seconds: float) -> str:
    """A time in the unit that reads best."""
    if seconds < 60.0:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d} h" if hours else f"{minutes}:{rest:02d} min"
