// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collision mesh: all cloths and colliders in one numbering, first the vertices, edges and
//! triangles of the cloths, then those of the colliders.
//!
//! Faces of more than three corners are cut into triangles. These and their edges are the surface that
//! contacts and untangling know. Whoever draws a face may cut it otherwise, so the mesh holds the
//! alternative triangles and the diagonals at them too, behind the others of the cloths and of the
//! colliders: step validation guards all.

use super::{
    alternative_features::AlternativeFeatures,
    contact_filter::ContactFilter,
    edge_adjacency::{EdgeAdjacency, build_edges, mean_lengths_at_vertices},
    seam_adjacency::SeamAdjacency,
    seam_strips::{SeamStrips, append_seam_strips},
};
use crate::{
    geometry::is_closed_surface,
    mesh::{AlternativeTriangles, Incidence, UnionFind},
    scene::Collider,
    vec3::Vec3,
};
use std::sync::Arc;

/// Contact properties of a vertex.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SurfaceProperties {
    /// Coulomb coefficient of friction.
    pub(crate) friction: f64,
    /// Contact thickness, in m.
    pub(crate) thickness: f64,
}

/// Cloths and colliders as one triangle mesh.
#[derive(Clone, Debug)]
pub(crate) struct CollisionMesh {
    pub(crate) triangles: Vec<[u32; 3]>,
    pub(crate) edges: Vec<[u32; 2]>,
    /// Edges of every triangle, each opposite the corner of the same number.
    pub(crate) triangle_edges: Vec<[u32; 3]>,
    /// Adjacent triangles of every edge.
    pub(crate) edge_adjacency: Vec<EdgeAdjacency>,
    /// Triangles around every vertex, without alternatives.
    pub(crate) vertex_triangles: Incidence,
    alternatives: AlternativeFeatures,
    /// Contact properties of every vertex.
    pub(crate) surface_properties: Vec<SurfaceProperties>,
    /// Body of every vertex: the cloths come first, then the colliders.
    pub(crate) bodies: Vec<u32>,
    /// For every collider whether it encloses a volume.
    pub(crate) is_closed: Vec<bool>,
    /// Pairs of a cloth and the body of a solid that it belongs inside of.
    pub(crate) enclosed_cloths: Vec<[u32; 2]>,
    /// Rest positions of the vertices of cloth, in m.
    pub(crate) rest_positions: Arc<Vec<Vec3>>,
    /// Rest area of cloth around each of its vertices, in m².
    pub(crate) vertex_areas: Arc<Vec<f64>>,
    /// Mean rest length of the edges at each vertex of cloth, in m.
    pub(crate) mean_edge_lengths: Vec<f64>,
    /// Factor on the rest length of each edge of cloth; empty where all are 1.
    pub(crate) rest_length_scales: Vec<f64>,
    /// Fraction of the contact thickness at each vertex for which there is room between colliders; empty where all are 1.
    pub(crate) thickness_fractions: Vec<f64>,
    pub(crate) seams: SeamAdjacency,
    pub(crate) seam_strips: SeamStrips,
    contact_filter: ContactFilter,
    /// Whether there are seams or filtered contacts.
    has_excluded_pairs: bool,
    /// Factor on the friction of each vertex of cloth; empty where all are 1.
    friction_scale: Vec<f64>,
    /// Place of each cloth in the order of garments, from the body outwards.
    pub(crate) layers: Vec<usize>,
    pub(crate) cloth_count: usize,
    pub(crate) cloth_vertex_count: usize,
    pub(crate) cloth_edge_count: usize,
    pub(crate) cloth_triangle_count: usize,
}

/// Collision data of all cloths of a scene.
pub(crate) struct ClothCollisionData<'a> {
    /// Triangles of cloth; none in a scene without collisions.
    pub(crate) triangles: &'a [[u32; 3]],
    /// Triangles that its faces may be drawn as beside these.
    pub(crate) alternatives: AlternativeTriangles,
    /// First vertex of each cloth, and the number of all vertices last.
    pub(crate) vertex_offsets: &'a [usize],
    /// Contact properties of each cloth.
    pub(crate) surface_properties: Vec<SurfaceProperties>,
    /// Rest positions, in m.
    pub(crate) rest_positions: Arc<Vec<Vec3>>,
    /// Rest area around each vertex, in m².
    pub(crate) vertex_areas: Arc<Vec<f64>>,
    /// Pairs of sewn vertices.
    pub(crate) seams: &'a [[u32; 2]],
    pub(crate) contact_filter: ContactFilter,
    /// Factor on the friction of each vertex; empty where all are 1.
    pub(crate) friction_scale: Vec<f64>,
    /// Place of each cloth in the order of garments, from the body outwards.
    pub(crate) layers: Vec<usize>,
}

