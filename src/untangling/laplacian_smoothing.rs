// SPDX-License-Identifier: MIT OR Apache-2.0
//! Laplacian smoothing of small self-intersections.
//!
//! Crushed cloth may keep folds of a few triangles that intersect each other. Their contours end
//! inside of the cloth, where it turns over, and contour minimization makes no progress; or a hem
//! is folded to the one side and next to that to the other. Smooth cloth does not intersect itself:
//! after an intersection has lasted for a while, both sides are displaced to the mean of their
//! one-ring neighbours, with a patch around them that grows with time. One Gauss-Seidel sweep is
//! used: new positions of neighbours count, which smooths a fold of several triangles in half the
//! time of a Jacobi sweep. (With 3 sweeps or more it took longer.) Smoothing alternates with
//! contour minimization.

use super::{UNTANGLING, UntanglingParameters};
use crate::{
    collision::Intersection,
    surface::{CollisionMesh, Configuration},
    vec3::Vec3,
};
use std::collections::{BTreeMap, BTreeSet};

/// Whether self-intersections of an age in s are smoothed in this phase.
pub(super) fn is_smoothing_phase(intersection_time: f64) -> bool {
    let UntanglingParameters { smoothing_delay, smoothing_time, contour_time, .. } = UNTANGLING;
    intersection_time > smoothing_delay
        && (intersection_time - smoothing_delay) % (smoothing_time + contour_time) <= smoothing_time
}

/// Vertices in rings around intersected edges after an intersection time in s, each with its
/// intersection.
pub(super) fn vertex_rings(
    mesh: &CollisionMesh,
    intersections: impl Iterator<Item = Intersection>,
    intersection_time: f64,
) -> Vec<(u32, Intersection)> {
    let ends = |intersection: Intersection| {
        mesh.edges[intersection.edge as usize].map(|end| (end, intersection))
    };
    let mut found: Vec<(u32, Intersection)> = intersections.flat_map(ends).collect();
    let mut is_known: BTreeSet<u32> = found.iter().map(|(vertex, _)| *vertex).collect();
    let ends = found.len();
    let mut outermost = 0..ends;
    let is_reached =
        |ring: &u32| f64::from(*ring) <= UNTANGLING.rings_per_second * intersection_time;
    for _ in (1..=UNTANGLING.max_rings).take_while(is_reached) {
        for index in outermost.clone() {
            let (vertex, intersection) = found[index];
            let triangle = mesh.triangles[intersection.triangle as usize];
            let around = mesh.vertex_triangles.elements_of(vertex as usize);
            let corners = around.flat_map(|(beside, _)| mesh.triangles[beside as usize]);
            let neighbours = corners.filter(|corner| !triangle.contains(corner));
            found.extend(
                neighbours
                    .filter(|neighbour| is_known.insert(*neighbour))
                    .map(|neighbour| (neighbour, intersection)),
            );
        }
        outermost = outermost.end..found.len();
    }
    found.split_off(ends)
}

/// Smoothed positions of the patch around self-intersections.
#[derive(Clone, Debug)]
pub(super) struct SmoothedPatch {
    /// Of the vertices of the patch, in m.
    smoothed_positions: BTreeMap<u32, Vec3>,
}

impl SmoothedPatch {
    /// Smooths the vertices at `intersections` and in the `rings` around them.
    pub(super) fn new(
        configuration: Configuration<'_>,
        intersections: &[Intersection],
        rings: &[(u32, Intersection)],
    ) -> Self {
        let vertices_at = |intersection: &Intersection| {
            let [edge, triangle] = [intersection.edge as usize, intersection.triangle as usize];
            let mesh = configuration.mesh;
            mesh.edges[edge].into_iter().chain(mesh.triangles[triangle])
        };
        let around = rings.iter().map(|(vertex, _)| *vertex);
        let vertices: BTreeSet<u32> =
            intersections.iter().flat_map(vertices_at).chain(around).collect();
        let mut smoothed_positions = BTreeMap::new();
        for vertex in vertices {
            smoothed_positions
                .insert(vertex, one_ring_mean(configuration, vertex, &smoothed_positions));
        }
        Self { smoothed_positions }
    }

    /// Displacement in m of a vertex relative to a triangle of the same cloth, by smoothing both.
    pub(super) fn relative_displacement(
        &self,
        Configuration { mesh, positions }: Configuration<'_>,
        vertex: u32,
        triangle: u32,
    ) -> Vec3 {
        let displacement = |vertex: u32| {
            let smoothed = self.smoothed_positions.get(&vertex);
            smoothed.map_or(Vec3::zeros(), |smoothed| smoothed - positions[vertex as usize])
        };
        let corners = mesh.triangles[triangle as usize];
        displacement(vertex) - corners.map(displacement).iter().sum::<Vec3>() / 3.0
    }
}

