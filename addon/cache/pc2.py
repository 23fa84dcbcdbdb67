# SPDX-License-Identifier: GPL-3.0-or-later
"""Baked frames on disk: for each cloth a PC2 file and a JSON description.

The PC2 file, which Blender's Mesh Cache modifier and other programs read, is append-only: a frame
is never rewritten. The description holds the number of valid frames with a checksum each, and is
replaced atomically after those frames have been synced. After any interruption the earlier frames
are readable, and bytes after them are ignored.

Independent of Blender.
"""

import errno
import json
import os
import struct
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import BinaryIO

import numpy as np

from . import atomic_file

FORMAT = 3
FORMAT_WITHOUT_OWNER = 2  # earlier format without the fields:
OWNER_FIELDS = frozenset(("file", "identity"))
MAGIC = b"POINTCACHE2\0"
HEADER = struct.Struct("<12siiffi")  # magic, version, vertices, first frame, rate, frames
SYNC_INTERVAL = 1.0  # seconds between two syncs: a crash loses at most their frames


class CacheError(ValueError):
    """Reason why a cache cannot be used."""


@dataclass
class Description:
    """Metadata of the frames of one cloth."""

    object: str
    blend: str  # path of the .blend file relative to the cache folder; empty if not saved
    vertices: int
    frame_start: int
    library: str
    bake: str  # identifier common to all cloths of a bake; names its checkpoints
    fingerprint: dict[str, str]
    frames: int = 0
    checksums: list[int] = field(default_factory=list)
    statistic: dict = field(default_factory=dict)  # fields of `Statistics` up to the last frame
    file: str = ""  # identifier of the .blend file, empty in old caches
    identity: str = ""  # identity of the object, empty in old caches

    def truncate(self, frames: int) -> None:
        """Drops all frames after the first `frames`."""
        self.frames = min(self.frames, frames)
        del self.checksums[self.frames :]


@dataclass(frozen=True)
class Contents:
    """Result of reading and verifying a cache."""

    description: Description
    intact: int  # number of leading frames with correct checksums
    problem: str  # defect of the first other frame, empty without one


def data_path(stem: Path) -> Path:
    """Path of the PC2 file."""
    return stem.with_name(stem.name + ".pc2")


def description_path(stem: Path) -> Path:
    """Path of the description."""
    return stem.with_name(stem.name + ".json")


# --- writing ----------------------------------------------------------------------------------


class Writer:
    """Appends frames after those in the description; the only exception is `OSError`."""

    def __init__(self, stem: Path, description: Description) -> None:
        self.stem, self.description = stem, description
        self._frame_bytes = 12 * description.vertices
        self._synced = time.monotonic()
        stem.parent.mkdir(parents=True, exist_ok=True)
        if description.frames:
            # The description first: it must not list frames that are truncated here.
            write_description(stem, description)
            self._file = data_path(stem).open("r+b", buffering=0)
            self._file.truncate(self._end())
        else:
            description_path(stem).unlink(missing_ok=True)
            self._file = data_path(stem).open("w+b", buffering=0)
            self._write_at(0, self._header())

    def append(self, frame: np.ndarray) -> None:
        """Appends one frame, `(vertices, 3)`."""
        content = np.ascontiguousarray(frame, "<f4").tobytes()
        try:
            self._write_at(self._end(), content)
        except OSError:
            self._file.truncate(self._end())
            raise
        self.description.frames += 1
        self.description.checksums.append(zlib.crc32(content))
        self._write_at(0, self._header())  # for the modifier that plays the file meanwhile
        if time.monotonic() - self._synced > SYNC_INTERVAL:
            self.sync()

    def truncate_after(self, frame: int) -> None:
        """Drops all frames after this frame number."""
        self.description.truncate(frame - self.description.frame_start + 1)
        self._file.truncate(self._end())

    def sync(self) -> None:
        """Makes all frames so far durable: PC2 header, fsync, then the description."""
        self._check_not_replaced()
        self._write_at(0, self._header())
        os.fsync(self._file.fileno())
        write_description(self.stem, self.description)
        self._synced = time.monotonic()

    def close(self) -> None:
        self._file.close()

    def _check_not_replaced(self) -> None:
        """Refuses to go on if another Blender has started a bake of the same .blend file."""
        with suppress(CacheError):
            if read_description(self.stem).bake != self.description.bake:
                message = "another Blender has begun a bake of this file"
                raise OSError(errno.EBUSY, message, self.description.object)

    def _end(self) -> int:
        return HEADER.size + self.description.frames * self._frame_bytes

    def _header(self) -> bytes:
        d = self.description
        return HEADER.pack(MAGIC, 1, d.vertices, float(d.frame_start), 1.0, d.frames)

    def _write_at(self, offset: int, content: bytes) -> None:
        self._file.seek(offset)
        rest = memoryview(content)
        while rest:
            rest = rest[self._file.write(rest) :]


def write_description(stem: Path, description: Description) -> None:
    """Replaces the description of a cache atomically."""
    body = asdict(description)
    content = json.dumps({"format": FORMAT, **body, "checksum": _checksum(body)})
    atomic_file.replace(description_path(stem), content.encode())


def _checksum(body: dict) -> int:
    return zlib.crc32(json.dumps(body, sort_keys=True).encode())


# --- reading ----------------------------------------------------------------------------------


