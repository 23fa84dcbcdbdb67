# SPDX-License-Identifier: MIT OR Apache-2.0
"""The files of a bake: exact round trips, and every kind of damage told in words."""

import dataclasses
import json
import os
import resource
import signal
import struct
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
import small_scenes

from addon.cache import atomic_file, checkpoint, pc2
from addon.cache.checkpoint import Checkpoint
from addon.storage import cache_paths

VERTICES, FRAMES, FIRST = 50, 6, 11


@pytest.fixture
def stem(tmp_path):
    return tmp_path / "caches" / "Sheet_0123"


@pytest.fixture
def frames():
    return np.random.default_rng(7).normal(size=(FRAMES, VERTICES, 3)).astype(np.float32)


def describe(**changes):
    fields = {
        "object": "Sheet",
        "blend": "scene.blend",
        "vertices": VERTICES,
        "frame_start": FIRST,
        "library": "1.2.3",
        "bake": "bake_1",
        "fingerprint": {"settings": "00ff"},
    }
    return pc2.Description(**(fields | changes))


def written(stem, frames):
    writer = pc2.Writer(stem, describe())
    for frame in frames:
        writer.append(frame)
    writer.sync()
    writer.close()
    return writer


def read_frames(stem):
    contents = pc2.read(stem)
    return np.array(list(pc2.frames(stem, contents.description, contents.intact)))


def test_what_is_written_is_read(stem, frames):
    written(stem, frames)
    contents = pc2.read(stem)
    assert (contents.intact, contents.problem) == (FRAMES, "")
    assert contents.description.fingerprint == {"settings": "00ff"}
    assert np.array_equal(read_frames(stem), frames)


def test_the_data_file_is_a_pc2_file(stem, frames):
    written(stem, frames)
    content = pc2.data_path(stem).read_bytes()
    header = struct.unpack_from("<12siiffi", content)
    assert header == (b"POINTCACHE2\0", 1, VERTICES, float(FIRST), 1.0, FRAMES)
    assert content[32:] == frames.tobytes()


def test_blenders_own_mesh_cache_modifier_plays_the_file(stem, frames):
    written(stem, frames)
    obj = small_scenes.add_mesh("Points", np.zeros((VERTICES, 3)), [])
    modifier = obj.modifiers.new("cache", "MESH_CACHE")
    modifier.cache_format, modifier.filepath = "PC2", str(pc2.data_path(stem))
    modifier.forward_axis, modifier.up_axis = "POS_Y", "POS_Z"
    modifier.frame_start = FIRST
    for index, frame in enumerate(frames):
        bpy.context.scene.frame_set(FIRST + index)
        assert np.array_equal(small_scenes.evaluated(obj), frame)


def test_frames_that_were_not_described_do_not_count(stem, frames):
    written(stem, frames[:4])
    with pc2.data_path(stem).open("ab") as file:
        file.write(frames[4].tobytes()[:100])
    contents = pc2.read(stem)
    assert (contents.intact, contents.problem) == (4, "")
    assert np.array_equal(read_frames(stem), frames[:4])


