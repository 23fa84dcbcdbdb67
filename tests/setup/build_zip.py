# SPDX-License-Identifier: MIT OR Apache-2.0
"""Builds the extension zip with Blender's own tool, after checking that its parts belong together.

usage: build_zip.py WHEEL FOLDER    (in an environment that has a bpy wheel)
"""

import importlib.util
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def blender_scripts() -> Path:
    """Finds Blender's scripts folder inside the installed bpy wheel, without starting Blender."""
    package = Path(importlib.util.find_spec("bpy").origin).parent
    return next(package.glob("*/scripts"))


def check_manifest(manifest: dict, wheel: Path) -> None:
    """Stops unless the manifest names this wheel and the version of the library."""
    library = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["package"]
    if manifest["version"] != library["version"]:
        sys.exit(
            f"weft: addon/blender_manifest.toml says version {manifest['version']}, "
            f"Cargo.toml says {library['version']}: make them equal"
        )
    wanted = [f"./wheels/{wheel.name}"]
    if manifest["wheels"] != wanted:
        sys.exit(
            f"weft: addon/blender_manifest.toml lists the wheels {manifest['wheels']}, "
            f"the build made {wanted}: make them equal"
        )


def stage(wheel: Path, folder: Path) -> Path:
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
    return staged


def main() -> None:
    wheel, folder = Path(sys.argv[1]), Path(sys.argv[2])
    manifest = tomllib.loads((ROOT / "addon/blender_manifest.toml").read_text(encoding="utf-8"))
    check_manifest(manifest, wheel)
    staged = stage(wheel, folder)
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
