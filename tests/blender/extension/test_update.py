# SPDX-License-Identifier: MIT OR Apache-2.0
"""An update over an older installed extension, whose modules lay in one flat folder.

The older sources come from the history of this repository, with the library of the present build.
"""

import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FLAT = "af3c219778f4ff64a0ebdfab1df7bf9cf403c9d2"  # the last commit with the flat layout
MODULE = "bl_ext.user_default.weft"

COMMON = f"""
import json, sys
from pathlib import Path
import bpy
import addon_utils
import numpy as np

MODULE = {MODULE!r}
archive, blend, facts = sys.argv[1:]


def install(path):
    bpy.ops.extensions.package_install_files(
        filepath=path, repo="user_default", enable_on_install=True, overwrite=True
    )


def part(name):
    return sys.modules[f"{{MODULE}}.{{name}}"]


def modules():
    return {{name: module for name, module in sys.modules.items() if name.startswith(MODULE + ".")}}


def positions():
    stem = part("storage.cache_paths").stem(bpy.context.scene, sheet())
    pc2 = part("cache.pc2")
    contents = pc2.read(stem)
    assert not contents.problem
    return np.array(list(pc2.frames(stem, contents.description, contents.intact)))


def sheet():
    return bpy.data.objects["Sheet"]


def found():
    scene = bpy.context.scene
    now = part("bake.status").of(scene, bpy.context.view_layer, sheet())
    return {{
        "stale": [n for n, m in modules().items() if not Path(m.__file__).is_file()],
        "flat": [n for n in modules() if n.rpartition(".")[2] in ("location", "bake_files")],
        "outdated": now.outdated,
        "problems": now.problems,
        "density": round(sheet().weft.material.density, 4),
        "pins": sheet().weft.pin_group,
        "role": sheet().weft.role,
        "step": round(scene.weft.time_step, 4),
        "interval": scene.weft.checkpoint_interval,
        "keys": len(sheet().data.shape_keys.key_blocks),
        "statistic": sheet().weft.result.statistic.split(" in ")[0],
        "presets": list(part("fabrics.presets").all_presets())[-1],
    }}


def end(values):
    Path(facts).write_text(json.dumps(values))
    addon_utils.disable(MODULE)
"""

OLD = """
bpy.ops.wm.read_factory_settings(use_empty=True)
install(archive)
mesh = bpy.data.meshes.new("Sheet")
points = [(x / 4, y / 4, 1) for y in range(5) for x in range(5)]
mesh.from_pydata(points, [], [(i, i + 1, i + 6, i + 5) for i in range(19) if i % 5 < 4])
obj = bpy.data.objects.new("Sheet", mesh)
scene = bpy.context.scene
scene.collection.objects.link(obj)
obj.vertex_groups.new(name="hem").add(list(range(5)), 1.0, "REPLACE")
obj.weft.role, obj.weft.pin_group = "CLOTH", "hem"
obj.weft.material.density = 0.321
scene.weft.time_step, scene.weft.checkpoint_interval = 0.02, 2
scene.frame_end = 5
with bpy.context.temp_override(object=obj):
    bpy.ops.weft.preset_add("EXEC_DEFAULT", title="Zz own")
bpy.ops.wm.save_as_mainfile(filepath=blend)
bpy.ops.weft.bake()
bpy.ops.wm.save_mainfile()
assert "location" in {n.rpartition(".")[2] for n in modules()}, "the older layout was not installed"
"""

RUNNING = """
install(sys.argv[1].replace("old.zip", "new.zip"))
end(found() | {"problem": part("simulation.bridge").problem()})
"""

LATER = """
addon_utils.enable(MODULE, default_set=True)
bpy.ops.wm.open_mainfile(filepath=blend)
values = found()
scene = bpy.context.scene
scene.frame_end = 9
bpy.ops.weft.resume()
resumed = positions()
values["frames"], values["after"] = len(resumed), found()["problems"]
bpy.ops.weft.bake()
values["equal"] = bool(np.array_equal(resumed, positions()))
end(values)
"""


def older_sources():
    """The files of the older add-on by path; skips where the history is not at hand."""
    command = ["git", "-C", ROOT, "archive", FLAT, "addon"]
    try:
        done = subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip(
            f"commit {FLAT[:8]} is not in this clone: git fetch --unshallow, then run again"
        )
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as tree:
        files = [entry for entry in tree.getmembers() if entry.isfile()]
        return {f.name.removeprefix("addon/"): tree.extractfile(f).read() for f in files}


@pytest.fixture
def archives(tmp_path):
    """The older extension and the present one, both with the present library."""
    new = Path(os.environ.get("WEFT_ZIP", ""))
    if not new.is_file():
        pytest.skip("WEFT_ZIP names no extension zip: run `make zip` first")
    files = older_sources()
    with zipfile.ZipFile(new) as content:
        (wheel,) = (name for name in content.namelist() if name.endswith(".whl"))
        files[wheel] = content.read(wheel)
        version = tomllib.loads(content.read("blender_manifest.toml").decode())["version"]
    manifest = files["blender_manifest.toml"].decode()
    for name, value in (("version", f'"{version}"'), ("wheels", f'["./{wheel}"]')):
        manifest = re.sub(rf"^{name} = .*$", f"{name} = {value}", manifest, count=1, flags=re.M)
    files["blender_manifest.toml"] = manifest.encode()
    with zipfile.ZipFile(tmp_path / "old.zip", "w") as content:
        for name, text in files.items():
            content.writestr(name, text)
    (tmp_path / "new.zip").write_bytes(new.read_bytes())
    return tmp_path / "old.zip", tmp_path / "new.zip"


def run(script, archive, folder):
    """Runs a script in a Blender of its own, and returns its facts."""
    environment = os.environ | {"BLENDER_USER_RESOURCES": str(folder / "user")}
    environment.pop("PYTHONPATH", None)
    facts = folder / "facts.json"
    facts.unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", COMMON + script, archive, folder / "scene.blend", facts],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert facts.is_file(), done.stdout + done.stderr
    return json.loads(facts.read_text())


def check(facts):
    assert facts["stale"] == [] and facts["flat"] == []
    assert facts["outdated"] == "" and facts["problems"] == []
    assert (facts["role"], facts["pins"], facts["density"]) == ("CLOTH", "hem", 0.321)
    assert (facts["step"], facts["interval"]) == (0.02, 2)
    assert facts["keys"] == 6 and facts["statistic"] == "4 frames"
    assert facts["presets"] == "zz_own"


def check_later(facts):
    check(facts)
    assert facts["frames"] == 9 and facts["after"] == []
    assert facts["equal"], "resumed from the older checkpoint, other frames than baked in one go"


def test_an_update_over_the_flat_layout_keeps_settings_caches_and_checkpoints(archives, tmp_path):
    old, _new = archives
    facts = run(OLD + RUNNING, old, tmp_path)
    assert facts.pop("problem") == ""
    check(facts)
    check_later(run(LATER, old, tmp_path))


def test_files_of_the_flat_layout_that_were_left_behind_shadow_nothing(archives, tmp_path):
    old, new = archives
    run(OLD + 'end({"done": True})', old, tmp_path)
    (installed,) = tmp_path.glob("user/extensions/user_default/weft")
    with zipfile.ZipFile(new) as content:
        content.extractall(installed)  # over the older files, as by hand
    assert (installed / "bake.py").is_file() and (installed / "bake/job.py").is_file()
    check_later(run(LATER, old, tmp_path))
