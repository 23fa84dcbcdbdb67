# SPDX-License-Identifier: MIT OR Apache-2.0
"""What Blender's own particles show of its force fields."""

import bpy
import numpy as np

STEP = 0.001  # s, of the particles
VELOCITY = (0.3, -0.2, 0.5)


def particle_accelerations(points, velocity=VELOCITY, first=1):
    """What Blender does to particles of unit mass at these points with this velocity.

    Fields act as they are one frame after the first.
    """
    mesh = bpy.data.meshes.new("Particles")
    mesh.from_pydata([tuple(point) for point in points], [], [])
    obj = bpy.data.objects.new("Particles", mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.modifiers.new("Particles", "PARTICLE_SYSTEM")
    settings = obj.particle_systems[0].settings
    settings.count, settings.emit_from, settings.use_emit_random = len(points), "VERT", False
    settings.frame_start = settings.frame_end = first
    settings.lifetime, settings.mass, settings.timestep = 1000, 1.0, STEP
    settings.normal_factor, settings.object_align_factor = 0.0, velocity
    settings.effector_weights.gravity, settings.integrator = 0.0, "EULER"
    velocities = []
    for frame in (first, first + 1):
        bpy.context.scene.frame_set(frame)
        evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        particles = evaluated.particle_systems[0].particles
        velocities.append(np.array([particle.velocity[:] for particle in particles]))
    bpy.data.objects.remove(obj)
    bpy.context.scene.frame_set(1)
    return (velocities[1] - velocities[0]) / STEP
