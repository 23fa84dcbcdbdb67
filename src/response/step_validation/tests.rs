// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::{
    collision::PairKind,
    response::collider_motion::ColliderMotion,
    scene::Collider,
    surface::{ClothCollisionData, ContactFilter, SurfaceProperties},
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
    displaced_vertex: (usize, f64),
    /// How rough both sheets are at the start, and on top of that where the step ends.
    perturbations: [Perturbation; 2],
    iterates: Vec<Iterate>,
}

/// By how much vertices are elsewhere.
#[derive(Clone, Debug)]
struct Perturbation {
    /// A part of the thickness of the sheet.
    size: f64,
    /// Up to 1 along each axis.
    directions: Vec<Vec3>,
}

/// Where the sheets are checked next.
#[derive(Clone, Debug)]
struct Iterate {
    /// By how much of its thickness each sheet is nearer to the other than where the step ends.
    compression: f64,
    perturbation: Perturbation,
    /// A vertex, and how many times its thickness it is elsewhere on top of that.
    outlier: (usize, Vec3),
}

fn perturbation(size: f64) -> impl Strategy<Value = Perturbation> {
    let unit = || -1.0..1.0;
    let way = [unit(), unit(), unit()].prop_map(Vec3::from);
    let ways = prop::collection::vec(way, 2 * COUNT);
    (prop_oneof![Just(0.0), 0.0..size], ways)
        .prop_map(|(size, ways)| Perturbation { size, directions: ways })
}

/// Often what is nearly the most, or the least, that pairs may move by unwatched.
fn fraction(range: std::ops::Range<f64>) -> impl Strategy<Value = f64> {
    prop_oneof![range, 1.4..1.6]
}

fn iterate() -> impl Strategy<Value = Iterate> {
    let far = || -4.0..4.0;
    let way = prop_oneof![Just(Vec3::zeros()), [far(), far(), far()].prop_map(Vec3::from)];
    let squeeze = prop_oneof![fraction(-2.5..2.5), -0.2..0.2];
    (squeeze, perturbation(0.5), (0..2 * COUNT, way)).prop_map(|(squeeze, rough, stray)| Iterate {
        compression: squeeze,
        perturbation: rough,
        outlier: stray,
    })
}

fn step() -> impl Strategy<Value = Step> {
    let thickness = || 0.5e-3..2.0e-3;
    let heights = [(0.5..4.0).boxed(), fraction(0.1..3.0).boxed()];
    // Far through, or no farther than that corrections may lift it out.
    let spike = (COUNT..2 * COUNT, prop_oneof![-3.0..0.0, 0.0..LEAST_GAP]);
    let rough = [perturbation(0.3).boxed(), perturbation(0.6).boxed()];
    let corrections = prop::collection::vec(iterate(), 3..7);
    let spacing = prop_oneof![Just(0.01), 0.5e-3..4.0e-3];
    let rest = (fraction(0.1..4.0), any::<bool>());
    (spacing, [thickness(), thickness()], rest, heights, spike, rough, corrections).prop_map(
        |(spacing, thicknesses, rest, heights, spike, rough, corrections)| Step {
            spacing,
            thicknesses: if rest.1 { [thicknesses[0]; 2] } else { thicknesses },
            rest,
            heights,
            displaced_vertex: spike,
            perturbations: rough,
            iterates: corrections,
        },
    )
}

impl Step {
    fn combined_thickness(&self) -> f64 {
        self.thicknesses[0] + self.thicknesses[1]
    }

    /// Both sheets, the upper one at a height and a little to the side.
    fn sheets(&self, height: f64) -> Vec<Vec3> {
        let place = |index: usize| {
            let [column, row] = [index % SIDE, index % COUNT / SIDE].map(|place| place as f64);
            let corner = if index < COUNT {
                Vec3::zeros()
            } else {
                Vec3::new(
                    0.3 * self.spacing,
                    0.2 * self.spacing,
                    height * self.combined_thickness(),
                )
            };
            corner + Vec3::new(column, row, 0.0) * self.spacing
        };
        (0..2 * COUNT).map(place).collect()
    }

    fn perturb(&self, positions: &mut [Vec3], rough: &Perturbation) {
        for (index, (position, way)) in positions.iter_mut().zip(&rough.directions).enumerate() {
            *position += way * (rough.size * self.thicknesses[index / COUNT]);
        }
    }

