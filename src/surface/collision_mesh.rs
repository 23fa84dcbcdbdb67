// SPDX-License-Identifier: MIT OR Apache-2.0
//! All surfaces that may touch, in one numbering: first the vertices, edges and triangles of the cloths, then
//! those of the colliders.

use super::{contact_filter::Exclusions, outward_winding::facing_outward, seam_adjacency::Seams};
use crate::{
    Vec3,
    geometry::is_closed,
    mesh::{Incidence, NONE},
    scene::Collider,
};
use std::sync::Arc;

/// Part of the thickness that a flat surface may fall away by. Where it is ridged its edges touch; what they lack by then
/// is a jump, which would keep what lies on them from coming to rest.
const FLAT: f64 = 0.02;

/// How ridged a surface is at an edge.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ridge {
    /// Of the edge, in m.
    length: f64,
    /// How far from it the surface is known to be flat, in m; 0 where it is not, and at borders.
    flat: f64,
}

impl Ridge {
    /// Whether vertices and triangles keep two surfaces apart where their edges cross. They do where both
    /// are flat, and where one is flat for as far as the edge of the other goes: over a plane a straight edge is
    /// lowest at one of its ends.
    pub(crate) fn is_idle_at(&self, other: &Self) -> bool {
        let are_flat = self.flat > 0.0 && other.flat > 0.0;
        are_flat || self.flat >= other.length || other.flat >= self.length
    }
}

/// What a vertex brings into a contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surface {
    /// Coulomb coefficient of friction.
    pub(crate) friction: f64,
    /// Contact thickness, in m.
    pub(crate) thickness: f64,
}

/// The corners opposite an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wings {
    pub(crate) corners: [u32; 2],
    /// The first triangle at the edge.
    pub(crate) owner: u32,
}

/// Cloths and colliders as one surface.
#[derive(Clone, Debug)]
pub(crate) struct Surfaces {
    pub(crate) triangles: Vec<[u32; 3]>,
    pub(crate) edges: Vec<[u32; 2]>,
    /// The edge opposite each corner of a triangle.
    pub(crate) sides: Vec<[u32; 3]>,
    /// For every edge.
    pub(crate) wings: Vec<Wings>,
    /// The triangles around every vertex.
    pub(crate) around: Incidence,
    /// For every vertex.
    pub(crate) kinds: Vec<Surface>,
    /// The cloth or, counted on, the collider of every vertex.
    pub(crate) bodies: Vec<u32>,
    /// For every collider whether it has an inside.
    pub(crate) is_closed: Vec<bool>,
    /// The cloths that belong inside of colliders, each with the body of the collider.
    pub(crate) insiders: Vec<[u32; 2]>,
    /// Undeformed positions of the cloths' vertices, in m.
    pub(crate) rest: Arc<Vec<Vec3>>,
    /// Area of cloth around each of its vertices, in m².
    pub(crate) areas: Arc<Vec<f64>>,
    /// Mean length of the undeformed edges at each vertex of cloth, in m.
    pub(crate) edge_lengths: Vec<f64>,
    /// Factor on the undeformed length of each edge of cloth; empty where all are 1.
    pub(crate) length_scales: Vec<f64>,
    pub(crate) seams: Seams,
    exclusions: Exclusions,
    /// Whether there are seams or exclusions.
    has_exceptions: bool,
    /// Factor on the friction of each vertex of cloth; empty where all are 1.
    friction_scale: Vec<f64>,
    pub(crate) cloth_count: usize,
    pub(crate) cloth_vertices: usize,
    pub(crate) cloth_edges: usize,
    pub(crate) cloth_triangles: usize,
}

/// What the cloths bring.
pub(crate) struct ClothSurfaces<'a> {
    /// None where nothing can meet.
    pub(crate) triangles: &'a [[u32; 3]],
    /// First vertex of each cloth, and the number of all vertices last.
    pub(crate) starts: &'a [usize],
    /// One for each cloth.
    pub(crate) kinds: Vec<Surface>,
    /// Undeformed positions, in m.
    pub(crate) rest: Arc<Vec<Vec3>>,
    /// Area around each vertex, in m².
    pub(crate) areas: Arc<Vec<f64>>,
    /// Pairs of vertices that are sewn together.
    pub(crate) seams: &'a [[u32; 2]],
    pub(crate) exclusions: Exclusions,
    /// Factor on the friction of each vertex; empty where all are 1.
    pub(crate) friction_scale: Vec<f64>,
}

