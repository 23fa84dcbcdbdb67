# SPDX-License-Identifier: MIT OR Apache-2.0
"""The list of all scenes: importing the families fills it."""

import scenes_chance
import scenes_copies
import scenes_drape
import scenes_folded
import scenes_impossible
import scenes_layers
import scenes_motion
import scenes_tangled
from scene import RECIPES

FAMILIES = (
    scenes_drape,
    scenes_motion,
    scenes_layers,
    scenes_impossible,
    scenes_tangled,
    scenes_copies,
    scenes_folded,
    scenes_chance,
)

__all__ = ["FAMILIES", "RECIPES"]
