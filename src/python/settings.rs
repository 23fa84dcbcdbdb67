// SPDX-License-Identifier: MIT OR Apache-2.0
//! `weft.Settings`.

use super::{
    arrays::vector,
    scalars::{constructor, fields_of, flag, index, number, set_fields, text},
};
use crate::scene::{Integrator, Model, Preconditioning, Settings, Solver};
use pyo3::{prelude::*, types::PyDict};

const FIELDS: [&str; 19] = [
    "integrator",
    "solver",
    "model",
    "time_step",
    "gravity",
    "wind",
    "air_density",
    "stokes_drag",
    "mass_damping",
    "stiffness_damping",
    "self_collision",
    "tolerance",
    "max_iterations",
    "min_iterations",
    "growth_factor",
    "shrink_factor",
    "linear_tolerance",
    "preconditioner",
    "threads",
];

/// How a scene is simulated. Immutable, and checked when built.
///
/// Args:
///     integrator (str): How time is stepped. Implicit, for any fabric: "bdf2" (second order, the
///         default), "implicit_euler" (first order, damps all motion), "implicit_midpoint" (second
///         order, damps nothing). With one linear solve a step, sturdy but sluggish where the
///         fabric is stiff: "imex_euler" (first order), "sbdf2", "imex_midpoint" (second order).
///         Explicit: "euler", "symplectic_euler" (first order), "midpoint", "heun", "verlet"
///         (second order), "rk4" (fourth), and "midpoint_cromer", "heun_cromer", "rk4_cromer",
///         whose positions advance with the new velocities (first order). advance makes explicit
///         steps as short as is stable, and raises ValueError where a frame of 1/24 s would take
///         more than 10 000. step(h) takes any h, and what comes of it.
///     solver (str): How the equations of implicit integrators are solved: "newton" (the default);
///         "fixed_point", the iteration of Etzmuss 2002 with a constant matrix, slow for stiff and
///         little damped fabrics; "linearised", one linearisation a step, shorter steps where the
///         cloth stretches by much (Baraff and Witkin 1998).
///     model (str): What the cloth is made of. "fem" (the default): linear triangles with
///         plate-exact bending; "fem_corotational" and "fem_linear": the same with the strains of
///         Huber 2018, the latter for small rotations; "fem_volino" and "fem_bridson": "fem" with
///         the bending elements of Volino and of Bridson; "particles": the particle system of
///         Etzmuss 2002, on quads;
///         "particles_membrane": the same, bent as a membrane; "particles_projected": that force
///         along the normals alone; "baraff_witkin": the triangles of Baraff and Witkin 1998;
///         "choi_ko": springs that pull and beams that buckle;
///         "mass_spring": linear springs; "mass_spring_16": the same to 16 neighbours, on quads.
///         Only "fem", its variants and "particles" give back every modulus of a material;
///         docs/models.md says what the others get wrong.
///     time_step (float): Longest step, in s. The default, 1/48 s, is two steps a film frame;
///         steps are shortened where Newton's method converges slowly.
///     gravity (3 floats): Acceleration of gravity, in m/s²; (0, 0, -9.81) where not given.
///     wind (3 floats): Velocity of the air, in m/s; still air where not given.
///     air_density (float): Density of the air, in kg/m³; 1.2 where not given, 0 is a vacuum.
///     stokes_drag (float): Stokes drag k of every vertex, in N·s/m, with the force −kv; 0 where
///         not given.
///     mass_damping (float): α of Rayleigh damping αM + βK, in 1/s; 0 where not given.
///     stiffness_damping (float): β of Rayleigh damping αM + βK, in s, added to the damping times
///         of all materials; 0 where not given.
///     self_collision (bool): Whether cloths touch themselves and each other; True where not given.
///     tolerance (float): Part of the motion that a step may leave unsolved: the error of the
///         acceleration is estimated at no more than ten times this part of it, and the last
///         Newton step, in the energy norm, is at most eight times this part of the mean edge
///         length, or of 1/87 of the cloth's width if that is more; 0.02 where not given.
///     max_iterations (int): Newton iterations after which a step is tried again with half the
///         length; 30 where not given. The fixed-point solver is allowed four times as many
///         updates.
///     min_iterations (int): Lower bound of the iterations of a step: a step that has been
///         shortened grows again where it took no more (Etzmuss 2002, section 3.4.3); 0, the
///         default, is nine fortieths of max_iterations.
///     growth_factor (float): Factor by which a step that has been shortened grows again, more than
///         1; 2 where not given. Above 2.4 BDF2 restarts.
///     shrink_factor (float): Factor by which a long step that took many iterations shortens the
///         next one, more than 0 and at most 1; 0.75 where not given.
///     linear_tolerance (float): η of conjugate gradients, the relative residual at which the
///         linear equations of a Newton step count as solved, between 0 and 1; 0.03 where not
///         given.
///     preconditioner (str): What speeds up the linear equations: "multigrid" (the default),
///         "incomplete_cholesky" or "block_jacobi". Results agree to the tolerance.
///     threads (int): Threads; 0, the default, is one on every core. Results do not depend on it.
///
/// Raises:
///     TypeError: A field that does not exist, or a value of the wrong type.
///     ValueError: A value out of range, or a name of something that does not exist here.
#[pyclass(name = "Settings", module = "weft", frozen, eq)]
#[derive(PartialEq)]
pub(super) struct PySettings(pub(super) Settings);