impl Surfaces {
    pub(crate) fn new(cloths: ClothSurfaces<'_>, colliders: &[Collider]) -> Self {
        let cloth_vertices = cloths.rest.len();
        let cloth_count = cloths.kinds.len();
        let mut triangles = cloths.triangles.to_vec();
        let (mut surfaces, mut bodies) = (Vec::new(), Vec::new());
        let lengths = cloths.starts.windows(2).map(|pair| pair[1] - pair[0]);
        for (cloth, (surface, length)) in cloths.kinds.into_iter().zip(lengths).enumerate() {
            surfaces.extend(std::iter::repeat_n(surface, length));
            bodies.extend(std::iter::repeat_n(cloth as u32, length));
        }
        for (index, collider) in colliders.iter().enumerate() {
            let first = surfaces.len() as u32;
            let Collider { friction, thickness, .. } = *collider;
            surfaces.extend(std::iter::repeat_n(
                Surface { friction, thickness },
                collider.vertex_count(),
            ));
            bodies
                .extend(std::iter::repeat_n((cloth_count + index) as u32, collider.vertex_count()));
            let outward = facing_outward(&collider.triangles, collider.positions());
            triangles.extend(outward.into_iter().map(|corners| corners.map(|v| v + first)));
        }
        let (edges, sides, wings) = edges_of(&triangles);
        let is_of_cloth = |edge: &[u32; 2]| (edge[0] as usize) < cloth_vertices;
        let mut joined = Self {
            around: Incidence::new(&triangles, surfaces.len()),
            cloth_edges: edges.partition_point(is_of_cloth),
            cloth_triangles: cloths.triangles.len(),
            is_closed: colliders.iter().map(|collider| is_closed(&collider.triangles)).collect(),
            insiders: Vec::new(),
            edge_lengths: mean_lengths(&edges, &cloths.rest),
            length_scales: Vec::new(),
            rest: cloths.rest,
            areas: cloths.areas,
            seams: Seams::new(cloths.seams, cloths.triangles, cloth_vertices),
            triangles,
            edges,
            sides,
            wings,
            kinds: surfaces,
            bodies,
            has_exceptions: !(cloths.seams.is_empty() && cloths.exclusions.is_empty()),
            exclusions: cloths.exclusions,
            friction_scale: cloths.friction_scale,
            cloth_count,
            cloth_vertices,
        };
        joined.scale_friction(0..cloth_vertices);
        joined
    }

    /// Gives vertices of cloth another surface.
    pub(crate) fn set_surface(&mut self, vertices: std::ops::Range<usize>, surface: &Surface) {
        self.kinds[vertices.clone()].fill(*surface);
        self.scale_friction(vertices);
    }

    fn scale_friction(&mut self, vertices: std::ops::Range<usize>) {
        if let Some(scales) = self.friction_scale.get(vertices.clone()) {
            for (kind, scale) in self.kinds[vertices].iter_mut().zip(scales) {
                kind.friction *= scale;
            }
        }
    }

    /// Whether two features never touch, because they are sewn together or left out.
    pub(crate) fn never_meet(&self, one: &[u32], other: &[u32]) -> bool {
        self.has_exceptions && {
            let bodies = [one, other].map(|feature| self.bodies[feature[0] as usize]);
            self.seams.join(one, other) || self.exclusions.part([one, other], bodies)
        }
    }

    /// Whether the motion of a vertex is sought, not given.
    pub(crate) fn is_cloth(&self, vertex: u32) -> bool {
        (vertex as usize) < self.cloth_vertices
    }

    /// Whether a vertex belongs to any triangle. What does not is no surface.
    pub(crate) fn has_triangles(&self, vertex: u32) -> bool {
        self.around.around(vertex as usize).next().is_some()
    }

    pub(crate) fn vertices_of_collider(&self, collider: usize) -> std::ops::Range<usize> {
        self.vertices_of((self.cloth_count + collider) as u32)
    }

    pub(crate) fn vertices_of(&self, body: u32) -> std::ops::Range<usize> {
        let end = |last: u32| self.bodies.partition_point(|one| *one < last);
        end(body)..end(body + 1)
    }

    /// Whether a body is a collider that has an inside.
    pub(crate) fn is_solid(&self, body: u32) -> bool {
        let collider = (body as usize).checked_sub(self.cloth_count);
        collider.is_some_and(|collider| self.is_closed[collider])
    }

    /// The side of a solid's triangles on which a cloth belongs: 1 where they face, or −1. `None` of what is no solid.
    pub(crate) fn side_of_solid(&self, cloth: u32, body: u32) -> Option<f64> {
        let side = if self.insiders.contains(&[cloth, body]) { -1.0 } else { 1.0 };
        self.is_solid(body).then_some(side)
    }

    /// Number of cloths and colliders.
    pub(crate) fn body_count(&self) -> usize {
        self.cloth_count + self.is_closed.len()
    }

    /// The body of a triangle.
    pub(crate) fn body_of_triangle(&self, triangle: u32) -> u32 {
        self.bodies[self.triangles[triangle as usize][0] as usize]
    }

    /// Unit normal of a triangle; `None` where it has no area.
    pub(crate) fn normal(&self, triangle: u32, positions: &[Vec3]) -> Option<Vec3> {
        let [a, b, c] = self.triangles[triangle as usize].map(|v| positions[v as usize]);
        (b - a).cross(&(c - a)).try_normalize(f64::MIN_POSITIVE)
    }

    /// Height of a vertex over the plane of a triangle, in m.
    pub(crate) fn height(&self, triangle: u32, positions: &[Vec3], vertex: u32) -> f64 {
        let corner = positions[self.triangles[triangle as usize][0] as usize];
        let normal = self.normal(triangle, positions).unwrap_or_else(Vec3::zeros);
        (positions[vertex as usize] - corner).dot(&normal)
    }

