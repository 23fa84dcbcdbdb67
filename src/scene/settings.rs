// SPDX-License-Identifier: MIT OR Apache-2.0
//! Settings of a simulation.

use crate::{
    error::{Error, Result},
    vec3::Vec3,
};
use serde::{Deserialize, Serialize};

/// Time integration scheme.
///
/// Explicit schemes need steps shorter than the period of the stiffest vibration; `Simulation::advance` chooses them,
/// and refuses a duration that needs too many steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Integrator {
    /// Two-step backward differentiation: second order, A- and L-stable. The default.
    Bdf2,
    /// Implicit Euler: first order, damps all motion.
    ImplicitEuler,
    /// The implicit midpoint rule: second order, damps nothing.
    ImplicitMidpoint,
    /// Implicit for a constant linearisation of the forces, explicit for the rest: first order, one linear system per
    /// step.
    ImexEuler,
    /// Two-step backward differentiation for the constant linearisation, extrapolation for the rest: second order, one
    /// linear system per step.
    Sbdf2,
    /// The implicit midpoint rule for the constant linearisation, the explicit one for the rest: second order, one linear
    /// system per step.
    ImexMidpoint,
    /// Explicit Euler: first order, amplifies undamped motion.
    Euler,
    /// Euler-Cromer: explicit, first order, conserves the energy of oscillations on average.
    SymplecticEuler,
    /// The explicit midpoint rule: second order.
    Midpoint,
    /// The classical Runge-Kutta method: explicit, fourth order.
    Rk4,
    /// Velocity Verlet: explicit, second order, conserves the energy of oscillations on average.
    Verlet,
    /// Heun's method, RK2: explicit, second order.
    Heun,
    /// The explicit midpoint rule with positions advanced by new velocities (Cords 2004): first order.
    MidpointCromer,
    /// Heun's method with positions advanced by new velocities (Cords 2004): first order.
    HeunCromer,
    /// The Runge-Kutta method with positions advanced by new velocities (Cords 2004): first order.
    Rk4Cromer,
}

impl Integrator {
    /// All, the default first.
    pub const ALL: [Self; 15] = [
        Self::Bdf2,
        Self::ImplicitEuler,
        Self::ImplicitMidpoint,
        Self::ImexEuler,
        Self::Sbdf2,
        Self::ImexMidpoint,
        Self::Euler,
        Self::SymplecticEuler,
        Self::Midpoint,
        Self::Rk4,
        Self::Verlet,
        Self::Heun,
        Self::MidpointCromer,
        Self::HeunCromer,
        Self::Rk4Cromer,
    ];

    /// The integrator of a name.
    ///
    /// # Errors
    /// Lists the names there are when `name` is none of them.
    pub fn from_name(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|integrator| integrator.name() == name);
        found.ok_or_else(|| Error::unknown("integrator", name, &Self::ALL.map(Self::name)))
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bdf2 => "bdf2",
            Self::ImplicitEuler => "implicit_euler",
            Self::ImplicitMidpoint => "implicit_midpoint",
            Self::ImexEuler => "imex_euler",
            Self::Sbdf2 => "sbdf2",
            Self::ImexMidpoint => "imex_midpoint",
            Self::Euler => "euler",
            Self::SymplecticEuler => "symplectic_euler",
            Self::Midpoint => "midpoint",
            Self::Rk4 => "rk4",
            Self::Verlet => "verlet",
            Self::Heun => "heun",
            Self::MidpointCromer => "midpoint_cromer",
            Self::HeunCromer => "heun_cromer",
            Self::Rk4Cromer => "rk4_cromer",
        }
    }

    /// Whether all forces are evaluated at the end of a step, or inside it.
    #[must_use]
    pub fn is_implicit(self) -> bool {
        matches!(self, Self::Bdf2 | Self::ImplicitEuler | Self::ImplicitMidpoint)
    }

    /// Whether a constant linear part of the forces is implicit, and the rest explicit.
    #[must_use]
    pub fn is_semi_implicit(self) -> bool {
        matches!(self, Self::ImexEuler | Self::Sbdf2 | Self::ImexMidpoint)
    }

    /// Whether all forces are evaluated at known states, so that steps have to be short.
    #[must_use]
    pub fn is_explicit(self) -> bool {
        !self.is_implicit() && !self.is_semi_implicit()
    }
}

