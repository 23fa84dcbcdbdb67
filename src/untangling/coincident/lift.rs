// SPDX-License-Identifier: MIT OR Apache-2.0
//! What cloth is put above.
//!
//! Above is outside of solids, or inside where the cloth belongs there; away from what the cloth has been put above
//! already; else on the side where the cloth around is that does not coincide, or most of that which does by more than
//! rounding; else where the faces look.

use super::{FINEST, fold_patches::FoldPatches};
use crate::{
    Vec3,
    geometry::{Aabb, AabbTree, closest_point_on_triangle, closest_points_of_segments},
    surface::CollisionMesh,
};

/// Nearer than this part of the distance that both keep, and of the edges there, things are in one place, and so high
/// above it they begin: much more than rounding moves a garment, and nothing that can be seen.
pub(crate) const PART: f64 = 1.0 / 40.0;
/// Cloth is on a side where there are more than so many times as many vertices as on the other.
const MOST: usize = 3;
/// Cosine of the angle between what cloth was put above and the next ground up to which that tells the side there.
const ALIGNED: f64 = 0.5;
/// Length of a sum of normals that are opposed but for rounding.
const MIN_NORMAL_SUM: f64 = 1.0e-9;

/// How high above another vertex's surface a vertex of cloth begins, in m.
pub(crate) fn lift_height(surfaces: &CollisionMesh, vertex: u32, other: u32) -> f64 {
    let [own, others] =
        [vertex, other].map(|one| surfaces.surface_properties[one as usize].thickness);
    PART * (own + others).min(surfaces.mean_edge_lengths[vertex as usize])
}

/// A vertex of cloth in one place with the ground.
pub(crate) struct CoincidentVertex {
    vertex: u32,
    /// Where that is, in m.
    closest_point: Vec3,
    /// Where the ground looks there: a unit vector, or zero where it has no area.
    support_normal: Vec3,
    /// How far above it the vertex begins, in m.
    lift_height: f64,
    /// How far above it the vertex is, in m.
    signed_offset: f64,
}

impl CoincidentVertex {
    /// The vertex of cloth.
    pub(crate) fn vertex(&self) -> u32 {
        self.vertex
    }

    /// The side of the ground where the vertex has been put by another one.
    fn side_of_last_lift(&self, ups: &[Vec3]) -> Option<f64> {
        let upward = self.support_normal.dot(&ups[self.vertex as usize]);
        (upward.abs() > ALIGNED).then(|| upward.signum())
    }
}

/// What some cloth may coincide with of a panel: vertices, edges and triangles.
pub(crate) struct SupportPatch<'a> {
    patches: &'a FoldPatches,
    patch: u32,
    body: u32,
    /// Around all of them, and as far as they reach.
    bounds: Aabb,
    features: [SupportFeatures; 3],
}

/// Features of one kind.
struct SupportFeatures {
    /// Of each; the last one again and again where there are less than three.
    vertices: Vec<[u32; 3]>,
    tree: AabbTree,
}

/// Where vertices of cloth that hangs together are lifted.
pub(crate) struct LiftSide {
    /// The side of a solid where the cloth belongs.
    side_of_solid: Option<f64>,
    /// The side where most of the cloth is, or has been put.
    default_side: f64,
}

