// SPDX-License-Identifier: MIT OR Apache-2.0
//! Boundary conditions: kinematic (pinned) vertices, spring targets, and prescribed velocities along some directions.
//!
//! Kinematic vertices and prescribed velocities are Dirichlet conditions, eliminated inside the solver (Baraff and
//! Witkin 1998, section 5.1; Etzmuss 2002, section 6.2.2, `fixParticle`), so they are satisfied exactly. Spring targets
//! are penalties with the stiffness that the caller gives.

use crate::{geometry::OrthonormalBasis, vec3::Vec3};
use nalgebra::Matrix3;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Boundary condition of a vertex.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum BoundaryCondition {
    /// Pinned: the vertex moves from `start` to `end`, in m, linearly through the frame.
    Kinematic { start: Vec3, end: Vec3 },
    /// A spring of `stiffness` in N/m pulls the vertex to a point that moves from `start` to `end`, in m, linearly
    /// through the frame.
    SpringTarget { start: Vec3, end: Vec3, stiffness: f64 },
    /// Along these unit directions the vertex has the components of `velocity`, in m/s; along others it is free.
    PrescribedVelocity { directions: Vec<Vec3>, velocity: Vec3 },
}

/// Dirichlet condition of a vertex in a step.
pub(crate) struct PrescribedDisplacement {
    pub(crate) vertex: usize,
    /// Projector onto the free directions of the vertex.
    pub(crate) free_projector: Matrix3<f64>,
    /// Prescribed component of the displacement over the step, in m.
    pub(crate) displacement: Vec3,
}

impl PrescribedDisplacement {
    /// End position of a vertex that starts at `start`, in m, with the components of `end` along its free directions.
    pub(crate) fn constrained_end(&self, start: &Vec3, end: &Vec3) -> Vec3 {
        start + self.displacement + self.free_projector * (end - start)
    }
}

/// Spring target of a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SpringTarget {
    /// Position of the target, in m.
    pub(crate) position: Vec3,
    /// Stiffness of the spring, in N/m.
    pub(crate) stiffness: f64,
}

impl SpringTarget {
    /// Energy of the spring in J with its vertex at `position` in m.
    pub(crate) fn energy(&self, position: &Vec3) -> f64 {
        0.5 * self.stiffness * (position - self.position).norm_squared()
    }

    /// Force on the vertex in N at `position` in m.
    pub(crate) fn force(&self, position: &Vec3) -> Vec3 {
        (self.position - position) * self.stiffness
    }
}

/// Boundary conditions of all vertices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct BoundaryConditions {
    by_vertex: BTreeMap<usize, BoundaryCondition>,
}

impl BoundaryConditions {
    /// Whether all vertex indices are below `vertex_count`.
    pub(crate) fn fits(&self, vertex_count: usize) -> bool {
        self.by_vertex.keys().all(|vertex| *vertex < vertex_count)
    }

    /// Pins a vertex and moves it from `start` to `end`, in m, through the next frame.
    pub(crate) fn set_kinematic(&mut self, vertex: usize, start: Vec3, end: Vec3) {
        self.by_vertex.insert(vertex, BoundaryCondition::Kinematic { start, end });
    }

    /// Attaches a vertex by a spring of a stiffness in N/m to a point that moves from `start` to `end`, in m, through
    /// the next frame.
    pub(crate) fn set_spring_target(
        &mut self,
        vertex: usize,
        start: Vec3,
        end: Vec3,
        stiffness: f64,
    ) {
        self.by_vertex.insert(vertex, BoundaryCondition::SpringTarget { start, end, stiffness });
    }

    /// Prescribes the velocity of a vertex in m/s along independent unit directions.
    pub(crate) fn set_prescribed_velocity(
        &mut self,
        vertex: usize,
        directions: Vec<Vec3>,
        velocity: Vec3,
    ) {
        self.by_vertex
            .insert(vertex, BoundaryCondition::PrescribedVelocity { directions, velocity });
    }

