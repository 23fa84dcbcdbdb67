// SPDX-License-Identifier: MIT OR Apache-2.0
mod three_triangles;

use super::{step_validation::*, *};
use crate::{
    collision::{PairKind, Trajectories},
    mesh::AlternativeTriangles,
    response::{ColliderMotion, CollisionResponse, StepStart},
    scene::Collider,
    surface::{ClothCollisionData, ContactFilter, SurfaceProperties},
    vec3::Vec3,
};
use proptest::{
    prelude::*,
    test_runner::{RngSeed, TestRunner},
};
use std::cell::Cell;

/// Vertices along a side of a sheet.
const SIDE: usize = 4;
const COUNT: usize = SIDE * SIDE;

/// A step of two sheets above each other, over a collider. Heights are in units of the sum of both
/// thicknesses.
#[derive(Clone, Debug)]
struct Step {
    /// Distance of neighbouring vertices in m: many times the thickness, or at most equal to it.
    spacing: f64,
    /// Contact thickness of each sheet, in m.
    thicknesses: [f64; 2],
    /// Rest height of the upper sheet, and whether both sheets belong to one cloth.
    rest: (f64, bool),
    /// Heights of the upper sheet over the lower one at the start and at the end of the step.
    heights: [f64; 2],
    /// A vertex of the upper sheet, and its height at the end of the step.
    displaced_vertex: (usize, f64),
    /// Perturbations of both sheets at the start, and in addition at the end of the step.
    perturbations: [Perturbation; 2],
    iterates: Vec<Iterate>,
}

/// Perturbation of all vertices.
#[derive(Clone, Debug)]
struct Perturbation {
    /// Amplitude, as a fraction of the thickness of the sheet.
    size: f64,
    /// One per vertex, with components from −1 to 1.
    directions: Vec<Vec3>,
}

/// Positions that are validated, relative to the predicted ones.
#[derive(Clone, Debug)]
struct Iterate {
    /// Displacement of each sheet towards the other, in units of its thickness.
    compression: f64,
    perturbation: Perturbation,
    /// A vertex, and its additional displacement in units of its thickness.
    outlier: (usize, Vec3),
}

fn perturbation(size: f64) -> impl Strategy<Value = Perturbation> {
    let unit = || -1.0..1.0;
    let offset = [unit(), unit(), unit()].prop_map(Vec3::from);
    let offsets = prop::collection::vec(offset, 2 * COUNT);
    (prop_oneof![Just(0.0), 0.0..size], offsets)
        .prop_map(|(size, offsets)| Perturbation { size, directions: offsets })
}

/// Numbers of a range, and often numbers near the skin radius, about 1.5 thicknesses.
fn fraction(range: std::ops::Range<f64>) -> impl Strategy<Value = f64> {
    prop_oneof![range, 1.4..1.6]
}

