# SPDX-License-Identifier: GPL-3.0-or-later
"""A finding of a check."""

from dataclasses import dataclass, field

import numpy as np
from bpy.types import Object

ERROR, WARNING, INFO = "ERROR", "WARNING", "INFO"
ORDER = (ERROR, WARNING, INFO)


@dataclass(frozen=True)
class Finding:
    """Defect or remark: severity, text, explanation, elements and remedy."""

    severity: str
    title: str  # starts with the object name if there is one
    meaning: str
    session_uid: int | None = None  # of the object to select
    domain: str = "OBJECT"  # or "VERT", "EDGE", "FACE": domain of `indices`
    indices: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    fix: str = ""  # key of a remedy in `fixes`, empty without a safe one


def on_object(severity: str, obj: Object, text: str, meaning: str, fix: str = "") -> Finding:
    """A finding about an object as a whole."""
    return Finding(severity, f"{obj.name}: {text}", meaning, obj.session_uid, fix=fix)


def on_elements(
    severity: str, obj: Object, text: str, meaning: str, *, domain: str, indices: np.ndarray
) -> Finding:
    """A finding about vertices, edges or faces of an object's mesh."""
    title = f"{obj.name}: {len(indices)} {text}"
    return Finding(severity, title, meaning, obj.session_uid, domain, np.asarray(indices))
