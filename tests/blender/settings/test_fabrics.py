# SPDX-License-Identifier: MIT OR Apache-2.0
"""Fabrics: the files that come with Weft, the user's own, and what of them is changed."""

import errno
import json

import bpy
import numpy as np
import pytest
import small_scenes

from addon.fabrics import presets, preview_render
from addon.fabrics.look import Look
from addon.properties.fabric import OPTIONS
from addon.simulation import bridge

SHIPPED = sorted(path.stem for path in presets.SHIPPED.glob("*.toml"))


@pytest.fixture(autouse=True)
def user_folder(tmp_path, monkeypatch):
    """The user's own folder, empty."""
    folder = tmp_path / "presets" / "weft"
    monkeypatch.setattr(presets, "user_folder", lambda: folder)
    return folder


@pytest.fixture
def material():
    cloth = small_scenes.add_cloth()
    bpy.context.view_layer.objects.active = cloth
    return cloth.weft.material


def test_there_are_at_least_twenty_five_and_each_says_what_it_is():
    assert len(SHIPPED) >= 25 and set(SHIPPED) == set(presets.all_presets())
    for fabric in presets.all_presets().values():
        assert fabric.title and fabric.description and not fabric.is_user_preset


@pytest.mark.parametrize("name", SHIPPED)
def test_every_field_says_where_it_is_from_or_that_it_is_estimated(name):
    fabric = presets.find(name)
    measured = 0
    for field, value in fabric.fields.items():
        if value is None:
            continue
        origin = fabric.origins[field]
        assert origin, field
        if not origin.startswith("Estimated, "):
            measured += 1
            years = ("1944", "2014", "2015", "2016", "2017", "2022")
            assert any(place in origin for place in (*years, "ISO", ".net", ".com"))
    assert measured >= (0 if name == "felt" else 1)


@pytest.mark.parametrize("name", SHIPPED)
def test_the_library_takes_every_fabric_and_knows_it_by_the_same_name(name):
    fields = presets.find(name).fields
    library = bridge.library()
    assert library.Material.from_dict(fields).to_dict() == fields
    assert library.Material.preset(name).to_dict() == fields


@pytest.mark.parametrize("name", SHIPPED)
def test_a_fabric_sets_every_field_and_is_recognised(name, material):
    material.density = 9.0
    assert bpy.ops.weft.preset_apply(name=name) == {"FINISHED"}
    fields = presets.find(name).fields
    for field, value in material.as_dict().items():
        assert value == (fields[field] if field in OPTIONS else pytest.approx(fields[field])), field
    assert presets.label(material) == presets.find(name).title
    assert presets.changed_fields(material) == set()


def test_a_new_cloth_is_cotton(material):
    assert presets.label(material) == "Cotton"


def test_a_changed_field_is_marked_and_reset_by_itself(material):
    bpy.ops.weft.preset_apply(name="silk")
    material.shear *= 1.01
    material.bend_warp_micro = 99.0
    assert presets.label(material) == "Silk (changed)"
    assert presets.changed_fields(material) == {"shear", "bend_warp"}
    assert bpy.ops.weft.field_reset(field="bend_warp") == {"FINISHED"}
    assert presets.changed_fields(material) == {"shear"}
    assert bpy.ops.weft.field_reset(field="shear") == {"FINISHED"}
    assert presets.label(material) == "Silk"


def test_an_own_twisting_rigidity_is_a_change_and_is_reset(material):
    material.use_bend_twist = True
    assert presets.changed_fields(material) == {"bend_twist"}
    bpy.ops.weft.field_reset(field="bend_twist")
    assert not material.use_bend_twist and presets.label(material) == "Cotton"


def test_an_unknown_fabric_is_refused_by_name(material):
    with pytest.raises(RuntimeError, match="no fabric 'brocade'; there are canvas, chiffon"):
        bpy.ops.weft.preset_apply(name="brocade")
    material.fabric = "brocade"
    assert presets.label(material) == "Custom Fabric"
    assert presets.changed_fields(material) == set()


