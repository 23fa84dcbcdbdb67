// SPDX-License-Identifier: MIT OR Apache-2.0
//! What coincides begins above, and everything else stays.

use super::*;
use crate::{
    collision::is_intersecting, response::ColliderMotion, scene::Collider, surface::Configuration,
    untangling::containment::find_enclosed_cloths,
};

/// How far above it cloth begins in these scenes, in m: cloths keep a distance of 2 m, and their edges are longer.
const LIFT_HEIGHT: f64 = 0.05;

/// Triangles of a cloth each, with these corners, and such colliders.
fn scene(cloths: &[[Vec3; 3]], colliders: &[Collider]) -> (CollisionMesh, Vec<Vec3>) {
    let count = cloths.len() as u32;
    let triangles: Vec<_> = (0..count).map(|cloth| [0, 1, 2].map(|k| 3 * cloth + k)).collect();
    let starts: Vec<_> = (0..=cloths.len()).map(|cloth| 3 * cloth).collect();
    let mut surfaces =
        CollisionMesh::of_thin_cloths(&triangles, &starts, cloths.concat(), colliders);
    surfaces.surface_properties.iter_mut().for_each(|kind| kind.thickness = 1.0);
    let positions = with_colliders(cloths.concat(), colliders);
    surfaces.enclosed_cloths = find_enclosed_cloths(&surfaces, &positions);
    (surfaces, positions)
}

fn with_colliders(mut positions: Vec<Vec3>, colliders: &[Collider]) -> Vec<Vec3> {
    for collider in colliders {
        positions.extend(ColliderMotion::new(collider).positions_at(0.0));
    }
    positions
}

/// Parts all that touches or crosses.
fn separate_all(surfaces: &CollisionMesh, positions: &mut [Vec3]) {
    let triangles = 0..surfaces.triangles.len() as u32;
    let with_all = |count: usize| {
        let triangles = triangles.clone();
        let each = (0..count as u32).map(move |one| triangles.clone().map(move |two| [one, two]));
        each.flatten()
    };
    let touching = with_all(surfaces.cloth_vertex_count);
    let touching: Vec<_> = touching.filter(coincidence_filter(surfaces, positions)).collect();
    let crossings: Vec<_> = with_all(surfaces.edges.len())
        .map(|[edge, triangle]| Intersection { edge, triangle })
        .filter(|crossing| is_intersecting(Configuration { mesh: surfaces, positions }, *crossing))
        .collect();
    separate_coincident(surfaces, positions, (&crossings, &touching));
}

fn coincidence_filter<'a>(
    surfaces: &'a CollisionMesh,
    positions: &'a [Vec3],
) -> impl FnMut(&[u32; 2]) -> bool + 'a {
    let touches = coincidence_predicate(surfaces, positions);
    move |pair| touches(*pair)
}

