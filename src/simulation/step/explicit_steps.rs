// SPDX-License-Identifier: MIT OR Apache-2.0
//! Steps of explicit schemes.

use super::{Candidate, is_finite};
use crate::{
    forces::stretch,
    mesh::ShapeGradients,
    newton::Solved,
    parallel::reductions,
    scene::{RejectionReason, Report, Task},
    simulation::{Simulation, stage_solve::Work, step_control::Span},
    system::{Dynamics, Guidance},
    time_integration::{Motion, Scheme, Stage},
};
use rayon::prelude::*;

/// Where an explicit scheme that is not stable throws vertices so far that a triangle is stretched to so many times its length,
/// nobody asks what they meet on the way: with cloth all over space everything would be near everything.
const FARTHEST: f64 = 1.0e3;

/// The first vertex that a motion throws away, or leads to what is no number.
fn thrown(dynamics: &Dynamics, motion: &Motion) -> Option<usize> {
    let not_finite = motion.velocities.iter().position(|velocity| !is_finite(velocity));
    let triangles = &dynamics.mesh.topology.triangles;
    let each = triangles.par_iter().zip(dynamics.gradients.as_slice());
    let is_kept = |(corners, gradients): (&[u32; 3], &ShapeGradients)| {
        stretch(corners, gradients, &motion.positions) < FARTHEST
    };
    not_finite.or_else(|| {
        let place = each.with_min_len(reductions::ELEMENTS).position_first(|one| !is_kept(one));
        place.map(|triangle| triangles[triangle][0] as usize)
    })
}

impl Simulation {
    /// Explicit steps, as many as are stable, to where the forces lead, and then as far as contacts let it.
    #[allow(clippy::cast_sign_loss, reason = "there is at least one step")]
    pub(crate) fn solve_explicit(
        &mut self,
        scheme: Scheme,
        span: Span,
        report: &mut Report,
    ) -> Candidate {
        let guidance: Vec<Guidance> =
            self.guides.guidance(&self.state.positions, span.end, span.duration).collect();
        let count = (span.duration / self.stable_step - 1.0e-6).ceil().max(1.0);
        let mut motion = self.state.motion();
        for guide in &guidance {
            let velocity = &mut motion.velocities[guide.vertex];
            *velocity = guide.projector * *velocity + guide.displacement / span.duration;
        }
        let before = (count > 1.0).then(|| self.dynamics.memories());
        report.time(Task::Forces, || {
            for index in 0..count as usize {
                let part = index as f64 / count;
                motion = self.explicit_step(scheme, (&motion, &guidance), (part, count), &span);
                if index as f64 + 1.0 < count {
                    self.dynamics.end_step(&motion.positions, span.duration / count);
                }
            }
        });
        // What the steps remember counts when they are taken, the last one of them from where contacts let it end.
        let memories = before.map(|before| {
            let memories = self.dynamics.memories();
            self.dynamics.set_memories(&before);
            memories
        });
        if let Some(lost) = thrown(&self.dynamics, &motion) {
            return self.give_up(motion, lost);
        }
        let target = motion.positions.clone();
        let stage = Stage::ballistic(motion, span.duration);
        let mut candidate = self.finish_stage((stage, Work::Ballistic), target, span, report);
        candidate.steps = count as usize;
        candidate.memories = memories;
        candidate
    }

    /// A motion that is not followed, because of a vertex.
    fn give_up(&self, motion: Motion, lost: usize) -> Candidate {
        let Motion { positions, velocities } = motion;
        Candidate {
            positions,
            velocities,
            restarts: Vec::new(),
            memory: self.response.memory().clone(),
            steps: 0,
            memories: None,
            solved: Solved { unmet: Some(RejectionReason::Instability), ..Solved::UNSOLVED },
            shortened: 0,
            stopped: 0,
            unresolved: 0,
            lost: Some(lost),
        }
    }

    /// One of `count` explicit steps of a span, after a `part` of it.
    fn explicit_step(
        &mut self,
        scheme: Scheme,
        (motion, guidance): (&Motion, &[Guidance]),
        (part, count): (f64, f64),
        span: &Span,
    ) -> Motion {
        let Self { dynamics, guides, .. } = self;
        scheme(motion, span.duration / count, &mut |motion, time| {
            let part = part + time / span.duration;
            let place = span.start + (span.end - span.start) * part;
            dynamics.goals = guides.goals(motion.positions.len(), place);
            let mut accelerations = dynamics.forces(motion, time);
            dynamics.add_goal_forces(&motion.positions, &mut accelerations);
            for (acceleration, mass) in accelerations.iter_mut().zip(&dynamics.masses) {
                *acceleration /= *mass;
            }
            for guide in guidance {
                let acceleration = &mut accelerations[guide.vertex];
                *acceleration = guide.projector * *acceleration;
            }
            accelerations
        })
    }
}
