# SPDX-License-Identifier: GPL-3.0-or-later
"""Cache files on disk: where they are, which file and object owns them, how they follow a save."""