impl CollisionMesh {
    pub(crate) fn new(mut cloths: ClothCollisionData<'_>, colliders: &[Collider]) -> Self {
        let cloth_vertices = cloths.rest_positions.len();
        let cloth_count = cloths.surface_properties.len();
        let bodies = bodies_of_vertices(cloths.vertex_offsets, colliders);
        let surface_properties = properties_of_vertices(&cloths, colliders);
        let strip_count = append_seam_strips(
            cloths.seams,
            cloths.triangles,
            cloth_vertices,
            &mut cloths.alternatives,
        ) as u32;
        let (alternatives, triangles, vertex_triangles) =
            AlternativeFeatures::new(&mut cloths, colliders, bodies.len());
        let (edges, triangle_edges, edge_adjacency) =
            build_edges(&triangles, |triangle| alternatives.contains(triangle));
        let in_use = |(edge, adjacency): (_, &EdgeAdjacency)| {
            (!alternatives.contains(adjacency.first_triangle)).then_some(edge)
        };
        let edges_in_use = edges.iter().zip(&edge_adjacency).filter_map(in_use);
        let is_of_cloth = |edge: &[u32; 2]| (edge[0] as usize) < cloth_vertices;
        let end = alternatives.first_collider_triangle as u32;
        let seam_strips = SeamStrips::new(
            end - strip_count..end,
            &triangle_edges,
            edges.partition_point(is_of_cloth),
            |edge| alternatives.contains(edge_adjacency[edge as usize].first_triangle),
        );
        let mut mesh = Self {
            mean_edge_lengths: mean_lengths_at_vertices(edges_in_use, &cloths.rest_positions),
            vertex_triangles,
            cloth_edge_count: edges.partition_point(is_of_cloth),
            cloth_triangle_count: alternatives.first_collider_triangle,
            is_closed: colliders
                .iter()
                .map(|collider| is_closed_surface(&collider.triangles))
                .collect(),
            enclosed_cloths: Vec::new(),
            rest_length_scales: Vec::new(),
            thickness_fractions: Vec::new(),
            rest_positions: cloths.rest_positions,
            vertex_areas: cloths.vertex_areas,
            seam_strips,
            seams: SeamAdjacency::new(cloths.seams, cloths.triangles, cloth_vertices),
            triangles,
            alternatives,
            edges,
            triangle_edges,
            edge_adjacency,
            surface_properties,
            bodies,
            has_excluded_pairs: !(cloths.seams.is_empty() && cloths.contact_filter.is_empty()),
            contact_filter: cloths.contact_filter,
            friction_scale: cloths.friction_scale,
            layers: cloths.layers,
            cloth_count,
            cloth_vertex_count: cloth_vertices,
        };
        mesh.scale_friction(0..cloth_vertices);
        mesh
    }

    /// Changes the contact properties of vertices of cloth.
    pub(crate) fn set_surface_properties(
        &mut self,
        vertices: std::ops::Range<usize>,
        properties: &SurfaceProperties,
    ) {
        self.surface_properties[vertices.clone()].fill(*properties);
        self.scale_friction(vertices);
    }

    fn scale_friction(&mut self, vertices: std::ops::Range<usize>) {
        if let Some(scales) = self.friction_scale.get(vertices.clone()) {
            for (properties, scale) in self.surface_properties[vertices].iter_mut().zip(scales) {
                properties.friction *= scale;
            }
        }
    }

    /// Whether two features never are in contact: sewn together, or excluded by the contact filter.
    pub(crate) fn excludes_pair(&self, one: &[u32], other: &[u32]) -> bool {
        self.has_excluded_pairs && {
            let bodies = [one, other].map(|feature| self.bodies[feature[0] as usize]);
            self.seams.connects(one, other)
                || self.contact_filter.excludes_pair([one, other], bodies)
        }
    }

