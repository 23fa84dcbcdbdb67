# SPDX-License-Identifier: GPL-3.0-or-later
"""Participants of a simulation, read from the evaluated scene."""
