# SPDX-License-Identifier: GPL-3.0-or-later
"""Atomic replacement of files."""

import os
from pathlib import Path


def replace(path: Path, content: bytes) -> None:
    """Replaces a file atomically: at any moment the old or the new content is complete."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    _sync_directory(path.parent)


def _sync_directory(directory: Path) -> None:
    if os.name == "nt":  # a directory cannot be opened there
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
