// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::{
    collision::Kind,
    response::collider_motion::Obstacle,
    scene::Collider,
    surface::{ClothSurfaces, Exclusions, Surface},
};
use proptest::{
    prelude::*,
    test_runner::{RngSeed, TestRunner},
};
use std::cell::Cell;

/// Vertices along a side of a sheet.
const SIDE: usize = 4;
const COUNT: usize = SIDE * SIDE;

/// A step of two sheets above each other, over ground. Heights are parts of both thicknesses together.
#[derive(Clone, Debug)]
struct Step {
    /// Distance of vertices, in m: many times the thickness, or no more than it.
    spacing: f64,
    /// Of the sheets, in m.
    thicknesses: [f64; 2],
    /// Height of the upper sheet at rest, and whether both are of one cloth.
    rest: (f64, bool),
    /// Heights of the upper sheet over the lower one when the step begins, and where it ends.
    heights: [f64; 2],
    /// Heights of one vertex of the upper sheet where the step ends.
    spike: (usize, f64),
    /// How rough both sheets are at the start, and on top of that where the step ends.
    rough: [Rough; 2],
    corrections: Vec<Correction>,
}

/// By how much vertices are elsewhere.
#[derive(Clone, Debug)]
struct Rough {
    /// A part of the thickness of the sheet.
    size: f64,
    /// Up to 1 along each axis.
    ways: Vec<Vec3>,
}

/// Where the sheets are checked next.
#[derive(Clone, Debug)]
struct Correction {
    /// By how much of its thickness each sheet is nearer to the other than where the step ends.
    squeeze: f64,
    rough: Rough,
    /// A vertex, and how many times its thickness it is elsewhere on top of that.
    stray: (usize, Vec3),
}

fn rough(size: f64) -> impl Strategy<Value = Rough> {
    let unit = || -1.0..1.0;
    let way = [unit(), unit(), unit()].prop_map(Vec3::from);
    let ways = prop::collection::vec(way, 2 * COUNT);
    (prop_oneof![Just(0.0), 0.0..size], ways).prop_map(|(size, ways)| Rough { size, ways })
}

/// Often what is nearly the most, or the least, that pairs may move by unwatched.
fn part(range: std::ops::Range<f64>) -> impl Strategy<Value = f64> {
    prop_oneof![range, 1.4..1.6]
}

fn correction() -> impl Strategy<Value = Correction> {
    let far = || -4.0..4.0;
    let way = prop_oneof![Just(Vec3::zeros()), [far(), far(), far()].prop_map(Vec3::from)];
    let squeeze = prop_oneof![part(-2.5..2.5), -0.2..0.2];
    (squeeze, rough(0.5), (0..2 * COUNT, way)).prop_map(|(squeeze, rough, stray)| Correction {
        squeeze,
        rough,
        stray,
    })
}

fn step() -> impl Strategy<Value = Step> {
    let thickness = || 0.5e-3..2.0e-3;
    let heights = [(0.5..4.0).boxed(), part(0.1..3.0).boxed()];
    // Far through, or no farther than that corrections may lift it out.
    let spike = (COUNT..2 * COUNT, prop_oneof![-3.0..0.0, 0.0..LEAST_GAP]);
    let rough = [rough(0.3).boxed(), rough(0.6).boxed()];
    let corrections = prop::collection::vec(correction(), 3..7);
    let spacing = prop_oneof![Just(0.01), 0.5e-3..4.0e-3];
    let rest = (part(0.1..4.0), any::<bool>());
    (spacing, [thickness(), thickness()], rest, heights, spike, rough, corrections).prop_map(
        |(spacing, thicknesses, rest, heights, spike, rough, corrections)| Step {
            spacing,
            thicknesses: if rest.1 { [thicknesses[0]; 2] } else { thicknesses },
            rest,
            heights,
            spike,
            rough,
            corrections,
        },
    )
}

impl Step {
    fn both(&self) -> f64 {
        self.thicknesses[0] + self.thicknesses[1]
    }

    /// Both sheets, the upper one at a height and a little to the side.
    fn sheets(&self, height: f64) -> Vec<Vec3> {
        let place = |index: usize| {
            let [column, row] = [index % SIDE, index % COUNT / SIDE].map(|place| place as f64);
            let corner = if index < COUNT {
                Vec3::zeros()
            } else {
                Vec3::new(0.3 * self.spacing, 0.2 * self.spacing, height * self.both())
            };
            corner + Vec3::new(column, row, 0.0) * self.spacing
        };
        (0..2 * COUNT).map(place).collect()
    }

