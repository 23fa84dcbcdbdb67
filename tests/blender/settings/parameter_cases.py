# SPDX-License-Identifier: MIT OR Apache-2.0
"""What `test_parameters` compares: small scenes, measures, and a case for every parameter."""

import json

import bpy
import numpy as np
import small_scenes
from small_scenes import with_seams

from addon.blender import mesh_arrays

COUNT = 6  # vertices along the side of the usual sheet


class Look:
    """A bake, and the measures that the cases compare."""

    def __init__(self, cloth, frames):
        self.start = mesh_arrays.coordinates(cloth.data).astype(float)
        self.frames = frames
        self.last = frames[-1]

    @property
    def lowest(self):
        return self.last[:, 2].min()

    @property
    def height(self):
        return self.last[:, 2].mean()

    @property
    def mid_width(self):
        rows = self.last.reshape(COUNT, COUNT, 3)
        return np.linalg.norm(rows[COUNT // 2, -1] - rows[COUNT // 2, 0])

    @property
    def swing(self):
        """How far the lowest point goes up and down in the second half."""
        late = self.frames[len(self.frames) // 2 :]
        return np.ptp(late[:, :, 2].min(axis=1))

    @property
    def sway(self):
        """How much the last row still moves past the first one at the end."""
        late = self.frames[-6:].reshape(-1, COUNT, COUNT, 3)[..., 0].mean(axis=2)
        return np.abs(np.diff(late[:, -1] - late[:, 0])).max()

    @property
    def side(self):
        """Length of the first column."""
        column = self.last.reshape(COUNT, COUNT, 3)[:, 0]
        return np.linalg.norm(column[-1] - column[0])

    @property
    def slid(self):
        return np.abs(self.last[:, 0].mean() - self.frames[0][:, 0].mean())

    @property
    def extent(self):
        return np.linalg.norm(np.ptp(self.last, axis=0))

    @property
    def twist(self):
        """The saddle that is left halfway; at the end stiff ones have swung to the other side."""
        corners = self.frames[len(self.frames) // 2].reshape(COUNT, COUNT, 3)[
            :: COUNT - 1, :: COUNT - 1, 2
        ]
        return abs(corners[0, 0] + corners[1, 1] - corners[0, 1] - corners[1, 0])

    @property
    def path(self):
        """How far all vertices went from where they were at first."""
        return np.linalg.norm(self.last - self.frames[0], axis=1).max()


# --- scenes -----------------------------------------------------------------------------------


def plain(**fields):
    cloth = small_scenes.add_cloth(count=COUNT, pinned=False)
    fabric = cloth.weft.material
    for name, value in fields.items():
        setattr(fabric, name, value)
    layer = cloth.data.uv_layers.new(name="yarns")
    corners = mesh_arrays.corner_vertices(cloth.data)
    local = mesh_arrays.coordinates(cloth.data)
    layer.uv.foreach_set("vector", local[corners, :2].ravel())
    return cloth


def soft(**fields):
    given = {"stretch_warp": 60.0, "stretch_weft": 60.0, "stretch_damping": 0.02, "poisson": 0.1}
    return plain(**(given | fields))


def pin(cloth, vertices):
    cloth.vertex_groups["pin"].remove(list(range(COUNT * COUNT)))
    cloth.vertex_groups["pin"].add([int(v) for v in vertices], 1.0, "REPLACE")
    cloth.weft.pin_group = "pin"


def rows():
    return np.arange(COUNT * COUNT).reshape(COUNT, COUNT)


def hanging(**fields):
    """Hangs down along v, from its first row."""
    cloth = soft(**fields)
    cloth.rotation_euler.x = -np.pi / 2
    pin(cloth, rows()[0])
    return cloth


def hanging_by_the_side(**fields):
    """Hangs down along u, from its first column."""
    cloth = soft(**fields)
    cloth.rotation_euler.y = np.pi / 2
    pin(cloth, rows()[:, 0])
    return cloth


def hanging_by_a_corner(**fields):
    cloth = plain(shear=20.0, stretch_damping=0.02, **fields)
    cloth.rotation_euler = (np.pi / 2, 0.0, 0.0)
    pin(cloth, [COUNT * COUNT - 1])
    return cloth


def cantilever(column=True, **fields):
    """Clamped level along u or along v."""
    cloth = plain(bend_warp_micro=2e4, bend_weft_micro=2e4, bend_damping=0.02, **fields)
    clamped = rows()[:, :2] if column else rows()[:2]
    pin(cloth, clamped.ravel())
    return cloth


def weightless():
    scene = bpy.context.scene
    scene.use_gravity, scene.weft.air_density = False, 0.0


def saddle():
    """Bent to a saddle at first, and level at rest."""
    cloth = plain(bend_warp_micro=1e3, bend_weft_micro=1e3, use_bend_twist=True)
    cloth.shape_key_add(name="Basis", from_mix=False)
    key = cloth.shape_key_add(name="Saddle", from_mix=False)
    for point in key.points:
        point.co.z = 0.1 * point.co.x * point.co.y
    key.value = 1.0
    weightless()
    bpy.context.scene.weft.air_density = 1.2
    return cloth


def sheared():
    """Pushed askew at first, and square at rest."""
    cloth = plain(shear=5.0, stretch_damping=0.0)
    cloth.shape_key_add(name="Basis", from_mix=False)
    key = cloth.shape_key_add(name="Askew", from_mix=False)
    for point in key.points:
        point.co.x += 0.1 * point.co.y
    key.value = 1.0
    weightless()
    return cloth


def falling():
    return plain()


def falling_on_edge():
    cloth = plain()
    cloth.rotation_euler.x = -np.pi / 2
    return cloth


def on_floor(**fields):
    cloth = plain(**fields)
    cloth.location.z = 0.02
    small_scenes.add_floor()
    return cloth


def on_slope(**fields):
    cloth = plain(**fields)
    cloth.location.z = 0.004
    floor = small_scenes.add_floor()
    floor.weft.friction = 0.4
    bpy.context.scene.gravity = (3.0, 0.0, -9.0)
    return cloth


def grouped(cloth, name, vertices):
    cloth.vertex_groups.new(name=name).add([int(v) for v in vertices], 1.0, "REPLACE")
    return cloth


def all_in(build, name, **fields):
    def make():
        return grouped(build(**fields), name, range(COUNT * COUNT))

    return make


def ball():
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=2, radius=0.5)
    cloth = bpy.context.object
    cloth.weft.role = "CLOTH"
    cloth.weft.use_pressure = True
    fabric = cloth.weft.material
    fabric.stretch_warp = fabric.stretch_weft = 300.0
    fabric.stretch_damping = 0.05
    weightless()
    return grouped(cloth, "part", range(20))


def sprung_ball(**fields):
    """A ball under pressure that internal springs tie together."""
    cloth = ball()
    cloth.weft.use_internal_springs, cloth.weft.internal_tension = True, 500.0
    for name, value in fields.items():
        setattr(cloth.weft, name, value)
    return cloth


def sprung_by_group(name):
    """The same, with a stiffness where the weight is 1 at all vertices."""
    return grouped(sprung_ball(pressure=40.0, internal_group=name), name, range(162))


def pressed_ball(**fields):
    """A ball under a pressure from outside, with springs that only push."""
    return sprung_ball(pressure=-5.0, internal_tension=0.0, **fields)


def ball_in_ball():
    """Two balls as one cloth: rays from the outer one meet the inner one from outside."""
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=2, radius=0.2)
    inner = bpy.context.object
    outer = sprung_ball(pressure=40.0, internal_tension=5000.0)
    with bpy.context.temp_override(
        active_object=outer, object=outer, selected_editable_objects=[outer, inner]
    ):
        bpy.ops.object.join()
    return outer


def ball_of_volume():
    cloth = ball()
    cloth.weft.pressure, cloth.weft.use_volume = 0.0, True
    cloth.weft.target_volume = 0.8
    return cloth


def panels():
    """Two squares with a gap, joined by loose edges."""
    points, quads = small_scenes.grid(5, 0.5)
    edges = [(row * 5 + 4, row * 5 + 25) for row in range(5)]
    mesh = bpy.data.meshes.new("Panels")
    both = [tuple(p) for p in points] + [(p[0] + 0.7, p[1], p[2]) for p in points]
    mesh.from_pydata(both, edges, [tuple(map(int, quad)) for quad in [*quads, *(quads + 25)]])
    cloth = bpy.data.objects.new("Panels", mesh)
    bpy.context.scene.collection.objects.link(cloth)
    cloth.weft.role = "CLOTH"
    cloth.weft.use_sewing, cloth.weft.sewing_time = True, 0.3
    cloth.vertex_groups.new(name="pin").add(list(range(0, 25, 5)), 1.0, "REPLACE")
    weightless()
    return cloth


def loaded_panels():
    cloth = panels()
    cloth.weft.pin_group = "pin"
    bpy.context.scene.use_gravity = True
    return cloth


def folded():
    """A strip folded over itself, held below: the upper half falls on the lower one."""
    cloth = plain()
    for vertex in cloth.data.vertices:
        if vertex.co.x > 0.0:
            vertex.co.x, vertex.co.z = -vertex.co.x, 0.1
    cloth.location.z = 0.0
    pin(cloth, rows()[:, :3].ravel())
    return grouped(cloth, "upper", rows()[:, 3:].ravel())


def drawn():
    """All vertices drawn to where they are, by half their weight."""
    cloth = plain()
    cloth.vertex_groups["pin"].add(list(range(COUNT * COUNT)), 0.5, "REPLACE")
    cloth.weft.pin_group = "pin"
    return cloth


def with_keys():
    cloth = plain(stretch_damping=0.05)
    cloth.shape_key_add(name="Basis", from_mix=False)
    for name, factor in (("Small", 0.8), ("Smaller", 0.6)):
        key = cloth.shape_key_add(name=name, from_mix=False)
        key.value = 0.0
        for point in key.points:
            point.co *= factor
    weightless()
    return cloth


def with_pattern():
    cloth = plain(stretch_damping=0.05)
    cloth.weft.rest_shape = "PATTERN"
    weightless()
    return cloth


def of_shrinking():
    cloth = plain(stretch_damping=0.05)
    weightless()
    return grouped(cloth, "part", rows()[:, 0])


def of_two_yarns():
    """Stiff along u and soft along v; without the map the yarns run the other way."""
    cloth = hanging(stretch_warp=2000.0, stretch_weft=40.0)
    for vertex in cloth.data.vertices:
        vertex.co.y *= 1.5  # the longest axis
    return cloth


# --- cases ------------------------------------------------------------------------------------

LINE = "[[0.0, 0.0], [1.0, {}]]"


def curve(slope):
    return json.dumps([[-1.0, -slope], [0.0, 0.0], [1.0, slope]])


# Parameter, two values of it, the scene, the measure, and whether it grows from the first value to
# the second.
FABRIC = [
    ("density", 0.15, 0.6, hanging, "lowest", False),
    ("stretch_warp", 60.0, 600.0, hanging_by_the_side, "lowest", True),
    ("stretch_weft", 60.0, 600.0, hanging, "lowest", True),
    ("shear", 20.0, 300.0, hanging_by_a_corner, "lowest", True),
    ("poisson", 0.0, 0.6, lambda: hanging(density=1.0, stretch_warp=120.0), "mid_width", False),
    ("bend_warp_micro", 2e4, 2e6, cantilever, "lowest", True),
    ("bend_weft_micro", 2e4, 2e6, lambda: cantilever(column=False), "lowest", True),
    ("bend_twist_micro", 10.0, 4000.0, saddle, "twist", False),
    ("use_bend_twist", True, False, saddle, "twist", False),
    ("stretch_damping", 0.0, 0.05, lambda: hanging(density=1.0), "swing", False),
    ("shear_damping", 0.0, 0.05, sheared, "sway", False),
    ("bend_damping", 0.0, 0.5, cantilever, "swing", False),
    ("air_drag", 0.1, 3.0, falling, "height", True),
    ("air_lift", 0.0, 3.0, falling_on_edge, "height", True),
    ("friction", 0.05, 1.0, on_slope, "slid", False),
    ("thickness", 0.001, 0.01, on_floor, "lowest", True),
    ("stretch_weft_curve", "", curve(30.0), hanging, "lowest", False),
    ("stretch_warp_curve", "", curve(30.0), hanging_by_the_side, "lowest", False),
    ("shear_curve", "", curve(8.0), hanging_by_a_corner, "lowest", False),
    ("bend_warp_curve", "", "[[-90,-0.45],[0,0],[90,0.45]]", cantilever, "lowest", False),
    (
        "bend_weft_curve",
        "",
        "[[-90,-0.45],[0,0],[90,0.45]]",
        lambda: cantilever(column=False),
        "lowest",
        False,
    ),
    (
        "quality_q",
        0.0,
        1.5,
        lambda: closely(hanging(density=1.0, stretch_damping=0.0)),
        "swing",
        False,
    ),
    (
        "quality_high",
        0.2,
        50.0,
        lambda: closely(hanging(density=1.0, stretch_damping=0.0, quality_q=1.5)),
        "swing",
        False,
    ),
    (
        "quality_low",
        0.05,
        9.0,
        lambda: closely(hanging(density=1.0, stretch_damping=0.0, quality_q=1.5)),
        "swing",
        True,
    ),
]
OBJECT = [
    ("pin_group", "", "pin", falling, "height", True),
    ("pin_strength", 0.3, 0.9, drawn, "height", True),
    ("pin_stiffness", 20.0, 2000.0, drawn, "height", True),
    ("use_uv", False, True, of_two_yarns, "lowest", False),
    ("rest_key", "Small", "Smaller", lambda: key_rest(with_keys()), "extent", False),
    ("pattern_size", 0.6, 1.4, with_pattern, "extent", True),
    ("shrink", 0.0, 0.3, of_shrinking, "extent", False),
    ("shrink_group", "", "part", of_shrinking, "side", False),
    ("shrink_max", 0.1, 0.5, lambda: shrink_by_group(of_shrinking()), "side", False),
    ("shrink_yarns", "WARP", "WEFT", lambda: shrink_by_group(of_shrinking()), "side", False),
    ("use_sewing", False, True, panels, "extent", False),
    ("sewing_time", 0.3, 5.0, panels, "extent", True),
    ("sewing_force", 0.004, 5.0, loaded_panels, "path", False),
    ("seam_stiffness", 1.0, 20.0, lambda: with_seams(cantilever()), "lowest", True),
    ("use_pressure", False, True, ball, "extent", True),
    ("pressure", 5.0, 100.0, ball, "extent", True),
    ("use_volume", False, True, ball_of_volume, "extent", True),
    ("target_volume", 0.6, 1.0, ball_of_volume, "extent", True),
    ("volume_stiffness", 10.0, 2000.0, ball_of_volume, "extent", True),
    ("fluid_density", -1.0, 3.0, lambda: own_gravity(ball()), "height", False),
    ("pressure_group", "part", "", ball, "extent", True),
    ("use_internal_springs", False, True, sprung_ball, "extent", False),
    ("internal_tension", 10.0, 5000.0, sprung_ball, "extent", False),
    ("internal_compression", 1.0, 5000.0, pressed_ball, "extent", True),
    ("internal_damping", 0.0, 5.0, lambda: sprung_ball(pressure=40.0), "extent", False),
    ("internal_spring_max_length", 0.0, 0.1, sprung_ball, "extent", True),
    ("internal_spring_normal_check", False, True, ball_in_ball, "extent", True),
    ("internal_group", "", "all", lambda: sprung_by_group("all"), "extent", False),
    ("internal_tension_max", 10.0, 20000.0, lambda: sprung_by_group("all"), "extent", False),
    (
        "internal_compression_max",
        1.0,
        20000.0,
        lambda: grouped(pressed_ball(internal_group="all"), "all", range(162)),
        "extent",
        True,
    ),
    ("density_group", "", "all", all_in(hanging, "all"), "lowest", False),
    ("density_max", 0.15, 0.9, lambda: by_group(hanging(), "density"), "lowest", False),
    ("stretch_group", "", "all", all_in(hanging, "all"), "lowest", True),
    ("stretch_factor", 1.0, 20.0, lambda: by_group(hanging(), "stretch"), "lowest", True),
    ("shear_group", "", "all", all_in(hanging_by_a_corner, "all"), "lowest", True),
    ("shear_factor", 1.0, 20.0, lambda: by_group(hanging_by_a_corner(), "shear"), "lowest", True),
    ("bend_group", "", "all", all_in(cantilever, "all"), "lowest", True),
    ("bend_factor", 1.0, 50.0, lambda: by_group(cantilever(), "bend"), "lowest", True),
    ("friction_group", "", "all", all_in(on_slope, "all", friction=0.1), "slid", False),
    (
        "friction_factor",
        1.0,
        10.0,
        lambda: by_group(on_slope(friction=0.1), "friction"),
        "slid",
        False,
    ),
    ("use_collision", False, True, on_floor, "lowest", True),
    ("collision_group", "all", "", all_in(on_floor, "all"), "lowest", True),
    ("use_self_collision", False, True, folded, "height", True),
    ("self_collision_group", "upper", "", folded, "height", True),
]
SCENE = [
    ("gravity", (0, 0, -1.0), (0, 0, -20.0), lambda: own_gravity(falling()), "height", False),
    ("use_scene_gravity", True, False, lambda: own_gravity(falling()), "height", True),
    ("wind", (0, 0, 0), (0, 0, 10.0), falling, "height", True),
    ("air_density", 0.0, 20.0, falling, "height", True),
    ("speed", 0.5, 1.0, falling, "height", False),
    ("self_collision", False, True, folded, "height", True),
    ("integrator", "implicit_euler", "bdf2", lambda: hanging(density=1.0), "swing", True),
    ("time_step", 1 / 24, 1 / 400, lambda: euler(hanging(density=1.0)), "swing", True),
]


def key_rest(cloth):
    cloth.weft.rest_shape = "KEY"
    return cloth


def shrink_by_group(cloth):
    cloth.weft.shrink_group = "part"
    return cloth


def by_group(cloth, use):
    grouped(cloth, "all", range(COUNT * COUNT))
    setattr(cloth.weft, f"{use}_group", "all")
    return cloth


def own_gravity(cloth):
    scene = bpy.context.scene
    scene.weft.use_scene_gravity = False
    scene.weft.gravity = (0.0, 0.0, -1.0)
    return cloth


def closely(thing):
    """With steps that fast oscillations outlive."""
    bpy.context.scene.weft.time_step = 1 / 96
    return thing


def euler(cloth):
    bpy.context.scene.weft.integrator = "implicit_euler"
    return cloth
