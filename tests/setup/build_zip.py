# SPDX-License-Identifier: MIT OR Apache-2.0
"""Builds the extension zip with Blender's own tool, after checking that its parts belong together.

usage: build_zip.py WHEEL FOLDER [--platform NAME]    (in an environment that has a bpy wheel)

The manifest in the folder addon is that of Linux; for another platform its lines are replaced.
"""

import argparse
import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# What the names of wheels end in, by Blender's name of the platform.
ENDINGS = {
    "linux-x64": "-manylinux_*_x86_64.whl",
    "windows-x64": "-win_amd64.whl",
    "macos-arm64": "-macosx_*_arm64.whl",
    "macos-x64": "-macosx_*_x86_64.whl",
}


def blender_scripts() -> Path:
    """Finds Blender's scripts folder inside the installed bpy wheel, without starting Blender."""
    package = Path(importlib.util.find_spec("bpy").origin).parent
    return next(package.glob("*/scripts"))


def check_manifest(manifest: dict, wheel: Path, platform: str) -> None:
    """Stops unless the manifest names the version of the library and this wheel, or it is one for
    the platform.
    """
    library = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["package"]
    if manifest["version"] != library["version"]:
        sys.exit(
            f"weft: addon/blender_manifest.toml says version {manifest['version']}, "
            f"Cargo.toml says {library['version']}: make them equal"
        )
    wanted = [f"./wheels/{wheel.name}"]
    if not platform and manifest["wheels"] != wanted:
        sys.exit(
            f"weft: addon/blender_manifest.toml lists the wheels {manifest['wheels']}, "
            f"the build made {wanted}: make them equal"
        )
    ending = f"weft-{library['version']}-cp311-abi3{ENDINGS[platform]}" if platform else "*"
    if not wheel.match(ending):
        sys.exit(f"weft: {wheel.name} is no wheel for {platform}, such as {ending}")


def for_platform(manifest: Path, wheel: Path, platform: str) -> None:
    """Writes a platform and its wheel into a manifest."""
    text = manifest.read_text(encoding="utf-8")
    for name, value in (("platforms", platform), ("wheels", f"./wheels/{wheel.name}")):
        text = re.sub(rf"^{name} = .*$", f'{name} = ["{value}"]', text, count=1, flags=re.M)
    manifest.write_text(text, encoding="utf-8")


def stage(wheel: Path, folder: Path, platform: str) -> Path:
    """Copies what ships into one folder: the add-on, this wheel only, the licence texts."""
    staged = folder / "extension"
    shutil.rmtree(staged, ignore_errors=True)
    shutil.copytree(
        ROOT / "addon", staged, ignore=shutil.ignore_patterns("__pycache__", "wheels", ".*")
    )
    (staged / "wheels").mkdir()
    shutil.copy(wheel, staged / "wheels")
    for licence in ("LICENSE-GPL", "LICENSE-MIT", "LICENSE-APACHE"):
        shutil.copy(ROOT / licence, staged)
    if platform:
        for_platform(staged / "blender_manifest.toml", wheel, platform)
    return staged


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--platform", choices=ENDINGS, default="")
    given = parser.parse_args()
    wheel, folder, platform = given.wheel, given.folder, given.platform
    folder.mkdir(parents=True, exist_ok=True)
    manifest = tomllib.loads((ROOT / "addon/blender_manifest.toml").read_text(encoding="utf-8"))
    check_manifest(manifest, wheel, platform)
    staged = stage(wheel, folder, platform)
    archive = folder / f"{manifest['id']}-{manifest['version']}.zip"
    scripts = blender_scripts()
    tool = [sys.executable, scripts / "addons_core/bl_pkg/cli/blender_ext.py"]
    tags = next(scripts.glob("modules/_bpy_internal/extensions/tags.py"), None)
    checked = [f"--valid-tags={tags}"] if tags else []
    subprocess.run([*tool, "validate", *checked, staged], check=True)
    subprocess.run(
        [*tool, "build", *checked, "--source-dir", staged, "--output-filepath", archive], check=True
    )
    shutil.rmtree(staged)


if __name__ == "__main__":
    main()