    /// Whether strips of seams keep a vertex and a triangle from contact: a strip has none with colliders, and none
    /// while it is not guarded.
    pub(crate) fn strips_exclude_vertex_face(&self, vertex: u32, triangle: u32) -> bool {
        self.seam_strips.triangles.contains(&triangle)
            && (!self.is_cloth(vertex) || self.seam_strips.is_unguarded_triangle(triangle))
    }

    /// Whether strips of seams keep two edges from contact, as a vertex and a triangle.
    pub(crate) fn strips_exclude_edges(&self, first: u32, second: u32) -> bool {
        let excludes = |edge: u32, other: u32| {
            self.seam_strips.has_edge(edge)
                && (self.seam_strips.is_unguarded_edge(edge)
                    || self.seam_strips.has_edge(other)
                    || other as usize >= self.cloth_edge_count)
        };
        !self.seam_strips.is_empty() && (excludes(first, second) || excludes(second, first))
    }

    /// Whether a triangle is not in use, but may be drawn, or belongs to a strip of a seam.
    pub(crate) fn is_alternative_triangle(&self, triangle: u32) -> bool {
        self.alternatives.contains(triangle)
    }

    /// Whether an edge is no side of a triangle in use: the diagonal of a face, or between both sides of a seam.
    pub(crate) fn is_alternative_edge(&self, edge: u32) -> bool {
        self.is_alternative_triangle(self.edge_adjacency[edge as usize].first_triangle)
    }

    /// Triangles in use.
    pub(crate) fn triangles_in_use(&self) -> impl Iterator<Item = u32> + use<> {
        self.alternatives.others()
    }

    /// Triangles around a vertex, alternatives included, each with the vertex's corner in it.
    pub(crate) fn all_triangles_at(&self, vertex: u32) -> impl Iterator<Item = (u32, u8)> {
        let in_use = self.vertex_triangles.elements_of(vertex as usize);
        in_use.chain(self.alternatives.at_vertex(vertex))
    }

    /// Triangles at an edge, alternatives included.
    pub(crate) fn triangles_at_edge(&self, edge: u32) -> impl Iterator<Item = u32> {
        let [start, _] = self.edges[edge as usize];
        let around = self.all_triangles_at(start).map(|(triangle, _)| triangle);
        around.filter(move |triangle| self.triangle_edges[*triangle as usize].contains(&edge))
    }

    /// Guards the selected triangles of seam strips.
    pub(crate) fn guard_seam_strips(&mut self, is_guarded: impl Fn(u32) -> bool) {
        self.seam_strips.guard(&self.triangle_edges, is_guarded);
    }

    /// Vertices around the face that an alternative triangle belongs to; none for any other.
    pub(crate) fn face_of_alternative_triangle(&self, triangle: u32) -> &[u32] {
        self.alternatives.face_corners(triangle).unwrap_or_default()
    }

    /// Vertices around the face that an alternative edge is a diagonal of; none for any other.
    pub(crate) fn face_of_alternative_edge(&self, edge: u32) -> &[u32] {
        self.face_of_alternative_triangle(self.edge_adjacency[edge as usize].first_triangle)
    }

    /// Whether two edges are diagonals of one face that cross each other, so that only one of them can be drawn.
    pub(crate) fn are_crossing_diagonals(&self, first: u32, second: u32) -> bool {
        let [one, other] = [first, second].map(|edge| self.edges[edge as usize]);
        let faces = [first, second].map(|edge| self.face_of_alternative_edge(edge));
        faces.iter().any(|face| are_crossing_chords(face, one, other))
    }

    /// Whether the corners beside a vertex in its face both belong to an alternative triangle, which is drawn with the
    /// triangle of these three corners then: at their common side the two can fold, but not cross.
    pub(crate) fn is_ear_tip(&self, vertex: u32, triangle: u32) -> bool {
        let face = self.face_of_alternative_triangle(triangle);
        let corners = &self.triangles[triangle as usize];
        face.iter().position(|corner| *corner == vertex).is_some_and(|place| {
            let beside = [1, face.len() - 1].map(|step| face[(place + step) % face.len()]);
            beside.iter().all(|corner| corners.contains(corner))
        })
    }

    /// A triangle in use at an edge, for a diagonal one of its face, and between both sides of a seam one at its start.
    pub(crate) fn triangle_in_use_at(&self, edge: u32) -> u32 {
        let first = self.edge_adjacency[edge as usize].first_triangle;
        let face = self.face_of_alternative_triangle(first);
        let [start, _] = self.edges[edge as usize];
        let of_face = |(triangle, _): &(u32, u8)| {
            self.triangles[*triangle as usize].iter().all(|vertex| face.contains(vertex))
        };
        let mut around = self.vertex_triangles.elements_of(start as usize).peekable();
        let any = around.peek().copied();
        around.find(of_face).or(any).map_or(first, |(triangle, _)| triangle)
    }

