// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collision response of a scene within a time step: detection, active set, validation.
//!
//! [`CollisionResponse::begin_step`] builds the Verlet list of the pairs that may meet along the
//! predicted trajectories. [`CollisionResponse::detect_contacts`] finds the contacts of a Newton
//! iteration. [`CollisionResponse::validate_step`] checks the trajectories of the solution against
//! all pairs by CCD. [`CollisionResponse::truncate_displacements`] (in `fallback`) shortens
//! displacements where no iteration has led to a valid step.
//!
//! **Guarantee.** No accepted step contains an intersection that its start did not have. A step
//! moves all vertices on straight trajectories from its start positions to its end positions. Two
//! triangle surfaces that do not intersect at the start can only come to do so at a time at which a
//! vertex meets a triangle or an edge meets an edge. [`CollisionResponse::validate_step`] accepts a
//! step only if CCD excludes both for every pair whose swept boxes overlap, and the boxes of all
//! other pairs are disjoint at every time; both are proved conservative under rounding where they
//! are computed (see `geometry::ccd` and `geometry::swept_bvh`). It requires a remaining gap as
//! well: a fraction of the thickness, or half of the initial gap if that is less, or nearly all of
//! a very small initial gap. So no step starts at distance zero.
//!
//! **Exceptions.** Surfaces that had intersected may end up closer than rounding resolves, or be
//! given so. Between these only this is guaranteed: a vertex that ends over a face is on the side
//! where it belongs (see `primitive_pair`). Filtered pairs have no guarantee: features at an
//! intersection, cloth above the limit of intersections (see `untangling::intersection_analysis`),
//! overstretched cloth (see `untangling::overstretch_release`), and cloth that colliders pinch (see `flypapering`).

mod active_set;
mod activity;
mod collider_motion;
mod contact_forces;
mod detection;
mod fallback;
mod flypapering;
mod impact_impulses;
mod motion_history;
mod step_validation;
mod untangling_pass;

pub(crate) use active_set::{ActiveSet, Multiplier, PrescribedVertex};
pub(crate) use collider_motion::ColliderMotion;
pub(crate) use contact_forces::ReactionConstraints;
pub(crate) use flypapering::PinchedVertex;
pub(crate) use motion_history::{MotionDeviation, VelocityJump};

use crate::{
    collision::{BroadPhase, Contact, ContactHistory, PairKind, PrimitivePair, Trajectories},
    parallel::{BufferPool, reductions},
    surface::{CollisionMesh, Configuration, EdgeConvexity, SurfaceProperties},
    untangling::{IntersectionState, OverstretchRelease, find_enclosed_cloths},
    vec3::Vec3,
};
use detection::DETECTION;
use flypapering::{NarrowZone, Pinch};
use rayon::prelude::*;
use step_validation::{VerletList, clear_buffer};

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
    /// Compliance β²/m of each cloth vertex against a force by its inertia, in m/N.
    pub(crate) vertex_compliances: Vec<f64>,
}

/// Outcome of a displacement truncation.
#[derive(Clone, Debug, Default)]
pub(crate) struct TruncationResult {
    /// Vertices with a changed displacement, in ascending order.
    pub(crate) truncated_vertices: Vec<u32>,
    /// Number of vertices left at their start positions.
    pub(crate) frozen_vertex_count: usize,
    /// Number of pairs that violate their gap nevertheless.
    pub(crate) violating_pair_count: usize,
}

