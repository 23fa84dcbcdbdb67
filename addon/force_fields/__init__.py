# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's force fields, evaluated at the vertices of a cloth."""