    fn roughen(&self, positions: &mut [Vec3], rough: &Rough) {
        for (index, (position, way)) in positions.iter_mut().zip(&rough.ways).enumerate() {
            *position += way * (rough.size * self.thicknesses[index / COUNT]);
        }
    }

    /// Where the vertices are at the start, and where they are expected to come to.
    fn ways(&self) -> [Vec<Vec3>; 2] {
        let mut ways = self.heights.map(|height| self.sheets(height));
        let (vertex, height) = self.spike;
        ways[1][vertex].z = height * self.both();
        for positions in &mut ways {
            self.roughen(positions, &self.rough[0]);
        }
        self.roughen(&mut ways[1], &self.rough[1]);
        ways
    }

    /// Where a correction has led to.
    fn corrected(&self, expected: &[Vec3], correction: &Correction) -> Vec<Vec3> {
        let mut positions = expected.to_vec();
        for (index, position) in positions.iter_mut().enumerate() {
            let [lower, upper] = self.thicknesses;
            position.z += correction.squeeze * if index < COUNT { lower } else { -upper };
        }
        self.roughen(&mut positions, &correction.rough);
        let (stray, way) = correction.stray;
        positions[stray] += way * self.thicknesses[stray / COUNT];
        positions
    }

    fn response(&self, starts: &[Vec3]) -> Response {
        let squares = (0..2 * COUNT).filter(|v| v % SIDE < SIDE - 1 && v % COUNT < COUNT - SIDE);
        let triangles: Vec<[u32; 3]> = squares
            .flat_map(|v| [[v, v + 1, v + SIDE], [v + 1, v + SIDE + 1, v + SIDE]])
            .map(|corners| corners.map(|vertex| vertex as u32))
            .collect();
        let kinds = self.thicknesses.map(|thickness| Surface { friction: 0.0, thickness });
        let (rest_height, is_one) = self.rest;
        let (starts_of, kinds) = if is_one {
            (vec![0, 2 * COUNT], vec![kinds[0]])
        } else {
            (vec![0, COUNT, 2 * COUNT], kinds.to_vec())
        };
        let cloths = ClothSurfaces {
            triangles: &triangles,
            starts: &starts_of,
            kinds,
            rest: self.sheets(rest_height).into(),
            areas: vec![self.spacing * self.spacing; 2 * COUNT].into(),
            seams: &[],
            exclusions: Exclusions::default(),
            friction_scale: Vec::new(),
        };
        let ground = [[-1.0, -1.0], [1.0, -1.0], [0.0, 1.0]];
        let ground = ground.map(|[x, y]| Vec3::new(x, y, -2.5 * self.thicknesses[0])).to_vec();
        let ground = Collider::new(ground, &[[0, 1, 2]], 0.0, 1.0e-3).unwrap();
        let surfaces = Surfaces::new(cloths, std::slice::from_ref(&ground));
        Response::new(surfaces, vec![Obstacle::new(&ground)], starts, true)
    }
}

fn runner(cases: u32) -> TestRunner {
    TestRunner::new(ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })
}

/// What comes too close of all pairs, whatever is watched.
fn searched(response: &Response, positions: &[Vec3]) -> Vec<Pair> {
    let mut response = response.clone();
    response.watch = Watch::default();
    response.violations(positions)
}

/// What touches, of all pairs that are looked at; far ones are measured again, too, where they are not `trusted`.
fn touching(response: &Response, positions: &[Vec3], trusted: bool) -> Vec<(Kind, [u32; 2])> {
    let mut response = response.clone();
    for pair in response.pairs.iter_mut().filter(|_| !trusted) {
        pair.clearance = 0.0;
    }
    response.refreshed(positions).iter().map(|contact| contact.pair.key()).collect()
}

