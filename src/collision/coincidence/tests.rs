// SPDX-License-Identifier: MIT OR Apache-2.0
//! What coincides begins above, and everything else stays.

use super::*;
use crate::collision::tangle::crosses;

/// How far above it cloth begins in these scenes, in m: cloths keep a distance of 2 m, and their edges are longer.
const HEIGHT: f64 = 0.05;

/// Triangles of a cloth each, with these corners.
fn scene(cloths: &[[Vec3; 3]]) -> (Surfaces, Vec<Vec3>) {
    let count = cloths.len() as u32;
    let triangles: Vec<_> = (0..count).map(|cloth| [0, 1, 2].map(|k| 3 * cloth + k)).collect();
    let starts: Vec<_> = (0..=cloths.len()).map(|cloth| 3 * cloth).collect();
    let positions = cloths.concat();
    let mut surfaces = Surfaces::of_thin_cloths((&triangles, &starts), positions.clone(), &[]);
    surfaces.kinds.iter_mut().for_each(|kind| kind.thickness = 1.0);
    (surfaces, positions)
}

/// Where cloths are after they were parted.
fn parted(cloths: &[[Vec3; 3]]) -> Vec<[Vec3; 3]> {
    let (surfaces, mut positions) = scene(cloths);
    let triangles = 0..surfaces.triangles.len() as u32;
    let with_all = |count: usize| {
        let triangles = triangles.clone();
        (0..count as u32)
            .flat_map(move |one| triangles.clone().map(move |triangle| [one, triangle]))
    };
    let touching = with_all(positions.len()).filter(|pair| touches(&surfaces, &positions)(*pair));
    let touching: Vec<_> = touching.collect();
    let crossings: Vec<_> = with_all(surfaces.edges.len())
        .map(|[edge, triangle]| Crossing { edge, triangle })
        .filter(|crossing| crosses(&surfaces, &positions, *crossing))
        .collect();
    part(&surfaces, &mut positions, (&crossings, &touching));
    positions.chunks(3).map(|corners| [corners[0], corners[1], corners[2]]).collect()
}

fn corners() -> [Vec3; 3] {
    [Vec3::zeros(), Vec3::x() * 9.0, Vec3::y() * 9.0]
}

fn at_height(height: f64) -> [Vec3; 3] {
    corners().map(|corner| corner + Vec3::z() * height)
}

/// The corners, each moved to another side by about so much in m.
fn moved(shift: f64) -> [Vec3; 3] {
    let shifts = [Vec3::z(), -Vec3::z(), Vec3::new(0.3, 0.2, 0.9)];
    [0, 1, 2].map(|corner| corners()[corner] + shifts[corner] * shift)
}

fn turned([a, b, c]: [Vec3; 3]) -> [Vec3; 3] {
    [a, c, b]
}

fn assert_near(found: &[[Vec3; 3]], wanted: &[[Vec3; 3]]) {
    for (found, wanted) in found.as_flattened().iter().zip(wanted.as_flattened()) {
        assert!((found - wanted).norm() < 1e-12, "{found} for {wanted}");
    }
}

#[test]
fn what_coincides_but_for_rounding_begins_above() {
    for copy in [moved(0.02), at_height(0.0), at_height(1e-7), at_height(-1e-7)] {
        assert_near(&parted(&[corners(), copy]), &[corners(), at_height(HEIGHT)]);
    }
}

#[test]
fn what_is_on_an_edge_or_a_face_begins_above_that() {
    let far = Vec3::new(4.0, 4.0, 3.0);
    let copy = [Vec3::new(4.0, 0.01, 0.02), Vec3::new(2.0, 2.0, -0.02), far];
    let above = [Vec3::new(4.0, 0.0, HEIGHT), Vec3::new(2.0, 2.0, HEIGHT), far];
    assert_near(&parted(&[corners(), copy]), &[corners(), above]);
}

#[test]
fn copies_become_layers_whichever_way_they_face() {
    let copies = [corners(), turned(corners()), moved(0.01), turned(moved(0.02))];
    let found = parted(&copies);
    let wanted = [0.0, 1.0, 2.0, 3.0].map(|layer| at_height(layer * HEIGHT));
    assert_near(&found, &[wanted[0], turned(wanted[1]), wanted[2], turned(wanted[3])]);
}

#[test]
fn what_is_mostly_on_one_side_of_cloth_begins_there() {
    let mut copy = at_height(-0.02);
    copy[0].z = -1e-8;
    let across = [Vec3::new(1.0, 1.0, -1.0), Vec3::new(2.0, 1.0, 1.0), Vec3::new(1.0, 2.0, 1.0)];
    let (surfaces, mut positions) = scene(&[corners(), copy, across]);
    let crossings = [Crossing { edge: 3, triangle: 0 }];
    part(&surfaces, &mut positions, (&crossings, &[]));
    assert_near(&[[positions[3], positions[4], positions[5]]], &[at_height(-HEIGHT)]);
}

#[test]
fn what_is_apart_or_hovers_stays_where_it_is() {
    let at_a_corner = [Vec3::zeros(), -Vec3::x(), -Vec3::y()];
    for other in [moved(0.1), at_height(1e-3), at_height(-0.02), at_a_corner] {
        assert_eq!(parted(&[corners(), other]), [corners(), other]);
    }
}