impl<'a> SupportPatch<'a> {
    /// What cloth in a box may coincide with of the panel with the vertices `below`, in ascending order, which reach so far
    /// in m.
    pub(crate) fn new(
        (surfaces, positions): (&CollisionMesh, &[Vec3]),
        (patches, below): (&'a FoldPatches, &[u32]),
        (above, reach): (&Aabb, f64),
    ) -> Self {
        let bounds = above.inflated(reach);
        let around = |vertices: &[u32]| {
            Aabb::from_points(vertices.iter().map(|vertex| &positions[*vertex as usize]))
        };
        let mut kinds: [Vec<[u32; 3]>; 3] = Default::default();
        for vertex in below {
            let mut is_used = false;
            let around_vertex = surfaces.vertex_triangles.elements_of(*vertex as usize);
            for (triangle, corner) in
                around_vertex.filter(|(one, _)| patches.is_nondegenerate(*one))
            {
                is_used = true;
                let corners = surfaces.triangles[triangle as usize];
                let is_known = corners[..usize::from(corner)]
                    .iter()
                    .any(|one| below.binary_search(one).is_ok());
                if is_known || !around(&corners).overlaps(&bounds) {
                    continue;
                }
                kinds[2].push(corners);
                let sides = surfaces.triangle_edges[triangle as usize].into_iter();
                let owned = sides.filter(|edge| {
                    surfaces.edge_adjacency[*edge as usize].first_triangle == triangle
                });
                let ends = owned.map(|edge| surfaces.edges[edge as usize]);
                kinds[1].extend(ends.map(|[start, end]| [start, end, end]));
            }
            // Loose vertices face nowhere.
            if is_used && bounds.contains_point(&positions[*vertex as usize]) {
                kinds[0].push([*vertex; 3]);
            }
        }
        let features = kinds.map(|vertices| {
            let boxes: Vec<Aabb> = vertices.iter().map(|three| around(three)).collect();
            SupportFeatures { tree: AabbTree::new(&boxes), vertices }
        });
        let near = features[2].vertices.iter().map(|three| around(three));
        let near = near.fold(Aabb::EMPTY, |one, other| one.merged(&other));
        Self {
            patches,
            patch: patches.patch_of_feature(&below[..1]),
            body: surfaces.bodies[below[0] as usize],
            bounds: if features[2].vertices.is_empty() { near } else { near.inflated(reach) },
            features,
        }
    }

    /// Where a vertex of cloth coincides with this, if it does.
    pub(crate) fn coincident_vertex(
        &self,
        (surfaces, positions): (&CollisionMesh, &[Vec3]),
        vertex: u32,
    ) -> Option<CoincidentVertex> {
        if !self.bounds.contains_point(&positions[vertex as usize]) {
            return None;
        }
        let [first, ..] = self.features[2].vertices.first()?;
        let height = lift_height(surfaces, vertex, *first);
        let (place, vertices) = self
            .features
            .iter()
            .find_map(|features| features.closest_point((surfaces, positions), vertex, height))?;
        let normal = self.support_normal((surfaces, positions), vertices);
        let offset = (positions[vertex as usize] - place).dot(&normal);
        Some(CoincidentVertex {
            vertex,
            closest_point: place,
            support_normal: normal,
            lift_height: height,
            signed_offset: offset,
        })
    }

    /// On which side of its nearest triangle a vertex is: the cosine of the angle between the way from there and the
    /// normal, or zero where it is hardly off the plane.
    fn side_cosine(&self, (surfaces, positions): (&CollisionMesh, &[Vec3]), vertex: u32) -> f64 {
        let nearest = self.features[2].closest_point((surfaces, positions), vertex, f64::INFINITY);
        nearest.map_or(0.0, |(place, vertices)| {
            let way = positions[vertex as usize] - place;
            let rise = way.dot(&self.support_normal((surfaces, positions), vertices));
            let is_off = rise.abs() > lift_height(surfaces, vertex, vertices[0]);
            if is_off { rise / way.norm() } else { 0.0 }
        })
    }

    /// Where the triangles of the panel look that have all of these corners: a unit vector, or zero where none has an area.
    fn support_normal(
        &self,
        (surfaces, positions): (&CollisionMesh, &[Vec3]),
        vertices: [u32; 3],
    ) -> Vec3 {
        let is_there = |(triangle, _): (u32, u8)| {
            let corners = surfaces.triangles[triangle as usize];
            let has_all = vertices.iter().all(|vertex| corners.contains(vertex));
            // What is beyond a fold looks to the other side.
            let is_own = self.patches.is_nondegenerate(triangle)
                && self.patches.patch_of_feature(&corners) == self.patch;
            (has_all && is_own).then_some(triangle)
        };
        let around =
            surfaces.vertex_triangles.elements_of(vertices[0] as usize).filter_map(is_there);
        let mut normals =
            around.filter_map(|triangle| surfaces.triangle_normal(triangle, positions));
        let first = normals.next().unwrap_or_else(Vec3::zeros);
        // Where triangles look to both sides the one is as good as the other.
        (first + normals.sum::<Vec3>()).try_normalize(MIN_NORMAL_SUM).unwrap_or(first)
    }
}

impl LiftSide {
    /// Of all that was `found` of the cloth, in order of vertices, which `rounding` moves so far in m; `ups` are away from what each vertex was
    /// put above.
    pub(crate) fn new(
        ground: &SupportPatch<'_>,
        scene: (&CollisionMesh, &[Vec3]),
        (found, rounding, ups): (&[CoincidentVertex], f64, &[Vec3]),
    ) -> Self {
        let (surfaces, _) = scene;
        let Some(first) = found.first() else {
            return Self { side_of_solid: None, default_side: 1.0 };
        };
        let cloth = surfaces.bodies[first.vertex as usize];
        let outward = surfaces.required_side_of_solid(cloth, ground.body);
        let onward: f64 = found.iter().filter_map(|one| one.side_of_last_lift(ups)).sum();
        let is_known = outward.is_some() || onward != 0.0;
        let others = if is_known { Vec::new() } else { adjacent_vertices(surfaces, found) };
        let around: f64 = others.iter().map(|vertex| ground.side_cosine(scene, *vertex)).sum();
        let is_off = |one: &&CoincidentVertex| {
            one.signed_offset.abs() > rounding.min(FINEST * one.lift_height)
        };
        let count = |side: f64| {
            found.iter().filter(is_off).filter(|one| one.signed_offset * side > 0.0).count()
        };
        let is_mostly_below = || count(-1.0) > MOST * count(1.0);
        let is_below = match (onward, around) {
            (0.0, 0.0) => is_mostly_below(),
            (0.0, around) => around < 0.0,
            (onward, _) => onward < 0.0,
        };
        Self { side_of_solid: outward, default_side: if is_below { -1.0 } else { 1.0 } }
    }