/// State of the collision response of all cloths and colliders.
#[derive(Clone, Debug)]
pub(crate) struct CollisionResponse {
    mesh: CollisionMesh,
    collider_motions: Vec<ColliderMotion>,
    broad_phase: BroadPhase,
    /// Positions of all vertices at the start of the step, in m; empty without colliders and
    /// self-collision.
    start_positions: Vec<Vec3>,
    /// Positions of all vertices at the end of the step, in m: cloths at the trial point, colliders at
    /// their prescribed positions.
    end_positions: Vec<Vec3>,
    /// For each cloth vertex, whether it is pinned: its trajectory is prescribed.
    is_pinned: Vec<bool>,
    /// Compliance β²/m of each cloth vertex against a force by its inertia, in m/N.
    vertex_compliances: Vec<f64>,
    /// Convexity of the surface at each edge, in the order of the edges.
    edge_convexities: Vec<EdgeConvexity>,
    /// Pairs of the Verlet list that are evaluated in each Newton iteration, sorted by key; all but
    /// the redundant edge pairs. Their clearances hold for the trajectories of the list, or are 0.
    candidate_pairs: Vec<PrimitivePair>,
    /// Contacts of the current iterate, sorted by key.
    contacts: Vec<Contact>,
    buffers: BufferPool<Vec<Contact>>,
    /// For each candidate pair the index of its contact, or [`NO_INDEX`](crate::mesh::NO_INDEX).
    contact_of_pair: Vec<u32>,
    /// Intersections at the start of the step; `None` without any.
    intersection_state: Option<IntersectionState>,
    /// Recovery contacts of intersected edges.
    recovery_contacts: Vec<Contact>,
    /// Recovery contacts of whole components.
    layer_recovery_contacts: Vec<Contact>,
    /// Overstretched cloth that has no contact with cloth in this step.
    overstretch_release: OverstretchRelease,
    contact_history: ContactHistory,
    /// Vertices that colliders pinched at the end of the last step, in ascending order.
    pinched_vertices: Vec<PinchedVertex>,
    /// Vertices that colliders pinch in this step, in ascending order.
    pinches: Vec<Pinch>,
    narrow_zone: NarrowZone,
    verlet_list: VerletList,
    /// Whether a pair of pinned or collider features intersects on its prescribed trajectories.
    has_kinematic_intersection: bool,
    /// Whether a collider's surface properties have changed since its trees were refitted.
    has_changed_collider_surface: bool,
    /// Duration of the step, in s.
    duration: f64,
    has_self_collision: bool,
}

impl CollisionResponse {
    /// Response at the start of a simulation, with the cloths' vertices at `positions` in m.
    pub(crate) fn new(
        mut mesh: CollisionMesh,
        collider_motions: Vec<ColliderMotion>,
        positions: &[Vec3],
        has_self_collision: bool,
    ) -> Self {
        let is_disabled = collider_motions.is_empty() && !has_self_collision;
        let mut start_positions = if is_disabled { Vec::new() } else { positions.to_vec() };
        start_positions
            .extend(collider_motions.iter().flat_map(|collider| collider.positions_at(0.0)));
        let start = Configuration { mesh: &mesh, positions: &start_positions };
        let enclosed_cloths = find_enclosed_cloths(start);
        let mut edge_convexities = vec![EdgeConvexity::default(); mesh.edges.len()];
        update_edge_convexities(start, &mut edge_convexities);
        mesh.enclosed_cloths = enclosed_cloths;
        let trajectories = Trajectories { starts: &start_positions, ends: &start_positions };
        Self {
            edge_convexities,
            broad_phase: BroadPhase::new(&mesh, trajectories),
            end_positions: start_positions.clone(),
            start_positions,
            is_pinned: vec![false; positions.len()],
            vertex_compliances: Vec::new(),
            candidate_pairs: Vec::new(),
            contacts: Vec::new(),
            buffers: BufferPool::new(1),
            contact_of_pair: Vec::new(),
            intersection_state: None,
            recovery_contacts: Vec::new(),
            layer_recovery_contacts: Vec::new(),
            overstretch_release: OverstretchRelease::default(),
            // Intersections at the start are unknown before the first step.
            contact_history: ContactHistory::unexamined(),
            pinched_vertices: Vec::new(),
            pinches: Vec::new(),
            narrow_zone: NarrowZone::default(),
            verlet_list: VerletList::default(),
            has_kinematic_intersection: false,
            has_changed_collider_surface: false,
            duration: 0.0,
            has_self_collision,
            mesh,
            collider_motions,
        }
    }

    /// Motion of each collider in the frame.
    pub(crate) fn collider_motions(&self) -> &[ColliderMotion] {
        &self.collider_motions
    }

    /// Motion of each collider in the frame, to be changed between frames.
    pub(crate) fn collider_motions_mut(&mut self) -> &mut [ColliderMotion] {
        &mut self.collider_motions
    }

    /// Smallest contact thickness of a cloth, in m.
    pub(crate) fn min_cloth_thickness(&self) -> f64 {
        let cloths = &self.mesh.surface_properties[..self.cloth_vertex_count()];
        cloths.iter().map(|surface| surface.thickness).fold(f64::INFINITY, f64::min)
    }

    /// Numbers of vertices, edges and triangles of the collision mesh.
    pub(crate) fn feature_counts(&self) -> [usize; 3] {
        let mesh = &self.mesh;
        [mesh.surface_properties.len(), mesh.edges.len(), mesh.triangles.len()]
    }

    /// Sets the friction and thickness of cloth vertices.
    pub(crate) fn set_surface_properties(
        &mut self,
        vertices: std::ops::Range<usize>,
        surface: &SurfaceProperties,
    ) {
        self.mesh.set_surface_properties(vertices, surface);
    }

