// SPDX-License-Identifier: MIT OR Apache-2.0
//! Triangles wound alike, and the edges between them.

use super::{incidence::Incidence, orientation, polygons::TriangulatedFaces};
use crate::error::{Error, Result};
use std::sync::Arc;

/// An edge from `vertices[0]` to `vertices[1]`, as `triangles[0]` runs along it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Its ends.
    pub vertices: [u32; 2],
    /// The triangles to its left and right; [`Edge::NONE`] to the right of a boundary edge.
    pub triangles: [u32; 2],
    /// In each of these triangles the corner opposite the edge, 0 to 2.
    pub corners: [u8; 2],
}

impl Edge {
    /// No triangle.
    pub const NONE: u32 = u32::MAX;

    /// Whether a triangle lies on one side only.
    #[must_use]
    pub fn is_boundary(&self) -> bool {
        self.triangles[1] == Self::NONE
    }
}

/// Which vertices, edges and triangles belong together.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    /// Number of vertices, used or not.
    pub vertex_count: usize,
    /// Vertices of each triangle; every connected piece is oriented consistently. A piece that is not orientable (a
    /// Möbius band) is cut open: the edges left over appear twice, as boundaries. Shared by all users of the list.
    pub triangles: Arc<Vec<[u32; 3]>>,
    /// Triangles around each vertex.
    pub incidence: Arc<Incidence>,
    /// The face of the caller's that each triangle was cut from.
    pub face_of_triangle: Vec<u32>,
    /// All edges, sorted by vertices.
    pub edges: Vec<Edge>,
}

/// One side of an edge: a triangle that runs along it.
#[derive(Clone, Copy)]
pub(super) struct HalfEdge {
    pub(super) ends: [u32; 2],
    pub(super) triangle: u32,
    pub(super) corner: u8,
}

impl HalfEdge {
    /// The ends with the smaller first: equal for both sides of an edge.
    pub(super) fn key(&self) -> [u32; 2] {
        let [a, b] = self.ends;
        [a.min(b), a.max(b)]
    }
}

impl Topology {
    /// Winds triangles alike and finds their edges.
    ///
    /// # Errors
    /// An edge with more than two faces is refused by the third face and the two vertices.
    pub(super) fn new(cut: &TriangulatedFaces, vertex_count: usize) -> Result<Self> {
        check_manifold(&half_edges(&cut.triangles), cut)?;
        let triangles = orientation::orient_consistently(&cut.triangles);
        let mut topology = Self {
            vertex_count,
            face_of_triangle: cut.faces.clone(),
            edges: Vec::new(),
            incidence: Arc::new(Incidence::new(&triangles, vertex_count)),
            triangles: Arc::new(triangles),
        };
        topology.find_edges();
        Ok(topology)
    }

    fn find_edges(&mut self) {
        let sides = half_edges(&self.triangles);
        let partners = sides.windows(2).filter(|pair| are_opposite(&pair[0], &pair[1])).count();
        self.edges.reserve_exact(sides.len() - partners);
        let mut index = 0;
        while index < sides.len() {
            let side = sides[index];
            let partner = sides.get(index + 1).filter(|next| are_opposite(&side, next));
            index += if partner.is_some() { 2 } else { 1 };
            self.edges.push(Edge {
                vertices: side.ends,
                triangles: [side.triangle, partner.map_or(Edge::NONE, |other| other.triangle)],
                corners: [side.corner, partner.map_or(0, |other| other.corner)],
            });
        }
    }

    /// Appends another surface: its vertices follow those here.
    pub(super) fn append(&mut self, other: &Self) {
        let vertex = self.vertex_count as u32;
        let triangle = self.triangles.len() as u32;
        let face = self.face_of_triangle.iter().max().map_or(0, |last| last + 1);
        Arc::make_mut(&mut self.incidence).append(&other.incidence, triangle);
        Arc::make_mut(&mut self.triangles)
            .extend(other.triangles.iter().map(|t| t.map(|v| v + vertex)));
        self.face_of_triangle.extend(other.face_of_triangle.iter().map(|f| f + face));
        let shift = |t: u32| if t == Edge::NONE { t } else { t + triangle };
        self.edges.extend(other.edges.iter().map(|e| Edge {
            vertices: e.vertices.map(|v| v + vertex),
            triangles: e.triangles.map(shift),
            corners: e.corners,
        }));
        self.vertex_count += other.vertex_count;
    }

    /// The vertex opposite an edge in its left (0) or right (1) triangle.
    ///
    /// # Panics
    /// If there is no triangle on that side.
    #[must_use]
    pub fn opposite(&self, edge: &Edge, side: usize) -> u32 {
        self.triangles[edge.triangles[side] as usize][edge.corners[side] as usize]
    }
}

/// Whether two sides next to each other in their list run along one edge in both directions.
fn are_opposite(one: &HalfEdge, next: &HalfEdge) -> bool {
    next.key() == one.key() && next.ends != one.ends
}

/// All sides of all triangles, those of an edge next to each other, by triangle.
pub(super) fn half_edges(triangles: &[[u32; 3]]) -> Vec<HalfEdge> {
    let mut sides: Vec<HalfEdge> = Vec::with_capacity(3 * triangles.len());
    for (triangle, corners) in triangles.iter().enumerate() {
        for corner in 0..3 {
            let ends = [corners[(corner + 1) % 3], corners[(corner + 2) % 3]];
            sides.push(HalfEdge { ends, triangle: triangle as u32, corner: corner as u8 });
        }
    }
    sides.sort_unstable_by_key(|side| (side.key(), side.triangle));
    sides
}

fn check_manifold(sides: &[HalfEdge], cut: &TriangulatedFaces) -> Result<()> {
    let crowded = sides.windows(3).find(|three| three[0].key() == three[2].key());
    crowded.map_or(Ok(()), |three| {
        let [a, b] = three[2].key();
        let face = cut.faces[three[2].triangle as usize] as usize;
        let found = format!("a third face at the edge between vertices {a} and {b}");
        Err(Error::element("faces", "face", face, found, "at most two faces at an edge (manifold)"))
    })
}
