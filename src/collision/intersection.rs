// SPDX-License-Identifier: MIT OR Apache-2.0
//! Edge–triangle intersections of the collision mesh.

use crate::{
    geometry::segment_intersects_triangle,
    surface::{CollisionMesh, Configuration},
};

/// Edge and triangle that intersect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Intersection {
    pub(crate) edge: u32,
    pub(crate) triangle: u32,
}

impl Intersection {
    /// Whether the edge or the triangle is an alternative.
    pub(crate) fn is_alternative(self, mesh: &CollisionMesh) -> bool {
        mesh.is_alternative_edge(self.edge) || mesh.is_alternative_triangle(self.triangle)
    }

    /// Whether the edge or the triangle belongs to a strip between both sides of a seam.
    pub(crate) fn is_of_strip(self, mesh: &CollisionMesh) -> bool {
        mesh.seam_strips.has_edge(self.edge) || mesh.seam_strips.triangles.contains(&self.triangle)
    }

    /// Whether one of them belongs to a strip between both sides of a seam, and the other to cloth.
    pub(crate) fn is_between_strip_and_cloth(self, mesh: &CollisionMesh) -> bool {
        let is_edge_of_strip = mesh.seam_strips.has_edge(self.edge);
        is_edge_of_strip != mesh.seam_strips.triangles.contains(&self.triangle)
            && self.bodies(mesh).iter().all(|body| (*body as usize) < mesh.cloth_count)
    }

    /// Whether the edge or the triangle is an alternative of a face, and the other one hangs at a reflex corner of this
    /// face. The alternative lies outside of the face there, in its plane, where its neighbours are, and is not drawn
    /// unless the face is folded by more than a right angle.
    pub(crate) fn is_at_reflex_corner(self, configuration: Configuration<'_>) -> bool {
        let Self { edge, triangle } = self;
        let mesh = configuration.mesh;
        let (ends, corners) = (mesh.edges[edge as usize], mesh.triangles[triangle as usize]);
        configuration.is_at_reflex_corner(mesh.face_of_alternative_triangle(triangle), &ends)
            || configuration.is_at_reflex_corner(mesh.face_of_alternative_edge(edge), &corners)
    }

    /// Bodies of the edge and of the triangle.
    pub(crate) fn bodies(self, mesh: &CollisionMesh) -> [u32; 2] {
        let [end, _] = mesh.edges[self.edge as usize];
        [mesh.bodies[end as usize], mesh.body_of_triangle(self.triangle)]
    }
}

/// Whether an edge passes through a triangle without a common vertex, in a pair that is not excluded.
pub(crate) fn is_intersecting(
    configuration: Configuration<'_>,
    Intersection { edge, triangle }: Intersection,
) -> bool {
    let mesh = configuration.mesh;
    let ends = mesh.edges[edge as usize];
    let corners = mesh.triangles[triangle as usize];
    let [start, end] = configuration.edge_ends(edge);
    !ends.iter().any(|vertex| corners.contains(vertex))
        && !mesh.triangle_edges[triangle as usize]
            .iter()
            .any(|side| mesh.are_crossing_diagonals(edge, *side))
        && !mesh.excludes_pair(&ends, &corners)
        && segment_intersects_triangle(&start, &end, &configuration.triangle_corners(triangle))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec3::Vec3;

    fn edge(mesh: &CollisionMesh, ends: [u32; 2]) -> u32 {
        mesh.edges.iter().position(|one| *one == ends).unwrap() as u32
    }

    /// Whether an edge passes through a triangle after vertices have moved to other places, in m, and not at a reflex
    /// corner.
    fn passes(ends: [u32; 2], corners: Option<[u32; 3]>, places: &[(usize, [f64; 3])]) -> bool {
        let (mesh, mut positions, opposite) = CollisionMesh::square_with_a_flap();
        for (vertex, place) in places {
            positions[*vertex] = Vec3::from(*place);
        }
        let is_wanted = |one: &[u32; 3]| Some(*one) == corners;
        let wanted = mesh.triangles.iter().position(is_wanted).map(|index| index as u32);
        let triangle = wanted.unwrap_or(opposite);
        let configuration = Configuration { mesh: &mesh, positions: &positions };
        let intersection = Intersection { edge: edge(&mesh, ends), triangle };
        is_intersecting(configuration, intersection)
            && !intersection.is_at_reflex_corner(configuration)
    }

    #[test]
    fn what_hangs_at_a_reflex_corner_may_pass_through_what_is_not_drawn() {
        let inward = (0, [0.6, 0.6, -0.1]);
        assert!(!passes([0, 4], None, &[inward, (4, [0.6, 0.6, 1.0])]));
        let around_diagonal = [inward, (4, [0.4, 0.4, -0.1]), (5, [0.5, 0.5, 0.2])];
        assert!(!passes([1, 3], Some([0, 4, 5]), &around_diagonal));
    }

    #[test]
    fn other_cloth_may_not_pass_through_the_alternatives_of_a_face() {
        // Another edge while the corner is reflex, and an edge at the corner while it is convex.
        let through = [(4, [0.8, 0.8, -1.0]), (5, [0.8, 0.8, 1.0])];
        let inward = (0, [0.6, 0.6, -0.1]);
        assert!(passes([4, 5], None, &[through[0], through[1], inward]));
        assert!(passes([0, 4], None, &[(0, [0.0, 0.0, -0.1]), (4, [1.4, 1.4, 0.1])]));
        let around_diagonal = [(0, [0.0, 0.0, -0.5]), (4, [1.0, 1.0, -0.5]), (5, [0.5, 0.5, 0.5])];
        assert!(passes([1, 3], Some([0, 4, 5]), &around_diagonal));
    }
}
