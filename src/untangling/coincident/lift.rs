// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lift of coincident vertices above their support.
//!
//! The lift is outward from solids, or inward where the cloth belongs inside; else away from the
//! supports of earlier lifts; else to the side of the adjacent cloth that does not
//! coincide, or of most vertices that are off the support by more than rounding; else along the
//! normals of the support.

use super::{COINCIDENT, PatchExtent, fold_patches::FoldPatches};
use crate::{
    geometry::{Aabb, AabbTree, closest_point_on_triangle, closest_points_of_segments},
    surface::{CollisionMesh, Configuration},
    vec3::Vec3,
};

/// Length of a sum of normals that are opposed up to rounding.
const MIN_NORMAL_SUM: f64 = 1.0e-9;

/// Height in m to which a cloth vertex is lifted above the surface of another vertex.
pub(super) fn lift_height(mesh: &CollisionMesh, vertex: u32, other: u32) -> f64 {
    let [own, others] =
        [vertex, other].map(|vertex| mesh.surface_properties[vertex as usize].thickness);
    COINCIDENT.lift_fraction * (own + others).min(mesh.mean_edge_lengths[vertex as usize])
}

/// Cloth vertex that coincides with its support.
pub(super) struct CoincidentVertex {
    vertex: u32,
    /// Closest point of the support, in m.
    closest_point: Vec3,
    /// Unit normal of the support, or zero for degenerate faces.
    support_normal: Vec3,
    /// Lift height, in m.
    lift_height: f64,
    /// Signed height of the vertex above the support, in m.
    signed_offset: f64,
}

impl CoincidentVertex {
    /// The cloth vertex.
    pub(super) fn vertex(&self) -> u32 {
        self.vertex
    }

    /// Side of the support to which an earlier lift has displaced the vertex, if it was aligned.
    fn side_of_last_lift(&self, lift_directions: &[Vec3]) -> Option<f64> {
        let upward = self.support_normal.dot(&lift_directions[self.vertex as usize]);
        (upward.abs() > COINCIDENT.min_lift_alignment).then(|| upward.signum())
    }
}

/// Features of a patch with which some cloth may coincide: vertices, edges and triangles.
pub(super) struct SupportPatch<'a> {
    patches: &'a FoldPatches,
    patch: u32,
    body: u32,
    /// Bounds of all features, grown by the largest lift height.
    bounds: Aabb,
    features: [SupportFeatures; 3],
}

/// Features of one dimension.
struct SupportFeatures {
    /// Of each feature; the last is repeated where there are less than three.
    vertices: Vec<[u32; 3]>,
    tree: AabbTree,
}

/// Side to which connected cloth is lifted.
pub(super) struct LiftSide {
    /// Side of a solid on which the cloth belongs.
    side_of_solid: Option<f64>,
    /// Side of most of the cloth, or of earlier lifts.
    default_side: f64,
}

impl<'a> SupportPatch<'a> {
    /// Features of the patch with the vertices `below`, in ascending order, with which cloth
    /// `above` may coincide.
    pub(super) fn new(
        Configuration { mesh, positions }: Configuration<'_>,
        patches: &'a FoldPatches,
        below: &[u32],
        above: &PatchExtent,
    ) -> Self {
        let max_height = above.max_lift_height(mesh, below[0]);
        let bounds = above.bounds.inflated(max_height);
        let aabb = |vertices: &[u32]| {
            Aabb::from_points(vertices.iter().map(|vertex| &positions[*vertex as usize]))
        };
        let mut vertices_of_features: [Vec<[u32; 3]>; 3] = Default::default();
        for vertex in below {
            let mut is_used = false;
            let triangles = mesh.vertex_triangles.elements_of(*vertex as usize);
            for (triangle, corner) in
                triangles.filter(|(triangle, _)| patches.is_nondegenerate(*triangle))
            {
                is_used = true;
                let corners = mesh.triangles[triangle as usize];
                let is_listed = corners[..usize::from(corner)]
                    .iter()
                    .any(|corner| below.binary_search(corner).is_ok());
                if is_listed || !aabb(&corners).overlaps(&bounds) {
                    continue;
                }
                vertices_of_features[2].push(corners);
                let sides = mesh.triangle_edges[triangle as usize].into_iter();
                let owned = sides
                    .filter(|edge| mesh.edge_adjacency[*edge as usize].first_triangle == triangle);
                let ends = owned.map(|edge| mesh.edges[edge as usize]);
                vertices_of_features[1].extend(ends.map(|[start, end]| [start, end, end]));
            }
            // Vertices without triangles have no normal.
            if is_used && bounds.contains_point(&positions[*vertex as usize]) {
                vertices_of_features[0].push([*vertex; 3]);
            }
        }
        let features = vertices_of_features.map(|vertices| {
            let boxes: Vec<Aabb> = vertices.iter().map(|corners| aabb(corners)).collect();
            SupportFeatures { tree: AabbTree::new(&boxes), vertices }
        });
        let boxes = features[2].vertices.iter().map(|corners| aabb(corners));
        let bounds_of_triangles = boxes.fold(Aabb::EMPTY, |one, other| one.merged(&other));
        Self {
            patches,
            patch: patches.patch_of_feature(&below[..1]),
            body: mesh.bodies[below[0] as usize],
            bounds: if features[2].vertices.is_empty() {
                bounds_of_triangles
            } else {
                bounds_of_triangles.inflated(max_height)
            },
            features,
        }
    }