    /// Where the vertices are at the start, and where they are expected to come to.
    fn start_and_predicted_positions(&self) -> [Vec<Vec3>; 2] {
        let mut ways = self.heights.map(|height| self.sheets(height));
        let (vertex, height) = self.displaced_vertex;
        ways[1][vertex].z = height * self.combined_thickness();
        for positions in &mut ways {
            self.perturb(positions, &self.perturbations[0]);
        }
        self.perturb(&mut ways[1], &self.perturbations[1]);
        ways
    }

    /// Where a correction has led to.
    fn iterate_positions(&self, expected: &[Vec3], correction: &Iterate) -> Vec<Vec3> {
        let mut positions = expected.to_vec();
        for (index, position) in positions.iter_mut().enumerate() {
            let [lower, upper] = self.thicknesses;
            position.z += correction.compression * if index < COUNT { lower } else { -upper };
        }
        self.perturb(&mut positions, &correction.perturbation);
        let (stray, way) = correction.outlier;
        positions[stray] += way * self.thicknesses[stray / COUNT];
        positions
    }

    fn response(&self, starts: &[Vec3]) -> CollisionResponse {
        let squares = (0..2 * COUNT).filter(|v| v % SIDE < SIDE - 1 && v % COUNT < COUNT - SIDE);
        let triangles: Vec<[u32; 3]> = squares
            .flat_map(|v| [[v, v + 1, v + SIDE], [v + 1, v + SIDE + 1, v + SIDE]])
            .map(|corners| corners.map(|vertex| vertex as u32))
            .collect();
        let kinds =
            self.thicknesses.map(|thickness| SurfaceProperties { friction: 0.0, thickness });
        let (rest_height, is_one) = self.rest;
        let (starts_of, kinds) = if is_one {
            (vec![0, 2 * COUNT], vec![kinds[0]])
        } else {
            (vec![0, COUNT, 2 * COUNT], kinds.to_vec())
        };
        let cloths = ClothCollisionData {
            triangles: &triangles,
            vertex_offsets: &starts_of,
            surface_properties: kinds,
            rest_positions: self.sheets(rest_height).into(),
            vertex_areas: vec![self.spacing * self.spacing; 2 * COUNT].into(),
            seams: &[],
            contact_filter: ContactFilter::default(),
            friction_scale: Vec::new(),
        };
        let ground = [[-1.0, -1.0], [1.0, -1.0], [0.0, 1.0]];
        let ground = ground.map(|[x, y]| Vec3::new(x, y, -2.5 * self.thicknesses[0])).to_vec();
        let ground = Collider::new(ground, &[[0, 1, 2]], 0.0, 1.0e-3).unwrap();
        let surfaces = CollisionMesh::new(cloths, std::slice::from_ref(&ground));
        CollisionResponse::new(surfaces, vec![ColliderMotion::new(&ground)], starts, true)
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
fn exhaustive_violations(response: &CollisionResponse, positions: &[Vec3]) -> Vec<PrimitivePair> {
    let mut response = response.clone();
    response.verlet_list = VerletList::default();
    response.violations(positions)
}

/// What touches, of all pairs that are looked at; far ones are measured again, too, where they are not `trusted`.
fn contact_keys(
    response: &CollisionResponse,
    positions: &[Vec3],
    trusted: bool,
) -> Vec<(PairKind, [u32; 2])> {
    let mut response = response.clone();
    for pair in response.candidate_pairs.iter_mut().filter(|_| !trusted) {
        pair.clearance = 0.0;
    }
    response.detect_contacts(positions).iter().map(|contact| contact.pair.key()).collect()
}

/// One check after the other, each on what the earlier ones have left watched; then a step from the other side to the
/// same place.
#[test]
fn a_verlet_list_finds_the_violations_of_an_exhaustive_search() {
    let (passed, failed, unwatched) = (Cell::new(0), Cell::new(0), Cell::new(0));
    // Some vertices have strayed, and are looked at alone.
    let (passed_with_strays, failed_with_strays) = (Cell::new(0), Cell::new(0));
    let count = |counter: &Cell<u32>| counter.set(counter.get() + 1);
    let mut runner = runner(1000);
    let result = runner.run(&step(), |step| {
        let [starts, expected] = step.start_and_predicted_positions();
        let mut response = step.response(&starts);
        for starts in [starts, step.sheets(-step.heights[0])] {
            response.begin_step((&starts, &expected), &[false; 2 * COUNT], ([0.0, 1.0], 0.01));
            let corrected = step.iterates.iter().map(|one| step.iterate_positions(&expected, one));
            for positions in std::iter::once(expected.clone()).chain(corrected) {
                let all = exhaustive_violations(&response, &positions);
                prop_assert_eq!(&response.violations(&positions), &all);
                let [trusted, measured] =
                    [true, false].map(|trusted| contact_keys(&response, &positions, trusted));
                prop_assert_eq!(trusted, measured);
                let is_watched = response.verlet_list.is_valid(2 * COUNT, &response.mesh);
                count(match (is_watched, response.verlet_list.is_bvh_current, all.is_empty()) {
                    (true, _, true) => &passed,
                    (true, _, false) => &failed,
                    (false, true, true) => &passed_with_strays,
                    (false, true, false) => &failed_with_strays,
                    (false, false, _) => &unwatched,
                });
                prop_assert_eq!(response.validate_step(&positions), all.is_empty());
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
fn all_pairs(surfaces: &CollisionMesh) -> Vec<PrimitivePair> {
    let vertices = 0..surfaces.surface_properties.len() as u32;
    let triangles = 0..surfaces.triangles.len() as u32;
    let edges = 0..surfaces.edges.len() as u32;
    let faces = vertices.flat_map(|vertex| triangles.clone().map(move |face| [vertex, face]));
    let crossed = edges.clone().flat_map(|first| (first + 1..edges.end).map(move |e| [first, e]));
    let faces = faces.map(|[vertex, face]| PrimitivePair::vertex_face(surfaces, vertex, face));
    let edges = crossed.map(|[first, second]| PrimitivePair::edge_edge(surfaces, first, second));
    let is_wanted = |pair: &PrimitivePair| {
        let (one, other) = pair.vertices_by_feature();
        pair.vertices.iter().any(|vertex| surfaces.is_cloth(*vertex))
            && !one.iter().any(|vertex| other.contains(vertex))
    };
    faces.chain(edges).filter(is_wanted).collect()
}

/// The smallest distance of a pair that is looked at on straight ways, in m.
fn min_sampled_distance(pair: &PrimitivePair, motion: Trajectories<'_>) -> f64 {
    const SAMPLES: usize = 8;
    let distance = |sample: usize| {
        let time = sample as f64 / SAMPLES as f64;
        let positions: Vec<Vec3> =
            motion.starts.iter().zip(motion.ends).map(|(a, b)| a.lerp(b, time)).collect();
        let parts = pair.vertices.iter().zip(pair.closest_point_weights(&positions));
        parts.map(|(vertex, weight)| positions[*vertex as usize] * weight).sum::<Vec3>().norm()
    };
    (0..=SAMPLES).map(distance).fold(f64::INFINITY, f64::min)
}

/// Fine cloth has neighbours within its thickness that keep less.
#[test]
fn every_pair_within_its_verlet_radius_is_in_the_list() {
    let (watched, neighbours) = (Cell::new(0), Cell::new(0));
    let mut runner = runner(50);
    let result = runner.run(&step(), |step| {
        let [starts, expected] = step.start_and_predicted_positions();
        let mut response = step.response(&starts);
        response.begin_step((&starts, &expected), &[false; 2 * COUNT], ([0.0, 1.0], 0.01));
        prop_assume!(response.intersection_state.is_none());
        let (surfaces, motion) = (&response.mesh, response.trajectories());
        for mut pair in all_pairs(surfaces) {
            let unlimited = DetectionRange {
                thickness_factor: f64::INFINITY,
                distance: |_: &PrimitivePair, _| f64::INFINITY,
            };
            prop_assert!(pair.passes_narrow_phase(surfaces, motion, &unlimited));
            let cloth = pair.vertices.iter().filter(|vertex| surfaces.is_cloth(**vertex));
            let wanted = if cloth.clone().count() == pair.vertices.len() {
                verlet_radius(pair.thickness, pair_skin_radius(&pair, surfaces))
            } else {
                // Colliders go where they were expected: only the cloth has a margin.
                let margin = cloth.map(|vertex| skin_radius(surfaces, *vertex)).fold(0.0, f64::max);
                pair.thickness.max(LEAST_GAP * pair.thickness + margin)
            };
            if pair.clearance > wanted || min_sampled_distance(&pair, motion) > wanted {
                continue;
            }
            let known =
                response.candidate_pairs.iter().chain(&response.verlet_list.redundant_edge_pairs);
            prop_assert!(known.clone().any(|known| known.key() == pair.key()), "{pair:?}");
            watched.set(watched.get() + 1);
            let both = pair
                .representative_vertices()
                .map(|vertex| surfaces.surface_properties[vertex as usize].thickness);
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
    let flat = Perturbation { size: 0.0, directions: vec![Vec3::zeros(); 2 * COUNT] };
    Step {
        spacing: 0.01,
        thicknesses: [1.0e-3; 2],
        rest: (4.0, false),
        heights,
        displaced_vertex: (COUNT, heights[1]),
        perturbations: [flat.clone(), flat],
        iterates: Vec::new(),
    }
}

/// Opposite borders of two sheets stray to the middle and there through each other, where neither was expected.
#[test]
fn vertices_beyond_the_skin_are_checked_against_each_other() {
    let step = resting_step([1.5; 2]);
    let [starts, expected] = step.start_and_predicted_positions();
    let mut response = step.response(&starts);
    response.begin_step((&starts, &expected), &[false; 2 * COUNT], ([0.0, 1.0], 0.01));
    let mut positions = expected;
    let height = 1.5 * step.combined_thickness();
    positions[SIDE] = Vec3::new(1.8 * step.spacing, step.spacing, 1.05 * height);
    positions[COUNT + 2 * SIDE - 1] =
        Vec3::new(1.2 * step.spacing, 1.1 * step.spacing, 0.9 * height);
    let all = exhaustive_violations(&response, &positions);
    assert!(!all.is_empty());
    assert_eq!(response.violations(&positions), all);
    assert!(response.verlet_list.is_bvh_current, "all were looked for");
}

/// Two flat sheets lie on each other, so that their edges are idle, but for one step that leads a vertex through.
#[test]
fn stiffened_edge_pairs_stay_contacts_for_as_long_as_they_press() {
    let step = Step { displaced_vertex: (COUNT + SIDE + 1, -0.5), ..resting_step([1.5, 0.9]) };
    let [starts, spiked] = step.start_and_predicted_positions();
    let mut response = step.response(&starts);
    let edges = |response: &CollisionResponse| -> Vec<[u32; 2]> {
        let rescued = response.candidate_pairs.iter().filter(|pair| pair.stiffening_count > 0);
        rescued.filter(|pair| pair.kind == PairKind::EdgeEdge).map(|pair| pair.features).collect()
    };
    let begin = |response: &mut CollisionResponse, ends: &[Vec3]| {
        response.begin_step((&starts, ends), &[false; 2 * COUNT], ([0.0, 1.0], 0.01));
    };
    let leave = |response: &mut CollisionResponse, positions: &[Vec3]| {
        let contacts = response.detect_contacts(positions);
        response.accept_contacts(contacts);
        let memory = response.new_contact_history(0);
        response.set_contact_history(memory);
    };
    let resting = step.sheets(0.9);
    begin(&mut response, &resting);
    assert!(edges(&response).is_empty());
    assert!(!response.validate_step(&spiked));
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
fn repeated_stiffening_is_bounded() {
    let step = Step { displaced_vertex: (COUNT + SIDE + 1, -0.5), ..resting_step([1.5, 0.9]) };
    let [starts, spiked] = step.start_and_predicted_positions();
    let mut response = step.response(&starts);
    let resting = step.sheets(0.9);
    response.begin_step((&starts, &resting), &[false; 2 * COUNT], ([0.0, 1.0], 0.01));
    let stiffest = |response: &mut CollisionResponse| {
        let contacts = response.detect_contacts(&spiked).into_iter();
        contacts.map(|contact| contact.stiffness).fold(0.0, f64::max)
    };
    let before = stiffest(&mut response);
    for _ in 0..300 {
        assert!(!response.validate_step(&spiked));
        assert!(response.candidate_pairs.is_sorted_by(|one, next| one.key() < next.key()));
    }
    let ratio = stiffest(&mut response) / before;
    assert!(ratio > 1.0e3 && ratio < 1.0e7, "{ratio} times as stiff");
}

/// As a wall presses a vertex on, step by step, for twenty seconds.
#[test]
fn a_gap_under_pressure_stays_positive_in_single_precision() {
    let thickness = 1.0e-3;
    let mut gap = thickness;
    for _ in 0..20 * 48 {
        gap = min_allowed_gap(gap, thickness);
    }
    // The wall is half a metre from the origin.
    assert!(0.5_f32 + gap as f32 > 0.5, "{gap} m");
}