/// Mean of the neighbours of a cloth vertex in m, at their `new_positions` if they have one.
fn one_ring_mean(
    Configuration { mesh, positions }: Configuration<'_>,
    vertex: u32,
    new_positions: &BTreeMap<u32, Vec3>,
) -> Vec3 {
    let around = mesh.vertex_triangles.elements_of(vertex as usize);
    let corners = around.flat_map(|(triangle, _)| mesh.triangles[triangle as usize]);
    let (mut sum, mut count) = (Vec3::zeros(), 0.0);
    for neighbour in corners.filter(|corner| *corner != vertex) {
        sum += new_positions.get(&neighbour).unwrap_or(&positions[neighbour as usize]);
        count += 1.0;
    }
    if count > 0.0 { sum / count } else { positions[vertex as usize] }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIDE: u32 = 5;
    /// A triangle in a corner of the sheet.
    const CORNER: [u32; 3] = [3, 4, 8];

    /// A horizontal grid with its centre at a height in m.
    fn sheet(height: f64) -> (CollisionMesh, Vec<Vec3>) {
        let line = 0..SIDE - 1;
        let corners = line.clone().flat_map(|row| line.clone().map(move |k| row * SIDE + k));
        let halves = |a: u32| [[a, a + 1, a + SIDE], [a + 1, a + SIDE + 1, a + SIDE]];
        let triangles: Vec<[u32; 3]> = corners.flat_map(halves).collect();
        let index =
            |vertex: u32| Vec3::new(f64::from(vertex % SIDE), f64::from(vertex / SIDE), 0.0);
        let mut positions: Vec<Vec3> = (0..SIDE * SIDE).map(index).collect();
        let starts = [0, positions.len()];
        let mesh = CollisionMesh::of_thin_cloths(&triangles, &starts, positions.clone(), &[]);
        positions[centre_vertex() as usize].z = height;
        (mesh, positions)
    }

    fn centre_vertex() -> u32 {
        SIDE * SIDE / 2
    }

    /// Intersection of the edge from the centre to the next vertex with a corner of the sheet.
    fn self_intersection(mesh: &CollisionMesh) -> Intersection {
        let is_middle = |ends: &[u32; 2]| *ends == [centre_vertex(), centre_vertex() + 1];
        let edge = mesh.edges.iter().position(is_middle).unwrap() as u32;
        let is_corner = |corners: &[u32; 3]| CORNER.iter().all(|one| corners.contains(one));
        let triangle = mesh.triangles.iter().position(is_corner).unwrap() as u32;
        Intersection { edge, triangle }
    }

    #[test]
    fn smoothing_flattens_a_bump_and_keeps_a_flat_sheet() {
        let [first, next, neighbour] = [0, 1, 5].map(|offset| centre_vertex() + offset);
        let relative_displacement = |height: f64, vertex: u32| {
            let (mesh, positions) = sheet(height);
            let intersection = self_intersection(&mesh);
            let configuration = Configuration { mesh: &mesh, positions: &positions };
            let patch = SmoothedPatch::new(
                configuration,
                &[],
                &[(first, intersection), (next, intersection)],
            );
            patch.relative_displacement(configuration, vertex, intersection.triangle)
        };
        assert!(
            relative_displacement(0.0, first).norm() < 1e-12
                && relative_displacement(0.0, next).norm() < 1e-12
        );
        assert!((relative_displacement(0.7, first) - Vec3::new(0.0, 0.0, -0.7)).norm() < 1e-12);
        // The next vertex uses the new position of the centre, and vertices outside of the patch
        // stay.
        assert!(
            relative_displacement(0.7, next).norm() < 1e-12
                && relative_displacement(0.7, neighbour).norm() < 1e-12
        );
    }

    #[test]
    fn both_sides_of_a_self_intersection_are_smoothed() {
        let (mesh, positions) = sheet(0.7);
        let configuration = Configuration { mesh: &mesh, positions: &positions };
        let patch = SmoothedPatch::new(configuration, &[self_intersection(&mesh)], &[]);
        let vertices: Vec<u32> = patch.smoothed_positions.keys().copied().collect();
        assert_eq!(vertices, [3, 4, 8, centre_vertex(), centre_vertex() + 1]);
    }

    /// A ridge of a sheet is smoothed more than by a Jacobi sweep.
    #[test]
    fn a_gauss_seidel_sweep_smooths_more_than_a_jacobi_sweep() {
        let (mesh, mut positions) = sheet(0.0);
        let ridge: Vec<u32> =
            (SIDE..4 * SIDE).filter(|v| (1..SIDE - 1).contains(&(v % SIDE))).collect();
        for vertex in &ridge {
            positions[*vertex as usize].z = 0.5;
        }
        let intersection = self_intersection(&mesh);
        let vertices: Vec<(u32, Intersection)> =
            ridge.iter().map(|vertex| (*vertex, intersection)).collect();
        let configuration = Configuration { mesh: &mesh, positions: &positions };
        let patch = SmoothedPatch::new(configuration, &[], &vertices);
        let alone = |vertex: &u32| one_ring_mean(configuration, *vertex, &BTreeMap::new()).z;
        let together = |vertex: &u32| patch.smoothed_positions[vertex].z;
        let sums = [ridge.iter().map(together).sum::<f64>(), ridge.iter().map(alone).sum::<f64>()];
        assert!(0.0 < sums[0] && sums[0] < 0.8 * sums[1], "{sums:?}");
    }

    #[test]
    fn the_smoothed_patch_grows_with_time() {
        let (mesh, _) = sheet(0.0);
        let intersection = self_intersection(&mesh);
        let after = |time: f64| {
            let mut rings = vertex_rings(&mesh, [intersection, intersection].into_iter(), time);
            assert!(rings.iter().all(|(_, of)| *of == intersection));
            rings.sort_unstable();
            rings.into_iter().map(|(vertex, _)| vertex).collect::<Vec<u32>>()
        };
        assert!(after(0.1).is_empty());
        assert_eq!(after(0.3), [7, 9, 11, 14, 16, 17, 18]);
        let all = (0..SIDE * SIDE).filter(|vertex| !CORNER.contains(vertex));
        let ends = [centre_vertex(), centre_vertex() + 1];
        assert_eq!(after(9.0), all.filter(|vertex| !ends.contains(vertex)).collect::<Vec<u32>>());
    }

    #[test]
    fn smoothing_alternates_with_contour_minimization() {
        let due = [0.1, 0.29, 0.35, 0.55, 0.65, 0.75, 1.05].map(is_smoothing_phase);
        assert_eq!(due, [false, false, true, true, false, true, false]);
    }
}
