// SPDX-License-Identifier: MIT OR Apache-2.0
//! Steps of explicit schemes.

use super::{TrialStep, is_finite};
use crate::{
    forces::stretch,
    mesh::ShapeGradients,
    newton::SolveOutcome,
    parallel::reductions,
    scene::{RejectionReason, Report, Task},
    simulation::{Simulation, stage_solve::StageEquations, step_control::StepInterval},
    system::{EquationsOfMotion, PrescribedDisplacement},
    time_integration::{ExplicitScheme, KinematicState, Stage},
};
use rayon::prelude::*;

/// Where an explicit scheme that is not stable throws vertices so far that a triangle is stretched to so many times its length,
/// nobody asks what they meet on the way: with cloth all over space everything would be near everything.
const FARTHEST: f64 = 1.0e3;

/// The first vertex that a motion throws away, or leads to what is no number.
fn first_diverged_vertex(dynamics: &EquationsOfMotion, motion: &KinematicState) -> Option<usize> {
    let not_finite = motion.velocities.iter().position(|velocity| !is_finite(velocity));
    let triangles = &dynamics.mesh.topology.triangles;
    let each = triangles.par_iter().zip(dynamics.gradients.as_slice());
    let is_kept = |(corners, gradients): (&[u32; 3], &ShapeGradients)| {
        stretch(corners, gradients, &motion.positions) < FARTHEST
    };
    not_finite.or_else(|| {
        let place = each
            .with_min_len(reductions::MIN_ELEMENTS_PER_TASK)
            .position_first(|one| !is_kept(one));
        place.map(|triangle| triangles[triangle][0] as usize)
    })
}

impl Simulation {
    /// Explicit steps, as many as are stable, to where the forces lead, and then as far as contacts let it.
    #[allow(clippy::cast_sign_loss, reason = "there is at least one step")]
    pub(crate) fn solve_explicit_step(
        &mut self,
        scheme: ExplicitScheme,
        span: StepInterval,
        report: &mut Report,
    ) -> TrialStep {
        let guidance: Vec<PrescribedDisplacement> = self
            .boundary_conditions
            .prescribed_displacements(&self.state.positions, span.end_fraction, span.duration)
            .collect();
        let count = (span.duration / self.stable_step_size - 1.0e-6).ceil().max(1.0);
        let mut motion = self.state.kinematic_state();
        for guide in &guidance {
            let velocity = &mut motion.velocities[guide.vertex];
            *velocity = guide.free_projector * *velocity + guide.displacement / span.duration;
        }
        let before = (count > 1.0).then(|| self.dynamics.internal_variables());
        report.time(Task::Forces, || {
            for index in 0..count as usize {
                let part = index as f64 / count;
                motion = self.explicit_substep(scheme, (&motion, &guidance), (part, count), &span);
                if index as f64 + 1.0 < count {
                    self.dynamics
                        .update_internal_variables(&motion.positions, span.duration / count);
                }
            }
        });
        // What the steps remember counts when they are taken, the last one of them from where contacts let it end.
        let memories = before.map(|before| {
            let memories = self.dynamics.internal_variables();
            self.dynamics.set_internal_variables(&before);
            memories
        });
        if let Some(lost) = first_diverged_vertex(&self.dynamics, &motion) {
            return self.diverged_step(motion, lost);
        }
        let target = motion.positions.clone();
        let stage = Stage::contact_projection(motion, span.duration);
        let mut candidate =
            self.solve_stage_from((stage, StageEquations::ContactProjection), target, span, report);
        candidate.substeps = count as usize;
        candidate.internal_variables = memories;
        candidate
    }

    /// A motion that is not followed, because of a vertex.
    fn diverged_step(&self, motion: KinematicState, lost: usize) -> TrialStep {
        let KinematicState { positions, velocities } = motion;
        TrialStep {
            positions,
            velocities,
            history_resets: Vec::new(),
            contact_history: self.response.contact_history().clone(),
            substeps: 0,
            internal_variables: None,
            outcome: SolveOutcome {
                unmet: Some(RejectionReason::Instability),
                ..SolveOutcome::UNSOLVED
            },
            truncated_vertices: 0,
            frozen_vertices: 0,
            unresolved_contacts: 0,
            invalid_vertex: Some(lost),
        }
    }

    /// One of `count` explicit steps of a span, after a `part` of it.
    fn explicit_substep(
        &mut self,
        scheme: ExplicitScheme,
        (motion, guidance): (&KinematicState, &[PrescribedDisplacement]),
        (part, count): (f64, f64),
        span: &StepInterval,
    ) -> KinematicState {
        let Self { dynamics, boundary_conditions: guides, .. } = self;
        scheme(motion, span.duration / count, &mut |motion, time| {
            let part = part + time / span.duration;
            let place = span.start_fraction + (span.end_fraction - span.start_fraction) * part;
            dynamics.spring_targets = guides.spring_targets(motion.positions.len(), place);
            let mut accelerations = dynamics.forces(motion, time);
            dynamics.add_spring_target_forces(&motion.positions, &mut accelerations);
            for (acceleration, mass) in accelerations.iter_mut().zip(&dynamics.masses) {
                *acceleration /= *mass;
            }
            for guide in guidance {
                let acceleration = &mut accelerations[guide.vertex];
                *acceleration = guide.free_projector * *acceleration;
            }
            accelerations
        })
    }
}
