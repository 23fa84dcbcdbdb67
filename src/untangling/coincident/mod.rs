// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cloth that begins on the very surface of something else, but for rounding.
//!
//! A garment may be made of faces of the body, or of another garment, copied, divided, and moved by other matrices.
//! Its vertices are then around where they should be by the last digits, each to another side, and its edges go in and
//! out of what they lie on at every vertex. No direction can be told from ways so small, and to keep them open takes
//! steps as small. So vertices begin a little above: above a vertex of the other surface, or else an edge, or a face (see
//! `ground`). Several copies become layers, in their order. So do the parts of cloth that is folded flat (see `panels`).

mod fold_patches;
mod lift;
#[cfg(test)]
mod tests;

use super::coincident::{
    fold_patches::FoldPatches,
    lift::{CoincidentVertex, LiftSide, PART, SupportPatch, lift_height},
};
use crate::{
    Vec3,
    collision::Intersection,
    geometry::{Aabb, closest_point_on_triangle, coordinate_error},
    surface::CollisionMesh,
};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Far from the origin, where that is much: what is farther off than this part of the height that it would be lifted to
/// is on one side.
const FINEST: f64 = 0.25;

/// For each cloth how far rounding moves its vertices, in m.
fn coordinate_errors(surfaces: &CollisionMesh, positions: &[Vec3]) -> Vec<f64> {
    let cloths = 0..surfaces.cloth_count as u32;
    cloths.map(|cloth| coordinate_error(&positions[surfaces.vertices_of_body(cloth)])).collect()
}

/// Tells whether a vertex is on a triangle but for rounding, and may meet it.
pub(crate) fn coincidence_predicate(
    surfaces: &CollisionMesh,
    positions: &[Vec3],
) -> impl Fn([u32; 2]) -> bool {
    let roundings = coordinate_errors(surfaces, positions);
    move |[vertex, triangle]| {
        let corners = surfaces.triangles[triangle as usize];
        let at = |vertex: u32| positions[vertex as usize];
        let rounding = roundings[surfaces.bodies[vertex as usize] as usize];
        let farthest = rounding.min(FINEST * lift_height(surfaces, vertex, corners[0]));
        !corners.contains(&vertex)
            && closest_point_on_triangle(&at(vertex), &corners.map(at)).distance_squared
                <= farthest * farthest
            && !surfaces.excludes_pair(&[vertex], &corners)
    }
}

/// Puts vertices of cloth above what they coincide with, where their panel crosses that or a triangle lies in it, with all
/// vertices at `positions` in m. `touching` are vertices of cloth, each with a triangle that it [touches].
/// Of two panels of cloth the latter gives way. What hovers over the ground and is not lifted may be passed.
pub(crate) fn separate_coincident(
    surfaces: &CollisionMesh,
    positions: &mut [Vec3],
    (crossings, touching): (&[Intersection], &[[u32; 2]]),
) {
    let panels = FoldPatches::new((surfaces, positions));
    let roundings = coordinate_errors(surfaces, positions);
    let starts = positions[..surfaces.cloth_vertex_count].to_vec();
    // Away from what each vertex was put above.
    let mut ups = vec![Vec3::zeros(); surfaces.cloth_vertex_count];
    let mut extents: BTreeMap<u32, PatchExtent> = BTreeMap::new();
    for (below, above) in panels.overlapping_patches(surfaces, crossings, touching) {
        let below = panels.vertices(below);
        let mut extent = PatchExtent::default();
        // Panels that hang together choose one side.
        let mut pieces: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for panel in &above {
            let measure = || PatchExtent::new((surfaces, positions), panels.vertices(*panel));
            extent = extent.joined(extents.entry(*panel).or_insert_with(measure));
            pieces.entry(panels.component(*panel)).or_default().push(*panel);
        }
        let reach = extent.max_lift_height(surfaces, below[0]);
        let ground =
            SupportPatch::new((surfaces, positions), (&panels, below), (&extent.bounds, reach));
        for (piece, own) in pieces {
            let rounding = roundings[surfaces.bodies[piece as usize] as usize];
            let find = |vertex: &u32| ground.coincident_vertex((surfaces, positions), *vertex);
            let vertices = own.par_iter().flat_map(|panel| panels.vertices(*panel));
            let mut found: Vec<CoincidentVertex> = vertices.filter_map(find).collect();
            found.sort_unstable_by_key(CoincidentVertex::vertex);
            let lift = LiftSide::new(&ground, (surfaces, positions), (&found, rounding, &ups));
            lift.apply(&found, positions, &mut ups);
            if !found.is_empty() {
                extents.retain(|panel, _| panels.component(*panel) != piece);
            }
        }
    }
    panels.move_fold_vertices(surfaces, &starts, positions);
}

/// Where some cloth is, and the most that it keeps.
struct PatchExtent {
    bounds: Aabb,
    /// In m.
    thickness: f64,
}

impl Default for PatchExtent {
    fn default() -> Self {
        Self { bounds: Aabb::EMPTY, thickness: 0.0 }
    }
}

impl PatchExtent {
    fn new((surfaces, positions): (&CollisionMesh, &[Vec3]), vertices: &[u32]) -> Self {
        let all = || vertices.iter().map(|vertex| *vertex as usize);
        let thickness = all().map(|vertex| surfaces.surface_properties[vertex].thickness);
        Self {
            bounds: Aabb::from_points(all().map(|vertex| &positions[vertex])),
            thickness: thickness.fold(0.0, f64::max),
        }
    }

    fn joined(&self, other: &Self) -> Self {
        Self {
            bounds: self.bounds.merged(&other.bounds),
            thickness: self.thickness.max(other.thickness),
        }
    }

    /// No less than the [height] of its vertices above another one, in m.
    fn max_lift_height(&self, surfaces: &CollisionMesh, other: u32) -> f64 {
        PART * (self.thickness + surfaces.surface_properties[other as usize].thickness)
    }
}
