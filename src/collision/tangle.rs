// SPDX-License-Identifier: MIT OR Apache-2.0
//! Surfaces that cross already when a step begins, and how they come apart.
//!
//! Where an edge goes through a triangle nobody can say from the two of them which end is on the wrong side. As in
//! global intersection analysis (Baraff, Witkin and Kass 2003), the cloth is cut along all edges that cross something: the
//! largest piece is where it belongs, the others have gone through, and so has all that is inside a closed
//! collider. Between what has gone through and what it went through there is no contact and no promise; the ends of the
//! edges in between are drawn back to the side of the other ends. Where the cut does not divide the cloth,
//! the edges go where the line of the crossings becomes shorter (Volino and Magnenat-Thalmann 2006).

use super::{
    contact::Contact,
    pair::{Pair, Touch},
    segment_crosses_triangle,
    surfaces::{NONE, Surfaces},
};
use crate::Vec3;

/// Lengths of the edge by which its ends are drawn back in a second.
const EDGES_PER_SECOND: f64 = 24.0;

/// An edge that goes through a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Crossing {
    pub(crate) edge: u32,
    pub(crate) triangle: u32,
}

/// All that cross when a step begins.
#[derive(Clone, Debug)]
pub(crate) struct Tangle {
    pub(crate) crossings: Vec<Crossing>,
    /// For every vertex of cloth the piece that it belongs to.
    pieces: Vec<u32>,
    /// For every piece its number of vertices and the bodies it has gone through.
    gone: Vec<Piece>,
    /// Vertices, edges and triangles at a crossing.
    is_near: [Vec<bool>; 3],
}

#[derive(Clone, Debug, Default)]
struct Piece {
    size: usize,
    through: Vec<u32>,
}

/// Whether an edge goes through a triangle that it has no vertex in common with.
pub(crate) fn crosses(surfaces: &Surfaces, positions: &[Vec3], crossing: Crossing) -> bool {
    let ends = surfaces.edges[crossing.edge as usize];
    let corners = surfaces.triangles[crossing.triangle as usize];
    let at = |vertex: u32| positions[vertex as usize];
    let [from, to] = ends.map(at);
    !ends.iter().any(|vertex| corners.contains(vertex))
        && !surfaces.never_meet(&ends, &corners)
        && segment_crosses_triangle(&from, &to, &corners.map(at))
}

impl Tangle {
    /// `crossings` in order, with all vertices at `positions` in m.
    pub(crate) fn new(surfaces: &Surfaces, positions: &[Vec3], crossings: Vec<Crossing>) -> Self {
        let is_near = near(surfaces, &crossings);
        let mut is_cut = vec![false; surfaces.cloth_edges];
        for crossing in &crossings {
            if let Some(is_cut) = is_cut.get_mut(crossing.edge as usize) {
                *is_cut = true;
            }
        }
        let pieces = connected(surfaces, |edge| !is_cut[edge]);
        let whole = connected(surfaces, |_| true);
        let mut gone = vec![Piece::default(); pieces.len()];
        for piece in &pieces {
            gone[*piece as usize].size += 1;
        }
        let mut tangle = Self { crossings, pieces, gone, is_near };
        let main = tangle.main_pieces(&whole);
        tangle.find_gone(surfaces, positions, &main, &whole);
        tangle
    }

    /// For every whole cloth, by its first vertex, the largest piece of it.
    fn main_pieces(&self, whole: &[u32]) -> Vec<u32> {
        let mut main = vec![NONE; whole.len()];
        for (vertex, cloth) in whole.iter().enumerate() {
            let piece = self.pieces[vertex];
            let known = &mut main[*cloth as usize];
            let size = |piece: u32| self.gone[piece as usize].size;
            if *known == NONE || size(piece) > size(*known) {
                *known = piece;
            }
        }
        main
    }

    fn find_gone(&mut self, surfaces: &Surfaces, positions: &[Vec3], main: &[u32], whole: &[u32]) {
        for crossing in self.crossings.clone() {
            let body = surfaces.body_of_triangle(crossing.triangle);
            for end in surfaces.edges[crossing.edge as usize] {
                if !surfaces.is_cloth(end) {
                    continue;
                }
                let piece = self.pieces[end as usize];
                let has_gone = if surfaces.is_solid(body) {
                    surfaces.height(crossing.triangle, positions, end) < 0.0
                } else {
                    piece != main[whole[end as usize] as usize]
                };
                let through = &mut self.gone[piece as usize].through;
                if has_gone && !through.contains(&body) {
                    through.push(body);
                }
            }
        }
    }

    /// Whether a pair is without contact and promise.
    pub(crate) fn frees(&self, surfaces: &Surfaces, pair: &Pair) -> bool {
        let [first, second] = pair.ends().map(|vertex| surfaces.bodies[vertex as usize]);
        let (one, other) = pair.sides();
        let near = pair.features.map(|feature| feature as usize);
        let kinds = pair.feature_kinds();
        self.has_gone(one, second)
            || self.has_gone(other, first)
            || (self.is_near[kinds[0]][near[0]] && self.is_near[kinds[1]][near[1]])
    }

    fn has_gone(&self, vertices: &[u32], body: u32) -> bool {
        vertices.iter().any(|vertex| {
            let piece = self.pieces.get(*vertex as usize);
            piece.is_some_and(|piece| self.gone[*piece as usize].through.contains(&body))
        })
    }

