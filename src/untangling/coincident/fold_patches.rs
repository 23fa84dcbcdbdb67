// SPDX-License-Identifier: MIT OR Apache-2.0
//! Patches: connected cloth between flat folds, each of which is one layer.

use super::{COINCIDENT, lift::lift_height};
use crate::{
    collision::Intersection,
    mesh::NO_INDEX,
    surface::{CollisionMesh, Configuration},
    vec3::Vec3,
};
use std::collections::BTreeSet;

/// Patches of cloths, cut along flat folds, and colliders, each named by its first vertex. A vertex
/// on a fold is a patch of its own.
pub(super) struct FoldPatches {
    patches: Partition,
    /// Layer number of each patch, by its first vertex.
    layer_of_patch: Vec<u32>,
    /// Whether each patch has a nondegenerate triangle, by its first vertex.
    has_area: Vec<bool>,
    /// Connected components of the cloth vertices.
    components: Partition,
    folds: Folds,
}

/// Partition of vertices into groups, each named by its first vertex.
struct Partition {
    /// Group of each vertex.
    group_of_vertex: Vec<u32>,
    /// All vertices, sorted by group.
    vertices_by_group: Vec<u32>,
}

impl Partition {
    fn new(group_of_vertex: Vec<u32>) -> Self {
        let mut vertices_by_group: Vec<u32> = (0..group_of_vertex.len() as u32).collect();
        vertices_by_group.sort_by_key(|vertex| group_of_vertex[*vertex as usize]);
        Self { group_of_vertex, vertices_by_group }
    }

    fn group_of(&self, vertex: u32) -> u32 {
        self.group_of_vertex[vertex as usize]
    }

    /// Vertices of a group, in ascending order.
    fn members(&self, group: u32) -> &[u32] {
        let vertices = &self.vertices_by_group;
        let start = vertices.partition_point(|vertex| self.group_of(*vertex) < group);
        let vertices = &vertices[start..];
        &vertices[..vertices.partition_point(|vertex| self.group_of(*vertex) == group)]
    }
}

/// Rank of a patch in the order of lifts: colliders come first, then cloths, which may have been
/// lifted by then.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PatchRank {
    is_cloth: bool,
    has_no_area: bool,
    layer: u32,
    /// First vertex, which names the patch.
    patch: u32,
}

/// Flat folds.
struct Folds {
    /// Edges along the folds.
    edges: Vec<u32>,
    /// For each vertex.
    is_on_fold: Vec<bool>,
    /// For each cloth triangle, whether corners coincide, as in a fold between two rows of
    /// vertices. Alternative triangles count as such: they belong to no patch.
    is_degenerate: Vec<bool>,
}

impl Folds {
    fn new(configuration: Configuration<'_>) -> Self {
        let mesh = configuration.mesh;
        let edges = 0..mesh.cloth_edge_count as u32;
        let in_use = edges.filter(|edge| !mesh.is_alternative_edge(*edge));
        let edges: Vec<u32> =
            in_use.filter(|edge| is_fold(configuration, *edge as usize)).collect();
        let mut is_on_fold = vec![false; mesh.bodies.len()];
        for end in edges.iter().flat_map(|edge| mesh.edges[*edge as usize]) {
            is_on_fold[end as usize] = true;
        }
        let triangles = 0..mesh.cloth_triangle_count;
        let is_degenerate =
            triangles.map(|triangle| is_degenerate(configuration, triangle)).collect();
        Self { edges, is_on_fold, is_degenerate }
    }

    /// Patch of each cloth vertex.
    fn patches_of_vertices(&self, mesh: &CollisionMesh) -> Vec<u32> {
        let mut joins = vec![false; mesh.cloth_edge_count];
        for (sides, is_degenerate) in mesh.triangle_edges.iter().zip(&self.is_degenerate) {
            for side in sides.iter().filter(|_| !is_degenerate) {
                joins[*side as usize] = true;
            }
        }
        mesh.cloth_components(|edge| {
            joins[edge] && !mesh.edges[edge].iter().any(|end| self.is_on_fold[*end as usize])
        })
    }

    /// Pairs of patches that share a fold, in both orders, sorted.
    fn adjacent_patches(&self, mesh: &CollisionMesh, patch_of_vertex: &[u32]) -> Vec<[u32; 2]> {
        let across_edges =
            self.edges.iter().map(|edge| mesh.edge_adjacency[*edge as usize].opposite_vertices);
        let cloths =
            mesh.triangles_in_use().take_while(|one| (*one as usize) < self.is_degenerate.len());
        let degenerate = cloths.filter(|one| self.is_degenerate[*one as usize]);
        let across_triangles = degenerate.flat_map(|one| {
            let [a, b, c] = mesh.triangles[one as usize];
            [[a, b], [b, c], [c, a]]
        });
        let pairs = across_edges.chain(across_triangles);
        let off_folds =
            pairs.filter(|pair| !pair.iter().any(|vertex| self.is_on_fold[*vertex as usize]));
        let patches = off_folds.map(|pair| pair.map(|vertex| patch_of_vertex[vertex as usize]));
        let both = patches.filter(|[first, second]| first != second);
        let all: BTreeSet<[u32; 2]> = both.flat_map(|[a, b]| [[a, b], [b, a]]).collect();
        all.into_iter().collect()
    }
}

