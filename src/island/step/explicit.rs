// SPDX-License-Identifier: MIT OR Apache-2.0
//! Steps of explicit schemes: stable substeps with the reactions of the contacts, then a projection onto the contacts if
//! continuous collision detection finds that these were not enough.

use super::{
    Step,
    stage::StageProblem,
    trial::{TrialStep, is_finite},
};
use crate::{
    forces::stretch,
    island::{
        constrained_system::ConstrainedSystem, stage_solve::StageEquations,
        step_control::StepInterval,
    },
    mesh::ShapeGradients,
    newton::SolveOutcome,
    parallel::reductions,
    response::{CollisionResponse, ReactionConstraints},
    scene::{RejectionReason, Report, Task},
    system::{EquationsOfMotion, ExplicitSteppingParameters, PrescribedDisplacement},
    time_integration::{ExplicitScheme, KinematicState, Stage, State},
    vec3::Vec3,
};
use nalgebra::Matrix3;
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

/// Start of a step of an explicit scheme, with its boundary conditions and contacts.
struct ExplicitStart {
    /// With altered positions and prescribed velocities.
    state: KinematicState,
    prescribed_displacements: Vec<PrescribedDisplacement>,
    /// In m.
    alterations: BTreeMap<usize, Vec3>,
    reactions: ReactionConstraints,
}

/// Substep of an explicit scheme.
struct Substep<'a> {
    scheme: ExplicitScheme,
    interval: StepInterval,
    prescribed_displacements: &'a [PrescribedDisplacement],
    /// Start of the substep (fraction of the step).
    start: f64,
}

impl Step<'_> {
    /// Solves a step of an explicit scheme with as many substeps as stability requires.
    pub(super) fn solve_explicit_step(&mut self, scheme: ExplicitScheme) -> TrialStep {
        let interval = self.interval;
        let count = interval.substep_count as f64;
        let substep_duration = interval.duration / count;
        let start = ExplicitStart::new(self.system, self.start, interval, self.report);
        let ExplicitStart { mut state, prescribed_displacements, alterations, mut reactions } =
            start;
        let Self { system, report, .. } = self;
        let dynamics = &system.dynamics;
        let initial_variables =
            (count > 1.0).then(|| dynamics.elements.internal_variables(&dynamics.mesh));
        report.time(Task::Forces, || {
            for index in 0..interval.substep_count {
                let start = index as f64 / count;
                let prescribed_displacements = &prescribed_displacements;
                let substep = Substep { scheme, interval, prescribed_displacements, start };
                reactions.apply_impacts(&mut state, start * interval.duration);
                state = substep.end(system, &state, &mut reactions);
                if index + 1 < interval.substep_count {
                    let dynamics = &mut system.dynamics;
                    dynamics.elements.update_internal_variables(&state.positions, substep_duration);
                }
            }
        });
        // Internal variables are set when the step is accepted; the last substep ends where contacts let it.
        let internal_variables = initial_variables.map(|initial| {
            let dynamics = &mut system.dynamics;
            let present = dynamics.elements.internal_variables(&dynamics.mesh);
            dynamics.elements.set_internal_variables(&dynamics.mesh, &initial);
            present
        });
        let response = &mut system.response;
        if let Some(vertex) = first_diverged_vertex(&system.dynamics, &state) {
            return diverged_step(response, state, vertex);
        }
        let is_invalid = report.time(Task::Contact, || {
            reactions.set_contact_forces(&mut response.contact_set);
            response.is_step_invalid(&state.positions)
        });
        let trial = if is_invalid {
            self.project_explicit_step(state)
        } else {
            let (history, count) =
                (response.new_contact_history(0), response.recovery.intersection_count());
            TrialStep::at(state, SolveOutcome::EXACT, history, count)
        };
        TrialStep { alterations, substeps: interval.substep_count, internal_variables, ..trial }
    }

    /// Trial step that ends in a state which its reactions keep off all others, or projected onto the contacts.
    fn project_explicit_step(&mut self, state: KinematicState) -> TrialStep {
        // Contacts with a reaction are no new ones for the projection.
        let history = self.system.response.contact_history.clone();
        let mut reached = self.system.response.new_contact_history(0);
        reached.intersection_time = history.intersection_time;
        reached.had_kinematic_intersection = history.had_kinematic_intersection;
        self.system.response.contact_history = reached;
        let target = state.positions.clone();
        let stage = Stage::contact_projection(state, self.interval.duration);
        let problem = StageProblem { stage, equations: StageEquations::ContactProjection };
        let trial = self.solve_stage_from(target, problem, self.interval);
        self.system.response.contact_history = history;
        trial
    }
}

