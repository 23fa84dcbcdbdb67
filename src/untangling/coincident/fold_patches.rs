// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cloth that is in one layer: what hangs together without being folded flat.

use super::lift::lift_height;
use crate::{
    Vec3, collision::Intersection, mesh::NO_INDEX, surface::CollisionMesh,
    untangling::connected_pieces::connected_components,
};
use std::collections::BTreeSet;

/// Cosine of the angle between what is on both sides of an edge, from which cloth is folded flat there: three degrees.
const FLAT: f64 = 0.9985;
/// The part of its length at rest from which an edge counts as without length.
const SHORT: f64 = 0.5;

/// Cloths, cut where they are folded flat, and colliders, each by its first vertex. A vertex on a fold is a panel of its
/// own.
pub(crate) struct FoldPatches {
    /// For every vertex.
    patch_of_vertex: Vec<u32>,
    /// Of every panel, by its first vertex: which layer it becomes.
    layer_of_patch: Vec<u32>,
    /// Of every panel, by its first vertex: whether it has a triangle that is not collapsed.
    has_area: Vec<bool>,
    /// All that hangs together, by its first vertex: for every vertex of cloth, and all these in order of that.
    components: [Vec<u32>; 2],
    /// All vertices, in order of their panels.
    vertices_by_patch: Vec<u32>,
    folds: Folds,
}

/// Whether a panel is of cloth, whether nothing can lie on it, its layer, and its first vertex. Colliders come first, then
/// cloths, which may have been moved by then.
type PatchRank = (bool, bool, u32, u32);

/// Where cloth is folded flat.
struct Folds {
    /// Along rows of vertices.
    edges: Vec<u32>,
    /// For every vertex.
    is_on_fold: Vec<bool>,
    /// Whether each triangle of cloth has corners in one place, as a fold between two rows of vertices brings them.
    is_degenerate: Vec<bool>,
}

impl Folds {
    fn new(scene: (&CollisionMesh, &[Vec3])) -> Self {
        let (surfaces, _) = scene;
        let edges = 0..surfaces.cloth_edge_count as u32;
        let edges: Vec<u32> = edges.filter(|edge| is_fold(scene, *edge as usize)).collect();
        let mut is_on_fold = vec![false; surfaces.bodies.len()];
        for end in edges.iter().flat_map(|edge| surfaces.edges[*edge as usize]) {
            is_on_fold[end as usize] = true;
        }
        let triangles = 0..surfaces.cloth_triangle_count;
        let is_degenerate = triangles.map(|triangle| is_degenerate(scene, triangle)).collect();
        Self { edges, is_on_fold, is_degenerate }
    }

    /// For every vertex of cloth its panel.
    fn patches_of_vertices(&self, surfaces: &CollisionMesh) -> Vec<u32> {
        let mut joins = vec![false; surfaces.cloth_edge_count];
        for (sides, is_collapsed) in surfaces.triangle_edges.iter().zip(&self.is_degenerate) {
            for side in sides.iter().filter(|_| !is_collapsed) {
                joins[*side as usize] = true;
            }
        }
        connected_components(surfaces, |edge| {
            joins[edge] && !surfaces.edges[edge].iter().any(|end| self.is_on_fold[*end as usize])
        })
    }

    /// The panels on both sides of all folds, both ways, in order.
    fn adjacent_patches(&self, surfaces: &CollisionMesh, of: &[u32]) -> Vec<[u32; 2]> {
        let wings =
            self.edges.iter().map(|edge| surfaces.edge_adjacency[*edge as usize].opposite_vertices);
        let collapsed = surfaces.triangles.iter().zip(&self.is_degenerate);
        let across = collapsed.filter(|(_, is_collapsed)| **is_collapsed);
        let across = across.flat_map(|([a, b, c], _)| [[*a, *b], [*b, *c], [*c, *a]]);
        let pairs = wings.chain(across);
        let off = pairs.filter(|pair| !pair.iter().any(|vertex| self.is_on_fold[*vertex as usize]));
        let panels = off.map(|pair| pair.map(|vertex| of[vertex as usize]));
        let both = panels.filter(|[one, other]| one != other);
        let all: BTreeSet<[u32; 2]> = both.flat_map(|[a, b]| [[a, b], [b, a]]).collect();
        all.into_iter().collect()
    }
}

