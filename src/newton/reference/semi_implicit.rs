// SPDX-License-Identifier: MIT OR Apache-2.0
//! Schemes that solve one linear system a step (Etzmuss 2002, sections 3.3 and 3.4.2): the linear forces −Kx − Dv are
//! implicit, all others, p = f + Kx + Dv, are taken from the past.
//!
//! * IMEX Euler (eq. 3.23): the stage of implicit Euler with p of the start;
//! * SBDF(2) (eq. 3.30): the stage of BDF(2) with (1 + ω)p₀ − ωp₋₁, which for steps of one length is the 2p₀ − p₋₁ of
//!   the text (ERRATA on Etzmuss 2002). It starts with one step of IMEX Euler, which costs it no order.
//!
//! The system of the text is for the velocity; here it is for the position, x = x̂ + βv, as for all stages.

use crate::{
    Vec3,
    system::{ConstantStiffness, EquationsOfMotion},
    time_integration::{KinematicState, PreviousState, Stage},
};

/// p of a motion, in N. The springs of pins, which are linear, are not in it.
pub(crate) fn explicit_forces(
    dynamics: &mut EquationsOfMotion,
    matrix: &ConstantStiffness,
    motion: &KinematicState,
) -> Vec<Vec3> {
    let mut forces = dynamics.forces(motion, 0.0);
    let linear = [
        matrix.multiply([1.0, 0.0], &motion.positions),
        matrix.multiply([0.0, 1.0], &motion.velocities),
    ];
    for part in &linear {
        for (force, part) in forces.iter_mut().zip(part) {
            *force += part;
        }
    }
    forces
}

/// (1 + ω)p₀ − ωp₋₁ with the ratio ω of this step to the last.
pub(crate) fn extrapolate_forces(now: &mut [Vec3], before: &[Vec3], ratio: f64) {
    for (now, before) in now.iter_mut().zip(before) {
        *now += (*now - before) * ratio;
    }
}

/// The motion one step ago, with other velocities where they have jumped since.
pub(crate) fn previous_kinematic_state(past: &PreviousState) -> KinematicState {
    let mut velocities = past.velocities.clone();
    for restart in &past.history_resets {
        velocities[restart.vertex as usize] = restart.velocity;
    }
    KinematicState { positions: past.positions.clone(), velocities }
}

/// What the equations of a stage lack at `positions` when p is `explicit`, in N.
pub(crate) fn stage_residuals(
    stage: &Stage,
    (matrix, dynamics): (&ConstantStiffness, &EquationsOfMotion),
    explicit: &[Vec3],
    positions: &[Vec3],
) -> Vec<Vec3> {
    let moved = positions.iter().zip(&stage.base_positions);
    let velocities: Vec<Vec3> = moved.map(|(x, from)| (x - from) / stage.beta).collect();
    let elastic = matrix.multiply([1.0, 0.0], positions);
    let viscous = matrix.multiply([0.0, 1.0], &velocities);
    let each = 0..positions.len();
    let mut residuals: Vec<Vec3> = each
        .map(|vertex| {
            let gained = velocities[vertex] - stage.base_velocities[vertex];
            let inertia = gained * (dynamics.masses[vertex] / stage.beta);
            explicit[vertex] - elastic[vertex] - viscous[vertex] - inertia
        })
        .collect();
    dynamics.add_spring_target_forces(positions, &mut residuals);
    residuals
}