    /// Sets the friction and thickness of a collider.
    pub(crate) fn set_collider_surface_properties(
        &mut self,
        collider: usize,
        surface: SurfaceProperties,
    ) {
        let vertices = self.mesh.vertices_of_collider(collider);
        self.mesh.surface_properties[vertices].fill(surface);
        self.has_changed_collider_surface = true;
    }

    /// Friction and thickness of a collider.
    pub(crate) fn collider_surface_properties(&self, collider: usize) -> SurfaceProperties {
        self.mesh.surface_properties[self.mesh.vertices_of_collider(collider).start]
    }

    /// Contact history at the end of the last step.
    pub(crate) fn contact_history(&self) -> &ContactHistory {
        &self.contact_history
    }

    /// Accepts the contact history of a step, or restores one.
    pub(crate) fn set_contact_history(&mut self, history: ContactHistory) {
        self.contact_history = history;
    }

    fn trajectories(&self) -> Trajectories<'_> {
        Trajectories { starts: &self.start_positions, ends: &self.end_positions }
    }

    /// All vertices at the start of the step.
    fn start_configuration(&self) -> Configuration<'_> {
        Configuration { mesh: &self.mesh, positions: &self.start_positions }
    }

    fn cloth_vertex_count(&self) -> usize {
        self.mesh.cloth_vertex_count
    }

    /// Begins a step: moves the colliders, refits the trees to the predicted trajectories, and builds
    /// the intersection state and the Verlet list.
    pub(crate) fn begin_step(&mut self, step: StepStart<'_>) {
        self.duration = step.duration;
        self.vertex_compliances = step.vertex_compliances;
        self.is_pinned.copy_from_slice(step.is_pinned);
        if self.is_collision_disabled() {
            return;
        }
        let count = self.cloth_vertex_count();
        self.start_positions[..count].copy_from_slice(step.start_positions);
        self.end_positions[..count].copy_from_slice(step.predicted_positions);
        let has_moved = self.move_colliders(step.frame_fractions);
        self.refit(has_moved);
        if self.hold_pinched_vertices() {
            self.refit(false);
        }
        self.prepare_untangling();
        let pairs = std::mem::take(&mut self.candidate_pairs);
        self.candidate_pairs = self.build_verlet_list(pairs);
        self.restore_stiffened_edge_pairs();
        let mut buffer = self.buffers.take();
        clear_buffer(&mut buffer, self.contacts.len());
        self.accept_contacts(buffer);
    }

    /// Moves the colliders to their trajectories between two fractions of the frame. Returns whether
    /// their trees and edges need an update.
    fn move_colliders(&mut self, [start, end]: [f64; 2]) -> bool {
        let count = self.cloth_vertex_count();
        let mut has_moved = std::mem::take(&mut self.has_changed_collider_surface);
        for (side, fraction) in [(&mut self.start_positions, start), (&mut self.end_positions, end)]
        {
            let positions =
                self.collider_motions.iter().flat_map(|collider| collider.positions_at(fraction));
            for (position, new) in side[count..].iter_mut().zip(positions) {
                has_moved |= *position != new;
                *position = new;
            }
        }
        has_moved
    }

    /// Refits the trees to the present trajectories, and updates the convexity of the edges.
    fn refit(&mut self, have_colliders_moved: bool) {
        let (mesh, trajectories) =
            (&self.mesh, Trajectories { starts: &self.start_positions, ends: &self.end_positions });
        self.broad_phase.set_trajectories(trajectories);
        if have_colliders_moved {
            self.broad_phase.refit_colliders(mesh);
        }
        self.broad_phase.refit_cloths(mesh, 1.0 + DETECTION.skin);
        let changed =
            if have_colliders_moved { self.edge_convexities.len() } else { mesh.cloth_edge_count };
        let start = Configuration { mesh, positions: &self.start_positions };
        update_edge_convexities(start, &mut self.edge_convexities[..changed]);
    }

    /// Whether the scene has neither colliders nor self-collision.
    fn is_collision_disabled(&self) -> bool {
        self.collider_motions.is_empty() && !self.has_self_collision
    }

    /// Whether contacts of other pairs already separate the surfaces: vertex–face pairs at two edges,
    /// or those of the triangles in use at an alternative. A pair that pressed in the last step is not
    /// redundant: without its contact the surfaces would bend until they press again, in a cycle.
    fn is_redundant_pair(&self, pair: &PrimitivePair) -> bool {
        let [first, second] = pair.features.map(|feature| feature as usize);
        let are_redundant_edges = || {
            pair.kind == PairKind::EdgeEdge
                && self.edge_convexities[first].is_redundant_with(&self.edge_convexities[second])
        };
        (pair.is_alternative(&self.mesh) || are_redundant_edges())
            && !self.contact_history.prior_contact(pair).existed
    }

    /// Whether a pair must keep its minimum gap: it has a free vertex and is not filtered.
    fn is_guaranteed_pair(&self, pair: &PrimitivePair) -> bool {
        self.has_free_vertex(pair) && !self.is_filtered_pair(pair)
    }

    /// Whether a vertex of a pair is free, that is of cloth and not pinned.
    fn has_free_vertex(&self, pair: &PrimitivePair) -> bool {
        pair.vertices.iter().any(|vertex| self.is_pinned.get(*vertex as usize) == Some(&false))
    }

    /// Whether a pair has neither contact nor guarantee, as it is at an intersection, overstretched,
    /// or pinched.
    fn is_filtered_pair(&self, pair: &PrimitivePair) -> bool {
        self.intersection_state.as_ref().is_some_and(|state| state.filters(&self.mesh, pair))
            || self.overstretch_release.filters(&self.mesh, pair)
            || self.is_pinched_pair(pair)
    }

    /// Whether the motion of a pair is prescribed by the caller: it has a pinned vertex, and neither a free nor a held
    /// one.
    fn is_kinematic_pair(&self, pair: &PrimitivePair) -> bool {
        if pair.vertices.iter().any(|vertex| self.is_held(*vertex)) {
            return false;
        }
        let mut pinned = pair.vertices.iter().map(|vertex| self.is_pinned.get(*vertex as usize));
        pinned.clone().any(|pinned| pinned == Some(&true))
            && pinned.all(|pinned| pinned != Some(&false))
    }

    /// Contacts of the current iterate.
    pub(crate) fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// Recovery contacts of intersected edges.
    pub(crate) fn recovery_contacts(&self) -> &[Contact] {
        &self.recovery_contacts
    }

    /// Whether a vertex belongs to a cloth.
    pub(crate) fn is_cloth(&self, vertex: u32) -> bool {
        self.mesh.is_cloth(vertex)
    }

    /// Whether a cloth vertex is pinned.
    pub(crate) fn is_pinned(&self, vertex: usize) -> bool {
        self.is_pinned[vertex]
    }

    /// Contact history at the end of a validated step, in which `violating_pair_count` pairs intersect.
    pub(crate) fn new_contact_history(&self, violating_pair_count: usize) -> ContactHistory {
        // The side of a pair that began at distance zero is unknown.
        let has_unknown_side = || {
            self.candidate_pairs.iter().any(|pair| pair.is_coincident_at_start(self.trajectories()))
        };
        let has_intersections = violating_pair_count > 0
            || self.has_kinematic_intersection
            || !self.overstretch_release.is_empty();
        let is_intersecting = has_intersections
            || !self.pinches.is_empty()
            || self.intersection_state.is_some()
            || has_unknown_side();
        let before =
            self.contact_history.intersection_time.filter(|_| self.intersection_state.is_some());
        let intersection_time =
            is_intersecting.then(|| before.map_or(0.0, |time| time + self.duration));
        let had_kinematic_intersection =
            self.contact_history.had_kinematic_intersection || self.has_kinematic_intersection;
        ContactHistory::new(
            self.contacts.iter(),
            &self.end_positions,
            intersection_time,
            had_kinematic_intersection,
        )
    }

    /// Length of the step, in s.
    pub(crate) fn duration(&self) -> f64 {
        self.duration
    }

    /// Velocity of a collider vertex, in m/s.
    pub(crate) fn collider_velocity(&self, vertex: u32) -> Vec3 {
        self.displacement(vertex) / self.duration
    }

    /// Displacement of a vertex in the step, in m.
    pub(crate) fn displacement(&self, vertex: u32) -> Vec3 {
        self.end_positions[vertex as usize] - self.start_positions[vertex as usize]
    }

    /// Positions of all vertices at the start of the step, in m.
    pub(crate) fn start_positions(&self) -> &[Vec3] {
        &self.start_positions
    }
}

/// Updates the convexity at the first edges.
fn update_edge_convexities(configuration: Configuration<'_>, convexities: &mut [EdgeConvexity]) {
    let each = convexities.par_iter_mut().enumerate();
    each.with_min_len(reductions::MIN_ELEMENTS_PER_TASK)
        .for_each(|(edge, convexity)| *convexity = configuration.edge_convexity(edge as u32));
}
