// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a hit and a miss look like, and that a closed surface is closed.

use super::*;
use std::cell::Cell;
use std::f64::consts::TAU;

fn at(x: f64, y: f64, z: f64) -> Vec3 {
    Vec3::new(x, y, z)
}

fn still(place: Vec3) -> Trajectory {
    Trajectory { start: place, end: place }
}

fn moved(place: Vec3, motion: Vec3) -> Trajectory {
    Trajectory { start: place, end: place + motion }
}

/// A right-angled triangle in the plane z = 0, all of it moving alike.
fn floor(motion: Vec3) -> [Trajectory; 3] {
    [Vec3::zeros(), at(4.0, 0.0, 0.0), at(0.0, 4.0, 0.0)].map(|corner| moved(corner, motion))
}

#[test]
fn a_falling_point_lands_where_and_when_it_must() {
    let point = moved(at(1.0, 2.0, 3.0), at(0.0, 0.0, -4.0));
    for (gap, time) in [(0.0, 0.75), (0.5, 0.625), (3.0, 0.0), (5.0, 0.0)] {
        let hit = point_triangle_ccd(&point, &floor(Vec3::zeros()), gap).unwrap();
        assert!((hit.time - time).abs() < 1e-12, "{hit:?}");
        assert!((Vec3::from(hit.weights) - at(0.25, 0.25, 0.5)).norm() < 1e-12, "{hit:?}");
        assert!((hit.direction - Vec3::z()).norm() < 1e-12, "{hit:?}");
    }
    let from_below = moved(at(1.0, 2.0, -3.0), at(0.0, 0.0, 4.0));
    let hit = point_triangle_ccd(&from_below, &floor(Vec3::zeros()), 0.0).unwrap();
    assert!((hit.direction + Vec3::z()).norm() < 1e-12, "{hit:?}");
}

#[test]
fn crossed_edges_meet_where_and_when_they_must() {
    let rail = [still(at(-1.0, 0.0, 0.0)), still(at(3.0, 0.0, 0.0))];
    let bar = [at(0.0, -1.0, 2.0), at(0.0, 3.0, 2.0)].map(|end| moved(end, at(0.0, 0.0, -4.0)));
    let hit = edge_edge_ccd(&bar, &rail, 1.0).unwrap();
    assert!((hit.time - 0.25).abs() < 1e-12, "{hit:?}");
    assert!(hit.weights.iter().all(|along| (along - 0.25).abs() < 1e-12), "{hit:?}");
    assert!((hit.direction - Vec3::z()).norm() < 1e-12, "{hit:?}");
}

#[test]
fn a_turning_triangle_strikes_when_its_plane_reaches_the_point() {
    // Its free corner goes from y to z: the plane rises at the angle of t : 1 − t.
    let door = [still(Vec3::zeros()), still(Vec3::x()), moved(Vec3::y(), at(0.0, -1.0, 1.0))];
    let reached: f64 = 0.3;
    let point = still(at(0.3, 0.4 * (1.0 - reached), 0.4 * reached));
    let hit = point_triangle_ccd(&point, &door, 0.0).unwrap();
    assert!((hit.time - reached).abs() < 1e-10, "{hit:?}");
    assert!((hit.weights[2] - 0.4).abs() < 1e-10, "{hit:?}");
    let normal = at(0.0, -reached, 1.0 - reached).normalize();
    assert!((hit.direction - normal).norm() < 1e-10, "{hit:?}");
}

#[test]
fn what_moves_along_at_a_distance_is_no_contact() {
    let motion = at(0.3, -0.1, 0.7);
    for height in [1e-3, 1e-6, 1e-9] {
        let resting = moved(at(1.0, 1.0, height), motion);
        assert_eq!(point_triangle_ccd(&resting, &floor(motion), 0.0), None);
        let sliding = moved(at(-3.0, 1.0, 0.5 + height), motion + at(8.0, 0.0, 0.0));
        assert_eq!(point_triangle_ccd(&sliding, &floor(motion), 0.5), None);
        let along = [moved(at(-3.0, height, 0.0), at(8.0, 0.0, 0.0)), still(at(9.0, height, 0.0))];
        let edge = [still(Vec3::zeros()), still(at(4.0, 0.0, 0.0))];
        assert_eq!(edge_edge_ccd(&along, &edge, 0.0), None);
    }
}