    /// The contacts that draw the crossings apart in a step of a `duration` in s.
    pub(crate) fn pulls(
        &self,
        surfaces: &Surfaces,
        positions: &[Vec3],
        duration: f64,
    ) -> Vec<Contact> {
        let mut pulls = Vec::new();
        for crossing in &self.crossings {
            let [a, b] = surfaces.edges[crossing.edge as usize];
            let length = (positions[b as usize] - positions[a as usize]).norm();
            let way = length * (EDGES_PER_SECOND * duration).min(0.5);
            for (vertex, direction) in self.directions(surfaces, positions, *crossing) {
                let pair = Pair::vertex_face(surfaces, vertex, crossing.triangle);
                pulls.extend(pull(surfaces, positions, pair, direction * way));
            }
        }
        pulls
    }

    /// Which ends of an edge are drawn where, by unit vectors.
    fn directions(
        &self,
        surfaces: &Surfaces,
        positions: &[Vec3],
        crossing: Crossing,
    ) -> Vec<(u32, Vec3)> {
        let ends = surfaces.edges[crossing.edge as usize];
        let Some(normal) = surfaces.normal(crossing.triangle, positions) else { return Vec::new() };
        let body = surfaces.body_of_triangle(crossing.triangle);
        let gone = ends.map(|end| self.has_gone(&[end], body));
        let stays = match gone {
            [true, false] => Some([ends[0], ends[1]]),
            [false, true] => Some([ends[1], ends[0]]),
            _ => None,
        };
        if let Some([away, home]) = stays {
            let side = surfaces.height(crossing.triangle, positions, home).signum();
            return vec![(away, normal * side)];
        }
        let direction = shortening(surfaces, positions, crossing.edge, &normal);
        direction.map_or_else(Vec::new, |direction| ends.map(|end| (end, direction)).to_vec())
    }
}

/// Vertices, edges and triangles at crossings.
fn near(surfaces: &Surfaces, crossings: &[Crossing]) -> [Vec<bool>; 3] {
    let mut vertices = vec![false; surfaces.kinds.len()];
    let mut edges = vec![false; surfaces.edges.len()];
    let mut triangles = vec![false; surfaces.triangles.len()];
    for Crossing { edge, triangle } in crossings {
        edges[*edge as usize] = true;
        triangles[*triangle as usize] = true;
        for side in surfaces.sides[*triangle as usize] {
            edges[side as usize] = true;
        }
        let corners = surfaces.triangles[*triangle as usize];
        for vertex in surfaces.edges[*edge as usize].into_iter().chain(corners) {
            vertices[vertex as usize] = true;
        }
        for end in surfaces.edges[*edge as usize] {
            for (around, _) in surfaces.around.around(end as usize) {
                triangles[*around as usize] |= surfaces.sides[*around as usize].contains(edge);
            }
        }
    }
    [vertices, edges, triangles]
}

/// For every vertex of cloth the first vertex that edges which `join` lead to.
fn connected(surfaces: &Surfaces, join: impl Fn(usize) -> bool) -> Vec<u32> {
    let mut parents: Vec<u32> = (0..surfaces.cloth_vertices as u32).collect();
    for edge in (0..surfaces.cloth_edges).filter(|edge| join(*edge)) {
        let [a, b] = surfaces.edges[edge].map(|vertex| root(&mut parents, vertex));
        parents[a.max(b) as usize] = a.min(b);
    }
    (0..surfaces.cloth_vertices as u32).map(|vertex| root(&mut parents, vertex)).collect()
}

fn root(parents: &mut [u32], mut vertex: u32) -> u32 {
    while parents[vertex as usize] != vertex {
        let parent = parents[vertex as usize];
        parents[vertex as usize] = parents[parent as usize];
        vertex = parent;
    }
    vertex
}

/// The direction in which an edge has to go for the line along which its triangles cross a plane to become shorter.
fn shortening(surfaces: &Surfaces, positions: &[Vec3], edge: u32, normal: &Vec3) -> Option<Vec3> {
    let [start, end] = surfaces.edges[edge as usize].map(|vertex| positions[vertex as usize]);
    let along = end - start;
    let mut sum = Vec3::zeros();
    for corner in surfaces.wings[edge as usize].corners.into_iter().filter(|c| *c != NONE) {
        let side = positions[corner as usize] - start;
        let line = normal.cross(&along.cross(&side)).try_normalize(f64::MIN_POSITIVE)?;
        let inward = side * along.norm_squared() - along * side.dot(&along);
        let into = line * line.dot(&inward).signum();
        sum += into - normal * (2.0 * along.dot(&into) / along.dot(normal));
    }
    sum.try_normalize(f64::MIN_POSITIVE)
}

/// A contact that draws a vertex a `way` in m, relative to a triangle.
fn pull(surfaces: &Surfaces, positions: &[Vec3], pair: Pair, way: Vec3) -> Option<Contact> {
    let length = way.norm();
    let normal = way.try_normalize(f64::MIN_POSITIVE)?;
    let weights = pair.weights(positions);
    let area = surfaces.area(&pair, &weights);
    let touch = Touch { weights, normal, gap: 0.0, is_crossed: true };
    let mut contact = Contact::new(pair, touch, [0.0, length], area);
    contact.origin = contact.between(positions);
    contact.touch.gap = contact.origin.dot(&normal);
    contact.wanted = contact.touch.gap + length;
    contact.compress(1.0);
    Some(contact)
}
