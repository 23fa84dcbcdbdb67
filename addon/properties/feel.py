# SPDX-License-Identifier: GPL-3.0-or-later
"""How a fabric feels: sliders that move its measured values together.

At 0 the values are those of the chosen fabric; each unit is a factor of 10 on all fields of a
slider. They are views of these fields, and not stored.
"""

from collections.abc import Callable

import numpy as np
from bpy.props import FloatProperty
from bpy.types import PropertyGroup

from . import callbacks

LARGEST = 2.0  # decades in either direction


def slider(name: str, description: str, fields: tuple[str, ...], sign: float = 1.0) -> object:
    """Property that multiplies fields of a material by 10 to the power of its value."""
    return FloatProperty(
        name=name,
        description=f"{description}, without unit: 0 is the fabric as it was measured, "
        "1 ten times as much",
        get=_reader(fields, sign),
        set=_writer(fields, sign),
        min=-LARGEST,
        max=LARGEST,
        soft_min=-1.0,
        soft_max=1.0,
        step=5,
        precision=2,
        options={"SKIP_SAVE"},
    )


def _reader(fields: tuple[str, ...], sign: float) -> Callable[[PropertyGroup], float]:
    def read(material: PropertyGroup) -> float:
        ratios = _ratios(material, fields)
        if not ratios:
            return 0.0
        mean = float(np.mean(np.log10(ratios)))
        return min(max(sign * round(mean, 6), -LARGEST), LARGEST) + 0.0

    return read


def _writer(fields: tuple[str, ...], sign: float) -> Callable[[PropertyGroup, float], None]:
    def write(material: PropertyGroup, value: float) -> None:
        ratios = _ratios(material, fields)
        if not ratios:
            return
        factor = 10.0 ** (sign * value - float(np.mean(np.log10(ratios))))
        for name in fields:
            setattr(material, name, getattr(material, name) * factor)

    return write


def _ratios(material: PropertyGroup, fields: tuple[str, ...]) -> list[float]:
    """Fields by what the fabric has, where neither is 0."""
    fabric = callbacks.call("fabric_fields", material.fabric)
    pairs = ((material.value(name), fabric.get(name)) for name in fields)
    return [value / measured for value, measured in pairs if value and measured]
