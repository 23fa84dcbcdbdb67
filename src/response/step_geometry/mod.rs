// SPDX-License-Identifier: MIT OR Apache-2.0
//! Step geometry: the trajectories of all vertices in a step, and whose motion is prescribed.

mod supports;

use super::collision_scene::CollisionScene;
use crate::{
    collision::{Contact, PrimitivePair, Trajectories},
    parallel::reductions,
    surface::{CollisionMesh, Configuration, EdgeConvexity},
    vec3::Vec3,
};
use rayon::prelude::*;

/// A step that is about to be solved.
pub(crate) struct StepStart<'a> {
    /// Positions of the cloths at the start of the step, in m.
    pub(crate) start_positions: &'a [Vec3],
    /// Predicted positions of the cloths at the end of the step, in m.
    pub(crate) predicted_positions: &'a [Vec3],
    /// For each cloth vertex, whether its trajectory is prescribed.
    pub(crate) is_pinned: &'a [bool],
    /// Start and end of the step as fractions of the frame.
    pub(crate) frame_fractions: [f64; 2],
    /// Duration of the step, in s.
    pub(crate) duration: f64,
    /// Compliance β²/m of each cloth vertex against a force by its inertia, in m/N, by which predictions follow supports;
    /// empty where the predicted positions are to stay as they are.
    pub(crate) vertex_compliances: Vec<f64>,
}

/// Motion of a cloth vertex in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VertexMotion {
    /// Solved for.
    Free,
    /// Prescribed by the caller.
    Pinned,
    /// Prescribed by the colliders that pinch the vertex.
    Held,
}

/// Geometry of a step. It is fixed when the step begins, but for the end positions of the cloths.
#[derive(Clone, Debug)]
pub(crate) struct StepGeometry {
    /// Positions of all vertices at the start of the step, in m; empty without colliders and
    /// self-collision.
    pub(super) start_positions: Vec<Vec3>,
    /// Positions of all vertices at the end of the step, in m: cloths at the trial point, colliders at
    /// their prescribed positions.
    pub(super) end_positions: Vec<Vec3>,
    /// Motion of each cloth vertex.
    motions: Vec<VertexMotion>,
    /// Compliance β²/m of each cloth vertex against a force by its inertia, in m/N; empty where predictions do not follow
    /// supports.
    vertex_compliances: Vec<f64>,
    /// Convexity of the surface at each edge, in the order of the edges.
    pub(super) edge_convexities: Vec<EdgeConvexity>,
    /// Duration of the step, in s.
    pub(super) duration: f64,
}

impl StepGeometry {
    /// Geometry before the first step, with the cloths' vertices at `positions` in m.
    pub(super) fn at_rest(scene: &CollisionScene, positions: &[Vec3]) -> Self {
        let mut start_positions = if scene.is_disabled { Vec::new() } else { positions.to_vec() };
        start_positions.extend(scene.collider_positions_at(0.0));
        let mut geometry = Self {
            end_positions: start_positions.clone(),
            start_positions,
            motions: vec![VertexMotion::Free; positions.len()],
            vertex_compliances: Vec::new(),
            edge_convexities: vec![EdgeConvexity::default(); scene.mesh.edges.len()],
            duration: 0.0,
        };
        geometry.update_edge_convexities(&scene.mesh, true);
        geometry
    }

    /// Begins a step: moves the cloths to their predicted and the colliders to their prescribed
    /// positions. Returns whether trees and edges of the colliders need an update.
    pub(super) fn begin(&mut self, scene: &mut CollisionScene, step: StepStart<'_>) -> bool {
        let motion =
            |pinned: &bool| if *pinned { VertexMotion::Pinned } else { VertexMotion::Free };
        self.motions.clear();
        self.motions.extend(step.is_pinned.iter().map(motion));
        self.duration = step.duration;
        self.vertex_compliances = step.vertex_compliances;
        if scene.is_disabled {
            return false;
        }
        let count = self.motions.len();
        self.start_positions[..count].copy_from_slice(step.start_positions);
        self.end_positions[..count].copy_from_slice(step.predicted_positions);
        let mut has_moved = std::mem::take(&mut scene.has_changed_collider_surface);
        let [start, end] = step.frame_fractions;
        for (side, fraction) in [(&mut self.start_positions, start), (&mut self.end_positions, end)]
        {
            let positions = scene.collider_positions_at(fraction);
            for (position, new) in side[count..].iter_mut().zip(positions) {
                has_moved |= *position != new;
                *position = new;
            }
        }
        has_moved
    }

