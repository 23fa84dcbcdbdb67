// SPDX-License-Identifier: MIT OR Apache-2.0
//! Coincident surfaces: cloth that begins on another surface up to rounding.
//!
//! A garment may consist of faces of the body, or of another garment, copied, subdivided, and
//! transformed by other matrices. Its vertices then differ from the other surface by the last
//! digits, with either sign, and its edges intersect it at every vertex. Displacements so small
//! define no direction, and to keep such gaps open takes steps as small. So the vertices are lifted
//! before the first step: above a vertex of the other surface, or else an edge, or a face (see
//! `lift`). Several copies become layers, in their order. So do the layers of flat folded cloth
//! (see `fold_patches`).

mod fold_patches;
mod lift;
#[cfg(test)]
mod tests;

use crate::{
    collision::Intersection,
    geometry::{Aabb, closest_point_on_triangle, coordinate_error},
    surface::{CollisionMesh, Configuration},
    vec3::Vec3,
};
use fold_patches::FoldPatches;
use lift::{CoincidentVertex, LiftSide, SupportPatch, lift_height};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Parameters of the separation of coincident surfaces.
struct CoincidentParameters {
    /// Lift height, and distance within which a vertex coincides with its support (combined
    /// thicknesses, or mean rest edges if these are shorter). Effect: larger is visible, and moves
    /// cloth that is separate; smaller is exceeded by the rounding of garments. Evidence:
    /// `vertices_coincident_up_to_rounding_are_lifted`, `separate_vertices_are_not_lifted`; hostile
    /// scene `hangs_from_a_ceiling` (312 intersecting pairs after rounding at 1e-9).
    lift_fraction: f64,
    /// Offset beyond which a vertex is on one side of its support, as a bound of the rounding error
    /// (lift heights). It matters far from the origin, where rounding is large. Effect: larger
    /// ignores sides; smaller takes rounding for sides. Evidence: none; the hostile suite keeps its
    /// bits at 0 and without a bound.
    min_offset_fraction: f64,
    /// Ratio of the numbers of vertices below and above the support beyond which cloth is lifted
    /// downward (1). Effect: larger lifts along the normals more often; smaller lets few vertices
    /// decide. Evidence: `a_patch_is_lifted_to_the_side_of_most_of_its_vertices` covers the rule;
    /// the hostile suite keeps its bits at 0 and without the rule.
    majority: usize,
    /// Cosine between an earlier lift and the normal of the next support above which the earlier
    /// lift decides the side (1). Effect: larger forgets earlier lifts at bends; smaller follows
    /// lifts across corners. Evidence: `copies_become_layers_whichever_way_they_face` and
    /// `a_crease_between_two_supports_is_lifted_above_both` cover the rule; the hostile suite keeps
    /// its bits at 0 and without the rule.
    min_lift_alignment: f64,
    /// Cosine between both sides of an edge from which the edge is a flat fold (1): 3 degrees.
    /// Effect: larger misses folds; smaller lifts open folds. Evidence: hostile scenes
    /// `folded_along_an_edge` and `flat_sleeve` (fail without the rule),
    /// `open_folds_are_not_lifted`, `flat_folds_become_layers`.
    fold_cosine: f64,
    /// Length up to which an edge is degenerate (rest lengths). Effect: larger removes short edges
    /// from patches; smaller misses folds between rows of vertices. Evidence:
    /// `folds_between_rows_become_layers`.
    degenerate_edge_fraction: f64,
}

impl CoincidentParameters {
    const DEFAULT: Self = Self {
        lift_fraction: 1.0 / 40.0,
        min_offset_fraction: 0.25,
        majority: 3,
        min_lift_alignment: 0.5,
        fold_cosine: 0.9985,
        degenerate_edge_fraction: 0.5,
    };
}

const COINCIDENT: CoincidentParameters = CoincidentParameters::DEFAULT;

/// Rounding error of the vertices of each cloth, in m.
fn coordinate_errors(Configuration { mesh, positions }: Configuration<'_>) -> Vec<f64> {
    let cloths = 0..mesh.cloth_count as u32;
    cloths.map(|cloth| coordinate_error(&positions[mesh.vertices_of_body(cloth)])).collect()
}

