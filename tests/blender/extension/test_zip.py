# SPDX-License-Identifier: MIT OR Apache-2.0
"""The extension as it ships: installed in a Blender of its own, from the built zip."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def version():
    manifest = (ROOT / "addon/blender_manifest.toml").read_text(encoding="utf-8")
    return tomllib.loads(manifest)["version"]


SCRIPT = """
import sys
from pathlib import Path
import bpy

archive, folder = sys.argv[1:]
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.extensions.package_install_files(
    filepath=archive, repo="user_default", enable_on_install=True, overwrite=True
)
mesh = bpy.data.meshes.new("Sheet")
points = [(x / 4, y / 4, 0) for y in range(5) for x in range(5)]
mesh.from_pydata(points, [], [(i, i + 1, i + 6, i + 5) for i in range(19) if i % 5 < 4])
sheet = bpy.data.objects.new("Sheet", mesh)
bpy.context.scene.collection.objects.link(sheet)
sheet.weft.role = "CLOTH"
bpy.context.scene.frame_end = 5
bpy.context.scene.weft.cache_directory = folder
bpy.ops.weft.bake()
print("KEYS", len(mesh.shape_keys.key_blocks), "FILES", len(list(Path(folder).iterdir())))
unpacked = Path(bpy.utils.resource_path("USER")) / "extensions/.local/lib"
print("LIBRARY", *sorted(path.name for path in unpacked.glob("python*/site-packages/weft*")))
import addon_utils
addon_utils.disable("bl_ext.user_default.weft")
print("LEFT", hasattr(bpy.types.Object, "weft"))
"""


@pytest.fixture
def archive():
    path = os.environ.get("WEFT_ZIP", "")
    if not Path(path).is_file():
        pytest.skip("WEFT_ZIP names no extension zip: run `make zip` first")
    return Path(path)


def test_the_zip_installs_bakes_and_goes(archive, tmp_path):
    environment = os.environ | {"BLENDER_USER_RESOURCES": str(tmp_path / "user")}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, archive, tmp_path / "cache"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "KEYS 6 FILES 4" in done.stdout
    assert "LIBRARY weft" in done.stdout
    assert "LEFT False" in done.stdout


WHEELS = {
    "linux-x64": "manylinux_2_28_x86_64",
    "windows-x64": "win_amd64",
    "macos-arm64": "macosx_11_0_arm64",
    "macos-x64": "macosx_11_0_x86_64",
}


LEAVING = """
import sys
import bpy

bpy.ops.extensions.package_install_files(
    filepath=sys.argv[1], repo="user_default", enable_on_install=True, overwrite=True
)
assert hasattr(bpy.types.Object, "weft")
bpy.ops.wm.read_homefile(use_empty=True)
"""


def test_the_extension_leaves_with_blender_without_a_word(archive, tmp_path):
    """It is disabled once, though Blender disables at exit what is still enabled."""
    environment = os.environ | {"BLENDER_USER_RESOURCES": str(tmp_path / "user")}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [sys.executable, "-c", LEAVING, archive],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert not re.search("Traceback|Exception|not enabled", said), said


def built_for(platform, tag, folder):
    """The zip of a platform, around a wheel of which only the name counts here."""
    wheel = folder / f"weft-{version()}-cp311-abi3-{tag}.whl"
    with zipfile.ZipFile(wheel, "w") as content:
        content.writestr("weft/__init__.py", "")
    script = ROOT / "tests/setup/build_zip.py"
    command = [sys.executable, script, wheel, folder / "out", "--platform", platform]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    return done, folder / f"out/weft-{version()}.zip"


@pytest.mark.parametrize("platform", WHEELS)
def test_every_platform_gets_an_extension_of_its_own(platform, tmp_path):
    done, archive = built_for(platform, WHEELS[platform], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(archive) as content:
        manifest = tomllib.loads(content.read("blender_manifest.toml").decode())
        wheels = [f"./{name}" for name in content.namelist() if name.endswith(".whl")]
    assert manifest["platforms"] == [platform]
    assert manifest["wheels"] == wheels
    assert wheels == [f"./wheels/weft-{version()}-cp311-abi3-{WHEELS[platform]}.whl"]


def test_a_wheel_of_another_platform_is_refused(tmp_path):
    done, archive = built_for("macos-arm64", WHEELS["macos-x64"], tmp_path)
    assert done.returncode != 0 and not archive.exists()
    assert "is no wheel for macos-arm64" in done.stderr


def test_the_recipe_builds_for_every_platform():
    recipe = (ROOT / ".github/workflows/wheels.yml").read_text(encoding="utf-8")
    assert sorted(re.findall(r"platform: ([\w-]+), target", recipe)) == sorted(WHEELS)


def test_the_zip_has_what_it_needs_and_nothing_else(archive):
    with zipfile.ZipFile(archive) as content:
        names = content.namelist()
    assert {"__init__.py", "blender_manifest.toml"} <= set(names)
    assert sum(name.endswith(".whl") for name in names) == 1
    assert not [name for name in names if "__pycache__" in name or "test" in name]
