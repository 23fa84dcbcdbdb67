# SPDX-License-Identifier: MIT OR Apache-2.0
"""Bakes smoke in a Blender of its own and writes how its flow accelerates, by Blender and by Weft.

It is imported, and its last argument is the folder that it works in.
"""

import json
import sys
import tempfile
from pathlib import Path

import bpy
import numpy as np
import particles
import small_scenes

import addon
from addon.force_fields import fluid_cache, formulas, snapshot

KIND = "FLUID_FLOW"
FOLDER = Path(sys.argv[-1])
FRAME = 5  # where the flow is looked at
CASES = {
    "plain": {},
    "strength": {"strength": -2.5},
    "flow": {"flow": 1.5},
    "falloff": {"falloff_power": 1.5},
    "limits": {"use_max_distance": True, "distance_max": 0.8},
    "density": {"use_smoke_density": True},
    "all": {"strength": 2.0, "flow": 0.7, "falloff_power": 1.0, "use_smoke_density": True},
}
DOMAINS = {
    "cube": {},
    "turned": {"rotation_euler": (0.4, 0.7, 0.2)},
    "long": {"scale": (0.8, 1.3, 0.9), "rotation_euler": (0.0, 0.3, 0.5)},
    "noise": {},
    "adaptive": {"scale": (1.2, 1.0, 1.0)},
}
# What counts there is in the files of the fluid alone.
STORED = {"noise": ["density", "all"], "fire": ["density"]}


def add_domain(name, transform):
    bpy.ops.mesh.primitive_cube_add(size=4.0, location=(0.3, 0.1, 0.2))
    domain = bpy.context.object
    for setting, value in transform.items():
        setattr(domain, setting, value)
    modifier = domain.modifiers.new("Fluid", "FLUID")
    modifier.fluid_type = "DOMAIN"
    settings = modifier.domain_settings
    settings.domain_type, settings.cache_type = "GAS", "ALL"
    settings.resolution_max = 32 if name == "adaptive" else 16
    settings.cache_directory = tempfile.mkdtemp(dir=FOLDER)
    settings.cache_frame_start, settings.cache_frame_end = 1, FRAME + 2
    settings.use_noise = name in STORED
    settings.cache_resumable = name == "fire"  # with the fuel
    settings.use_adaptive_domain, settings.adapt_margin = name == "adaptive", 2
    return domain


def add_inflow(kind):
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.8, segments=16, ring_count=8)
    inflow = bpy.context.object.modifiers.new("Fluid", "FLUID")
    inflow.fluid_type = "FLOW"
    inflow.flow_settings.flow_type = kind
    inflow.flow_settings.flow_behavior = "INFLOW"
    inflow.flow_settings.use_initial_velocity = True
    inflow.flow_settings.velocity_coord = (3.0, 1.0, 2.0)


def add_field(domain):
    bpy.ops.object.effector_add(type="FORCE", location=(0.2, -0.1, 0.3))
    field = bpy.context.object.field
    field.type = KIND
    field.source_object, field.falloff_power, field.flow = domain, 0.0, 0.0
    field.use_smoke_density = False
    field.wind_factor = 0.0
    return field


def own_accelerations(points):
    depsgraph = bpy.context.evaluated_depsgraph_get()
    velocities = np.tile(particles.VELOCITY, (len(points), 1))
    (field,) = snapshot.read(bpy.context.view_layer, depsgraph)
    found = formulas.effect(
        field, points, velocities, snapshot.evaluate_texture, np.random.default_rng(1)
    )
    return found.acceleration(velocities)


def scene(name):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.weft.cache_directory = tempfile.mkdtemp(dir=FOLDER)
    small_scenes.set_frames(1, FRAME + 2)
    domain = add_domain(name, DOMAINS.get(name, {}))
    add_inflow("BOTH" if name == "fire" else "SMOKE")
    with bpy.context.temp_override(object=domain, active_object=domain):
        assert bpy.ops.fluid.bake_all() == {"FINISHED"}
    return add_field(domain)


def formula_case(field, settings):
    """Accelerations of points in and around the domain, as Blender's and as Weft's."""
    for name, value in settings.items():
        setattr(field, name, value)
    points = np.random.default_rng(1).uniform(-2.5, 2.5, (300, 3))
    expected = particles.particle_accelerations(points, first=FRAME - 1)
    bpy.context.scene.frame_set(FRAME)
    return {"expected": expected.tolist(), "found": own_accelerations(points).tolist()}


def cloth_cases():
    """Free vertices of a baked cloth, with weights on the field."""
    scene("turned")
    cloth = small_scenes.limp_sheet(count=6)
    cloth.location.z = 0.3
    small_scenes.set_frames(FRAME - 1, FRAME)
    bpy.context.scene.frame_set(FRAME - 1)
    points = small_scenes.evaluated_world(cloth).astype(float)
    rest = particles.particle_accelerations(points, (0.0, 0.0, 0.0), FRAME - 1)

    found = {}
    for weight in (1.0, 0.5, 0.0):
        cloth.weft.field_weights.smokeflow = weight
        bpy.context.scene.frame_set(FRAME - 1)
        moved = small_scenes.baked_accelerations(cloth)
        expected = weight * rest
        found[f"weight {weight}"] = {"expected": expected.tolist(), "found": moved.tolist()}
    return found


def play():
    addon.register()
    found = {}
    for name in DOMAINS:
        for case, settings in CASES.items() if name in {"turned", "adaptive"} else (("plain", {}),):
            found[f"{name} {case}"] = formula_case(scene(name), settings)
    if fluid_cache.reader() is not None:
        for name, cases in STORED.items():
            for case in cases:
                found[f"{name} {case}"] = formula_case(scene(name), CASES[case])
    found |= cloth_cases()
    (FOLDER / "facts.json").write_text(json.dumps(found))
    addon.unregister()