    /// Whether a vertex belongs to a cloth rather than to a collider.
    pub(crate) fn is_cloth(&self, vertex: u32) -> bool {
        (vertex as usize) < self.cloth_vertex_count
    }

    /// Whether a vertex belongs to any triangle. Isolated vertices take no part in contacts.
    pub(crate) fn has_triangles(&self, vertex: u32) -> bool {
        self.vertex_triangles.elements_of(vertex as usize).next().is_some()
    }

    pub(crate) fn vertices_of_collider(&self, collider: usize) -> std::ops::Range<usize> {
        self.vertices_of_body((self.cloth_count + collider) as u32)
    }

    pub(crate) fn vertices_of_body(&self, body: u32) -> std::ops::Range<usize> {
        let end = |last: u32| self.bodies.partition_point(|one| *one < last);
        end(body)..end(body + 1)
    }

    /// Whether a body is a closed collider.
    pub(crate) fn is_solid(&self, body: u32) -> bool {
        let collider = (body as usize).checked_sub(self.cloth_count);
        collider.is_some_and(|collider| self.is_closed[collider])
    }

    /// Side of the triangles of a solid on which a cloth belongs: 1 outside, −1 inside. `None` for
    /// a body that is no solid.
    pub(crate) fn required_side_of_solid(&self, cloth: u32, body: u32) -> Option<f64> {
        let side = if self.enclosed_cloths.contains(&[cloth, body]) { -1.0 } else { 1.0 };
        self.is_solid(body).then_some(side)
    }

    /// Number of cloths and colliders.
    pub(crate) fn body_count(&self) -> usize {
        self.cloth_count + self.is_closed.len()
    }

    /// Body of a triangle.
    pub(crate) fn body_of_triangle(&self, triangle: u32) -> u32 {
        self.bodies[self.triangles[triangle as usize][0] as usize]
    }

    /// Connected component of each cloth vertex, named by its first vertex, by the edges that `join`;
    /// alternative edges never do.
    pub(crate) fn cloth_components(&self, join: impl Fn(usize) -> bool) -> Vec<u32> {
        let mut components = UnionFind::new(self.cloth_vertex_count);
        let edges =
            (0..self.cloth_edge_count).filter(|edge| !self.is_alternative_edge(*edge as u32));
        for edge in edges.filter(|edge| join(*edge)) {
            let [a, b] = self.edges[edge];
            components.union(a, b);
        }
        components.roots()
    }

    /// Fraction of the contact thickness for which there is room between colliders, the smallest one of these vertices.
    pub(crate) fn thickness_fraction(&self, vertices: &[u32]) -> f64 {
        let fractions =
            vertices.iter().filter_map(|one| self.thickness_fractions.get(*one as usize));
        fractions.fold(1.0, |smallest, one| smallest.min(*one))
    }

    /// Rest position of a vertex of cloth, in m.
    pub(crate) fn rest_position(&self, vertex: u32) -> Vec3 {
        self.rest_positions[vertex as usize]
    }
}

/// Number of vertices of every body.
fn body_sizes(vertex_offsets: &[usize], colliders: &[Collider]) -> impl Iterator<Item = usize> {
    let cloths = vertex_offsets.windows(2).map(|pair| pair[1] - pair[0]);
    cloths.chain(colliders.iter().map(Collider::vertex_count))
}

/// Body of every vertex.
fn bodies_of_vertices(vertex_offsets: &[usize], colliders: &[Collider]) -> Vec<u32> {
    let sizes = (0_u32..).zip(body_sizes(vertex_offsets, colliders));
    sizes.flat_map(|(body, size)| std::iter::repeat_n(body, size)).collect()
}

/// Contact properties of every vertex.
fn properties_of_vertices(
    cloths: &ClothCollisionData<'_>,
    colliders: &[Collider],
) -> Vec<SurfaceProperties> {
    let of_collider = |collider: &Collider| SurfaceProperties {
        friction: collider.friction,
        thickness: collider.thickness,
    };
    let bodies = cloths.surface_properties.iter().copied().chain(colliders.iter().map(of_collider));
    let sizes = body_sizes(cloths.vertex_offsets, colliders);
    bodies.zip(sizes).flat_map(|(one, size)| std::iter::repeat_n(one, size)).collect()
}