#[test]
fn what_touches_to_begin_with_does_so_at_time_zero() {
    let motion = at(0.3, -0.1, 0.7);
    let resting = moved(at(1.0, 1.0, 0.0), motion);
    let hit = point_triangle_ccd(&resting, &floor(motion), 0.0).unwrap();
    assert_eq!((hit.time, hit.direction.z.abs()), (0.0, 1.0));
    let at_corner = moved(Vec3::zeros(), Vec3::z());
    let hit = point_triangle_ccd(&at_corner, &floor(Vec3::zeros()), 0.0).unwrap();
    assert_eq!((hit.time, hit.direction.z.abs()), (0.0, 1.0));
    let at_point = point_triangle_ccd(&at_corner, &[at_corner; 3], 0.0).unwrap();
    assert_eq!((at_point.time, at_point.direction), (0.0, Vec3::zeros()));
}

#[test]
fn a_near_miss_is_a_miss_at_every_size() {
    for exponent in -3..=3 {
        let scale = 10.0_f64.powi(exponent);
        let passing = |beside: f64| {
            let point = moved(at(2.0 + beside, 2.0 + beside, 30.0), at(0.0, 0.0, -50.0));
            let sized =
                |path: &Trajectory| Trajectory { start: path.start * scale, end: path.end * scale };
            let triangle = floor(Vec3::zeros()).map(|corner| sized(&corner));
            point_triangle_ccd(&sized(&point), &triangle, 0.0)
        };
        assert_eq!(passing(4e-6), None);
        assert!(passing(-4e-6).is_some());
        assert!(passing(0.0).is_some());
    }
}

#[test]
fn work_is_bounded_where_a_turning_triangle_is_followed_closely() {
    // Ten times closer than the rounds suffice for: early, but not late, and not at once.
    let swing = 0.5;
    let triangle = [at(-1.0, -1.0, 0.0), at(1.0, -1.0, 0.0), at(0.0, 2.0, 0.0)]
        .map(|corner| moved(corner, at(0.0, 0.0, swing * corner.x) + at(9.0, 9.0, 9.0)));
    let follower = moved(at(0.0, 0.0, 1e-7), at(9.0, 9.0, 9.0));
    let hit = point_triangle_ccd(&follower, &triangle, 0.0);
    assert!(hit.is_none_or(|hit| hit.time > 0.01), "{hit:?}");
}

fn vector() -> impl Strategy<Value = Vec3> {
    [-1.0..1.0, -1.0..1.0, -1.0..1.0].prop_map(Vec3::from)
}

fn paths() -> impl Strategy<Value = [Trajectory; 4]> {
    let path = |travel: f64| {
        (vector(), vector())
            .prop_map(move |(start, motion)| Trajectory { start, end: start + motion * travel })
    };
    let carried = |travel: f64| (path(travel), path(travel), path(travel), path(travel));
    let all = prop_oneof![carried(0.01), carried(0.3), carried(2.0)];
    (all, vector(), -3..=3_i32).prop_map(|((a, b, c, d), along, exponent)| {
        let scale = 10.0_f64.powi(exponent);
        [a, b, c, d].map(|path| Trajectory {
            start: path.start * scale,
            end: (path.end + along * 5.0) * scale,
        })
    })
}

/// Holds a time of hit against distances measured at many times.
fn check_samples(gap: f64, size: f64, hit: Option<f64>, distance: impl Fn(f64) -> f64) {
    const SAMPLES: u32 = 64;
    let rounding = 1e-13 * size;
    let until = hit.unwrap_or(1.0);
    if until > 0.0 {
        for sample in 0..=SAMPLES {
            let time = until * f64::from(sample) / f64::from(SAMPLES);
            let clear = distance(time) - gap;
            assert!(clear > -rounding, "{clear:e} too close at {time} before {hit:?}");
        }
    }
    if let Some(time) = hit {
        let clear = distance(time) - gap;
        assert!(clear <= CLOSENESS * size, "{clear:e} beyond the gap at {time}");
    }
}

