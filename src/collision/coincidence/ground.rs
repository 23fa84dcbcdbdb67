// SPDX-License-Identifier: MIT OR Apache-2.0
//! What cloth is put above.
//!
//! Above is outside of solids, or inside where the cloth belongs there; away from what the cloth has been put above
//! already; else on the side where most of the cloth is that is off by more than rounding, or where the faces look.

use crate::{
    Vec3,
    collision::{
        BoundingBox, BoundingTree, closest_on_segments, closest_on_triangle, surfaces::Surfaces,
    },
};

/// Nearer than this part of the distance that both keep, and of the edges there, things are in one place, and so high
/// above it they begin: much more than rounding moves a garment, and nothing that can be seen.
const PART: f64 = 1.0 / 40.0;
/// Cloth is on a side where there are more than so many times as many vertices as on the other.
const MOST: usize = 3;

/// A vertex of cloth in one place with the ground.
pub(super) struct Coincidence {
    vertex: u32,
    /// Where that is, in m.
    place: Vec3,
    /// Where the triangles there look: a unit vector, or zero.
    normal: Vec3,
    /// How far above it the vertex begins, in m.
    height: f64,
    /// On which side the vertex is by more than rounding: 1, −1 or 0.
    side: i8,
}

/// The vertices, edges and triangles of a piece.
pub(super) struct Ground {
    body: u32,
    features: [Features; 3],
}

/// Features of one kind.
struct Features {
    places: Vec<Place>,
    tree: BoundingTree,
}

/// Where a feature is.
struct Place {
    /// The last one again and again where there are less than three.
    vertices: [u32; 3],
    /// In m, of the vertices.
    corners: [Vec3; 3],
    /// Where the triangles there look: a unit vector, or zero.
    normal: Vec3,
}

impl Ground {
    /// Of the piece with these `vertices`.
    pub(super) fn new(surfaces: &Surfaces, positions: &[Vec3], vertices: &[u32]) -> Self {
        let mut triangles = Vec::new();
        for vertex in vertices {
            let around = surfaces.around.around(*vertex as usize);
            let owned = around.filter(|(_, corner)| *corner == 0);
            triangles.extend(owned.map(|(triangle, _)| triangle));
        }
        let owned = |triangle: &u32| {
            let (owner, sides) = (*triangle, surfaces.sides[*triangle as usize]);
            sides.into_iter().filter(move |edge| surfaces.wings[*edge as usize].owner == owner)
        };
        let edges = triangles.iter().flat_map(owned).map(|edge| surfaces.edges[edge as usize]);
        let kinds = [
            vertices.iter().map(|vertex| [*vertex; 3]).collect(),
            edges.map(|[start, end]| [start, end, end]).collect(),
            triangles.iter().map(|triangle| surfaces.triangles[*triangle as usize]).collect(),
        ];
        Self {
            body: surfaces.bodies[vertices[0] as usize],
            features: kinds.map(|all: Vec<[u32; 3]>| Features::new(surfaces, positions, &all)),
        }
    }

    /// Where a vertex of cloth coincides with this, if it does; `rounding` in m.
    pub(super) fn coincidence(
        &self,
        surfaces: &Surfaces,
        (positions, rounding): (&[Vec3], f64),
        vertex: u32,
    ) -> Option<Coincidence> {
        let kinds = [vertex, self.features[0].places.first()?.vertices[0]];
        let [own, other] = kinds.map(|vertex| surfaces.kinds[vertex as usize].thickness);
        let height = PART * (own + other).min(surfaces.edge_lengths[vertex as usize]);
        let point = &positions[vertex as usize];
        let mut kinds = self.features.iter();
        let (place, feature) = kinds.find_map(|features| features.nearest(point, height))?;
        let normal = feature.normal;
        let above = (point - place).dot(&normal);
        let is_off = above.abs() > rounding;
        let side = if is_off { above.signum() as i8 } else { 0 };
        let meets = !surfaces.never_meet(&[vertex], &feature.vertices);
        meets.then_some(Coincidence { vertex, place, normal, height, side })
    }

    /// Lifts what was found of one piece, and keeps to which side.
    pub(super) fn lift(
        &self,
        surfaces: &Surfaces,
        found: &[Coincidence],
        (positions, ups): (&mut [Vec3], &mut [Vec3]),
    ) {
        let count = |side: i8| found.iter().filter(|one| one.side == side).count();
        let usual = if count(-1) > MOST * count(1) { -1.0 } else { 1.0 };
        for Coincidence { vertex, place, normal, height, .. } in found {
            let vertex = *vertex as usize;
            let outward = surfaces.side_of_solid(surfaces.bodies[vertex], self.body);
            let upward = normal.dot(&ups[vertex]);
            let onward = (upward != 0.0).then(|| upward.signum());
            let up = normal * outward.or(onward).unwrap_or(usual);
            positions[vertex] = place + up * *height;
            ups[vertex] = up;
        }
    }
}

impl Features {
    /// With these vertices, the last one again and again where there are less than three.
    fn new(surfaces: &Surfaces, positions: &[Vec3], all: &[[u32; 3]]) -> Self {
        let place = |vertices: &[u32; 3]| Place::new(surfaces, positions, *vertices);
        let places: Vec<Place> = all.iter().map(place).collect();
        let around = |place: &Place| BoundingBox::around(&place.corners);
        let boxes: Vec<BoundingBox> = places.iter().map(around).collect();
        Self { places, tree: BoundingTree::new(&boxes) }
    }

    /// The nearest point on any of them that is not farther than `radius`, all in m, and which that is on.
    fn nearest(&self, point: &Vec3, radius: f64) -> Option<(Vec3, &Place)> {
        let found = self.tree.nearest(point, radius, |number| {
            let corners = &self.places[number].corners;
            let [a, b, c] = corners;
            let offset = if b == c {
                closest_on_segments(&[*point; 2], &[*a, *b]).offset
            } else {
                closest_on_triangle(point, corners).offset
            };
            (offset.norm_squared(), point - offset)
        })?;
        Some((found.measured, &self.places[found.primitive]))
    }
}

impl Place {
    fn new(surfaces: &Surfaces, positions: &[Vec3], vertices: [u32; 3]) -> Self {
        let is_there = |(triangle, _): (u32, u8)| {
            let corners = surfaces.triangles[triangle as usize];
            vertices.iter().all(|vertex| corners.contains(vertex)).then_some(triangle)
        };
        let around = surfaces.around.around(vertices[0] as usize).filter_map(is_there);
        let normals = around.filter_map(|triangle| surfaces.normal(triangle, positions));
        let normal = normals.sum::<Vec3>().try_normalize(f64::MIN_POSITIVE);
        let corners = vertices.map(|vertex| positions[vertex as usize]);
        Self { vertices, corners, normal: normal.unwrap_or_else(Vec3::zeros) }
    }
}