    /// Coincidence of a cloth vertex with this support, if any.
    pub(super) fn coincident_vertex(
        &self,
        configuration: Configuration<'_>,
        vertex: u32,
    ) -> Option<CoincidentVertex> {
        let Configuration { mesh, positions } = configuration;
        if !self.bounds.contains_point(&positions[vertex as usize]) {
            return None;
        }
        let [first, ..] = self.features[2].vertices.first()?;
        let height = lift_height(mesh, vertex, *first);
        let (closest_point, vertices) = self
            .features
            .iter()
            .find_map(|features| features.closest_point(configuration, vertex, height))?;
        let normal = self.support_normal(configuration, vertices);
        let offset = (positions[vertex as usize] - closest_point).dot(&normal);
        Some(CoincidentVertex {
            vertex,
            closest_point,
            support_normal: normal,
            lift_height: height,
            signed_offset: offset,
        })
    }

    /// Cosine between the normal of the closest triangle and the offset to a vertex; zero if the
    /// vertex is hardly off its plane.
    fn side_cosine(&self, configuration: Configuration<'_>, vertex: u32) -> f64 {
        let Configuration { mesh, positions } = configuration;
        let nearest = self.features[2].closest_point(configuration, vertex, f64::INFINITY);
        nearest.map_or(0.0, |(closest_point, vertices)| {
            let offset = positions[vertex as usize] - closest_point;
            let height = offset.dot(&self.support_normal(configuration, vertices));
            let is_off = height.abs() > lift_height(mesh, vertex, vertices[0]);
            if is_off { height / offset.norm() } else { 0.0 }
        })
    }

    /// Normal of the triangles of the patch that contain all given corners: a unit vector, or zero
    /// if all are degenerate.
    fn support_normal(&self, configuration: Configuration<'_>, vertices: [u32; 3]) -> Vec3 {
        let mesh = configuration.mesh;
        let is_there = |(triangle, _): (u32, u8)| {
            let corners = mesh.triangles[triangle as usize];
            let has_all = vertices.iter().all(|vertex| corners.contains(vertex));
            // Beyond a fold the normals are reversed.
            let is_own = self.patches.is_nondegenerate(triangle)
                && self.patches.patch_of_feature(&corners) == self.patch;
            (has_all && is_own).then_some(triangle)
        };
        let triangles =
            mesh.vertex_triangles.elements_of(vertices[0] as usize).filter_map(is_there);
        let mut normals = triangles.filter_map(|triangle| configuration.triangle_normal(triangle));
        let first = normals.next().unwrap_or_else(Vec3::zeros);
        // Opposed normals are equivalent.
        (first + normals.sum::<Vec3>()).try_normalize(MIN_NORMAL_SUM).unwrap_or(first)
    }
}

