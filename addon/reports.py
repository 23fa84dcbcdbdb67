# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors that operators tell in words."""

REFUSALS = (ValueError, TypeError, RuntimeError, OSError)


def in_words(error: BaseException) -> str:
    """What went wrong, for a report."""
    if isinstance(error, OSError):
        return f"the cache folder cannot be used: {error.strerror} ({error.filename})"
    return str(error)
