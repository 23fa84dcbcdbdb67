// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small knots of a cloth with itself: they are evened out.
//!
//! Cloth that has been crushed may be left with folds of a few triangles that go through each other. Their contours
//! end inside of the cloth, where it turns over, and no direction makes them shorter for long; or a hem is folded
//! over to the one side and next to that to the other. But a cloth that is even does not cross itself: where
//! something has crossed for some time, both sides go to where each vertex is in the middle of its neighbours, and
//! with them ever more of the cloth around. The neighbours' new places count where they have some already, as in a
//! sweep of Gauss and Seidel: that evens out a fold of several triangles in half the time. (With 3 sweeps or
//! more it took longer.) In between it goes for a while where contours lead.

use crate::{Vec3, collision::Intersection, surface::CollisionMesh};
use std::collections::{BTreeMap, BTreeSet};

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
pub(crate) fn is_smoothing_phase(crossed_for: f64) -> bool {
    crossed_for > KNOTTED && (crossed_for - KNOTTED) % (TURN + PAUSE) <= TURN
}

/// The vertices in rings around the edges of knots that have crossed for a time in s, each with the knot next to it.
pub(crate) fn vertex_rings(
    surfaces: &CollisionMesh,
    knots: impl Iterator<Item = Intersection>,
    crossed_for: f64,
) -> Vec<(u32, Intersection)> {
    let ends = |knot: Intersection| surfaces.edges[knot.edge as usize].map(|end| (end, knot));
    let mut found: Vec<(u32, Intersection)> = knots.flat_map(ends).collect();
    let mut is_found: BTreeSet<u32> = found.iter().map(|(vertex, _)| *vertex).collect();
    let ends = found.len();
    let mut outermost = 0..ends;
    let takes_part = |ring: &u32| f64::from(*ring) <= RINGS_PER_SECOND * crossed_for;
    for _ in (1..=MOST_RINGS).take_while(takes_part) {
        for place in outermost.clone() {
            let (vertex, knot) = found[place];
            let own = surfaces.triangles[knot.triangle as usize];
            let around = surfaces.vertex_triangles.elements_of(vertex as usize);
            let corners = around.flat_map(|(beside, _)| surfaces.triangles[beside as usize]);
            let others = corners.filter(|corner| !own.contains(corner));
            found.extend(others.filter(|other| is_found.insert(*other)).map(|other| (other, knot)));
        }
        outermost = outermost.end..found.len();
    }
    found.split_off(ends)
}

/// Where the cloth around knots goes to be even.
#[derive(Clone, Debug)]
pub(crate) struct SmoothedPatch {
    /// In m, of the vertices that take part.
    smoothed_positions: BTreeMap<u32, Vec3>,
}

impl SmoothedPatch {
    /// Of the vertices at `knots` and in the rings around them, with all vertices at `positions` in m.
    pub(crate) fn new(
        surfaces: &CollisionMesh,
        positions: &[Vec3],
        (knots, rings): (&[Intersection], &[(u32, Intersection)]),
    ) -> Self {
        let at = |knot: &Intersection| {
            let [edge, triangle] = [knot.edge as usize, knot.triangle as usize];
            surfaces.edges[edge].into_iter().chain(surfaces.triangles[triangle])
        };
        let around = rings.iter().map(|(vertex, _)| *vertex);
        let members: BTreeSet<u32> = knots.iter().flat_map(at).chain(around).collect();
        let mut smoothed_positions = BTreeMap::new();
        for vertex in members {
            smoothed_positions
                .insert(vertex, one_ring_mean(surfaces, positions, vertex, &smoothed_positions));
        }
        Self { smoothed_positions }
    }

    /// The way in m that a vertex goes relative to a triangle of the same cloth as both are evened out.
    pub(crate) fn relative_displacement(
        &self,
        surfaces: &CollisionMesh,
        positions: &[Vec3],
        (vertex, triangle): (u32, u32),
    ) -> Vec3 {
        let own = |vertex: u32| {
            let goal = self.smoothed_positions.get(&vertex);
            goal.map_or(Vec3::zeros(), |goal| goal - positions[vertex as usize])
        };
        let corners = surfaces.triangles[triangle as usize];
        own(vertex) - corners.map(own).iter().sum::<Vec3>() / 3.0
    }
}

