// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small knots of a cloth with itself: they are evened out.
//!
//! Cloth that has been crushed may be left with folds of a few triangles that go through each other. Their contours
//! end inside of the cloth, where it turns over, and no direction makes them shorter for long; or a hem is folded
//! over to the one side and next to that to the other. But a cloth that is even does not cross itself: where
//! something has crossed for some time, both sides go to where each vertex is in the middle of its neighbours, and
//! with them ever more of the cloth around. In between it goes for a while where contours lead.

use super::{surfaces::Surfaces, tangle::Crossing};
use crate::Vec3;
use std::collections::BTreeSet;

/// Time in s after which knots are evened out: by then most have been drawn apart as they are.
const KNOTTED: f64 = 0.3;
/// How long that goes on in s.
const TURN: f64 = 0.3;
/// How long in between contours lead, in s.
const PAUSE: f64 = 0.1;
/// Rings of vertices around a knot that take part, for each second for which something has crossed.
const RINGS_PER_SECOND: f64 = 5.0;
/// No more of them take part.
const MOST_RINGS: u32 = 8;

/// Whether it is the turn of evening out where something has crossed for a time in s.
pub(super) fn is_due(crossed_for: f64) -> bool {
    crossed_for > KNOTTED && (crossed_for - KNOTTED) % (TURN + PAUSE) <= TURN
}

/// The vertices in rings around the edges of knots that have crossed for a time in s, each with the knot next to it.
pub(super) fn rings(
    surfaces: &Surfaces,
    knots: impl Iterator<Item = Crossing>,
    crossed_for: f64,
) -> Vec<(u32, Crossing)> {
    let ends = |knot: Crossing| surfaces.edges[knot.edge as usize].map(|end| (end, knot));
    let mut found: Vec<(u32, Crossing)> = knots.flat_map(ends).collect();
    let mut is_found: BTreeSet<u32> = found.iter().map(|(vertex, _)| *vertex).collect();
    let ends = found.len();
    let mut outermost = 0..ends;
    let takes_part = |ring: &u32| f64::from(*ring) <= RINGS_PER_SECOND * crossed_for;
    for _ in (1..=MOST_RINGS).take_while(takes_part) {
        for place in outermost.clone() {
            let (vertex, knot) = found[place];
            let own = surfaces.triangles[knot.triangle as usize];
            let around = surfaces.around.around(vertex as usize);
            let corners = around.flat_map(|(beside, _)| surfaces.triangles[beside as usize]);
            let others = corners.filter(|corner| !own.contains(corner));
            found.extend(others.filter(|other| is_found.insert(*other)).map(|other| (other, knot)));
        }
        outermost = outermost.end..found.len();
    }
    found.split_off(ends)
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
    fn more_of_the_cloth_takes_part_the_longer_something_crosses() {
        let (surfaces, _) = sheet(0.0);
        let is_middle = |ends: &[u32; 2]| *ends == [middle(), middle() + 1];
        let edge = surfaces.edges.iter().position(is_middle).unwrap() as u32;
        let corner = [3, 4, 8];
        let is_corner = |corners: &[u32; 3]| corner.iter().all(|one| corners.contains(one));
        let triangle = surfaces.triangles.iter().position(is_corner).unwrap() as u32;
        let knot = Crossing { edge, triangle };
        let after = |time: f64| {
            let mut rings = rings(&surfaces, [knot, knot].into_iter(), time);
            assert!(rings.iter().all(|(_, of)| *of == knot));
            rings.sort_unstable();
            rings.into_iter().map(|(vertex, _)| vertex).collect::<Vec<u32>>()
        };
        assert!(after(0.1).is_empty());
        assert_eq!(after(0.3), [7, 9, 11, 14, 16, 17, 18]);
        let all = (0..SIDE * SIDE).filter(|vertex| !corner.contains(vertex));
        let ends = [middle(), middle() + 1];
        assert_eq!(after(9.0), all.filter(|vertex| !ends.contains(vertex)).collect::<Vec<u32>>());
    }

    #[test]
    fn contours_come_first_and_then_by_turns() {
        let due = [0.1, 0.29, 0.35, 0.55, 0.65, 0.75, 1.05].map(is_due);
        assert_eq!(due, [false, false, true, true, false, true, false]);
    }
}
