// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cloth that begins on the very surface of something else, but for rounding.
//!
//! A garment may be made of faces of the body, or of another garment, copied, divided, and moved by other matrices.
//! Its vertices are then around where they should be by the last digits, each to another side, and its edges go in and
//! out of what they lie on at every vertex. No direction can be told from ways so small, and to keep them open takes
//! steps as small. So vertices begin a little above: above a vertex of the other surface, or else an edge, or a face (see
//! `ground`). Several copies become layers, in their order.

mod ground;

use super::{
    BoundingBox, closest_on_triangle, pieces::connected, surfaces::Surfaces, tangle::Crossing,
};
use crate::Vec3;
use ground::{Coincidence, Ground, Lift, PART, height};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The part of its coordinates that a point is moved by where it is rounded to single precision twice.
const ROUNDING: f64 = 1.0 / 4_194_304.0;
/// Far from the origin, where that is much: what is farther off than this part of the height that it would be lifted to
/// is on one side.
const FINEST: f64 = 0.25;

/// How far rounding moves points, in m: near the origin, what was moved there brought its error along.
pub(super) fn rounding(points: &[Vec3]) -> f64 {
    ROUNDING * points.iter().map(Vec3::amax).fold(0.0, f64::max)
}

/// For each cloth how far rounding moves its vertices, in m.
fn roundings(surfaces: &Surfaces, positions: &[Vec3]) -> Vec<f64> {
    let cloths = 0..surfaces.cloth_count as u32;
    cloths.map(|cloth| rounding(&positions[surfaces.vertices_of(cloth)])).collect()
}

/// Tells whether a vertex is on a triangle but for rounding, and may meet it.
pub(super) fn touches(surfaces: &Surfaces, positions: &[Vec3]) -> impl Fn([u32; 2]) -> bool {
    let roundings = roundings(surfaces, positions);
    move |[vertex, triangle]| {
        let corners = surfaces.triangles[triangle as usize];
        let at = |vertex: u32| positions[vertex as usize];
        let rounding = roundings[surfaces.bodies[vertex as usize] as usize];
        let farthest = rounding.min(FINEST * height(surfaces, vertex, corners[0]));
        !corners.contains(&vertex)
            && closest_on_triangle(&at(vertex), &corners.map(at)).distance_squared
                <= farthest * farthest
            && !surfaces.never_meet(&[vertex], &corners)
    }
}

/// Puts vertices of cloth above what they coincide with, where their piece of cloth crosses that or a triangle lies in
/// it, with all vertices at `positions` in m. `touching` are vertices of cloth, each with a triangle that it [touches].
/// Of two pieces of cloth the latter gives way. What hovers over the ground and is not lifted may be passed.
pub(super) fn part(
    surfaces: &Surfaces,
    positions: &mut [Vec3],
    (crossings, touching): (&[Crossing], &[[u32; 2]]),
) {
    let pieces = Pieces::new(surfaces);
    let met = pieces.met(surfaces, crossings, touching);
    let roundings = roundings(surfaces, positions);
    // Away from what each vertex was put above.
    let mut ups = vec![Vec3::zeros(); surfaces.cloth_vertices];
    let mut extents: BTreeMap<u32, Extent> = BTreeMap::new();
    for with_one in Vec::from_iter(met).chunk_by(|pair, next| pair[0] == next[0]) {
        let mut above = Extent::default();
        for [_, (_, piece)] in with_one {
            let measure = || Extent::new((surfaces, positions), pieces.vertices(*piece));
            above = above.joined(extents.entry(*piece).or_insert_with(measure));
        }
        let below = pieces.vertices(with_one[0][0].1);
        let reach = above.reach(surfaces, below[0]);
        let ground = Ground::new((surfaces, positions), below, (&above.bounds, reach));
        for [_, (_, piece)] in with_one {
            let vertices = pieces.vertices(*piece);
            let rounding = roundings[surfaces.bodies[vertices[0] as usize] as usize];
            let find = |vertex: &u32| ground.coincidence((surfaces, positions), *vertex);
            let found: Vec<Coincidence> = vertices.par_iter().filter_map(find).collect();
            let lift = Lift::new(&ground, (surfaces, positions), (&found, rounding));
            lift.apply(&found, positions, &mut ups);
            if !found.is_empty() {
                extents.remove(piece);
            }
        }
    }
}

