# SPDX-License-Identifier: GPL-3.0-or-later
"""A baked result on an object: shape keys or a Mesh Cache modifier."""
