// SPDX-License-Identifier: MIT OR Apache-2.0
//! Velocity jumps at the end of a stage: impact impulses, truncated displacements and Dirichlet conditions. The history
//! of such vertices is reset, for multistep schemes.

use crate::{
    collision::Trajectories,
    geometry::OrthonormalBasis,
    response::{MotionDeviation, VelocityJump},
    simulation::constrained_system::ConstrainedSystem,
    system::PrescribedDisplacement,
    time_integration::{HistoryReset, Stage, State},
    vec3::Vec3,
};
use nalgebra::Matrix3;
use std::collections::BTreeMap;

/// Length of the column of a projector below which it adds no direction to those of the other columns.
const MIN_COLUMN_LENGTH: f64 = 0.1;

/// Stage whose equations are solved.
pub(super) struct SolvedStage<'a> {
    pub(super) system: &'a ConstrainedSystem,
    /// State at the start of the step.
    pub(super) start: &'a State,
    pub(super) stage: &'a Stage,
    /// Positions of all vertices at the end, in m.
    pub(super) positions: &'a [Vec3],
    pub(super) truncated_vertices: &'a [u32],
    pub(super) prescribed_displacements: &'a [PrescribedDisplacement],
}

impl SolvedStage<'_> {
    /// Applies impact impulses, truncated displacements and Dirichlet conditions to the velocities at the end of a
    /// stage, in m/s. Returns the resets of the vertices whose velocities have jumped.
    pub(super) fn apply_velocity_jumps(&self, velocities: &mut [Vec3]) -> Vec<HistoryReset> {
        let Self { system, stage, positions, .. } = *self;
        let (response, inverse_mass) = (&system.response, |vertex| system.inverse_mass(vertex));
        if stage.extrapolation_factor > 1.0 {
            let starts = self.start.positions.iter().enumerate();
            let starts: Vec<Vec3> =
                starts.map(|(vertex, start)| start + stage.alteration(vertex)).collect();
            let trajectories = Trajectories { starts: &starts, ends: positions };
            response.apply_midpoint_velocities(
                trajectories,
                stage.duration,
                velocities,
                inverse_mass,
            );
        }
        let jumps = response.apply_impact_impulses(positions, velocities, inverse_mass);
        let projectors = self.apply_prescribed_velocities(velocities);
        self.history_resets(velocities, jumps, &projectors)
    }

    /// Sets the velocities in m/s of truncated and prescribed displacements. Returns for each such vertex the projector
    /// onto the directions in which its velocity is free.
    fn apply_prescribed_velocities(
        &self,
        velocities: &mut [Vec3],
    ) -> BTreeMap<usize, Matrix3<f64>> {
        let (starts, duration) = (&self.start.positions, self.stage.duration);
        let mut projectors = BTreeMap::new();
        for vertex in self.truncated_vertices {
            let vertex = *vertex as usize;
            velocities[vertex] = (self.positions[vertex] - starts[vertex]) / duration;
            projectors.insert(vertex, Matrix3::zeros());
        }
        for prescribed in self.prescribed_displacements {
            let free = prescribed.free_projector;
            let velocity = &mut velocities[prescribed.vertex];
            *velocity = free * *velocity + prescribed.displacement / duration;
            projectors
                .entry(prescribed.vertex)
                .and_modify(|projector| *projector = common_free_projector([*projector, free]))
                .or_insert(free);
        }
        projectors
    }

    /// History of the vertices whose velocities have jumped to `velocities` in m/s: by `jumps` of contacts, or by
    /// displacements that are free only as the projectors tell. That of vertices with altered positions is displaced
    /// with them.
    fn history_resets(
        &self,
        velocities: &[Vec3],
        mut jumps: Vec<VelocityJump<'_>>,
        free_projectors: &BTreeMap<usize, Matrix3<f64>>,
    ) -> Vec<HistoryReset> {
        let Self { system, start, stage, positions, .. } = *self;
        let uniform = |vertex: usize| positions[vertex] - velocities[vertex] * stage.duration;
        let deviation = |vertex: usize| MotionDeviation {
            position: start.positions[vertex] + stage.alteration(vertex) - uniform(vertex),
            velocity: start.velocities[vertex] - velocities[vertex],
        };
        let vertices = system.response.vertices_of_jumps(&jumps);
        let vertices = vertices.chain(free_projectors.keys().copied());
        let vertices = vertices.chain(stage.alterations.keys().copied());
        let mut deviations: BTreeMap<usize, MotionDeviation> =
            vertices.map(|vertex| (vertex, deviation(vertex))).collect();
        let inverse_mass = |vertex| system.inverse_mass(vertex);
        system.response.make_past_uniform(&mut jumps, &mut deviations, inverse_mass);
        let reset = |(vertex, deviation): (usize, MotionDeviation)| {
            let free = free_projectors.get(&vertex);
            let deviation = free.map_or(deviation, |free| deviation.projected(free));
            HistoryReset {
                vertex: vertex as u32,
                position: uniform(vertex) + deviation.position,
                velocity: velocities[vertex] + deviation.velocity,
            }
        };
        deviations.into_iter().map(reset).collect()
    }
}

/// Projector onto the directions that are free for both projectors.
fn common_free_projector(projectors: [Matrix3<f64>; 2]) -> Matrix3<f64> {
    let complements = projectors.map(|free| Matrix3::identity() - free);
    let columns = complements.iter().flat_map(|complement| complement.column_iter());
    let directions =
        columns.filter_map(|column| column.clone_owned().try_normalize(MIN_COLUMN_LENGTH));
    OrthonormalBasis::from_spanning_set(directions).complement_projector()
}
