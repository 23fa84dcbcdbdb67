# SPDX-License-Identifier: MIT OR Apache-2.0
"""The line of statistics of a result, its warnings, and reasons of rejected steps."""

import json
import re
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import bmesh
import bpy
import small_scenes
from small_scenes import baked

from addon.bake import fingerprint
from addon.cache import pc2, statistics


def test_the_line_of_statistics_tells_time_contacts_and_stretch():
    cloth = baked(last=6)
    line = cloth.weft.result.statistic
    assert line.startswith("5 frames in ") and "s/frame, at most 0 contacts" in line
    assert line.endswith(" %") and cloth.weft.result.warnings == ""


def test_what_was_not_as_it_should_be_is_a_warning():
    found = statistics.Statistics(
        frames=9,
        seconds=3725.0,
        steps=4,
        rejected_steps=5,
        unresolved_contacts=7,
        max_stretch=0.8,
        unconverged_frames=2,
    )
    assert "9 frames in 1:02:05 h" in found.summary()
    words = " ".join(found.warnings())
    for part in ("2 frames were not solved", "7 contacts", "by 80 %", "5 time steps"):
        assert part in words
    assert statistics.Statistics().warnings() == []


def test_the_reasons_of_rejected_steps_are_kept_with_the_cache():
    cloth = baked(last=4)
    kept = pc2.read_description(small_scenes.stem(cloth)).statistic
    assert sum(kept["rejections"].values()) <= kept["rejected_steps"]


def report(**values):
    """A report of a frame as the library gives it."""
    counts = dict.fromkeys(statistics.SUMMED_FIELDS, 0)
    return SimpleNamespace(
        **(counts | {"contacts": 0, "max_stretch": 0.0, "converged": True} | values)
    )


def test_rejected_steps_are_told_with_their_reasons():
    found = statistics.Statistics()
    found.add(
        [report(steps=9, rejected_steps=3, rejections={"stagnation": 1, "force_balance": 2})],
        1.0,
    )
    found.add([report(steps=9, rejected_steps=2, rejections={"stagnation": 2})], 1.0)
    assert found.rejections == {"stagnation": 3, "force_balance": 2}
    told = (
        "5 time steps had to be tried again: contacts did not settle (3), forces out of balance (2)"
    )
    assert found.summary().endswith(f" %, {told}") and not found.warnings()
    found.add([report(steps=1, rejected_steps=20, rejections={"a_new_reason": 20})], 1.0)
    told = "25 time steps had to be tried again: a_new_reason (20), contacts did not settle (3), "
    assert found.warnings()[0].startswith(told) and found.summary().endswith(" %")


def test_every_reason_of_the_library_has_words():
    stub = (Path(__file__).parents[3] / "weft.pyi").read_text(encoding="utf-8")
    described = re.search(r"def rejections.*?\"\"\"(.*?)\"\"\"", stub, re.DOTALL)[1]
    assert set(re.findall(r'"(\w+)":', described)) == set(statistics.REJECTION_WORDS)
    for name in statistics.REJECTION_WORDS:
        found = statistics.Statistics(steps=1, rejected_steps=1, rejections={name: 1})
        assert "1 time step had" in found.summary() and "_" not in found.summary()


def test_statistics_of_earlier_versions_have_no_reasons():
    old = {"frames": 3, "steps": 7, "rejected_steps": 2}
    found = statistics.Statistics.from_dict(old)
    assert found.rejections == {}
    assert found.summary().endswith(" %, 2 time steps had to be tried again")
    found.add([report(steps=1, rejected_steps=1, rejections={"stretch_change": 1})], 0.5)
    again = statistics.Statistics.from_dict(json.loads(json.dumps(asdict(found))))
    assert again == found and again.rejections == {"stretch_change": 1}
    assert statistics.Statistics().rejections == {}  # none are shared


def test_a_warning_of_stretch_names_frame_and_cause_and_selects_the_place():
    cloth, other = small_scenes.add_cloth(), small_scenes.add_cloth("Other")
    other.location.x = 3.0
    end = cloth.vertex_groups.new(name="end")
    end.add([63], 1.0, "REPLACE")
    attachment = cloth.weft.attachments.add()
    attachment.vertex_group, attachment.target = "end", bpy.data.objects.new("Hand", None)
    bpy.context.scene.collection.objects.link(attachment.target)
    small_scenes.slide(attachment.target, 1, (1, 0.0), (4, 1.2))
    small_scenes.set_frames(1, 4)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    (warning,) = (w for w in cloth.weft.result.warnings.splitlines() if "stretched" in w)
    assert re.fullmatch(r"The cloth was stretched by \d+ % at frame 4, where pins draw it", warning)
    assert other.weft.result.warnings == "" or "stretched" not in other.weft.result.warnings
    assert other.weft.result.place == ""
    bpy.context.view_layer.objects.active = cloth
    assert bpy.ops.weft.stretch_select() == {"FINISHED"}
    assert bpy.context.scene.frame_current == 4
    bpy.ops.object.mode_set(mode="OBJECT")
    assert 63 in [vertex.index for vertex in cloth.data.vertices if vertex.select]


def test_contacts_that_were_not_resolved_name_the_cause_that_is_there():
    found = statistics.Statistics(unresolved_contacts=3)
    assert "a collider squeezed" in found.warnings()[0]
    assert "collider" not in found.warnings(has_colliders=False)[0]
    cloth = baked(last=2)
    hashes = pc2.read_description(small_scenes.stem(cloth)).fingerprint
    assert not fingerprint.has_colliders(hashes)
    small_scenes.add_floor()
    bpy.ops.weft.bake()
    assert fingerprint.has_colliders(pc2.read_description(small_scenes.stem(cloth)).fingerprint)


def test_cloth_that_colliders_pinch_is_a_warning_with_its_place_and_comes_free():
    cloth = small_scenes.add_cloth(count=20)
    for side in (-1.0, 1.0):
        shape = bmesh.new()
        bmesh.ops.create_icosphere(shape, subdivisions=3, radius=0.25)
        ball = small_scenes.add_shape("Ball", shape)
        ball.location = (0.0, 0.0, 1.0 + 0.28 * side)
        ball.weft.role = "COLLIDER"
        small_scenes.slide(ball, 2, (1, 1.0 + 0.28 * side), (5, 1.0 + 0.22 * side))
        ball.location.z = 1.0 + 0.3 * side
        ball.keyframe_insert("location", index=2, frame=10)
    small_scenes.set_frames(1, 12)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    (warning,) = (w for w in cloth.weft.result.warnings.splitlines() if "no room" in w)
    assert re.match(r"Colliders left the cloth no room at frames \d to \d: what was", warning)
    place = json.loads(cloth.weft.result.pinched)
    assert place["vertices"] and place["last"] < 10
    bpy.context.view_layer.objects.active = cloth
    assert bpy.ops.weft.pinched_select() == {"FINISHED"}
    assert bpy.context.scene.frame_current == place["frame"]
    bpy.ops.object.mode_set(mode="OBJECT")
    selected = [vertex.index for vertex in cloth.data.vertices if vertex.select]
    assert selected == place["vertices"]