def test_own_fabrics_are_kept_applied_and_removed(material, user_folder):
    material.density, material.use_bend_twist, material.bend_twist_micro = 0.321, True, 3.0
    assert bpy.ops.weft.preset_add(title='My "best" Linen') == {"FINISHED"}
    path = user_folder / "my_best_linen.toml"
    assert path.is_file() and material.fabric == "my_best_linen"
    assert presets.label(material) == 'My "best" Linen'
    wanted = material.as_dict()
    bpy.ops.weft.preset_apply(name="silk")
    assert bpy.ops.weft.preset_apply(name="my_best_linen") == {"FINISHED"}
    assert material.as_dict() == wanted
    assert list(presets.all_presets())[-1] == "my_best_linen"
    assert bpy.ops.weft.preset_remove() == {"FINISHED"}
    assert not path.exists() and material.as_dict() == wanted
    assert presets.label(material) == "Custom Fabric"


@pytest.mark.parametrize(
    "title", ["布 é", "Drap d'été", "../../elsewhere", "a/b", "a\nb", "x" * 300]
)
def test_every_name_makes_a_file_in_the_folder_of_ones_own(title, material, user_folder):
    assert bpy.ops.weft.preset_add(title=title) == {"FINISHED"}
    assert len(list(user_folder.glob("*.toml"))) == 1
    assert presets.label(material) == " ".join(title.split())[: presets.MAX_TITLE_LENGTH]


def test_a_folder_that_cannot_be_written_is_told(material, user_folder):
    user_folder.parent.mkdir(parents=True, exist_ok=True)
    user_folder.write_text("")
    with pytest.raises(RuntimeError, match="the file of the fabric cannot be used"):
        bpy.ops.weft.preset_add(title="Barkcloth")