#[pymethods]
impl PySettings {
    #[new]
    #[pyo3(
        signature = (**fields),
        text_signature = "(*, integrator='bdf2', solver='newton', model='fem', time_step=0.020833333333333332, \
            gravity=(0.0, 0.0, -9.81), wind=(0.0, 0.0, 0.0), air_density=1.2, stokes_drag=0.0, mass_damping=0.0, \
            stiffness_damping=0.0, self_collision=True, tolerance=0.02, max_iterations=30, min_iterations=0, \
            growth_factor=2.0, shrink_factor=0.75, linear_tolerance=0.03, preconditioner='multigrid', threads=0)"
    )]
    fn new(fields: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut settings = Settings::default();
        set_fields("Settings", fields, &FIELDS, |name, value| set(&mut settings, name, value))?;
        Ok(Self(settings.checked()?))
    }

    /// How time is stepped.
    #[getter]
    fn integrator(&self) -> &'static str {
        self.0.integrator.name()
    }

    /// How the equations of implicit integrators are solved.
    #[getter]
    fn solver(&self) -> &'static str {
        self.0.solver.name()
    }

    /// What the cloth is made of in the computer.
    #[getter]
    fn model(&self) -> &'static str {
        self.0.model.name()
    }

    /// Longest step, in s.
    #[getter]
    fn time_step(&self) -> f64 {
        self.0.time_step
    }

    /// Acceleration of gravity at the start, in m/s².
    #[getter]
    fn gravity(&self) -> (f64, f64, f64) {
        <[f64; 3]>::from(self.0.gravity).into()
    }

    /// Velocity of the air at the start, in m/s.
    #[getter]
    fn wind(&self) -> (f64, f64, f64) {
        <[f64; 3]>::from(self.0.wind).into()
    }

    /// Density of the air, in kg/m³.
    #[getter]
    fn air_density(&self) -> f64 {
        self.0.air_density
    }

    /// Stokes drag of every vertex, in N·s/m.
    #[getter]
    fn stokes_drag(&self) -> f64 {
        self.0.stokes_drag
    }

    /// α of Rayleigh damping αM + βK, in 1/s.
    #[getter]
    fn mass_damping(&self) -> f64 {
        self.0.mass_damping
    }

    /// β of Rayleigh damping αM + βK, in s.
    #[getter]
    fn stiffness_damping(&self) -> f64 {
        self.0.stiffness_damping
    }

    /// Whether cloths touch themselves and each other.
    #[getter]
    fn self_collision(&self) -> bool {
        self.0.self_collision
    }

    /// Part of the motion that a step may leave unsolved: of its acceleration, and of the mean edge length.
    #[getter]
    fn tolerance(&self) -> f64 {
        self.0.tolerance
    }

    /// Newton iterations after which a step is tried again with half the length.
    #[getter]
    fn max_iterations(&self) -> usize {
        self.0.max_iterations
    }

    /// Iterations up to which a shortened step grows again; 0 is nine fortieths of max_iterations.
    #[getter]
    fn min_iterations(&self) -> usize {
        self.0.min_iterations
    }

    /// Factor by which a shortened step grows again.
    #[getter]
    fn growth_factor(&self) -> f64 {
        self.0.growth_factor
    }

    /// Factor by which a step that took many iterations shortens the next one.
    #[getter]
    fn shrink_factor(&self) -> f64 {
        self.0.shrink_factor
    }

    /// Relative residual at which conjugate gradients stop, but in linearised steps: there it is the tolerance.
    #[getter]
    fn linear_tolerance(&self) -> f64 {
        self.0.linear_tolerance
    }

    /// What speeds up the linear equations.
    #[getter]
    fn preconditioner(&self) -> &'static str {
        self.0.preconditioner.name()
    }

    /// Threads; 0 is one on every core.
    #[getter]
    fn threads(&self) -> usize {
        self.0.threads
    }

    fn __getnewargs_ex__<'py>(slf: &Bound<'py, Self>) -> PyResult<((), Bound<'py, PyDict>)> {
        Ok(((), fields_of(slf.as_any(), &FIELDS)?))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        constructor("Settings", &fields_of(slf.as_any(), &FIELDS)?)
    }
}

