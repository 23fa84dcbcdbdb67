# SPDX-License-Identifier: MIT OR Apache-2.0
"""Geometry of the judge, which shares no code with Weft."""
