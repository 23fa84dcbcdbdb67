# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of single frames, of all frames, and of the frames of a result."""
