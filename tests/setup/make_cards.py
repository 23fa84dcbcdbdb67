# SPDX-License-Identifier: MIT OR Apache-2.0
"""Makes the pictures of the fabrics that come with the extension.

usage: make_cards.py [NAME …]    (in an environment with a bpy wheel, and with `weft` to import)
"""

import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import weft  # noqa: E402

from addon.fabrics import presets, preview_render  # noqa: E402


def main() -> None:
    """Makes the named pictures, or all."""
    wanted = sys.argv[1:]
    for fabric in presets.all_presets().values():
        if fabric.is_user_preset or (wanted and fabric.name not in wanted):
            continue
        started = time.perf_counter()
        preview_render.make(weft, fabric.fields, fabric.look, fabric.preview)
        print(f"{fabric.name}: {time.perf_counter() - started:.1f} s", flush=True)


if __name__ == "__main__":
    main()