/// Solver of the nonlinear equations of an implicit integrator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Solver {
    /// Newton's method with line search. The default.
    Newton,
    /// The iteration of Etzmuss 2002, section 3.4.3, with a constant matrix.
    FixedPoint,
    /// One linearisation per step, and shorter steps if the cloth stretches by much (Baraff and Witkin 1998).
    Linearised,
}

impl Solver {
    const NAMES: [(&'static str, Self); 3] = [
        ("newton", Self::Newton),
        ("fixed_point", Self::FixedPoint),
        ("linearised", Self::Linearised),
    ];

    /// The solver of a name.
    ///
    /// # Errors
    /// Lists the names there are when `name` is none of them.
    pub fn from_name(name: &str) -> Result<Self> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        let names = Self::NAMES.map(|(name, _)| name);
        found.map(|(_, solver)| *solver).ok_or_else(|| Error::unknown("solver", name, &names))
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
    }
}

/// Discrete model of the cloth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Model {
    /// Linear triangles with plate-exact bending. The default.
    Fem,
    /// The same with co-rotational strain (Huber 2018, eq. 2.67).
    FemCorotational,
    /// The same with linear strain, for small rotations (Huber 2018, eq. 2.66).
    FemLinear,
    /// The default model bent by the elements of Volino and Magnenat-Thalmann (Huber 2018, eq. 2.95).
    FemVolino,
    /// The default model bent by the elements of Bridson and others (Huber 2018, eq. 2.96).
    FemBridson,
    /// The particle system of Etzmuss 2002 on quads, bent as a thin plate.
    Particles,
    /// The particle system of Etzmuss 2002 on quads, bent as a membrane.
    ParticlesMembrane,
    /// The same with the membrane force projected on normals (Etzmuss 2002, algorithm 3).
    ParticlesProjected,
    /// The triangles of Baraff and Witkin 1998.
    BaraffWitkin,
    /// Springs that pull and beams that buckle (Choi and Ko 2002).
    ChoiKo,
    /// Linear springs to 12 neighbours on grids (Provot 1995).
    MassSpring,
    /// Linear springs to 16 neighbours, on quads (Cords 2004).
    MassSpring16,
}

impl Model {
    const NAMES: [(&'static str, Self); 12] = [
        ("fem", Self::Fem),
        ("fem_corotational", Self::FemCorotational),
        ("fem_linear", Self::FemLinear),
        ("fem_volino", Self::FemVolino),
        ("fem_bridson", Self::FemBridson),
        ("particles", Self::Particles),
        ("particles_membrane", Self::ParticlesMembrane),
        ("particles_projected", Self::ParticlesProjected),
        ("baraff_witkin", Self::BaraffWitkin),
        ("choi_ko", Self::ChoiKo),
        ("mass_spring", Self::MassSpring),
        ("mass_spring_16", Self::MassSpring16),
    ];

    /// The model of a name.
    ///
    /// # Errors
    /// Lists the names there are when `name` is none of them.
    pub fn from_name(name: &str) -> Result<Self> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        let names = Self::NAMES.map(|(name, _)| name);
        found.map(|(_, model)| *model).ok_or_else(|| Error::unknown("model", name, &names))
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
    }

    /// Whether all faces have to have four corners.
    #[must_use]
    pub fn needs_quads(self) -> bool {
        self.is_particle_system() || self == Self::MassSpring16
    }

    /// Whether it is the particle system of Etzmuss 2002, with any kind of bending.
    #[must_use]
    pub fn is_particle_system(self) -> bool {
        matches!(self, Self::Particles | Self::ParticlesMembrane | Self::ParticlesProjected)
    }

    /// Whether it is a mass-spring model.
    #[must_use]
    pub fn has_springs(self) -> bool {
        matches!(self, Self::ChoiKo | Self::MassSpring | Self::MassSpring16)
    }
}

/// Preconditioner of the conjugate gradients in a Newton iteration. Results agree to the tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Preconditioning {
    /// Smoothed aggregation: iterations hardly grow with the mesh. The default.
    Multigrid,
    /// Incomplete Cholesky without fill (Etzmuss 2002, section 3.4.2).
    IncompleteCholesky,
    /// The inverse of the diagonal blocks.
    BlockJacobi,
}

