# SPDX-License-Identifier: GPL-3.0-or-later
"""Access to Blender's own data: mesh arrays, modifiers, F-curves, identities and scene time."""
