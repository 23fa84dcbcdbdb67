// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cloth that is in one layer: what hangs together without being folded flat.

use super::{Crossing, Surfaces, height};
use crate::{
    Vec3,
    collision::{pieces::connected, surfaces::NONE},
};
use std::collections::BTreeSet;

/// Cosine of the angle between what is on both sides of an edge, from which cloth is folded flat there: three degrees.
const FLAT: f64 = 0.9985;

/// Cloths, cut where they are folded flat, and colliders, each by its first vertex. A vertex on a fold is a panel of its
/// own.
pub(super) struct Panels {
    /// For every vertex.
    of: Vec<u32>,
    /// Of every panel, by its first vertex: which layer it becomes.
    layers: Vec<u32>,
    /// All vertices, in order of their panels.
    members: Vec<u32>,
    folds: Folds,
}

/// Whether a panel is of cloth, its layer, and its first vertex. Colliders come first, then cloths, which may have been
/// moved by then.
pub(super) type Rank = (bool, u32, u32);

/// Where cloth is folded flat.
struct Folds {
    /// Along rows of vertices.
    edges: Vec<u32>,
    /// For every vertex.
    is_on: Vec<bool>,
    /// For every triangle of cloth. What is folded between two rows of vertices leaves them in one place.
    is_collapsed: Vec<bool>,
}

impl Folds {
    fn new(scene: (&Surfaces, &[Vec3])) -> Self {
        let (surfaces, _) = scene;
        let edges = 0..surfaces.cloth_edges as u32;
        let edges: Vec<u32> = edges.filter(|edge| is_fold(scene, *edge as usize)).collect();
        let mut is_on = vec![false; surfaces.bodies.len()];
        for end in edges.iter().flat_map(|edge| surfaces.edges[*edge as usize]) {
            is_on[end as usize] = true;
        }
        let triangles = 0..surfaces.cloth_triangles;
        let is_collapsed = triangles.map(|triangle| is_collapsed(scene, triangle)).collect();
        Self { edges, is_on, is_collapsed }
    }

    /// For every vertex of cloth its panel.
    fn cut(&self, surfaces: &Surfaces) -> Vec<u32> {
        let mut joins = vec![false; surfaces.cloth_edges];
        for (sides, is_collapsed) in surfaces.sides.iter().zip(&self.is_collapsed) {
            for side in sides.iter().filter(|_| !is_collapsed) {
                joins[*side as usize] = true;
            }
        }
        connected(surfaces, |edge| {
            joins[edge] && !surfaces.edges[edge].iter().any(|end| self.is_on[*end as usize])
        })
    }

    /// The panels on both sides of all folds, both ways, in order.
    fn beside(&self, surfaces: &Surfaces, of: &[u32]) -> Vec<[u32; 2]> {
        let wings = self.edges.iter().map(|edge| surfaces.wings[*edge as usize].corners);
        let collapsed = surfaces.triangles.iter().zip(&self.is_collapsed);
        let across = collapsed.filter(|(_, is_collapsed)| **is_collapsed);
        let across = across.flat_map(|([a, b, c], _)| [[*a, *b], [*b, *c], [*c, *a]]);
        let pairs = wings.chain(across);
        let off = pairs.filter(|pair| !pair.iter().any(|vertex| self.is_on[*vertex as usize]));
        let panels = off.map(|pair| pair.map(|vertex| of[vertex as usize]));
        let both = panels.filter(|[one, other]| one != other);
        let all: BTreeSet<[u32; 2]> = both.flat_map(|[a, b]| [[a, b], [b, a]]).collect();
        all.into_iter().collect()
    }
}

/// Numbers panels in the order in which one comes over folds from one to the next as far as possible, and then back: so
/// they lie in each other as cloth does that has been folded several times.
fn layers(of: &[u32], beside: &[[u32; 2]]) -> Vec<u32> {
    let mut layers = vec![NONE; of.len()];
    let mut count = 0;
    for first in (0..of.len() as u32).filter(|vertex| of[*vertex as usize] == *vertex) {
        let mut open = vec![first];
        while let Some(panel) = open.pop() {
            if layers[panel as usize] != NONE {
                continue;
            }
            layers[panel as usize] = count;
            count += 1;
            let start = beside.partition_point(|pair| pair[0] < panel);
            let own = beside[start..].iter().take_while(|pair| pair[0] == panel);
            // The last comes first.
            let next: Vec<u32> = own.map(|pair| pair[1]).collect();
            open.extend(next.iter().rev());
        }
    }
    layers
}

impl Panels {
    pub(super) fn new(scene: (&Surfaces, &[Vec3])) -> Self {
        let (surfaces, _) = scene;
        let folds = Folds::new(scene);
        let mut of = folds.cut(surfaces);
        for collider in 0..surfaces.is_closed.len() {
            let vertices = surfaces.vertices_of_collider(collider);
            of.extend(vertices.clone().map(|_| vertices.start as u32));
        }
        let mut members: Vec<u32> = (0..of.len() as u32).collect();
        members.sort_by_key(|vertex| of[*vertex as usize]);
        let layers = layers(&of, &folds.beside(surfaces, &of));
        Self { of, layers, members, folds }
    }

