// SPDX-License-Identifier: MIT OR Apache-2.0
//! Strips between both sides of open seams.
//!
//! A seam closes along the lines between its sewn vertices. Cloth that is between these lines when they vanish stays
//! caught in the seam. So the triangles that neighbouring lines span are a surface for other cloth while the seam closes:
//! they have contacts, and step validation guards them. Colliders pass through, as seams are sewn around bodies, and so do
//! strips through each other, which leaves no cloth in a seam.
//!
//! A triangle that cloth passes through is not guarded; as other cloth that intersects, this cloth is led out by
//! contour minimization (see `untangling`).

use super::Configuration;
use crate::mesh::{AlternativeTriangles, Incidence};
use std::{collections::BTreeSet, ops::Range};

/// Parameters of seam strips.
struct SeamStripParameters {
    /// Largest width of a strip that is a surface (mean edge lengths). Effect: larger makes wide strips push drifting panels
    /// aside; smaller lets cloth into seams that it does not leave. Evidence: sewn at 2 cm, cloth gets
    /// into both inseams of `js_mean_all` at a width of 3.9, and with 1 is still there when they are 2 mm wide; with no bound
    /// a seam of `hoody_mean` with displaced vertices is led around an arm, and 98 mm wide when the others close. No value
    /// between was tried.
    max_width: f64,
}

impl SeamStripParameters {
    const DEFAULT: Self = Self { max_width: 5.0 };
}

/// Triangles of the strips of all seams, and which of them are guarded.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeamStrips {
    /// Their places among the triangles of the collision mesh.
    pub(crate) triangles: Range<u32>,
    /// Whether each of them is guarded.
    is_guarded: Vec<bool>,
    /// State of each edge of cloth; empty without strips.
    edges: Vec<EdgeState>,
    /// Whether none is ever guarded.
    pub(crate) are_ignored: bool,
}

/// Whether an edge is a side of strips alone, and whether one of their triangles at it is guarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EdgeState {
    OfCloth,
    Unguarded,
    Guarded,
}

impl SeamStrips {
    /// Strips whose `triangles` come last among those of cloth, where an edge `is_alternative` if it is no side of a
    /// triangle in use. None of them is guarded yet.
    pub(super) fn new(
        triangles: Range<u32>,
        triangle_edges: &[[u32; 3]],
        edge_count: usize,
        is_alternative: impl Fn(u32) -> bool,
    ) -> Self {
        if triangles.is_empty() {
            return Self::default();
        }
        let mut edges = vec![EdgeState::OfCloth; edge_count];
        for edge in triangles.clone().flat_map(|triangle| triangle_edges[triangle as usize]) {
            if is_alternative(edge) {
                edges[edge as usize] = EdgeState::Unguarded;
            }
        }
        Self { is_guarded: vec![false; triangles.len()], triangles, edges, are_ignored: false }
    }

    /// Whether there are no strips.
    pub(crate) fn is_empty(&self) -> bool {
        self.triangles.is_empty()
    }

    /// Whether an edge is a side of strips alone.
    pub(crate) fn has_edge(&self, edge: u32) -> bool {
        self.edges.get(edge as usize).is_some_and(|state| *state != EdgeState::OfCloth)
    }

    /// Whether a triangle of a strip takes no part in contacts.
    pub(crate) fn is_unguarded_triangle(&self, triangle: u32) -> bool {
        let place = triangle.checked_sub(self.triangles.start);
        place.and_then(|place| self.is_guarded.get(place as usize)) == Some(&false)
    }

    /// Whether an edge of strips takes no part in contacts.
    pub(crate) fn is_unguarded_edge(&self, edge: u32) -> bool {
        self.edges.get(edge as usize) == Some(&EdgeState::Unguarded)
    }

    /// Guards the triangles that `is_guarded` selects, and the edges at which all triangles are guarded.
    pub(crate) fn guard(&mut self, triangle_edges: &[[u32; 3]], is_guarded: impl Fn(u32) -> bool) {
        for edge in self.edges.iter_mut().filter(|edge| **edge == EdgeState::Unguarded) {
            *edge = EdgeState::Guarded;
        }
        for (triangle, state) in self.triangles.clone().zip(&mut self.is_guarded) {
            *state = is_guarded(triangle);
            for edge in triangle_edges[triangle as usize].into_iter().filter(|_| !*state) {
                if self.edges[edge as usize] == EdgeState::Guarded {
                    self.edges[edge as usize] = EdgeState::Unguarded;
                }
            }
        }
    }

