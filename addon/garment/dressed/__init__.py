# SPDX-License-Identifier: GPL-3.0-or-later
"""The dressed shape: a shape key while seams are sewing edges, then a mesh of welded seams."""