    pub(super) fn vertices(&self, panel: u32) -> &[u32] {
        let start = self.members.partition_point(|vertex| self.of[*vertex as usize] < panel);
        let members = &self.members[start..];
        &members[..members.partition_point(|vertex| self.of[*vertex as usize] == panel)]
    }

    /// Whether a triangle has an extent.
    pub(super) fn extends(&self, triangle: u32) -> bool {
        self.folds.is_collapsed.get(triangle as usize) != Some(&true)
    }

    /// The panel of an edge or a triangle.
    pub(super) fn around(&self, corners: &[u32]) -> u32 {
        let off_folds = corners.iter().find(|corner| !self.folds.is_on[**corner as usize]);
        self.of[*off_folds.unwrap_or(&corners[0]) as usize]
    }

    /// Pairs of different panels that cross or lie in each other, the one that stays first, in order.
    pub(super) fn met(
        &self,
        surfaces: &Surfaces,
        crossings: &[Crossing],
        touching: &[[u32; 2]],
    ) -> BTreeSet<[Rank; 2]> {
        let panel = |vertex: u32| self.of[vertex as usize];
        let of_triangle = |triangle: u32| self.around(&surfaces.triangles[triangle as usize]);
        let on = touching.iter().map(|[vertex, triangle]| (*vertex, of_triangle(*triangle)));
        let on: BTreeSet<(u32, u32)> = on.collect();
        let lies = |(vertex, ground): &&(u32, u32)| {
            surfaces.around.around(*vertex as usize).any(|(triangle, _)| {
                let mut corners = surfaces.triangles[triangle as usize].iter();
                corners.all(|corner| {
                    self.folds.is_on[*corner as usize] || on.contains(&(*corner, *ground))
                })
            })
        };
        let lying = on.iter().filter(lies).map(|(vertex, ground)| [panel(*vertex), *ground]);
        let crossing = crossings.iter().map(|crossing| {
            let ends = &surfaces.edges[crossing.edge as usize];
            [self.around(ends), of_triangle(crossing.triangle)]
        });
        let ranked = |panels: [u32; 2]| {
            let rank = |panel: u32| (surfaces.is_cloth(panel), self.layers[panel as usize], panel);
            let [one, other] = panels.map(rank);
            [one.min(other), one.max(other)]
        };
        // Vertices on folds go with what is beside them.
        let is_whole = |panels: &[u32; 2]| {
            panels[0] != panels[1] && !panels.iter().any(|one| self.folds.is_on[*one as usize])
        };
        lying.chain(crossing).filter(is_whole).map(ranked).collect()
    }

    /// Moves vertices on folds by the mean of the ways that the vertices beside them went, which were at `starts`.
    pub(super) fn carry_folds(&self, surfaces: &Surfaces, starts: &[Vec3], positions: &mut [Vec3]) {
        for vertex in (0..starts.len()).filter(|vertex| self.folds.is_on[*vertex]) {
            let around = surfaces.around.around(vertex);
            let corners = around.flat_map(|(triangle, _)| surfaces.triangles[triangle as usize]);
            let beside =
                corners.map(|corner| corner as usize).filter(|one| !self.folds.is_on[*one]);
            let ways = beside.map(|corner| positions[corner] - starts[corner]);
            let (sum, count) =
                ways.fold((Vec3::zeros(), 0.0), |(sum, count), way| (sum + way, count + 1.0));
            positions[vertex] += sum / f64::max(count, 1.0);
        }
    }
}

/// Whether a triangle has corners in one place.
fn is_collapsed((surfaces, positions): (&Surfaces, &[Vec3]), triangle: usize) -> bool {
    let [a, b, c] = surfaces.triangles[triangle];
    [[a, b], [b, c], [c, a]].into_iter().any(|[start, end]| {
        let way = positions[end as usize] - positions[start as usize];
        way.norm() <= height(surfaces, start, end)
    })
}

/// Whether the triangles at an edge lie on each other.
fn is_fold((surfaces, positions): (&Surfaces, &[Vec3]), edge: usize) -> bool {
    let corners = surfaces.wings[edge].corners;
    if corners.contains(&NONE) {
        return false;
    }
    let [first, last] = surfaces.edges[edge];
    let [start, end] = [first, last].map(|end| positions[end as usize]);
    let along = (end - start).try_normalize(f64::MIN_POSITIVE).unwrap_or_else(Vec3::zeros);
    let least = height(surfaces, first, last);
    let [left, right] = corners.map(|corner| {
        let way = positions[corner as usize] - start;
        (way - along * way.dot(&along)).try_normalize(least)
    });
    matches!((left, right), (Some(left), Some(right)) if left.dot(&right) > FLAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_folded_twice_lies_in_each_other() {
        // Quarters of a napkin, which meet at four folds: what was folded first lies inside.
        let of = [0, 1, 2, 3, 3];
        let beside = [[0, 1], [0, 2], [1, 0], [1, 3], [2, 0], [2, 3], [3, 1], [3, 2]];
        assert_eq!(layers(&of, &beside), [0, 1, 3, 2, NONE]);
    }
}