impl LiftSide {
    /// Side for the vertices `coincident`, sorted by vertex, whose rounding error is
    /// `error` in m; `lift_directions` are the directions of earlier lifts.
    pub(super) fn new(
        support: &SupportPatch<'_>,
        configuration: Configuration<'_>,
        coincident: &[CoincidentVertex],
        error: f64,
        lift_directions: &[Vec3],
    ) -> Self {
        let mesh = configuration.mesh;
        let Some(first) = coincident.first() else {
            return Self { side_of_solid: None, default_side: 1.0 };
        };
        let cloth = mesh.bodies[first.vertex as usize];
        let side_of_solid = mesh.required_side_of_solid(cloth, support.body);
        let previous_side: f64 =
            coincident.iter().filter_map(|vertex| vertex.side_of_last_lift(lift_directions)).sum();
        let is_known = side_of_solid.is_some() || previous_side != 0.0;
        let others = if is_known { Vec::new() } else { adjacent_vertices(mesh, coincident) };
        let adjacent_sides: f64 =
            others.iter().map(|vertex| support.side_cosine(configuration, *vertex)).sum();
        let is_off = |vertex: &&CoincidentVertex| {
            vertex.signed_offset.abs()
                > error.min(COINCIDENT.min_offset_fraction * vertex.lift_height)
        };
        let count = |side: f64| {
            coincident
                .iter()
                .filter(is_off)
                .filter(|vertex| vertex.signed_offset * side > 0.0)
                .count()
        };
        let is_mostly_below = || count(-1.0) > COINCIDENT.majority * count(1.0);
        let is_below = match (previous_side, adjacent_sides) {
            (0.0, 0.0) => is_mostly_below(),
            (0.0, adjacent_sides) => adjacent_sides < 0.0,
            (previous_side, _) => previous_side < 0.0,
        };
        Self { side_of_solid, default_side: if is_below { -1.0 } else { 1.0 } }
    }

    /// Lifts the coincident vertices, and updates the lift directions `lift_directions`.
    pub(super) fn apply(
        &self,
        coincident: &[CoincidentVertex],
        positions: &mut [Vec3],
        lift_directions: &mut [Vec3],
    ) {
        for one in coincident {
            let side = self
                .side_of_solid
                .or_else(|| one.side_of_last_lift(lift_directions))
                .unwrap_or(self.default_side);
            let CoincidentVertex {
                vertex,
                closest_point,
                support_normal: normal,
                lift_height: height,
                ..
            } = one;
            let (position, direction) =
                (&mut positions[*vertex as usize], &mut lift_directions[*vertex as usize]);
            let is_first = *direction == Vec3::zeros();
            *direction = normal * side;
            if is_first {
                *position = *closest_point;
            }
            // Earlier supports stay below.
            *position += *direction * (height - (*position - closest_point).dot(direction));
        }
    }
}

/// Vertices adjacent to the coincident ones that are not coincident themselves, sorted.
fn adjacent_vertices(mesh: &CollisionMesh, coincident: &[CoincidentVertex]) -> Vec<u32> {
    let triangles =
        coincident.iter().flat_map(|one| mesh.vertex_triangles.elements_of(one.vertex as usize));
    let corners = triangles.flat_map(|(triangle, _)| mesh.triangles[triangle as usize]);
    let is_coincident =
        |vertex: &u32| coincident.binary_search_by_key(vertex, |one| one.vertex).is_ok();
    let mut others: Vec<u32> = corners.filter(|vertex| !is_coincident(vertex)).collect();
    others.sort_unstable();
    others.dedup();
    others
}

impl SupportFeatures {
    /// Closest point within `radius` among the features that a vertex may meet, in m, and the
    /// vertices of the feature.
    fn closest_point(
        &self,
        Configuration { mesh, positions }: Configuration<'_>,
        vertex: u32,
        radius: f64,
    ) -> Option<(Vec3, [u32; 3])> {
        let point = &positions[vertex as usize];
        let nearest = self.tree.nearest(point, radius, |index| {
            let vertices = self.vertices[index];
            if vertices.contains(&vertex) || mesh.excludes_pair(&[vertex], &vertices) {
                return (f64::INFINITY, *point);
            }
            let corners = vertices.map(|vertex| positions[vertex as usize]);
            let offset = if vertices[1] == vertices[2] {
                closest_points_of_segments(&[*point; 2], &[corners[0], corners[1]]).offset
            } else {
                closest_point_on_triangle(point, &corners).offset
            };
            (offset.norm_squared(), point - offset)
        })?;
        nearest
            .distance_squared
            .is_finite()
            .then_some((nearest.payload, self.vertices[nearest.primitive]))
    }
}
