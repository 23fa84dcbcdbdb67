# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake: its run, its files and its modal operator; fingerprints and status of results."""