/// Where cloths are after they were parted.
fn separated_with_colliders(cloths: &[[Vec3; 3]], colliders: &[Collider]) -> Vec<[Vec3; 3]> {
    let (surfaces, mut positions) = scene(cloths, colliders);
    separate_all(&surfaces, &mut positions);
    let cloths = positions[..surfaces.cloth_vertex_count].as_chunks::<3>().0;
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

/// The corners, each moved to another side by about so much in m.
fn perturbed(shift: f64) -> [Vec3; 3] {
    let shifts = [Vec3::z(), -Vec3::z(), Vec3::new(0.3, 0.2, 0.9)];
    [0, 1, 2].map(|corner| corners()[corner] + shifts[corner] * shift)
}

fn flipped([a, b, c]: [Vec3; 3]) -> [Vec3; 3] {
    [a, c, b]
}

fn assert_near(found: &[[Vec3; 3]], wanted: &[[Vec3; 3]]) {
    for (found, wanted) in found.as_flattened().iter().zip(wanted.as_flattened()) {
        assert!((found - wanted).norm() < 1e-12, "{found} for {wanted}");
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
    let wanted = [0.0, 1.0, 2.0, 3.0].map(|layer| at_height(layer * LIFT_HEIGHT));
    assert_near(&found, &[wanted[0], flipped(wanted[1]), wanted[2], flipped(wanted[3])]);
}

#[test]
fn a_patch_is_lifted_to_the_side_of_most_of_its_vertices() {
    let mut copy = at_height(-0.02);
    copy[0].z = -1e-8;
    let (surfaces, mut positions) = scene(&[corners(), copy], &[]);
    // As if another edge crossed.
    separate_coincident(&surfaces, &mut positions, (&[Intersection { edge: 3, triangle: 0 }], &[]));
    assert_near(&[[positions[3], positions[4], positions[5]]], &[at_height(-LIFT_HEIGHT)]);
}

#[test]
fn a_patch_with_a_hanging_neighbour_is_lifted_downward() {
    // Of two triangles that hang together the second turns down.
    let down = Vec3::new(9.0, 9.0, -5.0);
    let rest = [corners(), corners()].concat().into_iter().chain([down]).collect::<Vec<_>>();
    let triangles = [[0, 1, 2], [3, 4, 5], [5, 4, 6]];
    let mut surfaces = CollisionMesh::of_thin_cloths(&triangles, &[0, 3, 7], rest.clone(), &[]);
    surfaces.surface_properties.iter_mut().for_each(|kind| kind.thickness = 1.0);
    let mut positions = rest;
    separate_all(&surfaces, &mut positions);
    assert_near(&[[positions[3], positions[4], positions[5]]], &[at_height(-LIFT_HEIGHT)]);
    assert_eq!(positions[6], down);
}

/// A closed tetrahedron with a side in the plane z = 0 that looks down, and another that looks to −x.
fn solid() -> Collider {
    let corners = [Vec3::zeros(), Vec3::x() * 9.0, Vec3::y() * 9.0, Vec3::z() * 9.0];
    let sides = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
    Collider::new(corners.to_vec(), &sides, 0.5, 0.001).unwrap()
}

#[test]
fn vertices_on_a_solid_are_lifted_outward_on_all_sides() {
    for axis in [Vec3::x(), Vec3::y(), Vec3::z()] {
        let places = [[1.0, 1.0], [3.0, 1.0], [1.0, 3.0]].map(|[a, b]| match axis.imax() {
            0 => Vec3::new(0.0, a, b),
            1 => Vec3::new(a, 0.0, b),
            _ => Vec3::new(a, b, 0.0),
        });
        // Its edges are shorter than what both keep.
        let outside = places.map(|place| place - axis * LIFT_HEIGHT);
        assert_near(&separated_with_colliders(&[places], &[solid()]), &[outside]);
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
        // A triangle on the floor, and one on the wall, with the crease between them in common.
        let rest = [at(0.0, -4.0, 0.0), at(0.0, 4.0, 0.0), at(4.0, 0.0, 0.0), at(0.0, 0.0, 4.0)];
        let triangles = [[0, 2, 1], [0, 1, 3]];
        let colliders = [floor, wall];
        let mut surfaces =
            CollisionMesh::of_thin_cloths(&triangles, &[0, 4], rest.to_vec(), &colliders);
        surfaces.surface_properties.iter_mut().for_each(|kind| kind.thickness = 1.0);
        let mut positions = with_colliders(rest.to_vec(), &colliders);
        separate_all(&surfaces, &mut positions);
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
    let (mut surfaces, mut positions) = scene(&[corners(), at_height(0.0)], &[]);
    surfaces.set_excluded_vertices(vec![
        [false; 2], [false; 2], [false; 2], [true; 2], [true; 2], [true; 2],
    ]);
    separate_all(&surfaces, &mut positions);
    assert_eq!(positions[3..], corners());
}

#[test]
fn separate_vertices_are_not_lifted() {
    let at_a_corner = [Vec3::zeros(), -Vec3::x(), -Vec3::y()];
    for other in [perturbed(0.1), at_height(1e-3), at_height(-0.02), at_a_corner] {
        assert_eq!(separated(&[corners(), other]), [corners(), other]);
    }
}

/// Slopes from folds to layers, which are 3 m apart, lean what is put above these by no more, in m.
const MAX_SLOPE_SHIFT: f64 = LIFT_HEIGHT * LIFT_HEIGHT / 3.0;

/// Triangles between pairs of vertices, so many and counted on from the first.
fn strip(first: u32, count: usize) -> impl Iterator<Item = [u32; 3]> {
    let pairs = (0..count as u32 - 1).map(move |pair| first + 2 * pair);
    pairs.flat_map(|a| [[a, a + 2, a + 1], [a + 1, a + 2, a + 3]])
}

/// How high two rows of vertices of one cloth with these `places` along them, in m, are after they were parted.
fn separated_strip(places: &[f64]) -> Vec<[f64; 2]> {
    separated_strip_with(places, |_| 0.0, &[])
}

/// The same of rows that begin at other heights, with colliders.
fn separated_strip_with(
    places: &[f64],
    height: impl Fn(usize) -> f64,
    colliders: &[Collider],
) -> Vec<[f64; 2]> {
    let rest =
        |row: f64| (0..places.len()).map(move |column| Vec3::new(3.0 * column as f64, row, 0.0));
    let triangles: Vec<[u32; 3]> = strip(0, places.len()).collect();
    let rest: Vec<Vec3> = rest(0.0).zip(rest(4.0)).flat_map(|(one, other)| [one, other]).collect();
    let mut positions = rest.clone();
    for (vertex, position) in positions.iter_mut().enumerate() {
        position.x = places[vertex / 2];
        position.z = height(vertex / 2);
    }
    let ends = [0, rest.len()];
    let mut surfaces = CollisionMesh::of_thin_cloths(&triangles, &ends, rest, colliders);
    surfaces.surface_properties.iter_mut().for_each(|kind| kind.thickness = 1.0);
    let count = positions.len();
    positions = with_colliders(positions, colliders);
    separate_all(&surfaces, &mut positions);
    positions.truncate(count);
    for (place, position) in places.iter().flat_map(|place| [place; 2]).zip(&positions) {
        assert!((position.x - place).abs() < MAX_SLOPE_SHIFT, "moved along itself: {position}");
    }
    positions.as_chunks().0.iter().map(|[one, other]| [one.z, other.z]).collect()
}

#[test]
fn flat_folds_become_layers() {
    // Folds along the third and the sixth row, which come to be between the layers beside them.
    let found = separated_strip(&[0.0, 3.0, 6.0, 3.0, 0.0, -3.0, 0.0, 3.0]);
    for (row, wanted) in [(0, 0.0), (1, 0.0), (3, 1.0), (4, 1.0), (6, 2.0), (7, 2.0)] {
        assert!(
            found[row].iter().all(|z| (z - wanted * LIFT_HEIGHT).abs() < MAX_SLOPE_SHIFT),
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
    for (row, wanted) in [(1, 0.0), (3, 1.0), (5, 2.0)] {
        assert!(
            found[row].iter().all(|z| (z - wanted * LIFT_HEIGHT).abs() < MAX_SLOPE_SHIFT),
            "{found:?}"
        );
    }
}

#[test]
fn folds_between_rows_become_layers() {
    // The third and the fourth row are in one place, and leave the faces between them no width.
    let found = separated_strip(&[0.0, 3.0, 6.0, 6.0, 3.0, 0.0]);
    let wanted = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0];
    for (found, wanted) in found.iter().zip(wanted) {
        assert!(
            found.iter().all(|z| (z - wanted * LIFT_HEIGHT).abs() < MAX_SLOPE_SHIFT),
            "{found:?}"
        );
    }
}

#[test]
fn open_folds_are_not_lifted() {
    // At rest, and folded over itself by all but a few degrees.
    for (places, rise) in [([0.0, 3.0, 6.0, 9.0, 12.0], 0.0), ([0.0, 3.0, 6.0, 3.0, 0.0], 0.3)] {
        let found =
            separated_strip_with(&places, |column| rise * f64::max(column as f64 - 2.0, 0.0), &[]);
        let wanted = [0.0, 0.0, 0.0, rise, 2.0 * rise];
        assert_eq!(found, wanted.map(|z| [z; 2]));
    }
}

#[test]
fn fold_vertices_are_lifted_from_colliders_like_their_patches() {
    let corners = [-60.0, 60.0].map(|x| Vec3::new(x, -90.0, 0.0));
    let corners = vec![corners[0], corners[1], Vec3::y() * 120.0];
    let floor = Collider::new(corners, &[[0, 1, 2]], 0.5, 0.001).unwrap();
    // All of them folds but for the ends.
    let pleats = [0.0, 3.0, 0.0, 3.0, 0.0, 3.0];
    let found = separated_strip_with(&pleats, |_| 0.0, &[floor]);
    assert!(found.as_flattened().iter().all(|z| *z >= LIFT_HEIGHT - MAX_SLOPE_SHIFT), "{found:?}");
}

#[test]
fn a_hem_is_lifted_to_the_side_of_its_cloth() {
    // On a sheet, which is another cloth: a hem of two rows folded back, and what goes on below the sheet.
    let sheet: Vec<Vec3> =
        [(-30.0, -30.0), (60.0, -30.0), (-30.0, 90.0)].map(|(x, y)| Vec3::new(x, y, 0.0)).to_vec();
    let places = [6.0, 3.0, 0.0, 3.0, 6.0, 9.0];
    let hem = places.iter().flat_map(|x| [0.0, 4.0].map(|y| Vec3::new(*x, y, 0.0)));
    let mut positions: Vec<Vec3> = sheet.into_iter().chain(hem).collect();
    for vertex in positions.iter_mut().rev().take(2) {
        vertex.z = -6.0;
    }
    let triangles: Vec<[u32; 3]> =
        std::iter::once([0, 1, 2]).chain(strip(3, places.len())).collect();
    let starts = [0, 3, positions.len()];
    let mut surfaces = CollisionMesh::of_thin_cloths(&triangles, &starts, positions.clone(), &[]);
    surfaces.surface_properties.iter_mut().for_each(|kind| kind.thickness = 1.0);
    separate_all(&surfaces, &mut positions);
    assert!(positions[3..].iter().all(|vertex| vertex.z < -0.5 * LIFT_HEIGHT), "{positions:?}");
}
