# SPDX-License-Identifier: MIT OR Apache-2.0
"""The harness finds what is planted: a make-believe library does wrong in every way judged."""

import json
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest
from families import RECIPES
from families.drape import floor
from families.layers import long_trefoil, stack
from harness import Judge, NotCleanError, Run
from judge.knots import determinant
from judge.orders import (
    covers_the_top_until,
    layers_in_order,
    linked,
    stays_above,
    stays_knotted,
    stays_outside,
    winds_round,
)
from judge.sides import is_closed
from meshes import ball, box, grid, moved, rim, rotation, vector
from rest import silhouette

from scene import Body, Demand, Obstacle, Scene, State, along, fabric

SIDE = 6


class Puppet:
    """Does to a single cloth whatever it is told: a height for each frame, and a report."""

    def __init__(self, scene: "Planted") -> None:
        self.scene, self.frame = scene, 0
        self.released = []

    def advance(self, duration: float) -> SimpleNamespace:
        self.frame += 1
        if self.frame == self.scene.raises_at:
            raise RuntimeError("planted")
        return SimpleNamespace(
            steps=4,
            rejected_steps=0,
            newton_iterations=self.scene.newton,
            linear_iterations=9,
            contacts=0,
            residual=0.0,
            converged=True,
            max_stretch=self.scene.stretch,
            seconds={"total": 0.1},
        )

    def positions(self, cloth: int = 0) -> np.ndarray:
        return self.scene.cloths[cloth].positions + vector(0, 0, self.scene.heights[self.frame - 1])

    def energy(self) -> dict[str, float]:
        return {"kinetic": 1.0, "total": self.scene.energy if self.frame else 0.0}

    def velocities(self, cloth: int = 0) -> np.ndarray:
        return np.full((len(self.scene.cloths[cloth].positions), 3), self.scene.speed)

    def set_pins(self, *_: object) -> None:
        pass

    def set_collider(self, *_: object) -> None:
        pass

    def release_pins(self, cloth: int) -> None:
        self.released.append(self.frame)


@dataclass
class Planted(Scene):
    heights: list[float] = field(default_factory=list)
    newton: int = 8
    stretch: float = 0.0
    speed: float = 0.0
    energy: float = 0.0
    raises_at: int = 0

    def simulation(self, **settings: object) -> Puppet:
        return Puppet(self)


def planted(heights: list[float], size: float = 0.3, **fields: object) -> Planted:
    """A small level sheet that stands at these heights above the middle of a ball of .5 m."""
    positions, triangles = grid(SIDE, size)
    sheet = Body("sheet", positions + vector(0, 0, 0.6), triangles, fabric())
    shifts = [height - 0.6 for height in heights]
    return Planted([sheet], [Obstacle("ball", *ball(0.5))], heights=shifts, **fields)


def failures(scene: Planted, tmp_path, frames: int | None = None) -> list[str]:
    return Run("planted", scene, tmp_path).go(frames or len(scene.heights)).failures


def test_nothing_is_found_where_nothing_is_wrong(tmp_path):
    assert failures(planted([0.6, 0.59, 0.58]), tmp_path) == []
    lines = (tmp_path / f"planted-{SIDE**2}.jsonl").read_text().splitlines()
    assert [json.loads(line)["frame"] for line in lines] == [1, 2, 3]


def test_a_crossing_is_told_with_frame_pair_and_coordinates_and_kept(tmp_path):
    found = failures(planted([0.6, 0.48]), tmp_path)
    assert found[0].startswith("frame 2: intersection: ")
    assert "of sheet passes through face" in found[0]
    kept = np.load(next(tmp_path.glob("*-frame2.npz")))
    assert kept["cloth0_positions"].shape == (2, SIDE**2, 3)
    assert len(kept["edges"]) == len(kept["faces"]) > 0


def test_a_sheet_that_is_inside_at_once_has_strayed(tmp_path):
    found = failures(planted([0.6, 0.0, -0.6]), tmp_path)
    assert found[0].startswith(f"frame 2: strayed: {SIDE**2} vertices")
    assert len(found) == 1


def test_rounding_to_float32_alone_may_cross(tmp_path):
    plate, triangles = grid(2, 3.0)
    height = float(np.float32(0.3))
    # A thirtieth of the last place of a float32 above the plate.
    scene = planted([0.6, height + 1e-9])
    scene.obstacles = [Obstacle("plate", plate + vector(0, 0, height), triangles)]
    found = failures(scene, tmp_path)
    assert found[0].startswith("frame 2: intersection: ")
    assert "after rounding to float32" in found[0]


