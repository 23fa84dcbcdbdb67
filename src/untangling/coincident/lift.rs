// SPDX-License-Identifier: MIT OR Apache-2.0
//! What cloth is put above.
//!
//! Above is outside of solids, or inside where the cloth belongs there; away from what the cloth has been put above
//! already; else on the side where the cloth around is that does not coincide, or most of that which does by more than
//! rounding; else where the faces look.

use super::{FINEST, fold_patches::Panels};
use crate::{
    Vec3,
    geometry::{BoundingBox, BoundingTree, closest_on_segments, closest_on_triangle},
    surface::Surfaces,
};

/// Nearer than this part of the distance that both keep, and of the edges there, things are in one place, and so high
/// above it they begin: much more than rounding moves a garment, and nothing that can be seen.
pub(crate) const PART: f64 = 1.0 / 40.0;
/// Cloth is on a side where there are more than so many times as many vertices as on the other.
const MOST: usize = 3;
/// Cosine of the angle between what cloth was put above and the next ground up to which that tells the side there.
const ALIGNED: f64 = 0.5;
/// Length of a sum of normals that are opposed but for rounding.
const OPPOSED: f64 = 1.0e-9;

/// How high above another vertex's surface a vertex of cloth begins, in m.
pub(crate) fn height(surfaces: &Surfaces, vertex: u32, other: u32) -> f64 {
    let [own, others] = [vertex, other].map(|one| surfaces.kinds[one as usize].thickness);
    PART * (own + others).min(surfaces.edge_lengths[vertex as usize])
}

/// A vertex of cloth in one place with the ground.
pub(crate) struct Coincidence {
    vertex: u32,
    /// Where that is, in m.
    place: Vec3,
    /// Where the ground looks there: a unit vector, or zero where it has no area.
    normal: Vec3,
    /// How far above it the vertex begins, in m.
    height: f64,
    /// How far above it the vertex is, in m.
    offset: f64,
}

impl Coincidence {
    /// The vertex of cloth.
    pub(crate) fn vertex(&self) -> u32 {
        self.vertex
    }

    /// The side of the ground where the vertex has been put by another one.
    fn onward(&self, ups: &[Vec3]) -> Option<f64> {
        let upward = self.normal.dot(&ups[self.vertex as usize]);
        (upward.abs() > ALIGNED).then(|| upward.signum())
    }
}

/// What some cloth may coincide with of a panel: vertices, edges and triangles.
pub(crate) struct Ground<'a> {
    panels: &'a Panels,
    panel: u32,
    body: u32,
    /// Around all of them, and as far as they reach.
    bounds: BoundingBox,
    features: [Features; 3],
}

/// Features of one kind.
struct Features {
    /// Of each; the last one again and again where there are less than three.
    vertices: Vec<[u32; 3]>,
    tree: BoundingTree,
}

/// Where vertices of cloth that hangs together are lifted.
pub(crate) struct Lift {
    /// The side of a solid where the cloth belongs.
    outward: Option<f64>,
    /// The side where most of the cloth is, or has been put.
    usual: f64,
}