/// Sets a field. Returns whether there is one of this name.
fn set(settings: &mut Settings, name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    match name {
        "integrator" => settings.integrator = Integrator::from_name(&text(name, value)?)?,
        "solver" => settings.solver = Solver::from_name(&text(name, value)?)?,
        "model" => settings.model = Model::from_name(&text(name, value)?)?,
        "time_step" => settings.time_step = number(name, value)?,
        "gravity" => settings.gravity = vector(name, value)?,
        "wind" => settings.wind = vector(name, value)?,
        "air_density" => settings.air_density = number(name, value)?,
        "stokes_drag" => settings.stokes_drag = number(name, value)?,
        "mass_damping" => settings.mass_damping = number(name, value)?,
        "stiffness_damping" => settings.stiffness_damping = number(name, value)?,
        "self_collision" => settings.self_collision = flag(name, value)?,
        "tolerance" => settings.tolerance = number(name, value)?,
        "max_iterations" => settings.max_iterations = index(name, value)?,
        "min_iterations" => settings.min_iterations = index(name, value)?,
        "growth_factor" => settings.growth_factor = number(name, value)?,
        "shrink_factor" => settings.shrink_factor = number(name, value)?,
        "linear_tolerance" => settings.linear_tolerance = number(name, value)?,
        "preconditioner" => {
            settings.preconditioner = Preconditioning::from_name(&text(name, value)?)?;
        }
        "threads" => settings.threads = index(name, value)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Settings that may change while a simulation runs, those that are given.
pub(super) struct FrameSettings {
    time_step: Option<f64>,
    tolerance: Option<f64>,
    max_iterations: Option<usize>,
    air_density: Option<f64>,
}

impl FrameSettings {
    /// From the arguments of `weft.Simulation.set_settings`.
    pub(super) fn new(
        time_step: Option<&Bound<'_, PyAny>>,
        tolerance: Option<&Bound<'_, PyAny>>,
        max_iterations: Option<&Bound<'_, PyAny>>,
        air_density: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let given = |name: &str, value: Option<&Bound<'_, PyAny>>| {
            value.map(|value| number(name, value)).transpose()
        };
        Ok(Self {
            time_step: given("time_step", time_step)?,
            tolerance: given("tolerance", tolerance)?,
            max_iterations: max_iterations
                .map(|value| index("max_iterations", value))
                .transpose()?,
            air_density: given("air_density", air_density)?,
        })
    }

    /// The settings, changed.
    pub(super) fn applied_to(&self, now: Settings) -> Settings {
        Settings {
            time_step: self.time_step.unwrap_or(now.time_step),
            tolerance: self.tolerance.unwrap_or(now.tolerance),
            max_iterations: self.max_iterations.unwrap_or(now.max_iterations),
            air_density: self.air_density.unwrap_or(now.air_density),
            ..now
        }
    }
}
