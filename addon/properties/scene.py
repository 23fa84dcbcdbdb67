# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of a scene, common to all its cloths.

Values are SI whatever the unit scale of the scene, so no property has a Blender unit; the unit is
in the label. Properties that are not read at every frame are not animatable.
"""

from bpy import app
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import Collection, Context, PropertyGroup

from . import callbacks, quality
from .fabric import NOT_ANIMATABLE, as_decimal, changed

# Option for paths that may start with //; required since Blender 4.5, unknown to 4.2.
RELATIVE_PATH = {"PATH_SUPPORTS_BLEND_RELATIVE"} if app.version >= (4, 5, 0) else set()


INTEGRATORS = (
    ("bdf2", "BDF2", "Second order: keeps the motion alive, for any fabric. The one to use"),
    ("implicit_euler", "Implicit Euler", "First order: damps the motion, very sturdy"),
    ("implicit_midpoint", "Implicit Midpoint", "Second order, damps nothing: fabrics tremble"),
    (
        "imex_euler",
        "IMEX Euler",
        "First order, one linear solution a step: holds stiff fabrics back",
    ),
    (
        "imex_midpoint",
        "IMEX Midpoint",
        "Second order, one linear solution a step: seams ring",
    ),
    ("sbdf2", "SBDF2", "Second order, one linear solution a step: rough for stiff fabrics"),
    ("euler", "Explicit Euler", "First order, thousands of steps a frame: for comparison"),
    ("symplectic_euler", "Symplectic Euler", "First order, thousands of steps a frame; sturdy"),
    ("midpoint", "Explicit Midpoint", "Second order, thousands of steps a frame"),
    ("verlet", "Verlet", "Second order, thousands of steps a frame; keeps energy"),
    ("rk4", "Runge-Kutta 4", "Fourth order, thousands of steps a frame: the most exact"),
    ("heun", "Heun", "Second order, thousands of steps a frame"),
    ("midpoint_cromer", "Midpoint Cromer", "First order, of Cords 2004: for comparison"),
    ("heun_cromer", "Heun Cromer", "First order, of Cords 2004: for comparison"),
    ("rk4_cromer", "Runge-Kutta 4 Cromer", "First order, of Cords 2004: for comparison"),
)
SOLVERS = (
    ("newton", "Newton", "Solves every step to the tolerance. The one to use"),
    ("fixed_point", "Fixed Point", "A constant matrix, over and over: slow for stiff fabrics"),
    ("linearised", "Linearised", "One correction a step, by Baraff and Witkin 1998: fast, rough"),
)
MODELS = (
    ("fem", "Finite Elements", "Linear triangles with exact plate bending: the same on every mesh"),
    (
        "fem_corotational",
        "Finite Elements, Co-rotational",
        "The same with the co-rotational strain of Huber 2018: linear in the stretch, no buckling",
    ),
    (
        "fem_linear",
        "Finite Elements, Linear",
        "The same with linear strain, which takes rotations for stretch: for small motion only",
    ),
    (
        "fem_volino",
        "Finite Elements, Volino",
        "Finite elements bent by the linear vector of Volino and Magnenat-Thalmann 2006",
    ),
    (
        "fem_bridson",
        "Finite Elements, Bridson",
        "Finite elements bent by the sine of half of the angle, of Bridson and others 2003",
    ),
    ("particles", "Particles", "The particle system of Etzmuss 2002 on quads, bent as a plate"),
    ("particles_membrane", "Particles, Membrane", "The same, bent as a membrane"),
    (
        "particles_projected",
        "Particles, Projected",
        "The same with the force along the normals alone, which is of no energy: for comparison",
    ),
    ("baraff_witkin", "Baraff-Witkin", "The triangles of Baraff and Witkin 1998"),
    ("choi_ko", "Choi-Ko", "Springs that pull and beams that buckle, of Choi and Ko 2002"),
    ("mass_spring", "Mass Spring", "Linear springs to 12 neighbours on grids, of Provot 1995"),
    ("mass_spring_16", "Mass Spring 16", "Linear springs to 16 neighbours, of Cords 2004"),
)
FRAME_SETTINGS = ("time_step", "tolerance", "max_iterations", "air_density")
WITH_SOLVER = frozenset(
    ("bdf2", "implicit_euler", "implicit_midpoint")
)  # integrators whose stages are solved by a selectable solver
WITH_CURVATURE = frozenset(
    (
        "fem",
        "fem_corotational",
        "fem_linear",
        "fem_volino",
        "fem_bridson",
        "particles",
        "baraff_witkin",
        "choi_ko",
    )
)  # models with curvature as a strain measure
_enum_items: dict[
    str, list[tuple]
] = {}  # referenced here, because Blender does not reference the strings


def _available(field: str, known: tuple[tuple[str, str, str], ...]) -> list[tuple]:
    """Enum items that the library supports, each with its fixed number."""
    supported = callbacks.call("choices", field)
    _enum_items[field] = [
        (*item, number) for number, item in enumerate(known) if item[0] in supported or number == 0
    ]
    return _enum_items[field]


def _integrators(_owner: PropertyGroup, _context: Context | None) -> list[tuple]:
    return _available("integrator", INTEGRATORS)


def _solvers(_owner: PropertyGroup, _context: Context | None) -> list[tuple]:
    return _available("solver", SOLVERS)


def _models(_owner: PropertyGroup, _context: Context | None) -> list[tuple]:
    return _available("model", MODELS)


class WeftBeforeBake(PropertyGroup):
    """Frame of the scene before it was prepared for reading."""

    is_known: BoolProperty()
    frame: IntProperty()
    subframe: FloatProperty()


class WeftScene(PropertyGroup):
    """Settings of a scene, common to all its cloths."""

    use_scene_range: BoolProperty(
        name="Scene Frame Range",
        options=NOT_ANIMATABLE,
        description="Bake the frame range of the scene",
        default=True,
        update=changed,
    )
    frame_start: IntProperty(
        name="Start",
        options=NOT_ANIMATABLE,
        description="First frame: the cloth starts there, at rest, in its animated place",
        default=1,
        update=changed,
    )
    frame_end: IntProperty(
        name="End",
        options=NOT_ANIMATABLE,
        description="Last frame to bake",
        default=250,
        update=changed,
    )
    quality: EnumProperty(
        name="Quality",
        options={"SKIP_SAVE"},  # another view of the settings below
        description="Solver, step, tolerance, and the subdivision of cloths in the viewport",
        items=quality.ITEMS,
        get=quality.current,
        set=quality.choose,
    )
    integrator: EnumProperty(
        name="Integrator",
        options=NOT_ANIMATABLE,
        description="How the equations of motion are followed in time",
        items=_integrators,
        update=changed,
    )
    solver: EnumProperty(
        name="Solver",
        options=NOT_ANIMATABLE,
        description="How the equations of BDF2, implicit Euler and implicit midpoint are solved",
        items=_solvers,
        update=changed,
    )
    model: EnumProperty(
        name="Model",
        options=NOT_ANIMATABLE,
        description="What the fabric is made of in the computer",
        items=_models,
        update=changed,
    )
    speed: FloatProperty(
        name="Speed",
        description="Seconds that pass for the cloth in a second of the animation, without unit: "
        "0.5 for slow motion. What moves it takes as many frames as before",
        default=1.0,
        min=1e-3,
        soft_max=10.0,
        precision=3,
        update=changed,
    )
    time_step: FloatProperty(
        name="Longest Time Step (s)",
        description="Upper bound of one time step, in s: 1/48 is two steps a film frame. Steps are "
        "made smaller by themselves where cloth crumples, slides on cloth or hits hard. Half as "
        "much follows fast motion more closely and costs half as much again",
        default=1.0 / 48.0,
        min=1e-5,
        max=1.0,
        soft_min=1e-4,
        soft_max=0.05,
        step=0.1,
        precision=5,
        update=changed,
    )
    tolerance: FloatProperty(
        name="Tolerance",
        description="Part of the motion that a step may leave unsolved, of its acceleration and of "
        "the length of an edge: smaller is more exact and takes longer",
        default=2e-2,
        min=1e-6,
        max=0.5,
        precision=5,
        update=changed,
    )
    max_iterations: IntProperty(
        name="Iterations",
        description="Corrections after which a step is given up and tried again half as long",
        default=30,
        min=1,
        soft_max=200,
        update=changed,
    )
    threads: IntProperty(
        name="Threads",
        options=NOT_ANIMATABLE,
        description="Processor threads to use, 0 for all. The result does not depend on it",
        default=0,
        min=0,
        max=1024,
        soft_max=64,
    )
    self_collision: BoolProperty(
        name="Self Collisions",
        options=NOT_ANIMATABLE,
        description="Keep cloths out of themselves and out of each other. The gap between two "
        "layers is the sum of their thicknesses",
        default=True,
        update=changed,
    )
    collider_collection: PointerProperty(
        type=Collection,
        name="Collision Collection",
        options=NOT_ANIMATABLE,
        description="Only colliders in this collection take part; all of the scene when empty",
        update=changed,
    )
    only_visible: BoolProperty(
        name="Visible Colliders Only",
        options=NOT_ANIMATABLE,
        description="Leave out colliders that are hidden in the viewport, by themselves or with "
        "their collection",
        default=False,
        update=changed,
    )
    use_scene_gravity: BoolProperty(
        name="Scene Gravity",
        description="Use the gravity of the scene, in the m/s² that Blender shows there",
        default=True,
        update=changed,
    )
    gravity: FloatVectorProperty(
        name="Gravity (m/s²)",
        description="Acceleration along the world axes instead of the scene's, in m/s²",
        default=(0.0, 0.0, -9.81),
        precision=2,
        update=changed,
    )
    wind: FloatVectorProperty(
        name="Wind (m/s)",
        description="Velocity of the air along the world axes, in m/s; it can be animated",
        default=(0.0, 0.0, 0.0),
        precision=2,
        update=changed,
    )
    air_density: FloatProperty(
        name="Air Density (kg/m³)",
        description="Mass of a cubic metre of the medium around the cloth, in kg/m³; 0 for none",
        default=1.2,
        min=0.0,
        soft_max=10.0,
        precision=3,
        update=changed,
    )
    simulate_on_play: BoolProperty(
        name="Simulate on Play",
        options=NOT_ANIMATABLE,
        description="Playing the timeline simulates cloth that has no frames yet",
        default=True,
    )
    result_kind: EnumProperty(
        name="Result",
        options=NOT_ANIMATABLE,
        description="What shows the baked frames on the cloth",
        items=(
            ("KEYS", "Shape Keys", "In the file itself: plays, renders and exports everywhere"),
            (
                "MODIFIER",
                "Mesh Cache",
                "A modifier that plays the cache file: keeps the .blend small, needs the file",
            ),
        ),
        default="KEYS",
    )
    cache_directory: StringProperty(
        name="Folder",
        description="Where the baked frames are kept, // for beside the .blend file",
        subtype="DIR_PATH",
        default="//weft_cache/",
        options=RELATIVE_PATH,
        update=changed,
    )
    checkpoint_interval: IntProperty(
        name="Checkpoint Every",
        options=NOT_ANIMATABLE,
        description="Frames between two checkpoints that Resume can continue from if Blender "
        "ends unexpectedly; cancelling makes one by itself",
        default=10,
        min=1,
        soft_max=250,
    )
    keep_checkpoints: BoolProperty(
        name="Keep All",
        options=NOT_ANIMATABLE,
        description="Keep all checkpoints, so that a bake can be repeated from any of them; they "
        "take about as much room as the frames. Otherwise only the last one is kept",
        default=True,
    )
    before_bake: PointerProperty(type=WeftBeforeBake)

    file: StringProperty()  # identifier of this .blend file, see `file_identity`

    def has_solver(self) -> bool:
        """Whether the integrator solves nonlinear equations, for which solvers can be chosen."""
        return self.integrator in WITH_SOLVER

    def has_curvature(self) -> bool:
        """Whether the model has curvatures, and so supports bending curves."""
        return self.model in WITH_CURVATURE

    def solver_settings(self) -> dict[str, float | int | str]:
        """The fields of `weft.Settings` that hold for a whole bake."""
        return {
            "integrator": self.integrator,
            "solver": self.solver,
            "model": self.model,
            "time_step": as_decimal(self.time_step),
            "air_density": as_decimal(self.air_density),
            "tolerance": as_decimal(self.tolerance),
            "max_iterations": self.max_iterations,
            "threads": self.threads,
            "self_collision": self.self_collision,
        }

    def frame_settings(self) -> dict[str, float | int]:
        """The fields of `weft.Settings` that may be animated."""
        settings = self.solver_settings()
        return {name: settings[name] for name in FRAME_SETTINGS}