impl ExplicitStart {
    /// Begins a step of an explicit scheme from a state: its boundary conditions, position alterations and the reaction
    /// constraints of its contacts.
    fn new(
        system: &mut ConstrainedSystem,
        start: &State,
        interval: StepInterval,
        report: &mut Report,
    ) -> Self {
        let duration = interval.duration;
        let mut predicted = start.kinematic_state();
        let fall = system.dynamics.external_forces.gravity * duration;
        for (position, velocity) in predicted.positions.iter_mut().zip(&mut predicted.velocities) {
            *velocity += fall;
            *position += *velocity * duration;
        }
        let mut positions = predicted.positions.clone();
        let mut stage = Stage::contact_projection(predicted, duration);
        let prescribed_displacements =
            system.begin_stage(&stage, start, &mut positions, interval, false, report);
        report.time(Task::Contact, || {
            system.alter_positions(&mut stage, &mut positions, &prescribed_displacements, true);
        });
        let mut state = start.kinematic_state();
        for (vertex, alteration) in &stage.alterations {
            state.positions[*vertex] += alteration;
        }
        let projectors: BTreeMap<usize, Matrix3<f64>> =
            prescribed_displacements.iter().map(|one| (one.vertex, one.free_projector)).collect();
        for prescribed in &prescribed_displacements {
            let velocity = &mut state.velocities[prescribed.vertex];
            *velocity = prescribed.free_projector * *velocity + prescribed.displacement / duration;
        }
        let ConstrainedSystem { response, dynamics, .. } = system;
        let mobility = |vertex: usize| {
            let free = projectors.get(&vertex).copied().unwrap_or_else(Matrix3::identity);
            free / dynamics.masses.vertices[vertex]
        };
        let reactions = report.time(Task::Contact, || {
            response.detect_initial_contacts(&positions);
            let substep = duration / interval.substep_count as f64;
            ReactionConstraints::new(&response.contact_set, &response.step, substep, mobility)
        });
        Self { state, prescribed_displacements, alterations: stage.alterations, reactions }
    }
}

impl Substep<'_> {
    /// State at the end of the substep.
    fn end(
        &self,
        system: &mut ConstrainedSystem,
        state: &KinematicState,
        reactions: &mut ReactionConstraints,
    ) -> KinematicState {
        let ConstrainedSystem { dynamics, boundary_conditions, .. } = system;
        let Self { scheme, interval, prescribed_displacements, start } = *self;
        let StepInterval { start_fraction, end_fraction, duration, .. } = interval;
        scheme(state, duration / interval.substep_count as f64, &mut |state, time| {
            let time_fraction = start + time / duration;
            let fraction = start_fraction + (end_fraction - start_fraction) * time_fraction;
            dynamics.spring_targets =
                boundary_conditions.spring_targets(state.positions.len(), fraction);
            let mut accelerations = dynamics.forces(state, time);
            dynamics.add_spring_target_forces(&state.positions, &mut accelerations);
            for (acceleration, mass) in accelerations.iter_mut().zip(&dynamics.masses.vertices) {
                *acceleration /= *mass;
            }
            for prescribed in prescribed_displacements {
                let acceleration = &mut accelerations[prescribed.vertex];
                *acceleration = prescribed.free_projector * *acceleration;
            }
            reactions.add_accelerations(state, time_fraction * duration, &mut accelerations);
            accelerations
        })
    }
}

