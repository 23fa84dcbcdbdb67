# SPDX-License-Identifier: MIT OR Apache-2.0
"""What Blender's own particles show of its force fields."""

from contextlib import contextmanager

import bpy
import numpy as np

STEP = 0.001  # s, of the particles
VELOCITY = (0.3, -0.2, 0.5)


@contextmanager
def particles(points, first, step):
    """An object with a particle of unit mass at each of these points, and the settings of them."""
    mesh = bpy.data.meshes.new("Particles")
    mesh.from_pydata([tuple(point) for point in points], [], [])
    obj = bpy.data.objects.new("Particles", mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.modifiers.new("Particles", "PARTICLE_SYSTEM")
    settings = obj.particle_systems[0].settings
    settings.count, settings.emit_from, settings.use_emit_random = len(points), "VERT", False
    settings.frame_start = settings.frame_end = first
    settings.lifetime, settings.mass, settings.timestep = 1000, 1.0, step
    settings.normal_factor, settings.effector_weights.gravity = 0.0, 0.0
    yield obj, settings
    bpy.data.objects.remove(obj)
    bpy.context.scene.frame_set(1)


def evaluated(obj, name):
    """Something of all particles of an object, as Blender has it now."""
    found = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).particle_systems[0].particles
    return np.array([getattr(particle, name)[:] for particle in found])


def particle_accelerations(points, velocity=VELOCITY, first=1):
    """What Blender does to particles of unit mass at these points with this velocity.

    Fields act as they are one frame after the first.
    """
    velocities = []
    with particles(points, first, STEP) as (obj, settings):
        settings.object_align_factor, settings.integrator = velocity, "EULER"
        for frame in (first, first + 1):
            bpy.context.scene.frame_set(frame)
            velocities.append(evaluated(obj, "velocity"))
    return (velocities[1] - velocities[0]) / STEP


def particle_places(points, frames):
    """Where Blender's particles of unit mass get to from rest, solved finely."""
    with particles(points, 1, 1 / 24) as (obj, settings):
        settings.integrator, settings.subframes = "MIDPOINT", 50
        for frame in range(1, frames + 1):
            bpy.context.scene.frame_set(frame)
        return evaluated(obj, "location")
