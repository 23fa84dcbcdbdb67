# SPDX-License-Identifier: MIT OR Apache-2.0
"""Makes the folder of this file one that its tests import from."""