/// Trial step of a diverged state, with one of its diverged vertices.
fn diverged_step(response: &CollisionResponse, state: KinematicState, vertex: usize) -> TrialStep {
    let unmet = Some(RejectionReason::Instability);
    let outcome = SolveOutcome { unmet, ..SolveOutcome::UNSOLVED };
    TrialStep {
        substeps: 0,
        invalid_vertex: Some(vertex),
        ..TrialStep::at(state, outcome, response.contact_history.clone(), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        island::{Island, tests::square},
        material::Material,
        mesh::Polygons,
        scene::{Cloth, Collider, Integrator, Settings},
    };

    const SUBSTEP: f64 = 1.0e-4;
    const GRAVITY: f64 = 9.81;
    /// Time constant of the stabilisation, in s.
    const TAU: f64 = 0.02;

    /// A square of cloth that lies on a floor at its distance.
    fn resting() -> Island {
        let polygons = Polygons::new(&[4], &[0, 1, 2, 3], 4).unwrap();
        let material = Material { stretch_warp: 40.0, stretch_weft: 40.0, ..Material::default() };
        let cloth = Cloth::new(square(0.2, 0.002), &polygons, material, None, None).unwrap();
        let floor = Collider::new(square(1.0, 0.0), &[[0, 1, 2], [0, 2, 3]], 0.0, 0.001).unwrap();
        let integrator = Integrator::SymplecticEuler;
        let settings = Settings { integrator, air_density: 0.0, threads: 1, ..Settings::default() };
        let mut island = Island::new(&[cloth], &[floor], settings);
        island.run_frame(0.2, false).unwrap();
        island.end_frame();
        island
    }

    /// Accelerations along the normal before and after the response, in m/s², of the resting cloth with another gravity,
    /// velocity and displacement along the normal.
    fn response(force: f64, velocity: f64, displacement: f64) -> [f64; 2] {
        let mut island = resting();
        island.state.bring_to_rest();
        for vertex in 0..4 {
            island.state.positions[vertex].z += displacement;
            island.state.velocities[vertex].z = velocity;
        }
        let Island { system, state, .. } = &mut island;
        let interval = StepInterval::whole_frame(SUBSTEP, 1);
        let mut start = ExplicitStart::new(system, state, interval, &mut Report::default());
        system.dynamics.external_forces.gravity = Vec3::z() * force;
        let forces = system.dynamics.forces(&start.state, 0.0);
        let masses = &system.dynamics.masses.vertices;
        // As a whole: forces within the cloth cancel.
        let before = forces.iter().map(|force| force.z).sum::<f64>() / masses.iter().sum::<f64>();
        let mean = |field: &[Vec3]| field.iter().map(|one| one.z).sum::<f64>() / 4.0;
        let mut accelerations = vec![Vec3::zeros(); 4];
        for _ in 0..10 {
            accelerations.fill(Vec3::z() * before);
            start.reactions.add_accelerations(&start.state, 0.0, &mut accelerations);
        }
        [before, mean(&accelerations)]
    }

    #[test]
    fn the_reaction_of_what_rests_is_its_weight() {
        let [before, after] = response(-GRAVITY, 0.0, 0.0);
        assert!((before + GRAVITY).abs() < 1.0e-9);
        assert!(after.abs() < 1.0e-3 * GRAVITY, "{after} m/s²");
    }

    /// Eq. 4.1: the force along the normal is replaced by k(x̄ − x) + d(v̄ − v).
    #[test]
    fn a_force_along_the_normal_is_replaced_by_that_of_the_stabilisation() {
        for force in [-GRAVITY, -3.0 * GRAVITY] {
            let [_, at_rest] = response(force, 0.0, 0.0);
            let [_, lifted] = response(force, 0.0, -1.0e-4);
            assert!(((lifted - at_rest) * TAU * TAU / 1.0e-4 - 1.0).abs() < 0.02, "{lifted} m/s²");
            let [_, braked] = response(force, -0.01, -1.0e-4);
            assert!(((braked - lifted) * TAU / 0.02 - 1.0).abs() < 0.02, "{braked} m/s²");
        }
    }

    #[test]
    fn a_reaction_is_off_where_the_force_drags_away_and_where_the_sides_separate() {
        let [before, after] = response(0.5 * GRAVITY, 0.0, 0.0);
        assert!(before > 0.0 && (after - before).abs() < 1.0e-12, "{after}, not {before} m/s²");
        let [before, after] = response(-GRAVITY, 1.0, 0.0);
        assert!((after - before).abs() < 1.0e-12, "{after}, not {before} m/s²");
        // What approaches is stopped, whatever the force.
        let [before, after] = response(0.5 * GRAVITY, -0.1, -1.0e-5);
        assert!(after > before + 5.0, "{after} m/s² of {before}");
    }
}
