# SPDX-License-Identifier: MIT OR Apache-2.0
"""Families of hostile scenes: importing them fills the list of all scenes."""

from families import chance, copies, drape, folded, impossible, layers, motion, tangled
from scene import RECIPES

FAMILIES = (drape, motion, layers, impossible, tangled, copies, folded, chance)

__all__ = ["FAMILIES", "RECIPES"]
