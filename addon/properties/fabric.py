# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of a fabric: the fields of `weft.Material`, in SI units.

Values are SI whatever the unit scale of the scene, so no property has a Blender unit; the unit is
in the label.
"""

import json

from bpy.props import BoolProperty, FloatProperty, StringProperty
from bpy.types import Context, PropertyGroup
from bpy.utils import register_classes_factory

from . import change_counter
from .feel import slider

MATERIAL_FIELDS = (
    "density",
    "stretch_warp",
    "stretch_weft",
    "shear",
    "poisson",
    "bend_warp",
    "bend_weft",
    "bend_twist",
    "stretch_damping",
    "shear_damping",
    "bend_damping",
    "air_drag",
    "air_lift",
    "friction",
    "thickness",
)
CURVES = (
    "stretch_warp_curve",
    "stretch_weft_curve",
    "shear_curve",
    "bend_warp_curve",
    "bend_weft_curve",
)
OPTIONS = (*CURVES, "quality")  # absent unless they are set


NOT_ANIMATABLE: set[str] = set()  # property options without ANIMATABLE


def as_decimal(value: float) -> float:
    """The decimal number that was typed: Blender stores 0.15 as the float32 0.15000000596."""
    return float(f"{value:.7g}")


def changed(_owner: PropertyGroup, _context: Context) -> None:
    """Update callback of all properties that a result depends on."""
    change_counter.increment()


MICRO = 1e-6


def _in_micro(name: str, description: str, default: float) -> object:
    """A bending rigidity in µN·m: the stored and animatable property, of a readable magnitude."""
    return FloatProperty(
        name=f"{name} (µN·m)",
        description=f"{description}, in µN·m (a millionth of a newton metre)",
        default=default,
        min=0.0,
        soft_max=1000.0,
        precision=2,
        update=changed,
    )


def _in_si(field: str, name: str, description: str) -> object:
    """The bending rigidity in N·m for scripts, a view of the property in µN·m."""

    def read(owner: PropertyGroup) -> float:
        return getattr(owner, f"{field}_micro") * MICRO

    def write(owner: PropertyGroup, value: float) -> None:
        setattr(owner, f"{field}_micro", value / MICRO)

    return FloatProperty(
        name=f"Bending {name} (N·m)",
        description=f"{description}, in N·m",
        get=read,
        set=write,
        min=0.0,
        soft_max=1e-3,
        precision=6,
        options={"SKIP_SAVE"},  # a view: the property in µN·m is stored and animated
    )


def _stretch(name: str, yarns: str, default: float) -> object:
    return FloatProperty(
        name=f"{name} (N/m)",
        description=f"Resistance to stretching along the {yarns}: "
        "Young's modulus times the thickness of the fabric, in N/m",
        default=default,
        min=0.0,
        soft_min=10.0,
        soft_max=20000.0,
        step=1000,
        precision=1,
        update=changed,
    )


def _damping(name: str, motion: str, modulus: str, default: float) -> object:
    return FloatProperty(
        name=f"{name} (s)",
        description=f"Inner friction of {motion}: viscosity divided by the {modulus}, in s",
        default=default,
        min=0.0,
        soft_max=0.1,
        step=0.1,
        precision=4,
        update=changed,
    )


def _air(name: str, direction: str, default: float) -> object:
    return FloatProperty(
        name=name,
        description=f"Aerodynamic coefficient of the flow {direction} the fabric, without unit",
        default=default,
        min=0.0,
        soft_max=3.0,
        precision=2,
        update=changed,
    )


def friction_of(surface: str, default: float, **options: object) -> object:
    """Property for the Coulomb coefficient of friction of a fabric or collider."""
    return FloatProperty(
        name="Friction",
        description=f"Coulomb coefficient of friction of {surface}, without unit",
        default=default,
        min=0.0,
        soft_max=1.5,
        precision=2,
        update=changed,
        **options,
    )


def thickness_of(surface: str, **options: object) -> object:
    """Property for the contact gap of a fabric or collider, in m."""
    return FloatProperty(
        name="Thickness (m)",
        description=f"Gap that {surface} keeps on its side of a contact, in m",
        default=0.001,
        min=0.0,
        soft_max=0.02,
        step=0.01,
        precision=4,
        update=changed,
        **options,
    )


def _curve(name: str, replaced: str, strain: str, stress: str) -> object:
    """Property for a measured stress-strain curve, as JSON text of a list or an object."""
    return StringProperty(
        name=name,
        options=NOT_ANIMATABLE,
        description=f"Measured {stress} over {strain} in place of {replaced}, which stays that of "
        'reversals: {"load": [[0, 0], ...], "unload": [[0, 0], ...]}, or one list of points. '
        '"virgin": points of the first loading; "cycles": [{"largest": 0.02, "load": ..., '
        '"unload": ...}, ...], branches up to a largest or smallest strain',
        default="",
        update=changed,
    )


_WARP = "Bending rigidity per unit width of a strip cut along the warp"
_WEFT = "Bending rigidity per unit width of a strip cut along the weft"
_TWIST = "Rigidity against twisting out of the plane"


class WeftMaterial(PropertyGroup):
    """A fabric; names and units of its fields are those of `weft.Material`."""

    fabric: StringProperty(
        name="Fabric",
        options=NOT_ANIMATABLE,
        description="Name of the fabric that the fields were set to; they may have been changed",
        default="cotton",
    )

    density: FloatProperty(
        name="Density (kg/m²)",
        description="Mass of one square metre of the fabric, in kg/m²",
        default=0.15,
        min=1e-4,
        soft_min=0.02,
        soft_max=2.0,
        precision=3,
        update=changed,
    )
    stretch_warp: _stretch("Stretch Warp", "warp yarns (u of the UV map)", 1500.0)
    stretch_weft: _stretch("Weft", "weft yarns (v of the UV map)", 900.0)
    shear: FloatProperty(
        name="Shear (N/m)",
        description="Resistance to a change of the angle between the yarns: "
        "shear modulus times the thickness of the fabric, in N/m",
        default=60.0,
        min=0.0,
        soft_min=1.0,
        soft_max=5000.0,
        step=100,
        precision=1,
        update=changed,
    )
    poisson: FloatProperty(
        name="Poisson Ratio",
        description="How much the fabric narrows along the weft when stretched along the warp, "
        "without unit",
        default=0.243,
        min=0.0,
        max=0.99,
        soft_max=0.5,
        precision=3,
        update=changed,
    )
    bend_warp_micro: _in_micro("Warp", _WARP, 8.6)
    bend_weft_micro: _in_micro("Weft", _WEFT, 5.0)
    bend_twist_micro: _in_micro("Twist", _TWIST, 2.0)
    bend_warp: _in_si("bend_warp", "Warp", _WARP)
    bend_weft: _in_si("bend_weft", "Weft", _WEFT)
    bend_twist: _in_si("bend_twist", "Twist", _TWIST)
    use_bend_twist: BoolProperty(
        name="Own Twisting Rigidity",
        options=NOT_ANIMATABLE,
        description="Set the rigidity against twisting instead of taking the value that an "
        "isotropic fabric of these bending rigidities has",
        default=False,
        update=changed,
    )
    stretch_damping: _damping("Stretch", "stretching", "stretch modulus", 0.002)
    shear_damping: _damping("Shear", "shearing", "shear modulus", 0.004)
    bend_damping: _damping("Bending", "bending", "bending rigidity", 0.004)
    air_drag: _air("Drag", "across", 1.0)
    air_lift: _air("Lift", "along", 0.1)
    friction: friction_of("this fabric", 0.4)
    thickness: thickness_of("the fabric")

    stretch_warp_curve: _curve("Stretch Warp", "Stretch Warp", "strain", "stress in N/m")
    stretch_weft_curve: _curve("Stretch Weft", "Stretch Weft", "strain", "stress in N/m")
    shear_curve: _curve("Shear", "Shear", "shear angle in radians", "stress in N/m")
    bend_warp_curve: _curve("Bending Warp", "Bending Warp", "curvature in 1/m", "moment in N")
    bend_weft_curve: _curve("Bending Weft", "Bending Weft", "curvature in 1/m", "moment in N")
    quality_q: FloatProperty(
        name="Quality",
        description="Quality factor Q, without unit: in every cycle of a motion 2π/Q of its energy "
        "is lost in the fabric, however fast it is; 0 for none of this",
        default=0.0,
        min=0.0,
        soft_max=100.0,
        precision=1,
        update=changed,
    )
    quality_low: FloatProperty(
        name="From (Hz)",
        description="Lowest frequency at which the quality holds, in Hz; the longest period in s "
        "is its inverse",
        default=0.1,
        min=1e-6,
        soft_max=10.0,
        precision=3,
        update=changed,
    )
    quality_high: FloatProperty(
        name="To (Hz)",
        description="Highest frequency at which the quality holds, in Hz; the shortest period in s "
        "is its inverse",
        default=10.0,
        min=1e-6,
        soft_max=100.0,
        precision=2,
        update=changed,
    )

    stiffness: slider(
        "Soft / Stiff",
        "Resistance to bending: stiff fabric has fewer and larger folds",
        ("bend_warp", "bend_weft", "bend_twist"),
    )
    weight: slider(
        "Light / Heavy", "Mass: heavy fabric hangs straighter and swings slower", ("density",)
    )
    stretchiness: slider(
        "Firm / Stretchy",
        "Yielding to stretching and shearing",
        ("stretch_warp", "stretch_weft", "shear"),
        sign=-1.0,
    )
    damping: slider(
        "Lively / Damped",
        "Inner friction, by which motion comes to rest",
        ("stretch_damping", "shear_damping", "bend_damping"),
    )

    def as_dict(self) -> dict[str, object]:
        """The fields for `weft.Material.from_dict`."""
        fields = {name: self.value(name) for name in MATERIAL_FIELDS}
        if not self.use_bend_twist:
            fields["bend_twist"] = None
        return fields | self.options()

    def options(self) -> dict[str, object]:
        """The curves and the quality that are set; a text that is not JSON is returned as it is."""
        given = {name: getattr(self, name) for name in CURVES}
        options: dict[str, object] = {}
        for name, text in given.items():
            if text.strip():
                options[name] = _parsed(text)
        if self.quality_q > 0.0:
            quality = {"q": self.quality_q, "low": self.quality_low, "high": self.quality_high}
            options["quality"] = {name: as_decimal(value) for name, value in quality.items()}
        return options

    def value(self, name: str) -> float:
        """One field in its SI unit, as it was typed."""
        if name.startswith("bend_") and name != "bend_damping":
            return as_decimal(as_decimal(getattr(self, f"{name}_micro")) * MICRO)
        return as_decimal(getattr(self, name))

    def assign(self, fields: dict[str, object]) -> None:
        """Sets all properties to the fields of a `weft.Material`."""
        for name in CURVES:
            setattr(self, name, json.dumps(fields[name]) if fields.get(name) else "")
        quality = fields.get("quality") or {"q": 0.0}
        for name, value in quality.items():
            setattr(self, f"quality_{name}", value)
        self.use_bend_twist = fields.get("bend_twist") is not None
        for name in MATERIAL_FIELDS:
            if fields.get(name) is not None:
                setattr(self, name, fields[name])


def _parsed(text: str) -> object:
    """Curve of a JSON text in the normalised form; the text itself if it is not JSON."""
    try:
        curve = json.loads(text)
    except ValueError:
        return text
    return normalised_curve(curve)


def normalised_curve(curve: object) -> object:
    """A curve with its branches and float values; invalid input is returned unchanged."""
    branches = curve if isinstance(curve, dict) else {"load": curve, "unload": curve}
    try:
        return {name: _normalised_part(name, part) for name, part in branches.items()}
    except (AttributeError, TypeError, ValueError):
        return curve


def _normalised_part(name: str, part: object) -> object:
    """Points of a branch, a bound of a cycle, or the list of cycles."""
    if name in ("largest", "smallest"):
        return float(part)
    if name == "cycles":
        return [
            {name: _normalised_part(name, entry) for name, entry in cycle.items()} for cycle in part
        ]
    return [[float(strain), float(stress)] for strain, stress in part]


register, unregister = register_classes_factory((WeftMaterial,))
