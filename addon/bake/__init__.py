# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake: its run, its files, its modal operator, fingerprints and the status of results."""
