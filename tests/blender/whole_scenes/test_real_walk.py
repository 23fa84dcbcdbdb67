# SPDX-License-Identifier: MIT OR Apache-2.0
"""The garments of `human_walk.blend` on their walking body. Minutes: only when asked for.

WEFT_REAL_SCENES=1 python -m pytest -s tests/blender/whole_scenes/test_real_walk.py
WEFT_WALK_FRAMES=48 takes fewer frames.
"""

import os
from dataclasses import dataclass

import bpy
import pytest
import walking
from drawn import crossings

FRAMES = int(os.environ.get("WEFT_WALK_FRAMES", "120"))
HEALED_BY = 49  # the frame two seconds after the first

pytestmark = [
    pytest.mark.skipif(
        not os.environ.get("WEFT_REAL_SCENES"), reason="takes minutes: set WEFT_REAL_SCENES=1"
    ),
    pytest.mark.skipif(
        not walking.SCENE.is_file(), reason=f"no '{walking.SCENE}': set WEFT_SHARED"
    ),
]


@dataclass
class Walked:
    """Account of one frame."""

    frame: int
    seconds: float
    newton: int
    stretch: float
    crossings: dict[str, int]  # by what crosses what, but for the next
    excused: int  # at faces of the body that cross the body
    inside: int  # vertices of cloth in the body


def walk(names, kind, cache_folder):
    """Bakes, and gives an account of what is drawn frame by frame."""
    walking.open_scene(names, FRAMES)
    bpy.context.scene.weft.cache_directory = str(cache_folder)
    weft = walking.Weft(names, kind)
    for moment in weft.moments():
        found = crossings(weft.garments, [weft.body])
        yield Walked(
            moment.frame, moment.solving,
            sum(report.newton_iterations for report in moment.reports),
            max(report.max_stretch for report in moment.reports),
            dict(found.counts), found.excused, walking.inside(weft.garments, weft.body),
        )  # fmt: skip


@pytest.mark.parametrize("names", [["Dress"], ["Tshirt"], ["Dress", "Tshirt"]], ids="+".join)
@pytest.mark.parametrize("kind", ["KEYS", "MODIFIER"])
def test_garments_stay_apart_from_all_but_the_body_where_it_crosses_itself(
    names, kind, cache_folder, capsys
):
    frames = []
    for account in walk(names, kind, cache_folder):
        frames.append(account)
        with capsys.disabled():
            print(account, flush=True)
    seconds = sum(each.seconds for each in frames) / len(frames)
    crossed = [each.frame for each in frames if each.crossings]
    with capsys.disabled():
        print(
            f"\n{'+'.join(names)}: {seconds:.2f} s a frame, {max(e.seconds for e in frames):.2f} "
            f"at most; stretched by {max(e.stretch for e in frames):.2f}; crossings in "
            f"{len(crossed)} frames, the last {crossed[-1:]}; excused at most "
            f"{max(e.excused for e in frames)}; inside at most {max(e.inside for e in frames)}"
        )
    # Both garments overlap where the scene begins.
    first = 2 if len(names) == 1 else HEALED_BY
    assert [frame for frame in crossed if frame >= first] == []
