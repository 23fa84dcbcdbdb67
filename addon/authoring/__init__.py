# SPDX-License-Identifier: GPL-3.0-or-later
"""Garments made in Blender: of outlines, around a figure, of revolution, of a modelled garment."""
