# SPDX-License-Identifier: GPL-3.0-or-later
"""What could spoil a bake, found before it: each with what it means and what helps."""

from .finding import Finding
from .run import check_scene

__all__ = ["Finding", "check_scene"]
