# SPDX-License-Identifier: GPL-3.0-or-later
"""The states of a simulation on disk, from which Resume and Rebake continue.

Nothing here knows Blender.
"""

import json
import struct
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path

from . import pc2

MAGIC = b"WEFTSTATE1\0\0"
LENGTHS = struct.Struct("<QQ")  # bytes of the head, bytes of the state
SUFFIX = ".state"


@dataclass(frozen=True)
class Checkpoint:
    """The state at the end of a frame, and the objects it is of, in their order."""

    frame: int
    bake: str
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
        pc2.replace_file(path, MAGIC + lengths + head + self.state)


def path_of(directory: Path, bake: str, frame: int) -> Path:
    """Where the state of a bake at the end of a frame is kept."""
    return directory / f"{bake}_{frame}{SUFFIX}"


def paths(directory: Path, bake: str) -> dict[int, Path]:
    """The checkpoints of a bake by frame, the latest first."""
    found = {}
    for path in directory.glob(f"{bake}_*{SUFFIX}"):
        number = path.name[len(bake) + 1 : -len(SUFFIX)]
        if number.lstrip("-").isdecimal():
            found[int(number)] = path
    return dict(sorted(found.items(), reverse=True))


def latest(directory: Path, bake: str, last: int) -> Checkpoint:
    """The last checkpoint up to a frame that can be read; refuses with the reason when none can."""
    there = paths(directory, bake)
    first = f", the first is of frame {min(there)}" if there else ""
    problem = pc2.CacheError(f"there is no checkpoint to continue from up to frame {last}{first}")
    for frame, path in there.items():
        if frame > last:
            continue
        try:
            return read(path)
        except pc2.CacheError as error:
            problem = error
    raise problem


def remove(directory: Path, bake: str, *, after: int | None = None) -> None:
    """Deletes the checkpoints of a bake, or those behind a frame."""
    for frame, path in paths(directory, bake).items():
        if after is None or frame > after:
            path.unlink(missing_ok=True)


@dataclass(frozen=True)
class Store:
    """Where a bake puts its checkpoints: all of them, or only ever the last one."""

    directory: Path
    bake: str
    interval: int  # frames between two
    keep_all: bool

    def write(self, checkpoint: Checkpoint) -> None:
        """Adds a checkpoint."""
        checkpoint.write(path_of(self.directory, self.bake, checkpoint.frame))
        if self.keep_all:
            return
        for frame, path in paths(self.directory, self.bake).items():
            if frame != checkpoint.frame:
                path.unlink(missing_ok=True)


def read(path: Path) -> Checkpoint:
    """Reads a checkpoint; refuses one that is missing, damaged or foreign."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise pc2.CacheError("there is no checkpoint to continue from") from None
    except OSError as error:
        raise pc2.CacheError(f"'{path.name}' cannot be read: {error.strerror}") from error
    start = len(MAGIC) + LENGTHS.size
    if not content.startswith(MAGIC) or len(content) < start:
        raise pc2.CacheError(f"'{path.name}' is not a checkpoint of this version of Weft")
    head_length, state_length = LENGTHS.unpack_from(content, len(MAGIC))
    state = content[start + head_length :]
    if len(state) != state_length:
        raise pc2.CacheError(f"'{path.name}' is truncated")
    try:
        head = json.loads(content[start : start + head_length])
        checksum = head.pop("checksum")
        checkpoint = Checkpoint(state=state, **head)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise pc2.CacheError(f"'{path.name}' is damaged: {error}") from error
    if checksum != zlib.crc32(state):
        raise pc2.CacheError(f"'{path.name}' is damaged: its checksum does not match")
    return checkpoint