KILLED_WRITER = """
import os, signal, sys
from pathlib import Path
import numpy as np
from addon.cache import pc2

frames = np.load(sys.argv[2])
description = pc2.Description("Sheet", "a.blend", frames.shape[1], 11, "1.2.3", "bake_1", {})
writer = pc2.Writer(Path(sys.argv[1]), description)
for frame in frames[:3]:
    writer.append(frame)
writer.sync()
writer.append(frames[3])
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_writer_leaves_what_was_made_safe(stem, frames, tmp_path):
    np.save(tmp_path / "frames.npy", frames)
    command = [sys.executable, "-c", KILLED_WRITER, stem, tmp_path / "frames.npy"]
    child = subprocess.run(command, cwd=Path(__file__).parents[3], check=False)
    assert child.returncode == -signal.SIGKILL
    assert np.array_equal(read_frames(stem), frames[:3])


def test_writing_goes_on_behind_kept_frames(stem, frames):
    written(stem, frames[:4])
    description = pc2.read_description(stem)
    description.truncate(3)
    writer = pc2.Writer(stem, description)
    for frame in frames[3:]:
        writer.append(frame)
    writer.sync()
    writer.close()
    assert np.array_equal(read_frames(stem), frames)


def test_a_full_disk_keeps_the_finished_frames(stem, frames):
    writer = pc2.Writer(stem, describe())
    for frame in frames[:2]:
        writer.append(frame)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    room = pc2.HEADER.size + 2 * frames[0].nbytes + 100
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
    try:
        with pytest.raises(OSError):
            writer.append(frames[2])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert pc2.data_path(stem).stat().st_size == room - 100
    writer.sync()
    writer.close()
    assert np.array_equal(read_frames(stem), frames[:2])


def test_a_failed_replacement_leaves_the_old_file(tmp_path):
    path = tmp_path / "description.json"
    path.write_bytes(b"old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    try:
        with pytest.raises(OSError):
            atomic_file.replace(path, b"x" * 100)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["description.json"]


def test_a_truncated_file_gives_its_whole_frames(stem, frames):
    written(stem, frames)
    size = pc2.HEADER.size + 3 * frames[0].nbytes + 17
    os.truncate(pc2.data_path(stem), size)
    contents = pc2.read(stem)
    assert contents.intact == 3
    assert "truncated: frame 14 and later" in contents.problem
    assert np.array_equal(read_frames(stem), frames[:3])


def test_a_damaged_frame_is_found_by_its_checksum(stem, frames):
    written(stem, frames)
    with pc2.data_path(stem).open("r+b") as file:
        file.seek(pc2.HEADER.size + 2 * frames[0].nbytes + 5)
        file.write(b"\xff")
    contents = pc2.read(stem)
    assert (contents.intact, "damaged from frame 13" in contents.problem) == (2, True)


def change_header(stem, **values):
    path = pc2.data_path(stem)
    names = ("magic", "version", "vertices", "frame_start", "rate", "frames")
    content = path.read_bytes()
    fields = dict(zip(names, pc2.HEADER.unpack_from(content), strict=True)) | values
    path.write_bytes(pc2.HEADER.pack(*fields.values()) + content[pc2.HEADER.size :])


def change_description(stem, **values):
    path = pc2.description_path(stem)
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda s: pc2.description_path(s).unlink(), "^there is no cache in the cache folder$"),
        (lambda s: pc2.data_path(s).unlink(), "the frames of the cache are missing"),
        (lambda s: pc2.description_path(s).write_text("{"), "description of the cache is damaged"),
        (lambda s: pc2.description_path(s).write_bytes(b"\xff\xfe"), "is damaged"),
        (lambda s: pc2.description_path(s).write_text("[1]"), "not of Weft"),
        (lambda s: change_description(s, format=99), "another version of Weft"),
        (lambda s: change_description(s, frames=3), "checksum does not match"),
        (lambda s: change_header(s, magic=b"SOMETHINGELS"), "not a PC2 file of Weft"),
        (lambda s: change_header(s, version=2), "not a PC2 file of Weft"),
        (lambda s: change_header(s, vertices=7), "of another bake: they have 7 vertices"),
        (lambda s: change_header(s, frame_start=1.0), "from frame 1, not 50 from frame 11"),
        (lambda s: os.truncate(pc2.data_path(s), 20), "truncated: they have no whole header"),
        (lambda s: os.truncate(pc2.data_path(s), 0), "truncated: they have no whole header"),
    ],
)
def test_an_unusable_cache_is_refused_in_words(stem, frames, spoil, words):
    written(stem, frames)
    spoil(stem)
    with pytest.raises(pc2.CacheError, match=words.replace("[", r"\[")):
        pc2.read(stem)


def test_a_cache_that_cannot_be_opened_is_refused_in_words(stem, frames):
    written(stem, frames)
    pc2.data_path(stem).unlink()
    pc2.data_path(stem).mkdir()
    with pytest.raises(pc2.CacheError, match="cannot be read: Is a directory"):
        pc2.read(stem)


def test_a_cache_is_verified_again_only_when_its_files_change(stem, frames, monkeypatch):
    written(stem, frames)
    read, count = [], pc2._count_intact
    monkeypatch.setattr(pc2, "_count_intact", lambda *files: read.append(1) or count(*files))
    assert pc2.cached_contents(stem).intact == pc2.cached_contents(stem).intact == FRAMES
    assert len(read) == 1
    os.truncate(pc2.data_path(stem), pc2.HEADER.size)
    assert pc2.cached_contents(stem).intact == 0 and len(read) == 2
    pc2.data_path(stem).unlink()
    for _again in range(2):
        with pytest.raises(pc2.CacheError, match="are missing"):
            pc2.cached_contents(stem)


def test_an_edit_does_not_read_the_frames_again(monkeypatch):
    cloth = small_scenes.baked()
    assert small_scenes.state(cloth).problems == ()
    monkeypatch.setattr(pc2, "_count_intact", None)
    for height in (1.0, 2.0):
        empty = bpy.data.objects.new("Empty", None)
        bpy.context.scene.collection.objects.link(empty)
        empty.location.z = height
        bpy.context.view_layer.update()
        assert small_scenes.state(cloth).problems == ()


def test_a_cache_of_the_format_without_an_owner_is_read(stem, frames):
    written(stem, frames)
    body = json.loads(pc2.description_path(stem).read_bytes())
    body = {k: v for k, v in body.items() if k not in {"file", "identity", "format", "checksum"}}
    checksum = pc2._checksum(body)
    old = json.dumps({"format": 2, **body, "checksum": checksum})
    pc2.description_path(stem).write_text(old)
    description = pc2.read(stem).description
    assert (description.file, description.identity, description.blend) == ("", "", "scene.blend")
    assert np.array_equal(read_frames(stem), frames)


def test_a_folder_that_cannot_be_made_is_an_os_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OSError):
        pc2.Writer(tmp_path / "file" / "Sheet", describe())


# --- checkpoints ------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path):
    point = Checkpoint(
        frame=12,
        bake="bake_1",
        library="1.2.3",
        cloths=["a", "b"],
        colliders=["c"],
        statistic={"frames": 3},
        state=bytes(range(256)) * 40,
    )
    path = checkpoint.path_of(tmp_path, "bake_1", 12)
    point.write(path)
    return path, point


def test_a_checkpoint_comes_back_as_it_was(saved):
    path, point = saved
    assert checkpoint.read(path) == point


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda p: p.unlink(), "there is no checkpoint"),
        (lambda p: p.write_bytes(b"something else"), "not a checkpoint of this version"),
        (lambda p: p.write_bytes(b""), "not a checkpoint of this version"),
        (lambda p: os.truncate(p, p.stat().st_size - 1), "truncated"),
        (lambda p: p.write_bytes(p.read_bytes()[:-1] + b"\0"), "checksum does not match"),
        (lambda p: p.write_bytes(p.read_bytes().replace(b'"frame"', b'"fRame"')), "damaged"),
    ],
)
def test_an_unusable_checkpoint_is_refused_in_words(saved, spoil, words):
    path, _point = saved
    spoil(path)
    with pytest.raises(pc2.CacheError, match=words):
        checkpoint.read(path)


def test_a_checkpoint_stays_while_a_cache_belongs_to_its_bake(saved, frames):
    path, _point = saved
    stem, other = (path.parent / name for name in ("Sheet_0123", "Other_4567"))
    written(stem, frames)
    written(other, frames)
    cache_paths.remove_stem(other)
    assert path.exists()
    cache_paths.remove_stem(stem)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize(("keep_all", "kept"), [(True, [8, 4, -4]), (False, [8])])
def test_checkpoints_are_kept_or_replaced(saved, tmp_path, keep_all, kept):
    _path, point = saved
    store = checkpoint.CheckpointStore(tmp_path, "bake_2", 4, keep_all)
    for frame in (-4, 4, 8):
        store.write(dataclasses.replace(point, frame=frame))
    assert list(checkpoint.paths(tmp_path, "bake_2")) == kept
    assert list(checkpoint.paths(tmp_path, "bake_1")) == [12]
    assert checkpoint.latest(tmp_path, "bake_2", 9).frame == 8


def test_a_damaged_checkpoint_is_passed_over_for_an_earlier_one(saved, tmp_path):
    path, point = saved
    dataclasses.replace(point, frame=6).write(checkpoint.path_of(tmp_path, "bake_1", 6))
    assert checkpoint.latest(tmp_path, "bake_1", 12).frame == 12
    assert checkpoint.latest(tmp_path, "bake_1", 11).frame == 6
    path.write_bytes(b"spoilt")
    assert checkpoint.latest(tmp_path, "bake_1", 12).frame == 6
    with pytest.raises(pc2.CacheError, match="no checkpoint to continue from up to frame 5"):
        checkpoint.latest(tmp_path, "bake_1", 5)
    checkpoint.path_of(tmp_path, "bake_1", 6).unlink()
    with pytest.raises(pc2.CacheError, match="is not a checkpoint"):
        checkpoint.latest(tmp_path, "bake_1", 12)


def test_checkpoints_behind_a_frame_are_deleted(saved, tmp_path):
    _path, point = saved
    dataclasses.replace(point, frame=6).write(checkpoint.path_of(tmp_path, "bake_1", 6))
    checkpoint.remove(tmp_path, "bake_1", after=6)
    assert list(checkpoint.paths(tmp_path, "bake_1")) == [6]
