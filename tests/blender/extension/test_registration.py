# SPDX-License-Identifier: MIT OR Apache-2.0
"""The add-on comes and goes without a trace, and speaks to artists in full."""

import re
import subprocess
import sys
import threading
import tomllib
from pathlib import Path

import bpy
import pytest
import small_scenes

import addon
from addon import properties
from addon.fabrics import presets
from addon.properties import fabric
from addon.simulation import bridge

ROOT = Path(__file__).parents[3]
sys.path.append(str(ROOT / "tests/setup"))
HANDLERS = (
    "depsgraph_update_post",
    "frame_change_post",
    "load_post",
    "load_pre",
    "redo_post",
    "redo_pre",
    "save_post",
    "save_post_fail",
    "save_pre",
    "undo_post",
    "undo_pre",
)


def traces():
    """What an add-on could leave behind."""
    return {
        "types": {name for name in dir(bpy.types) if "weft" in name.lower()},
        "groups": {
            group.__name__
            for group in bpy.types.PropertyGroup.__subclasses__()
            if group.__module__.startswith("addon.") and group.is_registered
        },
        "operators": {name for name in dir(bpy.ops.weft)},
        "handlers": {name: len(getattr(bpy.app.handlers, name)) for name in HANDLERS},
        "properties": {
            owner.__name__
            for owner in (
                bpy.types.Object,
                bpy.types.Scene,
                bpy.types.Mesh,
                bpy.types.WindowManager,
            )
            if hasattr(owner, "weft")
        },
        "threads": {thread.name for thread in threading.enumerate() if "weft" in thread.name},
    }


def test_registering_twice_and_unregistering_leaves_nothing():
    registered = traces()
    assert registered["properties"] == {"Object", "Scene", "WindowManager"}
    assert {"bake", "resume", "free"} <= registered["operators"]
    addon.unregister()
    bare = traces()
    for kind in ("types", "groups", "operators", "properties", "threads"):
        assert bare[kind] == set(), kind
    assert sum(bare["handlers"].values()) == sum(registered["handlers"].values()) - 10
    addon.register()
    assert traces() == registered


SHOWN = [
    (fabric.WeftMaterial, None),
    (properties.WeftObject, {"role", "pin_group", "use_uv", "friction", "thickness"}),
    (properties.WeftScene, None),
]


@pytest.mark.parametrize(("group", "names"), SHOWN)
def test_every_setting_has_a_label_and_a_tooltip_in_blenders_manner(group, names):
    hidden = {"rna_type", "name", "file", "before_bake"}
    own = [p for p in group.bl_rna.properties if p.identifier not in hidden]
    shown = [p for p in own if names is None or p.identifier in names]
    assert len(shown) >= 5
    for prop in shown:
        assert prop.name and prop.name[0].isupper(), prop.identifier
        assert prop.description and not prop.description.endswith("."), prop.identifier


@pytest.mark.parametrize(("group", "_names"), SHOWN)
def test_every_physical_number_states_its_unit(group, _names):
    unit = re.compile(r"in (N/m|µ?N·m|N|kg/m[²³]|m/s²?|Pa|m³|s|m)\b|without unit")
    numbers = [p for p in group.bl_rna.properties if p.type == "FLOAT"]
    assert numbers
    for prop in numbers:
        if prop.identifier != "tolerance":
            assert unit.search(prop.description), f"{prop.identifier}: {prop.description}"


def test_the_page_of_settings_is_that_of_the_extension():
    import make_parameters

    assert make_parameters.TARGET.read_text(encoding="utf-8") == make_parameters.page(), (
        "run tests/setup/make_parameters.py"
    )


def test_every_button_and_panel_has_a_label_and_buttons_a_tooltip():
    kinds = [getattr(bpy.types, name) for name in dir(bpy.types)]
    own = [k for k in kinds if getattr(k, "__module__", "").startswith("addon.")]
    assert len(own) > 10
    for kind in own:
        assert issubclass(kind, bpy.types.UIList) or kind.bl_label
        if issubclass(kind, bpy.types.Operator):
            assert kind.bl_description and not kind.bl_description.endswith(".")


def test_the_material_has_the_fields_of_the_library_and_its_defaults():
    fields = small_scenes.add_cloth().weft.material.as_dict()
    assert fields == bridge.library().Material().to_dict()


def test_the_solver_settings_are_the_librarys_defaults():
    defaults = bridge.library().Settings()
    settings = bpy.context.scene.weft.solver_settings()
    for name, value in settings.items():
        expected = getattr(defaults, name)
        assert value == (expected if isinstance(expected, str) else pytest.approx(expected))


@pytest.mark.parametrize("field", ["integrator", "solver", "model"])
def test_what_the_library_offers_can_be_chosen(field):
    settings = bpy.context.scene.weft
    there = bridge.choices(field)
    assert there >= {getattr(bridge.library().Settings(), field)}
    for name in there:
        setattr(settings, field, name)
        assert settings.solver_settings()[field] == name
    with pytest.raises(TypeError):
        setattr(settings, field, "none_of_these")


def test_rigidities_are_shown_in_micro_newton_metres():
    settings = small_scenes.add_cloth().weft.material
    settings.bend_warp = 8e-6
    assert settings.bend_warp_micro == pytest.approx(8.0)
    settings.bend_warp_micro = 12.5
    assert settings.bend_warp == pytest.approx(12.5e-6)


def test_what_was_typed_reaches_the_library():
    settings = small_scenes.add_cloth().weft.material
    settings.density, settings.use_bend_twist, settings.bend_twist = 0.15, True, 3e-6
    fields = settings.as_dict()
    assert (fields["density"], fields["bend_twist"]) == (0.15, 3e-6)
    assert tuple(fields) == fabric.MATERIAL_FIELDS


# --- the library ------------------------------------------------------------------------------


def test_the_manifest_has_the_version_of_the_library():
    manifest = tomllib.loads((ROOT / "addon/blender_manifest.toml").read_text())
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text())
    assert manifest["version"] == cargo["package"]["version"] == bridge.version()
    assert bridge.problem() == ""


def test_another_version_of_the_library_asks_for_a_restart(tmp_path, monkeypatch):
    manifest = tmp_path / "blender_manifest.toml"
    manifest.write_text('version = "99.0.0"\n')
    monkeypatch.setattr(bridge, "MANIFEST", manifest)
    addon.unregister()
    addon.register()
    assert "99.0.0" in bridge.problem() and bridge.problem().endswith("restart Blender")
    small_scenes.add_cloth()
    with pytest.raises(RuntimeError, match="restart Blender"):
        bpy.ops.weft.bake()


def test_a_missing_library_is_a_message_and_everything_else_works(monkeypatch):
    monkeypatch.setattr(bridge, "_library", None)
    monkeypatch.setattr(bridge, "_import_error", "no module", raising=False)
    addon.unregister()
    addon.register()
    assert "missing" in bridge.problem()
    cloth = small_scenes.add_cloth()
    assert presets.label(cloth.weft.material) == "Cotton"
    assert bpy.ops.weft.free() == {"FINISHED"}
    with pytest.raises(RuntimeError, match="missing"):
        bpy.ops.weft.bake()


def test_blender_as_a_module_ends_well_while_the_add_on_is_registered():
    code = (
        "import bpy, addon; bpy.ops.wm.read_factory_settings(use_empty=True); addon.register(); "
        "bpy.ops.mesh.primitive_grid_add(); bpy.context.object.weft.role = 'CLOTH'; "
        "bpy.context.scene.frame_end = 2; bpy.ops.weft.bake()"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stderr