/// Numbers panels in the order in which one comes over folds from one to the next as far as possible, and then back: so
/// they lie in each other as cloth does that has been folded several times.
fn order_layers(of: &[u32], beside: &[[u32; 2]]) -> Vec<u32> {
    let mut layers = vec![NO_INDEX; of.len()];
    let mut count = 0;
    for first in (0..of.len() as u32).filter(|vertex| of[*vertex as usize] == *vertex) {
        let mut open = vec![first];
        while let Some(panel) = open.pop() {
            if layers[panel as usize] != NO_INDEX {
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

/// Vertices in order of what they are `of`.
fn sorted_by_label(of: &[u32]) -> Vec<u32> {
    let mut members: Vec<u32> = (0..of.len() as u32).collect();
    members.sort_by_key(|vertex| of[*vertex as usize]);
    members
}

/// Those of sorted `members` that are `of` one.
fn members_of<'a>(members: &'a [u32], of: &[u32], one: u32) -> &'a [u32] {
    let start = members.partition_point(|vertex| of[*vertex as usize] < one);
    let members = &members[start..];
    &members[..members.partition_point(|vertex| of[*vertex as usize] == one)]
}

impl FoldPatches {
    pub(crate) fn new(scene: (&CollisionMesh, &[Vec3])) -> Self {
        let (surfaces, _) = scene;
        let folds = Folds::new(scene);
        let mut of = folds.patches_of_vertices(surfaces);
        for collider in 0..surfaces.is_closed.len() {
            let vertices = surfaces.vertices_of_collider(collider);
            of.extend(vertices.clone().map(|_| vertices.start as u32));
        }
        let pieces = connected_components(surfaces, |_| true);
        let [members, of_pieces] = [sorted_by_label(&of), sorted_by_label(&pieces)];
        let layers = order_layers(&of, &folds.adjacent_patches(surfaces, &of));
        let has_extent = vec![false; of.len()];
        let pieces = [pieces, of_pieces];
        let mut panels = Self {
            patch_of_vertex: of,
            layer_of_patch: layers,
            has_area: has_extent,
            components: pieces,
            vertices_by_patch: members,
            folds,
        };
        for (triangle, corners) in (0..).zip(&surfaces.triangles) {
            let panel = panels.patch_of_feature(corners) as usize;
            panels.has_area[panel] |= panels.is_nondegenerate(triangle);
        }
        panels
    }

    /// The vertices of a panel, in order.
    pub(crate) fn vertices(&self, panel: u32) -> &[u32] {
        members_of(&self.vertices_by_patch, &self.patch_of_vertex, panel)
    }

    /// What hangs together with a panel of cloth, by its first vertex.
    pub(crate) fn component(&self, panel: u32) -> u32 {
        self.components[0][panel as usize]
    }

    /// All panels that hang together with some of cloth.
    fn connected_patches(&self, panels: &[u32]) -> Vec<u32> {
        let pieces: BTreeSet<u32> = panels.iter().map(|panel| self.component(*panel)).collect();
        let [of, members] = &self.components;
        let vertices = pieces.iter().flat_map(|piece| members_of(members, of, *piece));
        vertices
            .copied()
            .filter(|vertex| self.patch_of_vertex[*vertex as usize] == *vertex)
            .collect()
    }

    /// Whether a triangle has an extent.
    pub(crate) fn is_nondegenerate(&self, triangle: u32) -> bool {
        self.folds.is_degenerate.get(triangle as usize) != Some(&true)
    }

    /// The panel of an edge or a triangle.
    pub(crate) fn patch_of_feature(&self, corners: &[u32]) -> u32 {
        let off_folds = corners.iter().find(|corner| !self.folds.is_on_fold[**corner as usize]);
        self.patch_of_vertex[*off_folds.unwrap_or(&corners[0]) as usize]
    }

    /// Panels with all those that cross or lie in them and give way to them, in order.
    pub(crate) fn overlapping_patches(
        &self,
        surfaces: &CollisionMesh,
        crossings: &[Intersection],
        touching: &[[u32; 2]],
    ) -> Vec<(u32, Vec<u32>)> {
        let panel = |vertex: u32| self.patch_of_vertex[vertex as usize];
        let of_triangle =
            |triangle: u32| self.patch_of_feature(&surfaces.triangles[triangle as usize]);
        let on = touching.iter().map(|[vertex, triangle]| (*vertex, of_triangle(*triangle)));
        let on: BTreeSet<(u32, u32)> = on.collect();
        let lies = |(vertex, ground): &&(u32, u32)| {
            surfaces.vertex_triangles.elements_of(*vertex as usize).any(|(triangle, _)| {
                let mut corners = surfaces.triangles[triangle as usize].iter();
                corners.all(|corner| {
                    self.folds.is_on_fold[*corner as usize] || on.contains(&(*corner, *ground))
                })
            })
        };
        let lying = on.iter().filter(lies).map(|(vertex, ground)| [panel(*vertex), *ground]);
        let crossing = crossings.iter().map(|crossing| {
            let ends = &surfaces.edges[crossing.edge as usize];
            [self.patch_of_feature(ends), of_triangle(crossing.triangle)]
        });
        let rank = |panel: u32| -> PatchRank {
            let is_empty = !self.has_area[panel as usize];
            (surfaces.is_cloth(panel), is_empty, self.layer_of_patch[panel as usize], panel)
        };
        let ranked = lying.chain(crossing).map(|pair| pair.map(rank));
        let ordered = ranked.map(|[one, other]| [one.min(other), one.max(other)]);
        let met: BTreeSet<[PatchRank; 2]> = ordered.filter(|pair| self.may_rest_on(pair)).collect();
        let met = Vec::from_iter(met);
        let with_one = met.chunk_by(|pair, next| pair[0] == next[0]);
        let one = |pairs: &[[PatchRank; 2]]| {
            let above: Vec<u32> = pairs.iter().map(|[_, other]| other.3).collect();
            let (is_cloth, .., below) = pairs[0][0];
            // Folds may lie on colliders.
            (below, if is_cloth { above } else { self.connected_patches(&above) })
        };
        with_one.map(one).collect()
    }

    /// Whether the second of two different panels may lie on the first. Vertices on folds go with what is beside them, and
    /// lie on nothing but colliders.
    fn may_rest_on(&self, [one, other]: &[PatchRank; 2]) -> bool {
        let is_on_fold = |rank: &PatchRank| self.folds.is_on_fold[rank.3 as usize];
        one != other && !one.1 && !(one.0 && (is_on_fold(one) || is_on_fold(other)))
    }

    /// Moves vertices on folds by the mean of the ways that the vertices beside them went, which were at `starts`, unless
    /// they have gone farther themselves.
    pub(crate) fn move_fold_vertices(
        &self,
        surfaces: &CollisionMesh,
        starts: &[Vec3],
        positions: &mut [Vec3],
    ) {
        for vertex in (0..starts.len()).filter(|vertex| self.folds.is_on_fold[*vertex]) {
            let around = surfaces.vertex_triangles.elements_of(vertex);
            let corners = around.flat_map(|(triangle, _)| surfaces.triangles[triangle as usize]);
            let beside =
                corners.map(|corner| corner as usize).filter(|one| !self.folds.is_on_fold[*one]);
            let ways = beside.map(|corner| positions[corner] - starts[corner]);
            let (sum, count) =
                ways.fold((Vec3::zeros(), 0.0), |(sum, count), way| (sum + way, count + 1.0));
            let mean = sum / f64::max(count, 1.0);
            if mean.norm() > (positions[vertex] - starts[vertex]).norm() {
                positions[vertex] = starts[vertex] + mean;
            }
        }
    }
}

/// Whether a triangle has corners in one place that are apart where it is at rest.
fn is_degenerate((surfaces, positions): (&CollisionMesh, &[Vec3]), triangle: usize) -> bool {
    let [a, b, c] = surfaces.triangles[triangle];
    [[a, b], [b, c], [c, a]].into_iter().any(|[start, end]| {
        let length = |all: &[Vec3]| (all[end as usize] - all[start as usize]).norm();
        let least = lift_height(surfaces, start, end).min(lift_height(surfaces, end, start));
        length(positions) <= least.min(SHORT * length(&surfaces.rest_positions))
    })
}

/// Whether the triangles at an edge lie on each other.
fn is_fold((surfaces, positions): (&CollisionMesh, &[Vec3]), edge: usize) -> bool {
    let corners = surfaces.edge_adjacency[edge].opposite_vertices;
    if corners.contains(&NO_INDEX) {
        return false;
    }
    let [first, last] = surfaces.edges[edge];
    let [start, end] = [first, last].map(|end| positions[end as usize]);
    let along = (end - start).try_normalize(f64::MIN_POSITIVE).unwrap_or_else(Vec3::zeros);
    let least = lift_height(surfaces, first, last);
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
    fn a_twice_folded_sheet_has_nested_layers() {
        // Quarters of a napkin, which meet at four folds: what was folded first lies inside.
        let of = [0, 1, 2, 3, 3];
        let beside = [[0, 1], [0, 2], [1, 0], [1, 3], [2, 0], [2, 3], [3, 1], [3, 2]];
        assert_eq!(order_layers(&of, &beside), [0, 1, 3, 2, NO_INDEX]);
    }
}
