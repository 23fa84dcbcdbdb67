# SPDX-License-Identifier: GPL-3.0-or-later
"""File formats of a bake: PC2 frames, checkpoints, statistics. No module here imports `bpy`."""
