# SPDX-License-Identifier: MIT OR Apache-2.0
"""The flow of a fluid as a force field, held to Blender's in a process of its own.

The solver of fluids ends `bpy` as a module, so the whole Blender of a Debian is asked after it.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import weft

from addon.force_fields import fluid_cache
from addon.force_fields.field import SUPPORTED
from addon.force_fields.fluid import FluidGrid

ROOT = Path(__file__).parents[3]
DEBIAN = Path(os.environ.get("WEFT_GUI_DEBIAN", ROOT / "out/gui")) / "sid"


def filled(folder):
    shutil.copytree(ROOT / "addon", folder / "addon", ignore=shutil.ignore_patterns("wheels"))
    shutil.copytree(ROOT / "tests/blender", folder / "tests")
    shutil.copytree(Path(weft.__file__).parent, folder / "weft")


def script(folder):
    """What a Blender runs in which the folder is at this place."""
    paths = [folder, f"{folder}/tests", f"{folder}/tests/force_fields"]
    return f"import sys; sys.path[:0] = {paths!r}; " + ("import fluid_play; fluid_play.play()")


def run(command, folder):
    """What was found, or the last words of what failed."""
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    found = folder / "facts.json"
    if found.is_file():
        return json.loads(found.read_text()), ""
    return None, f"exit status {ended.returncode}: {ended.stderr.strip()[-200:]}"


def whole_blender():
    """What the Blender of a Debian found, or why it did not."""
    if not (DEBIAN / "ready").is_file():
        return None, "no Debian with a Blender: make test-gui makes one"
    with tempfile.TemporaryDirectory(dir=DEBIAN / "tmp") as name:
        filled(Path(name))
        inside = f"/tmp/{Path(name).name}"
        blender = ["env", "HOME=/root", "blender", "--background", "--factory-startup"]
        play = ["--python-expr", script(inside), "--", inside]
        return run(["chroot", str(DEBIAN), *blender, *play], Path(name))


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fluid")
    filled(folder)
    found, own = run([sys.executable, "-c", script(str(folder)), str(folder)], folder)
    if found is None:
        found, other = whole_blender()
    if found is None:
        pytest.skip(f"no Blender bakes a fluid here: bpy: {own}; Debian: {other}")
    return found


def test_points_are_accelerated_as_blenders_particles(facts):
    cases = {name: case for name, case in facts.items() if not name.startswith("weight")}
    assert len(cases) == 17 + 3 * ("fire density" in cases)  # where files can be read
    for name, case in cases.items():
        expected, found = np.array(case["expected"]), np.array(case["found"])
        size = np.abs(expected).max()
        assert size > 1.0, name
        assert found == pytest.approx(expected, abs=2e-3 * size + 3e-4), name


def test_baked_cloth_is_accelerated_by_its_weight(facts):
    for weight in (1.0, 0.5, 0.0):
        case = facts[f"weight {weight}"]
        expected, found = np.array(case["expected"]), np.array(case["found"])
        assert (np.abs(expected).max() > 1.0) == (weight > 0.0)
        assert found == pytest.approx(expected, abs=0.02 * np.abs(expected).max() + 1e-6)


class Grid:
    """A grid as the module of OpenVDB has it: x first."""

    def __init__(self, name, cells):
        self.name, self.cells = name, cells

    def copyToArray(self, found):  # noqa: N802 - as there
        found[...] = self.cells


def test_coarse_cells_are_read_from_files_that_hold_what_flows_now(tmp_path, monkeypatch):
    random = np.random.default_rng(3)
    flow = random.normal(size=(4, 3, 2, 3))  # x, y, z
    smoke, fuel = random.uniform(size=(2, 4, 3, 2))
    grids = [Grid("density", smoke), Grid("fuel", fuel), Grid("velocity", flow)]
    module = SimpleNamespace(readAll=lambda _path: (grids, {}))
    monkeypatch.setattr(fluid_cache, "reader", lambda: module)
    settings = SimpleNamespace(cache_directory=str(tmp_path))
    now = flow.transpose(2, 1, 0, 3)
    assert fluid_cache.density(settings, 7, now) is None, "there is no file"
    (tmp_path / "data").mkdir()
    (tmp_path / "data/fluid_data_0007.vdb").touch()
    found = fluid_cache.density(settings, 7, now)
    assert found[..., 0] == pytest.approx(np.maximum(smoke, fuel).transpose(2, 1, 0))
    assert fluid_cache.density(settings, 7, now + 0.1) is None, "that is another frame"
    assert fluid_cache.density(settings, 8, now) is None
    del grids[1]
    found = fluid_cache.density(settings, 7, now)
    assert found[..., 0] == pytest.approx(smoke.transpose(2, 1, 0))
    monkeypatch.setattr(fluid_cache, "reader", lambda: None)
    assert fluid_cache.density(settings, 7, now) is None


def test_velocities_between_the_centres_of_cells():
    """A linear flow is met exactly between centres; it stays outside them, and is none outside."""
    z, y, x = np.meshgrid(np.arange(4), np.arange(3), np.arange(5), indexing="ij")
    flow = np.stack([x + 0.5, 2.0 * (y + 0.5), z + 0.5 - x], axis=-1).astype(float)
    grid = FluidGrid(np.eye(4), np.eye(3), flow, None)
    points = np.array([(1.2, 0.9, 2.7), (4.9, 2.9, 3.9), (5.1, 1.0, 1.0)])
    velocities, there = grid.at(points)
    expected = [(1.2, 1.8, 2.7 - 0.7), (4.5, 5.0, 3.5 - 4.0), (0.0, 0.0, 0.0)]
    assert velocities == pytest.approx(np.array(expected))
    assert there.tolist() == [1.0, 1.0, 0.0]
    assert "FLUID_FLOW" in SUPPORTED