fn iterate() -> impl Strategy<Value = Iterate> {
    let far = || -4.0..4.0;
    let offset = prop_oneof![Just(Vec3::zeros()), [far(), far(), far()].prop_map(Vec3::from)];
    let compression = prop_oneof![fraction(-2.5..2.5), -0.2..0.2];
    (compression, perturbation(0.5), (0..2 * COUNT, offset)).prop_map(
        |(compression, perturbation, outlier)| Iterate { compression, perturbation, outlier },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let thickness = || 0.5e-3..2.0e-3;
    let heights = [(0.5..4.0).boxed(), fraction(0.1..3.0).boxed()];
    // Far through the lower sheet, or within the minimum gap above it.
    let displaced_vertex = (COUNT..2 * COUNT, prop_oneof![-3.0..0.0, 0.0..STEP_VALIDATION.min_gap]);
    let perturbations = [perturbation(0.3).boxed(), perturbation(0.6).boxed()];
    let iterates = prop::collection::vec(iterate(), 3..7);
    let spacing = prop_oneof![Just(0.01), 0.5e-3..4.0e-3];
    let rest = (fraction(0.1..4.0), any::<bool>());
    (spacing, [thickness(), thickness()], rest, heights, displaced_vertex, perturbations, iterates)
        .prop_map(
            |(spacing, thicknesses, rest, heights, displaced_vertex, perturbations, iterates)| {
                Step {
                    spacing,
                    thicknesses: if rest.1 { [thicknesses[0]; 2] } else { thicknesses },
                    rest,
                    heights,
                    displaced_vertex,
                    perturbations,
                    iterates,
                }
            },
        )
}

impl Step {
    fn combined_thickness(&self) -> f64 {
        self.thicknesses[0] + self.thicknesses[1]
    }

    /// Positions of both sheets, with the upper one at a height and shifted sideways.
    fn sheets(&self, height: f64) -> Vec<Vec3> {
        let coordinate = |index: usize| {
            let [column, row] =
                [index % SIDE, index % COUNT / SIDE].map(|coordinate| coordinate as f64);
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
        (0..2 * COUNT).map(coordinate).collect()
    }

    fn perturb(&self, positions: &mut [Vec3], perturbation: &Perturbation) {
        for (index, (position, offset)) in
            positions.iter_mut().zip(&perturbation.directions).enumerate()
        {
            *position += offset * (perturbation.size * self.thicknesses[index / COUNT]);
        }
    }

    /// Start positions and predicted end positions of all vertices, in m.
    fn start_and_predicted_positions(&self) -> [Vec<Vec3>; 2] {
        let mut offsets = self.heights.map(|height| self.sheets(height));
        let (vertex, height) = self.displaced_vertex;
        offsets[1][vertex].z = height * self.combined_thickness();
        for positions in &mut offsets {
            self.perturb(positions, &self.perturbations[0]);
        }
        self.perturb(&mut offsets[1], &self.perturbations[1]);
        offsets
    }

    /// End positions of an iterate, in m.
    fn iterate_positions(&self, predicted: &[Vec3], iterate: &Iterate) -> Vec<Vec3> {
        let mut positions = predicted.to_vec();
        for (index, position) in positions.iter_mut().enumerate() {
            let [lower, upper] = self.thicknesses;
            position.z += iterate.compression * if index < COUNT { lower } else { -upper };
        }
        self.perturb(&mut positions, &iterate.perturbation);
        let (outlier, offset) = iterate.outlier;
        positions[outlier] += offset * self.thicknesses[outlier / COUNT];
        positions
    }

    fn response(&self, starts: &[Vec3]) -> CollisionResponse {
        let squares = (0..2 * COUNT).filter(|v| v % SIDE < SIDE - 1 && v % COUNT < COUNT - SIDE);
        let triangles: Vec<[u32; 3]> = squares
            .flat_map(|v| [[v, v + 1, v + SIDE], [v + 1, v + SIDE + 1, v + SIDE]])
            .map(|corners| corners.map(|vertex| vertex as u32))
            .collect();
        let properties =
            self.thicknesses.map(|thickness| SurfaceProperties { friction: 0.0, thickness });
        let (rest_height, is_one_cloth) = self.rest;
        let (vertex_offsets, properties) = if is_one_cloth {
            (vec![0, 2 * COUNT], vec![properties[0]])
        } else {
            (vec![0, COUNT, 2 * COUNT], properties.to_vec())
        };
        let cloths = ClothCollisionData {
            triangles: &triangles,
            alternatives: AlternativeTriangles::default(),
            vertex_offsets: &vertex_offsets,
            surface_properties: properties,
            rest_positions: self.sheets(rest_height).into(),
            vertex_areas: vec![self.spacing * self.spacing; 2 * COUNT].into(),
            seams: &[],
            contact_filter: ContactFilter::default(),
            friction_scale: Vec::new(),
            layers: Vec::new(),
        };
        let ground = [[-1.0, -1.0], [1.0, -1.0], [0.0, 1.0]];
        let ground = ground.map(|[x, y]| Vec3::new(x, y, -2.5 * self.thicknesses[0])).to_vec();
        let ground = Collider::new(ground, &[[0, 1, 2]], 0.0, 1.0e-3).unwrap();
        let mesh = CollisionMesh::new(cloths, std::slice::from_ref(&ground));
        CollisionResponse::new(mesh, vec![ColliderMotion::new(&ground)], starts, true)
    }
}

fn begin(response: &mut CollisionResponse, starts: &[Vec3], predicted: &[Vec3]) {
    response.begin_step(StepStart {
        start_positions: starts,
        predicted_positions: predicted,
        is_pinned: &[false; 2 * COUNT],
        frame_fractions: [0.0, 1.0],
        duration: 0.01,
        vertex_compliances: Vec::new(),
    });
}

fn runner(cases: u32) -> TestRunner {
    TestRunner::new(ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })
}

/// Violations found without a Verlet list.
fn exhaustive_violations(response: &CollisionResponse, positions: &[Vec3]) -> Vec<PrimitivePair> {
    let mut response = response.clone();
    response.candidates.displacement_bound = DisplacementBound::default();
    response.violations(positions)
}

/// Keys of the detected contacts; pairs are measured anew where their clearances are not `trusted`.
fn contact_keys(
    response: &CollisionResponse,
    positions: &[Vec3],
    trusted: bool,
) -> Vec<(PairKind, [u32; 2])> {
    let mut response = response.clone();
    for pair in response.candidates.pairs.iter_mut().filter(|_| !trusted) {
        pair.clearance = 0.0;
    }
    response.detect_contacts(positions).iter().map(|contact| contact.pair.key()).collect()
}

/// Validates several iterates in turn, each with the Verlet list that the earlier ones left; then
/// those of a step from the other side to the same positions.
#[test]
fn a_verlet_list_finds_the_violations_of_an_exhaustive_search() {
    let (passed, failed, invalidated) = (Cell::new(0), Cell::new(0), Cell::new(0));
    // Some vertices are beyond the skin, and only their pairs are searched for.
    let (passed_with_outliers, failed_with_outliers) = (Cell::new(0), Cell::new(0));
    let count = |counter: &Cell<u32>| counter.set(counter.get() + 1);
    let mut runner = runner(1000);
    let result = runner.run(&step(), |step| {
        let [starts, predicted] = step.start_and_predicted_positions();
        let mut response = step.response(&starts);
        for starts in [starts, step.sheets(-step.heights[0])] {
            begin(&mut response, &starts, &predicted);
            let iterates = step.iterates.iter().map(|one| step.iterate_positions(&predicted, one));
            for positions in std::iter::once(predicted.clone()).chain(iterates) {
                let all = exhaustive_violations(&response, &positions);
                prop_assert_eq!(&response.violations(&positions), &all);
                let [trusted, measured] =
                    [true, false].map(|trusted| contact_keys(&response, &positions, trusted));
                prop_assert_eq!(trusted, measured);
                let is_list_valid = response.candidates.is_valid(2 * COUNT, &response.scene.mesh);
                count(match (is_list_valid, response.candidates.is_bvh_current, all.is_empty()) {
                    (true, _, true) => &passed,
                    (true, _, false) => &failed,
                    (false, true, true) => &passed_with_outliers,
                    (false, true, false) => &failed_with_outliers,
                    (false, false, _) => &invalidated,
                });
                prop_assert_eq!(response.validate_step(&positions), all.is_empty());
            }
        }
        Ok(())
    });
    result.unwrap();
    let counts = [passed, failed, invalidated, passed_with_outliers, failed_with_outliers];
    let counts = counts.map(Cell::into_inner);
    assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
}

/// All pairs with a cloth vertex and without a common vertex.
fn all_pairs(mesh: &CollisionMesh) -> Vec<PrimitivePair> {
    let vertices = 0..mesh.surface_properties.len() as u32;
    let triangles = 0..mesh.triangles.len() as u32;
    let edges = 0..mesh.edges.len() as u32;
    let faces = vertices.flat_map(|vertex| triangles.clone().map(move |face| [vertex, face]));
    let crossed = edges.clone().flat_map(|first| (first + 1..edges.end).map(move |e| [first, e]));
    let faces = faces.map(|[vertex, face]| PrimitivePair::vertex_face(mesh, vertex, face));
    let edges = crossed.map(|[first, second]| PrimitivePair::edge_edge(mesh, first, second));
    let is_wanted = |pair: &PrimitivePair| {
        let (one, other) = pair.vertices_by_feature();
        pair.vertices.iter().any(|vertex| mesh.is_cloth(*vertex))
            && !one.iter().any(|vertex| other.contains(vertex))
    };
    faces.chain(edges).filter(is_wanted).collect()
}

/// Smallest sampled distance of a pair on its trajectories, in m.
fn min_sampled_distance(pair: &PrimitivePair, trajectories: Trajectories<'_>) -> f64 {
    const SAMPLES: usize = 8;
    let distance = |sample: usize| {
        let time = sample as f64 / SAMPLES as f64;
        let positions: Vec<Vec3> = trajectories
            .starts
            .iter()
            .zip(trajectories.ends)
            .map(|(a, b)| a.lerp(b, time))
            .collect();
        let weighted_vertices = pair.vertices.iter().zip(pair.closest_point_weights(&positions));
        weighted_vertices
            .map(|(vertex, weight)| positions[*vertex as usize] * weight)
            .sum::<Vec3>()
            .norm()
    };
    (0..=SAMPLES).map(distance).fold(f64::INFINITY, f64::min)
}

/// Includes fine cloth whose neighbours at rest are within its thickness.
#[test]
fn every_pair_within_its_verlet_radius_is_in_the_list() {
    let (listed_count, neighbour_count) = (Cell::new(0), Cell::new(0));
    let mut runner = runner(50);
    let result = runner.run(&step(), |step| {
        let [starts, predicted] = step.start_and_predicted_positions();
        let mut response = step.response(&starts);
        begin(&mut response, &starts, &predicted);
        prop_assume!(response.recovery.intersection_state.is_none());
        let (mesh, trajectories) = (&response.scene.mesh, response.step.trajectories());
        for mut pair in all_pairs(mesh) {
            let unlimited = DetectionRange {
                thickness_factor: f64::INFINITY,
                distance: |_: &PrimitivePair, _| f64::INFINITY,
            };
            prop_assert!(pair.passes_narrow_phase(mesh, trajectories, &unlimited));
            let cloth = pair.vertices.iter().filter(|vertex| mesh.is_cloth(**vertex));
            let detection_radius = if cloth.clone().count() == pair.vertices.len() {
                verlet_radius(pair.thickness, pair_skin_radius(&pair, mesh))
            } else {
                // Colliders end at their predicted positions: only cloth has a skin.
                let radius = cloth.map(|vertex| skin_radius(mesh, *vertex)).fold(0.0, f64::max);
                pair.thickness.max(STEP_VALIDATION.min_gap * pair.thickness + radius)
            };
            if pair.clearance > detection_radius
                || min_sampled_distance(&pair, trajectories) > detection_radius
            {
                continue;
            }
            let listed =
                response.candidates.pairs.iter().chain(&response.candidates.redundant_pairs);
            prop_assert!(listed.clone().any(|listed| listed.key() == pair.key()), "{pair:?}");
            listed_count.set(listed_count.get() + 1);
            let thicknesses = pair
                .representative_vertices()
                .map(|vertex| mesh.surface_properties[vertex as usize].thickness);
            let is_less = pair.thickness < thicknesses.iter().sum();
            neighbour_count.set(neighbour_count.get() + u32::from(is_less));
        }
        Ok(())
    });
    result.unwrap();
    assert!(
        listed_count.get() > 10_000 && neighbour_count.get() > 1000,
        "{listed_count:?} {neighbour_count:?}"
    );
}

/// A step of two flat sheets at rest, the upper one at these heights at the start and at the end.
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

/// Opposite borders of two sheets move to the middle and intersect there, far from both
/// predictions.
#[test]
fn vertices_beyond_the_skin_are_checked_against_each_other() {
    let step = resting_step([1.5; 2]);
    let [starts, predicted] = step.start_and_predicted_positions();
    let mut response = step.response(&starts);
    begin(&mut response, &starts, &predicted);
    let mut positions = predicted;
    let height = 1.5 * step.combined_thickness();
    positions[SIDE] = Vec3::new(1.8 * step.spacing, step.spacing, 1.05 * height);
    positions[COUNT + 2 * SIDE - 1] =
        Vec3::new(1.2 * step.spacing, 1.1 * step.spacing, 0.9 * height);
    let all = exhaustive_violations(&response, &positions);
    assert!(!all.is_empty());
    assert_eq!(response.violations(&positions), all);
    assert!(response.candidates.is_bvh_current, "all were looked for");
}

/// Two flat sheets rest on each other with redundant edge pairs, but for one step that moves a
/// vertex through.
#[test]
fn stiffened_edge_pairs_stay_contacts_for_as_long_as_they_press() {
    let step = Step { displaced_vertex: (COUNT + SIDE + 1, -0.5), ..resting_step([1.5, 0.9]) };
    let [starts, displaced] = step.start_and_predicted_positions();
    let mut response = step.response(&starts);
    let edges = |response: &CollisionResponse| -> Vec<[u32; 2]> {
        let stiffened = response.candidates.pairs.iter().filter(|pair| pair.stiffening_count > 0);
        stiffened.filter(|pair| pair.kind == PairKind::EdgeEdge).map(|pair| pair.features).collect()
    };
    let end_step = |response: &mut CollisionResponse, positions: &[Vec3]| {
        let contacts = response.detect_contacts(positions);
        response.accept_contacts(contacts);
        let history = response.new_contact_history(0);
        response.contact_history = history;
    };
    let resting = step.sheets(0.9);
    begin(&mut response, &starts, &resting);
    assert!(edges(&response).is_empty());
    assert!(!response.validate_step(&displaced));
    let stiffened = edges(&response);
    assert!(!stiffened.is_empty());
    end_step(&mut response, &displaced);
    begin(&mut response, &starts, &resting);
    assert_eq!(edges(&response), stiffened);
    end_step(&mut response, &starts);
    begin(&mut response, &starts, &resting);
    assert!(edges(&response).is_empty());
}

/// The fixed-point solver may detect contacts hundreds of times in one stage.
#[test]
fn repeated_stiffening_is_bounded() {
    let step = Step { displaced_vertex: (COUNT + SIDE + 1, -0.5), ..resting_step([1.5, 0.9]) };
    let [starts, displaced] = step.start_and_predicted_positions();
    let mut response = step.response(&starts);
    let resting = step.sheets(0.9);
    begin(&mut response, &starts, &resting);
    let stiffest = |response: &mut CollisionResponse| {
        let contacts = response.detect_contacts(&displaced).into_iter();
        contacts.map(|contact| contact.stiffness).fold(0.0, f64::max)
    };
    let before = stiffest(&mut response);
    for _ in 0..300 {
        assert!(!response.validate_step(&displaced));
        assert!(response.candidates.pairs.is_sorted_by(|one, next| one.key() < next.key()));
    }
    let ratio = stiffest(&mut response) / before;
    assert!(ratio > 1.0e3 && ratio < 1.0e7, "{ratio} times as stiff");
}

/// A wall presses on a vertex for twenty seconds of steps.
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