#[test]
fn the_distance_first_falls_to_the_gap_at_the_time_found() {
    let gap = prop_oneof![Just(0.0), Just(1e-3), Just(0.1)];
    check(40_000, &(paths(), gap), |(paths, gap)| {
        let size = paths.iter().fold(0.0_f64, |size, path| size.max(path.start.amax()));
        let gap = gap * size;
        let [point, triangle @ ..] = paths;
        let hit = point_triangle_ccd(&point, &triangle, gap);
        check_samples(gap, 10.0 * size, hit.map(|hit| hit.time), |time| {
            distance_to_triangle(&point, &triangle, time)
        });
        let [a, b, c, d] = paths;
        let hit = edge_edge_ccd(&[a, b], &[c, d], gap);
        check_samples(gap, 10.0 * size, hit.map(|hit| hit.time), |time| {
            distance_of_edges(&[a, b], &[c, d], time)
        });
    });
}

/// The positions of paths at the start and at the end.
fn ends(paths: &[Trajectory; 4]) -> [[&Vec3; 4]; 2] {
    endpoints(paths.each_ref())
}

#[test]
fn a_static_plane_certifies_most_separated_pairs_and_no_close_one() {
    let told = Cell::new([0; 2]);
    let gap = prop_oneof![Just(0.0), Just(1e-3), Just(0.1)];
    check(40_000, &(paths(), gap), |(paths, gap)| {
        let size = paths.iter().fold(0.0_f64, |size, path| size.max(path.start.amax()));
        let gap = gap * size;
        let [start, end] = ends(&paths);
        let [point, triangle @ ..] = paths;
        let [a, b, c, d] = paths;
        let [mut apart, mut uncertified] = told.get();
        if point_triangle_stay_separated(start, end, gap) {
            check_samples(gap, size, None, |time| distance_to_triangle(&point, &triangle, time));
            apart += 1;
        } else if point_triangle_ccd(&point, &triangle, gap).is_none() {
            uncertified += 1;
        }
        if edge_edge_stay_separated(start, end, gap) {
            check_samples(gap, size, None, |time| distance_of_edges(&[a, b], &[c, d], time));
            apart += 1;
        } else if edge_edge_ccd(&[a, b], &[c, d], gap).is_none() {
            uncertified += 1;
        }
        told.set([apart, uncertified]);
    });
    let [apart, uncertified] = told.get();
    assert!(uncertified < apart / 4, "{apart} separated, {uncertified} not certified");
}

#[test]
fn a_static_plane_certifies_nothing_where_numbers_are_too_small_or_too_large() {
    let corners = [at(0.0, 0.0, 1.0), at(-1.0, -1.0, 3.0), at(2.0, -1.0, 3.0), at(0.0, 2.0, 3.0)];
    for (scale, is_told) in [(1.0, true), (1e-160, false), (1e-320, false), (1e200, false)] {
        let paths = corners.map(|corner| still(corner * scale));
        let [start, end] = ends(&paths);
        assert_eq!(point_triangle_stay_separated(start, end, 0.0), is_told, "{scale}");
        assert_eq!(edge_edge_stay_separated(start, end, 0.0), is_told, "{scale}");
    }
    let at_one_place = [still(Vec3::x()); 4];
    let [start, end] = ends(&at_one_place);
    assert!(
        !point_triangle_stay_separated(start, end, 0.0)
            && !edge_edge_stay_separated(start, end, 0.0)
    );
}

/// A globe of ten meridians and nine circles of latitude between its poles, with a triangle list.
fn globe() -> (Vec<Vec3>, Vec<[usize; 3]>) {
    const MERIDIANS: usize = 10;
    const CIRCLES: usize = 9;
    let mut corners = vec![Vec3::z(), -Vec3::z()];
    let mut triangles = Vec::new();
    let index = |circle: usize, meridian: usize| 2 + circle * MERIDIANS + meridian % MERIDIANS;
    for circle in 0..CIRCLES {
        let latitude = TAU / 2.0 * (circle + 1) as f64 / (CIRCLES + 1) as f64;
        for meridian in 0..MERIDIANS {
            let longitude = TAU * meridian as f64 / MERIDIANS as f64;
            let across = latitude.sin();
            corners.push(at(across * longitude.cos(), across * longitude.sin(), latitude.cos()));
            let (here, next) = (index(circle, meridian), index(circle, meridian + 1));
            if circle == 0 {
                triangles.push([0, here, next]);
            } else {
                let [above, above_next] = [meridian, meridian + 1].map(|m| index(circle - 1, m));
                triangles.extend([[here, next, above_next], [here, above_next, above]]);
            }
            if circle == CIRCLES - 1 {
                triangles.push([1, next, here]);
            }
        }
    }
    (corners, triangles)
}