/// One check after the other, each on what the earlier ones have left watched; then a step from the other side to the
/// same place.
#[test]
fn a_watch_sees_what_a_search_of_all_pairs_finds() {
    let (passed, failed, unwatched) = (Cell::new(0), Cell::new(0), Cell::new(0));
    // Some vertices have strayed, and are looked at alone.
    let (passed_with_strays, failed_with_strays) = (Cell::new(0), Cell::new(0));
    let count = |counter: &Cell<u32>| counter.set(counter.get() + 1);
    let mut runner = runner(1000);
    let result = runner.run(&step(), |step| {
        let [starts, expected] = step.ways();
        let mut response = step.response(&starts);
        for starts in [starts, step.sheets(-step.heights[0])] {
            response.begin((&starts, &expected), &[false; 2 * COUNT], ([0.0, 1.0], 0.01));
            let corrected = step.corrections.iter().map(|one| step.corrected(&expected, one));
            for positions in std::iter::once(expected.clone()).chain(corrected) {
                let all = searched(&response, &positions);
                prop_assert_eq!(&response.violations(&positions), &all);
                let [trusted, measured] =
                    [true, false].map(|trusted| touching(&response, &positions, trusted));
                prop_assert_eq!(trusted, measured);
                let is_watched = response.watch.covers(2 * COUNT, &response.surfaces);
                count(match (is_watched, response.watch.is_in_trees, all.is_empty()) {
                    (true, _, true) => &passed,
                    (true, _, false) => &failed,
                    (false, true, true) => &passed_with_strays,
                    (false, true, false) => &failed_with_strays,
                    (false, false, _) => &unwatched,
                });
                prop_assert_eq!(response.verify(&positions), all.is_empty());
            }
        }
        Ok(())
    });
    result.unwrap();
    let counts = [passed, failed, unwatched, passed_with_strays, failed_with_strays];
    let counts = counts.map(Cell::into_inner);
    assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
}

/// All pairs that cloth is part of, without a common vertex.
fn all_pairs(surfaces: &Surfaces) -> Vec<Pair> {
    let vertices = 0..surfaces.kinds.len() as u32;
    let triangles = 0..surfaces.triangles.len() as u32;
    let edges = 0..surfaces.edges.len() as u32;
    let faces = vertices.flat_map(|vertex| triangles.clone().map(move |face| [vertex, face]));
    let crossed = edges.clone().flat_map(|first| (first + 1..edges.end).map(move |e| [first, e]));
    let faces = faces.map(|[vertex, face]| Pair::vertex_face(surfaces, vertex, face));
    let edges = crossed.map(|[first, second]| Pair::edge_edge(surfaces, first, second));
    let is_wanted = |pair: &Pair| {
        let (one, other) = pair.sides();
        pair.vertices.iter().any(|vertex| surfaces.is_cloth(*vertex))
            && !one.iter().any(|vertex| other.contains(vertex))
    };
    faces.chain(edges).filter(is_wanted).collect()
}

/// The smallest distance of a pair that is looked at on straight ways, in m.
fn nearest(pair: &Pair, motion: Motion<'_>) -> f64 {
    const SAMPLES: usize = 8;
    let distance = |sample: usize| {
        let time = sample as f64 / SAMPLES as f64;
        let positions: Vec<Vec3> =
            motion.starts.iter().zip(motion.ends).map(|(a, b)| a.lerp(b, time)).collect();
        let parts = pair.vertices.iter().zip(pair.weights(&positions));
        parts.map(|(vertex, weight)| positions[*vertex as usize] * weight).sum::<Vec3>().norm()
    };
    (0..=SAMPLES).map(distance).fold(f64::INFINITY, f64::min)
}

/// Fine cloth has neighbours within its thickness that keep less.
#[test]
fn every_pair_that_comes_within_its_reach_is_watched() {
    let (watched, neighbours) = (Cell::new(0), Cell::new(0));
    let mut runner = runner(50);
    let result = runner.run(&step(), |step| {
        let [starts, expected] = step.ways();
        let mut response = step.response(&starts);
        response.begin((&starts, &expected), &[false; 2 * COUNT], ([0.0, 1.0], 0.01));
        prop_assume!(response.tangle.is_none());
        let (surfaces, motion) = (&response.surfaces, response.motion());
        for mut pair in all_pairs(surfaces) {
            prop_assert!(pair.comes_near(
                surfaces,
                motion,
                (f64::INFINITY, |_: &Pair, _| f64::INFINITY)
            ));
            let cloth = pair.vertices.iter().filter(|vertex| surfaces.is_cloth(**vertex));
            let wanted = if cloth.clone().count() == pair.vertices.len() {
                reach(pair.thickness, margins(&pair, surfaces))
            } else {
                // Colliders go where they were expected: only the cloth has a margin.
                let margin = cloth.map(|vertex| margin(surfaces, *vertex)).fold(0.0, f64::max);
                pair.thickness.max(LEAST_GAP * pair.thickness + margin)
            };
            if pair.clearance > wanted || nearest(&pair, motion) > wanted {
                continue;
            }
            let known = response.pairs.iter().chain(&response.watch.idle);
            prop_assert!(known.clone().any(|known| known.key() == pair.key()), "{pair:?}");
            watched.set(watched.get() + 1);
            let both = pair.ends().map(|vertex| surfaces.kinds[vertex as usize].thickness);
            let is_less = pair.thickness < both.iter().sum();
            neighbours.set(neighbours.get() + u32::from(is_less));
        }
        Ok(())
    });
    result.unwrap();
    assert!(watched.get() > 10_000 && neighbours.get() > 1000, "{watched:?} {neighbours:?}");
}

