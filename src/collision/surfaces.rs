// SPDX-License-Identifier: MIT OR Apache-2.0
//! All surfaces that may touch, in one numbering: first the vertices, edges and triangles of the cloths, then
//! those of the colliders.

use super::Collider;
use crate::{Vec3, mesh::Incidence};

/// Part of the thickness that a flat surface may fall away by.
const FLAT: f64 = 0.25;

/// What a vertex brings into a contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surface {
    /// Coulomb coefficient of friction.
    pub(crate) friction: f64,
    /// Contact thickness, in m.
    pub(crate) thickness: f64,
}

/// No triangle, or no corner.
pub(crate) const NONE: u32 = u32::MAX;

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
    pub(crate) surfaces: Vec<Surface>,
    /// The cloth or, counted on, the collider of every vertex.
    pub(crate) bodies: Vec<u32>,
    /// For every collider whether it has an inside.
    pub(crate) is_closed: Vec<bool>,
    /// Undeformed positions of the cloths' vertices, in m.
    pub(crate) rest: Vec<Vec3>,
    /// Area of cloth around each of its vertices, in m².
    pub(crate) areas: Vec<f64>,
    pub(crate) cloth_count: usize,
    pub(crate) cloth_vertices: usize,
    pub(crate) cloth_edges: usize,
    pub(crate) cloth_triangles: usize,
}

/// What the cloths bring.
pub(crate) struct ClothSurfaces<'a> {
    pub(crate) triangles: &'a [[u32; 3]],
    /// First vertex of each cloth, and the number of all vertices last.
    pub(crate) starts: &'a [usize],
    /// One for each cloth.
    pub(crate) surfaces: Vec<Surface>,
    /// Undeformed positions, in m.
    pub(crate) rest: Vec<Vec3>,
    /// Area around each vertex, in m².
    pub(crate) areas: &'a [f64],
}

impl Surfaces {
    pub(crate) fn new(cloths: ClothSurfaces<'_>, colliders: &[Collider]) -> Self {
        let cloth_vertices = cloths.rest.len();
        let cloth_count = cloths.surfaces.len();
        let mut triangles = cloths.triangles.to_vec();
        let (mut surfaces, mut bodies) = (Vec::new(), Vec::new());
        let lengths = cloths.starts.windows(2).map(|pair| pair[1] - pair[0]);
        for (cloth, (surface, length)) in cloths.surfaces.into_iter().zip(lengths).enumerate() {
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
            let moved = collider.triangles.iter().map(|corners| corners.map(|v| v + first));
            triangles.extend(moved);
        }
        let (edges, sides, wings) = edges_of(&triangles);
        let is_of_cloth = |edge: &[u32; 2]| (edge[0] as usize) < cloth_vertices;
        Self {
            around: Incidence::new(&triangles, surfaces.len()),
            cloth_edges: edges.partition_point(is_of_cloth),
            cloth_triangles: cloths.triangles.len(),
            is_closed: colliders.iter().map(|collider| is_closed(&collider.triangles)).collect(),
            rest: cloths.rest,
            areas: cloths.areas.to_vec(),
            triangles,
            edges,
            sides,
            wings,
            surfaces,
            bodies,
            cloth_count,
            cloth_vertices,
        }
    }

    /// Whether the motion of a vertex is sought, not given.
    pub(crate) fn is_cloth(&self, vertex: u32) -> bool {
        (vertex as usize) < self.cloth_vertices
    }

    /// Whether a vertex belongs to a collider that has an inside.
    pub(crate) fn is_of_solid(&self, vertex: u32) -> bool {
        let body = self.bodies[vertex as usize] as usize;
        body >= self.cloth_count && self.is_closed[body - self.cloth_count]
    }

    /// Whether the surface is so flat around an edge that its vertices and triangles keep others away as well as
    /// the edge itself: over half its length it falls away by less than a part of the thickness.
    pub(crate) fn is_flat(&self, edge: usize, positions: &[Vec3]) -> bool {
        let [start, end] = self.edges[edge].map(|vertex| positions[vertex as usize]);
        let [left, right] = self.wings[edge].corners;
        if right == NONE {
            return true;
        }
        let along = end - start;
        let across = [left, right].map(|corner| along.cross(&(positions[corner as usize] - start)));
        // Both point the same way where the triangles fold over.
        let cosine = -across[0].dot(&across[1]);
        let sine = across[0].cross(&across[1]).norm();
        let thickness = self.surfaces[self.edges[edge][0] as usize].thickness;
        cosine > 0.0 && 0.5 * along.norm() * sine < 2.0 * FLAT * thickness * cosine
    }

    /// Whether an edge belongs to one triangle only.
    pub(crate) fn is_border(&self, edge: usize) -> bool {
        self.wings[edge].corners[1] == NONE
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
    (edges, sides, wings)
}

/// Whether every edge is run along once in each direction.
fn is_closed(triangles: &[[u32; 3]]) -> bool {
    let sides = triangles.iter().flat_map(|[a, b, c]| [[*a, *b], [*b, *c], [*c, *a]]);
    let mut there: Vec<[u32; 2]> = sides.collect();
    let mut back: Vec<[u32; 2]> = there.iter().map(|[a, b]| [*b, *a]).collect();
    there.sort_unstable();
    back.sort_unstable();
    there == back && there.iter().zip(&there[1..]).all(|(side, next)| side != next)
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