    /// How ridged the surface is at an edge.
    pub(crate) fn ridge(&self, edge: usize, positions: &[Vec3]) -> Ridge {
        let [start, end] = self.edges[edge].map(|vertex| positions[vertex as usize]);
        let along = end - start;
        let length = along.norm();
        let [left, right] = self.wings[edge].corners;
        if right == NONE {
            return Ridge { length, flat: 0.0 };
        }
        let across = [left, right].map(|corner| along.cross(&(positions[corner as usize] - start)));
        // Both point the same way where the triangles fold over.
        let cosine = -across[0].dot(&across[1]);
        let sine = across[0].cross(&across[1]).norm();
        let thickness = self.kinds[self.edges[edge][0] as usize].thickness;
        let is_flat = cosine > 0.0 && 0.5 * length * sine < 2.0 * FLAT * thickness * cosine;
        let heights = across.map(|doubled| doubled.norm() / length);
        Ridge { length, flat: if is_flat { 0.5 * heights[0].min(heights[1]) } else { 0.0 } }
    }

    /// Undeformed position of a cloth's vertex, in m.
    pub(crate) fn rest(&self, vertex: u32) -> Vec3 {
        self.rest[vertex as usize]
    }
}

/// Edges in ascending order of their vertices, the edges of every triangle, and the wings of every edge.
fn edges_of(triangles: &[[u32; 3]]) -> (Vec<[u32; 2]>, Vec<[u32; 3]>, Vec<Wings>) {
    let mut uses: Vec<([u32; 2], u32, u8)> = Vec::with_capacity(3 * triangles.len());
    for (triangle, corners) in triangles.iter().enumerate() {
        for corner in 0..3_u8 {
            let [a, b] = [1, 2].map(|step| corners[(usize::from(corner) + step) % 3]);
            uses.push(([a.min(b), a.max(b)], triangle as u32, corner));
        }
    }
    uses.sort_unstable();
    let (mut edges, mut wings): (Vec<[u32; 2]>, Vec<Wings>) = (Vec::new(), Vec::new());
    let mut sides = vec![[0; 3]; triangles.len()];
    for (edge, triangle, corner) in uses {
        if edges.last() != Some(&edge) {
            edges.push(edge);
            wings.push(Wings { corners: [NONE; 2], owner: triangle });
        }
        let index = edges.len() - 1;
        sides[triangle as usize][usize::from(corner)] = index as u32;
        let opposite = triangles[triangle as usize][usize::from(corner)];
        if let Some(free) = wings[index].corners.iter_mut().find(|corner| **corner == NONE) {
            *free = opposite;
        }
    }
    edges.shrink_to_fit();
    wings.shrink_to_fit();
    (edges, sides, wings)
}

/// Mean length of the edges at each of the vertices in m; infinite where there are none.
fn mean_lengths(edges: &[[u32; 2]], positions: &[Vec3]) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); positions.len()];
    for [start, end] in edges {
        let ends = [start, end].map(|vertex| *vertex as usize);
        let [Some(a), Some(b)] = ends.map(|vertex| positions.get(vertex)) else { continue };
        for vertex in ends {
            sums[vertex].0 += (a - b).norm();
            sums[vertex].1 += 1.0;
        }
    }
    sums.into_iter()
        .map(|(sum, count)| if count > 0.0 { sum / count } else { f64::INFINITY })
        .collect()
}

#[cfg(test)]
impl Surfaces {
    /// Leaves vertices of cloth out of contacts with colliders, and with cloth.
    pub(crate) fn leave_out(&mut self, free: Vec<[bool; 2]>) {
        self.exclusions = Exclusions::new(free, vec![Vec::new(); self.cloth_count]);
        self.has_exceptions = true;
    }

    /// Of thin cloths with these triangles, each from one of the `starts` to the next, at rest as they are, and of colliders.
    pub(crate) fn of_thin_cloths(
        (triangles, starts): (&[[u32; 3]], &[usize]),
        rest: Vec<Vec3>,
        colliders: &[Collider],
    ) -> Self {
        let cloths = ClothSurfaces {
            triangles,
            starts,
            kinds: vec![Surface { friction: 0.0, thickness: 0.001 }; starts.len() - 1],
            areas: Arc::new(vec![0.01; rest.len()]),
            rest: Arc::new(rest),
            seams: &[],
            exclusions: Exclusions::default(),
            friction_scale: Vec::new(),
        };
        Self::new(cloths, colliders)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_know_their_wings_and_triangles_their_sides() {
        let (edges, sides, wings) = edges_of(&[[0, 1, 2], [2, 1, 3]]);
        assert_eq!(edges, [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]]);
        assert_eq!(sides, [[2, 1, 0], [3, 4, 2]]);
        assert_eq!(wings[2], Wings { corners: [0, 3], owner: 0 });
        assert_eq!(wings[4], Wings { corners: [1, NONE], owner: 1 });
    }

    #[test]
    fn a_tetrahedron_has_an_inside_and_a_triangle_has_none() {
        assert!(is_closed(&[[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]));
        assert!(!is_closed(&[[0, 1, 2]]));
    }
}
