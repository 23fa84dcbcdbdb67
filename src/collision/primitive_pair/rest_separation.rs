// SPDX-License-Identifier: MIT OR Apache-2.0
//! The distance that a pair keeps: the thickness of both sides, but of one cloth less than what it has between them at
//! rest, so that no thickness strains a cloth.

use super::{Motion, Pair};
use crate::surface::Surfaces;

/// Distances to keep are not smaller than this, in m.
const SMALLEST_THICKNESS: f64 = 1.0e-6;
/// Parts of one cloth keep no more than this part of their distance at rest.
const REST_PART: f64 = 0.5;
/// But no less than this part of the edges there, which strains nothing that can be seen: parts that are in one place at
/// rest, of panels side by side or of faces doubled in place, could not be held apart by nothing.
const EDGE_PART: f64 = 0.01;

impl Pair {
    /// Measures the pair, and finds the distance to keep. Says whether the pair may come within what `reach` makes of
    /// that on its way, in m, which must not fall where that rises. It is no more than `part` of the thickness of both
    /// sides. Most pairs are told apart by that, or, where cloth is finer than thick, by the little that neighbours keep,
    /// before they are measured closely.
    pub(crate) fn comes_near(
        &mut self,
        surfaces: &Surfaces,
        motion: Motion<'_>,
        (part, reach): (f64, impl Fn(&Self, f64) -> f64),
    ) -> bool {
        let most = part * self.both_thicknesses(surfaces);
        self.measure_by(motion, most, |pair| reach(pair, pair.most_thickness(surfaces))) && {
            self.find_thickness(surfaces);
            self.clearance <= reach(self, self.thickness)
        }
    }

    /// Finds the distance to keep.
    fn find_thickness(&mut self, surfaces: &Surfaces) {
        self.thickness = self.both_thicknesses(surfaces);
        if self.is_of_one_cloth(surfaces) {
            let rest = self.closest(&self.vertices.map(|vertex| surfaces.rest(vertex)));
            let sewn = surfaces.seams.distance(self.sides(), |vertex| surfaces.rest(vertex));
            self.thickness = self.within_rest(surfaces, rest.distance.min(sewn));
        }
    }

    /// No less than the distance to keep, in m, and found sooner.
    fn most_thickness(&self, surfaces: &Surfaces) -> f64 {
        let thickness = self.both_thicknesses(surfaces);
        if !self.is_of_one_cloth(surfaces) {
            return thickness;
        }
        let (one, other) = self.sides();
        let ways =
            one.iter().flat_map(|a| other.iter().map(|b| surfaces.rest(*a) - surfaces.rest(*b)));
        let nearest = ways.fold(f64::INFINITY, |least, way| least.min(way.norm_squared()));
        self.within_rest(surfaces, nearest.sqrt())
    }

    /// The distance to keep by parts of one cloth that are so far apart at rest, all in m.
    pub(crate) fn within_rest(&self, surfaces: &Surfaces, rest: f64) -> f64 {
        let [first, second] = self.ends().map(|vertex| surfaces.edge_lengths[vertex as usize]);
        let least = (EDGE_PART * first.min(second)).max(SMALLEST_THICKNESS);
        self.both_thicknesses(surfaces).min((REST_PART * rest).max(least))
    }

    /// The thickness of both sides, in m.
    pub(crate) fn both_thicknesses(&self, surfaces: &Surfaces) -> f64 {
        let [first, second] = self.ends().map(|vertex| surfaces.kinds[vertex as usize].thickness);
        (first + second).max(SMALLEST_THICKNESS)
    }

    pub(crate) fn is_of_one_cloth(&self, surfaces: &Surfaces) -> bool {
        let [first, second] = self.ends();
        let bodies = &surfaces.bodies;
        surfaces.is_cloth(first) && bodies[first as usize] == bodies[second as usize]
    }
}
