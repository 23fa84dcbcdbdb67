# SPDX-License-Identifier: GPL-3.0-or-later
"""Where panels are before they are sewn: around limbs of a figure."""