/// The middle of the neighbours of a vertex of cloth in m, some of which have new places.
fn one_ring_mean(
    surfaces: &CollisionMesh,
    positions: &[Vec3],
    vertex: u32,
    places: &BTreeMap<u32, Vec3>,
) -> Vec3 {
    let around = surfaces.vertex_triangles.elements_of(vertex as usize);
    let corners = around.flat_map(|(triangle, _)| surfaces.triangles[triangle as usize]);
    let (mut sum, mut count) = (Vec3::zeros(), 0.0);
    for neighbour in corners.filter(|corner| *corner != vertex) {
        sum += places.get(&neighbour).unwrap_or(&positions[neighbour as usize]);
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

    /// A level sheet of squares, with its middle at a height in m.
    fn sheet(height: f64) -> (CollisionMesh, Vec<Vec3>) {
        let line = 0..SIDE - 1;
        let corners = line.clone().flat_map(|row| line.clone().map(move |k| row * SIDE + k));
        let halves = |a: u32| [[a, a + 1, a + SIDE], [a + 1, a + SIDE + 1, a + SIDE]];
        let triangles: Vec<[u32; 3]> = corners.flat_map(halves).collect();
        let place =
            |vertex: u32| Vec3::new(f64::from(vertex % SIDE), f64::from(vertex / SIDE), 0.0);
        let mut positions: Vec<Vec3> = (0..SIDE * SIDE).map(place).collect();
        let starts = [0, positions.len()];
        let surfaces = CollisionMesh::of_thin_cloths(&triangles, &starts, positions.clone(), &[]);
        positions[centre_vertex() as usize].z = height;
        (surfaces, positions)
    }

    fn centre_vertex() -> u32 {
        SIDE * SIDE / 2
    }

    /// A knot of the edge from the middle to the next vertex with a corner of the sheet.
    fn self_intersection(surfaces: &CollisionMesh) -> Intersection {
        let is_middle = |ends: &[u32; 2]| *ends == [centre_vertex(), centre_vertex() + 1];
        let edge = surfaces.edges.iter().position(is_middle).unwrap() as u32;
        let is_corner = |corners: &[u32; 3]| CORNER.iter().all(|one| corners.contains(one));
        let triangle = surfaces.triangles.iter().position(is_corner).unwrap() as u32;
        Intersection { edge, triangle }
    }

    #[test]
    fn smoothing_flattens_a_bump_and_keeps_a_flat_sheet() {
        let [first, next, other] = [0, 1, 5].map(|offset| centre_vertex() + offset);
        let way = |height: f64, vertex: u32| {
            let (surfaces, positions) = sheet(height);
            let knot = self_intersection(&surfaces);
            let evened =
                SmoothedPatch::new(&surfaces, &positions, (&[], &[(first, knot), (next, knot)]));
            evened.relative_displacement(&surfaces, &positions, (vertex, knot.triangle))
        };
        assert!(way(0.0, first).norm() < 1e-12 && way(0.0, next).norm() < 1e-12);
        assert!((way(0.7, first) - Vec3::new(0.0, 0.0, -0.7)).norm() < 1e-12);
        // The next vertex finds the middle in its new place already, and what takes no part stays.
        assert!(way(0.7, next).norm() < 1e-12 && way(0.7, other).norm() < 1e-12);
    }

    #[test]
    fn both_sides_of_a_self_intersection_are_smoothed() {
        let (surfaces, positions) = sheet(0.7);
        let evened =
            SmoothedPatch::new(&surfaces, &positions, (&[self_intersection(&surfaces)], &[]));
        let members: Vec<u32> = evened.smoothed_positions.keys().copied().collect();
        assert_eq!(members, [3, 4, 8, centre_vertex(), centre_vertex() + 1]);
    }

    /// A row of a sheet that sticks out goes back with every sweep, by more than if no vertex knew the others' new places.
    #[test]
    fn a_gauss_seidel_sweep_smooths_more_than_a_jacobi_sweep() {
        let (surfaces, mut positions) = sheet(0.0);
        let ridge: Vec<u32> =
            (SIDE..4 * SIDE).filter(|v| (1..SIDE - 1).contains(&(v % SIDE))).collect();
        for vertex in &ridge {
            positions[*vertex as usize].z = 0.5;
        }
        let knot = self_intersection(&surfaces);
        let members: Vec<(u32, Intersection)> =
            ridge.iter().map(|vertex| (*vertex, knot)).collect();
        let evened = SmoothedPatch::new(&surfaces, &positions, (&[], &members));
        let alone =
            |vertex: &u32| one_ring_mean(&surfaces, &positions, *vertex, &BTreeMap::new()).z;
        let together = |vertex: &u32| evened.smoothed_positions[vertex].z;
        let sums = [ridge.iter().map(together).sum::<f64>(), ridge.iter().map(alone).sum::<f64>()];
        assert!(0.0 < sums[0] && sums[0] < 0.8 * sums[1], "{sums:?}");
    }

    #[test]
    fn the_smoothed_patch_grows_with_time() {
        let (surfaces, _) = sheet(0.0);
        let knot = self_intersection(&surfaces);
        let after = |time: f64| {
            let mut rings = vertex_rings(&surfaces, [knot, knot].into_iter(), time);
            assert!(rings.iter().all(|(_, of)| *of == knot));
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
