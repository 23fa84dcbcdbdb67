# SPDX-License-Identifier: MIT OR Apache-2.0
"""What is seen while a bake runs: the cloth itself, at the frame that the scene is at."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
import small_scenes

from addon.bake import job, remaining_time
from addon.cache import pc2


@pytest.fixture(autouse=True)
def as_in_a_window(monkeypatch):
    monkeypatch.setattr(job, "app", SimpleNamespace(background=False))


def carried_sheet():
    """A sheet whose pins a hook carries away, which is thickened in the end."""
    cloth = small_scenes.add_cloth()
    empty = bpy.data.objects.new("Hand", None)
    bpy.context.scene.collection.objects.link(empty)
    small_scenes.slide(empty, 0, (1, 0.0), (20, 1.0))
    hook = cloth.modifiers.new("Hook", "HOOK")
    hook.object, hook.vertex_group = empty, "pin"
    cloth.modifiers.new("Thickness", "SOLIDIFY")
    return cloth


def bake_and_look(look, last=20):
    small_scenes.set_frames(1, last)
    running = job.Bake(bpy.context)
    while not running.is_done:
        running.pump(0.01)
        look(running)
        running.wait(0.005)
    running.pump(0.01)
    look(running)
    assert not running.finish(bpy.context).error


def test_cloth_and_scene_are_at_the_same_frame_whenever_something_can_be_drawn():
    cloth = carried_sheet()
    seen = {}

    def look(running):
        frame = bpy.context.scene.frame_current
        assert frame <= running.frame
        seen[frame] = small_scenes.evaluated(cloth)

    bake_and_look(look)
    frames = small_scenes.cached_frames(cloth)
    assert len(seen) > 2 and max(seen) == 20
    for frame, points in seen.items():
        # Solidify keeps the vertices of the cloth, and adds as many.
        assert len(points) == 2 * len(frames[0])
        assert np.abs(points[: len(frames[0])] - frames[frame - 1]).max() < 1e-6, frame


def test_the_preview_does_not_change_the_result():
    cloth = carried_sheet()
    bake_and_look(lambda _running: None)
    with_preview = small_scenes.cached_frames(cloth)
    job.app.background = True
    assert bpy.ops.weft.bake() == {"FINISHED"}
    assert np.array_equal(small_scenes.cached_frames(cloth), with_preview)
    assert [modifier.name for modifier in cloth.modifiers] == ["Hook", "Thickness"]
    assert cloth.modifiers["Thickness"].show_viewport


def test_the_file_tells_how_many_frames_it_has_while_it_is_written():
    cloth, counts = carried_sheet(), []

    def look(running):
        frame = running.frame  # before the file, to which frames are appended meanwhile
        header = pc2.data_path(small_scenes.stem(cloth)).read_bytes()[: pc2.HEADER.size]
        counts.append((pc2.HEADER.unpack(header)[-1], frame))

    bake_and_look(look)
    assert all(frames >= frame for frames, frame in counts)


def test_remaining_time_follows_the_last_frames(monkeypatch):
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(remaining_time.time, "monotonic", lambda: clock.now)
    remaining = remaining_time.RemainingTime(1)
    assert remaining.seconds(100) is None
    for frame in range(2, 32):
        clock.now += 0.1 if frame < 20 else 1.0
        remaining.update(frame)
    assert remaining.seconds(41) == pytest.approx(10.0)
    clock.now += 40.0  # the frame that is simulated takes longer than all before
    assert remaining.seconds(41) == pytest.approx(10.0 * 50.0 / 11.0)