impl Preconditioning {
    const NAMES: [(&'static str, Self); 3] = [
        ("multigrid", Self::Multigrid),
        ("incomplete_cholesky", Self::IncompleteCholesky),
        ("block_jacobi", Self::BlockJacobi),
    ];

    /// The preconditioner of a name.
    ///
    /// # Errors
    /// Lists the names there are when `name` is none of them.
    pub fn from_name(name: &str) -> Result<Self> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        let names = Self::NAMES.map(|(name, _)| name);
        found.map(|(_, kind)| *kind).ok_or_else(|| Error::unknown("preconditioner", name, &names))
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
    }
}

/// Settings of a simulation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Time integration scheme.
    pub integrator: Integrator,
    /// Solver of the nonlinear equations of an implicit integrator.
    pub solver: Solver,
    /// Discrete model of the cloth.
    pub model: Model,
    /// Longest step, in s. The default, 1/48 s, is two steps per film frame. What slides round a solid or crumples
    /// needs short steps more than close ones: two that are solved loosely have less error than one that is solved
    /// closely, at the same cost.
    pub time_step: f64,
    /// Acceleration of gravity, in m/s².
    pub gravity: Vec3,
    /// Velocity of the air, in m/s.
    pub wind: Vec3,
    /// Density of the air, in kg/m³; 0 is a vacuum.
    pub air_density: f64,
    /// Stokes drag k of every vertex in N·s/m: the force −kv (Cords 2004, eq. 2.6). The force on a cloth grows with the
    /// number of its vertices.
    pub stokes_drag: f64,
    /// α of Rayleigh damping αM + βK, in 1/s (Huber 2018, eq. 2.94).
    pub mass_damping: f64,
    /// β of Rayleigh damping αM + βK, in s, added to the Kelvin-Voigt times of all materials.
    pub stiffness_damping: f64,
    /// Whether cloths touch themselves and each other.
    pub self_collision: bool,
    /// Part of the motion that a step may leave unsolved. The error of the acceleration of every cloth, as the last
    /// Newton steps d let it be estimated, is at most ten times this part of that acceleration. Besides, d is shorter
    /// than eight times this part of the mean edge length, or of 1/87 of the root of the smallest cloth's area if that
    /// is larger (the edge length of a square of 10 000 vertices), and during contact than five or ten times this part
    /// of the first of the step. The length of d is its energy norm √(dᵀAd), A being the matrix of the step, as the
    /// equivalent rigid displacement: errors of shape count by their inertia, those of strain by their much larger
    /// stiffness.
    pub tolerance: f64,
    /// Newton iterations after which a step is rejected and retried with half the length; four times as many with the
    /// fixed-point solver.
    pub max_iterations: usize,
    /// Lower bound of the iterations of a step: a step that has been shortened grows again where it took no more (Etzmuss
    /// 2002, section 3.4.3); four times as many with the fixed-point solver. 0 stands for nine fortieths of
    /// `max_iterations`.
    pub min_iterations: usize,
    /// Factor by which a step that has been shortened grows again, more than 1. Above 2.4 BDF(2) restarts.
    pub growth_factor: f64,
    /// Factor by which a long step that took many iterations shortens the next one, more than 0 and at most 1.
    pub shrink_factor: f64,
    /// η of conjugate gradients: relative residual at which the linear system of a Newton step counts as solved
    /// (Etzmuss 2002, section 3.4.3), between 0 and 1, in the norm of the preconditioner; that of the one solve of a
    /// linearised step is the tolerance. Smaller costs iterations of conjugate gradients, larger those of Newton's
    /// method.
    pub linear_tolerance: f64,
    /// Preconditioner of the linear equations.
    pub preconditioner: Preconditioning,
    /// Threads; 0 for one on every core.
    pub threads: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            integrator: Integrator::Bdf2,
            solver: Solver::Newton,
            model: Model::Fem,
            time_step: 1.0 / 48.0,
            gravity: Vec3::new(0.0, 0.0, -9.81),
            wind: Vec3::zeros(),
            air_density: 1.2,
            stokes_drag: 0.0,
            mass_damping: 0.0,
            stiffness_damping: 0.0,
            self_collision: true,
            tolerance: 2.0e-2,
            max_iterations: 30,
            min_iterations: 0,
            growth_factor: 2.0,
            shrink_factor: 0.75,
            linear_tolerance: Self::DEFAULT_LINEAR_TOLERANCE,
            preconditioner: Preconditioning::Multigrid,
            threads: 0,
        }
    }
}

