// SPDX-License-Identifier: MIT OR Apache-2.0
//! Springs of the caller between any two vertices, and the pairs of internal springs.

use super::forces::{dot, moved, norm};
use crate::fixtures::{
    equilibrium::calm,
    noise::Noise,
    quads::{Division, Sheet},
};
use weft::{
    Cloth, Integrator, InternalSprings, Material, Settings, Simulation, Springs, Vec3,
    forces::{StrainHistory, springs},
    internal_springs,
    mesh::Polygons,
};

const STIFFNESS: f64 = 40.0;
const DAMPING: f64 = 0.3;

/// Random springs of a sheet, each with its own numbers.
fn random(count: usize, vertices: usize) -> Springs {
    let mut noise = Noise::new(11);
    let mut number = |low: f64, high: f64| low + 0.5 * (high - low) * (1.0 + noise.next());
    let pair = |_| {
        let first = number(0.0, vertices as f64 - 1.5) as u32;
        [first, first + 1 + number(0.0, (vertices - first as usize) as f64 - 1.5) as u32]
    };
    let pairs: Vec<[u32; 2]> = (0..count).map(pair).collect();
    let mut list = |low: f64, high: f64| (0..count).map(|_| number(low, high)).collect();
    Springs {
        stiffness: list(5.0, 80.0),
        compression: list(1.0, 40.0),
        damping: list(0.0, 0.5),
        lengths: Some(list(0.05, 0.5)),
        pairs,
    }
}

#[test]
fn forces_of_random_springs_are_the_gradient_of_their_potential() {
    let sheet = Sheet::new(Division::Random, [0.6, 0.5], [6, 5]);
    let mesh = sheet.mesh(0.0);
    let own = random(60, sheet.points.len());
    let mut elements = springs([Some(&own)].into_iter(), &mesh).unwrap();
    let mut noise = Noise::new(3);
    let count = sheet.points.len();
    let [shape, past] =
        [0.03, 0.02].map(|size| moved(&sheet.points, &noise.vectors(count, 1.0), size));
    let mut reference = vec![0.0; elements.measure_count()];
    elements.measure(&past, &mut reference);
    for inverse_beta in [0.0, 50.0] {
        let history = StrainHistory { reference: &reference, inverse_beta };
        let mut at = |shape: &[Vec3]| {
            let mut forces = vec![Vec3::zeros(); count];
            (elements.evaluate(shape, history, &mut forces), forces)
        };
        let (_, forces) = at(&shape);
        let sum: Vec3 = forces.iter().sum();
        assert!(sum.norm() < 1.0e-12 * norm(&forces));
        for _ in 0..4 {
            let direction = noise.vectors(count, 1.0);
            let [ahead, behind] =
                [1.0e-6, -1.0e-6].map(|step| at(&moved(&shape, &direction, step)).0);
            let error = (dot(&forces, &direction) - (behind - ahead) / 2.0e-6).abs();
            assert!(error < 1.0e-6 * norm(&forces) * norm(&direction), "{error:e}");
        }
    }
}

/// A pinned triangle and a free one below it, tied by three springs.
fn tied(settings: Settings, springs: Option<Springs>) -> Simulation {
    let triangle =
        |z: f64| [Vec3::new(0.0, 0.0, z), Vec3::new(0.3, 0.0, z), Vec3::new(0.0, 0.3, z)];
    let positions = [triangle(0.0), triangle(-0.5)].concat();
    let polygons = Polygons::new(&[3, 3], &[0, 1, 2, 3, 4, 5], 6).unwrap();
    let mut cloth = Cloth::new(positions, &polygons, Material::default(), None, None).unwrap();
    if let Some(springs) = springs {
        cloth = cloth.with_springs(springs).unwrap();
    }
    let mut simulation = Simulation::new(&[cloth], &[], settings).unwrap();
    simulation.set_pins(0, &[0, 1, 2], None).unwrap();
    simulation
}

fn ties(damping: f64, lengths: Option<Vec<f64>>) -> Springs {
    Springs {
        pairs: vec![[0, 3], [1, 4], [2, 5]],
        stiffness: vec![STIFFNESS; 3],
        compression: vec![STIFFNESS; 3],
        damping: vec![damping; 3],
        lengths,
    }
}

/// Mass of a corner of the lower triangle, in kg.
fn corner_mass() -> f64 {
    Material::default().density * 0.5 * 0.3 * 0.3 / 3.0
}

fn height(simulation: &Simulation) -> f64 {
    simulation.positions(0).unwrap()[3].z
}

/// l₀ + mg/k, with the length at rest of the shape or a given one; free fall once the springs are taken away; and caught again.
#[test]
fn springs_are_given_and_taken_away_at_run_time() {
    let gravity = Vec3::new(0.0, 0.0, -9.81);
    let settings = Settings { gravity, ..calm() };
    let sag = corner_mass() * 9.81 / STIFFNESS;
    let mut simulation = tied(settings, Some(ties(DAMPING, None)));
    let rest = |simulation: &mut Simulation| {
        for _ in 0..300 {
            simulation.advance(0.05).unwrap();
        }
        height(simulation)
    };
    let found = rest(&mut simulation);
    assert!((found + 0.5 + sag).abs() < 1.0e-6, "{found}");
    simulation.set_springs(0, Some(ties(DAMPING, Some(vec![0.3; 3])))).unwrap();
    let found = rest(&mut simulation);
    assert!((found + 0.3 + sag).abs() < 1.0e-6, "{found}");
    simulation.set_springs(0, None).unwrap();
    for _ in 0..100 {
        simulation.step(1.0e-3).unwrap();
    }
    let fallen = height(&simulation) - found;
    assert!((fallen + 0.5 * 9.81 * 0.01).abs() < 1.0e-3, "{fallen}");
    simulation.set_springs(0, Some(ties(DAMPING, None))).unwrap();
    let found = rest(&mut simulation);
    assert!((found + 0.5 + sag).abs() < 1.0e-6, "{found}");
}

