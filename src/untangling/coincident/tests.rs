// SPDX-License-Identifier: MIT OR Apache-2.0
//! Coincident vertices are lifted, and all others stay.

use super::*;
use crate::{
    collision::is_intersecting, response::ColliderMotion, scene::Collider,
    untangling::containment::find_enclosed_cloths,
};

/// Lift height in these scenes, in m: the thicknesses sum to 2 m, and edges are longer.
const LIFT_HEIGHT: f64 = 0.05;

/// One triangle per cloth, with these corners, and colliders.
fn scene(cloths: &[[Vec3; 3]], colliders: &[Collider]) -> (CollisionMesh, Vec<Vec3>) {
    let count = cloths.len() as u32;
    let triangles: Vec<_> = (0..count).map(|cloth| [0, 1, 2].map(|k| 3 * cloth + k)).collect();
    let vertex_offsets: Vec<_> = (0..=cloths.len()).map(|cloth| 3 * cloth).collect();
    let mut mesh =
        CollisionMesh::of_thin_cloths(&triangles, &vertex_offsets, cloths.concat(), colliders);
    mesh.surface_properties.iter_mut().for_each(|kind| kind.thickness = 1.0);
    let positions = with_colliders(cloths.concat(), colliders);
    mesh.enclosed_cloths =
        find_enclosed_cloths(Configuration { mesh: &mesh, positions: &positions });
    (mesh, positions)
}

fn with_colliders(mut positions: Vec<Vec3>, colliders: &[Collider]) -> Vec<Vec3> {
    for collider in colliders {
        positions.extend(ColliderMotion::new(collider).positions_at(0.0));
    }
    positions
}

/// Lifts all coincident and intersecting vertices.
fn separate_all(mesh: &CollisionMesh, positions: &mut [Vec3]) {
    let triangles = 0..mesh.triangles.len() as u32;
    let with_all = |count: usize| {
        let triangles = triangles.clone();
        let each = (0..count as u32).map(move |one| triangles.clone().map(move |two| [one, two]));
        each.flatten()
    };
    let coincident = with_all(mesh.cloth_vertex_count);
    let coincident: Vec<_> = coincident.filter(coincidence_filter(mesh, positions)).collect();
    let intersections: Vec<_> = with_all(mesh.edges.len())
        .map(|[edge, triangle]| Intersection { edge, triangle })
        .filter(|intersection| is_intersecting(Configuration { mesh, positions }, *intersection))
        .collect();
    separate_coincident(mesh, positions, &intersections, &coincident);
}

fn coincidence_filter<'a>(
    mesh: &'a CollisionMesh,
    positions: &'a [Vec3],
) -> impl FnMut(&[u32; 2]) -> bool + 'a {
    let is_coincident = coincidence_predicate(Configuration { mesh, positions });
    move |pair| is_coincident(*pair)
}

/// Positions of the cloths after the lift, in m.
fn separated_with_colliders(cloths: &[[Vec3; 3]], colliders: &[Collider]) -> Vec<[Vec3; 3]> {
    let (mesh, mut positions) = scene(cloths, colliders);
    separate_all(&mesh, &mut positions);
    let cloths = positions[..mesh.cloth_vertex_count].as_chunks::<3>().0;
    cloths.to_vec()
}

fn separated(cloths: &[[Vec3; 3]]) -> Vec<[Vec3; 3]> {
    separated_with_colliders(cloths, &[])
}

fn corners() -> [Vec3; 3] {
    [Vec3::zeros(), Vec3::x() * 9.0, Vec3::y() * 9.0]
}

fn at_height(height: f64) -> [Vec3; 3] {
    corners().map(|corner| corner + Vec3::z() * height)
}

/// The corners, each displaced in another direction by about `shift` in m.
fn perturbed(shift: f64) -> [Vec3; 3] {
    let shifts = [Vec3::z(), -Vec3::z(), Vec3::new(0.3, 0.2, 0.9)];
    [0, 1, 2].map(|corner| corners()[corner] + shifts[corner] * shift)
}

fn flipped([a, b, c]: [Vec3; 3]) -> [Vec3; 3] {
    [a, c, b]
}

fn assert_near(found: &[[Vec3; 3]], expected: &[[Vec3; 3]]) {
    for (found, expected) in found.as_flattened().iter().zip(expected.as_flattened()) {
        assert!((found - expected).norm() < 1e-12, "{found} for {expected}");
    }
}

