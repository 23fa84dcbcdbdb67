# SPDX-License-Identifier: GPL-3.0-or-later
"""Checkpoints: states of a simulation on disk, from which Resume and Rebake continue.

Independent of Blender.
"""

import json
import struct
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path

from . import atomic_file, pc2

MAGIC = b"WEFTSTATE1\0\0"
LENGTHS = struct.Struct("<QQ")  # bytes of the header, bytes of the state
SUFFIX = ".state"


@dataclass(frozen=True)
class Checkpoint:
    """State at the end of a frame, and the keys of the participants in their order."""

    frame: int
    bake: str
    library: str
    cloths: list[str]
    colliders: list[str]
    statistic: dict
    state: bytes

    def write(self, path: Path) -> None:
        """Replaces the checkpoint file atomically."""
        fields = asdict(self)
        fields["checksum"] = zlib.crc32(fields.pop("state"))
        header = json.dumps(fields).encode()
        lengths = LENGTHS.pack(len(header), len(self.state))
        atomic_file.replace(path, MAGIC + lengths + header + self.state)


def path_of(directory: Path, bake: str, frame: int) -> Path:
    """Path of the checkpoint of a bake at the end of a frame."""
    return directory / f"{bake}_{frame}{SUFFIX}"


def paths(directory: Path, bake: str) -> dict[int, Path]:
    """Checkpoint files of a bake by frame, the latest first."""
    found = {}
    for path in directory.glob(f"{bake}_*{SUFFIX}"):
        number = path.name[len(bake) + 1 : -len(SUFFIX)]
        if number.lstrip("-").isdecimal():
            found[int(number)] = path
    return dict(sorted(found.items(), reverse=True))


def latest(directory: Path, bake: str, last: int) -> Checkpoint:
    """The latest readable checkpoint up to a frame; `CacheError` with the reason without one."""
    available = paths(directory, bake)
    first = f", the first is of frame {min(available)}" if available else ""
    problem = pc2.CacheError(f"there is no checkpoint to continue from up to frame {last}{first}")
    for frame, path in available.items():
        if frame > last:
            continue
        try:
            return read(path)
        except pc2.CacheError as error:
            problem = error
    raise problem


def remove(directory: Path, bake: str, *, after: int | None = None) -> None:
    """Deletes the checkpoints of a bake, or only those after a frame."""
    for frame, path in paths(directory, bake).items():
        if after is None or frame > after:
            path.unlink(missing_ok=True)


@dataclass(frozen=True)
class CheckpointStore:
    """Checkpoint files of a bake: all that were written, or only the last one."""

    directory: Path
    bake: str
    interval: int  # frames between two checkpoints
    keep_all: bool

    def write(self, checkpoint: Checkpoint) -> None:
        """Writes a checkpoint, and deletes the earlier ones unless all are kept."""
        checkpoint.write(path_of(self.directory, self.bake, checkpoint.frame))
        if self.keep_all:
            return
        for frame, path in paths(self.directory, self.bake).items():
            if frame != checkpoint.frame:
                path.unlink(missing_ok=True)


def read(path: Path) -> Checkpoint:
    """Reads a checkpoint; `CacheError` if it is missing, damaged or of another format."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise pc2.CacheError("there is no checkpoint to continue from") from None
    except OSError as error:
        raise pc2.CacheError(f"the checkpoint cannot be read: {error.strerror}") from error
    start = len(MAGIC) + LENGTHS.size
    if not content.startswith(MAGIC) or len(content) < start:
        raise pc2.CacheError("the file is not a checkpoint of this version of Weft")
    header_length, state_length = LENGTHS.unpack_from(content, len(MAGIC))
    state = content[start + header_length :]
    if len(state) != state_length:
        raise pc2.CacheError("the checkpoint is truncated")
    try:
        header = json.loads(content[start : start + header_length])
        checksum = header.pop("checksum")
        checkpoint = Checkpoint(state=state, **header)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise pc2.CacheError(f"the checkpoint is damaged: {error}") from error
    if checksum != zlib.crc32(state):
        raise pc2.CacheError("the checkpoint is damaged: its checksum does not match")
    return checkpoint