impl Settings {
    /// Shortest `time_step`, in s: the time of a frame would not notice the end of a shorter one.
    pub const MIN_TIME_STEP: f64 = 1.0e-9;
    /// η of conjugate gradients where nothing else is asked for: with 0.1 a landing sheet takes 13 % more Newton
    /// iterations and a quarter fewer of conjugate gradients at the same time, and nine in ten frames of a hanging sheet
    /// are solved to 12 instead of 4 % of what accelerates it.
    pub const DEFAULT_LINEAR_TOLERANCE: f64 = 0.03;
    /// Most threads that may be asked for.
    pub const MAX_THREADS: usize = 1024;

    /// Whether the equations are linearised once per step.
    pub(crate) fn is_linearised(&self) -> bool {
        self.solver == Solver::Linearised && self.integrator.is_implicit()
    }

    /// Returns the settings if every field is valid.
    ///
    /// # Errors
    /// Names the first field that is not finite or out of range.
    pub fn checked(self) -> Result<Self> {
        if !(self.time_step.is_finite() && self.time_step >= Self::MIN_TIME_STEP) {
            let wanted = format!("a finite number, {:e} or more", Self::MIN_TIME_STEP);
            return Err(Error::value("time_step", self.time_step, wanted));
        }
        check_positive("tolerance", self.tolerance)?;
        check_vector("gravity", &self.gravity)?;
        check_vector("wind", &self.wind)?;
        for (name, value) in [
            ("air_density", self.air_density),
            ("stokes_drag", self.stokes_drag),
            ("mass_damping", self.mass_damping),
            ("stiffness_damping", self.stiffness_damping),
        ] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(Error::value(name, value, "a number, 0 or more"));
            }
        }
        if self.max_iterations == 0 {
            return Err(Error::value("max_iterations", 0, "1 or more"));
        }
        self.check_step_control()?;
        if self.threads > Self::MAX_THREADS {
            let wanted = format!("0 (all cores) to {}", Self::MAX_THREADS);
            return Err(Error::value("threads", self.threads, wanted));
        }
        Ok(self)
    }

    fn check_step_control(&self) -> Result<()> {
        let Self { min_iterations, max_iterations, growth_factor, shrink_factor, .. } = *self;
        if min_iterations > max_iterations {
            let wanted = format!("0 to max_iterations, {max_iterations}");
            return Err(Error::value("min_iterations", min_iterations, wanted));
        }
        if !(growth_factor.is_finite() && growth_factor > 1.0) {
            return Err(Error::value(
                "growth_factor",
                growth_factor,
                "a finite number more than 1",
            ));
        }
        if !(shrink_factor > 0.0 && shrink_factor <= 1.0) {
            let wanted = "a number more than 0, 1 or less";
            return Err(Error::value("shrink_factor", shrink_factor, wanted));
        }
        if !(self.linear_tolerance > 0.0 && self.linear_tolerance < 1.0) {
            let wanted = "a number more than 0 and less than 1";
            return Err(Error::value("linear_tolerance", self.linear_tolerance, wanted));
        }
        Ok(())
    }
}

/// Refuses a number that is not finite and more than 0.
pub(crate) fn check_positive(name: &str, value: f64) -> Result<()> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(Error::value(name, value, "a finite number more than 0"))
}

/// Refuses a duration that is not finite, or so short that velocities from displacements within it are rounding errors.
pub(crate) fn check_duration(name: &str, seconds: f64) -> Result<()> {
    check_positive(name, seconds)?;
    if seconds >= Settings::MIN_TIME_STEP {
        return Ok(());
    }
    let wanted = format!("{:e} s or more", Settings::MIN_TIME_STEP);
    Err(Error::value(name, format!("{seconds:e} s"), wanted))
}

/// Refuses a vector that is not finite.
pub(crate) fn check_vector(name: &str, value: &Vec3) -> Result<()> {
    match value.iter().position(|component| !component.is_finite()) {
        Some(axis) => Err(Error::element(name, "component", axis, value[axis], "a finite number")),
        None => Ok(()),
    }
}
