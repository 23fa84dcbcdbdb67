# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own data: meshes as arrays, modifiers, animation curves, identities, time."""