    /// Triangles of the strips that are as wide as cloth could get into: wider than a `min_gap` in multiples of the
    /// thickness, and no wider than [`SeamStripParameters::max_width`].
    pub(crate) fn closing_triangles(
        &self,
        configuration: Configuration<'_>,
        min_gap: f64,
    ) -> BTreeSet<u32> {
        let mesh = configuration.mesh;
        let is_closing = |triangle: &u32| {
            let corner = mesh.triangles[*triangle as usize][0] as usize;
            let narrowest = min_gap * mesh.surface_properties[corner].thickness;
            let widest = SeamStripParameters::DEFAULT.max_width * mesh.mean_edge_lengths[corner];
            (narrowest..widest).contains(&configuration.altitude(*triangle))
        };
        self.triangles.clone().filter(is_closing).collect()
    }
}

impl Configuration<'_> {
    /// Altitude of a triangle over the side between its first two corners, in m; 0 where these coincide.
    pub(crate) fn altitude(self, triangle: u32) -> f64 {
        let [a, b, c] = self.triangle_corners(triangle);
        let side = (b - a).norm();
        if side > 0.0 { (b - a).cross(&(c - a)).norm() / side } else { 0.0 }
    }
}

/// Appends the strips of sewn `pairs` among the first `vertex_count` vertices to `alternatives`; returns the number of
/// their triangles. Pairs whose vertices are neighbours on both sides span two triangles, pairs with one vertex in common
/// and neighbours at the other end, as where cloth is gathered, one.
pub(crate) fn append_seam_strips(
    pairs: &[[u32; 2]],
    triangles: &[[u32; 3]],
    vertex_count: usize,
    alternatives: &mut AlternativeTriangles,
) -> usize {
    let (around, sewn) =
        (Incidence::new(triangles, vertex_count), Incidence::new(pairs, vertex_count));
    let neighbours = |vertex: u32| -> Vec<u32> {
        let corners = around.elements_of(vertex as usize);
        let mut all: Vec<u32> = corners.flat_map(|(one, _)| triangles[one as usize]).collect();
        all.sort_unstable();
        all.dedup();
        all.retain(|other| *other != vertex);
        all
    };
    let mut count = 0;
    let mut add = |triangle: [u32; 3]| {
        alternatives.push_without_face(triangle);
        count += 1;
    };
    for (index, [a, b]) in (0_u32..).zip(pairs.iter().copied()) {
        let beside = [neighbours(a), neighbours(b)];
        for (end, [here, there]) in [[a, b], [b, a]].into_iter().enumerate() {
            let ends = beside[end].iter().filter(|next| **next != there).flat_map(|next| {
                let later = sewn.elements_of(*next as usize).filter(|(pair, _)| *pair > index);
                later.map(|(pair, corner)| [*next, pairs[pair as usize][1 - usize::from(corner)]])
            });
            for [next, opposite] in ends {
                if opposite == there {
                    add([here, next, there]);
                } else if end == 0 && opposite != here && beside[1].contains(&opposite) {
                    add([here, next, opposite]);
                    add([opposite, there, here]);
                }
            }
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::super::{ClothCollisionData, CollisionMesh, ContactFilter, SurfaceProperties};
    use super::*;
    use crate::{scene::Collider, vec3::Vec3};

    fn strips(pairs: &[[u32; 2]], triangles: &[[u32; 3]], count: usize) -> Vec<[u32; 3]> {
        let mut alternatives = AlternativeTriangles::default();
        let added = append_seam_strips(pairs, triangles, count, &mut alternatives);
        assert_eq!(alternatives.triangles.len(), added);
        alternatives.triangles
    }

    /// Two rows of triangles, whose lower vertices 0 to 2 are sewn to the upper ones 5 to 7 of the other.
    const ROWS: [[u32; 3]; 6] = [[0, 1, 3], [1, 4, 3], [1, 2, 4], [5, 6, 8], [6, 9, 8], [6, 7, 9]];

    #[test]
    fn neighbouring_pairs_span_two_triangles() {
        let found = strips(&[[0, 5], [6, 1], [2, 7]], &ROWS, 10);
        assert_eq!(found, [[0, 1, 6], [6, 5, 0], [6, 7, 2], [2, 1, 6]]);
    }

    #[test]
    fn gathered_pairs_span_one_triangle() {
        assert_eq!(strips(&[[0, 5], [1, 5]], &ROWS, 10), [[0, 1, 5]]);
        assert_eq!(strips(&[[5, 0], [1, 5]], &ROWS, 10), [[0, 1, 5]]);
    }

    #[test]
    fn pairs_apart_span_nothing() {
        assert_eq!(strips(&[[0, 5], [2, 7]], &ROWS, 10), [[0_u32; 3]; 0]);
        assert_eq!(strips(&[[0, 1], [1, 2]], &ROWS, 10), [[0_u32; 3]; 0]);
        assert_eq!(strips(&[[0, 5], [0, 5]], &ROWS, 10), [[0_u32; 3]; 0]);
    }

    /// The rows as cloth, each pair of the seam a metre apart, before a collider of one triangle.
    fn sewn_rows() -> CollisionMesh {
        let place = |vertex: u32| Vec3::new(f64::from(vertex % 5), f64::from(vertex / 5), 0.0);
        let rest: Vec<Vec3> = (0..10).map(place).collect();
        let corners = vec![Vec3::z(), Vec3::z() + Vec3::x(), Vec3::z() + Vec3::y()];
        let collider = Collider::new(corners, &[[0, 1, 2]], 0.0, 0.0).unwrap();
        let cloths = ClothCollisionData {
            triangles: &ROWS,
            alternatives: AlternativeTriangles::default(),
            vertex_offsets: &[0, 10],
            surface_properties: vec![SurfaceProperties { friction: 0.0, thickness: 0.001 }],
            vertex_areas: vec![0.01; 10].into(),
            rest_positions: rest.into(),
            seams: &[[0, 5], [1, 6], [2, 7]],
            contact_filter: ContactFilter::default(),
            friction_scale: Vec::new(),
            layers: Vec::new(),
        };
        CollisionMesh::new(cloths, &[collider])
    }

    #[test]
    fn a_strip_has_contacts_with_cloth_while_it_is_guarded() {
        let mut mesh = sewn_rows();
        assert_eq!(mesh.seam_strips.triangles, 6..10);
        let edge = |ends: [u32; 2]| mesh.edges.iter().position(|one| *one == ends).unwrap() as u32;
        let [end_line, middle_line, of_cloth, of_collider] =
            [[0, 5], [1, 6], [3, 4], [10, 11]].map(edge);
        assert!([0, 5].iter().all(|vertex| mesh.strips_exclude_vertex_face(*vertex, 6)));
        mesh.guard_seam_strips(|triangle| triangle < 8);
        assert!(!mesh.strips_exclude_vertex_face(4, 6) && mesh.strips_exclude_vertex_face(4, 8));
        assert!(mesh.strips_exclude_vertex_face(10, 6) && !mesh.strips_exclude_vertex_face(10, 5));
        assert!(!mesh.strips_exclude_edges(of_cloth, end_line));
        // An unguarded triangle is at this line too.
        assert!(mesh.strips_exclude_edges(of_cloth, middle_line));
        assert!(mesh.strips_exclude_edges(end_line, of_collider));
        mesh.guard_seam_strips(|_| true);
        assert!(!mesh.strips_exclude_edges(middle_line, of_cloth));
        assert!(mesh.strips_exclude_edges(middle_line, end_line));
        mesh.guard_seam_strips(|_| false);
        assert!(mesh.strips_exclude_edges(end_line, of_cloth));
    }

    #[test]
    fn strips_close_between_the_gap_that_steps_leave_and_their_largest_width() {
        let mesh = sewn_rows();
        for (width, is_closing) in [(1.0e-6, false), (1.0e-4, true), (4.9, true), (20.0, false)] {
            let mut positions = mesh.rest_positions.to_vec();
            for vertex in 5..8 {
                positions[vertex] = positions[vertex - 5] + Vec3::z() * width;
            }
            positions.resize(13, Vec3::zeros());
            let configuration = Configuration { mesh: &mesh, positions: &positions };
            let closing = mesh.seam_strips.closing_triangles(configuration, 0.01);
            assert_eq!(closing.len(), if is_closing { 4 } else { 0 }, "{width}");
        }
    }
}
