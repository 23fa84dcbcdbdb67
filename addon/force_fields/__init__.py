# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's force fields, evaluated on the vertices of a cloth."""
