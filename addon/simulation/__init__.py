# SPDX-License-Identifier: GPL-3.0-or-later
"""The library `weft`: building a simulation from a scene, and the thread that advances it."""
