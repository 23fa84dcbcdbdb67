# SPDX-License-Identifier: GPL-3.0-or-later
"""Statistics of a bake, summed over the reports of its frames. Independent of Blender."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

SUMMED_FIELDS = (
    "steps",
    "rejected_steps",
    "newton_iterations",
    "linear_iterations",
    "unresolved_contacts",
)
MAX_FRAMES = 5  # that a warning names
LARGE_STRETCH = 0.5  # strain from which a warning is given
# Words for the reasons in `weft.Report.rejections`; others are shown by their names.
REJECTION_WORDS = {
    "force_balance": "forces out of balance",
    "force_residual": "forces too inexact",
    "instability": "the integrator became unstable",
    "linear_solve": "equations could not be solved",
    "newton_step": "positions did not settle",
    "not_finite": "numbers became too large",
    "penetration": "surfaces would have crossed",
    "stagnation": "contacts did not settle",
    "stretch_change": "stretched too much at once",
    "truncated_displacement": "held back by contacts",
}


def _rejections(reports: Iterable[Any]) -> dict[str, int]:
    """Counts of rejected steps by reason; earlier libraries report none."""
    total: Counter[str] = Counter()
    for report in reports:
        total.update(getattr(report, "rejections", {}))
    return dict(total)


@dataclass(frozen=True)
class Place:
    """Where and when one cloth was stretched most; the field names are those in the files."""

    frame: int = 0
    stretch: float = 0.0  # strain
    vertices: list[int] = field(default_factory=list)
    is_pinned: bool = False  # whether a vertex of it was held

    @classmethod
    def from_dict(cls, values: dict) -> "Place":
        """Place from the description of a cache; earlier ones have none."""
        return cls(**values.get("place", {}))


@dataclass(frozen=True)
class PinchedPlace:
    """Where colliders left one cloth no room; the field names are those in the files."""

    first: int = 0  # frame
    last: int = 0  # frame
    frame: int = 0  # at which they held most of it
    vertices: list[int] = field(default_factory=list)  # at that frame

    @classmethod
    def from_dict(cls, values: dict) -> "PinchedPlace":
        """Place from the description of a cache; earlier ones have none."""
        return cls(**values.get("pinched", {}))

    def at_frame(self, frame: int, vertices: list[int]) -> "PinchedPlace":
        """The place after another frame, at which these vertices were held."""
        if not vertices:
            return self
        most = self if len(vertices) <= len(self.vertices) else PinchedPlace(0, 0, frame, vertices)
        return PinchedPlace(self.first or frame, frame, most.frame, most.vertices)

    def warning(self) -> str:
        """One sentence for the panel."""
        frames = f"frame {self.first}"
        if self.last > self.first:
            frames = f"frames {self.first} to {self.last}"
        return (
            f"Colliders left the cloth no room at {frames}: what was between them moved along with "
            f"both and may be drawn inside of them, at most vertices: {len(self.vertices)}"
        )


@dataclass
class Statistics:
    """Statistics of the frames of a bake; the field names are those in the files."""

    frames: int = 0
    seconds: float = 0.0
    steps: int = 0
    rejected_steps: int = 0
    newton_iterations: int = 0
    linear_iterations: int = 0
    contacts: int = 0  # maximum over the frames
    unresolved_contacts: int = 0
    max_stretch: float = 0.0  # largest strain
    unconverged_frames: int = 0
    rejections: dict[str, int] = field(default_factory=dict)  # rejected steps by reason
    jumps: list[int] = field(default_factory=list)  # frames at which colliders or pins jumped

    def add(self, reports: list[Any], seconds: float) -> None:
        """Adds a frame: the `weft.Report` of each part of it, none where it was bridged."""
        self.frames += 1
        self.seconds += seconds
        for name in SUMMED_FIELDS:
            total = sum(getattr(report, name) for report in reports)
            setattr(self, name, getattr(self, name) + total)
        self.rejections = _rejections((self, *reports))
        self.contacts = max(self.contacts, *(report.contacts for report in reports), 0)
        self.max_stretch = max(self.max_stretch, *(report.max_stretch for report in reports), 0.0)
        self.unconverged_frames += not all(report.converged for report in reports)

    @classmethod
    def from_dict(cls, values: dict) -> "Statistics":
        """Statistics from a file; fields that the file lacks have their defaults."""
        return cls(**{f.name: values[f.name] for f in fields(cls) if f.name in values})

    def summary(self) -> str:
        """One line for the panel."""
        each = self.seconds / self.frames if self.frames else 0.0
        rejected = f", {self._rejected_text()}" if 0 < self.rejected_steps <= self.steps else ""
        return (
            f"{self.frames} frames in {_duration(self.seconds)}, {each:.3g} s/frame, at most "
            f"{self.contacts} contacts, largest stretch {100.0 * self.max_stretch:.2f} %{rejected}"
        )

    def warnings(self, place: Place | None = None, *, has_colliders: bool = True) -> list[str]:
        """Deviations from a flawless bake, one sentence each; `place` is that of one cloth."""
        found = []
        if self.unconverged_frames:
            found.append(f"{self.unconverged_frames} frames were not solved to the tolerance")
        if self.jumps:
            frames = ", ".join(map(str, self.jumps[:MAX_FRAMES]))
            found.append(
                f"Colliders or pins jumped to frame {frames}: cloth went along with them, and "
                "began to move anew"
            )
        if self.unresolved_contacts:
            what = "a collider squeezed cloth" if has_colliders else "pins squeezed cloth"
            found.append(
                f"{self.unresolved_contacts} contacts were not resolved: {what} against other "
                "cloth or itself, or it crossed at the start"
            )
        stretch = place.stretch if place is not None and place.vertices else self.max_stretch
        if stretch > LARGE_STRETCH:
            found.append(f"The cloth was stretched by {100.0 * stretch:.0f} %{_where(place)}")
        if self.rejected_steps > self.steps:
            found.append(self._rejected_text())
        return found

    def _rejected_text(self) -> str:
        """Number of rejected time steps, with the reasons by descending count."""
        reasons = sorted(self.rejections.items(), key=lambda item: (-item[1], item[0]))
        words = [f"{REJECTION_WORDS.get(name, name)} ({count})" for name, count in reasons if count]
        steps = "time step" if self.rejected_steps == 1 else "time steps"
        text = f"{self.rejected_steps} {steps} had to be tried again"
        return f"{text}: {', '.join(words)}" if words else text


def _where(place: Place | None) -> str:
    if place is None or not place.vertices:
        return ""
    what = "where pins draw it" if place.is_pinned else "away from its pins"
    return f" at frame {place.frame}, {what}"


def _duration(seconds: float) -> str:
    """A duration in a readable unit."""
    if seconds < 60.0:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d} h" if hours else f"{minutes}:{rest:02d} min"
