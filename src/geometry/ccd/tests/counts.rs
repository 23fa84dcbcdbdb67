// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random motions on whole numbers, against exact counts of their contacts.

use super::exact::{WholePath, edges_meet_oddly, point_meets_triangle_oddly};
use super::*;
use std::cell::Cell;

/// The largest coordinate, at the start and at the end.
const LIMIT: i128 = 4;

fn four_paths() -> impl Strategy<Value = [WholePath; 4]> {
    let whole = || [-LIMIT..=LIMIT, -LIMIT..=LIMIT, -LIMIT..=LIMIT];
    let path = || [whole(), whole()];
    [path(), path(), path(), path()]
}

fn to_path(path: WholePath) -> Trajectory {
    let [start, end] = path.map(|end| Vec3::from(end.map(|coordinate| coordinate as f64)));
    Trajectory { start, end }
}

/// The paths up to a fraction of 4096ths of the time, and 4096 times as large to be whole.
fn first_fraction<const N: usize>(paths: [WholePath; N], fraction: i128) -> [WholePath; N] {
    paths.map(|[start, end]| {
        let at = |axis: usize| (4096 - fraction) * start[axis] + fraction * end[axis];
        [start.map(|coordinate| 4096 * coordinate), [at(0), at(1), at(2)]]
    })
}

/// How often the count was odd, even or undecided.
#[derive(Default)]
struct Counts([Cell<u32>; 3]);

impl Counts {
    /// An odd number of contacts is found, not one of them before the time found, and something is close
    /// at that time.
    fn check<const N: usize>(
        &self,
        paths: [WholePath; N],
        is_odd: impl Fn([WholePath; N]) -> Option<bool>,
        time_and_distance: Option<(f64, f64)>,
    ) {
        let expected = is_odd(paths);
        let kind = &self.0[expected.map_or(2, |is_odd| usize::from(!is_odd))];
        kind.set(kind.get() + 1);
        let Some((time, distance)) = time_and_distance else {
            return assert_ne!(expected, Some(true), "missed");
        };
        let fraction = (4096.0 * time).floor() as i128;
        let is_late = fraction > 0 && is_odd(first_fraction(paths, fraction)) == Some(true);
        assert!(!is_late, "found at {time}, after the contact");
        assert!(distance <= 2.0 * LIMIT as f64 * CLOSENESS, "found at a distance of {distance:e}");
    }
}

fn check_against_counts(cases: u32) {
    let counts = Counts::default();
    check(cases / 2, &four_paths(), |paths| {
        let [point, triangle @ ..] = paths.map(to_path);
        let impact = point_triangle_ccd(&point, &triangle, 0.0)
            .map(|impact| (impact.time, distance_to_triangle(&point, &triangle, impact.time)));
        counts.check(paths, |[p, corners @ ..]| point_meets_triangle_oddly(p, &corners), impact);
    });
    check(cases / 2, &four_paths(), |paths| {
        let [a, b, c, d] = paths.map(to_path);
        let impact = edge_edge_ccd(&[a, b], &[c, d], 0.0)
            .map(|impact| (impact.time, distance_of_edges(&[a, b], &[c, d], impact.time)));
        counts.check(paths, |[a, b, c, d]| edges_meet_oddly([a, b], [c, d]), impact);
    });
    let [odd, even, undecided] = counts.0.map(|count| count.get());
    assert!(odd > cases / 20 && even > cases / 2, "{odd} odd, {even} even, {undecided} undecided");
}

#[test]
fn an_odd_number_of_contacts_is_never_missed() {
    check_against_counts(200_000);
}

#[test]
#[ignore = "two minutes; for changes of the method"]
fn an_odd_number_of_contacts_is_never_missed_in_a_long_run() {
    check_against_counts(20_000_000);
}
