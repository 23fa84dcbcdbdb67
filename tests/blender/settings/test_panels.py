# SPDX-License-Identifier: MIT OR Apache-2.0
"""Panels without a window: every property and operator that they show exists."""

import shutil
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
import small_scenes

from addon.fabrics import presets, previews
from addon.ui import takes_panel
from addon.ui.panel_parts import PhysicsPanel
from addon.ui.viewport import overlay_colors

PANELS = [kind for kind in bpy.types.Panel.__subclasses__() if issubclass(kind, PhysicsPanel)]


class Layout:
    """Stands in for `UILayout`: notes what is shown, and refuses what does not exist."""

    active = True
    scale_y = 1.0
    use_property_split = use_property_decorate = False

    def __init__(self, shown=None):
        self.shown = [] if shown is None else shown

    def _part(self, **_options):
        return Layout(self.shown)

    row = column = box = split = grid_flow = _part

    def prop(self, owner, name, **_options):
        assert name in owner.bl_rna.properties, f"{owner.bl_rna.identifier} has no {name}"
        self.shown.append(name)

    def prop_enum(self, owner, name, value):
        assert value in owner.bl_rna.properties[name].enum_items
        self.shown.append(name)

    def prop_decorator(self, owner, name):
        assert owner.bl_rna.properties[name].is_animatable

    def prop_search(self, owner, name, other, collection, **_options):
        self.prop(owner, name)
        assert hasattr(other, collection)

    def operator(self, name, **_options):
        category, kind = name.split(".")
        properties = getattr(getattr(bpy.ops, category), kind).get_rna_type().properties
        self.shown.append(name)
        return SimpleNamespace(**dict.fromkeys(properties.keys()))

    def operator_menu_enum(self, name, field, **_options):
        assert hasattr(self.operator(name), field)

    def menu(self, name, **_options):
        assert hasattr(bpy.types, name)

    def template_icon_view(self, owner, name, **_options):
        self.prop(owner, name)

    def template_list(self, kind, _name, owner, items, active_owner, active, **_options):
        assert hasattr(bpy.types, kind)
        self.prop(owner, items)
        self.prop(active_owner, active)

    def label(self, *, text="", icon="NONE"):
        self.shown.append(text)

    def separator(self):
        pass

    def progress(self, *, factor, text):
        assert 0.0 <= factor <= 1.0 and text


def context():
    """The context of a Properties editor."""
    return SimpleNamespace(
        object=bpy.context.view_layer.objects.active,
        scene=bpy.context.scene,
        view_layer=bpy.context.view_layer,
        window_manager=bpy.context.window_manager,
        preferences=SimpleNamespace(system=SimpleNamespace(ui_scale=1.0)),
        region=SimpleNamespace(width=400),
    )


def drawn():
    """What all panels show for the active object."""
    shown = []
    for kind in PANELS:
        if kind.poll(context()):
            panel = stand_in(kind)
            panel.layout = Layout(shown)
            if hasattr(kind, "draw_header"):
                panel.draw_header(context())
            panel.draw(context())
    return shown


def stand_in(kind):
    """A panel of a kind, without what only a window can make."""
    own = {name: thing for name, thing in vars(kind).items() if not name.startswith(("__", "bl_"))}
    return type(kind.__name__, kind.__bases__[:1], own)()


@pytest.fixture
def cloth():
    obj = small_scenes.add_cloth()
    bpy.context.view_layer.objects.active = obj
    small_scenes.set_frames(1, 3)
    return obj


def test_every_setting_is_in_a_panel(cloth):
    cloth.shape_key_add(name="Basis", from_mix=False)
    attachment = cloth.weft.attachments.add()
    shown = set(drawn())
    for choice in ("KEY", "PATTERN", "DEFORMED"):
        cloth.weft.rest_shape = choice
        shown |= set(drawn())
    bpy.context.scene.weft.use_scene_range = False
    bpy.context.scene.weft.use_scene_gravity = False
    shown |= set(drawn())
    hidden = {"rna_type", "name", "identity", "file", "fabric"}
    hidden |= {"bend_warp", "bend_weft", "bend_twist"}
    groups = (
        attachment,
        cloth.weft,
        cloth.weft.material,
        cloth.weft.field_weights,
        bpy.context.scene.weft,
    )
    for group in groups:
        for prop in group.bl_rna.properties:
            if prop.type in {"POINTER", "COLLECTION"} and prop.identifier.startswith(
                (
                    "material",
                    "muted",
                    "deforming",
                    "result",
                    "field_weights",
                    "garment",
                    "before_bake",
                    "attachments",
                )
            ):
                continue
            if prop.identifier not in hidden:
                assert prop.identifier in shown, prop.identifier


def test_curves_and_instances_have_a_role_and_plain_empties_have_none():
    curve = bpy.data.objects.new("Curve", bpy.data.curves.new("Curve", "CURVE"))
    empty = bpy.data.objects.new("Empty", None)
    for obj in (curve, empty):
        bpy.context.scene.collection.objects.link(obj)
    curve.weft.role = "CLOTH"  # of the mesh that it was
    bpy.context.view_layer.objects.active = curve
    assert "role" in drawn() and "friction" not in drawn()
    curve.weft.role = "COLLIDER"
    assert "friction" in drawn() and "pin_group" not in drawn()
    bpy.context.view_layer.objects.active = empty
    assert drawn() == []
    empty.instance_type = "COLLECTION"
    assert "role" in drawn()


def test_the_panels_of_a_collider_and_of_others(cloth):
    floor = small_scenes.add_floor()
    bpy.context.view_layer.objects.active = floor
    shown = drawn()
    assert {"thickness", "friction", "weft.bake"} <= set(shown) and "density" not in shown
    floor.weft.role = "NONE"
    assert drawn() == ["role"]