/// Whether lines between corners of a face cross each other inside of it if it is convex.
fn are_crossing_chords(face: &[u32], one: [u32; 2], other: [u32; 2]) -> bool {
    let place = |vertex: u32| face.iter().position(|corner| *corner == vertex);
    let [Some(a), Some(b)] = one.map(place) else { return false };
    let [Some(c), Some(d)] = other.map(place) else { return false };
    let is_between = |corner: usize| a.min(b) < corner && corner < a.max(b);
    [c, d].iter().all(|corner| *corner != a && *corner != b) && is_between(c) != is_between(d)
}

#[cfg(test)]
impl CollisionMesh {
    /// Excludes vertices of cloth from contacts with colliders, and with cloth.
    pub(crate) fn set_excluded_vertices(&mut self, excluded: Vec<[bool; 2]>) {
        self.contact_filter = ContactFilter::new(excluded, vec![Vec::new(); self.cloth_count]);
        self.has_excluded_pairs = true;
    }

    /// Mesh of thin cloths and of colliders: the vertices of each cloth range from one of the `vertex_offsets` to the
    /// next, and are at rest.
    pub(crate) fn of_thin_cloths(
        triangles: &[[u32; 3]],
        vertex_offsets: &[usize],
        rest: Vec<Vec3>,
        colliders: &[Collider],
    ) -> Self {
        let cloths = ClothCollisionData {
            triangles,
            alternatives: AlternativeTriangles::default(),
            vertex_offsets,
            surface_properties: vec![
                SurfaceProperties { friction: 0.0, thickness: 0.001 };
                vertex_offsets.len() - 1
            ],
            vertex_areas: Arc::new(vec![0.01; rest.len()]),
            rest_positions: Arc::new(rest),
            seams: &[],
            contact_filter: ContactFilter::default(),
            friction_scale: Vec::new(),
            layers: Vec::new(),
        };
        Self::new(cloths, colliders)
    }

    /// A square, a triangle at its corner 0, both of cloth, and the alternative triangle that is opposite of this
    /// corner.
    pub(crate) fn square_with_a_flap() -> (Self, Vec<Vec3>, u32) {
        const CUT: [[u32; 3]; 3] = [[0, 1, 2], [0, 2, 3], [0, 4, 5]];
        let points = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]];
        let rest: Vec<Vec3> = points.iter().map(|p| Vec3::new(p[0], p[1], 0.0)).collect();
        let faces = crate::mesh::Polygons::new(&[4, 3], &[0, 1, 2, 3, 0, 4, 5], 6).unwrap();
        let cloths = ClothCollisionData {
            triangles: &CUT,
            alternatives: faces.alternatives(crate::mesh::RestPositions::Vertex(&rest), &CUT),
            vertex_offsets: &[0, 6],
            surface_properties: vec![SurfaceProperties { friction: 0.0, thickness: 0.0 }],
            rest_positions: Arc::new(rest.clone()),
            vertex_areas: Arc::new(vec![0.25; 6]),
            seams: &[],
            contact_filter: ContactFilter::default(),
            friction_scale: Vec::new(),
            layers: Vec::new(),
        };
        let mesh = Self::new(cloths, &[]);
        let is_opposite = |corners: &[u32; 3]| *corners == [1, 2, 3];
        let opposite = mesh.triangles.iter().position(is_opposite).unwrap() as u32;
        (mesh, rest, opposite)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_chords_between_each_others_ends_cross() {
        let face = [7, 3, 9, 1, 4];
        for (one, other, do_cross) in [
            ([7, 9], [3, 1], true),
            ([7, 9], [1, 4], false),
            ([7, 9], [9, 4], false),
            ([9, 4], [1, 3], true),
            ([7, 9], [3, 2], false),
        ] {
            assert_eq!(are_crossing_chords(&face, one, other), do_cross, "{one:?} {other:?}");
            assert_eq!(are_crossing_chords(&face, other, one), do_cross, "{other:?} {one:?}");
        }
    }

    #[test]
    fn a_tetrahedron_has_an_inside_and_a_triangle_has_none() {
        assert!(is_closed_surface(&[[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]));
        assert!(!is_closed_surface(&[[0, 1, 2]]));
    }
}
