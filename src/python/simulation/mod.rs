// SPDX-License-Identifier: MIT OR Apache-2.0
//! `weft.Simulation`.

mod exclusive_use;
mod matrices;

use super::{
    arrays::{indices, numbers, points, rows, to_array, vector},
    cloth::{PyCloth, given_springs},
    collider::PyCollider,
    errors::guarded,
    material::PyMaterial,
    pressure::law,
    report::{PyReport, energies},
    scalars::{self, index, instance, instances, number},
    settings::{FrameSettings, PySettings},
};
use crate::{
    scene::{Cloth, Collider, Settings},
    simulation::Simulation,
    vec3::Vec3,
};
use numpy::PyArray2;
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict},
};
use std::sync::{Mutex, atomic::AtomicBool};

/// Cloths and colliders in motion.
///
/// One thread at a time: a call while another thread is in one raises RuntimeError. Computing
/// releases the GIL.
///
/// Where a piece of cloth crosses something at the start, or a face lies in it but for rounding,
/// vertices that are nearer to that than a fortieth of the distance that both keep, and of the
/// edges there, begin that far above its surface: sides are not told by the last digits of
/// positions. Several copies become layers in their order, and so does cloth that is folded flat.
///
/// Args:
///     cloths (sequence of Cloth): One or more; they are numbered in this order.
///     colliders (sequence of Collider): They are numbered in this order.
///     settings (Settings | None): Settings() where not given.
///
/// Raises:
///     TypeError: An object of the wrong type.
///     ValueError: No cloth.
///     RuntimeError: The system refuses the threads.
#[pyclass(name = "Simulation", module = "weft", frozen)]
pub(super) struct PySimulation {
    simulation: Mutex<Simulation>,
    /// Whether a call is running. It is set with the GIL held, so that another thread only sees a call that has
    /// released the GIL.
    is_claimed: AtomicBool,
}

