# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every integrator, solver and model of the library in a bake."""

import re

import bpy
import numpy as np
import pytest
import small_scenes
from test_panels import Layout, context

from addon.checks import operators
from addon.properties.scene import INTEGRATORS, MODELS, SOLVERS, WITH_CURVATURE, WITH_SOLVER
from addon.simulation import bridge
from addon.ui.cloth_panels import PHYSICS_PT_weft_memory
from addon.ui.scene_panels import PHYSICS_PT_weft_solver

CHOICES = [
    (field, item[0])
    for field, items in (("integrator", INTEGRATORS), ("solver", SOLVERS), ("model", MODELS))
    for item in items
]


def test_the_menus_have_all_that_the_library_has_and_explain_it():
    for field, items in (("integrator", INTEGRATORS), ("solver", SOLVERS), ("model", MODELS)):
        assert {item[0] for item in items} == bridge.choices(field)
        assert items[0][0] == getattr(bridge.library().Settings(), field)
        assert all(len(item[2]) > 20 for item in items)


@pytest.mark.parametrize(("field", "name"), CHOICES)
def test_a_pinned_and_a_falling_sheet_are_baked(field, name):
    setattr(bpy.context.scene.weft, field, name)
    hung = small_scenes.add_cloth("Hung", count=6)
    falling = small_scenes.add_cloth("Falling", count=6, pinned=False)
    falling.location = (3.0, 0.0, 0.03)
    floor = small_scenes.add_floor(size=8.0)
    small_scenes.set_frames(1, 6)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    frames = small_scenes.cached_frames(hung)
    assert frames.shape == (6, 36, 3)
    assert abs(frames[:, :6, 2]).max() < 1e-6
    assert frames[-1, -6:, 2].max() < -1e-3
    bpy.context.scene.frame_set(6)
    height = small_scenes.evaluated_world(falling)[:, 2]
    assert height.min() > floor.location.z
    assert height.max() < 0.03


# --- what goes with what ----------------------------------------------------------------------


class Panel:
    """What a panel draws, and which of it is greyed out."""

    def __init__(self, kind):
        self.layout = self
        self.active, self.use_property_split, self.use_property_decorate = True, False, False
        self.scale_y = 1.0
        self.greyed, self.text = set(), []
        kind.draw(self, context())

    def _part(self, **_options):
        return Part(self)

    row = column = box = split = grid_flow = _part


class Part(Layout):
    """A part of a panel that knows whether it is greyed out."""

    def __init__(self, panel, above=None):
        super().__init__(panel.text)
        self.panel, self.above = panel, above

    def _part(self, **_options):
        return Part(self.panel, self)

    row = column = box = split = grid_flow = _part

    def prop(self, owner, name, **options):
        super().prop(owner, name, **options)
        part = self
        while part is not None:
            if not part.active:
                self.panel.greyed.add(name)
            part = part.above


def test_the_solver_panel_is_collapsed_and_its_defaults_are_the_librarys():
    assert "DEFAULT_CLOSED" in PHYSICS_PT_weft_solver.bl_options
    chosen, defaults = bpy.context.scene.weft.solver_settings(), bridge.library().Settings()
    for name in ("integrator", "solver", "model", "tolerance", "max_iterations"):
        assert chosen[name] == pytest.approx(getattr(defaults, name)), name


def test_solvers_are_greyed_out_where_there_is_nothing_to_choose():
    small_scenes.add_cloth()
    for name, *_ in INTEGRATORS:
        bpy.context.scene.weft.integrator = name
        assert ("solver" in Panel(PHYSICS_PT_weft_solver).greyed) == (name not in WITH_SOLVER)


SHEAR, BEND = "[[-0.1, -4], [0.1, 4]]", "[[-50, -1e-4], [50, 1e-4]]"


def test_curves_of_bending_are_greyed_out_and_refused_where_nothing_has_a_curvature():
    cloth = small_scenes.add_cloth(count=4)
    bpy.context.view_layer.objects.active = cloth
    small_scenes.set_frames(1, 2)
    scene, material = bpy.context.scene.weft, cloth.weft.material
    for name, *_ in MODELS:
        scene.model = name
        material.bend_warp_curve = BEND
        panel = Panel(PHYSICS_PT_weft_memory)
        greyed = {field for field in panel.greyed if field.endswith("_curve")}
        assert greyed == (
            set() if name in WITH_CURVATURE else {"bend_warp_curve", "bend_weft_curve"}
        )
        assert "quality_q" not in panel.greyed
        assert any("Bending not with" in line for line in panel.text) != (name in WITH_CURVATURE)
        bpy.ops.weft.check_scene()
        refusal = f"'Sheet': material: bend_warp_curve with the model {name}, .*; wanted .*fem"
        told = [re.search(refusal, finding.title) for finding in operators._findings]
        assert any(told) != (name in WITH_CURVATURE), name
        if name not in WITH_CURVATURE:
            with pytest.raises(RuntimeError, match=refusal):
                bpy.ops.weft.bake()
            material.bend_warp_curve = ""
        assert bpy.ops.weft.bake() == {"FINISHED"}