#[test]
fn no_point_gets_through_an_edge_or_a_corner_of_a_moving_surface() {
    let (corners, triangles) = globe();
    let jitter = prop::collection::vec((0.9..1.1, vector()), corners.len());
    let aim = (0..triangles.len(), prop_oneof![Just(0.0), 0.0..1.0], 0.6..0.9, vector());
    let place = (vector(), prop::sample::select(vec![1e-3, 1.0, 1e3]));
    check(4_000, &(jitter, aim, place), |(jitter, (hit, along, time, inside), (drift, scale))| {
        let surface: Vec<Trajectory> = corners
            .iter()
            .zip(jitter)
            .map(|(corner, (height, motion))| moved(corner * height, motion * 0.05 + drift * 9.0))
            .map(|path| Trajectory { start: path.start * scale, end: path.end * scale })
            .collect();
        // From outside, through a point of an edge, to near the centre.
        let [a, b, _] = triangles[hit].map(|corner| surface[corner].position_at(time));
        let end = (inside * 0.1 + drift * 9.0) * scale;
        let start = (a.lerp(&b, along) - end * time) / (1.0 - time);
        let point = Trajectory { start, end };
        let hit = triangles
            .iter()
            .filter_map(|triangle| {
                point_triangle_ccd(&point, &triangle.map(|corner| surface[corner]), 0.0)
            })
            .min_by(|one, other| one.time.total_cmp(&other.time));
        let found = hit.unwrap_or_else(|| panic!("through edge {a} {b} at {along}"));
        assert!(found.time > 0.0, "{found:?}");
        assert!(found.time <= time + 1e-9, "{} instead of {time}", found.time);
    });
}

/// A still triangle, points beside and above one of its edges, and a displacement upward; all distances are known to a few
/// digits only, and no better half-displacement.
struct BesideAnEdge {
    triangle: [Vec3; 3],
    starts: [Vec3; 4],
    displacement: Vec3,
    /// Unit vector in the plane of the triangle, away from it.
    outward: Vec3,
}

fn beside_an_edge(distance: f64) -> BesideAnEdge {
    let triangle = [at(7.1, 3.3, 1.7), at(11.3, 4.1, 2.9), at(8.2, 7.7, 0.3)];
    let [a, b, c] = triangle;
    let upward = (b - a).cross(&(c - a)).normalize();
    let outward = (b - a).cross(&upward).normalize();
    let start = (upward + outward) * (distance / 2_f64.sqrt());
    let starts = [0.23, 0.37, 0.61, 0.87].map(|fraction| a.lerp(&b, fraction) + start);
    BesideAnEdge { triangle, starts, displacement: upward * (3.0 * distance), outward }
}

/// Distances at the start, in m, and fractions of them that the plane of the triangle clears, or too much.
fn hardly() -> impl Iterator<Item = (f64, (f64, bool))> {
    let fractions = [(0.0, false), (0.6, false), (1.1, true)];
    [1e-10, 1e-9, 1e-8]
        .into_iter()
        .flat_map(move |distance| fractions.map(|fraction| (distance, fraction)))
}

#[test]
fn what_hardly_clears_an_edge_may_leave_it() {
    for (distance, (fraction, expected)) in hardly() {
        let BesideAnEdge { triangle: [a, b, c], starts, displacement, .. } =
            beside_an_edge(distance);
        for start in starts {
            for corners in [[a, b, c], [b, c, a], [c, a, b]] {
                let corners = corners.map(still);
                let hit =
                    point_triangle_ccd(&moved(start, displacement), &corners, fraction * distance);
                assert_eq!(hit.is_some(), expected, "{fraction} of {distance:e}: {hit:?}");
            }
        }
    }
}

#[test]
fn the_end_of_an_edge_that_hardly_clears_another_may_leave_it() {
    for (distance, (fraction, expected)) in hardly() {
        let BesideAnEdge { triangle: [a, b, _], starts, displacement, outward } =
            beside_an_edge(distance);
        let rail = [a, b].map(still);
        for start in starts {
            let bar = [start, start + outward + (b - a) * 0.1].map(|end| moved(end, displacement));
            for (first, second) in [(&rail, &bar), (&bar, &rail)] {
                let hit = edge_edge_ccd(first, second, fraction * distance);
                assert_eq!(hit.is_some(), expected, "{fraction} of {distance:e}: {hit:?}");
            }
        }
    }
}
