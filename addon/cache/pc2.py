# SPDX-License-Identifier: GPL-3.0-or-later
"""Baked frames on disk: for each cloth a PC2 file and a description of it.

The PC2 file (read by Blender's Mesh Cache modifier and by other programs) only ever grows: a
frame that is in it is never written again. The description says how many frames count, with a
checksum for each, and is replaced as a whole only after those frames have reached the disk. So
whatever is interrupted leaves the earlier frames readable; bytes behind them are ignored.

Nothing here knows Blender.
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

FORMAT = 3
WITHOUT_OWNER = 2  # an earlier format, in which descriptions do not say whose they are:
OWNER = frozenset(("file", "identity"))
MAGIC = b"POINTCACHE2\0"
HEADER = struct.Struct("<12siiffi")  # magic, version, vertices, first frame, rate, frames
SYNC_SECONDS = 1.0  # a crash loses at most the frames of this time


class CacheError(ValueError):
    """A cache that cannot be used, and why."""


@dataclass
class Description:
    """What the frames of one cloth are."""

    object: str
    blend: str  # the file that the object is in, seen from the cache folder; empty if not saved
    vertices: int
    frame_start: int
    library: str
    bake: str  # the same for all cloths baked together; names their checkpoint
    fingerprint: dict[str, str]
    frames: int = 0
    checksums: list[int] = field(default_factory=list)
    statistic: dict = field(default_factory=dict)  # of the bake, as far as it came
    file: str = ""  # the word by which this .blend file is known, empty in old caches
    identity: str = ""  # of the object, empty in old caches

    def cut(self, frames: int) -> None:
        """Forgets the frames after the first `frames`."""
        self.frames = min(self.frames, frames)
        del self.checksums[self.frames :]


@dataclass(frozen=True)
class Contents:
    """What was found on disk."""

    description: Description
    intact: int  # so many frames from the first on are as they were written
    problem: str  # what is wrong with the others, empty when nothing is


def data_path(stem: Path) -> Path:
    return stem.with_name(stem.name + ".pc2")


def description_path(stem: Path) -> Path:
    return stem.with_name(stem.name + ".json")


# --- writing ----------------------------------------------------------------------------------


class Writer:
    """Appends frames behind those that the description has; raises `OSError` and nothing else."""

    def __init__(self, stem: Path, description: Description) -> None:
        self.stem, self.description = stem, description
        self._frame_bytes = 12 * description.vertices
        self._synced = time.monotonic()
        stem.parent.mkdir(parents=True, exist_ok=True)
        if description.frames:
            # The description goes first: it must not promise frames that are cut off here.
            write_description(stem, description)
            self._file = data_path(stem).open("r+b", buffering=0)
            self._file.truncate(self._end())
        else:
            description_path(stem).unlink(missing_ok=True)
            self._file = data_path(stem).open("w+b", buffering=0)
            self._write_at(0, self._header())

    def append(self, frame: np.ndarray) -> None:
        """Adds one frame, `(vertices, 3)`."""
        content = np.ascontiguousarray(frame, "<f4").tobytes()
        try:
            self._write_at(self._end(), content)
        except OSError:
            self._file.truncate(self._end())
            raise
        self.description.frames += 1
        self.description.checksums.append(zlib.crc32(content))
        if time.monotonic() - self._synced > SYNC_SECONDS:
            self.sync()

    def cut_after(self, frame: int) -> None:
        """Drops what was written after a frame."""
        self.description.cut(frame - self.description.frame_start + 1)
        self._file.truncate(self._end())

    def sync(self) -> None:
        """Makes all frames so far safe."""
        self._check_undisturbed()
        self._write_at(0, self._header())
        os.fsync(self._file.fileno())
        write_description(self.stem, self.description)
        self._synced = time.monotonic()

    def close(self) -> None:
        self._file.close()

    def _check_undisturbed(self) -> None:
        """The same .blend file may be open in another Blender, which has begun a bake since."""
        with suppress(CacheError):
            if read_description(self.stem).bake != self.description.bake:
                words = "another Blender has begun a bake of this file"
                raise OSError(errno.EBUSY, words, self.stem.name)

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


def replace_file(path: Path, content: bytes) -> None:
    """Writes a file so that at any moment either the old or the new one is there, whole."""
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


def write_description(stem: Path, description: Description) -> None:
    """Replaces the description of a cache, all or nothing."""
    body = asdict(description)
    content = json.dumps({"format": FORMAT, **body, "checksum": _checksum(body)})
    replace_file(description_path(stem), content.encode())


def _checksum(body: dict) -> int:
    return zlib.crc32(json.dumps(body, sort_keys=True).encode())


# --- reading ----------------------------------------------------------------------------------


def read_description(stem: Path) -> Description:
    """The description of a cache; refuses one that is missing, damaged or foreign."""
    path = description_path(stem)
    try:
        body = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise CacheError(f"there is no cache '{path.name}' in the cache folder") from None
    except OSError as error:
        raise CacheError(f"'{path.name}' cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise CacheError(f"'{path.name}' is damaged: {error}") from error
    if not isinstance(body, dict) or "format" not in body:
        raise CacheError(f"'{path.name}' is not a description of a Weft cache")
    written = body.pop("format")
    if written not in (FORMAT, WITHOUT_OWNER):
        raise CacheError(f"'{path.name}' was written by another version of Weft")
    checksum = body.pop("checksum", None)
    expected = {f.name for f in fields(Description)} - (OWNER if written != FORMAT else set())
    if checksum != _checksum(body) or set(body) != expected:
        raise CacheError(f"'{path.name}' is damaged: its checksum does not match")
    return Description(**body)


def read(stem: Path) -> Contents:
    """Reads and verifies a cache; damage behind intact frames is told, not raised."""
    description = read_description(stem)
    path = data_path(stem)
    try:
        with path.open("rb") as file:
            _check_header(path, file.read(HEADER.size), description)
            intact, problem = _count_intact(path, file, description)
    except FileNotFoundError:
        raise CacheError(f"there is no '{path.name}' in the cache folder") from None
    except OSError as error:
        raise CacheError(f"'{path.name}' cannot be read: {error.strerror}") from error
    return Contents(description, intact, problem)


def frames(stem: Path, description: Description, count: int) -> Iterator[np.ndarray]:
    """The first frames one by one, float32 `(vertices, 3)`."""
    with data_path(stem).open("rb") as file:
        file.seek(HEADER.size)
        for _ in range(count):
            content = file.read(12 * description.vertices)
            yield np.frombuffer(content, "<f4").reshape(description.vertices, 3)


def frame(stem: Path, description: Description, number: int) -> np.ndarray | None:
    """One frame by its number, float32 `(vertices, 3)`; None where it cannot be read."""
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


def _check_header(path: Path, header: bytes, description: Description) -> None:
    if len(header) < HEADER.size:
        raise CacheError(f"'{path.name}' is truncated: it has no whole header")
    magic, version, vertices, frame_start, rate, _frames = HEADER.unpack(header)
    if magic != MAGIC or version != 1 or rate != 1.0:
        raise CacheError(f"'{path.name}' is not a PC2 file of Weft")
    if vertices != description.vertices or frame_start != description.frame_start:
        raise CacheError(
            f"'{path.name}' belongs to another bake: it has {vertices} vertices from frame "
            f"{frame_start:g}, not {description.vertices} from frame {description.frame_start}"
        )


def _count_intact(path: Path, file: BinaryIO, description: Description) -> tuple[int, str]:
    size = 12 * description.vertices
    for index, checksum in enumerate(description.checksums[: description.frames]):
        content = file.read(size)
        number = description.frame_start + index
        if len(content) < size:
            return index, f"'{path.name}' is truncated: frame {number} and later are missing"
        if zlib.crc32(content) != checksum:
            return index, f"'{path.name}' is damaged from frame {number} on"
    return description.frames, ""


# --- what was read before ---------------------------------------------------------------------

# stem -> stamp of its files, and what was read of them
_described: dict[Path, tuple[tuple, Description | None]] = {}
_verified: dict[Path, tuple[tuple, Contents | str]] = {}


def stamp(*paths: Path) -> tuple:
    """Changes when these files do."""
    stamps = []
    for path in paths:
        try:
            stat = path.stat()
        except OSError:
            stamps.append(None)
        else:
            stamps.append((stat.st_mtime_ns, stat.st_size, stat.st_ino))
    return tuple(stamps)


def described(stem: Path) -> Description | None:
    """The description, None where it cannot be used; read again only when it has changed.

    It is shared: nobody may change it.
    """
    now = stamp(description_path(stem))
    if now == (None,):
        return None
    if stem not in _described or _described[stem][0] != now:
        try:
            _described[stem] = now, read_description(stem)
        except CacheError:
            _described[stem] = now, None
    return _described[stem][1]


def verified(stem: Path) -> Contents:
    """The same as `read`, which goes through all frames only when the files have changed."""
    now = stamp(description_path(stem), data_path(stem))
    if stem not in _verified or _verified[stem][0] != now:
        try:
            _verified[stem] = now, read(stem)
        except CacheError as error:
            _verified[stem] = now, str(error)
    found = _verified[stem][1]
    if isinstance(found, str):
        raise CacheError(found)
    return found


def forget() -> None:
    """Lets go of what was read."""
    _described.clear()
    _verified.clear()


# --- removing ---------------------------------------------------------------------------------


def remove(stem: Path) -> None:
    """Deletes a cache; the description first, so that no half cache looks like a whole one."""
    description_path(stem).unlink(missing_ok=True)
    data_path(stem).unlink(missing_ok=True)
