// SPDX-License-Identifier: MIT OR Apache-2.0
//! Steps of explicit schemes: stable substeps without contacts, then a projection onto the contacts.

use super::{
    stage::StageProblem,
    trial::{TrialStep, is_finite},
};
use crate::{
    forces::stretch,
    mesh::ShapeGradients,
    newton::SolveOutcome,
    parallel::reductions,
    scene::{RejectionReason, Report, Task},
    simulation::{
        Simulation,
        stage_solve::StageEquations,
        step_control::{STEP_COUNT_ROUNDING, StepInterval},
    },
    system::{EquationsOfMotion, ExplicitSteppingParameters, PrescribedDisplacement},
    time_integration::{ExplicitScheme, KinematicState, Stage},
};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// First vertex that is not finite, or belongs to a triangle with a stretch of a diverged step.
fn first_diverged_vertex(dynamics: &EquationsOfMotion, state: &KinematicState) -> Option<usize> {
    let not_finite = state.velocities.iter().position(|velocity| !is_finite(velocity));
    let max_stretch = ExplicitSteppingParameters::DEFAULT.max_stretch;
    let triangles = &dynamics.mesh.topology.triangles;
    let each = triangles.par_iter().zip(dynamics.gradients.as_slice());
    let is_bounded = |(corners, gradients): (&[u32; 3], &ShapeGradients)| {
        stretch(corners, gradients, &state.positions) < max_stretch
    };
    not_finite.or_else(|| {
        let each = each.with_min_len(reductions::MIN_ELEMENTS_PER_TASK);
        let index = each.position_first(|triangle| !is_bounded(triangle));
        index.map(|triangle| triangles[triangle][0] as usize)
    })
}

/// Substep of an explicit scheme.
struct Substep<'a> {
    scheme: ExplicitScheme,
    interval: StepInterval,
    prescribed_displacements: &'a [PrescribedDisplacement],
    /// Number of substeps of the step.
    count: f64,
    /// Start of the substep (fraction of the step).
    start: f64,
}

impl Simulation {
    /// Solves a step of an explicit scheme with as many substeps as stability requires.
    #[allow(clippy::cast_sign_loss, reason = "there is at least one step")]
    pub(crate) fn solve_explicit_step(
        &mut self,
        scheme: ExplicitScheme,
        interval: StepInterval,
        report: &mut Report,
    ) -> TrialStep {
        let duration = interval.duration;
        let conditions = &self.boundary_conditions;
        let starts = &self.state.positions;
        let prescribed: Vec<PrescribedDisplacement> =
            conditions.prescribed_displacements(starts, interval.end_fraction, duration).collect();
        let count = (duration / self.stable_step_size - STEP_COUNT_ROUNDING).ceil().max(1.0);
        let mut state = self.state.kinematic_state();
        for prescribed in &prescribed {
            let velocity = &mut state.velocities[prescribed.vertex];
            *velocity = prescribed.free_projector * *velocity + prescribed.displacement / duration;
        }
        let initial_variables = (count > 1.0).then(|| self.dynamics.internal_variables());
        report.time(Task::Forces, || {
            for index in 0..count as usize {
                let start = index as f64 / count;
                let prescribed_displacements = &prescribed;
                let substep = Substep { scheme, interval, prescribed_displacements, count, start };
                state = self.explicit_substep(&state, &substep);
                if index as f64 + 1.0 < count {
                    self.dynamics.update_internal_variables(&state.positions, duration / count);
                }
            }
        });
        // Internal variables are set when the step is accepted; the last substep ends where contacts let it.
        let internal_variables = initial_variables.map(|initial| {
            let present = self.dynamics.internal_variables();
            self.dynamics.set_internal_variables(&initial);
            present
        });
        if let Some(vertex) = first_diverged_vertex(&self.dynamics, &state) {
            return self.diverged_step(state, vertex);
        }
        let target = state.positions.clone();
        let stage = Stage::contact_projection(state, duration);
        let problem = StageProblem { stage, equations: StageEquations::ContactProjection };
        let mut trial = self.solve_stage_from(target, problem, interval, report);
        trial.substeps = count as usize;
        trial.internal_variables = internal_variables;
        trial
    }

    /// Trial step of a diverged state, with one of its diverged vertices.
    fn diverged_step(&self, state: KinematicState, vertex: usize) -> TrialStep {
        let KinematicState { positions, velocities } = state;
        let unmet = Some(RejectionReason::Instability);
        TrialStep {
            positions,
            velocities,
            alterations: BTreeMap::new(),
            history_resets: Vec::new(),
            contact_history: self.response.contact_history().clone(),
            substeps: 0,
            internal_variables: None,
            outcome: SolveOutcome { unmet, ..SolveOutcome::UNSOLVED },
            truncated_vertices: 0,
            frozen_vertices: 0,
            unresolved_contacts: 0,
            invalid_vertex: Some(vertex),
        }
    }

    /// Advances a kinematic state by a substep.
    fn explicit_substep(
        &mut self,
        state: &KinematicState,
        substep: &Substep<'_>,
    ) -> KinematicState {
        let Self { dynamics, boundary_conditions, .. } = self;
        let Substep { scheme, interval, prescribed_displacements, count, start } = *substep;
        let StepInterval { start_fraction, end_fraction, duration, .. } = interval;
        scheme(state, duration / count, &mut |state, time| {
            let time_fraction = start + time / duration;
            let fraction = start_fraction + (end_fraction - start_fraction) * time_fraction;
            dynamics.spring_targets =
                boundary_conditions.spring_targets(state.positions.len(), fraction);
            let mut accelerations = dynamics.forces(state, time);
            dynamics.add_spring_target_forces(&state.positions, &mut accelerations);
            for (acceleration, mass) in accelerations.iter_mut().zip(&dynamics.masses) {
                *acceleration /= *mass;
            }
            for prescribed in prescribed_displacements {
                let acceleration = &mut accelerations[prescribed.vertex];
                *acceleration = prescribed.free_projector * *acceleration;
            }
            accelerations
        })
    }
}
