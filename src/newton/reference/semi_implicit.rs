// SPDX-License-Identifier: MIT OR Apache-2.0
//! Semi-implicit (IMEX) schemes, which solve one linear system per step (Etzmuss 2002, sections 3.3 and 3.4.2): the
//! linear forces −Kx − Dv are implicit, all others, p = f + Kx + Dv, are explicit.
//!
//! * IMEX Euler (eq. 3.23): the stage of implicit Euler with p of the start;
//! * SBDF(2) (eq. 3.30): the stage of BDF(2) with (1 + ω)p₀ − ωp₋₁, which for steps of one length is the 2p₀ − p₋₁ of
//!   the text (misprinted in Etzmuss 2002). It starts with one step of IMEX Euler, which costs it no order;
//! * the IMEX midpoint rule, which section 3.4.1 names and does not print (Ascher, Ruuth and Spiteri, "Implicit-explicit
//!   Runge-Kutta methods for time-dependent partial differential equations", 1997, section 2.4): with y = (x, v) the
//!   stage ȳ = y₀ + ½h(p(y₀) + q(ȳ)) of IMEX Euler to the middle of the step, then y₁ = y₀ + h(p(ȳ) + q(ȳ)). The stage
//!   extrapolated to the end is y₀ + h(p(y₀) + q(ȳ)): its positions are right, as p has no part in dx/dt = v, and its
//!   velocities lack hM⁻¹(p(ȳ) − p(y₀)), [`midpoint_velocity_changes`]. With a linear force −κx it is stable for
//!   h²κ < 4m + h²K, so for every K ≥ κ, and keeps the energy. K is twice that of the other schemes for that reason:
//!   cloth that widens in both directions is stiffer than its trace by Poisson's ratio.
//!
//! The system of the text is for the velocity; here it is for the position, x = x̂ + βv, as for all stages.

use super::quadratic_model::{Expansion, QuadraticModel};
use crate::{
    newton::{StageSolve, convergence::SolveOutcome, objective::Objective},
    system::{ConstantStiffness, EquationsOfMotion, RevisedStiffness},
    time_integration::{KinematicState, PreviousState, Stage},
    vec3::Vec3,
};

/// p at a kinematic state `seconds` after the last step, in N, without spring targets, which are linear.
pub(crate) fn explicit_forces(
    dynamics: &mut EquationsOfMotion,
    matrix: &ConstantStiffness,
    state: &KinematicState,
    seconds: f64,
) -> Vec<Vec3> {
    let mut forces = dynamics.forces(state, seconds);
    let linear = [
        matrix.multiply([1.0, 0.0], &state.positions),
        matrix.multiply([0.0, 1.0], &state.velocities),
    ];
    for term in &linear {
        for (force, term) in forces.iter_mut().zip(term) {
            *force += term;
        }
    }
    forces
}

/// Extrapolates forces in N to (1 + ω)p₀ − ωp₋₁, with the ratio ω of the step size to the previous one.
pub(crate) fn extrapolate_forces(forces: &mut [Vec3], previous: &[Vec3], ratio: f64) {
    for (force, previous) in forces.iter_mut().zip(previous) {
        *force += (*force - previous) * ratio;
    }
}

/// Kinematic state one step ago, with the velocities of history resets.
pub(crate) fn previous_kinematic_state(previous: &PreviousState) -> KinematicState {
    let mut velocities = previous.velocities.clone();
    for reset in &previous.history_resets {
        velocities[reset.vertex as usize] = reset.velocity;
    }
    KinematicState { positions: previous.positions.clone(), velocities }
}

/// Residuals of the equations of a stage at `positions` with the explicit forces p, in N.
pub(crate) fn stage_residuals(
    stage: &Stage,
    matrix: &ConstantStiffness,
    dynamics: &EquationsOfMotion,
    explicit_forces: &[Vec3],
    positions: &[Vec3],
) -> Vec<Vec3> {
    let KinematicState { positions, velocities } = stage.evaluation_state(positions);
    let elastic = matrix.multiply([1.0, 0.0], &positions);
    let viscous = matrix.multiply([0.0, 1.0], &velocities);
    let each = 0..positions.len();
    let mut residuals: Vec<Vec3> = each
        .map(|vertex| {
            let velocity_change = velocities[vertex] - stage.base_velocities[vertex];
            let inertia = velocity_change * (dynamics.masses.vertices[vertex] / stage.beta);
            explicit_forces[vertex] - elastic[vertex] - viscous[vertex] - inertia
        })
        .collect();
    dynamics.add_spring_target_forces(&positions, &mut residuals);
    residuals
}

/// hM⁻¹(p(ȳ) − p(y₀)) of each vertex in m/s: what the velocities at the end of the stage of the IMEX midpoint rule lack.
/// `start_forces` are p(y₀) in N, `positions` the end of the stage in m.
pub(crate) fn midpoint_velocity_changes(
    stage: &Stage,
    matrix: &ConstantStiffness,
    dynamics: &mut EquationsOfMotion,
    start_forces: &[Vec3],
    positions: &[Vec3],
) -> Vec<Vec3> {
    let middle = stage.evaluation_state(positions);
    let middle_forces = explicit_forces(dynamics, matrix, &middle, stage.beta);
    let changes = middle_forces.iter().zip(start_forces).zip(&dynamics.masses.vertices);
    changes.map(|((middle, start), mass)| (middle - start) * (stage.duration / mass)).collect()
}

/// Solves a stage with explicit forces p, in N: one linear system, with contacts.
///
/// Where p is evaluated at the solution ([`midpoint_velocity_changes`]), what an error δ of it leaves in the energy norm
/// grows by the root of the numerical stiffness β²K/m of that error, and the system is solved that much more exactly.
pub(crate) fn solve(
    mut solve: StageSolve<'_, '_>,
    stiffness: &RevisedStiffness,
    explicit_forces: &[Vec3],
) -> SolveOutcome {
    let Objective { stage, dynamics, .. } = &*solve.objective;
    if stage.extrapolation_factor > 1.0 {
        let factors = [stage.beta * stage.beta, stage.beta];
        let ratio = stiffness.matrix.max_diagonal_over_mass(factors, &dynamics.masses.vertices);
        solve.criteria = solve.criteria.scaled(1.0 / (1.0 + ratio).sqrt());
    }
    let point = solve.positions.to_vec();
    let residuals = stage_residuals(stage, &stiffness.matrix, dynamics, explicit_forces, &point);
    let expansion = Expansion { point: &point, residuals: &residuals };
    let model = QuadraticModel::with_constant_stiffness(dynamics, stage, stiffness, expansion);
    solve.with_quadratic_model(&model)
}