def test_raising_ends_a_run_and_is_told(tmp_path):
    found = failures(planted([0.6, 0.6, 0.6], raises_at=2), tmp_path)
    assert found == ["frame 2: raised: RuntimeError: planted"]


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"newton": 2000}, "stall"),
        ({"stretch": 0.6}, "overstretched"),
        ({"speed": 30.0}, "too fast"),
        ({"energy": 0.02}, "energy grew"),
        ({"heights": [np.nan]}, "not finite"),
    ],
)
def test_other_failures(fields, word, tmp_path):
    scene = planted([0.6])
    for name, value in fields.items():
        setattr(scene, name, value)
    assert failures(scene, tmp_path)[0].startswith(f"frame 1: {word}: ")


def test_a_run_that_stalls_is_given_up(tmp_path):
    found = failures(planted([0.6] * 8, newton=2000), tmp_path)
    assert [failure.split(":")[1] for failure in found] == [" stall"] * 3 + [" given up"]


def test_crossings_are_excused_only_for_their_time(tmp_path):
    frame = 1.0 / 24.0
    excused = {"demand": Demand.RECOVERS, "excused": (2 * frame, 4 * frame)}
    assert failures(planted([0.6, 0.48, 0.48, 0.6], **excused), tmp_path) == []
    late = failures(planted([0.6, 0.48, 0.48, 0.48], **excused), tmp_path)
    assert late[0].startswith("frame 4: intersection: ")
    early = failures(planted([0.48, 0.48, 0.48, 0.6], **excused), tmp_path)
    assert early[0].startswith("frame 1: intersection: ")


def test_what_starts_inside_must_end_outside(tmp_path):
    scene = planted([0.0, 0.0, 0.0], demand=Demand.UNTANGLES, excused=(0.0, 0.1))
    scene.cloths[0].positions -= (0, 0, 0.6)
    scene.heights = [0.0, 0.0, 0.0]
    assert failures(scene, tmp_path)[0].startswith("frame 3: strayed: ")


def test_a_scene_that_starts_crossed_is_refused():
    scene = planted([0.6])
    scene.cloths[0].positions -= (0, 0, 0.12)
    with pytest.raises(NotCleanError, match="passes through"):
        Judge(scene)


def test_a_sheet_that_closes_a_hole_keeps_points_on_their_side():
    positions, triangles = grid(SIDE)
    for border in (rim(SIDE, SIDE), rim(SIDE, SIDE)[::-1]):
        order = stays_outside(0, triangles, border, (0, 0, 9.0), lambda state: state.obstacles[0])
        below, above = (
            SimpleNamespace(cloths=[positions], obstacles=[np.array([(0.07, 0.03, height)])])
            for height in (-0.1, 0.1)
        )
        assert order(below) is None
        assert "1 points got through cloth 0" in order(above)


def test_layers_out_of_order_are_found():
    scene = stack(SIDE, 3, 0.01)
    order = layers_in_order(scene)
    state = scene.start()
    assert order(state) is None
    state.cloths[2] = state.cloths[2] - (0, 0, 0.015)
    assert "of cloth 2 lie below cloth 1" in order(state)


def test_what_gets_below_a_floor_has_strayed(tmp_path):
    scene = planted([0.6, 0.05])
    scene.obstacles = [floor(0.1)]
    assert failures(scene, tmp_path)[0].startswith(f"frame 2: strayed: {SIDE**2} vertices")


def seen(*cloths: object, obstacle: object = (), time: float = 0.0) -> State:
    return State([np.array(cloth, dtype=float) for cloth in cloths], [np.array(obstacle)], time)


def test_a_ribbon_that_leaves_its_loop_is_found():
    angle = np.linspace(0.0, 2.0 * np.pi, 20, endpoint=False)
    loop = np.stack([np.zeros(20), np.cos(angle), np.sin(angle)], axis=1)
    line = np.array([(x, 0.02, 0.01) for x in np.linspace(-3.0, 3.0, 12)])
    order = linked(slice(None), slice(None))
    assert order(seen(loop, line)) is None
    assert order(seen(loop, line + vector(0.1, 0.5, 0.3))) is None
    assert "0 times through the loop" in order(seen(loop, line + vector(0, 2.0, 0)))