/// Numbers patches by depth-first traversal over the folds, so that cloth folded several times gets
/// nested layers.
fn order_layers(patch_of_vertex: &[u32], adjacent: &[[u32; 2]]) -> Vec<u32> {
    let mut layers = vec![NO_INDEX; patch_of_vertex.len()];
    let mut count = 0;
    for first in (0..patch_of_vertex.len() as u32)
        .filter(|vertex| patch_of_vertex[*vertex as usize] == *vertex)
    {
        let mut open = vec![first];
        while let Some(patch) = open.pop() {
            if layers[patch as usize] != NO_INDEX {
                continue;
            }
            layers[patch as usize] = count;
            count += 1;
            let start = adjacent.partition_point(|pair| pair[0] < patch);
            let of_patch = adjacent[start..].iter().take_while(|pair| pair[0] == patch);
            // The stack reverses the order.
            let next: Vec<u32> = of_patch.map(|pair| pair[1]).collect();
            open.extend(next.iter().rev());
        }
    }
    layers
}

impl FoldPatches {
    /// Patches of all cloths and colliders.
    pub(super) fn new(configuration: Configuration<'_>) -> Self {
        let mesh = configuration.mesh;
        let folds = Folds::new(configuration);
        let mut patch_of_vertex = folds.patches_of_vertices(mesh);
        for collider in 0..mesh.is_closed.len() {
            let vertices = mesh.vertices_of_collider(collider);
            patch_of_vertex.extend(vertices.clone().map(|_| vertices.start as u32));
        }
        let adjacent = folds.adjacent_patches(mesh, &patch_of_vertex);
        let mut patches = Self {
            layer_of_patch: order_layers(&patch_of_vertex, &adjacent),
            has_area: vec![false; patch_of_vertex.len()],
            patches: Partition::new(patch_of_vertex),
            components: Partition::new(mesh.cloth_components(|_| true)),
            folds,
        };
        for (triangle, corners) in (0..).zip(&mesh.triangles) {
            let patch = patches.patch_of_feature(corners) as usize;
            patches.has_area[patch] |= patches.is_nondegenerate(triangle);
        }
        patches
    }

    /// Vertices of a patch, in ascending order.
    pub(super) fn vertices(&self, patch: u32) -> &[u32] {
        self.patches.members(patch)
    }

    /// Connected component of a cloth patch, by its first vertex.
    pub(super) fn component(&self, patch: u32) -> u32 {
        self.components.group_of(patch)
    }

    /// All patches in the components of the given cloth patches.
    fn connected_patches(&self, patches: &[u32]) -> Vec<u32> {
        let components: BTreeSet<u32> =
            patches.iter().map(|patch| self.component(*patch)).collect();
        let vertices = components.iter().flat_map(|component| self.components.members(*component));
        vertices.copied().filter(|vertex| self.patches.group_of(*vertex) == *vertex).collect()
    }

    /// Whether a triangle is nondegenerate.
    pub(super) fn is_nondegenerate(&self, triangle: u32) -> bool {
        self.folds.is_degenerate.get(triangle as usize) != Some(&true)
    }

    /// Patch of an edge or a triangle.
    pub(super) fn patch_of_feature(&self, corners: &[u32]) -> u32 {
        let off_folds = corners.iter().find(|corner| !self.folds.is_on_fold[**corner as usize]);
        self.patches.group_of(*off_folds.unwrap_or(&corners[0]))
    }