@pytest.mark.parametrize(("field", "name"), CHOICES)
def test_a_fabric_with_curves_and_quality_is_baked(field, name):
    cloth = small_scenes.add_cloth(count=5)
    cloth.weft.material.shear_curve = SHEAR
    cloth.weft.material.quality_q = 5.0
    setattr(bpy.context.scene.weft, field, name)
    small_scenes.set_frames(1, 4)
    assert bpy.ops.weft.bake() == {"FINISHED"}


@pytest.mark.parametrize(("field", "name"), CHOICES)
def test_soft_pins_and_seams_are_baked(field, name):
    """Two sheets, one above the other, sewn along a side and hung by a pin and soft ones."""
    side = range(5)
    points = [(0.05 * x, 0.05 * y, z) for z in (0.0, -0.05) for y in side for x in side]
    corners = [(0, 1, 6, 5), (25, 26, 31, 30)]
    cells = [x + 5 * y for y in side[:-1] for x in side[:-1]]
    quads = [tuple(v + cell for v in face) for face in corners for cell in cells]
    mesh = bpy.data.meshes.new("Sheet")
    mesh.from_pydata(points, [(v, v + 25) for v in side], quads)
    cloth = bpy.data.objects.new("Sheet", mesh)
    bpy.context.scene.collection.objects.link(cloth)
    cloth.weft.role = "CLOTH"
    cloth.weft.use_sewing = True
    cloth.weft.sewing_time = 0.25
    # So soft and heavy that explicit schemes come through.
    material = cloth.weft.material
    material.stretch_warp = material.stretch_weft = material.shear = 100.0
    material.density = 0.5
    group = cloth.vertex_groups.new(name="pin")
    group.add([20], 1.0, "REPLACE")
    group.add([21, 22, 23, 24], 0.4, "REPLACE")
    cloth.weft.pin_group = group.name
    setattr(bpy.context.scene.weft, field, name)
    small_scenes.set_frames(1, 13)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    last = small_scenes.cached_frames(cloth)[-1]
    # SBDF2 is rough for anything stiff.
    allowed = 0.1 if name == "sbdf2" else 0.02
    assert np.linalg.norm(last[:5] - last[25:30], axis=1).max() < allowed
    assert np.linalg.norm(last[20] - points[20]) < 1e-6
    assert 1e-5 < np.linalg.norm(last[24] - points[24]) < 0.3


def weighted(model, *, has_groups, shrunk=0.0):
    """How high a soft sheet hangs from its first row after half a second, at its lowest."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.weft.model = model
    cloth = small_scenes.add_cloth(count=6)
    cloth.rotation_euler.x = -np.pi / 2
    material = cloth.weft.material
    material.stretch_warp = material.stretch_weft = 60.0
    material.stretch_damping, material.shear_curve, material.quality_q = 0.02, SHEAR, 5.0
    if has_groups:
        cloth.vertex_groups.new(name="all").add(list(range(36)), 1.0, "REPLACE")
        for use in ("density", "stretch", "shear", "bend", "friction"):
            setattr(cloth.weft, f"{use}_group", "all")
        cloth.weft.density_max = material.density
    if shrunk:
        cloth.weft.keyframe_insert("shrink", frame=1)
        cloth.weft.shrink = shrunk
        cloth.weft.keyframe_insert("shrink", frame=10)
    small_scenes.set_frames(1, 13)
    assert bpy.ops.weft.bake() == {"FINISHED"}
    matrix = np.array(cloth.matrix_world)
    last = small_scenes.cached_frames(cloth)[-1].astype(float)
    return (last @ matrix[:3, :3].T + matrix[:3, 3])[:, 2].min()


@pytest.mark.parametrize("model", [item[0] for item in MODELS])
def test_property_weights_and_keyframed_shrinking_act_in_every_model(model):
    plain = weighted(model, has_groups=False)
    assert weighted(model, has_groups=True) > plain + 0.003
    assert weighted(model, has_groups=False, shrunk=0.2) > plain + 0.1


@pytest.mark.parametrize("model", ["particles", "particles_membrane", "mass_spring_16"])
def test_a_face_that_is_no_quad_is_named_and_finite_elements_are_offered(model):
    points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0.5, 0)]
    cloth = small_scenes.add_mesh("Cut", points, [(0, 1, 2, 3), (1, 4, 2)])
    cloth.weft.role = "CLOTH"
    bpy.context.scene.weft.model = model
    small_scenes.set_frames(1, 2)
    bpy.ops.weft.check_scene()
    wanted = r"'Cut': faces: face 1: 3 corners.*fem takes any"
    assert any(re.search(wanted, finding.title) for finding in operators._findings)
    with pytest.raises(RuntimeError, match=wanted):
        bpy.ops.weft.bake()
