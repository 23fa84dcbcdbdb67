# SPDX-License-Identifier: GPL-3.0-or-later
"""Garments: sewing patterns as meshes, seams, and dressing before the first frame."""