#[test]
fn vertices_coincident_up_to_rounding_are_lifted() {
    for copy in [perturbed(0.02), at_height(0.0), at_height(1e-7), at_height(-1e-7)] {
        assert_near(&separated(&[corners(), copy]), &[corners(), at_height(LIFT_HEIGHT)]);
    }
}

#[test]
fn vertices_on_an_edge_or_a_face_are_lifted_above_it() {
    let far = Vec3::new(4.0, 4.0, 3.0);
    let copy = [Vec3::new(4.0, 0.01, 0.02), Vec3::new(2.0, 2.0, -0.02), far];
    let above = [Vec3::new(4.0, 0.0, LIFT_HEIGHT), Vec3::new(2.0, 2.0, LIFT_HEIGHT), far];
    assert_near(&separated(&[corners(), copy]), &[corners(), above]);
}

#[test]
fn copies_become_layers_whichever_way_they_face() {
    let copies = [corners(), flipped(corners()), perturbed(0.01), flipped(perturbed(0.02))];
    let found = separated(&copies);
    let expected = [0.0, 1.0, 2.0, 3.0].map(|layer| at_height(layer * LIFT_HEIGHT));
    assert_near(&found, &[expected[0], flipped(expected[1]), expected[2], flipped(expected[3])]);
}

#[test]
fn a_patch_is_lifted_to_the_side_of_most_of_its_vertices() {
    let mut copy = at_height(-0.02);
    copy[0].z = -1e-8;
    let (mesh, mut positions) = scene(&[corners(), copy], &[]);
    // As if another edge intersected.
    separate_coincident(&mesh, &mut positions, &[Intersection { edge: 3, triangle: 0 }], &[]);
    assert_near(&[[positions[3], positions[4], positions[5]]], &[at_height(-LIFT_HEIGHT)]);
}

#[test]
fn a_patch_with_a_hanging_neighbour_is_lifted_downward() {
    // The second of two connected triangles hangs down.
    let down = Vec3::new(9.0, 9.0, -5.0);
    let rest = [corners(), corners()].concat().into_iter().chain([down]).collect::<Vec<_>>();
    let triangles = [[0, 1, 2], [3, 4, 5], [5, 4, 6]];
    let mut mesh = CollisionMesh::of_thin_cloths(&triangles, &[0, 3, 7], rest.clone(), &[]);
    mesh.surface_properties.iter_mut().for_each(|kind| kind.thickness = 1.0);
    let mut positions = rest;
    separate_all(&mesh, &mut positions);
    assert_near(&[[positions[3], positions[4], positions[5]]], &[at_height(-LIFT_HEIGHT)]);
    assert_eq!(positions[6], down);
}

/// A closed tetrahedron with a face in the plane z = 0 that faces down, and another that faces −x.
fn solid() -> Collider {
    let corners = [Vec3::zeros(), Vec3::x() * 9.0, Vec3::y() * 9.0, Vec3::z() * 9.0];
    let sides = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
    Collider::new(corners.to_vec(), &sides, 0.5, 0.001).unwrap()
}

#[test]
fn vertices_on_a_solid_are_lifted_outward_on_all_sides() {
    for axis in [Vec3::x(), Vec3::y(), Vec3::z()] {
        let coordinates = [[1.0, 1.0], [3.0, 1.0], [1.0, 3.0]].map(|[a, b]| match axis.imax() {
            0 => Vec3::new(0.0, a, b),
            1 => Vec3::new(a, 0.0, b),
            _ => Vec3::new(a, b, 0.0),
        });
        // Its edges are shorter than the combined thickness.
        let outside = coordinates.map(|place| place - axis * LIFT_HEIGHT);
        assert_near(&separated_with_colliders(&[coordinates], &[solid()]), &[outside]);
    }
}

