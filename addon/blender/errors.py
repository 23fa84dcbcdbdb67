# SPDX-License-Identifier: GPL-3.0-or-later
"""Exceptions that operators turn into reports."""

REPORTED_ERRORS = (ValueError, TypeError, RuntimeError, OSError)


class SkippedSceneError(ValueError):
    """Reason why a scene is not baked; only a warning while other scenes are."""


class UnsuitableClothError(ValueError):
    """Reason why a cloth cannot carry a result, with the key of a remedy in `checks.fixes`."""

    def __init__(self, words: str, fix: str = "") -> None:
        super().__init__(words)
        self.fix = fix


def error_message(error: BaseException, file: str = "the cache folder cannot be used") -> str:
    """Text of an exception for a report; for file errors with the file and the consequence."""
    if isinstance(error, OSError):
        return f"{file}: {error.strerror} ({error.filename})"
    return str(error)