/// A step in which two flat sheets rest above each other, the upper one at these parts of both thicknesses.
fn resting_step(heights: [f64; 2]) -> Step {
    let flat = Rough { size: 0.0, ways: vec![Vec3::zeros(); 2 * COUNT] };
    Step {
        spacing: 0.01,
        thicknesses: [1.0e-3; 2],
        rest: (4.0, false),
        heights,
        spike: (COUNT, heights[1]),
        rough: [flat.clone(), flat],
        corrections: Vec::new(),
    }
}

/// Opposite borders of two sheets stray to the middle and there through each other, where neither was expected.
#[test]
fn strays_are_seen_by_each_other() {
    let step = resting_step([1.5; 2]);
    let [starts, expected] = step.ways();
    let mut response = step.response(&starts);
    response.begin((&starts, &expected), &[false; 2 * COUNT], ([0.0, 1.0], 0.01));
    let mut positions = expected;
    let height = 1.5 * step.both();
    positions[SIDE] = Vec3::new(1.8 * step.spacing, step.spacing, 1.05 * height);
    positions[COUNT + 2 * SIDE - 1] =
        Vec3::new(1.2 * step.spacing, 1.1 * step.spacing, 0.9 * height);
    let all = searched(&response, &positions);
    assert!(!all.is_empty());
    assert_eq!(response.violations(&positions), all);
    assert!(response.watch.is_in_trees, "all were looked for");
}

/// Two flat sheets lie on each other, so that their edges are idle, but for one step that leads a vertex through.
#[test]
fn edges_that_were_rescued_stay_contacts_for_as_long_as_they_press() {
    let step = Step { spike: (COUNT + SIDE + 1, -0.5), ..resting_step([1.5, 0.9]) };
    let [starts, spiked] = step.ways();
    let mut response = step.response(&starts);
    let edges = |response: &Response| -> Vec<[u32; 2]> {
        let rescued = response.pairs.iter().filter(|pair| pair.rescues > 0);
        rescued.filter(|pair| pair.kind == Kind::EdgeEdge).map(|pair| pair.features).collect()
    };
    let begin = |response: &mut Response, ends: &[Vec3]| {
        response.begin((&starts, ends), &[false; 2 * COUNT], ([0.0, 1.0], 0.01));
    };
    let leave = |response: &mut Response, positions: &[Vec3]| {
        let contacts = response.refreshed(positions);
        response.take(contacts);
        let memory = response.recall(0);
        response.set_memory(memory);
    };
    let resting = step.sheets(0.9);
    begin(&mut response, &resting);
    assert!(edges(&response).is_empty());
    assert!(!response.verify(&spiked));
    let rescued = edges(&response);
    assert!(!rescued.is_empty());
    leave(&mut response, &spiked);
    begin(&mut response, &resting);
    assert_eq!(edges(&response), rescued);
    leave(&mut response, &starts);
    begin(&mut response, &resting);
    assert!(edges(&response).is_empty());
}

/// The fixed-point solver may look hundreds of times in one stage.
#[test]
fn what_is_rescued_over_and_over_becomes_no_stiffer_than_can_be_solved() {
    let step = Step { spike: (COUNT + SIDE + 1, -0.5), ..resting_step([1.5, 0.9]) };
    let [starts, spiked] = step.ways();
    let mut response = step.response(&starts);
    let resting = step.sheets(0.9);
    response.begin((&starts, &resting), &[false; 2 * COUNT], ([0.0, 1.0], 0.01));
    let stiffest = |response: &mut Response| {
        let contacts = response.refreshed(&spiked).into_iter();
        contacts.map(|contact| contact.stiffness).fold(0.0, f64::max)
    };
    let before = stiffest(&mut response);
    for _ in 0..300 {
        assert!(!response.verify(&spiked));
        assert!(response.pairs.is_sorted_by(|one, next| one.key() < next.key()));
    }
    let ratio = stiffest(&mut response) / before;
    assert!(ratio > 1.0e3 && ratio < 1.0e7, "{ratio} times as stiff");
}

/// As a wall presses a vertex on, step by step, for twenty seconds.
#[test]
fn a_gap_that_is_pressed_on_stays_one_in_single_precision() {
    let thickness = 1.0e-3;
    let mut gap = thickness;
    for _ in 0..20 * 48 {
        gap = least_gap(gap, thickness);
    }
    // The wall is half a metre from the origin.
    assert!(0.5_f32 + gap as f32 > 0.5, "{gap} m");
}