#[test]
fn a_crease_between_two_supports_is_lifted_above_both() {
    for angle in [0.0_f64, 0.3, 1.0] {
        let turn = nalgebra::Rotation3::from_axis_angle(&Vec3::y_axis(), angle);
        let at = |x: f64, y: f64, z: f64| turn * Vec3::new(x, y, z);
        let open =
            |corners: [Vec3; 3]| Collider::new(corners.to_vec(), &[[0, 1, 2]], 0.5, 0.001).unwrap();
        let floor = open([at(0.0, -9.0, 0.0), at(9.0, 0.0, 0.0), at(0.0, 9.0, 0.0)]);
        let wall = open([at(0.0, -9.0, 0.0), at(0.0, 9.0, 0.0), at(0.0, 0.0, 9.0)]);
        // A triangle on the floor and one on the wall, with the crease as their common edge.
        let rest = [at(0.0, -4.0, 0.0), at(0.0, 4.0, 0.0), at(4.0, 0.0, 0.0), at(0.0, 0.0, 4.0)];
        let triangles = [[0, 2, 1], [0, 1, 3]];
        let colliders = [floor, wall];
        let mut mesh =
            CollisionMesh::of_thin_cloths(&triangles, &[0, 4], rest.to_vec(), &colliders);
        mesh.surface_properties.iter_mut().for_each(|kind| kind.thickness = 1.0);
        let mut positions = with_colliders(rest.to_vec(), &colliders);
        separate_all(&mesh, &mut positions);
        for crease in &positions[..2] {
            let local = turn.inverse() * crease;
            assert!(
                (local.x - LIFT_HEIGHT).abs() < 1e-12 && (local.z - LIFT_HEIGHT).abs() < 1e-12,
                "{local}"
            );
        }
    }
}

#[test]
fn collider_vertices_without_triangles_support_nothing() {
    let [a, b, c] = corners();
    let collider = Collider::new(vec![a, b, c, a, b, c], &[[3, 4, 5]], 0.5, 0.001).unwrap();
    assert_near(&separated_with_colliders(&[corners()], &[collider]), &[at_height(LIFT_HEIGHT)]);
}

#[test]
fn excluded_vertices_are_not_lifted() {
    let (mut mesh, mut positions) = scene(&[corners(), at_height(0.0)], &[]);
    mesh.set_excluded_vertices(vec![
        [false; 2], [false; 2], [false; 2], [true; 2], [true; 2], [true; 2],
    ]);
    separate_all(&mesh, &mut positions);
    assert_eq!(positions[3..], corners());
}

#[test]
fn separate_vertices_are_not_lifted() {
    let at_a_corner = [Vec3::zeros(), -Vec3::x(), -Vec3::y()];
    for other in [perturbed(0.1), at_height(1e-3), at_height(-0.02), at_a_corner] {
        assert_eq!(separated(&[corners(), other]), [corners(), other]);
    }
}

/// Bound of the shift in m by slopes between folds and layers, which are 3 m apart.
const MAX_SLOPE_SHIFT: f64 = LIFT_HEIGHT * LIFT_HEIGHT / 3.0;

/// Triangles of a strip of `count` pairs of vertices, from the vertex `first`.
fn strip(first: u32, count: usize) -> impl Iterator<Item = [u32; 3]> {
    let pairs = (0..count as u32 - 1).map(move |pair| first + 2 * pair);
    pairs.flat_map(|a| [[a, a + 2, a + 1], [a + 1, a + 2, a + 3]])
}

/// Heights in m of two rows of vertices of one cloth after the lift; `coordinates` are their coordinates
/// along the rows in m.
fn separated_strip(coordinates: &[f64]) -> Vec<[f64; 2]> {
    separated_strip_with(coordinates, |_| 0.0, &[])
}

/// Heights in m of two rows of vertices after the lift, from given initial heights and with
/// colliders.
fn separated_strip_with(
    coordinates: &[f64],
    height: impl Fn(usize) -> f64,
    colliders: &[Collider],
) -> Vec<[f64; 2]> {
    let rest = |row: f64| {
        (0..coordinates.len()).map(move |column| Vec3::new(3.0 * column as f64, row, 0.0))
    };
    let triangles: Vec<[u32; 3]> = strip(0, coordinates.len()).collect();
    let rest: Vec<Vec3> = rest(0.0).zip(rest(4.0)).flat_map(|(one, other)| [one, other]).collect();
    let mut positions = rest.clone();
    for (vertex, position) in positions.iter_mut().enumerate() {
        position.x = coordinates[vertex / 2];
        position.z = height(vertex / 2);
    }
    let ends = [0, rest.len()];
    let mut mesh = CollisionMesh::of_thin_cloths(&triangles, &ends, rest, colliders);
    mesh.surface_properties.iter_mut().for_each(|kind| kind.thickness = 1.0);
    let count = positions.len();
    positions = with_colliders(positions, colliders);
    separate_all(&mesh, &mut positions);
    positions.truncate(count);
    for (place, position) in coordinates.iter().flat_map(|place| [place; 2]).zip(&positions) {
        assert!((position.x - place).abs() < MAX_SLOPE_SHIFT, "moved along itself: {position}");
    }
    positions.as_chunks().0.iter().map(|[one, other]| [one.z, other.z]).collect()
}

