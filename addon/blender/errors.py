# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors that operators tell in words."""

REFUSALS = (ValueError, TypeError, RuntimeError, OSError)


class LeftOutError(ValueError):
    """Why a scene is not baked, which is no mistake where others are."""


class UnfitError(ValueError):
    """Why a cloth cannot take a result, and what of `checks.fixes` mends it."""

    def __init__(self, words: str, fix: str = "") -> None:
        super().__init__(words)
        self.fix = fix


def in_words(error: BaseException, file: str = "the cache folder cannot be used") -> str:
    """What went wrong, for a report; with what it means when a file cannot be used."""
    if isinstance(error, OSError):
        return f"{file}: {error.strerror} ({error.filename})"
    return str(error)
