# SPDX-License-Identifier: GPL-3.0-or-later
"""How a fabric looks on its card: colour, weave and sheen. Nothing of it is simulated."""

from dataclasses import dataclass

import numpy as np

PITCH = 0.008  # of a drawn pattern, in m: yarns themselves are too fine for a card
NET_HOLE = 0.36  # width of a hole of a net, of its pitch
RELIEF = 0.16  # part of the brightness that a pattern changes


@dataclass(frozen=True)
class Look:
    """Colours are red, green and blue from 0 to 1, as on a screen."""

    front: tuple[float, float, float] = (0.55, 0.68, 0.86)
    back: tuple[float, float, float] = (0.80, 0.62, 0.42)
    weave: str = "smooth"
    sheen: float = 0.12  # brightness of a highlight, from 0 to 1
    gloss: float = 40.0  # exponent of a highlight: larger makes it smaller

    @classmethod
    def from_dict(cls, values: dict) -> "Look":
        """Look in the file of a fabric; `ValueError` if something in it is unknown."""
        unknown = set(values) - set(cls.__dataclass_fields__)
        if unknown or values.get("weave", "smooth") not in WEAVES:
            raise ValueError(f"its look has no {', '.join(sorted(unknown)) or values['weave']}")
        colors = {name: tuple(values[name]) for name in ("front", "back") if name in values}
        if any(len(color) != 3 for color in colors.values()):
            raise ValueError("a colour of its look is no list of red, green and blue")
        return cls(**{**values, **colors})


def brightness(weave: str, places: np.ndarray) -> np.ndarray:
    """Factor on the brightness at places of the flat fabric in m, `(n, 2)`; 0 in a hole."""
    return WEAVES[weave](places / PITCH)


def _smooth(uv: np.ndarray) -> np.ndarray:
    return np.ones(len(uv))


def _plain(uv: np.ndarray) -> np.ndarray:
    """Over and under in turn."""
    over = np.sin(np.pi * uv[:, 0]) * np.sin(np.pi * uv[:, 1])
    return 1.0 + RELIEF * np.sign(over) * np.sqrt(np.abs(over))


def _twill(uv: np.ndarray) -> np.ndarray:
    """Diagonal ribs."""
    return 1.0 + RELIEF * np.sin(2.0 * np.pi * (uv[:, 0] + uv[:, 1]) / 1.5)


def _knit(uv: np.ndarray) -> np.ndarray:
    """Columns of loops that look like the letter V."""
    side = np.abs(uv[:, 0] % 1.0 - 0.5)
    return 1.0 + RELIEF * np.sin(2.0 * np.pi * (uv[:, 1] - 1.2 * side))


def _felt(uv: np.ndarray) -> np.ndarray:
    """Fibres in no order: waves in many directions."""
    angles = np.arange(7) * 2.4
    waves = [np.sin(9.0 * (uv[:, 0] * np.cos(a) + uv[:, 1] * np.sin(a)) + 5.0 * a) for a in angles]
    return 1.0 + 0.4 * RELIEF * np.sum(waves, axis=0)


def _grain(uv: np.ndarray) -> np.ndarray:
    """Waves in no order, as those of hide."""
    return _felt(0.6 * uv)


def _net(uv: np.ndarray) -> np.ndarray:
    """Threads around holes, in rows that are offset."""
    row = np.floor(uv[:, 1])
    places = np.column_stack([(uv[:, 0] + 0.5 * row) % 1.0, uv[:, 1] % 1.0]) - 0.5
    return (np.linalg.norm(places, axis=1) > NET_HOLE).astype(float)


WEAVES = {
    "smooth": _smooth,
    "plain": _plain,
    "twill": _twill,
    "knit": _knit,
    "felt": _felt,
    "grain": _grain,
    "net": _net,
}
