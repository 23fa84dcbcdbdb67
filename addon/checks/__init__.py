# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of a scene before a bake: findings with explanation and remedy."""

from .finding import Finding
from .run import check_scene

__all__ = ["Finding", "check_scene"]