    /// Updates the convexity of the edges at the start: of all, or of those of cloths.
    pub(super) fn update_edge_convexities(&mut self, mesh: &CollisionMesh, are_all: bool) {
        let start = Configuration { mesh, positions: &self.start_positions };
        let changed = if are_all { self.edge_convexities.len() } else { mesh.cloth_edge_count };
        let each = self.edge_convexities[..changed].par_iter_mut().enumerate();
        each.with_min_len(reductions::MIN_ELEMENTS_PER_TASK)
            .for_each(|(edge, convexity)| *convexity = start.edge_convexity(edge as u32));
    }

    /// Prescribes the motion of a cloth vertex to an end position in m.
    pub(super) fn hold(&mut self, vertex: u32, end: Vec3) {
        self.motions[vertex as usize] = VertexMotion::Held;
        self.end_positions[vertex as usize] = end;
    }

    /// Trajectories to the trial point.
    pub(super) fn trajectories(&self) -> Trajectories<'_> {
        Trajectories { starts: &self.start_positions, ends: &self.end_positions }
    }

    /// All vertices at the start of the step.
    pub(super) fn start<'a>(&'a self, mesh: &'a CollisionMesh) -> Configuration<'a> {
        Configuration { mesh, positions: &self.start_positions }
    }

    /// All vertices at the end of the step.
    pub(super) fn end<'a>(&'a self, mesh: &'a CollisionMesh) -> Configuration<'a> {
        Configuration { mesh, positions: &self.end_positions }
    }

    /// Whether a vertex belongs to a cloth.
    pub(crate) fn is_cloth(&self, vertex: u32) -> bool {
        (vertex as usize) < self.motions.len()
    }

    /// Whether the trajectory of a cloth vertex is prescribed.
    pub(crate) fn is_pinned(&self, vertex: usize) -> bool {
        self.motions[vertex] != VertexMotion::Free
    }

    /// Whether a vertex is of cloth and not pinned.
    pub(super) fn is_free(&self, vertex: u32) -> bool {
        self.motions.get(vertex as usize) == Some(&VertexMotion::Free)
    }

    /// Whether a vertex is held between colliders.
    pub(super) fn is_held(&self, vertex: u32) -> bool {
        self.motions.get(vertex as usize) == Some(&VertexMotion::Held)
    }

    /// Whether a vertex of a pair is free.
    pub(super) fn has_free_vertex(&self, pair: &PrimitivePair) -> bool {
        pair.vertices.iter().any(|vertex| self.is_free(*vertex))
    }

    /// Whether the motion of a pair is prescribed by the caller: it has a pinned vertex, and neither a
    /// free nor a held one.
    pub(super) fn is_kinematic_pair(&self, pair: &PrimitivePair) -> bool {
        let mut motions =
            pair.vertices.iter().filter_map(|vertex| self.motions.get(*vertex as usize)).peekable();
        motions.peek().is_some() && motions.all(|motion| *motion == VertexMotion::Pinned)
    }

    /// Whether any collider moves in the step.
    pub(super) fn do_colliders_move(&self) -> bool {
        let count = self.motions.len().min(self.start_positions.len());
        self.start_positions[count..] != self.end_positions[count..]
    }

    /// Displacement of a vertex in the step, in m.
    pub(super) fn displacement(&self, vertex: u32) -> Vec3 {
        self.end_positions[vertex as usize] - self.start_positions[vertex as usize]
    }

    /// Velocity of a collider vertex, in m/s.
    pub(super) fn collider_velocity(&self, vertex: u32) -> Vec3 {
        self.displacement(vertex) / self.duration
    }

    /// Cloth vertices of a contact with their weights.
    pub(crate) fn cloth_weights(&self, contact: &Contact) -> impl Iterator<Item = (usize, f64)> {
        let weighted_vertices = contact.pair.vertices.into_iter().zip(contact.linearised.weights);
        let cloth = weighted_vertices.filter(|(vertex, _)| self.is_cloth(*vertex));
        cloth.map(|(vertex, weight)| (vertex as usize, weight))
    }

    /// Effective inverse mass of the relative velocity at a contact, in 1/kg. It is bounded below by
    /// that of each vertex, so that no vertex changes its velocity by more than the relative
    /// velocity: else a corner of a mostly pinned face with a small weight would be thrown away.
    pub(super) fn effective_inverse_mass(
        &self,
        contact: &Contact,
        inverse_masses: impl Fn(usize) -> f64,
    ) -> f64 {
        let (sum, max) =
            self.cloth_weights(contact).fold((0.0, 0.0_f64), |(sum, max), (vertex, weight)| {
                let inverse_mass = inverse_masses(vertex);
                (sum + weight * weight * inverse_mass, max.max(weight.abs() * inverse_mass))
            });
        max.max(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::response::tests::{DURATION, LOWER, at_heights, begin, response, step_between};

    #[test]
    fn a_pair_is_kinematic_if_the_caller_prescribes_all_of_its_cloth() {
        let positions = at_heights([0.05, 0.1]);
        let mut response = response(&positions, 0.0);
        begin(
            &mut response,
            [&positions; 2].map(|each| &each[..]),
            [true, true, true, false, true, false],
        );
        let (mesh, step) = (&response.scene.mesh, &mut response.step);
        let on_collider = |vertex: u32| PrimitivePair::vertex_face(mesh, vertex, 2);
        let on_lower = |vertex: u32| PrimitivePair::vertex_face(mesh, vertex, 0);
        for (pair, is_free, is_kinematic) in [
            (on_collider(0), false, true),
            (on_collider(3), true, false),
            (on_lower(3), true, false),
            (on_lower(4), false, true),
        ] {
            assert_eq!(step.has_free_vertex(&pair), is_free, "{pair:?}");
            assert_eq!(step.is_kinematic_pair(&pair), is_kinematic, "{pair:?}");
        }
        // Held cloth is not of the caller.
        step.hold(4, Vec3::z());
        assert!(step.is_pinned(4) && step.is_held(4) && !step.is_free(4));
        assert!(!step.has_free_vertex(&on_lower(4)) && !step.is_kinematic_pair(&on_lower(4)));
        assert_eq!(step.end_positions[4], Vec3::z());
    }

    #[test]
    fn colliders_move_between_fractions_of_the_frame() {
        let positions = at_heights([0.05, 0.1]);
        let mut response = response(&positions, 0.0);
        let target = [[-1.0, -1.0], [1.0, -1.0], [0.0, 1.0]].map(|[x, y]| Vec3::new(x, y, 0.04));
        response.scene.collider_motions[0].frame_positions[1] = target.to_vec();
        let step = StepStart {
            start_positions: &positions,
            predicted_positions: &positions,
            is_pinned: &[false; 6],
            frame_fractions: [0.25, 0.5],
            duration: DURATION,
            vertex_compliances: Vec::new(),
        };
        assert!(!response.step.do_colliders_move());
        assert!(response.step.begin(&mut response.scene, step));
        assert!(response.step.do_colliders_move());
        for vertex in 6..9 {
            assert!((response.step.start_positions[vertex].z - 0.01).abs() < 1e-15);
            let velocity = response.step.collider_velocity(vertex as u32);
            assert!((velocity - Vec3::z() * (0.01 / DURATION)).norm() < 1e-12, "{velocity:?}");
        }
    }

    #[test]
    fn no_vertex_is_thrown_away_by_a_small_weight() {
        let mut response = step_between([[5.0e-3, 0.1], [1.5e-3, 0.1]], 0.0);
        let mut contact = response.detect_contacts(&at_heights([1.5e-3, 0.1]))[0];
        contact.linearised.weights = [0.01, -1.0, 0.0, 0.0];
        let inverse_mass = response.step.effective_inverse_mass(&contact, |_| 2.0);
        assert!((inverse_mass - 0.01 * 2.0).abs() < 1e-15, "{inverse_mass}");
        contact.linearised.weights = [1.0, -1.0, 0.0, 0.0];
        assert!((response.step.effective_inverse_mass(&contact, |_| 2.0) - 2.0).abs() < 1e-15);
        assert!(LOWER.contains(&response.step.cloth_weights(&contact).next().unwrap().0));
        assert_eq!(response.step.cloth_weights(&contact).count(), 1);
    }
}