    /// Lifts what was found of the cloth; `ups` are away from what each vertex was put above.
    pub(crate) fn apply(
        &self,
        found: &[CoincidentVertex],
        positions: &mut [Vec3],
        ups: &mut [Vec3],
    ) {
        for one in found {
            let side = self
                .side_of_solid
                .or_else(|| one.side_of_last_lift(ups))
                .unwrap_or(self.default_side);
            let CoincidentVertex {
                vertex,
                closest_point: place,
                support_normal: normal,
                lift_height: height,
                ..
            } = one;
            let (position, up) = (&mut positions[*vertex as usize], &mut ups[*vertex as usize]);
            let is_first = *up == Vec3::zeros();
            *up = normal * side;
            if is_first {
                *position = *place;
            }
            // What it has been put above already stays below.
            *position += *up * (height - (*position - place).dot(up));
        }
    }
}

/// The vertices in triangles of what was found that were not found themselves, in order.
fn adjacent_vertices(surfaces: &CollisionMesh, found: &[CoincidentVertex]) -> Vec<u32> {
    let around =
        found.iter().flat_map(|one| surfaces.vertex_triangles.elements_of(one.vertex as usize));
    let corners = around.flat_map(|(triangle, _)| surfaces.triangles[triangle as usize]);
    let is_found = |vertex: &u32| found.binary_search_by_key(vertex, |one| one.vertex).is_ok();
    let mut others: Vec<u32> = corners.filter(|vertex| !is_found(vertex)).collect();
    others.sort_unstable();
    others.dedup();
    others
}

impl SupportFeatures {
    /// The nearest point on any of them that a vertex may meet and that is not farther from it than `radius`, all in m,
    /// and which that is on.
    fn closest_point(
        &self,
        (surfaces, positions): (&CollisionMesh, &[Vec3]),
        vertex: u32,
        radius: f64,
    ) -> Option<(Vec3, [u32; 3])> {
        let point = &positions[vertex as usize];
        let found = self.tree.nearest(point, radius, |number| {
            let vertices = self.vertices[number];
            if vertices.contains(&vertex) || surfaces.excludes_pair(&[vertex], &vertices) {
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
        found
            .distance_squared
            .is_finite()
            .then_some((found.payload, self.vertices[found.primitive]))
    }
}
