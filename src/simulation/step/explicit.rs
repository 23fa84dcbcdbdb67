// SPDX-License-Identifier: MIT OR Apache-2.0
//! Steps of explicit schemes: stable substeps with the reactions of the contacts, then a projection onto the contacts if
//! continuous collision detection finds that these were not enough.

use super::{
    stage::StageProblem,
    trial::{TrialStep, is_finite},
};
use crate::{
    forces::stretch,
    mesh::ShapeGradients,
    newton::SolveOutcome,
    parallel::reductions,
    response::ReactionConstraints,
    scene::{RejectionReason, Report, Task},
    simulation::{
        Simulation,
        stage_solve::StageEquations,
        step_control::{STEP_COUNT_ROUNDING, StepInterval},
    },
    system::{EquationsOfMotion, ExplicitSteppingParameters, PrescribedDisplacement},
    time_integration::{ExplicitScheme, KinematicState, Stage},
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
        let count = (duration / self.stable_step_size - STEP_COUNT_ROUNDING).ceil().max(1.0);
        let start = self.begin_explicit_step(interval, duration / count, report);
        let ExplicitStart { mut state, prescribed_displacements, alterations, mut reactions } =
            start;
        let initial_variables = (count > 1.0).then(|| self.dynamics.internal_variables());
        report.time(Task::Forces, || {
            for index in 0..count as usize {
                let start = index as f64 / count;
                let prescribed_displacements = &prescribed_displacements;
                let substep = Substep { scheme, interval, prescribed_displacements, count, start };
                reactions.apply_impacts(&mut state, start * duration);
                state = self.explicit_substep(&state, &substep, &mut reactions);
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
        let is_invalid = report.time(Task::Contact, || {
            reactions.set_contact_forces(&mut self.response.contact_set);
            self.response.is_step_invalid(&state.positions)
        });
        let mut trial = if is_invalid {
            self.project_explicit_step(state, interval, report)
        } else {
            self.explicit_trial_step(state, SolveOutcome::EXACT)
        };
        trial.alterations = alterations;
        trial.substeps = count as usize;
        trial.internal_variables = internal_variables;
        trial
    }

    /// Begins a step of an explicit scheme with substeps of a length in s: its boundary conditions, position
    /// alterations and the reaction constraints of its contacts.
    fn begin_explicit_step(
        &mut self,
        interval: StepInterval,
        substep: f64,
        report: &mut Report,
    ) -> ExplicitStart {
        let duration = interval.duration;
        let mut predicted = self.state.kinematic_state();
        let fall = self.dynamics.gravity * duration;
        for (position, velocity) in predicted.positions.iter_mut().zip(&mut predicted.velocities) {
            *velocity += fall;
            *position += *velocity * duration;
        }
        let mut positions = predicted.positions.clone();
        let mut stage = Stage::contact_projection(predicted, duration);
        let prescribed_displacements = self.begin_stage(&stage, &mut positions, interval, report);
        self.alter_positions(&mut stage, &mut positions, &prescribed_displacements, report);
        let mut state = self.state.kinematic_state();
        for (vertex, alteration) in &stage.alterations {
            state.positions[*vertex] += alteration;
        }
        let projectors: BTreeMap<usize, Matrix3<f64>> =
            prescribed_displacements.iter().map(|one| (one.vertex, one.free_projector)).collect();
        for prescribed in &prescribed_displacements {
            let velocity = &mut state.velocities[prescribed.vertex];
            *velocity = prescribed.free_projector * *velocity + prescribed.displacement / duration;
        }
        let Self { response, dynamics, .. } = self;
        let mobility = |vertex: usize| {
            let free = projectors.get(&vertex).copied().unwrap_or_else(Matrix3::identity);
            free / dynamics.masses[vertex]
        };
        let reactions = report.time(Task::Contact, || {
            response.detect_initial_contacts(&positions);
            ReactionConstraints::new(&response.contact_set, &response.step, substep, mobility)
        });
        let alterations = std::mem::take(&mut stage.alterations);
        ExplicitStart { state, prescribed_displacements, alterations, reactions }
    }

    /// Trial step that ends in a state which its reactions keep off all others, or projected onto the contacts.
    fn project_explicit_step(
        &mut self,
        state: KinematicState,
        interval: StepInterval,
        report: &mut Report,
    ) -> TrialStep {
        // Contacts with a reaction are no new ones for the projection.
        let history = self.response.contact_history.clone();
        let mut reached = self.response.new_contact_history(0);
        reached.intersection_time = history.intersection_time;
        reached.had_kinematic_intersection = history.had_kinematic_intersection;
        self.response.contact_history = reached;
        let target = state.positions.clone();
        let stage = Stage::contact_projection(state, interval.duration);
        let problem = StageProblem { stage, equations: StageEquations::ContactProjection };
        let trial = self.solve_stage_from(target, problem, interval, report);
        self.response.contact_history = history;
        trial
    }

    /// Trial step of a diverged state, with one of its diverged vertices.
    fn diverged_step(&self, state: KinematicState, vertex: usize) -> TrialStep {
        let unmet = Some(RejectionReason::Instability);
        let outcome = SolveOutcome { unmet, ..SolveOutcome::UNSOLVED };
        TrialStep {
            contact_history: self.response.contact_history.clone(),
            substeps: 0,
            unresolved_contacts: 0,
            invalid_vertex: Some(vertex),
            ..self.explicit_trial_step(state, outcome)
        }
    }

    /// Trial step that ends in a state as it is.
    fn explicit_trial_step(&self, state: KinematicState, outcome: SolveOutcome) -> TrialStep {
        let KinematicState { positions, velocities } = state;
        TrialStep {
            positions,
            velocities,
            alterations: BTreeMap::new(),
            history_resets: Vec::new(),
            contact_history: self.response.new_contact_history(0),
            substeps: 1,
            internal_variables: None,
            outcome,
            truncated_vertices: 0,
            frozen_vertices: 0,
            unresolved_contacts: self.response.recovery.intersection_count(),
            invalid_vertex: None,
        }
    }

    /// Advances a kinematic state by a substep.
    fn explicit_substep(
        &mut self,
        state: &KinematicState,
        substep: &Substep<'_>,
        reactions: &mut ReactionConstraints,
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
            reactions.add_accelerations(state, time_fraction * duration, &mut accelerations);
            accelerations
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        material::Material,
        mesh::Polygons,
        scene::{Cloth, Collider, Integrator, Settings},
    };

    const SUBSTEP: f64 = 1.0e-4;
    const GRAVITY: f64 = 9.81;
    /// Time constant of the stabilisation, in s.
    const TAU: f64 = 0.02;

    fn square(size: f64, height: f64) -> Vec<Vec3> {
        let corner = |x: f64, y: f64| Vec3::new(size * x, size * y, height);
        vec![corner(-0.5, -0.5), corner(0.5, -0.5), corner(0.5, 0.5), corner(-0.5, 0.5)]
    }

    /// A square of cloth that lies on a floor at its distance.
    fn resting() -> Simulation {
        let polygons = Polygons::new(&[4], &[0, 1, 2, 3], 4).unwrap();
        let material = Material { stretch_warp: 40.0, stretch_weft: 40.0, ..Material::default() };
        let cloth = Cloth::new(square(0.2, 0.002), &polygons, material, None, None).unwrap();
        let floor = Collider::new(square(1.0, 0.0), &[[0, 1, 2], [0, 2, 3]], 0.0, 0.001).unwrap();
        let integrator = Integrator::SymplecticEuler;
        let settings = Settings { integrator, air_density: 0.0, threads: 1, ..Settings::default() };
        let mut simulation = Simulation::new(&[cloth], &[floor], settings).unwrap();
        simulation.advance(0.2).unwrap();
        simulation
    }

    /// Accelerations along the normal before and after the response, in m/s², of the resting cloth with another gravity,
    /// velocity and displacement along the normal.
    fn response(force: f64, velocity: f64, displacement: f64) -> [f64; 2] {
        let mut simulation = resting();
        simulation.state.bring_to_rest();
        for vertex in 0..4 {
            simulation.state.positions[vertex].z += displacement;
            simulation.state.velocities[vertex].z = velocity;
        }
        let interval = StepInterval {
            start_fraction: 0.0,
            end_fraction: 1.0,
            duration: SUBSTEP,
            fraction_of_max_step: 1.0,
            max_iterations: 1,
            can_retry_shorter: false,
        };
        let mut start = simulation.begin_explicit_step(interval, SUBSTEP, &mut Report::default());
        simulation.dynamics.gravity = Vec3::z() * force;
        let forces = simulation.dynamics.forces(&start.state, 0.0);
        let masses = &simulation.dynamics.masses;
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
