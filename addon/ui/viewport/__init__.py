# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn and done in the 3D viewport."""