    /// Patches with all those that intersect or coincide with them and are lifted above them,
    /// sorted.
    pub(super) fn overlapping_patches(
        &self,
        mesh: &CollisionMesh,
        intersections: &[Intersection],
        coincident: &[[u32; 2]],
    ) -> Vec<(u32, Vec<u32>)> {
        let of_triangle = |triangle: u32| self.patch_of_feature(&mesh.triangles[triangle as usize]);
        let contacts =
            coincident.iter().map(|[vertex, triangle]| (*vertex, of_triangle(*triangle)));
        let contacts: BTreeSet<(u32, u32)> = contacts.collect();
        let has_triangle = |(vertex, support): &&(u32, u32)| {
            mesh.vertex_triangles.elements_of(*vertex as usize).any(|(triangle, _)| {
                let mut corners = mesh.triangles[triangle as usize].iter();
                corners.all(|corner| {
                    self.folds.is_on_fold[*corner as usize]
                        || contacts.contains(&(*corner, *support))
                })
            })
        };
        let resting = contacts
            .iter()
            .filter(has_triangle)
            .map(|(vertex, support)| [self.patches.group_of(*vertex), *support]);
        let intersecting = intersections.iter().map(|intersection| {
            let ends = &mesh.edges[intersection.edge as usize];
            [self.patch_of_feature(ends), of_triangle(intersection.triangle)]
        });
        let rank = |patch: u32| PatchRank {
            is_cloth: mesh.is_cloth(patch),
            has_no_area: !self.has_area[patch as usize],
            layer: self.layer_of_patch[patch as usize],
            patch,
        };
        let ranked = resting.chain(intersecting).map(|pair| pair.map(rank));
        let ordered = ranked.map(|[first, second]| [first.min(second), first.max(second)]);
        let pairs: BTreeSet<[PatchRank; 2]> =
            ordered.filter(|pair| self.may_rest_on(pair)).collect();
        let pairs = Vec::from_iter(pairs);
        let groups = pairs.chunk_by(|pair, next| pair[0] == next[0]);
        let with_below = |pairs: &[[PatchRank; 2]]| {
            let above: Vec<u32> = pairs.iter().map(|[_, above]| above.patch).collect();
            let [below, _] = pairs[0];
            // Folds may be lifted above colliders.
            (below.patch, if below.is_cloth { above } else { self.connected_patches(&above) })
        };
        groups.map(with_below).collect()
    }

    /// Whether the second of two different patches may be lifted above the first. Fold vertices
    /// follow their adjacent patches, and are lifted above colliders only.
    fn may_rest_on(&self, [first, second]: &[PatchRank; 2]) -> bool {
        let is_on_fold = |rank: &PatchRank| self.folds.is_on_fold[rank.patch as usize];
        first != second
            && !first.has_no_area
            && !(first.is_cloth && (is_on_fold(first) || is_on_fold(second)))
    }

    /// Displaces fold vertices by the mean displacement of their neighbours since `start_positions`
    /// in m, unless their own is larger.
    pub(super) fn move_fold_vertices(
        &self,
        mesh: &CollisionMesh,
        start_positions: &[Vec3],
        positions: &mut [Vec3],
    ) {
        for vertex in (0..start_positions.len()).filter(|vertex| self.folds.is_on_fold[*vertex]) {
            let around = mesh.vertex_triangles.elements_of(vertex);
            let corners = around.flat_map(|(triangle, _)| mesh.triangles[triangle as usize]);
            let adjacent = corners
                .map(|corner| corner as usize)
                .filter(|corner| !self.folds.is_on_fold[*corner]);
            let displacements = adjacent.map(|corner| positions[corner] - start_positions[corner]);
            let (sum, count) = displacements
                .fold((Vec3::zeros(), 0.0), |(sum, count), displacement| {
                    (sum + displacement, count + 1.0)
                });
            let mean = sum / f64::max(count, 1.0);
            if mean.norm() > (positions[vertex] - start_positions[vertex]).norm() {
                positions[vertex] = start_positions[vertex] + mean;
            }
        }
    }
}

/// Whether corners of a triangle coincide that are apart at rest, or it is an alternative.
fn is_degenerate(Configuration { mesh, positions }: Configuration<'_>, triangle: usize) -> bool {
    if mesh.is_alternative_triangle(triangle as u32) {
        return true;
    }
    let [a, b, c] = mesh.triangles[triangle];
    [[a, b], [b, c], [c, a]].into_iter().any(|[start, end]| {
        let length = |all: &[Vec3]| (all[end as usize] - all[start as usize]).norm();
        let lift = lift_height(mesh, start, end).min(lift_height(mesh, end, start));
        length(positions)
            <= lift.min(COINCIDENT.degenerate_edge_fraction * length(&mesh.rest_positions))
    })
}

/// Whether the triangles at an edge are folded flat.
fn is_fold(Configuration { mesh, positions }: Configuration<'_>, edge: usize) -> bool {
    let corners = mesh.edge_adjacency[edge].opposite_vertices;
    if corners.contains(&NO_INDEX) {
        return false;
    }
    let [first, last] = mesh.edges[edge];
    let [start, end] = [first, last].map(|end| positions[end as usize]);
    let axis = (end - start).try_normalize(f64::MIN_POSITIVE).unwrap_or_else(Vec3::zeros);
    let min_width = lift_height(mesh, first, last);
    let [left, right] = corners.map(|corner| {
        let offset = positions[corner as usize] - start;
        (offset - axis * offset.dot(&axis)).try_normalize(min_width)
    });
    matches!((left, right), (Some(left), Some(right)) if left.dot(&right) > COINCIDENT.fold_cosine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_twice_folded_sheet_has_nested_layers() {
        // Quarters of a sheet that share four folds: the first fold ends up inside.
        let patch_of_vertex = [0, 1, 2, 3, 3];
        let adjacent = [[0, 1], [0, 2], [1, 0], [1, 3], [2, 0], [2, 3], [3, 1], [3, 2]];
        assert_eq!(order_layers(&patch_of_vertex, &adjacent), [0, 1, 3, 2, NO_INDEX]);
    }
}
