# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every test gets an empty Blender with the add-on registered from source."""

import bpy
import pytest

import addon


@pytest.fixture(autouse=True)
def blender(tmp_path):
    """Registers, and unregisters even after a failure: bpy 4.2 crashes at exit otherwise."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    addon.register()
    bpy.context.scene.weft.cache_directory = str(tmp_path / "cache")
    yield
    addon.unregister()


@pytest.fixture
def cache_folder(tmp_path):
    return tmp_path / "cache"
