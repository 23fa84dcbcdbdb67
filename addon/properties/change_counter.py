# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts changes of the file, so that what is derived from it knows when to look again."""

_current = 0


def current() -> int:
    return _current


def bump() -> None:
    """Something that a result depends on may have changed."""
    global _current
    _current += 1
