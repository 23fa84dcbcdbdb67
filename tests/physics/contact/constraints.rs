// SPDX-License-Identifier: MIT OR Apache-2.0
//! Vertices of cloth on solids: constraints that hold exactly, and are deactivated. Etzmuss 2002, section 4.4.

use crate::fixtures::scenes::{ground, sheet, square, vacuum};
use nalgebra::Rotation3;
use weft::{Cloth, Collider, Integrator, Material, Settings, Simulation, Vec3};

const GRAVITY: f64 = 9.81;
const FRAME: f64 = 1.0 / 24.0;
/// Contact thickness of cloth and ground together, in m.
const THICKNESS: f64 = 0.002;

fn settings() -> Settings {
    Settings { gravity: Vec3::z() * -GRAVITY, tolerance: 1.0e-4, ..vacuum() }
}

fn fabric(density: f64, friction: f64) -> Material {
    Material { density, friction, thickness: 0.001, ..Material::default() }
}

fn heights(simulation: &Simulation) -> impl Iterator<Item = f64> {
    simulation.positions(0).unwrap().iter().map(|position| position.z)
}

/// A force without stiffness of its own gives way to no weight: lead lies as high as silk.
#[test]
fn the_distance_is_the_thickness_whatever_the_weight() {
    for density in [0.05, 5.0, 500.0] {
        let sheet = sheet(8, 0.4, THICKNESS, fabric(density, 0.4));
        let mut simulation =
            Simulation::new(&[sheet], &[ground(square(2.0), 0.4)], settings()).unwrap();
        for _ in 0..12 {
            assert!(simulation.advance(FRAME).unwrap().converged);
        }
        for height in heights(&simulation) {
            assert!((height - THICKNESS).abs() < 1.0e-8, "{density} kg/m²: {height} m");
        }
    }
}

/// Ground that falls faster than the sheet on it leaves it behind, in free fall from the first step on, which
/// implicit Euler with steps h takes for gh²n(n + 1)/2 after n of them. The sheet follows within a hundredth of its speed.
#[test]
fn a_constraint_that_would_pull_lets_go() {
    let sheet = sheet(8, 0.4, THICKNESS, fabric(0.2, 0.4));
    let settings = Settings { integrator: Integrator::ImplicitEuler, ..settings() };
    let step = settings.time_step;
    let mut simulation = Simulation::new(&[sheet], &[ground(square(2.0), 0.4)], settings).unwrap();
    for _ in 0..6 {
        simulation.advance(FRAME).unwrap();
    }
    for frame in 1..=8 {
        let time = f64::from(frame) * FRAME;
        let fallen = Vec3::z() * (10.0 * time * time);
        let corners = square(2.0).iter().map(|corner| corner - fallen).collect();
        simulation.set_collider(0, corners).unwrap();
        assert!(simulation.advance(FRAME).unwrap().converged);
        let steps = (time / step).round();
        let fallen = THICKNESS - 0.5 * GRAVITY * step * step * steps * (steps + 1.0);
        for height in heights(&simulation) {
            assert!(
                (height - fallen).abs() < 0.01 * GRAVITY * step * time,
                "after {time} s: {height}, not {fallen} m"
            );
        }
    }
}

/// Vertices with a prescribed velocity along x climb a slope in their path, and descend again with it.
#[test]
fn guided_vertices_follow_a_slope_in_the_directions_left_to_them() {
    let turn = Rotation3::new(Vec3::y() * 0.3);
    let corners = square(4.0).iter().map(|corner| turn * corner).collect::<Vec<_>>();
    let slope = Collider::new(corners, &[[0, 1, 2], [0, 2, 3]], 0.0, 0.001).unwrap();
    let mut positions: Vec<Vec3> =
        [[0.0, 0.0], [0.1, 0.0], [0.0, 0.1]].map(|[x, y]| Vec3::new(x, y, 0.0)).to_vec();
    for position in &mut positions {
        *position = turn * (*position + Vec3::z() * THICKNESS);
    }
    let polygons = weft::mesh::Polygons::new(&[3], &[0, 1, 2], 3).unwrap();
    let cloth = Cloth::new(positions, &polygons, fabric(0.2, 0.0), None, None).unwrap();
    // The flight after a jerk takes longer with longer steps.
    let settings = Settings { time_step: 0.5 * FRAME, ..settings() };
    let mut simulation = Simulation::new(&[cloth], &[slope], settings).unwrap();
    for speed in [-0.5, 0.5] {
        let velocity = Vec3::x() * speed;
        simulation.set_guided_velocity(0, &[0, 1, 2], &[Vec3::x()], velocity).unwrap();
        for frame in 0..6 {
            let before = simulation.positions(0).unwrap().to_vec();
            assert!(simulation.advance(FRAME).unwrap().converged);
            for (now, before) in simulation.positions(0).unwrap().iter().zip(&before) {
                assert!((now.x - before.x - speed * FRAME).abs() < 1.0e-9, "{now:?}");
                let gap = (turn.inverse() * now).z;
                // After a jerk they fly for a moment.
                let has_landed = frame > 3;
                assert!(gap > THICKNESS - 1.0e-7, "{gap} m");
                assert!(!has_landed || gap < THICKNESS + 1.0e-7, "{gap} m");
            }
        }
    }
}

/// In the angle between two walls a vertex keeps its distance from both.
#[test]
fn a_vertex_in_a_corner_keeps_its_distance_from_both_walls() {
    let wall = |side: f64| {
        let turn = Rotation3::new(Vec3::y() * (side * std::f64::consts::FRAC_PI_4));
        let edge = |y: f64, x: f64| turn * Vec3::new(x, y, 0.0);
        let corners = vec![edge(-1.0, -1.0), edge(-1.0, 1.0), edge(1.0, 1.0), edge(1.0, -1.0)];
        (Collider::new(corners, &[[0, 1, 2], [0, 2, 3]], 0.2, 0.001).unwrap(), turn)
    };
    let walls = [wall(1.0), wall(-1.0)];
    let sheet = sheet(9, 0.3, 0.16, fabric(0.2, 0.2));
    let colliders = walls.iter().map(|(collider, _)| collider.clone()).collect::<Vec<_>>();
    let mut simulation = Simulation::new(&[sheet], &colliders, settings()).unwrap();
    for _ in 0..48 {
        assert!(simulation.advance(FRAME).unwrap().converged);
    }
    let depths = simulation
        .positions(0)
        .unwrap()
        .iter()
        .flat_map(|position| walls.iter().map(move |(_, turn)| (turn.inverse() * position).z));
    let nearest = depths.fold(f64::INFINITY, f64::min);
    assert!((nearest / THICKNESS - 1.0).abs() < 0.05, "{nearest} m");
}