/// Where some cloth is, and the most that it keeps.
struct Extent {
    bounds: BoundingBox,
    /// In m.
    thickness: f64,
}

impl Default for Extent {
    fn default() -> Self {
        Self { bounds: BoundingBox::EMPTY, thickness: 0.0 }
    }
}

impl Extent {
    fn new((surfaces, positions): (&Surfaces, &[Vec3]), vertices: &[u32]) -> Self {
        let all = || vertices.iter().map(|vertex| *vertex as usize);
        let thickness = all().map(|vertex| surfaces.kinds[vertex].thickness);
        Self {
            bounds: BoundingBox::around(all().map(|vertex| &positions[vertex])),
            thickness: thickness.fold(0.0, f64::max),
        }
    }

    fn joined(&self, other: &Self) -> Self {
        Self {
            bounds: self.bounds.joined(&other.bounds),
            thickness: self.thickness.max(other.thickness),
        }
    }

    /// No less than the [height] of its vertices above another one, in m.
    fn reach(&self, surfaces: &Surfaces, other: u32) -> f64 {
        PART * (self.thickness + surfaces.kinds[other as usize].thickness)
    }
}

/// Pieces of cloth that hang together, and colliders, each by its first vertex.
struct Pieces {
    /// For every vertex.
    of: Vec<u32>,
    /// All vertices, in order of their pieces.
    members: Vec<u32>,
}

/// Whether a piece is of cloth, and its first vertex. Colliders come first, then cloths, which may have been moved by
/// then.
type Rank = (bool, u32);

impl Pieces {
    fn new(surfaces: &Surfaces) -> Self {
        let mut of = connected(surfaces, |_| true);
        for collider in 0..surfaces.is_closed.len() {
            let vertices = surfaces.vertices_of_collider(collider);
            of.extend(vertices.clone().map(|_| vertices.start as u32));
        }
        let mut members: Vec<u32> = (0..of.len() as u32).collect();
        members.sort_by_key(|vertex| of[*vertex as usize]);
        Self { of, members }
    }

    fn vertices(&self, piece: u32) -> &[u32] {
        let start = self.members.partition_point(|vertex| self.of[*vertex as usize] < piece);
        let members = &self.members[start..];
        &members[..members.partition_point(|vertex| self.of[*vertex as usize] == piece)]
    }

    /// Pairs of different pieces that cross or lie in each other, the one that stays first, in order.
    fn met(
        &self,
        surfaces: &Surfaces,
        crossings: &[Crossing],
        touching: &[[u32; 2]],
    ) -> BTreeSet<[Rank; 2]> {
        let piece = |vertex: u32| self.of[vertex as usize];
        let first = |triangle: u32| surfaces.triangles[triangle as usize][0];
        let on = touching.iter().map(|[vertex, triangle]| (*vertex, piece(first(*triangle))));
        let on: BTreeSet<(u32, u32)> = on.collect();
        let lies = |(vertex, ground): &&(u32, u32)| {
            surfaces.around.around(*vertex as usize).any(|(triangle, _)| {
                let mut corners = surfaces.triangles[triangle as usize].iter();
                corners.all(|corner| on.contains(&(*corner, *ground)))
            })
        };
        let lying = on.iter().filter(lies).map(|(vertex, ground)| [piece(*vertex), *ground]);
        let crossing = crossings.iter().map(|crossing| {
            let [end, _] = surfaces.edges[crossing.edge as usize];
            [piece(end), piece(first(crossing.triangle))]
        });
        let ranked = |pieces: [u32; 2]| {
            let [one, other] = pieces.map(|piece| (surfaces.is_cloth(piece), piece));
            [one.min(other), one.max(other)]
        };
        lying.chain(crossing).map(ranked).filter(|[one, other]| one != other).collect()
    }
}

#[cfg(test)]
mod tests;
