# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabric presets: TOML files, operators, menu and preview images."""