#[test]
fn flat_folds_become_layers() {
    // Folds along the third and the sixth row, which end between their adjacent layers.
    let found = separated_strip(&[0.0, 3.0, 6.0, 3.0, 0.0, -3.0, 0.0, 3.0]);
    for (row, expected) in [(0, 0.0), (1, 0.0), (3, 1.0), (4, 1.0), (6, 2.0), (7, 2.0)] {
        assert!(
            found[row].iter().all(|z| (z - expected * LIFT_HEIGHT).abs() < MAX_SLOPE_SHIFT),
            "{found:?}"
        );
    }
    for (fold, below) in [(2, 0.0), (5, 1.0)] {
        let is_between = |z: &f64| below * LIFT_HEIGHT < *z && *z < (below + 1.0) * LIFT_HEIGHT;
        assert!(found[fold].iter().all(is_between), "{found:?}");
    }
}

#[test]
fn a_layer_of_one_row_lies_above_too() {
    let found = separated_strip(&[0.0, 3.0, 6.0, 3.0, 0.0, 3.0, 6.0]);
    for (row, expected) in [(1, 0.0), (3, 1.0), (5, 2.0)] {
        assert!(
            found[row].iter().all(|z| (z - expected * LIFT_HEIGHT).abs() < MAX_SLOPE_SHIFT),
            "{found:?}"
        );
    }
}

#[test]
fn folds_between_rows_become_layers() {
    // The third and the fourth row coincide, and the faces between them are degenerate.
    let found = separated_strip(&[0.0, 3.0, 6.0, 6.0, 3.0, 0.0]);
    let expected = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0];
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            found.iter().all(|z| (z - expected * LIFT_HEIGHT).abs() < MAX_SLOPE_SHIFT),
            "{found:?}"
        );
    }
}

#[test]
fn open_folds_are_not_lifted() {
    // At rest, and folded to within a few degrees of flat.
    for (coordinates, rise) in [([0.0, 3.0, 6.0, 9.0, 12.0], 0.0), ([0.0, 3.0, 6.0, 3.0, 0.0], 0.3)]
    {
        let found = separated_strip_with(
            &coordinates,
            |column| rise * f64::max(column as f64 - 2.0, 0.0),
            &[],
        );
        let expected = [0.0, 0.0, 0.0, rise, 2.0 * rise];
        assert_eq!(found, expected.map(|z| [z; 2]));
    }
}

#[test]
fn fold_vertices_are_lifted_from_colliders_like_their_patches() {
    let corners = [-60.0, 60.0].map(|x| Vec3::new(x, -90.0, 0.0));
    let corners = vec![corners[0], corners[1], Vec3::y() * 120.0];
    let floor = Collider::new(corners, &[[0, 1, 2]], 0.5, 0.001).unwrap();
    // All rows but the ends are folds.
    let pleats = [0.0, 3.0, 0.0, 3.0, 0.0, 3.0];
    let found = separated_strip_with(&pleats, |_| 0.0, &[floor]);
    assert!(found.as_flattened().iter().all(|z| *z >= LIFT_HEIGHT - MAX_SLOPE_SHIFT), "{found:?}");
}

#[test]
fn a_hem_is_lifted_to_the_side_of_its_cloth() {
    // A hem of two rows is folded back onto a sheet of another cloth, and the rest hangs below the
    // sheet.
    let sheet: Vec<Vec3> =
        [(-30.0, -30.0), (60.0, -30.0), (-30.0, 90.0)].map(|(x, y)| Vec3::new(x, y, 0.0)).to_vec();
    let coordinates = [6.0, 3.0, 0.0, 3.0, 6.0, 9.0];
    let hem = coordinates.iter().flat_map(|x| [0.0, 4.0].map(|y| Vec3::new(*x, y, 0.0)));
    let mut positions: Vec<Vec3> = sheet.into_iter().chain(hem).collect();
    for vertex in positions.iter_mut().rev().take(2) {
        vertex.z = -6.0;
    }
    let triangles: Vec<[u32; 3]> =
        std::iter::once([0, 1, 2]).chain(strip(3, coordinates.len())).collect();
    let vertex_offsets = [0, 3, positions.len()];
    let mut mesh =
        CollisionMesh::of_thin_cloths(&triangles, &vertex_offsets, positions.clone(), &[]);
    mesh.surface_properties.iter_mut().for_each(|kind| kind.thickness = 1.0);
    separate_all(&mesh, &mut positions);
    assert!(positions[3..].iter().all(|vertex| vertex.z < -0.5 * LIFT_HEIGHT), "{positions:?}");
}