    /// Adds those of a part that have a new number, with it.
    pub(crate) fn add_renumbered(&mut self, part: &Self, new: impl Fn(u32) -> Option<u32>) {
        let renumbered = part.by_vertex.iter().filter_map(|(vertex, condition)| {
            Some((new(*vertex as u32)? as usize, condition.clone()))
        });
        self.by_vertex.extend(renumbered);
    }

    /// Whether any boundary condition moves.
    pub(crate) fn has_motion(&self) -> bool {
        self.by_vertex.values().any(|condition| match condition {
            BoundaryCondition::Kinematic { start, end }
            | BoundaryCondition::SpringTarget { start, end, .. } => start != end,
            BoundaryCondition::PrescribedVelocity { velocity, .. } => *velocity != Vec3::zeros(),
        })
    }

    /// Removes the boundary condition of a vertex.
    pub(crate) fn release(&mut self, vertex: usize) {
        self.by_vertex.remove(&vertex);
    }

    /// End position of a pinned vertex in the frame, in m.
    pub(crate) fn kinematic_end(&self, vertex: usize) -> Option<Vec3> {
        match self.by_vertex.get(&vertex) {
            Some(BoundaryCondition::Kinematic { end, .. }) => Some(*end),
            _ => None,
        }
    }

    /// End position in the frame of a pinned vertex or a spring target, in m.
    pub(crate) fn path_end(&self, vertex: usize) -> Option<Vec3> {
        match self.by_vertex.get(&vertex) {
            Some(
                BoundaryCondition::Kinematic { end, .. }
                | BoundaryCondition::SpringTarget { end, .. },
            ) => Some(*end),
            _ => None,
        }
    }

    /// Flags of the pinned vertices.
    pub(crate) fn pinned(&self, vertex_count: usize) -> Vec<bool> {
        let mut pinned = vec![false; vertex_count];
        for (vertex, condition) in &self.by_vertex {
            pinned[*vertex] = matches!(condition, BoundaryCondition::Kinematic { .. });
        }
        pinned
    }

    /// Dirichlet conditions of a step from `positions`, in order of vertices. `fraction` is the end of the step in the
    /// frame, from 0 to 1, and `duration` the length of the step in s.
    pub(crate) fn prescribed_displacements(
        &self,
        positions: &[Vec3],
        fraction: f64,
        duration: f64,
    ) -> impl Iterator<Item = PrescribedDisplacement> {
        self.by_vertex.iter().filter_map(move |(vertex, condition)| {
            let (free_projector, displacement) = match condition {
                BoundaryCondition::SpringTarget { .. } => return None,
                BoundaryCondition::Kinematic { start, end } => {
                    (Matrix3::zeros(), interpolate(start, end, fraction) - positions[*vertex])
                }
                BoundaryCondition::PrescribedVelocity { directions, velocity } => {
                    let basis = OrthonormalBasis::new(directions.iter().copied());
                    let components = directions.iter().map(|n| (*n, n.dot(velocity) * duration));
                    (basis.complement_projector(), basis.min_norm_displacement(components))
                }
            };
            Some(PrescribedDisplacement { vertex: *vertex, free_projector, displacement })
        })
    }

    /// Spring target of each vertex at a fraction of the frame, from 0 to 1; empty if there are none.
    pub(crate) fn spring_targets(
        &self,
        vertex_count: usize,
        fraction: f64,
    ) -> Vec<Option<SpringTarget>> {
        let springs = self.by_vertex.iter().filter_map(|(vertex, condition)| match condition {
            BoundaryCondition::SpringTarget { start, end, stiffness } => Some((
                *vertex,
                SpringTarget { position: interpolate(start, end, fraction), stiffness: *stiffness },
            )),
            _ => None,
        });
        let mut targets = Vec::new();
        for (vertex, target) in springs {
            targets.resize(vertex_count, None);
            targets[vertex] = Some(target);
        }
        targets
    }

    /// Ends the frame at a fraction of it, from 0 to 1. Pinned vertices and spring targets stay where they are then.
    pub(crate) fn end_frame(&mut self, fraction: f64) {
        for condition in self.by_vertex.values_mut() {
            if let BoundaryCondition::Kinematic { start, end }
            | BoundaryCondition::SpringTarget { start, end, .. } = condition
            {
                *end = interpolate(start, end, fraction);
                *start = *end;
            }
        }
    }
}