impl<'a> Ground<'a> {
    /// What cloth in a box may coincide with of the panel with the vertices `below`, in ascending order, which reach so far
    /// in m.
    pub(crate) fn new(
        (surfaces, positions): (&Surfaces, &[Vec3]),
        (panels, below): (&'a Panels, &[u32]),
        (above, reach): (&BoundingBox, f64),
    ) -> Self {
        let bounds = above.grown(reach);
        let around = |vertices: &[u32]| {
            BoundingBox::around(vertices.iter().map(|vertex| &positions[*vertex as usize]))
        };
        let mut kinds: [Vec<[u32; 3]>; 3] = Default::default();
        for vertex in below {
            let mut is_used = false;
            let around_vertex = surfaces.around.around(*vertex as usize);
            for (triangle, corner) in around_vertex.filter(|(one, _)| panels.extends(*one)) {
                is_used = true;
                let corners = surfaces.triangles[triangle as usize];
                let is_known = corners[..usize::from(corner)]
                    .iter()
                    .any(|one| below.binary_search(one).is_ok());
                if is_known || !around(&corners).overlaps(&bounds) {
                    continue;
                }
                kinds[2].push(corners);
                let sides = surfaces.sides[triangle as usize].into_iter();
                let owned = sides.filter(|edge| surfaces.wings[*edge as usize].owner == triangle);
                let ends = owned.map(|edge| surfaces.edges[edge as usize]);
                kinds[1].extend(ends.map(|[start, end]| [start, end, end]));
            }
            // Loose vertices face nowhere.
            if is_used && bounds.contains(&positions[*vertex as usize]) {
                kinds[0].push([*vertex; 3]);
            }
        }
        let features = kinds.map(|vertices| {
            let boxes: Vec<BoundingBox> = vertices.iter().map(|three| around(three)).collect();
            Features { tree: BoundingTree::new(&boxes), vertices }
        });
        let near = features[2].vertices.iter().map(|three| around(three));
        let near = near.fold(BoundingBox::EMPTY, |one, other| one.joined(&other));
        Self {
            panels,
            panel: panels.around(&below[..1]),
            body: surfaces.bodies[below[0] as usize],
            bounds: if features[2].vertices.is_empty() { near } else { near.grown(reach) },
            features,
        }
    }

    /// Where a vertex of cloth coincides with this, if it does.
    pub(crate) fn coincidence(
        &self,
        (surfaces, positions): (&Surfaces, &[Vec3]),
        vertex: u32,
    ) -> Option<Coincidence> {
        if !self.bounds.contains(&positions[vertex as usize]) {
            return None;
        }
        let [first, ..] = self.features[2].vertices.first()?;
        let height = height(surfaces, vertex, *first);
        let (place, vertices) = self
            .features
            .iter()
            .find_map(|features| features.nearest((surfaces, positions), vertex, height))?;
        let normal = self.normal((surfaces, positions), vertices);
        let offset = (positions[vertex as usize] - place).dot(&normal);
        Some(Coincidence { vertex, place, normal, height, offset })
    }

    /// On which side of its nearest triangle a vertex is: the cosine of the angle between the way from there and the
    /// normal, or zero where it is hardly off the plane.
    fn side(&self, (surfaces, positions): (&Surfaces, &[Vec3]), vertex: u32) -> f64 {
        let nearest = self.features[2].nearest((surfaces, positions), vertex, f64::INFINITY);
        nearest.map_or(0.0, |(place, vertices)| {
            let way = positions[vertex as usize] - place;
            let rise = way.dot(&self.normal((surfaces, positions), vertices));
            let is_off = rise.abs() > height(surfaces, vertex, vertices[0]);
            if is_off { rise / way.norm() } else { 0.0 }
        })
    }

    /// Where the triangles of the panel look that have all of these corners: a unit vector, or zero where none has an area.
    fn normal(&self, (surfaces, positions): (&Surfaces, &[Vec3]), vertices: [u32; 3]) -> Vec3 {
        let is_there = |(triangle, _): (u32, u8)| {
            let corners = surfaces.triangles[triangle as usize];
            let has_all = vertices.iter().all(|vertex| corners.contains(vertex));
            // What is beyond a fold looks to the other side.
            let is_own =
                self.panels.extends(triangle) && self.panels.around(&corners) == self.panel;
            (has_all && is_own).then_some(triangle)
        };
        let around = surfaces.around.around(vertices[0] as usize).filter_map(is_there);
        let mut normals = around.filter_map(|triangle| surfaces.normal(triangle, positions));
        let first = normals.next().unwrap_or_else(Vec3::zeros);
        // Where triangles look to both sides the one is as good as the other.
        (first + normals.sum::<Vec3>()).try_normalize(OPPOSED).unwrap_or(first)
    }
}

impl Lift {
    /// Of all that was `found` of the cloth, in order of vertices, which `rounding` moves so far in m; `ups` are away from what each vertex was
    /// put above.
    pub(crate) fn new(
        ground: &Ground<'_>,
        scene: (&Surfaces, &[Vec3]),
        (found, rounding, ups): (&[Coincidence], f64, &[Vec3]),
    ) -> Self {
        let (surfaces, _) = scene;
        let Some(first) = found.first() else { return Self { outward: None, usual: 1.0 } };
        let cloth = surfaces.bodies[first.vertex as usize];
        let outward = surfaces.side_of_solid(cloth, ground.body);
        let onward: f64 = found.iter().filter_map(|one| one.onward(ups)).sum();
        let is_known = outward.is_some() || onward != 0.0;
        let others = if is_known { Vec::new() } else { others(surfaces, found) };
        let around: f64 = others.iter().map(|vertex| ground.side(scene, *vertex)).sum();
        let is_off = |one: &&Coincidence| one.offset.abs() > rounding.min(FINEST * one.height);
        let count =
            |side: f64| found.iter().filter(is_off).filter(|one| one.offset * side > 0.0).count();
        let is_mostly_below = || count(-1.0) > MOST * count(1.0);
        let is_below = match (onward, around) {
            (0.0, 0.0) => is_mostly_below(),
            (0.0, around) => around < 0.0,
            (onward, _) => onward < 0.0,
        };
        Self { outward, usual: if is_below { -1.0 } else { 1.0 } }
    }

    /// Lifts what was found of the cloth; `ups` are away from what each vertex was put above.
    pub(crate) fn apply(&self, found: &[Coincidence], positions: &mut [Vec3], ups: &mut [Vec3]) {
        for one in found {
            let side = self.outward.or_else(|| one.onward(ups)).unwrap_or(self.usual);
            let Coincidence { vertex, place, normal, height, .. } = one;
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
fn others(surfaces: &Surfaces, found: &[Coincidence]) -> Vec<u32> {
    let around = found.iter().flat_map(|one| surfaces.around.around(one.vertex as usize));
    let corners = around.flat_map(|(triangle, _)| surfaces.triangles[triangle as usize]);
    let is_found = |vertex: &u32| found.binary_search_by_key(vertex, |one| one.vertex).is_ok();
    let mut others: Vec<u32> = corners.filter(|vertex| !is_found(vertex)).collect();
    others.sort_unstable();
    others.dedup();
    others
}

impl Features {
    /// The nearest point on any of them that a vertex may meet and that is not farther from it than `radius`, all in m,
    /// and which that is on.
    fn nearest(
        &self,
        (surfaces, positions): (&Surfaces, &[Vec3]),
        vertex: u32,
        radius: f64,
    ) -> Option<(Vec3, [u32; 3])> {
        let point = &positions[vertex as usize];
        let found = self.tree.nearest(point, radius, |number| {
            let vertices = self.vertices[number];
            if vertices.contains(&vertex) || surfaces.never_meet(&[vertex], &vertices) {
                return (f64::INFINITY, *point);
            }
            let corners = vertices.map(|vertex| positions[vertex as usize]);
            let offset = if vertices[1] == vertices[2] {
                closest_on_segments(&[*point; 2], &[corners[0], corners[1]]).offset
            } else {
                closest_on_triangle(point, &corners).offset
            };
            (offset.norm_squared(), point - offset)
        })?;
        found
            .distance_squared
            .is_finite()
            .then_some((found.measured, self.vertices[found.primitive]))
    }
}
