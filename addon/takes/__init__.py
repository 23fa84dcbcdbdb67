# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes: results of a cloth that are kept by name, compared side by side, and chosen again."""
