// SPDX-License-Identifier: MIT OR Apache-2.0
//! Velocity jumps at the end of a stage: impact impulses, truncated displacements and Dirichlet conditions. The history
//! of such vertices is reset, for multistep schemes.

use crate::{
    collision::Trajectories,
    geometry::OrthonormalBasis,
    island::constrained_system::ConstrainedSystem,
    response::{MotionDeviation, VelocityJump},
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
        let contact_velocities = system.contact_velocities();
        if stage.extrapolation_factor > 1.0 {
            let starts = self.start.positions.iter().enumerate();
            let starts: Vec<Vec3> =
                starts.map(|(vertex, start)| start + stage.alteration(vertex)).collect();
            let trajectories = Trajectories { starts: &starts, ends: positions };
            contact_velocities.apply_midpoint_rule(trajectories, stage.duration, velocities);
        }
        let jumps = contact_velocities.apply_impacts(positions, velocities);
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
        let contact_velocities = system.contact_velocities();
        let vertices = contact_velocities.vertices_of_jumps(&jumps);
        let vertices = vertices.chain(free_projectors.keys().copied());
        let vertices = vertices.chain(stage.alterations.keys().copied());
        let mut deviations: BTreeMap<usize, MotionDeviation> =
            vertices.map(|vertex| (vertex, deviation(vertex))).collect();
        contact_velocities.make_past_uniform(&mut jumps, &mut deviations);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        island::{
            Island,
            tests::{flat, three_triangles},
        },
        scene::Settings,
    };

    const DURATION: f64 = 0.5;

    /// A cloth that has moved along x; vertex 3 is truncated halfway, vertex 1 is pinned, vertex 4 moves along z.
    fn jumped() -> (Vec<Vec3>, Vec<HistoryReset>) {
        let Island { system, mut state, .. } = three_triangles(Settings::default());
        state.velocities.fill(Vec3::x() * 2.0);
        let mut positions: Vec<Vec3> = flat().iter().map(|x| x + Vec3::x()).collect();
        positions[3].x -= 0.5;
        positions[1] = flat()[1] + Vec3::y();
        positions[4].z = 2.0;
        let along_z = Matrix3::from_diagonal(&Vec3::new(1.0, 1.0, 0.0));
        let condition = |vertex, free_projector, displacement| PrescribedDisplacement {
            vertex,
            free_projector,
            displacement,
        };
        let prescribed_displacements =
            &[condition(1, Matrix3::zeros(), Vec3::y()), condition(4, along_z, Vec3::z() * 2.0)];
        let stage = Stage { duration: DURATION, ..Stage::STATIC };
        let solved = SolvedStage {
            system: &system,
            start: &state,
            stage: &stage,
            positions: &positions,
            truncated_vertices: &[3],
            prescribed_displacements,
        };
        let mut velocities = vec![Vec3::x() * 2.0; 5];
        let resets = solved.apply_velocity_jumps(&mut velocities);
        (velocities, resets)
    }

    #[test]
    fn truncated_and_prescribed_displacements_determine_velocities() {
        let (velocities, _) = jumped();
        // Vertex 4 is free along x, as the scheme has it.
        let pairs = [
            (0, [2.0, 0.0, 0.0]),
            (1, [0.0, 2.0, 0.0]),
            (3, [1.0, 0.0, 0.0]),
            (4, [2.0, 0.0, 4.0]),
        ];
        for (vertex, wanted) in pairs {
            assert!((velocities[vertex] - Vec3::from(wanted)).norm() < 1e-12, "{velocities:?}");
        }
    }

    #[test]
    fn the_past_of_vertices_that_jumped_is_uniform_where_they_are_not_free() {
        let (velocities, resets) = jumped();
        assert_eq!(resets.iter().map(|reset| reset.vertex).collect::<Vec<_>>(), [1, 3, 4]);
        for reset in resets {
            let vertex = reset.vertex as usize;
            // Each began where its uniform motion did.
            assert!((reset.position - flat()[vertex]).norm() < 1e-15);
            assert_eq!(reset.velocity, velocities[vertex]);
        }
    }

    #[test]
    fn directions_are_free_only_if_both_projectors_leave_them() {
        let without = |normal: Vec3| Matrix3::identity() - normal * normal.transpose();
        let oblique = Vec3::new(0.0, 0.6, 0.8);
        let both = common_free_projector([without(Vec3::z()), without(oblique)]);
        assert!((both - Vec3::x() * Vec3::x().transpose()).norm() < 1e-12);
        let one = common_free_projector([Matrix3::identity(), without(oblique)]);
        assert!((one - without(oblique)).norm() < 1e-12);
        assert!(common_free_projector([Matrix3::zeros(), without(oblique)]).norm() < 1e-12);
    }
}