def test_changed_fields_have_a_reset_button(cloth):
    assert "weft.field_reset" not in drawn()
    cloth.weft.material.shear = 99.0
    assert drawn().count("weft.field_reset") == 1


def test_what_there_is_to_say_of_a_result_is_said(cloth):
    assert "Not baked yet" in drawn()
    bpy.ops.weft.bake()
    text = " ".join(drawn())
    assert "Shape keys: frames 1 to 3" in text and "2 frames in" in text
    cloth.weft.material.density = 0.3
    cloth.weft.result.warnings = "Something was wrong"
    text = " ".join(drawn())
    assert "Outdated: the material" in text and "Something was wrong" in text


def test_findings_are_listed_and_explained(cloth):
    bpy.context.scene.gravity.z = -500.0
    bpy.ops.weft.check_scene()
    text = " ".join(drawn())
    assert "Gravity is 500 m/s²" in text and "Blender's own unit" in text


# --- overlays and cards -----------------------------------------------------------------------


def test_stretch_is_that_of_the_triangles():
    random = np.random.default_rng(2)
    rest, quads = small_scenes.grid(6)
    triangles = np.concatenate([quads[:, :3], quads[:, [0, 2, 3]]])
    rotation, _ = np.linalg.qr(random.normal(size=(3, 3)))
    for factors in ((1.3, 1.0, 1.0), (1.0, 0.8, 1.0), (1.1, 1.2, 1.0)):
        now = (rest * factors) @ rotation.T + 5.0
        found = overlay_colors.stretch(rest, now, triangles)
        assert found == pytest.approx(max(factors[:2]) - 1.0, abs=1e-6)


def test_contacts_are_vertices_within_the_gap():
    from mathutils.bvhtree import BVHTree

    floor = BVHTree.FromPolygons([(-1, -1, 0), (1, -1, 0), (0, 1, 0)], [(0, 1, 2)])
    points = np.array([(0, 0, 0.002), (0, 0, 0.1), (0, 0, -0.002)])
    assert overlay_colors.in_contact(points, [(floor, 0.002)]).tolist() == [True, False, True]


def test_colours_run_from_blue_over_green_to_red():
    colors = overlay_colors.of_scale(np.array([-1.0, 0.0, 0.05, 0.1, 9.0]), 0.1)
    assert colors[0] == pytest.approx((*overlay_colors.BLUE, overlay_colors.OPACITY))
    assert colors[1] == pytest.approx(colors[0])
    assert colors[2][:3] == pytest.approx(overlay_colors.GREEN)
    assert colors[3] == pytest.approx(colors[4])
    assert colors[4] == pytest.approx((*overlay_colors.RED, overlay_colors.OPACITY))


def test_a_fabric_is_chosen_by_its_card(cloth):
    window = bpy.context.window_manager.weft
    assert window.fabric_card == "cotton"
    window.fabric_card = "denim"
    assert presets.label(cloth.weft.material) == "Denim"
    cloth.weft.material.fabric = "unknown"
    assert window.fabric_card == "CUSTOM"
    window.fabric_card = "CUSTOM"
    assert cloth.weft.material.fabric == "unknown"
    assert [item[0] for item in previews.items()][:2] == ["CUSTOM", "canvas"]


def test_choosing_a_card_is_undone_by_itself(cloth):
    bpy.ops.ed.undo_push(message="before")
    cloth.weft.material.density = 0.77
    bpy.ops.ed.undo_push(message="tuned by hand")
    bpy.context.window_manager.weft.fabric_card = "denim"
    bpy.ops.ed.undo()
    assert bpy.context.object.weft.material.density == pytest.approx(0.77)
    bpy.ops.ed.redo()
    assert presets.label(bpy.context.object.weft.material) == "Denim"


def test_the_garment_panel_tells_how_a_dressing_ended(cloth):
    assert {"weft.dress", "weft.undress", "weft.seam_add"} <= set(drawn())
    assert "weft.pattern_export" not in drawn()
    garment = cloth.weft.garment
    garment.pattern, garment.report = "{}", "Seam 1 stays open\nSeam 2 as well"
    garment.has_failed = True
    assert {"Seam 1 stays open", "Seam 2 as well", "weft.seam_select"} <= set(drawn())
    assert "weft.pattern_export" in drawn()
    garment.has_failed = False
    assert "weft.seam_select" not in drawn()


def test_panels_of_a_pattern_have_operators(cloth):
    operators = {"weft.panel_fabric", "weft.panel_edge_length", "weft.panel_wrap"}
    assert not operators & set(drawn())
    cloth.weft.garment.panels.add().name = "front"
    assert operators <= set(drawn())


def test_the_list_of_takes_marks_the_one_that_is_shown_and_names_one_without_cache(cloth):
    assert bpy.ops.weft.bake() == {"FINISHED"}
    assert bpy.ops.weft.take_keep(name="First") == {"FINISHED"}
    take, shown = cloth.weft.takes[0], []
    arguments = (cloth.weft, take, 0, cloth.weft, "active_take", 0)
    takes_panel.WEFT_UL_takes.draw_item(None, context(), Layout(shown), *arguments)
    assert shown == ["is_compared", "name", "weft.take_choose"]
    assert "weft.take_compare_end" not in drawn()
    assert bpy.ops.weft.take_compare() == {"FINISHED"}
    assert "weft.take_compare_end" in drawn()
    shutil.rmtree(bpy.context.scene.weft.cache_directory)
    assert any(text.startswith("The take 'First' has no cache") for text in drawn())
