// SPDX-License-Identifier: MIT OR Apache-2.0
//! Vertices whose motion is given: held in place, on paths, or with a velocity along some directions.
//!
//! Held vertices and prescribed directions are constraints inside the solver (Baraff and Witkin 1998,
//! section 5.1; Etzmuss 2002, section 6.2.2, `fixParticle`), so they are met exactly.

use crate::{Vec3, geometry::OrthonormalBasis};
use nalgebra::Matrix3;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How the motion of a vertex is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum BoundaryCondition {
    /// It is led in a straight line through the frame.
    Kinematic { start: Vec3, end: Vec3 },
    /// A spring of `stiffness` in N/m draws it to a point that goes in a straight line through the frame.
    SpringTarget { start: Vec3, end: Vec3, stiffness: f64 },
    /// Its velocity along these directions is that of `velocity`, in m/s.
    PrescribedVelocity { directions: Vec<Vec3>, velocity: Vec3 },
}

/// What a guide asks of a vertex in a step.
pub(crate) struct PrescribedDisplacement {
    pub(crate) vertex: usize,
    /// Projector onto the free directions.
    pub(crate) free_projector: Matrix3<f64>,
    /// The part of the displacement over the step that is given, in m.
    pub(crate) displacement: Vec3,
}

impl PrescribedDisplacement {
    /// Where the vertex comes to that begins at `start` and is free to come to `end`, in m.
    pub(crate) fn constrained_end(&self, start: &Vec3, end: &Vec3) -> Vec3 {
        start + self.displacement + self.free_projector * (end - start)
    }
}

/// What a spring draws a vertex to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SpringTarget {
    /// In m.
    pub(crate) position: Vec3,
    /// In N/m.
    pub(crate) stiffness: f64,
}

impl SpringTarget {
    /// Energy of the spring with its vertex at `position` in m, in J.
    pub(crate) fn energy(&self, position: &Vec3) -> f64 {
        0.5 * self.stiffness * (position - self.position).norm_squared()
    }

    /// Force on the vertex, in N.
    pub(crate) fn force(&self, position: &Vec3) -> Vec3 {
        (self.position - position) * self.stiffness
    }
}

/// All vertices whose motion is given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct BoundaryConditions {
    by_vertex: BTreeMap<usize, BoundaryCondition>,
}

impl BoundaryConditions {
    /// Whether all vertices are among `vertex_count`.
    pub(crate) fn fits(&self, vertex_count: usize) -> bool {
        self.by_vertex.keys().all(|vertex| *vertex < vertex_count)
    }

    /// Leads a vertex from `start` to `end`, in m, through the next frame, and holds it there.
    pub(crate) fn set_kinematic(&mut self, vertex: usize, start: Vec3, end: Vec3) {
        self.by_vertex.insert(vertex, BoundaryCondition::Kinematic { start, end });
    }

    /// Draws a vertex along the way from `start` to `end`, in m, through the next frame, by a spring.
    pub(crate) fn set_spring_target(
        &mut self,
        vertex: usize,
        start: Vec3,
        end: Vec3,
        stiffness: f64,
    ) {
        self.by_vertex.insert(vertex, BoundaryCondition::SpringTarget { start, end, stiffness });
    }

    /// Prescribes the velocity of a vertex along independent unit directions.
    pub(crate) fn set_prescribed_velocity(
        &mut self,
        vertex: usize,
        directions: Vec<Vec3>,
        velocity: Vec3,
    ) {
        self.by_vertex
            .insert(vertex, BoundaryCondition::PrescribedVelocity { directions, velocity });
    }

    /// Whether anything is led, drawn or pushed from where it is.
    pub(crate) fn has_motion(&self) -> bool {
        self.by_vertex.values().any(|guide| match guide {
            BoundaryCondition::Kinematic { start, end }
            | BoundaryCondition::SpringTarget { start, end, .. } => start != end,
            BoundaryCondition::PrescribedVelocity { velocity, .. } => *velocity != Vec3::zeros(),
        })
    }

    /// Lets a vertex go.
    pub(crate) fn release(&mut self, vertex: usize) {
        self.by_vertex.remove(&vertex);
    }

    /// Where a vertex is held, or on its way to, in m.
    pub(crate) fn kinematic_end(&self, vertex: usize) -> Option<Vec3> {
        match self.by_vertex.get(&vertex) {
            Some(BoundaryCondition::Kinematic { end, .. }) => Some(*end),
            _ => None,
        }
    }

    /// Where a vertex is held or drawn to, in m.
    pub(crate) fn path_end(&self, vertex: usize) -> Option<Vec3> {
        match self.by_vertex.get(&vertex) {
            Some(
                BoundaryCondition::Kinematic { end, .. }
                | BoundaryCondition::SpringTarget { end, .. },
            ) => Some(*end),
            _ => None,
        }
    }

    /// Flags of the vertices that are held in all directions.
    pub(crate) fn pinned(&self, vertex_count: usize) -> Vec<bool> {
        let mut held = vec![false; vertex_count];
        for (vertex, guide) in &self.by_vertex {
            held[*vertex] = matches!(guide, BoundaryCondition::Kinematic { .. });
        }
        held
    }

    /// What the guides ask of a step from `positions`, `part` being its end as a part of the frame and
    /// `duration` its length in s; in order of vertices.
    pub(crate) fn prescribed_displacements(
        &self,
        positions: &[Vec3],
        part: f64,
        duration: f64,
    ) -> impl Iterator<Item = PrescribedDisplacement> {
        self.by_vertex.iter().filter_map(move |(vertex, guide)| {
            let (projector, displacement) = match guide {
                BoundaryCondition::SpringTarget { .. } => return None,
                BoundaryCondition::Kinematic { start, end } => {
                    (Matrix3::zeros(), interpolate(start, end, part) - positions[*vertex])
                }
                BoundaryCondition::PrescribedVelocity { directions, velocity } => {
                    let basis = OrthonormalBasis::new(directions.iter().copied());
                    let given = directions.iter().map(|n| (*n, n.dot(velocity) * duration));
                    (basis.complement_projector(), basis.min_norm_displacement(given))
                }
            };
            Some(PrescribedDisplacement {
                vertex: *vertex,
                free_projector: projector,
                displacement,
            })
        })
    }

    /// What springs draw each of the vertices to at a part of the frame; empty where there are none.
    pub(crate) fn spring_targets(
        &self,
        vertex_count: usize,
        part: f64,
    ) -> Vec<Option<SpringTarget>> {
        let springs = self.by_vertex.iter().filter_map(|(vertex, guide)| match guide {
            BoundaryCondition::SpringTarget { start, end, stiffness } => Some((
                *vertex,
                SpringTarget { position: interpolate(start, end, part), stiffness: *stiffness },
            )),
            _ => None,
        });
        let mut goals = Vec::new();
        for (vertex, goal) in springs {
            goals.resize(vertex_count, None);
            goals[vertex] = Some(goal);
        }
        goals
    }

    /// The frame has ended when it had come to `part` of itself: led vertices stay where they are.
    pub(crate) fn end_frame(&mut self, part: f64) {
        for guide in self.by_vertex.values_mut() {
            if let BoundaryCondition::Kinematic { start, end }
            | BoundaryCondition::SpringTarget { start, end, .. } = guide
            {
                *end = interpolate(start, end, part);
                *start = *end;
            }
        }
    }
}

/// The point a part of the way along, exactly the end at 1.
fn interpolate(start: &Vec3, end: &Vec3, part: f64) -> Vec3 {
    if part < 1.0 { start + (end - start) * part } else { *end }
}
