# SPDX-License-Identifier: MIT OR Apache-2.0
"""The page on Blender's own cloth leaves out none of the settings that Blender's panels draw."""

import re
from pathlib import Path

import bpy
import pytest

PAGE = Path(__file__).resolve().parents[3] / "docs/blender_cloth.md"
PANELS = Path(bpy.utils.system_resource("SCRIPTS")) / "startup/bl_ui"
DRAWN = re.compile(r"""\.prop(?:_search)?\(\s*(\w+), "(\w+)\"""")

# The first column of its row on the page, by setting.
INTERNAL = (
    "Internal Springs: on, max length, max diversion, check normals, "
    "tension, compression, their maxima, vertex group"
)
CLOTH = {
    "quality": "Quality Steps",
    "time_scale": "Speed Multiplier",
    "mass": "Vertex Mass",
    "air_damping": "Air Viscosity",
    "bending_model": "Bending Model",
    "tension_stiffness": "Tension, Compression",
    "compression_stiffness": "Tension, Compression",
    "shear_stiffness": "Shear",
    "bending_stiffness": "Bending",
    "tension_damping": "Damping: tension, compression, shear, bending",
    "compression_damping": "Damping: tension, compression, shear, bending",
    "shear_damping": "Damping: tension, compression, shear, bending",
    "bending_damping": "Damping: tension, compression, shear, bending",
    "use_internal_springs": INTERNAL,
    "internal_spring_max_length": INTERNAL,
    "internal_spring_max_diversion": INTERNAL,
    "internal_spring_normal_check": INTERNAL,
    "internal_tension_stiffness": INTERNAL,
    "internal_compression_stiffness": INTERNAL,
    "internal_tension_stiffness_max": INTERNAL,
    "internal_compression_stiffness_max": INTERNAL,
    "vertex_group_intern": INTERNAL,
    "use_pressure": "Pressure: on, uniform",
    "uniform_pressure_force": "Pressure: on, uniform",
    "use_pressure_volume": "Pressure: custom volume, target, factor",
    "target_volume": "Pressure: custom volume, target, factor",
    "pressure_factor": "Pressure: custom volume, target, factor",
    "fluid_density": "Fluid Density",
    "vertex_group_pressure": "Property Weights: pressure",
    "vertex_group_mass": "Pin Group",
    "pin_stiffness": "Pin Stiffness",
    "use_sewing_springs": "Sewing",
    "sewing_force_max": "Max Sewing Force",
    "shrink_min": "Shrinking Factor",
    "use_dynamic_mesh": "Dynamic Mesh",
    "rest_shape_key": "Rest Shape Key",
    "collision_quality": "Quality",
    "use_collision": "Object Collisions: on",
    "distance_min": "Object: Distance",
    "impulse_clamp": "Object: Impulse Clamping",
    "vertex_group_object_collisions": "Object: Vertex Group",
    "collection": "Object: Collection",
    "use_self_collision": "Self Collisions: on",
    "self_friction": "Self: Friction, Distance",
    "self_distance_min": "Self: Friction, Distance",
    "self_impulse_clamp": "Self: Impulse Clamping",
    "vertex_group_self_collisions": "Self: Vertex Group",
    "vertex_group_structural_stiffness": "Property Weights: structural, maximum",
    "tension_stiffness_max": "Property Weights: structural, maximum",
    "compression_stiffness_max": "Maximum of Tension, Compression, Shear, Bending",
    "vertex_group_shear_stiffness": "Property Weights: shear, maximum",
    "shear_stiffness_max": "Property Weights: shear, maximum",
    "vertex_group_bending": "Property Weights: bending, maximum",
    "bending_stiffness_max": "Property Weights: bending, maximum",
    "vertex_group_shrink": "Property Weights: shrinking, maximum",
    "shrink_max": "Property Weights: shrinking, maximum",
}
COLLIDER = {
    "absorption": "Field Absorption",
    "damping": "Collider: Damping",
    "thickness_outer": "Collider: Thickness Outer and Inner",
    "thickness_inner": "Collider: Thickness Outer and Inner",
    "cloth_friction": "Collider: Friction",
    "use_culling": "Collider: Single Sided, Override Normals",
    "use_normal": "Collider: Single Sided, Override Normals",
}
CACHE = {
    "use_external": "Disk Cache, Use Library Path, External, name",
    "compression": "Compression",  # in older ones
    "index": "Index",
    "filepath": "Disk Cache, Use Library Path, External, name",
    "frame_start": "Simulation Start and End",
    "frame_end": "Simulation Start and End",
    "use_disk_cache": "Disk Cache, Use Library Path, External, name",
    "use_library_path": "Disk Cache, Use Library Path, External, name",
}
# Of particles that hit a collider, and of the caches of particles.
OTHERS = {
    *("permeability", "stickiness", "use_particle_kill", "frame_step"),
    *("damping_factor", "damping_random", "friction_factor", "friction_random"),
}


def drawn(panel: str, owner: str) -> set[str]:
    """What a file of Blender's panels draws of an owner."""
    text = (PANELS / f"properties_physics_{panel}.py").read_text(encoding="utf-8")
    return {name for of, name in DRAWN.findall(text) if of == owner}


@pytest.mark.parametrize(
    ("panel", "owner", "known"),
    [("cloth", "cloth", CLOTH), ("field", "settings", COLLIDER), ("common", "cache", CACHE)],
)
def test_no_setting_is_left_out(panel, owner, known):
    found = drawn(panel, owner) - OTHERS
    # Not every Blender draws all of them.
    assert len(found) >= len(known) - 2
    assert found <= known.keys()
    lines = [
        line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")
    ]
    rows = {line.split("|")[1].strip() for line in lines}
    assert {known[name] for name in found} <= rows


def test_every_weight_of_fields_is_in_the_panel_or_on_the_page():
    obj = bpy.data.objects.new("Sheet", bpy.data.meshes.new("Sheet"))
    own = obj.weft.field_weights.bl_rna.properties.keys()
    left_out = drawn("common", "weights") - set(own)
    assert left_out == {"curve_guide", "boid"}
    assert "Except Curve Guide and Boid" in PAGE.read_text(encoding="utf-8")