def read_description(stem: Path) -> Description:
    """Description of a cache; `CacheError` if it is missing, damaged or of another format."""
    path = description_path(stem)
    try:
        body = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise CacheError("there is no cache in the cache folder") from None
    except OSError as error:
        raise CacheError(
            f"the description of the cache cannot be read: {error.strerror}"
        ) from error
    except ValueError as error:
        raise CacheError(f"the description of the cache is damaged: {error}") from error
    if not isinstance(body, dict) or "format" not in body:
        raise CacheError("the description of the cache is not of Weft")
    written = body.pop("format")
    if written not in (FORMAT, FORMAT_WITHOUT_OWNER):
        raise CacheError("the cache was written by another version of Weft")
    checksum = body.pop("checksum", None)
    expected = {f.name for f in fields(Description)} - (
        OWNER_FIELDS if written != FORMAT else set()
    )
    if checksum != _checksum(body) or set(body) != expected:
        raise CacheError("the description of the cache is damaged: its checksum does not match")
    return Description(**body)


def read(stem: Path) -> Contents:
    """Reads and verifies a cache; damage after intact frames is returned, not raised."""
    description = read_description(stem)
    path = data_path(stem)
    try:
        with path.open("rb") as file:
            _check_header(file.read(HEADER.size), description)
            intact, problem = _count_intact(file, description)
    except FileNotFoundError:
        raise CacheError("the frames of the cache are missing") from None
    except OSError as error:
        raise CacheError(f"the frames of the cache cannot be read: {error.strerror}") from error
    return Contents(description, intact, problem)


def frames(stem: Path, description: Description, count: int) -> Iterator[np.ndarray]:
    """Iterates over the first `count` frames, float32 `(vertices, 3)`."""
    with data_path(stem).open("rb") as file:
        file.seek(HEADER.size)
        for _ in range(count):
            content = file.read(12 * description.vertices)
            yield np.frombuffer(content, "<f4").reshape(description.vertices, 3)


def frame(stem: Path, description: Description, number: int) -> np.ndarray | None:
    """One frame by its number, float32 `(vertices, 3)`; None if it cannot be read."""
    size, index = 12 * description.vertices, number - description.frame_start
    if not 0 <= index < description.frames:
        return None
    try:
        with data_path(stem).open("rb") as file:
            file.seek(HEADER.size + index * size)
            content = file.read(size)
    except OSError:
        return None
    if len(content) < size:
        return None
    return np.frombuffer(content, "<f4").reshape(description.vertices, 3)


def _check_header(header: bytes, description: Description) -> None:
    if len(header) < HEADER.size:
        raise CacheError("the frames of the cache are truncated: they have no whole header")
    magic, version, vertices, frame_start, rate, _frames = HEADER.unpack(header)
    if magic != MAGIC or version != 1 or rate != 1.0:
        raise CacheError("the frames of the cache are not a PC2 file of Weft")
    if vertices != description.vertices or frame_start != description.frame_start:
        raise CacheError(
            f"the frames are of another bake: they have {vertices} vertices from frame "
            f"{frame_start:g}, not {description.vertices} from frame {description.frame_start}"
        )


def _count_intact(file: BinaryIO, description: Description) -> tuple[int, str]:
    size = 12 * description.vertices
    for index, checksum in enumerate(description.checksums[: description.frames]):
        content = file.read(size)
        number = description.frame_start + index
        if len(content) < size:
            return (
                index,
                f"the frames of the cache are truncated: frame {number} and later are missing",
            )
        if zlib.crc32(content) != checksum:
            return index, f"the frames of the cache are damaged from frame {number} on"
    return description.frames, ""


# --- what was read before ---------------------------------------------------------------------

# stem -> stamp of its files, and their contents
_descriptions: dict[Path, tuple[tuple, Description | None]] = {}
_contents: dict[Path, tuple[tuple, Contents | str]] = {}


def file_stamp(*paths: Path) -> tuple:
    """Modification times, sizes and inodes of files; differs after a change."""
    stamps = []
    for path in paths:
        try:
            stat = path.stat()
        except OSError:
            stamps.append(None)
        else:
            stamps.append((stat.st_mtime_ns, stat.st_size, stat.st_ino))
    return tuple(stamps)


def cached_description(stem: Path) -> Description | None:
    """Description of a cache, None if it is unusable; read again only after a change.

    The object is shared and must not be modified.
    """
    stamp = file_stamp(description_path(stem))
    if stamp == (None,):
        return None
    if stem not in _descriptions or _descriptions[stem][0] != stamp:
        try:
            _descriptions[stem] = stamp, read_description(stem)
        except CacheError:
            _descriptions[stem] = stamp, None
    return _descriptions[stem][1]


def cached_contents(stem: Path) -> Contents:
    """Verified contents as by `read`; frames are verified again only after a change."""
    stamp = file_stamp(description_path(stem), data_path(stem))
    if stem not in _contents or _contents[stem][0] != stamp:
        try:
            _contents[stem] = stamp, read(stem)
        except CacheError as error:
            _contents[stem] = stamp, str(error)
    found = _contents[stem][1]
    if isinstance(found, str):
        raise CacheError(found)
    return found


def clear_memory() -> None:
    """Drops the descriptions and contents that are held in memory."""
    _descriptions.clear()
    _contents.clear()


# --- removing ---------------------------------------------------------------------------------


def remove(stem: Path) -> None:
    """Deletes a cache: the description first, so that an incomplete cache is never valid."""
    description_path(stem).unlink(missing_ok=True)
    data_path(stem).unlink(missing_ok=True)
