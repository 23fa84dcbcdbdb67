# SPDX-License-Identifier: GPL-3.0-or-later
"""Exceptions that operators turn into reports."""

import os

REPORTED_ERRORS = (ValueError, TypeError, RuntimeError, OSError)


class SkippedSceneError(ValueError):
    """Reason why a scene is not baked; only a warning while other scenes are."""


class UnsuitableClothError(ValueError):
    """Reason why a cloth cannot carry a result, with the key of a remedy in `checks.fixes`."""

    def __init__(self, words: str, fix: str = "") -> None:
        super().__init__(words)
        self.fix = fix


def error_message(error: BaseException, file: str = "") -> str:
    """Text of an exception for a report; for file errors with the consequence and the place.

    The place is the file that `file` tells of, by default the folder of a cache: its files have
    names that nobody knows.
    """
    if not isinstance(error, OSError):
        return str(error)
    place = str(error.filename)
    if not file and os.path.splitext(place)[1]:
        place = os.path.dirname(place)
    return f"{file or 'the cache folder cannot be used'}: {error.strerror} ({place})"
