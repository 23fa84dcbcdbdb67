// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small knots of a cloth with itself: they are evened out.
//!
//! Cloth that has been crushed may be left with folds of a few triangles that go through each other. Their contours end inside
//! of the cloth, where it turns over, and no direction makes them shorter for long. But a cloth that is even does not
//! cross itself: where something has crossed for some time, both sides go for a while to where each vertex is in
//! the middle of its neighbours, and then again where contours lead, by turns.

use super::surfaces::Surfaces;
use crate::Vec3;

/// Time in s after which knots are evened out: by then most have been drawn apart as they are.
const KNOTTED: f64 = 0.3;
/// How long that goes on in s, and as long not.
const TURN: f64 = 0.2;

/// Whether it is the turn of evening out where something has crossed for a time in s.
pub(super) fn is_due(crossed_for: f64) -> bool {
    crossed_for > KNOTTED && crossed_for % (2.0 * TURN) >= TURN
}

/// The way in m that a vertex goes relative to a triangle of the same cloth as both are evened out.
pub(super) fn way(surfaces: &Surfaces, positions: &[Vec3], vertex: u32, triangle: u32) -> Vec3 {
    let corners = surfaces.triangles[triangle as usize];
    let other: Vec3 = corners.iter().map(|corner| to_middle(surfaces, positions, *corner)).sum();
    to_middle(surfaces, positions, vertex) - other / 3.0
}

/// The way in m from a vertex of cloth to the middle of its neighbours.
fn to_middle(surfaces: &Surfaces, positions: &[Vec3], vertex: u32) -> Vec3 {
    let around = surfaces.around.around(vertex as usize);
    let corners = around.flat_map(|(triangle, _)| surfaces.triangles[triangle as usize]);
    let (mut sum, mut count) = (Vec3::zeros(), 0.0);
    for neighbour in corners.filter(|corner| *corner != vertex) {
        sum += positions[neighbour as usize] - positions[vertex as usize];
        count += 1.0;
    }
    sum / f64::max(count, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIDE: u32 = 5;

    /// A level sheet of squares, with its middle at a height in m.
    fn sheet(height: f64) -> (Surfaces, Vec<Vec3>) {
        let line = 0..SIDE - 1;
        let corners = line.clone().flat_map(|row| line.clone().map(move |k| row * SIDE + k));
        let halves = |a: u32| [[a, a + 1, a + SIDE], [a + 1, a + SIDE + 1, a + SIDE]];
        let triangles: Vec<[u32; 3]> = corners.flat_map(halves).collect();
        let place =
            |vertex: u32| Vec3::new(f64::from(vertex % SIDE), f64::from(vertex / SIDE), 0.0);
        let mut positions: Vec<Vec3> = (0..SIDE * SIDE).map(place).collect();
        let starts = [0, positions.len()];
        let surfaces = Surfaces::of_thin_cloths((&triangles, &starts), positions.clone(), &[]);
        positions[middle() as usize].z = height;
        (surfaces, positions)
    }

    fn middle() -> u32 {
        SIDE * SIDE / 2
    }

    #[test]
    fn what_sticks_out_goes_back_and_what_is_even_stays() {
        let (surfaces, positions) = sheet(0.0);
        let far =
            surfaces.triangles.iter().position(|corners| corners.contains(&0)).unwrap() as u32;
        assert!(to_middle(&surfaces, &positions, middle()).norm() < 1e-12);
        let (surfaces, positions) = sheet(0.7);
        let way = way(&surfaces, &positions, middle(), far);
        assert!((way.z + 0.7).abs() < 1e-12, "{way}");
    }

    #[test]
    fn contours_come_first_and_then_by_turns() {
        let due = [0.1, 0.25, 0.35, 0.45, 0.65, 0.85].map(is_due);
        assert_eq!(due, [false, false, true, false, true, false]);
    }
}
