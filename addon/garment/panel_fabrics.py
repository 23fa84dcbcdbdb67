# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabrics of the panels of one cloth.

The cloth has one fabric; panels of another one are stiffer, heavier or more slippery by factors in
vertex groups, as in the Property Weights panel: w from 0 to 1 stands for 1 + w (factor - 1).
"""

import numpy as np
from bpy.types import Object

from ..fabrics import presets
from ..properties.fabric import WeftMaterial

QUANTITIES = {
    "stretch": ("stretch_warp", "stretch_weft"),
    "shear": ("shear",),
    "bend": ("bend_warp", "bend_weft"),
    "density": ("density",),
    "friction": ("friction",),
}


def assign(obj: Object, areas: list[float]) -> list[str]:
    """Gives a cloth the fabrics that its panels state; returns remarks on those not found.

    Where it was done before, the cloth gets its own fabric back first.
    """
    _clear(obj)
    known, panels = presets.all_presets(), obj.weft.garment.panels
    titles = {fabric.title.casefold(): name for name, fabric in known.items()}
    stated = [panel.fabric for panel in panels]
    names = [f if f in known else titles.get(f.casefold(), "") for f in stated]
    missing = sorted({f for f, name in zip(stated, names, strict=True) if f and not name})
    by_area = dict.fromkeys(names, 0.0)
    for name, area in zip(names, areas, strict=True):
        by_area[name] += area
    main = max(by_area, key=by_area.get)
    if main:
        presets.apply(obj.weft.material, main)
    default = main or obj.weft.material.fabric
    _weigh(obj, [known[name or default].fields for name in names])
    there = ", ".join(known)
    return [
        f"there is no fabric '{fabric}', which a panel asks for; there are {there}"
        for fabric in missing
    ]


def _group_name(quantity: str) -> str:
    return f"Fabric {quantity}"


def _clear(obj: Object) -> None:
    """Removes the groups that `assign` made, and what it changed of the cloth's fabric."""
    settings, was_changed = obj.weft, False
    for quantity in QUANTITIES:
        group = obj.vertex_groups.get(_group_name(quantity))
        if group is None or getattr(settings, f"{quantity}_group") != group.name:
            continue
        obj.vertex_groups.remove(group)
        settings.property_unset(f"{quantity}_group")
        settings.property_unset("density_max" if quantity == "density" else f"{quantity}_factor")
        was_changed = True
    if was_changed and settings.material.fabric in presets.all_presets():
        presets.apply(settings.material, settings.material.fabric)


def _weigh(obj: Object, fields: list[dict]) -> None:
    material = obj.weft.material
    for quantity, names in QUANTITIES.items():
        values = np.array([[panel[name] for name in names] for panel in fields])
        own = np.array([getattr(material, name) for name in names])
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.exp(np.log(values / own).mean(axis=1))
        ratios = np.where(np.isfinite(ratios), ratios, 1.0)
        if np.ptp(ratios) > 1e-6:
            _set_group(obj, quantity, ratios)


def _set_group(obj: Object, quantity: str, ratios: np.ndarray) -> None:
    """Groups have one factor: where panels have less and others more than the cloth, the cloth
    gets the least.
    """
    settings = obj.weft
    if ratios.min() < 1.0 < ratios.max():
        _scale(settings.material, quantity, float(ratios.min()))
        ratios = ratios / ratios.min()
    factor = float(ratios.max() if ratios.max() > 1.0 else ratios.min())
    group = obj.vertex_groups.new(name=_group_name(quantity))
    setattr(settings, f"{quantity}_group", group.name)
    if quantity == "density":
        settings.density_max = factor * settings.material.density
    else:
        setattr(settings, f"{quantity}_factor", factor)
    weights = (ratios - 1.0) / (factor - 1.0)
    for panel, weight in zip(settings.garment.panels, weights, strict=True):
        if weight > 0.0:
            group.add(_vertices(obj, panel.name), float(weight), "REPLACE")


def _scale(material: WeftMaterial, quantity: str, factor: float) -> None:
    for name in QUANTITIES[quantity]:
        setattr(material, name, getattr(material, name) * factor)


def _vertices(obj: Object, panel: str) -> list[int]:
    index = obj.vertex_groups[panel].index
    own = (v.index for v in obj.data.vertices if any(g.group == index for g in v.groups))
    return list(own)