def test_a_flag_that_gets_to_the_other_side_of_its_pole_is_found():
    flag = np.array([(x, 0.0, 0.0) for x in np.linspace(0.0, 2.0, 21)])
    order = winds_round((1.0, 0.0), slice(None))
    assert order(seen(flag - (0, 0.1, 0))) is None
    assert order(seen(flag - (0, 0.05, 0))) is None
    assert "jumped" in order(seen(flag + vector(0, 0.1, 0)))


def test_the_determinant_tells_knots_apart():
    t = np.linspace(0.0, 2.0 * np.pi, 150, endpoint=False)
    circle = np.stack([np.cos(t), np.sin(t), 0.3 * np.sin(5 * t)], axis=1)
    trefoil = np.stack(
        [np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -np.sin(3 * t)], 1
    )
    figure_eight = np.stack(
        [(2 + np.cos(2 * t)) * np.cos(3 * t), (2 + np.cos(2 * t)) * np.sin(3 * t), np.sin(4 * t)], 1
    )
    for turn in np.linspace(0.0, 3.0, 7):
        frame = rotation((1.0, 2.0, 0.5), turn).T
        found = [determinant(line @ frame) for line in (circle, trefoil, figure_eight)]
        assert found == [1, 3, 5]


def test_the_ribbon_of_the_scene_has_an_overhand_knot():
    path = long_trefoil(120, 0.07)
    order = stays_knotted(slice(None))
    assert order(seen(path)) is None
    assert determinant(path) == 3
    assert "determinant is 1" in order(
        seen(path * (1.0, 1.0, 0.0) + np.outer(range(120), (0, 0, 0.01)))
    )


def test_a_sheet_that_no_longer_lies_on_top_is_found():
    sheet = [(0.05, 0.0, 1.0), (0.0, 0.0, -1.0)]
    assert stays_above(0.0)(seen(sheet)) is None
    assert stays_above(1.5)(seen(sheet)) is not None
    ball_top = [(0.0, 0.0, 0.9)]
    order = covers_the_top_until(0.5)
    assert order(seen(sheet, obstacle=ball_top)) is None
    assert order(seen(sheet[1:], obstacle=ball_top)) is not None
    assert order(seen(sheet[1:], obstacle=ball_top, time=0.6)) is None


def test_pins_are_let_go_at_their_time():
    scene = planted([0.6] * 4)
    scene.cloths[0].released = 2.0 / 24.0
    puppet = scene.simulation()
    for frame in range(4):
        scene.drive(puppet, frame / 24.0, (frame + 1) / 24.0)
        puppet.advance(1.0 / 24.0)
    assert puppet.released == [2]


def test_a_path_goes_in_straight_lines_from_time_to_time():
    path = along(np.zeros((1, 3)), (0.0, (0, 0, 0)), (1.0, (0, 0, 2.0)), (2.0, (4.0, 0, 2.0)))
    assert path(0.5).tolist() == [[0.0, 0.0, 1.0]]
    assert path(1.5).tolist() == [[2.0, 0.0, 2.0]]
    assert path(9.0).tolist() == [[4.0, 0.0, 2.0]]


def test_the_area_of_a_silhouette():
    positions, triangles = grid(9, 0.5)
    assert silhouette(positions, triangles, 0.002) == pytest.approx(0.25, rel=0.02)
    upright = positions[:, [0, 2, 1]]
    assert silhouette(upright, triangles, 0.002) < 0.002


def test_every_scene_is_sound():
    """Starts as clean as it claims, closed obstacles wound outwards, time left after excuses."""
    for recipe in RECIPES.values():
        length = recipe.quick
        scene = recipe.build(length.size, length.seconds)
        judge = Judge(scene)
        tangled = bool(judge.intersections(scene.start())[0])
        assert tangled == (scene.demand is Demand.UNTANGLES), recipe.name
        assert scene.excused[1] < length.seconds, recipe.name
        for obstacle in scene.obstacles:
            if obstacle.encloses:
                a, b, c = np.swapaxes(obstacle.positions[obstacle.triangles], 0, 1)
                assert np.einsum("ij,ij->", a, np.cross(b, c)) > 0.0, (recipe.name, obstacle.name)


def test_a_box_is_closed_and_a_sheet_is_not():
    assert is_closed(moved(box((1, 1, 1)), (0, 0, 1))[1])
    assert not is_closed(grid(4)[1])
