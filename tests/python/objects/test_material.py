# SPDX-License-Identifier: MIT OR Apache-2.0
"""Materials: values in, the same values out, nothing changes later."""

import copy
import pickle
import tomllib
from pathlib import Path

import numpy as np
import pytest
import weft

FIELDS = tuple(weft.Material().to_dict())


def test_fields_are_those_of_the_contract_in_its_order():
    assert (
        *("density", "stretch_warp", "stretch_weft", "shear", "poisson"),
        *("bend_warp", "bend_weft", "bend_twist"),
        *("stretch_damping", "shear_damping", "bend_damping"),
        *("air_drag", "air_lift", "friction", "thickness"),
    ) == FIELDS


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_reads_back_and_leaves_the_others(field):
    plain = weft.Material()
    value = 0.75 * (getattr(plain, field) or 1e-6)
    changed = weft.Material(**{field: value})
    assert getattr(changed, field) == value
    assert changed.to_dict() == plain.to_dict() | {field: value}
    assert plain.replace(**{field: value}) == changed != plain


@pytest.mark.parametrize("field", FIELDS)
def test_a_material_never_changes(field):
    material = weft.Material()
    with pytest.raises(AttributeError, match=field):
        setattr(material, field, 1.0)


def test_what_is_left_out_is_cotton():
    assert weft.Material() == weft.Material.preset("cotton")
    assert weft.Material.from_dict({}) == weft.Material.preset("cotton")


@pytest.mark.parametrize("name", weft.preset_names())
def test_a_preset_survives_every_copy(name):
    material = weft.Material.preset(name)
    assert weft.Material.from_dict(material.to_dict()) == material
    assert eval(repr(material), {"Material": weft.Material}) == material
    assert pickle.loads(pickle.dumps(material)) == material
    assert copy.copy(material) == material
    assert copy.deepcopy(material) == material


def test_presets_are_different_fabrics():
    presets = [weft.Material.preset(name) for name in weft.preset_names()]
    assert len(presets) >= 5
    assert all(a != b for index, a in enumerate(presets) for b in presets[:index])


def test_presets_have_the_values_of_the_files_that_cite_their_sources():
    folder = Path(__file__).parents[3] / "addon/presets"
    files = {path.stem: tomllib.loads(path.read_text()) for path in folder.glob("*.toml")}
    assert set(files) == set(weft.preset_names())
    for name, content in files.items():
        fields = {field: entry["value"] for field, entry in content["fields"].items()}
        assert weft.Material.preset(name).to_dict() == {"bend_twist": None, **fields}, name


def test_twist_is_optional_and_may_be_taken_back():
    twisted = weft.Material(bend_twist=2e-6)
    assert twisted.bend_twist == 2e-6
    assert twisted.replace(bend_twist=None) == weft.Material()


def test_a_dict_that_was_handed_out_is_a_copy():
    material = weft.Material()
    material.to_dict()["density"] = 7.0
    assert material == weft.Material()


def test_comparing_with_something_else_is_no_error():
    assert weft.Material() != 3
    assert weft.Settings() != weft.Material()


SHEAR = {
    "load": [(-0.1, -3.0), (0.0, 0.5), (0.1, 3.0)],
    "unload": [[-0.1, -3.0], [0.0, -0.5], [0.1, 3.0]],
}
OPTIONS = {
    "stretch_warp_curve": [(0.0, 0.0), (0.02, 5.0), (0.04, 30.0)],
    "stretch_weft_curve": np.array([(0.0, 0.0), (0.02, 5.0)]),
    "shear_curve": SHEAR,
    "bend_warp_curve": {
        "load": [(0.0, 1e-5), (100.0, 5e-4)],
        "unload": [(0.0, -1e-5), (100.0, 5e-4)],
    },
    "bend_weft_curve": {
        "virgin": [(-100.0, -6e-4), (100.0, 6e-4)],
        "load": [(-100.0, -2e-4), (100.0, 2e-4)],
        "unload": [(-100.0, -2e-4), (100.0, 2e-4)],
        "cycles": [
            {
                "largest": 40.0,
                "smallest": -40.0,
                "load": [(-100.0, -4e-4), (100.0, 5e-4)],
                "unload": [(-100.0, -5e-4), (100.0, 4e-4)],
            }
        ],
    },
    "quality": {"q": 5, "low": 0.1, "high": 10.0},
}


@pytest.mark.parametrize("field", OPTIONS)
def test_a_curve_or_quality_is_kept_copied_and_taken_back(field):
    plain = weft.Material(shear=60.0)
    assert getattr(plain, field) is None and field not in plain.to_dict()
    material = plain.replace(**{field: OPTIONS[field]})
    kept = getattr(material, field)
    assert kept is not None and material.to_dict() == plain.to_dict() | {field: kept}
    assert weft.Material.from_dict(material.to_dict()) == material != plain
    assert eval(repr(material), {"Material": weft.Material}) == material
    assert pickle.loads(pickle.dumps(material)) == material
    assert material.replace(**{field: None}) == plain
    kept.clear()
    assert getattr(material, field)


def test_one_list_is_followed_up_and_down():
    curve = weft.Material(shear_curve=[(-0.1, -3), (0.1, 3)]).shear_curve
    assert curve == {"load": [[-0.1, -3.0], [0.1, 3.0]], "unload": [[-0.1, -3.0], [0.1, 3.0]]}


def test_all_options_at_once_survive_a_dict():
    material = weft.Material(**OPTIONS)
    assert set(material.to_dict()) == {*FIELDS, *OPTIONS}
    assert weft.Material(**material.to_dict()) == material


def test_four_fabrics_have_hysteresis_of_bending():
    for name in ("cotton_broadcloth", "wool_tropical", "polyester_faille", "denim_with_hysteresis"):
        curve = weft.Material.preset(name).bend_warp_curve
        assert curve["load"][0][1] > curve["unload"][0][1], name


BRANCHES = {"load": [(0, 0), (0.1, 3)], "unload": [(0, 0), (0.1, 3)]}


@pytest.mark.parametrize(
    ("cycles", "error", "message"),
    [
        ([BRANCHES | {"largest": 0.1}], ValueError, "cycles alone; wanted a virgin curve"),
        (3, TypeError, "shear_curve.cycles: int; wanted a sequence of dicts"),
        ([BRANCHES | {"largest": "a"}], TypeError, r"cycles\[0\].largest: str; wanted a number"),
    ],
)
def test_cycles_that_are_none_are_refused_by_their_place(cycles, error, message):
    with pytest.raises(error, match=message):
        weft.Material(shear_curve=BRANCHES | {"cycles": cycles})
