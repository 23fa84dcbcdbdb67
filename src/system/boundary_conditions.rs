// SPDX-License-Identifier: MIT OR Apache-2.0
//! Vertices whose motion is given: held in place, on paths, or with a velocity along some directions.
//!
//! Held vertices and prescribed directions are constraints inside the solver (Baraff and Witkin 1998,
//! section 5.1; Etzmuss 2002, section 6.2.2, `fixParticle`), so they are met exactly.

use crate::{Vec3, geometry::Basis};
use nalgebra::Matrix3;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How the motion of a vertex is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Guide {
    /// It is led in a straight line through the frame.
    Path { start: Vec3, end: Vec3 },
    /// A spring of `stiffness` in N/m draws it to a point that goes in a straight line through the frame.
    Spring { start: Vec3, end: Vec3, stiffness: f64 },
    /// Its velocity along these directions is that of `velocity`, in m/s.
    Velocity { directions: Vec<Vec3>, velocity: Vec3 },
}

/// What a guide asks of a vertex in a step.
pub(crate) struct Guidance {
    pub(crate) vertex: usize,
    /// Projector onto the free directions.
    pub(crate) projector: Matrix3<f64>,
    /// The part of the displacement over the step that is given, in m.
    pub(crate) displacement: Vec3,
}

impl Guidance {
    /// Where the vertex comes to that begins at `start` and is free to come to `end`, in m.
    pub(crate) fn led(&self, start: &Vec3, end: &Vec3) -> Vec3 {
        start + self.displacement + self.projector * (end - start)
    }
}

/// What a spring draws a vertex to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Goal {
    /// In m.
    pub(crate) target: Vec3,
    /// In N/m.
    pub(crate) stiffness: f64,
}

impl Goal {
    /// Energy of the spring with its vertex at `position` in m, in J.
    pub(crate) fn energy(&self, position: &Vec3) -> f64 {
        0.5 * self.stiffness * (position - self.target).norm_squared()
    }

    /// Force on the vertex, in N.
    pub(crate) fn force(&self, position: &Vec3) -> Vec3 {
        (self.target - position) * self.stiffness
    }
}

/// All vertices whose motion is given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Guides {
    members: BTreeMap<usize, Guide>,
}

impl Guides {
    /// Whether all vertices are among `vertex_count`.
    pub(crate) fn fit(&self, vertex_count: usize) -> bool {
        self.members.keys().all(|vertex| *vertex < vertex_count)
    }

    /// Leads a vertex from `start` to `end`, in m, through the next frame, and holds it there.
    pub(crate) fn lead(&mut self, vertex: usize, start: Vec3, end: Vec3) {
        self.members.insert(vertex, Guide::Path { start, end });
    }

    /// Draws a vertex along the way from `start` to `end`, in m, through the next frame, by a spring.
    pub(crate) fn draw(&mut self, vertex: usize, start: Vec3, end: Vec3, stiffness: f64) {
        self.members.insert(vertex, Guide::Spring { start, end, stiffness });
    }

    /// Prescribes the velocity of a vertex along independent unit directions.
    pub(crate) fn push(&mut self, vertex: usize, directions: Vec<Vec3>, velocity: Vec3) {
        self.members.insert(vertex, Guide::Velocity { directions, velocity });
    }

    /// Whether anything is led, drawn or pushed from where it is.
    pub(crate) fn move_anything(&self) -> bool {
        self.members.values().any(|guide| match guide {
            Guide::Path { start, end } | Guide::Spring { start, end, .. } => start != end,
            Guide::Velocity { velocity, .. } => *velocity != Vec3::zeros(),
        })
    }

    /// Lets a vertex go.
    pub(crate) fn release(&mut self, vertex: usize) {
        self.members.remove(&vertex);
    }

    /// Where a vertex is held, or on its way to, in m.
    pub(crate) fn target(&self, vertex: usize) -> Option<Vec3> {
        match self.members.get(&vertex) {
            Some(Guide::Path { end, .. }) => Some(*end),
            _ => None,
        }
    }

    /// Where a vertex is held or drawn to, in m.
    pub(crate) fn end(&self, vertex: usize) -> Option<Vec3> {
        match self.members.get(&vertex) {
            Some(Guide::Path { end, .. } | Guide::Spring { end, .. }) => Some(*end),
            _ => None,
        }
    }

    /// Flags of the vertices that are held in all directions.
    pub(crate) fn held(&self, vertex_count: usize) -> Vec<bool> {
        let mut held = vec![false; vertex_count];
        for (vertex, guide) in &self.members {
            held[*vertex] = matches!(guide, Guide::Path { .. });
        }
        held
    }

    /// What the guides ask of a step from `positions`, `part` being its end as a part of the frame and
    /// `duration` its length in s; in order of vertices.
    pub(crate) fn guidance(
        &self,
        positions: &[Vec3],
        part: f64,
        duration: f64,
    ) -> impl Iterator<Item = Guidance> {
        self.members.iter().filter_map(move |(vertex, guide)| {
            let (projector, displacement) = match guide {
                Guide::Spring { .. } => return None,
                Guide::Path { start, end } => {
                    (Matrix3::zeros(), along(start, end, part) - positions[*vertex])
                }
                Guide::Velocity { directions, velocity } => {
                    let basis = Basis::new(directions.iter().copied());
                    let given = directions.iter().map(|n| (*n, n.dot(velocity) * duration));
                    (basis.projector(), basis.displacement(given))
                }
            };
            Some(Guidance { vertex: *vertex, projector, displacement })
        })
    }

    /// What springs draw each of the vertices to at a part of the frame; empty where there are none.
    pub(crate) fn goals(&self, vertex_count: usize, part: f64) -> Vec<Option<Goal>> {
        let springs = self.members.iter().filter_map(|(vertex, guide)| match guide {
            Guide::Spring { start, end, stiffness } => {
                Some((*vertex, Goal { target: along(start, end, part), stiffness: *stiffness }))
            }
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
        for guide in self.members.values_mut() {
            if let Guide::Path { start, end } | Guide::Spring { start, end, .. } = guide {
                *end = along(start, end, part);
                *start = *end;
            }
        }
    }
}

/// The point a part of the way along, exactly the end at 1.
fn along(start: &Vec3, end: &Vec3, part: f64) -> Vec3 {
    if part < 1.0 { start + (end - start) * part } else { *end }
}