#[pymethods]
impl PySimulation {
    #[new]
    #[pyo3(
        signature = (cloths, colliders=None, settings=None),
        text_signature = "(cloths, colliders=(), settings=None)"
    )]
    fn new(
        py: Python<'_>,
        cloths: &Bound<'_, PyAny>,
        colliders: Option<&Bound<'_, PyAny>>,
        settings: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let cloths = instances::<PyCloth>("cloths", cloths)?;
        let colliders = colliders.map(|given| instances::<PyCollider>("colliders", given));
        let colliders = colliders.transpose()?.unwrap_or_default();
        let given = settings.map(|given| instance::<PySettings>("settings", given));
        let settings = given.transpose()?.map_or_else(Settings::default, |one| one.get().0.clone());
        py.detach(|| {
            guarded(|| {
                let cloths: Vec<Cloth> = cloths.iter().map(|cloth| cloth.get().0.clone()).collect();
                let colliders: Vec<Collider> =
                    colliders.iter().map(|collider| collider.get().0.clone()).collect();
                let simulation = Simulation::new(&cloths, &colliders, settings)?;
                Ok(Self { simulation: Mutex::new(simulation), is_claimed: AtomicBool::new(false) })
            })
        })
    }

    /// Simulates with as many steps as needed, none longer than Settings.time_step. Hard contact
    /// makes steps shorter, and what is not solved to the tolerance is reported; neither raises.
    ///
    /// Args:
    ///     duration (float): Length of the frame, in s, more than 0.
    ///
    /// Returns:
    ///     Report: What was done.
    ///
    /// Raises:
    ///     NotFiniteError: A vertex, or the force on one, stopped being a number; the state before
    ///         that step is kept, or that before the call where other cloths do not touch this one.
    ///     ValueError: A duration that is not a finite number more than 0, or takes more than 10⁷
    ///         of the longest steps; an explicit integrator that would need steps below 4.2 µs.
    fn advance(&self, py: Python<'_>, duration: &Bound<'_, PyAny>) -> PyResult<PyReport> {
        let duration = number("duration", duration)?;
        self.compute(py, |simulation| simulation.advance(duration)).map(PyReport)
    }

    /// Simulates exactly one step, for numerical experiments. Pins and colliders reach their
    /// targets at its end.
    ///
    /// Args:
    ///     h (float): Length of the step, in s, more than 0.
    ///
    /// Returns:
    ///     Report: What was done.
    ///
    /// Raises:
    ///     NotFiniteError: A vertex, or the force on one, stopped being a number, or an explicit
    ///         integrator stretched the cloth there by ten times its length; the state
    ///         before the step is kept.
    ///     ValueError: A length that is not a finite number more than 0.
    fn step(&self, py: Python<'_>, h: &Bound<'_, PyAny>) -> PyResult<PyReport> {
        let duration = number("h", h)?;
        self.compute(py, |simulation| simulation.step(duration)).map(PyReport)
    }

    /// Positions of a cloth's vertices.
    ///
    /// Args:
    ///     cloth (int): Index of the cloth.
    ///
    /// Returns:
    ///     float64 array, shape (n, 3): A copy, in m.
    #[pyo3(signature = (cloth=None), text_signature = "($self, cloth=0)")]
    fn positions<'py>(
        &self,
        py: Python<'py>,
        cloth: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let cloth = cloth.map_or(Ok(0), |given| index("cloth", given))?;
        let points = self.with(|simulation| simulation.positions(cloth).map(<[Vec3]>::to_vec))?;
        to_array(py, &points)
    }

    /// Velocities of a cloth's vertices.
    ///
    /// Args:
    ///     cloth (int): Index of the cloth.
    ///
    /// Returns:
    ///     float64 array, shape (n, 3): A copy, in m/s.
    #[pyo3(signature = (cloth=None), text_signature = "($self, cloth=0)")]
    fn velocities<'py>(
        &self,
        py: Python<'py>,
        cloth: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let cloth = cloth.map_or(Ok(0), |given| index("cloth", given))?;
        let vectors = self.with(|simulation| simulation.velocities(cloth).map(<[Vec3]>::to_vec))?;
        to_array(py, &vectors)
    }

    /// Holds vertices from now on.
    ///
    /// Args:
    ///     cloth (int): Index of the cloth.
    ///     vertices (integer array, shape (k,), or a sequence of int): The vertices.
    ///     targets (float64 or float32 array, shape (k, 3), optional): Where to be at the end of
    ///         the next advance, in m; the way there is a straight line. Without targets vertices
    ///         are held where they are, or stay on the way they are on.
    ///     stiffness (float64 or float32 array, shape (k,), optional): For soft pins, the stiffness
    ///         of a spring in N/m that draws each vertex to its target, more than 0.
    #[pyo3(signature = (cloth, vertices, targets=None, stiffness=None))]
    fn set_pins(
        &self,
        cloth: &Bound<'_, PyAny>,
        vertices: &Bound<'_, PyAny>,
        targets: Option<&Bound<'_, PyAny>>,
        stiffness: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (cloth, vertices) = (index("cloth", cloth)?, indices("vertices", vertices)?);
        let targets = targets.map(|given| points("targets", given)).transpose()?;
        let stiffness = stiffness.map(|given| numbers("stiffness", given)).transpose()?;
        self.with(|simulation| match &stiffness {
            None => simulation.set_pins(cloth, &vertices, targets.as_deref()),
            Some(stiffness) => {
                simulation.set_soft_pins(cloth, &vertices, targets.as_deref(), stiffness)
            }
        })
    }

    /// Lets vertices go that were held or guided.
    ///
    /// Args:
    ///     cloth (int): Index of the cloth.
    ///     vertices (integer array, shape (k,), or a sequence of int, optional): The vertices; all
    ///         of the cloth where not given.
    #[pyo3(signature = (cloth, vertices=None))]
    fn release_pins(
        &self,
        cloth: &Bound<'_, PyAny>,
        vertices: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let cloth = index("cloth", cloth)?;
        let vertices = vertices.map(|given| indices("vertices", given)).transpose()?;
        self.with(|simulation| simulation.release_pins(cloth, vertices.as_deref()))
    }

    /// Prescribes the velocity of vertices along one, two or three directions from now on; along
    /// others they stay free. release_pins lets them go.
    ///
    /// Args:
    ///     cloth (int): Index of the cloth.
    ///     vertices (integer array, shape (k,), or a sequence of int): The vertices.
    ///     directions (float64 or float32 array, shape (1 to 3, 3)): Independent directions; their
    ///         lengths do not matter.
    ///     velocity (3 floats): Velocity whose part along the directions is prescribed, in m/s.
    fn set_guided_velocity(
        &self,
        cloth: &Bound<'_, PyAny>,
        vertices: &Bound<'_, PyAny>,
        directions: &Bound<'_, PyAny>,
        velocity: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (cloth, vertices) = (index("cloth", cloth)?, indices("vertices", vertices)?);
        let directions = points("directions", directions)?;
        let velocity = vector("velocity", velocity)?;
        self.with(|simulation| {
            simulation.set_guided_velocity(cloth, &vertices, &directions, velocity)
        })
    }

    /// Moves a collider during the next advance.
    ///
    /// Args:
    ///     collider (int): Index of the collider.
    ///     positions (float64 or float32 array, shape (n, 3)): Where its vertices are at the end of
    ///         the next advance, in m; the way there is a straight line.
    fn set_collider(
        &self,
        collider: &Bound<'_, PyAny>,
        positions: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (collider, positions) = (index("collider", collider)?, points("positions", positions)?);
        self.with(|simulation| simulation.set_collider(collider, positions))
    }

    /// Gives a cloth another fabric from now on.
    ///
    /// Args:
    ///     cloth (int): Index of the cloth.
    ///     material (Material): The fabric.
    fn set_material(
        &self,
        py: Python<'_>,
        cloth: &Bound<'_, PyAny>,
        material: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let cloth = index("cloth", cloth)?;
        let material = instance::<PyMaterial>("material", material)?.get().0.clone();
        self.compute(py, |simulation| simulation.set_material(cloth, material))
    }

    /// New gravity from now on.
    ///
    /// Args:
    ///     g (3 floats): Acceleration, in m/s².
    fn set_gravity(&self, g: &Bound<'_, PyAny>) -> PyResult<()> {
        let gravity = vector("g", g)?;
        self.with(|simulation| simulation.set_gravity(gravity))
    }

    /// New wind from now on.
    ///
    /// Args:
    ///     w (3 floats): Velocity of the air, in m/s.
    fn set_wind(&self, w: &Bound<'_, PyAny>) -> PyResult<()> {
        let wind = vector("w", w)?;
        self.with(|simulation| simulation.set_wind(wind))
    }

    /// Forces on a cloth's vertices, held until changed.
    ///
    /// Args:
    ///     cloth (int): Index of the cloth.
    ///     forces (float64 or float32 array, shape (n, 3)): A force for each vertex, in N.
    fn set_vertex_forces(
        &self,
        cloth: &Bound<'_, PyAny>,
        forces: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (cloth, forces) = (index("cloth", cloth)?, points("forces", forces)?);
        self.with(|simulation| simulation.set_vertex_forces(cloth, &forces))
    }

    /// Sets the pressure inside a cloth above that outside, from now on.
    ///
    /// It is pressure + stiffness · (1 − V/volume) at the volume V, and acts along the normals:
    /// outwards if the faces of a closed cloth turn so.
    ///
    /// A fluid adds fluid_density · gravity · depth, the depth below the mean of the rim, or of the
    /// surface if it has no rim: on a closed cloth the weight of the fluid. It has no inertia.
    ///
    /// Args:
    ///     cloth (int): Index of the cloth.
    ///     pressure (float): Pressure at the target volume, in Pa.
    ///     stiffness (float): Pressure for a volume that is missing as a whole, in Pa, 0 or more.
    ///     volume (float | None): Target volume, in m³; that at the start where not given.
    ///     fluid_density (float): Density of the fluid inside less that of that outside, in kg/m³.
    ///     weights (float64 or float32 array, shape (n,), optional): Factor on the pressure at each
    ///         vertex, 0 or more.
    #[pyo3(signature = (cloth, pressure, *, stiffness=None, volume=None, fluid_density=None, weights=None))]
    fn set_pressure(
        &self,
        cloth: &Bound<'_, PyAny>,
        pressure: &Bound<'_, PyAny>,
        stiffness: Option<&Bound<'_, PyAny>>,
        volume: Option<&Bound<'_, PyAny>>,
        fluid_density: Option<&Bound<'_, PyAny>>,
        weights: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let cloth = index("cloth", cloth)?;
        let law = law(pressure, stiffness, volume, fluid_density, weights)?;
        self.with(|simulation| simulation.set_pressure(cloth, law))
    }

    /// Sets the springs of a cloth from now on, in place of all that it had.
    ///
    /// Args:
    ///     cloth (int): Index of the cloth.
    ///     springs (integer array, shape (k, 2), or a sequence of index pairs): Ends of each.
    ///     spring_stiffness (float64 or float32 array, shape (k,), or float): In N/m, 0 or more.
    ///     spring_compression, spring_damping, spring_lengths (float64 or float32 array, shape
    ///         (k,), or float, optional): As in Cloth.
    #[pyo3(signature = (
        cloth, springs, spring_stiffness, *, spring_compression=None, spring_damping=None,
        spring_lengths=None
    ))]
    fn set_springs(
        &self,
        cloth: &Bound<'_, PyAny>,
        springs: &Bound<'_, PyAny>,
        spring_stiffness: &Bound<'_, PyAny>,
        spring_compression: Option<&Bound<'_, PyAny>>,
        spring_damping: Option<&Bound<'_, PyAny>>,
        spring_lengths: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let cloth = index("cloth", cloth)?;
        let count = self.with(|simulation| Ok(simulation.positions(cloth)?.len()))?;
        let values = [Some(spring_stiffness), spring_compression, spring_damping, spring_lengths];
        let springs = given_springs(Some(springs), values, count)?;
        self.with(|simulation| simulation.set_springs(cloth, springs))
    }

    /// Volume inside a cloth.
    ///
    /// Args:
    ///     cloth (int): Index of the cloth.
    ///
    /// Returns:
    ///     float: Volume, in m³; more than 0 if the faces of a closed cloth turn outwards.
    #[pyo3(signature = (cloth=None), text_signature = "($self, cloth=0)")]
    fn volume(&self, cloth: Option<&Bound<'_, PyAny>>) -> PyResult<f64> {
        let cloth = cloth.map_or(Ok(0), |cloth| index("cloth", cloth))?;
        self.with(|simulation| simulation.volume(cloth))
    }

    /// Changes settings from now on; those not given stay as they are.
    ///
    /// Args:
    ///     time_step (float, optional): Longest step, in s.
    ///     tolerance (float, optional): Part of the motion that a step may leave unsolved, as in
    ///         Settings.
    ///     max_iterations (int, optional): Newton iterations after which a step is rejected.
    ///     air_density (float, optional): Density of the air, in kg/m³.
    #[pyo3(signature = (*, time_step=None, tolerance=None, max_iterations=None, air_density=None))]
    fn set_settings(
        &self,
        time_step: Option<&Bound<'_, PyAny>>,
        tolerance: Option<&Bound<'_, PyAny>>,
        max_iterations: Option<&Bound<'_, PyAny>>,
        air_density: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let changes = FrameSettings::new(time_step, tolerance, max_iterations, air_density)?;
        self.with(|simulation| {
            let changed = changes.applied_to(simulation.settings().clone());
            simulation.set_settings(changed)
        })
    }

    /// Gives a collider another surface from now on.
    ///
    /// Args:
    ///     collider (int): Index of the collider.
    ///     friction (float): Coulomb coefficient of friction, 0 or more.
    ///     thickness (float): Contact thickness, in m, 0 or more.
    fn set_collider_surface(
        &self,
        collider: &Bound<'_, PyAny>,
        friction: &Bound<'_, PyAny>,
        thickness: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let collider = index("collider", collider)?;
        let surface = (number("friction", friction)?, number("thickness", thickness)?);
        self.with(|simulation| simulation.set_collider_surface(collider, surface.0, surface.1))
    }

    /// Shrinks or lengthens a cloth from now on.
    ///
    /// Args:
    ///     cloth (int): Index of the cloth.
    ///     rest_scale (float64 or float32 array, shape (n, 2)): Factors b_u, b_v on the lengths at
    ///         rest along warp and weft at each vertex, more than 0, in place of those before.
    fn set_rest_scale(
        &self,
        cloth: &Bound<'_, PyAny>,
        rest_scale: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (cloth, scale) = (index("cloth", cloth)?, rows::<2>("rest_scale", rest_scale)?);
        self.with(|simulation| simulation.set_rest_scale(cloth, &scale))
    }

    /// Energies of all cloths.
    ///
    /// Returns:
    ///     dict[str, float]: "kinetic", "stretch", "shear", "bend", "gravity" (0 at the origin) and
    ///         "total", in J; with seams also "sewing", and with soft pins "pins".
    fn energy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (energy, springs) =
            self.compute(py, |simulation| Ok((simulation.energy(), simulation.has_springs())))?;
        energies(py, &energy, springs)
    }

    /// Sparse matrices of the linearised equations M·ẍ + D·ẋ + K·x = f at the present positions,
    /// for scipy.sparse.csr_array((data, indices, indptr)).
    ///
    /// Unknown 3·i + k is coordinate k of vertex i; the vertices of all cloths follow each other. K
    /// and D are those of cloth, seams and soft pins, as Newton's method uses them: symmetric,
    /// without negative eigenvalues, from single precision. K of the model "fem" has in it the
    /// stabilisation of bending, which resists waves of two to four edges. Pinned vertices have
    /// their rows; air and contacts are left out. The simulation is not changed.
    ///
    /// Args:
    ///     h (float): Length of the step of implicit Euler that A belongs to, in s, more than 0;
    ///         Settings.time_step where not given.
    ///
    /// Returns:
    ///     dict: "stiffness" (K, in N/m), "damping" (D, in N·s/m) and "system" (A = M/h² + D/h + K,
    ///         in N/m), each a tuple (data, indices, indptr) of arrays of float64, int64 and int64;
    ///         "masses" (in kg, shape (n,)); "rest_positions" (the shape at rest, in m, shape
    ///         (n, 3)); "positions" (where K and D hold, in m, shape (n, 3)).
    ///
    /// Raises:
    ///     ValueError: A length that is not a finite number more than 0.
    #[pyo3(signature = (h=None))]
    fn matrices<'py>(
        &self,
        py: Python<'py>,
        h: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let duration = h.map(|given| number("h", given)).transpose()?;
        let matrices = self.compute(py, |simulation| simulation.matrices(duration))?;
        matrices::to_dict(py, &matrices)
    }

    /// An exact checkpoint: continuing from it gives bit-identical results.
    ///
    /// Returns:
    ///     bytes: To be handed to restore of a simulation of the same cloths and colliders.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.compute(py, |simulation| simulation.state())?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Goes to a checkpoint of a simulation of the same cloths and colliders.
    /// Where its time_step, tolerances or growth were others, this one goes on with its own.
    ///
    /// Args:
    ///     bytes (bytes): What state gave.
    ///     other_rest (bool): Whether rest_positions, not triangles, may have been others there.
    ///
    /// Raises:
    ///     ValueError: The bytes are damaged, foreign, of another version or of other cloths,
    ///         colliders, model, integrator, solver or damping; nothing is changed then.
    #[pyo3(signature = (bytes, *, other_rest=false))]
    fn restore(&self, py: Python<'_>, bytes: &Bound<'_, PyAny>, other_rest: bool) -> PyResult<()> {
        let found = scalars::bytes("bytes", bytes)?;
        if other_rest {
            return self.compute(py, move |one| one.restore_with_other_rest_shape(&found));
        }
        self.compute(py, move |simulation| simulation.restore(&found))
    }

    /// Seconds simulated.
    #[getter]
    fn time(&self) -> PyResult<f64> {
        self.with(|simulation| Ok(simulation.time()))
    }

    fn __repr__(&self) -> String {
        self.description()
    }
}