/// Predicate of coincidence: whether a vertex is on a triangle up to rounding, and the pair is not
/// excluded.
pub(crate) fn coincidence_predicate(configuration: Configuration<'_>) -> impl Fn([u32; 2]) -> bool {
    let Configuration { mesh, positions } = configuration;
    let errors = coordinate_errors(configuration);
    move |[vertex, triangle]| {
        let corners = mesh.triangles[triangle as usize];
        let position_of = |vertex: u32| positions[vertex as usize];
        let error = errors[mesh.bodies[vertex as usize] as usize];
        let max_distance =
            error.min(COINCIDENT.min_offset_fraction * lift_height(mesh, vertex, corners[0]));
        !corners.contains(&vertex)
            && closest_point_on_triangle(&position_of(vertex), &corners.map(position_of))
                .distance_squared
                <= max_distance * max_distance
            && !mesh.excludes_pair(&[vertex], &corners)
    }
}

/// Lifts cloth vertices above the surfaces with which they coincide, where their patch intersects
/// these or has a triangle in them, with all vertices at `positions` in m. `coincident` are pairs of
/// a cloth vertex and a triangle. Of two patches of cloth the later one is lifted. Vertices near a
/// support that are not coincident may end up below it.
pub(crate) fn separate_coincident(
    mesh: &CollisionMesh,
    positions: &mut [Vec3],
    intersections: &[Intersection],
    coincident: &[[u32; 2]],
) {
    let patches = FoldPatches::new(Configuration { mesh, positions });
    let mut separation = Separation {
        errors: coordinate_errors(Configuration { mesh, positions }),
        mesh,
        patches: &patches,
        lift_directions: vec![Vec3::zeros(); mesh.cloth_vertex_count],
        extents: BTreeMap::new(),
    };
    let start_positions = positions[..mesh.cloth_vertex_count].to_vec();
    for (below, above) in patches.overlapping_patches(mesh, intersections, coincident) {
        separation.lift(below, &above, positions);
    }
    patches.move_fold_vertices(mesh, &start_positions, positions);
}

/// State of a separation of all patches in turn.
struct Separation<'a> {
    mesh: &'a CollisionMesh,
    patches: &'a FoldPatches,
    /// Rounding error of each cloth, in m.
    errors: Vec<f64>,
    /// Lift direction of each cloth vertex, or zero.
    lift_directions: Vec<Vec3>,
    /// Known extents, by patch.
    extents: BTreeMap<u32, PatchExtent>,
}

impl Separation<'_> {
    /// Lifts the coincident vertices of the patches `above` above the patch `below`.
    fn lift(&mut self, below: u32, above: &[u32], positions: &mut [Vec3]) {
        let (mesh, patches) = (self.mesh, self.patches);
        let configuration = Configuration { mesh, positions };
        let mut extent = PatchExtent::default();
        // Connected patches are lifted to the same side.
        let mut components: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for patch in above {
            let measure = || PatchExtent::new(configuration, patches.vertices(*patch));
            extent = extent.joined(self.extents.entry(*patch).or_insert_with(measure));
            components.entry(patches.component(*patch)).or_default().push(*patch);
        }
        let support = SupportPatch::new(configuration, patches, patches.vertices(below), &extent);
        for (component, own) in components {
            let configuration = Configuration { mesh, positions };
            let error = self.errors[mesh.bodies[component as usize] as usize];
            let find = |vertex: &u32| support.coincident_vertex(configuration, *vertex);
            let vertices = own.par_iter().flat_map(|patch| patches.vertices(*patch));
            let mut coincident: Vec<CoincidentVertex> = vertices.filter_map(find).collect();
            coincident.sort_unstable_by_key(CoincidentVertex::vertex);
            let side =
                LiftSide::new(&support, configuration, &coincident, error, &self.lift_directions);
            side.apply(&coincident, positions, &mut self.lift_directions);
            if !coincident.is_empty() {
                self.extents.retain(|patch, _| patches.component(*patch) != component);
            }
        }
    }
}

/// Bounds of a patch, and its largest thickness.
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
    fn new(Configuration { mesh, positions }: Configuration<'_>, vertices: &[u32]) -> Self {
        let all = || vertices.iter().map(|vertex| *vertex as usize);
        let thickness = all().map(|vertex| mesh.surface_properties[vertex].thickness);
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

    /// Upper bound of the [`lift_height`] of its vertices above another patch, in m.
    fn max_lift_height(&self, mesh: &CollisionMesh, other: u32) -> f64 {
        COINCIDENT.lift_fraction
            * (self.thickness + mesh.surface_properties[other as usize].thickness)
    }
}
