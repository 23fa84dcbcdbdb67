# SPDX-License-Identifier: GPL-3.0-or-later
"""Counter of changes of the file, by which derived data are known to be out of date."""

_current = 0


def value() -> int:
    """Number of changes since Blender started."""
    return _current


def increment() -> None:
    """Notes a change of anything that a result depends on."""
    global _current
    _current += 1