/// Damped vibration: ω = √(k/m), decay d/(2m).
#[test]
fn every_integrator_finds_the_vibration_of_a_damped_spring() {
    let (h, mass) = (2.0e-4, corner_mass());
    let damping = 0.02;
    let decay = 0.5 * damping / mass;
    let frequency = (STIFFNESS / mass - decay * decay).sqrt();
    for integrator in Integrator::ALL {
        let settings = Settings { integrator, gravity: Vec3::zeros(), time_step: h, ..calm() };
        let mut simulation = tied(settings, Some(ties(damping, Some(vec![0.49; 3]))));
        let mut worst: f64 = 0.0;
        for step in 1..=200 {
            simulation.step(h).unwrap();
            let time = f64::from(step) * h;
            let wave = (frequency * time).cos() + decay / frequency * (frequency * time).sin();
            let wanted = -0.49 - 0.01 * (-decay * time).exp() * wave;
            worst = worst.max((height(&simulation) - wanted).abs());
        }
        assert!(worst < 4.0e-4, "{integrator:?}: {worst}");
    }
}

#[test]
fn a_checkpoint_has_the_springs_of_its_time() {
    let settings = Settings { gravity: Vec3::new(0.0, 0.0, -9.81), ..calm() };
    let mut simulation = tied(settings.clone(), None);
    simulation.set_springs(0, Some(ties(DAMPING, None))).unwrap();
    simulation.advance(0.1).unwrap();
    let state = simulation.state().unwrap();
    simulation.advance(0.1).unwrap();
    for start in [None, Some(ties(0.0, None))] {
        let mut other = tied(settings.clone(), start);
        other.restore(&state).unwrap();
        other.advance(0.1).unwrap();
        assert_eq!(other.positions(0).unwrap(), simulation.positions(0).unwrap());
    }
}

/// A closed box of 6 × 6 × 6 cells from −1 to 1: rays go through it, to the other side where they are not tilted.
#[test]
fn internal_springs_go_through_a_solid() {
    let cells = 6;
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    for (axis, side) in (0..3).flat_map(|axis| [(axis, -1.0), (axis, 1.0)]) {
        let first = points.len() as u32;
        for (i, j) in (0..=cells).flat_map(|i| (0..=cells).map(move |j| (i, j))) {
            let [u, v] = [i, j].map(|k| 2.0 * f64::from(k) / f64::from(cells) - 1.0);
            let mut point = Vec3::zeros();
            (point[axis], point[(axis + 1) % 3], point[(axis + 2) % 3]) = (side, u, v);
            points.push(point);
        }
        let row = cells as u32 + 1;
        for (i, j) in (0..row - 1).flat_map(|i| (0..row - 1).map(move |j| (i, j))) {
            let corner = first + i * row + j;
            let [a, b, c, d] = [corner, corner + row, corner + row + 1, corner + 1];
            let turned = if side > 0.0 { [[a, b, c], [a, c, d]] } else { [[a, c, b], [a, d, c]] };
            triangles.extend(turned);
        }
    }
    let straight =
        InternalSprings { max_length: f64::INFINITY, max_diversion: 0.0, checks_normals: true };
    let found = internal_springs(&points, &triangles, &straight);
    assert!(found.len() >= 3 * 25, "{}", found.len());
    for [a, b] in &found {
        let span = points[*a as usize] - points[*b as usize];
        assert!((span.norm() - 2.0).abs() < 0.5, "{span:?}");
    }
    let tilted = InternalSprings { max_diversion: 0.7, ..straight };
    let several = internal_springs(&points, &triangles, &tilted);
    assert!(several.len() > found.len());
    assert_eq!(several, internal_springs(&points, &triangles, &tilted));
    let short =
        internal_springs(&points, &triangles, &InternalSprings { max_length: 1.5, ..tilted });
    let length = |[a, b]: &[u32; 2]| (points[*a as usize] - points[*b as usize]).norm();
    assert!(!short.is_empty() && short.iter().all(|pair| length(pair) < 1.5 + 0.5));
    let none = InternalSprings { max_length: 1.0e-3, ..straight };
    assert!(internal_springs(&points, &triangles, &none).is_empty());
}

#[test]
fn springs_that_are_none_are_refused_by_index() {
    let mut simulation = tied(calm(), None);
    let cases = [
        (Springs { pairs: vec![[0, 3], [1, 9], [2, 5]], ..ties(0.0, None) }, "spring 1: vertex 9"),
        (Springs { pairs: vec![[0, 3], [1, 4], [2, 2]], ..ties(0.0, None) }, "spring 2: vertex 2"),
        (Springs { stiffness: vec![1.0, 1.0], ..ties(0.0, None) }, "spring_stiffness"),
        (Springs { damping: vec![0.0, -1.0, 0.0], ..ties(0.0, None) }, "spring_damping: spring 1"),
        (ties(0.0, Some(vec![0.1, 0.1, f64::NAN])), "spring_lengths: spring 2"),
    ];
    for (springs, message) in cases {
        let error = simulation.set_springs(0, Some(springs)).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    assert!(simulation.set_springs(1, None).is_err());
}
