# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a simulation on disk, from which Resume continues. Nothing here knows Blender."""

import json
import struct
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path

from . import cache

MAGIC = b"WEFTSTATE1\0\0"
LENGTHS = struct.Struct("<QQ")  # bytes of the head, bytes of the state
SUFFIX = ".state"


@dataclass(frozen=True)
class Checkpoint:
    """The state at the end of a frame, and the objects it is of, in their order."""

    frame: int
    library: str
    cloths: list[str]
    colliders: list[str]
    statistic: dict
    state: bytes

    def write(self, path: Path) -> None:
        """Replaces the checkpoint on disk, all or nothing."""
        fields = asdict(self)
        fields["checksum"] = zlib.crc32(fields.pop("state"))
        head = json.dumps(fields).encode()
        lengths = LENGTHS.pack(len(head), len(self.state))
        cache.replace_file(path, MAGIC + lengths + head + self.state)


def path_of(directory: Path, bake: str) -> Path:
    """Where the checkpoint of a bake is kept."""
    return directory / f"{bake}{SUFFIX}"


def read(path: Path) -> Checkpoint:
    """Reads a checkpoint; refuses one that is missing, damaged or foreign."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise cache.CacheError("there is no checkpoint to continue from") from None
    except OSError as error:
        raise cache.CacheError(f"'{path.name}' cannot be read: {error.strerror}") from error
    start = len(MAGIC) + LENGTHS.size
    if not content.startswith(MAGIC) or len(content) < start:
        raise cache.CacheError(f"'{path.name}' is not a checkpoint of this version of Weft")
    head_length, state_length = LENGTHS.unpack_from(content, len(MAGIC))
    state = content[start + head_length :]
    if len(state) != state_length:
        raise cache.CacheError(f"'{path.name}' is truncated")
    try:
        head = json.loads(content[start : start + head_length])
        checksum = head.pop("checksum")
        checkpoint = Checkpoint(state=state, **head)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise cache.CacheError(f"'{path.name}' is damaged: {error}") from error
    if checksum != zlib.crc32(state):
        raise cache.CacheError(f"'{path.name}' is damaged: its checksum does not match")
    return checkpoint


def remove_if_unused(directory: Path, bake: str) -> None:
    """Deletes the checkpoint of a bake unless the cache of another cloth belongs to it."""
    if any(bake.encode() in path.read_bytes() for path in directory.glob("*.json")):
        return
    path_of(directory, bake).unlink(missing_ok=True)
