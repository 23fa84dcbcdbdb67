# SPDX-License-Identifier: MIT OR Apache-2.0
"""Debians with a Blender that opens windows on a virtual screen; root and debootstrap make them."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OUT = ROOT / "out/gui"
SUITES = {"trixie": "4.3", "sid": "5.2"}  # of Debian, with the Blender that they have
FOLDER = Path(os.environ.get("WEFT_GUI_DEBIAN", OUT))  # where they are made
INSIDE = "/weft"
SCENE = f"{INSIDE}/scene.blend"
DISPLAY = ":79"
GEOMETRY = ("0", "0", "1600", "1000")
SCRIPTS = ("prepare.py", "hands.py", "stage.py", "drive.py", "scenes.py")


class Debian:
    """A Debian whose folder `/weft` has the extension and the scripts that play in its windows."""

    def __init__(self, suite: str) -> None:
        self.suite = suite
        self.root = FOLDER / suite
        self.folder = self.root / INSIDE[1:]
        archive = Path(os.environ.get("WEFT_ZIP", ROOT / "out/weft-0.2.0.zip"))
        if not archive.is_file():
            pytest.skip("there is no extension zip: make zip")
        made = subprocess.run(
            [ROOT / "tests/gui/chroot.sh", self.root, suite],
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            pytest.skip(f"no Blender {SUITES[suite]} with a window: {made.stdout.strip()}")
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        shutil.copy(archive, self.folder / "weft.zip")
        for name in SCRIPTS:
            shutil.copy(ROOT / "tests/gui" / name, self.folder)

    def command(self, *words: str, **variables: str) -> list[str]:
        """A command line that runs inside."""
        settings = {"HOME": "/root", "BLENDER_USER_RESOURCES": f"{INSIDE}/blender", **variables}
        pairs = [f"{name}={value}" for name, value in settings.items()]
        return ["chroot", str(self.root), "env", *pairs, *words]

    def run(self, *words: str) -> str:
        """What a command inside prints."""
        done = subprocess.run(self.command(*words), check=False, capture_output=True, text=True)
        return done.stdout

    @contextmanager
    def screen(self) -> Iterator[None]:
        size = f"{GEOMETRY[2]}x{GEOMETRY[3]}x24"
        server = subprocess.Popen(
            self.command("Xvfb", DISPLAY, "-screen", "0", size, "-nolisten", "tcp"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            time.sleep(2.0)
            yield
        finally:
            server.terminate()
            server.wait()

    def open_window(self, *arguments: str, timeout: int = 600) -> None:
        """A Blender on the screen, until it closes."""
        settings = {"DISPLAY": DISPLAY, "LIBGL_ALWAYS_SOFTWARE": "1"}
        with (self.folder / "blender.log").open("a") as log:
            subprocess.run(
                self.command("blender", "--window-geometry", *GEOMETRY, *arguments, **settings),
                timeout=timeout,
                check=False,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def prepare(self) -> None:
        """Saves the scene that the plays begin with."""
        self.open_window("--python", f"{INSIDE}/prepare.py", "--", SCENE)

    def facts(self, kind: str, **more: object) -> dict:
        """What the last play has found; screenshots and facts are copied to `out/gui`."""
        found = json.loads((self.folder / "facts.json").read_text()) | more
        found["pictures"] = str(OUT / self.suite / kind)
        pictures = Path(found["pictures"])
        pictures.mkdir(parents=True, exist_ok=True)
        for shot in self.folder.glob("*.png"):
            shutil.copy(shot, pictures)
        (pictures / "facts.json").write_text(json.dumps(found, indent=1))
        return found


def shows_something(pictures: str, name: str) -> bool:
    """Whether a screenshot is more than black, which compresses to nearly nothing."""
    return (Path(pictures) / f"{name}.png").stat().st_size > 30_000
