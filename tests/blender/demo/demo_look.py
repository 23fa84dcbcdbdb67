# SPDX-License-Identifier: MIT OR Apache-2.0
"""How the demonstration looks: surfaces, floor, light, camera and render settings."""

import math

import bpy
from mathutils import Vector

# Base colour, roughness, metallic, sheen of the plain surfaces.
PLAIN = {
    "wood": ((0.16, 0.07, 0.03), 0.45, 0.0, 0.0),
    "brass": ((0.78, 0.55, 0.24), 0.3, 1.0, 0.0),
    "lacquer": ((0.9, 0.55, 0.06), 0.22, 0.0, 0.0),
    "silk": ((0.02, 0.17, 0.24), 0.42, 0.0, 0.35),
    "floor": ((0.46, 0.43, 0.40), 0.55, 0.0, 0.0),
}
CHECK_SIZE = 0.05
CHECK_LIGHT, CHECK_DARK = (0.83, 0.8, 0.74), (0.5, 0.03, 0.035)


def principled(name: str) -> tuple[bpy.types.Material, bpy.types.Node]:
    """A new material with a fresh principled shader."""
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    return material, next(n for n in material.node_tree.nodes if n.type == "BSDF_PRINCIPLED")


def plain(name: str) -> bpy.types.Material:
    material, shader = principled(name)
    colour, roughness, metallic, sheen = PLAIN[name]
    shader.inputs["Base Color"].default_value = (*colour, 1.0)
    shader.inputs["Roughness"].default_value = roughness
    shader.inputs["Metallic"].default_value = metallic
    shader.inputs["Sheen Weight"].default_value = sheen
    return material


def stripes(nodes: bpy.types.Nodes, links: bpy.types.NodeLinks, coordinate) -> bpy.types.NodeSocket:
    """One where the coordinate lies in an odd stripe, else zero."""
    scaled, wrapped, odd = (nodes.new("ShaderNodeMath") for _ in range(3))
    scaled.operation, wrapped.operation, odd.operation = "DIVIDE", "FLOORED_MODULO", "GREATER_THAN"
    scaled.inputs[1].default_value = CHECK_SIZE
    wrapped.inputs[1].default_value = 2.0
    odd.inputs[1].default_value = 1.0
    links.new(coordinate, scaled.inputs[0])
    links.new(scaled.outputs[0], wrapped.inputs[0])
    links.new(wrapped.outputs[0], odd.inputs[0])
    return odd.outputs[0]


def gingham(name: str) -> bpy.types.Material:
    """Woven checks: a stripe of warp and one of weft, dark where they cross."""
    material, shader = principled(name)
    nodes, links = material.node_tree.nodes, material.node_tree.links
    split = nodes.new("ShaderNodeSeparateXYZ")
    links.new(nodes.new("ShaderNodeUVMap").outputs["UV"], split.inputs[0])
    both, ramp = nodes.new("ShaderNodeMath"), nodes.new("ShaderNodeMapRange")
    for axis in range(2):
        links.new(stripes(nodes, links, split.outputs[axis]), both.inputs[axis])
    links.new(both.outputs[0], ramp.inputs["Value"])
    ramp.inputs["From Max"].default_value = 2.0
    mix = nodes.new("ShaderNodeMix")
    mix.data_type = "RGBA"
    mix.inputs[6].default_value = (*CHECK_LIGHT, 1.0)
    mix.inputs[7].default_value = (*CHECK_DARK, 1.0)
    links.new(ramp.outputs["Result"], mix.inputs[0])
    links.new(mix.outputs[2], shader.inputs["Base Color"])
    shader.inputs["Roughness"].default_value = 0.85
    shader.inputs["Sheen Weight"].default_value = 0.25
    return material


def paint(thing: bpy.types.Object, name: str) -> None:
    """Gives an object the surface of that name, shared by all that have it."""
    material = bpy.data.materials.get(name)
    thing.data.materials.append(material or (gingham if name == "gingham" else plain)(name))


def add_light(name: str, place: tuple, target: tuple, power: float, size: float, colour) -> None:
    light = bpy.data.lights.new(name, "AREA")
    light.energy, light.size, light.color = power, size, colour
    thing = bpy.data.objects.new(name, light)
    thing.location = place
    thing.rotation_euler = (Vector(target) - Vector(place)).to_track_quat("-Z", "Y").to_euler()
    bpy.context.scene.collection.objects.link(thing)


def add_floor() -> None:
    """A floor that bends up into the background far behind."""
    mesh = bpy.data.meshes.new("Floor")
    steps = [
        (-8.0, 0.0),
        *(
            (3.0 + 2 * math.sin(a), 2 - 2 * math.cos(a))
            for a in [i * math.pi / 32 for i in range(17)]
        ),
        (5.0, 8.0),
    ]
    mesh.from_pydata(
        [(x, y, z) for y, z in steps for x in (-12.0, 12.0)],
        [],
        [(2 * i, 2 * i + 1, 2 * i + 3, 2 * i + 2) for i in range(len(steps) - 1)],
    )
    mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    floor = bpy.data.objects.new("Floor", mesh)
    bpy.context.scene.collection.objects.link(floor)
    paint(floor, "floor")


def add_camera(scene: bpy.types.Scene) -> None:
    camera = bpy.data.cameras.new("Camera")
    camera.lens = 50.0
    thing = bpy.data.objects.new("Camera", camera)
    thing.location = (0.3, -4.55, 1.55)
    aim = Vector((-0.04, 0.0, 0.83)) - thing.location
    thing.rotation_euler = aim.to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(thing)
    scene.camera = thing


def set_render(scene: bpy.types.Scene) -> None:
    scene.render.engine = "CYCLES"
    scene.cycles.device = "CPU"
    scene.cycles.samples = 16
    scene.cycles.use_adaptive_sampling = True
    scene.cycles.use_denoising = True
    scene.cycles.max_bounces = 5
    scene.render.resolution_x, scene.render.resolution_y = 960, 540
    scene.render.image_settings.file_format = "PNG"
    scene.view_settings.view_transform = "AgX"
    scene.view_settings.look = "AgX - Medium High Contrast"


def set_stage(scene: bpy.types.Scene) -> None:
    """Floor, light, camera and render settings."""
    add_floor()
    add_light("Key", (-2.6, -2.6, 3.6), (-0.3, 0.0, 0.6), 190.0, 1.2, (1.0, 0.93, 0.84))
    add_light("Fill", (3.4, -2.4, 2.0), (0.4, 0.0, 0.7), 45.0, 2.5, (0.8, 0.88, 1.0))
    add_light("Rim", (1.6, 2.6, 3.2), (0.2, 0.0, 0.8), 120.0, 1.0, (1.0, 0.97, 0.92))
    world = bpy.data.worlds.new("World")
    world.use_nodes = True
    world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.55, 0.6, 0.68, 1.0)
    world.node_tree.nodes["Background"].inputs["Strength"].default_value = 0.18
    scene.world = world
    add_camera(scene)
    set_render(scene)


def refine_when_rendering(cloth: bpy.types.Object) -> None:
    """Smooths a cloth in pictures only, so that what plays in the viewport is what was computed."""
    smooth = cloth.modifiers.new("Smooth in pictures", "SUBSURF")
    smooth.show_viewport = False
    smooth.levels = smooth.render_levels = 1
    smooth.boundary_smooth = "PRESERVE_CORNERS"