/// Point at a fraction of the path, exactly the end at 1.
fn interpolate(start: &Vec3, end: &Vec3, fraction: f64) -> Vec3 {
    if fraction < 1.0 { start + (end - start) * fraction } else { *end }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(conditions: &BoundaryConditions, fraction: f64) -> PrescribedDisplacement {
        let positions = [Vec3::zeros(), Vec3::new(1.0, 2.0, 3.0)];
        let mut all = conditions.prescribed_displacements(&positions, fraction, 0.5);
        let first = all.next().unwrap();
        assert!(first.vertex == 1 && all.next().is_none());
        first
    }

    #[test]
    fn a_pinned_vertex_is_on_its_path_wherever_the_step_would_end() {
        let mut conditions = BoundaryConditions::default();
        conditions.set_kinematic(1, Vec3::new(1.0, 2.0, 3.0), Vec3::new(5.0, 2.0, 3.0));
        let start = Vec3::new(1.0, 2.0, 3.0);
        for end in [Vec3::zeros(), Vec3::new(9.0, -8.0, 7.0)] {
            let found = only(&conditions, 0.25).constrained_end(&start, &end);
            assert!((found - Vec3::new(2.0, 2.0, 3.0)).norm() < 1e-15);
        }
        assert_eq!(conditions.pinned(3), [false, true, false]);
        assert!(conditions.has_motion() && conditions.fits(2) && !conditions.fits(1));
    }

    /// Directions that are not orthogonal: each has its own component.
    #[test]
    fn a_prescribed_velocity_leaves_the_other_directions_free() {
        let mut conditions = BoundaryConditions::default();
        let oblique = Vec3::new(1.0, 1.0, 0.0).normalize();
        let velocity = Vec3::new(2.0, -6.0, 100.0);
        conditions.set_prescribed_velocity(1, vec![Vec3::x(), oblique], velocity);
        let prescribed = only(&conditions, 1.0);
        let (start, end) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(7.0, 7.0, 7.0));
        let moved = prescribed.constrained_end(&start, &end) - start;
        // 0.5 s along x and y, as the solver wants along z.
        assert!((moved - Vec3::new(1.0, -3.0, 4.0)).norm() < 1e-12, "{moved}");
        let free = prescribed.free_projector;
        assert!(
            (free * free - free).norm() < 1e-12 && (free * prescribed.displacement).norm() < 1e-12
        );
        assert_eq!(conditions.pinned(2), [false; 2]);
    }

    #[test]
    fn what_a_frame_has_not_reached_is_left_behind_at_its_end() {
        let mut conditions = BoundaryConditions::default();
        conditions.set_kinematic(0, Vec3::zeros(), Vec3::x());
        conditions.set_spring_target(2, Vec3::zeros(), Vec3::y(), 8.0);
        let target = conditions.spring_targets(3, 0.5)[2].unwrap();
        assert_eq!((target.position, target.stiffness), (Vec3::y() * 0.5, 8.0));
        conditions.end_frame(0.25);
        assert_eq!(conditions.kinematic_end(0), Some(Vec3::x() * 0.25));
        assert_eq!(
            (conditions.kinematic_end(2), conditions.path_end(2)),
            (None, Some(Vec3::y() * 0.25))
        );
        assert!(!conditions.has_motion());
        conditions.release(2);
        assert!(conditions.spring_targets(3, 0.0).is_empty());
    }

    #[test]
    fn the_force_of_a_spring_target_is_the_gradient_of_its_energy() {
        let target = SpringTarget { position: Vec3::new(1.0, 2.0, 3.0), stiffness: 7.0 };
        let (position, step) = (Vec3::new(0.5, -1.0, 3.5), 1.0e-4);
        for axis in 0..3 {
            let at = |size: f64| {
                let mut moved = position;
                moved[axis] += size;
                target.energy(&moved)
            };
            let slope = (at(step) - at(-step)) / (2.0 * step);
            assert!((slope + target.force(&position)[axis]).abs() < 1e-9);
        }
    }
}