def test_a_disk_that_is_full_leaves_the_fabric_that_was_there(material, user_folder, monkeypatch):
    presets.save("Barkcloth", material)
    before = (user_folder / "barkcloth.toml").read_text()
    material.density = 0.9

    def full(_handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(RuntimeError, match="No space left"):
        bpy.ops.weft.preset_add(title="Barkcloth")
    assert (user_folder / "barkcloth.toml").read_text() == before
    assert len(list(user_folder.iterdir())) == 1


def test_fabrics_that_come_with_weft_are_neither_replaced_nor_removed(material):
    with pytest.raises(RuntimeError, match="'Silk' comes with Weft"):
        bpy.ops.weft.preset_add(title="Silk")
    with pytest.raises(RuntimeError, match="a fabric needs a name"):
        bpy.ops.weft.preset_add(title="  ")
    assert not bpy.ops.weft.preset_remove.poll()


def test_plain_numbers_are_enough(material, user_folder):
    user_folder.mkdir(parents=True)
    lines = ["[fields]", *(f"{k} = {v!r}" for k, v in material.as_dict().items() if v is not None)]
    (user_folder / "plain.toml").write_text("\n".join(lines))
    assert presets.find("plain").title == "plain"
    assert bpy.ops.weft.preset_apply(name="plain") == {"FINISHED"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("not toml at all [", "own.toml: "),
        ("title = 'x'", "own.toml: it has no table"),
        ("[fields]\ndensity = 1.0", "no air_drag, no air_lift"),
        ("[fields]\ncolour = 1.0", "unknown colour"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_and_left_out(content, words, user_folder):
    user_folder.mkdir(parents=True)
    (user_folder / "own.toml").write_text(content)
    assert list(presets.all_presets()) == SHIPPED
    (problem,) = presets.problems()
    assert words in problem


def test_a_value_that_is_no_number_is_told(user_folder, material):
    presets.save("Own", material)
    path = user_folder / "own.toml"
    path.write_text(path.read_text().replace("density = 0.15", "density = true"))
    assert presets.problems() == ["own.toml: density is no number: True"]


CURVE = {"load": [[0.0, 0.0], [0.1, 3.5]], "unload": [[0.0, 0.0], [0.05, 1.0], [0.1, 3.5]]}


def test_curves_and_quality_are_kept_in_a_fabric_and_reach_the_library(material, user_folder):
    plain = material.as_dict()
    material.shear_curve = (
        '{"load": [[0, 0], [0.1, 3.5]], "unload": [[0, 0], [0.05, 1], [0.1, 3.5]]}'
    )
    material.bend_warp_curve = "[[0, 0], [100, 4e-4]]"
    material.quality_q, material.quality_high = 5.0, 20.0
    wanted = material.as_dict()
    assert wanted["shear_curve"] == CURVE
    assert wanted["quality"] == {"q": 5.0, "low": 0.1, "high": 20.0}
    assert presets.changed_fields(material) == {"shear_curve", "bend_warp_curve", "quality"}
    assert bridge.library().Material.from_dict(wanted).to_dict() == wanted
    assert bpy.ops.weft.preset_add(title="Knitted") == {"FINISHED"}
    bpy.ops.weft.preset_apply(name="cotton")
    assert material.as_dict() == plain
    assert bpy.ops.weft.preset_apply(name="knitted") == {"FINISHED"}
    assert material.as_dict() == wanted == presets.find("knitted").fields
    material.shear_curve = ""
    assert presets.changed_fields(material) == {"shear_curve"}
    bpy.ops.weft.field_reset(field="shear_curve")
    bpy.ops.weft.preset_apply(name="cotton")
    material.quality_q = 3.0
    bpy.ops.weft.field_reset(field="quality")
    assert material.as_dict() == plain


def test_virgin_curve_and_cycles_are_kept_in_a_fabric_and_reach_the_library(material, user_folder):
    curve = {
        "virgin": [[-0.1, -8.0], [0.1, 8.0]],
        "load": [[-0.1, -7.0], [0.1, 7.0]],
        "unload": [[-0.1, -7.0], [0.0, 0.0], [0.1, 6.5]],
        "cycles": [
            {
                "largest": 0.05,
                "smallest": -0.05,
                "load": [[-0.1, -7.0], [0.1, 7.5]],
                "unload": [[-0.1, -7.0], [0.0, 0.0], [0.1, 6.6]],
            }
        ],
    }
    material.shear_curve = json.dumps(curve)
    wanted = material.as_dict()
    assert wanted["shear_curve"] == curve
    assert bridge.library().Material.from_dict(wanted).to_dict() == wanted
    assert bpy.ops.weft.preset_add(title="Cycled") == {"FINISHED"}
    bpy.ops.weft.preset_apply(name="cotton")
    assert bpy.ops.weft.preset_apply(name="cycled") == {"FINISHED"}
    assert material.as_dict() == wanted == presets.find("cycled").fields


def test_a_curve_that_is_none_is_told(user_folder, material):
    material.shear_curve = "soft"
    with pytest.raises(ValueError, match="'soft' is no curve"):
        presets.save("Soft", material)
    with pytest.raises(TypeError, match="shear_curve"):
        bridge.library().Material.from_dict(material.as_dict())
    material.shear_curve = ""
    presets.save("Own", material)
    path = user_folder / "own.toml"
    path.write_text(path.read_text() + "shear_curve = 3.0\n")
    assert presets.problems() == ["own.toml: shear_curve is no curve: 3.0"]
    path.write_text(path.read_text().replace("shear_curve = 3.0", "quality = { q = 3.0 }"))
    assert presets.problems() == ["own.toml: quality is no table of q, low and high: {'q': 3.0}"]


def test_a_cloth_with_curves_and_quality_is_baked(tmp_path):
    cloth = small_scenes.add_cloth()
    bpy.context.scene.weft.cache_directory = str(tmp_path)
    cloth.weft.material.shear_curve = "[[-0.1, -4], [0.1, 4]]"
    cloth.weft.material.quality_q = 5.0
    small_scenes.set_frames(1, 4)
    assert bpy.ops.weft.bake() == {"FINISHED"}


# --- sliders and pictures ---------------------------------------------------------------------

SLIDERS = {
    "stiffness": ("bend_warp", "bend_weft"),
    "weight": ("density",),
    "stretchiness": ("stretch_warp", "stretch_weft", "shear"),
    "damping": ("stretch_damping", "shear_damping", "bend_damping"),
}


@pytest.mark.parametrize("slider", SLIDERS)
def test_a_slider_moves_its_measured_values_together_and_no_others(slider, material):
    bpy.ops.weft.preset_apply(name="denim")
    assert getattr(material, slider) == 0.0
    before = material.as_dict()
    setattr(material, slider, 0.5)
    factor = 10.0 ** (-0.5 if slider == "stretchiness" else 0.5)
    for name, value in material.as_dict().items():
        wanted = factor if name in SLIDERS[slider] else 1.0
        assert value == (value if value is None else pytest.approx(wanted * before[name], rel=1e-5))
    assert getattr(material, slider) == pytest.approx(0.5, abs=1e-5)
    setattr(material, slider, 0.0)
    for name, value in material.as_dict().items():
        assert value == (value if value is None else pytest.approx(before[name], rel=1e-5))


def test_a_slider_keeps_the_ratio_of_values_that_were_changed(material):
    bpy.ops.weft.preset_apply(name="silk")
    material.stretch_warp *= 4.0
    ratio = material.stretch_warp / material.stretch_weft
    material.stretchiness = -1.0
    assert material.stretch_warp / material.stretch_weft == pytest.approx(ratio, rel=1e-5)
    assert material.stretchiness == pytest.approx(-1.0, abs=1e-5)


def test_sliders_of_values_that_are_nothing_do_nothing(material):
    material.bend_warp_micro = material.bend_weft_micro = material.bend_twist_micro = 0.0
    material.stiffness = 1.0
    assert material.bend_warp_micro == 0.0 and material.stiffness == 0.0


def test_every_fabric_has_a_look_of_its_own():
    looks = [fabric.look for fabric in presets.all_presets().values()]
    fronts = [np.array(look.front) for look in looks]
    distances = [np.linalg.norm(a - b) for k, a in enumerate(fronts) for b in fronts[:k]]
    assert min(distances) > 0.05
    assert len({look.weave for look in looks}) >= 6


def test_a_card_shows_colour_weave_and_holes():
    places = preview_render.flat_places()
    positions = np.column_stack([places, np.zeros(len(places))])
    index = np.arange(preview_render.COUNT**2).reshape(preview_render.COUNT, -1)
    corners = [index[:-1, :-1], index[:-1, 1:], index[1:, 1:]], [index[1:, :-1]]
    first = np.stack([c.ravel() for c in corners[0]], axis=1)
    second = np.stack([corners[0][0].ravel(), corners[0][2].ravel(), corners[1][0].ravel()], axis=1)
    triangles = np.concatenate([first, second])
    pictures = {
        weave: preview_render.picture(
            positions, triangles, Look(front=(0.9, 0.1, 0.1), weave=weave, sheen=0.0)
        )
        for weave in ("smooth", "plain", "net")
    }
    middle = pictures["smooth"][56:72, 56:72].astype(float)
    assert middle[..., 0].mean() > 4.0 * middle[..., 1].mean()
    assert middle[..., 0].std() < 2.0 < pictures["plain"][56:72, 56:72, 0].std()
    assert pictures["net"][56:72, 56:72, 3].min() < 128 < pictures["net"][..., 3].max()


def test_a_look_that_is_none_is_refused(user_folder):
    user_folder.mkdir(parents=True)
    text = (presets.SHIPPED / "silk.toml").read_text(encoding="utf-8")
    (user_folder / "odd.toml").write_text(text.replace('"smooth"', '"tartan"'), encoding="utf-8")
    assert "its look has no tartan" in presets.problems()[0]
