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
